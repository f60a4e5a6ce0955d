//! Evaluates rows of calls, each under its own rules or all under one policy: `toolfold policy
//! eval`.
//!
//! A row is `{"id", "rule": ["allow Bash(git log:*)", …], "tool", "args", "ctx": {…}}`. Besides
//! `allow`, `ask` and `deny` with a compact rule, a row may contain lines that a policy file writes
//! elsewhere: `default X`, `mode X`, `tier T name`, `shell S name`, `interactive true|false name`,
//! `builtin READ_ONLY_SAFE_SHELL`, `host_executable n=path`, and `managed …` and `project …` before
//! a line (the scope of its file). A row whose `profile` is `last-match` is evaluated in that
//! order. An unknown line makes every call ask, as a malformed deny does.
//!
//! `ctx` may contain `cwd`, `home`, `server` (the MCP server of the tool), `interactive`,
//! `workspace_trusted`, `server_trusted`, `annotations`, `case_insensitive_fs`,
//! `schema_hash_changed`, `session` and `tenant`. By default, the working folder is `/workspace`
//! and the home folder `/home/user`. Paths are evaluated as written, without looking at the disk of
//! this machine; a row may define symbolic links as `links: {"path": "target"}`, relative ones
//! below the working folder.
//!
//! The members that describe a row of a corpus (`expected`, `why`, `source`, …) are ignored.
//! [`unknown_members`] names every other member: it changes no answer, and might have been meant
//! to.

use crate::argv::is_listed;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::capability::{PolicyTier, ToolCapability};
use super::compact::compact;
use super::context::{Annotations, Context, PolicyCall, ToolOrigin};
use super::decision::{Effect, Verdict};
use super::grant::Grant;
use super::history::History;
use super::links::{Disk, LinkTable};
use super::load::PolicyFile;
use super::past::{EarlierCalls, Past};
use super::policy_set::Policy;
use super::prepared::Prepared;
use super::rule::PolicyScope;
use crate::diagnostic::InvalidValue;
use crate::name::nearest;

/// What corpora say of a row for those who read it.
const NOTES: &str = "expected why source cls grade proof bash52 got";

/// Why a row with rules is not evaluated under a policy.
const OWN_RULES: &str = "the row has its own rules, so it is unclear which of the two policies applies";

/// The result of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Evaluated {
    /// The row's id.
    pub id: String,
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The reason.
    pub reason: String,
    /// The conditions on earlier calls that concern the call, with the calls that each counts.
    /// Empty without a history.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierCalls>,
}

/// A row, read.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its id; empty if it has none.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Who provides the tool.
    pub origin: ToolOrigin,
    /// The arguments of the call.
    pub arguments: Value,
    /// The circumstances that the row states, without links.
    pub context: Context,
    /// What its rules say together: the files of other scopes, and the user's as the last one.
    pub files: Vec<PolicyFile>,
    links: Option<LinkTable>,
    has_rules: bool,
}

/// Evaluates a row under its own rules.
///
/// # Errors
/// [`InvalidValue`] if the row is not an object with the required members.
pub fn evaluate(row: &Value) -> Result<Evaluated, InvalidValue> {
    let row = Row::read(row)?;
    Ok(row.decide(&Policy::new(row.files.clone()), &[]))
}

/// Evaluates a row under a policy. The row has no rules. `after`: the call follows earlier calls,
/// those of the row's `session` and `tenant`, by default the ones of the context, at its time.
///
/// # Errors
/// [`InvalidValue`] if the row has rules, or is not an object with the required members.
pub fn evaluate_under(
    policy: &Policy,
    row: &Value,
    after: Option<(&Past, &Context)>,
) -> Result<Evaluated, InvalidValue> {
    let mut row = Row::read(row)?;
    if row.has_rules {
        return Err(OWN_RULES.into());
    }
    let Some((past, after)) = after else { return Ok(row.decide(policy, &[])) };
    for (own, default) in [(&mut row.context.session, &after.session), (&mut row.context.tenant, &after.tenant)] {
        if own.is_empty() {
            own.clone_from(default);
        }
    }
    row.context.now_ms = after.now_ms;
    let call = past.before(row.prepare(policy));
    let earlier = past.conditions(&call);
    let verdict = call.decide(&[]);
    Ok(Evaluated { earlier, ..Evaluated::new(&row.id, &verdict) })
}

