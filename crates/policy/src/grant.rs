//! Grants: remembered approvals, which are data and never patterns.
//!
//! A grant names a tool by its identity and, for shells, the first words of a command as literal
//! tokens. It can turn an ask into an allow and nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::argv::{all_known, base_name, unknown};
use super::canonical::{canonical, rounded};
use super::capability::Family;
use super::context::{Context, ToolOrigin};
use super::floor;
use super::glob::is_glob;
use super::prepared::Prepared;
use super::programs;
use super::rule::{Rule, ToolPattern};
use super::shell::launchers;

/// What a grant covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum GrantTarget {
    /// Every call to the tool. Never for a tool that runs commands.
    Tool,
    /// Calls with exactly these arguments.
    Arguments {
        /// The arguments.
        arguments: Value,
    },
    /// Commands that start with these tokens, or consist of them.
    Command {
        /// The tokens, without quotes.
        tokens: Vec<String>,
        /// Whether more may follow.
        open: bool,
    },
}

/// Where a grant is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "scope", content = "of")]
pub enum GrantScope {
    /// In one session.
    Session(String),
    /// In one project.
    Project(String),
    /// Everywhere, until it is revoked or expires.
    Always,
}

/// A remembered approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Grant {
    /// Its id. Ids are never reused.
    pub id: String,
    /// Who provides the tool.
    pub origin: ToolOrigin,
    /// The tool's name at its origin.
    pub tool: String,
    /// What it covers.
    #[serde(rename = "what")]
    pub target: GrantTarget,
    /// Where it is in force.
    #[serde(rename = "holds")]
    pub scope: GrantScope,
    /// When it expires, in milliseconds since 1970 UTC. `None`: it ends with its scope.
    pub expires_ms: Option<i64>,
    /// Where it comes from, such as the command that approved it.
    pub source: String,
    /// What the approval was bound to besides the call.
    #[serde(flatten)]
    pub bound: Bound,
}

/// What an approval is bound to besides its call. What is absent binds nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Bound {
    /// The working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The hash of the tool's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_hash: Option<String>,
    /// The version of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<String>,
}

impl Bound {
    /// Whether a tool and a policy are those of the approval.
    #[must_use]
    pub fn holds(&self, schema_hash: &str, policy_version: &str) -> bool {
        self.schema_hash.as_deref().is_none_or(|hash| hash == schema_hash)
            && self.policy_version.as_deref().is_none_or(|version| version == policy_version)
    }
}

/// Why an approval cannot be remembered. The call itself may still be approved once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// It would cover everything that a program or tool can do.
    #[error("`{0}` is too broad to remember: it would cover arbitrary code")]
    TooWide(String),
    /// Only literal tokens can be remembered.
    #[error("`{0}` is a pattern; only literal words can be remembered")]
    Pattern(String),
    /// The strict reader does not read the command.
    #[error(
        "it has {0}, which the strict reader does not support; the command can be allowed or remembered without it"
    )]
    NotRead(String),
    /// A part of the call is known only when it runs.
    #[error("`{0}` is known only when it runs, so it cannot be remembered")]
    NotStatic(String),
    /// A number may be rounded, so that other calls would be covered.
    #[error("the number `{0}` has more digits than are compared, so it cannot be remembered")]
    Rounded(String),
    /// The floor may deny the call.
    #[error("{0}, so it cannot be remembered")]
    Floor(String),
}

impl Grant {
    /// A grant without an id, an expiry, a source or bounds. The gate gives it an id when a person
    /// approves it.
    #[must_use]
    pub fn new(origin: ToolOrigin, tool: impl Into<String>, target: GrantTarget, scope: GrantScope) -> Self {
        Self {
            id: String::new(),
            origin,
            tool: tool.into(),
            target,
            scope,
            expires_ms: None,
            source: String::new(),
            bound: Bound::default(),
        }
    }

