//! Evaluates rows of calls, each under its own rules or all under one policy: `toolfold policy eval`.
//!
//! A row is `{"id", "rule": ["allow Bash(git log:*)", …], "tool", "args", "ctx": {…}}`. Besides `allow`, `ask` and
//! `deny` with a compact rule, a row may contain lines that a policy file writes elsewhere: `default X`, `mode X`,
//! `tier T name`, `builtin READ_ONLY_SAFE_SHELL`, `host_executable n=path`, and `managed …` and `project …` before a line
//! (the scope of its file). A row whose `profile` is `last-match` is evaluated in that order. An unknown line makes every
//! call ask, as a malformed deny does.
//!
//! `ctx` may say `cwd`, `home`, `server` (the MCP server of the tool), `interactive`, `workspace_trusted`,
//! `server_trusted`, `annotations`, `case_insensitive_fs` and `schema_hash_changed`. Unless it does, the working folder is
//! `/workspace` and the home folder `/home/user`. Paths are evaluated as written, without looking at the disk of this
//! machine; a row may define symbolic links as `links: {"path": "target"}`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::capability::{PolicyTier, ToolCapability};
use super::compact::compact;
use super::context::{Annotations, Context, PolicyCall, ToolOrigin};
use super::decision::Effect;
use super::grant::Grant;
use super::links::LinkTable;
use super::load::PolicyFile;
use super::policy_set::Policy;
use super::rule::PolicyScope;

/// The result of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evaluated {
    /// The row's id.
    pub id: String,
    /// `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// The reason.
    pub reason: String,
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
    /// What the row says of the circumstances, without links.
    pub context: Context,
    /// What its rules say together: the files of other scopes, and the user's as the last one.
    pub files: Vec<PolicyFile>,
    links: Option<LinkTable>,
}

/// Evaluates a row under its own rules.
///
/// # Errors
/// A sentence if the row is not an object with the required members.
pub fn evaluate(row: &Value) -> Result<Evaluated, String> {
    let row = Row::read(row)?;
    Ok(row.decide(&Policy::new(row.files.clone()), &[]))
}

/// Evaluates a row under a policy. The row has no rules.
///
/// # Errors
/// A sentence if the row has rules, or is not an object with the required members.
pub fn evaluate_under(policy: &Policy, row: &Value) -> Result<Evaluated, String> {
    let has_rules = !matches!(row.get("rule"), None | Some(Value::Null)) && !lines(row)?.is_empty();
    if has_rules || row.get("profile").is_some_and(|profile| profile == "last-match") {
        return Err("the row has rules of its own, and it is not clear which of the two policies is meant".to_owned());
    }
    Ok(Row::read(row)?.decide(policy, &[]))
}

fn lines(row: &Value) -> Result<Vec<&str>, String> {
    const WRONG: &str = "`rule` must be a list of strings";
    match row.get("rule") {
        Some(Value::Array(lines)) => lines.iter().map(|line| line.as_str().ok_or(WRONG.to_owned())).collect(),
        Some(Value::String(line)) => Ok(vec![line]),
        None => Ok(Vec::new()),
        Some(_) => Err(WRONG.to_owned()),
    }
}

impl Row {
    /// Reads a row.
    ///
    /// # Errors
    /// A sentence if the row is not an object with the required members.
    pub fn read(row: &Value) -> Result<Self, String> {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let empty = Value::Object(Map::new());
        let ctx = row.get("ctx").filter(|c| c.is_object()).unwrap_or(&empty);
        let mut setting = Setting { context: context(ctx), ..Setting::default() };
        setting.file.last_match = text("profile") == Some("last-match");
        for line in lines(row)? {
            if !setting.line(line) {
                setting.file.broken = true;
            }
        }
        setting.others.push(setting.file);
        Ok(Self {
            id: text("id").unwrap_or_default().to_owned(),
            tool: text("tool").ok_or("the row has no `tool`")?.to_owned(),
            origin: match ctx.get("server").and_then(Value::as_str) {
                Some(server) => ToolOrigin::Mcp(server.to_owned()),
                None => ToolOrigin::Native,
            },
            arguments: row.get("args").unwrap_or(&empty).clone(),
            links: links(ctx, setting.context.cwd.as_deref().unwrap_or_default())?,
            context: setting.context,
            files: setting.others,
        })
    }