impl Evaluated {
    fn new(id: &str, verdict: &Verdict) -> Self {
        let (decision, reason) = (verdict.decision.word(), verdict.reason());
        Self { id: id.to_owned(), decision, reason, earlier: Vec::new() }
    }
}

/// The members of a row that mean something, but for the notes of corpora.
const MEMBERS: &str = "id rule profile tool args ctx";

const CIRCUMSTANCES: &str = "cwd home server interactive workspace_trusted server_trusted annotations \
    case_insensitive_fs schema_hash_changed links session tenant";

/// The members of a row that nothing is made of, with the one that may be meant: rows carry notes,
/// and misspellings.
#[must_use]
pub fn unknown_members(row: &Value) -> Vec<(String, Option<&'static str>)> {
    let mut unknown = Vec::new();
    for (name, _) in row.as_object().into_iter().flatten() {
        if !is_listed(MEMBERS, name) && !is_listed(NOTES, name) {
            unknown.push((name.clone(), close_to(name, MEMBERS)));
        }
    }
    for (name, _) in row.get("ctx").and_then(Value::as_object).into_iter().flatten() {
        if !is_listed(CIRCUMSTANCES, name) {
            unknown.push((format!("ctx.{name}"), close_to(name, CIRCUMSTANCES)));
        }
    }
    unknown
}

/// The known member with the most similar name.
fn close_to(name: &str, known: &'static str) -> Option<&'static str> {
    match name {
        "arguments" | "input" | "parameters" => Some("args"),
        name => nearest(name, known.split_whitespace(), 1).first().copied(),
    }
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    id: Value,
    #[serde(default, deserialize_with = "lines")]
    rule: Vec<String>,
    #[serde(default)]
    profile: String,
    tool: Option<String>,
    #[serde(default = "no_arguments")]
    args: Value,
    ctx: Option<Circumstances>,
}

/// What is made of `ctx`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Circumstances {
    cwd: Option<String>,
    home: Option<String>,
    server: Option<String>,
    interactive: Option<bool>,
    workspace_trusted: Option<bool>,
    server_trusted: Option<bool>,
    annotations: Option<Annotations>,
    case_insensitive_fs: Option<bool>,
    schema_hash_changed: Option<bool>,
    session: Option<String>,
    tenant: Option<String>,
    links: Option<BTreeMap<String, String>>,
}

fn no_arguments() -> Value {
    serde_json::json!({})
}

/// The lines of a row: one, or a list of them.
fn lines<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    let value = Value::deserialize(value)?;
    let lines = if value.is_string() { Value::Array(vec![value]) } else { value };
    serde_json::from_value(lines).map_err(|_| serde::de::Error::custom("`rule` must be a list of strings"))
}

impl Row {
    /// Reads a row.
    ///
    /// # Errors
    /// [`InvalidValue`] if the row is not an object with the required members.
    pub fn read(row: &Value) -> Result<Self, InvalidValue> {
        let row = Written::deserialize(row).map_err(|why| InvalidValue::from(why.to_string()))?;
        let ctx = row.ctx.unwrap_or_default();
        let cwd = ctx.cwd.unwrap_or_else(|| "/workspace".to_owned());
        let links = ctx.links.map(|links| {
            let pairs = links.into_iter();
            LinkTable::new(pairs.map(|(path, target)| match path.starts_with('/') {
                true => (path, target),
                false => (format!("{cwd}/{path}"), target),
            }))
        });
        let context = Context {
            cwd: Some(cwd),
            home: ctx.home.or_else(|| Some("/home/user".to_owned())),
            interactive: ctx.interactive.unwrap_or(true),
            workspace_trusted: ctx.workspace_trusted.unwrap_or_default(),
            server_trusted: ctx.server_trusted.unwrap_or_default(),
            annotations: ctx.annotations.unwrap_or_default(),
            case_sensitive_paths: ctx.case_insensitive_fs.map(|b| !b),
            definition_changed: ctx.schema_hash_changed.unwrap_or_default(),
            session: ctx.session.unwrap_or_default(),
            tenant: ctx.tenant.unwrap_or_default(),
            ..Context::default()
        };
        let mut setting = Setting { context, ..Setting::default() };
        // Any other name is that of a corpus, and means nothing.
        setting.file.last_match = row.profile == "last-match";
        for line in &row.rule {
            if setting.line(line).is_none() {
                setting.file.broken = true;
            }
        }
        setting.others.push(setting.file);
        Ok(Self {
            id: row.id.as_str().unwrap_or_default().to_owned(),
            tool: row.tool.ok_or("the row has no `tool`")?,
            origin: ctx.server.map_or(ToolOrigin::Native, ToolOrigin::Mcp),
            arguments: row.args,
            links,
            context: setting.context,
            files: setting.others,
            has_rules: !row.rule.is_empty() || row.profile == "last-match",
        })
    }