    /// The grant that a compact rule proposes, if it can be remembered.
    ///
    /// # Errors
    /// [`GrantError`] if it is a pattern or covers arbitrary code.
    pub fn from_rule(rule: &Rule, id: &str, scope: GrantScope, source: &str) -> Result<Self, GrantError> {
        let too_wide = || GrantError::TooWide(rule.text.clone());
        let pattern = || GrantError::Pattern(rule.text.clone());
        let (origin, tool) = match &rule.tool {
            ToolPattern::Any => return Err(too_wide()),
            ToolPattern::Name(name) => (ToolOrigin::Native, name.clone()),
            ToolPattern::Mcp { server, tool } => (ToolOrigin::Mcp(server.clone()), tool.clone()),
        };
        if is_glob(&tool) {
            return Err(pattern());
        }
        let target = match &rule.command {
            Some(command) if command.any => return Err(too_wide()),
            Some(command) => {
                let (tokens, open) = command.literal().ok_or_else(pattern)?;
                if !is_narrow(&tokens, open) {
                    return Err(too_wide());
                }
                GrantTarget::Command { tokens: tokens.into_iter().map(str::to_owned).collect(), open }
            }
            None if rule.family == Some(Family::Shell) => return Err(too_wide()),
            None if rule.is_conditional() => return Err(pattern()),
            None if matches!(tool.as_str(), "Agent" | "Task") || rule.family == Some(Family::Skill) => {
                return Err(too_wide());
            }
            None => GrantTarget::Tool,
        };
        Ok(Self { id: id.to_owned(), source: source.to_owned(), ..Self::new(origin, tool, target, scope) })
    }

    /// Whether it is in force now.
    #[must_use]
    pub fn is_live(&self, context: &Context) -> bool {
        let in_scope = match &self.scope {
            // Two sessions without an id are not the same session.
            GrantScope::Session(session) => !session.is_empty() && *session == context.session,
            GrantScope::Project(project) => !project.is_empty() && *project == context.project,
            GrantScope::Always => true,
        };
        let here = self.bound.cwd.is_none() || self.bound.cwd == context.cwd;
        in_scope && here && self.expires_ms.is_none_or(|end| context.now_ms < end)
    }

    /// Whether it covers a whole call, whose arguments have this canonical form.
    fn covers_call(&self, cx: &Prepared<'_>, exact: &str) -> bool {
        match &self.target {
            GrantTarget::Tool => !cx.is_shell,
            GrantTarget::Arguments { arguments } => {
                let same = canonical(&cx.capability.compared(arguments)) == exact;
                same && rounded(arguments).is_none() && cx.linked_elsewhere().is_none()
            }
            GrantTarget::Command { .. } => false,
        }
    }

    /// Whether it covers a command. `option`: the place of its last option that no row lists, which
    /// the grant must name.
    fn covers_command(&self, words: &[&str], option: Option<usize>) -> bool {
        let GrantTarget::Command { tokens, open } = &self.target else { return false };
        let begins = matches!(words.get(..tokens.len()), Some(front) if front == tokens);
        begins && (*open || words.len() == tokens.len()) && option.is_none_or(|at| at < tokens.len())
    }
}

/// Whether the first words of a command are narrow enough.
fn is_narrow(tokens: &[&str], open: bool) -> bool {
    let Some((program, rest)) = tokens.split_first() else { return false };
    let base = base_name(program);
    let (kinds, second) = (programs::kinds(base), rest.first().copied().unwrap_or_default());
    if kinds.interpreter || kinds.shell {
        // The path of a script narrows an interpreter. An option does not, nor does the interpreter
        // alone.
        let script = !second.starts_with('-') && second.contains(['.', '/']);
        return script && !kinds.takes_text && !kinds.awk;
    }
    // The row of the program with its subcommand.
    let deeper = programs::row_or_empty(&format!("{base} {second}"));
    if launchers::is_launcher(base) {
        return (!open || deeper.is.only_shows) && !kinds.privileged;
    }
    let own = programs::known(base);
    let wide = match rest.len() {
        0 => own.never_remember,
        1 if launchers::hands_on(base, second) || deeper.never_remember => true,
        _ => own.never_remember_with.fit(second),
    };
    !(open && wide)
}

