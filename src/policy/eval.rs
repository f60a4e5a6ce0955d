//! Evaluates rows of rules and calls, for `policy eval` and the corpus test.
//!
//! A row is `{"id", "rule": ["allow Bash(git log:*)", …], "tool", "args", "ctx": {…}}`. Besides `allow`, `ask` and
//! `deny` with a compact rule, a row may contain lines that a policy file writes elsewhere: `default X`, `mode X`,
//! `tier T name`, `builtin READ_ONLY_SAFE_SHELL`, `host_executable n=path`, `managed …` and `project …` before a line
//! (the scope of its file), `skill n allowed-tools rule`, `grant(…) …`, `approve-once`, `persist-policy default` with
//! the tool `@persist_grant`, and annotation policies in the style of Cedar. A row whose `profile` is `last-match` is
//! evaluated in that order. Unless `ctx` says otherwise, the working folder is `/workspace` and the home folder
//! `/home/user`. Paths are evaluated as written, without looking at the disk of this machine; a row may define symbolic
//! links as `links: {"path": "target"}`. An unknown line makes every call ask, as a malformed deny does.

use serde::Serialize;
use serde_json::{Map, Value};

use super::capability::{PolicyTier, ToolCapability};
use super::compact::compact;
use super::context::{Annotations, Context, PolicyCall, ToolOrigin};
use super::decision::Effect;
use super::grant::{Bound, Grant, GrantScope, GrantTarget};
use super::links::LinkTable;
use super::load::PolicyFile;
use super::policy_set::Policy;
use super::rule::{PolicyScope, Rule, ToolPattern};

mod approvals;

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

/// What the lines of a row say together.
#[derive(Default)]
struct Setting {
    file: PolicyFile,
    context: Context,
    grants: Vec<Grant>,
    approve_once: bool,
    /// The latest answer for one call, if it was a rejection.
    refused: bool,
    /// The files of scopes other than the user's.
    others: Vec<PolicyFile>,
}

/// Evaluates a row.
///
/// # Errors
/// A sentence if the row is not an object with the required members.
pub fn evaluate(row: &Value) -> Result<Evaluated, String> {
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let id = text("id").unwrap_or_default().to_owned();
    let tool = text("tool").ok_or("the row has no `tool`")?;
    let lines: Vec<&str> = match row.get("rule") {
        Some(Value::Array(lines)) => {
            lines.iter().map(|l| l.as_str().ok_or("`rule` must be a list of strings")).collect::<Result<_, _>>()?
        }
        Some(Value::String(line)) => vec![line],
        None => Vec::new(),
        Some(_) => return Err("`rule` must be a list of strings".to_owned()),
    };
    let empty = Value::Object(Map::new());
    let arguments = row.get("args").unwrap_or(&empty);
    let ctx = row.get("ctx").filter(|c| c.is_object()).unwrap_or(&empty);
    let done = |decision: &'static str, reason: String| Ok(Evaluated { id: id.clone(), decision, reason });

    if tool == "@persist_grant" {
        return match persist(arguments) {
            Ok(()) => done("allow", "narrow enough to remember".to_owned()),
            Err(why) => done("deny", why),
        };
    }
    let mut setting = Setting { context: context(ctx), ..Setting::default() };
    let origin = match ctx.get("server").and_then(Value::as_str) {
        Some(server) => ToolOrigin::Mcp(server.to_owned()),
        None => ToolOrigin::Native,
    };
    setting.file.last_match = text("profile") == Some("last-match");
    for line in &lines {
        if !setting.line(line, ctx, tool) {
            setting.file.broken = true;
        }
    }
    if setting.refused {
        return done("deny", "the latest answer was a rejection".to_owned());
    }
    let call = PolicyCall { tool, origin: &origin, arguments };
    setting.others.push(setting.file);
    let policy = Policy::new(setting.others);
    if let Some(table) = links(ctx, setting.context.cwd.as_deref().unwrap_or_default())? {
        setting.context.links = Some(policy.links(&call, &setting.context, &table));
    }
    if setting.approve_once {
        let (decision, reason) = approvals::evaluate(&policy, &call, &setting.context, ctx);
        return done(decision, reason);
    }
    let verdict = policy.decide(&call, &setting.context, &setting.grants);
    done(verdict.decision.word(), verdict.reason())
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
        active_skills: text("active_skill").map(|n| (n, "eval".to_owned())).into_iter().collect(),
        ..Context::default()
    }
}

