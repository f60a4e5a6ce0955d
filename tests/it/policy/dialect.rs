//! The dialect of the corpus: what a policy file cannot express, evaluated by the parts of the
//! engine that implement it.
//!
//! Beside the lines that [`eval`](toolfold::policy::eval) reads: `approve-once` (a real approval
//! through the gate), `grant(…) …` (remembered approvals), `persist-policy default` with the tool
//! `@persist_grant` (what may be remembered), annotation policies in the style of Cedar, and
//! `arg_pattern` in the context. `skill n allowed-tools rule` is no rule of the engine: a skill's
//! `allowed-tools` are a suggestion.

mod approvals;

use serde_json::Value;
use toolfold::policy::eval::Row;
use toolfold::policy::{Effect, Grant, GrantScope, GrantTarget, Policy, Rule, ToolOrigin, ToolPattern, compact};
use toolfold_testing::with;

/// The lines of a row.
fn lines(row: &Value) -> Vec<&str> {
    match &row["rule"] {
        Value::Array(lines) => lines.iter().map(|line| line.as_str().unwrap()).collect(),
        Value::String(line) => vec![line],
        _ => Vec::new(),
    }
}

/// Whether a row needs a rule that the engine does not have.
pub(super) fn is_no_rule_of_the_engine(row: &Value) -> bool {
    lines(row).iter().any(|line| line.starts_with("skill ") || line.starts_with("needs_approval "))
}

/// The answer to a row of the corpus.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) decision: &'static str,
    pub(super) reason: String,
}

/// Evaluates a row of the corpus.
pub(super) fn evaluate(row: &Value) -> Result<Answer, String> {
    let answer = |decision, reason: &str| Ok(Answer { decision, reason: reason.to_owned() });
    if row["tool"] == "@persist_grant" {
        return match persist(&row["args"]) {
            Ok(()) => answer("allow", "narrow enough to remember"),
            Err(why) => answer("deny", &why),
        };
    }
    let (mut own, mut known) = (Own::default(), Vec::new());
    for line in lines(row) {
        if !own.line(line, row) {
            known.push(line);
        }
    }
    if own.refused {
        return answer("deny", "the latest answer was a rejection");
    }
    let mut plain = row.clone();
    if plain.get("rule").is_some() {
        plain["rule"] = Value::from(known);
    }
    let mut row_read = Row::read(&plain).map_err(|why| why.to_string())?;
    if let Some(file) = row_read.files.last_mut() {
        file.rules.append(&mut own.rules);
        file.default = own.default.or(file.default);
    }
    let policy = Policy::new(row_read.files.clone());
    if own.approve_once {
        let (decision, reason) = approvals::evaluate(&row_read, &policy, &row["ctx"]);
        return answer(decision, &reason);
    }
    let own = row_read.decide(&policy, &own.grants);
    answer(own.decision, &own.reason)
}

/// What the lines of the dialect say together.
#[derive(Default)]
struct Own {
    rules: Vec<Rule>,
    default: Option<Effect>,
    grants: Vec<Grant>,
    approve_once: bool,
    /// The latest answer for one call, if it was a rejection.
    refused: bool,
}

impl Own {
    /// Reads a line; `false` if it is none of the dialect.
    fn line(&mut self, line: &str, row: &Value) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (serde_json::from_value::<Effect>(word.into()).ok(), word, row["ctx"]["arg_pattern"].as_str()) {
            (Some(effect), _, Some(pattern)) => {
                let tool = ToolPattern::Name(row["tool"].as_str().unwrap().to_owned());
                let mut rule = Rule::new(effect, tool, rest);
                rule.args = vec![("*".to_owned(), format!("*{pattern}*"))];
                self.rules.push(rule);
                true
            }
            (None, "approve-once", _) => {
                self.approve_once = true;
                true
            }
            (None, "cedar", _) => self.cedar(rest),
            (None, word, _) if word.starts_with("grant(") => self.grant(line),
            // Not a rule of the engine: nothing is allowed by it.
            (None, "skill", _) => true,
            _ => false,
        }
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
            self.grants.push(with!(
                Grant::new(origin, tool, target, scope),
                id = "grant".into(),
                source = "a person".into()
            ));
            return true;
        }
        let Ok(rule) = compact(Effect::Allow, rest, |_| None) else { return true };
        self.grants.extend(Grant::from_rule(&rule, "grant", scope, "a person"));
        true
    }

    /// `permit(…) when {resource.readOnlyHint == true};`: a call that no policy permits is denied.
    fn cedar(&mut self, text: &str) -> bool {
        self.default = Some(Effect::Deny);
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
        self.rules.push(rule);
        true
    }
}

fn persist(arguments: &Value) -> Result<(), String> {
    let proposed = arguments.get("proposed").and_then(Value::as_str).ok_or("no rule is proposed")?;
    let rule = proposed.strip_prefix("allow ").ok_or("only an allow can be remembered")?;
    let rule = compact(Effect::Allow, rule, |_| None).map_err(|why| why.to_string())?;
    Grant::from_rule(&rule, "proposed", GrantScope::Always, "eval").map(drop).map_err(|e| e.to_string())
}