/// What a person may be offered to remember for a call: the very same call, and no more. `allowed`:
/// the commands that need no grant.
pub(crate) fn offer(cx: &Prepared<'_>, allowed: &[usize]) -> Result<Vec<GrantTarget>, GrantError> {
    if let Some(reason) = floor::doubt(cx) {
        return Err(GrantError::Floor(reason.text));
    }
    if let Some((file, _)) = cx.linked_elsewhere() {
        return Err(GrantError::NotStatic(file.text.to_string()));
    }
    if cx.is_shell {
        check_static(cx, allowed)?;
    }
    let arguments = compared(cx);
    match rounded(&arguments) {
        Some(number) => Err(GrantError::Rounded(number.to_string())),
        None => Ok(vec![GrantTarget::Arguments { arguments }]),
    }
}

/// The arguments that a remembered approval compares: those of a call that change what it does, and
/// of a skill its name, since its text is part of what the approval is bound to.
fn compared(cx: &Prepared<'_>) -> Value {
    match &cx.target {
        Some(name) if cx.context.skill => json!({ "name": name }),
        _ => cx.capability.compared(cx.call.arguments),
    }
}

/// Checks that every part of a command line is known before it runs, and that something of it asks.
fn check_static(cx: &Prepared<'_>, allowed: &[usize]) -> Result<(), GrantError> {
    if let Some(part) = cx.heaviest() {
        let text = part.text.clone();
        return Err(if part.kind == "strict" { GrantError::NotRead(text) } else { GrantError::NotStatic(text) });
    }
    let written = cx.effects.own_file();
    if let Some(file) = written.filter(|file| !file.certain || file.path.is_none()) {
        return Err(GrantError::NotStatic(file.text.to_string()));
    }
    let mut asks = written.is_some();
    for (index, command) in cx.running() {
        asks |= !allowed.contains(&index) || unlisted(cx, index).next().is_some();
        if let Some(word) = unknown(&command.words) {
            return Err(GrantError::NotStatic(word.text.to_string()));
        }
    }
    if asks { Ok(()) } else { Err(GrantError::NotStatic("the command".to_owned())) }
}

/// Where the options of a command are that no row lists.
fn unlisted(cx: &Prepared<'_>, index: usize) -> impl Iterator<Item = usize> {
    cx.effects.unknowns.iter().filter_map(move |part| match part.option {
        Some((of, at)) if of == index => Some(at),
        _ => None,
    })
}

/// The ids of the grants that together lift an ask, or `None`. `allowed`: the commands that need no
/// grant.
pub(crate) fn covers(grants: &[Grant], cx: &Prepared<'_>, allowed: &[usize]) -> Option<String> {
    let mut live: Vec<&Grant> = grants.iter().filter(|grant| grant.is_live(&cx.context)).collect();
    live.retain(|grant| grant.tool == cx.call.tool && grant.origin == *cx.call.origin);
    if live.is_empty() || cx.unreadable.is_some() || cx.context.definition_changed {
        return None;
    }
    let exact = canonical(&compared(cx));
    if let Some(grant) = live.iter().find(|grant| grant.covers_call(cx, &exact)) {
        return Some(grant.id.clone());
    }
    let opaque = cx.effects.unknowns.iter().any(|part| part.option.is_none());
    if !cx.is_shell || opaque || cx.effects.own_file().is_some() {
        return None;
    }
    let mut ids: Vec<&str> = Vec::new();
    for (index, command) in cx.running() {
        let words = all_known(&command.words)?;
        match live.iter().find(|grant| grant.covers_command(&words, unlisted(cx, index).max())) {
            Some(grant) => ids.push(&grant.id),
            None if allowed.contains(&index) && unlisted(cx, index).next().is_none() => {}
            None => return None,
        }
    }
    ids.dedup();
    if ids.is_empty() { None } else { Some(ids.join(", ")) }
}