impl Setting {
    /// Reads one line; `false` if it is unknown.
    fn line(&mut self, line: &str, ctx: &Value, tool: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(effect) = Effect::parse(word) {
            return self.rule(effect, rest, ctx, tool);
        }
        match (word, rest) {
            ("managed" | "floor" | "project", rest) => {
                let scope = if word == "project" { PolicyScope::Project } else { PolicyScope::Managed };
                let own = std::mem::take(&mut self.file);
                let known = self.line(rest, ctx, tool);
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
            ("skill", rest) => self.skill(rest, ctx),
            ("approve-once", "") => {
                self.approve_once = true;
                true
            }
            ("cedar", rest) => self.cedar(rest),
            (word, rest) if word.starts_with("grant(") => self.grant(&format!("{word} {rest}")),
            _ => false,
        }
    }

    fn rule(&mut self, effect: Effect, text: &str, ctx: &Value, tool: &str) -> bool {
        if let Some(pattern) = ctx.get("arg_pattern").and_then(Value::as_str) {
            let mut rule = Rule::new(effect, ToolPattern::Name(tool.to_owned()), text);
            rule.args.push(("*".to_owned(), format!("*{pattern}*")));
            self.file.rules.push(rule);
            return true;
        }
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

    /// The allowed tools of a skill: while it is active, and only what can be remembered or names its own scripts.
    fn skill(&mut self, rest: &str, ctx: &Value) -> bool {
        let Some((name, rule)) = rest.split_once(" allowed-tools ") else { return false };
        let folder = ctx.get("SKILL_DIR").and_then(Value::as_str).unwrap_or("${SKILL_DIR}");
        let Ok(rule) = compact(Effect::Allow, &rule.replace("${SKILL_DIR}", folder), |_| None) else { return true };
        let scope = GrantScope::Skill { name: name.to_owned(), hash: "eval".to_owned() };
        match Grant::from_rule(&rule, "skill", scope, name) {
            Ok(grant) => self.grants.push(grant),
            Err(_) if self.context.active_skills.iter().any(|(n, _)| n == name) && !rule.text.contains("(*)") => {
                self.file.rules.push(rule);
            }
            Err(_) => {}
        }
        true
    }

    fn grant(&mut self, line: &str) -> bool {
        let Some((kind, rest)) = line.trim_start_matches("grant(").split_once(')') else { return false };
        let rest = rest.trim();
        self.refused = kind.contains("denied");
        if self.refused || kind.contains("expired") {
            return true;
        }
        let scope = GrantScope::Always;
        if let Some(rest) = rest.strip_prefix("tool=") {
            let (head, arguments) = match rest.split_once(" args=") {
                Some((head, json)) => (head, serde_json::from_str::<Value>(json).ok()),
                None => (rest, None),
            };
            let (tool, server) = match head.split_once(" server=") {
                Some((tool, server)) => (tool, Some(server)),
                None => (head, None),
            };
            let target = arguments.map_or(GrantTarget::Tool, |arguments| GrantTarget::Arguments { arguments });
            let origin = server.map_or(ToolOrigin::Native, |s| ToolOrigin::Mcp(s.to_owned()));
            let source = "a person".to_owned();
            self.grants.push(Grant {
                id: "grant".to_owned(),
                origin,
                tool: tool.to_owned(),
                target,
                scope,
                expires_ms: None,
                source,
                bound: Bound::default(),
            });
            return true;
        }
        let Ok(rule) = compact(Effect::Allow, rest, |_| None) else { return true };
        self.grants.extend(Grant::from_rule(&rule, "grant", scope, "a person"));
        true
    }

    /// `permit(…) when {resource.readOnlyHint == true};`: a call that no policy permits is denied.
    fn cedar(&mut self, text: &str) -> bool {
        self.file.default = Some(Effect::Deny);
        let effect = match text.split('(').next() {
            Some("permit") => Effect::Allow,
            Some("forbid") => Effect::Deny,
            _ => return false,
        };
        let mut rule = Rule::new(effect, ToolPattern::Any, text);
        if let Some((_, condition)) = text.split_once("when") {
            let condition: String = condition.chars().filter(|c| !"{}; ".contains(*c)).collect();
            let Some((name, value)) = condition.split_once("==") else { return false };
            let Ok(value) = value.parse::<bool>() else { return false };
            match name {
                "resource.readOnlyHint" => rule.annotations.read_only_hint = Some(value),
                "resource.destructiveHint" => rule.annotations.destructive_hint = Some(value),
                "resource.idempotentHint" => rule.annotations.idempotent_hint = Some(value),
                "resource.openWorldHint" => rule.annotations.open_world_hint = Some(value),
                _ => return false,
            }
        }
        self.file.rules.push(rule);
        true
    }
}

fn persist(arguments: &Value) -> Result<(), String> {
    let proposed = arguments.get("proposed").and_then(Value::as_str).ok_or("no rule is proposed")?;
    let rule = proposed.strip_prefix("allow ").ok_or("only an allow can be remembered")?;
    let rule = compact(Effect::Allow, rule, |_| None)?;
    Grant::from_rule(&rule, "proposed", GrantScope::Always, "eval").map(drop).map_err(|e| e.to_string())
}