    /// The call of the row.
    #[must_use]
    pub fn call(&self) -> PolicyCall<'_> {
        PolicyCall { tool: &self.tool, origin: &self.origin, arguments: &self.arguments }
    }

    /// The context of the row, with where its links lead under a policy.
    #[must_use]
    pub fn context(&self, policy: &Policy) -> Context {
        let links = self.links.as_ref().map(|table| policy.links(&self.call(), &self.context, table));
        Context { links, ..self.context.clone() }
    }

    /// The decision under a policy and remembered approvals.
    #[must_use]
    pub fn decide(&self, policy: &Policy, grants: &[Grant]) -> Evaluated {
        let verdict = policy.decide(&self.call(), &self.context(policy), grants);
        Evaluated { id: self.id.clone(), decision: verdict.decision.word(), reason: verdict.reason() }
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

/// `links: {"path": "target"}`: the symbolic links of the row's own disk. A relative path is below the
/// working folder. Without this member, paths are evaluated as written. The disk of this machine is never consulted.
fn links(ctx: &Value, cwd: &str) -> Result<Option<LinkTable>, String> {
    let Some(links) = ctx.get("links") else { return Ok(None) };
    let wrong = || "`links` must be an object of strings".to_owned();
    let absolute = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let pair = |(path, target): (&String, &Value)| Some((absolute(path), target.as_str()?.to_owned()));
    let pairs: Option<Vec<_>> = links.as_object().ok_or_else(wrong)?.iter().map(pair).collect();
    Ok(Some(LinkTable::new(pairs.ok_or_else(wrong)?)))
}

fn context(ctx: &Value) -> Context {
    let flag = |key: &str| ctx.get(key).and_then(Value::as_bool);
    let text = |key: &str| ctx.get(key).and_then(Value::as_str).map(str::to_owned);
    Context {
        cwd: text("cwd").or_else(|| Some("/workspace".to_owned())),
        home: text("home").or_else(|| Some("/home/user".to_owned())),
        interactive: flag("interactive").unwrap_or(true),
        workspace_trusted: flag("workspace_trusted").unwrap_or(false),
        server_trusted: flag("server_trusted").unwrap_or(false),
        annotations: ctx
            .get("annotations")
            .and_then(|a| serde_json::from_value::<Annotations>(a.clone()).ok())
            .unwrap_or_default(),
        case_sensitive_paths: flag("case_insensitive_fs").map(|b| !b),
        definition_changed: flag("schema_hash_changed").unwrap_or(false),
        ..Context::default()
    }
}

impl Setting {
    /// Reads one line; `false` if it is unknown.
    fn line(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(effect) = Effect::parse(word) {
            return self.rule(effect, rest);
        }
        match (word, rest) {
            ("managed" | "floor" | "project", rest) => {
                let scope = if word == "project" { PolicyScope::Project } else { PolicyScope::Managed };
                let own = std::mem::take(&mut self.file);
                let known = self.line(rest);
                let file = std::mem::replace(&mut self.file, own);
                self.others.push(PolicyFile { scope, broken: !known, ..file });
                true
            }
            ("default", effect) => {
                self.file.default = Effect::parse(effect);
                self.file.default.is_some()
            }
            ("mode", "non-interactive") => {
                self.context.interactive = false;
                true
            }
            // A default of allow bypasses asks but not denies.
            ("mode", "yolo") => {
                self.file.default = Some(Effect::Allow);
                true
            }
            ("mode", _) => true,
            ("builtin", "READ_ONLY_SAFE_SHELL") => {
                self.file.read_only_shell = true;
                true
            }
            ("tier", rest) => self.tier(rest),
            ("host_executable", rest) => match rest.split_once('=') {
                Some((name, path)) => {
                    self.file.programs.entry(name.to_owned()).or_default().push(path.to_owned());
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    fn rule(&mut self, effect: Effect, text: &str) -> bool {
        match compact(effect, text, |name| self.file.capabilities.get(name).cloned()) {
            Ok(rule) => {
                self.file.rules.push(rule);
                true
            }
            Err(_) => effect == Effect::Allow,
        }
    }

    fn tier(&mut self, rest: &str) -> bool {
        let Some((tier, tool)) = rest.split_once(' ') else { return false };
        let tier = match tier {
            "READ_ONLY_SAFE" | "READ_ONLY" => PolicyTier::ReadOnly,
            "A" => PolicyTier::A,
            "B" => PolicyTier::B,
            _ => return false,
        };
        let capability = ToolCapability { tier: Some(tier), ..ToolCapability::builtin(tool).unwrap_or_default() };
        self.file.capabilities.insert(tool.to_owned(), capability);
        true
    }
}
