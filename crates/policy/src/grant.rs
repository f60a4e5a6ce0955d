//! Grants: remembered approvals, which are data and never patterns.
//!
//! A grant names a tool by its identity and, for shells, the first words of a command as literal tokens. It can turn an
//! ask into an allow and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::argv::{Word, base_name};
use super::call_context::CallContext;
use super::canonical::canonical;
use super::capability::Family;
use super::context::{Context, ToolOrigin};
use super::floor;
use super::glob::is_glob;
use super::programs;
use super::rule::{Rule, ToolPattern};
use super::shell::{Role, launchers, tables};

/// What a grant covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[error("it has {0}, which the strict reader does not read: the same without it may be allowed or remembered")]
    NotRead(String),
    /// A part of the call is known only when it runs.
    #[error("`{0}` is known only when it runs, so it cannot be remembered")]
    NotStatic(String),
    /// The floor may deny the call.
    #[error("{0}, so it cannot be remembered")]
    Floor(String),
}

impl Grant {
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
            None if matches!(tool.as_str(), "Agent" | "Task" | "Skill") => return Err(too_wide()),
            None => GrantTarget::Tool,
        };
        Ok(Self {
            id: id.to_owned(),
            origin,
            tool,
            target,
            scope,
            expires_ms: None,
            source: source.to_owned(),
            bound: Bound::default(),
        })
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
}

/// Whether the first words of a command are narrow enough.
fn is_narrow(tokens: &[&str], open: bool) -> bool {
    let Some((program, rest)) = tokens.split_first() else { return false };
    let base = base_name(program);
    let second = rest.first().copied();
    if tables::is_interpreter(base) || tables::is_shell(base) {
        // The path of a script narrows an interpreter. An option does not, nor does the interpreter alone.
        let script = second.is_some_and(|s| !s.starts_with('-') && s.contains(['.', '/']));
        return script && !base.eq_ignore_ascii_case("cmd") && !base.ends_with("awk");
    }
    // The row of the program, and of its subcommand.
    let deeper = second.map(|second| format!("{base} {second}"));
    if launchers::is_launcher(base) {
        let shows = deeper.as_deref().and_then(programs::row).is_some_and(|row| row.is.only_shows);
        return (!open || shows) && !programs::kinds(base).privileged;
    }
    let never = |name: &str| programs::row(name).is_some_and(|row| row.never_remember);
    let wide = match (second, rest.len()) {
        (None, _) => programs::name_of(base).is_some_and(never),
        (Some(second), 1) if launchers::hands_on(base, second) || deeper.as_deref().is_some_and(never) => true,
        (Some(second), _) => base == "git" && second.starts_with("-c"),
    };
    !(open && wide)
}

/// What a person may be offered to remember for a call.
pub(crate) fn offer(cx: &CallContext<'_>, allowed: &dyn Fn(usize) -> bool) -> Result<Vec<GrantTarget>, GrantError> {
    // A remembered yes is the very same call, and no more.
    let exact = || vec![GrantTarget::Arguments { arguments: cx.call.arguments.clone() }];
    if let Some(reason) = floor::doubt(cx) {
        return Err(GrantError::Floor(reason.text));
    }
    if let Some((file, _)) = cx.led_astray() {
        return Err(GrantError::NotStatic(file.text.clone()));
    }
    if !cx.is_shell {
        return Ok(exact());
    }
    if let Some(part) = cx.heaviest() {
        return Err(match part.kind {
            "strict" => GrantError::NotRead(part.text.clone()),
            _ => GrantError::NotStatic(part.text.clone()),
        });
    }
    let writes = cx.effects.files.iter().find(|f| f.own);
    if let Some(file) = writes.filter(|file| !file.certain || file.path.is_none()) {
        return Err(GrantError::NotStatic(file.text.clone()));
    }
    let mut asked = false;
    for (i, command) in cx.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
        asked |= !allowed(i) || cx.effects.unknowns.iter().any(|part| part.option.is_some_and(|(of, _)| of == i));
        if let Some(word) = command.words.iter().find(|word| word.get().is_none()) {
            return Err(GrantError::NotStatic(word.text.clone()));
        }
    }
    if asked || writes.is_some() { Ok(exact()) } else { Err(GrantError::NotStatic("the command".to_owned())) }
}

/// The ids of the grants that together lift an ask, or `None`. `allowed` tells which commands need no grant.
pub(crate) fn covers(grants: &[Grant], cx: &CallContext<'_>, allowed: &dyn Fn(usize) -> bool) -> Option<String> {
    let of_tool = |g: &&Grant| g.tool == cx.call.tool && g.origin == *cx.call.origin && g.is_live(cx.context);
    let live: Vec<&Grant> = grants.iter().filter(of_tool).collect();
    if live.is_empty() || cx.unreadable.is_some() || cx.context.definition_changed {
        return None;
    }
    let exact = canonical(cx.call.arguments);
    let fits = |g: &&&Grant| match &g.target {
        GrantTarget::Tool => !cx.is_shell,
        GrantTarget::Arguments { arguments } => canonical(arguments) == exact && cx.led_astray().is_none(),
        GrantTarget::Command { .. } => false,
    };
    let found = live.iter().find(fits).map(|g| g.id.clone());
    if found.is_some() || !cx.is_shell {
        return found;
    }
    let unlisted = || cx.effects.unknowns.iter().filter_map(|part| part.option);
    if cx.effects.unknowns.iter().any(|part| part.option.is_none()) || cx.effects.files.iter().any(|f| f.own) {
        return None;
    }
    let mut ids: Vec<&str> = Vec::new();
    for (i, command) in cx.effects.commands.iter().enumerate().filter(|(_, c)| c.role == Role::Runs) {
        let words: Vec<&str> = command.words.iter().map(Word::get).collect::<Option<_>>()?;
        let fits = |g: &&&Grant| match &g.target {
            GrantTarget::Command { tokens, open } => {
                words.len() >= tokens.len()
                    && words.iter().zip(tokens).all(|(w, t)| w == t)
                    && (*open || words.len() == tokens.len())
                    && unlisted().all(|(of, at)| of != i || at < tokens.len())
            }
            GrantTarget::Tool | GrantTarget::Arguments { .. } => false,
        };
        match live.iter().find(fits) {
            Some(grant) => ids.push(&grant.id),
            None if allowed(i) && unlisted().all(|(of, _)| of != i) => {}
            None => return None,
        }
    }
    ids.dedup();
    (!ids.is_empty()).then(|| ids.join(", "))
}