    pub(crate) fn call(&self) -> PolicyCall<'_> {
        PolicyCall { tool: &self.tool, origin: &self.origin, arguments: &self.arguments }
    }

    /// The call of the row under a policy, with the links of the row.
    #[must_use]
    pub fn prepare<'r>(&'r self, policy: &'r Policy) -> Prepared<'r> {
        let disk = self.links.as_ref().map(|links| links as &dyn Disk);
        policy.prepare(self.call(), &self.context, disk, History::default())
    }

    /// The decision under a policy and remembered approvals.
    #[must_use]
    pub fn decide(&self, policy: &Policy, grants: &[Grant]) -> Evaluated {
        Evaluated::new(&self.id, &self.prepare(policy).decide(grants))
    }
}

/// What the lines of a row say together.
#[derive(Default)]
struct Setting {
    file: PolicyFile,
    context: Context,
    /// The files of scopes other than the user's.
    others: Vec<PolicyFile>,
}

impl Setting {
    /// Reads one line; `None` if it is unknown.
    fn line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(effect) = Effect::parse(word) {
            return self.rule(effect, rest);
        }
        match (word, rest) {
            ("managed" | "floor" | "project", rest) => {
                let scope = if word == "project" { PolicyScope::Project } else { PolicyScope::Managed };
                let own = std::mem::take(&mut self.file);
                let broken = self.line(rest).is_none();
                let file = std::mem::replace(&mut self.file, own);
                self.others.push(PolicyFile { scope, broken, ..file });
            }
            ("default", effect) => self.file.default = Some(Effect::parse(effect)?),
            ("mode", "non-interactive") => self.context.interactive = false,
            // A default of allow bypasses asks but not denies.
            ("mode", "yolo") => self.file.default = Some(Effect::Allow),
            ("mode", _) => {}
            ("builtin", "READ_ONLY_SAFE_SHELL") => self.file.read_only_shell = true,
            ("tier", rest) => {
                let (tier, tool) = rest.split_once(' ')?;
                let tier = match tier {
                    "READ_ONLY_SAFE" | "READ_ONLY" => PolicyTier::ReadOnly,
                    "A" => PolicyTier::A,
                    "B" => PolicyTier::B,
                    _ => return None,
                };
                self.record(tool).tier = Some(tier);
            }
            ("shell", rest) => {
                let (shell, tool) = rest.split_once(' ')?;
                self.record(tool).shell = Some(serde_json::from_value(shell.into()).ok()?);
            }
            ("interactive", rest) => {
                let (interactive, tool) = rest.split_once(' ')?;
                self.record(tool).interactive = Some(interactive.parse().ok()?);
            }
            ("host_executable", rest) => {
                let (name, path) = rest.split_once('=')?;
                self.file.programs.entry(name.to_owned()).or_default().push(path.to_owned());
            }
            _ => return None,
        }
        Some(())
    }

    /// The record of a tool, which begins as the built-in one.
    fn record(&mut self, tool: &str) -> &mut ToolCapability {
        let record = self.file.capabilities.entry(tool.to_owned());
        record.or_insert_with(|| ToolCapability::builtin(tool).unwrap_or_default())
    }

    fn rule(&mut self, effect: Effect, text: &str) -> Option<()> {
        match compact(effect, text, |name| self.file.capabilities.get(name).cloned()) {
            Ok(rule) => self.file.rules.push(rule),
            Err(_) if effect == Effect::Allow => {}
            Err(_) => return None,
        }
        Some(())
    }
}
