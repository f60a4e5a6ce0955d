//! `[[rule]]` tables and the lists `allow`, `ask` and `deny` of compact rules.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::Reader;
use super::{PolicyFile, PolicyMode};
use crate::policy::capability::{Family, ToolCapability};
use crate::policy::command::{CommandPattern, OptionPattern};
use crate::policy::compact::compact;
use crate::policy::context::{Annotations, Context, PolicyCall, ToolOrigin};
use crate::policy::decision::{Decision, Effect};
use crate::policy::host::HostPattern;
use crate::policy::path::PathPattern;
use crate::policy::policy_set::Policy;
use crate::policy::rule::{Access, Rule, ToolPattern};

/// The maximum number of rules in a file.
const MAX_RULES: usize = 5_000;

pub(super) fn read(reader: &mut Reader<'_>, top: &DeTable<'_>, file: &mut PolicyFile) {
    // In the order of the file, in whichever form a rule is written.
    for (key, value) in top {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("rule", DeValue::Array(items)) => {
                for item in items {
                    table(reader, item, file);
                }
            }
            ("rule", _) => broken(reader, file, value.span().start, "write rules as `[[rule]]` tables"),
            (word @ ("allow" | "ask" | "deny"), _) => {
                let Some(effect) = Effect::parse(word) else { continue };
                let DeValue::Array(items) = value.get_ref() else {
                    broken(reader, file, value.span().start, "write a list of rules");
                    continue;
                };
                for item in items {
                    let place = reader.place(item.span().start);
                    let read = reader.text_of(item).ok_or_else(|| "a rule must be a string".to_owned());
                    match read.and_then(|text| compact(effect, text, |name| file.capabilities.get(name).cloned())) {
                        Ok(rule) => file.rules.push(Rule { place, ..rule }),
                        Err(why) => malformed(reader, file, Some(effect), item.span().start, &why),
                    }
                }
            }
            _ => {}
        }
        if file.rules.len() > MAX_RULES {
            return broken(reader, file, value.span().start, "a policy file may have at most 5000 rules");
        }
    }
}

fn broken(reader: &mut Reader<'_>, file: &mut PolicyFile, at: usize, help: &str) {
    reader.error("policy-rule", at, "the rules cannot be read", help);
    file.broken = true;
}

/// A malformed allow is ignored. A malformed ask or deny, or a rule without a known effect, would have restricted
/// something, so every call asks until it is fixed.
fn malformed(reader: &mut Reader<'_>, file: &mut PolicyFile, effect: Option<Effect>, at: usize, why: &str) {
    let (what, help) = match effect {
        Some(Effect::Allow) => ("this allow is ignored", "fix it; the calls it covers ask until then"),
        _ => ("this rule cannot be read", "fix it; every call asks until then"),
    };
    reader.error("policy-rule", at, format!("{what}: {why}"), help);
    file.broken |= effect != Some(Effect::Allow);
}

const KEYS: &[&str] = &[
    "decide",
    "rule",
    "tool",
    "command",
    "options",
    "path",
    "access",
    "host",
    "target",
    "args",
    "annotations",
    "why",
    "match",
    "not_match",
];

fn table(reader: &mut Reader<'_>, item: &Spanned<DeValue<'_>>, file: &mut PolicyFile) {
    let at = item.span().start;
    let DeValue::Table(table) = item.get_ref() else {
        return broken(reader, file, at, "write rules as `[[rule]]` tables");
    };
    let decide = table.get("decide").and_then(|v| reader.text_of(v)).and_then(Effect::parse);
    let Some(effect) = decide else { return malformed(reader, file, None, at, "`decide` must be allow, ask or deny") };
    match fields(reader, table, effect, file) {
        Ok(mut rule) => {
            rule.place = reader.place(at);
            // A rule that does not do what its examples say may do anything else: no part of the file is trusted then.
            if examples(reader, table, &rule, file) {
                file.rules.push(rule);
            } else {
                file.broken = true;
            }
        }
        Err(why) => malformed(reader, file, Some(effect), at, &why),
    }
}

fn fields(reader: &mut Reader<'_>, table: &DeTable<'_>, effect: Effect, file: &PolicyFile) -> Result<Rule, String> {
    let get = |key: &str| {
        table.get(key).map(|v| reader.text_of(v).ok_or_else(|| format!("`{key}` must be a string"))).transpose()
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(format!("unknown key `{}` in a rule; the known keys are {}", key.get_ref(), KEYS.join(", ")));
    }
    let known = |name: &str| file.capabilities.get(name).cloned();
    if let Some(text) = get("rule")? {
        let mut rule = compact(effect, text, known)?;
        rule.why = get("why")?.map(str::to_owned);
        options(reader, table, &mut rule)?;
        return Ok(rule);
    }
    let tool = get("tool")?.ok_or("`tool` is missing: a name, a glob, `mcp:server/tool`, or `*`")?;
    let mut rule = Rule::new(effect, ToolPattern::parse(tool)?, tool);
    rule.family = Family::of_name(tool);
    let mut words = vec![tool.to_owned()];
    if let Some(command) = get("command")? {
        rule.command = Some(CommandPattern::parse(command)?);
        words.push(format!("command = {command}"));
    }
    options(reader, table, &mut rule)?;
    if let Some(path) = get("path")? {
        let access = match get("access")? {
            None | Some("any") => None,
            Some("read") => Some(Access::Read),
            Some("write") => Some(Access::Write),
            Some(_) => return Err("`access` must be read, write or any".to_owned()),
        };
        rule.path = Some((PathPattern::parse(path)?, access));
        words.push(format!("path = {path}"));
    }
    if let Some(host) = get("host")? {
        rule.host = Some(HostPattern::parse(host)?);
        words.push(format!("host = {host}"));
    }
    rule.target = get("target")?.map(str::to_owned);
    rule.why = get("why")?.map(str::to_owned);
    if let Some(args) = table.get("args") {
        let Value::Object(args) = json(args.get_ref()) else { return Err("`args` must be a table".to_owned()) };
        for (name, value) in args {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            words.push(format!("{name} = {text}"));
            rule.args.push((name, text));
        }
    }
    if let Some(hints) = table.get("annotations") {
        rule.annotations = serde_json::from_value::<Annotations>(json(hints.get_ref()))
            .map_err(|_| "`annotations` takes hints such as `readOnlyHint = true`".to_owned())?;
    }
    rule.text = words.join(", ");
    Ok(rule)
}

/// Reads the options that an allow over commands covers.
fn options(reader: &Reader<'_>, table: &DeTable<'_>, rule: &mut Rule) -> Result<(), String> {
    let Some(value) = table.get("options") else { return Ok(()) };
    if rule.effect != Effect::Allow || rule.command.as_ref().is_none_or(|command| command.any) {
        return Err("`options` belongs to an allow with a `command` that names a program".to_owned());
    }
    let DeValue::Array(items) = value.get_ref() else { return Err("`options` must be a list of strings".to_owned()) };
    for item in items {
        let text = reader.text_of(item).ok_or("`options` must be a list of strings")?;
        rule.options.push(OptionPattern::parse(text)?);
    }
    Ok(())
}

/// Checks the examples of a rule; `false` if one does not hold.
fn examples(reader: &mut Reader<'_>, table: &DeTable<'_>, rule: &Rule, file: &PolicyFile) -> bool {
    let mut hold = true;
    for (key, wanted) in [("match", true), ("not_match", false)] {
        let Some(value) = table.get(key) else { continue };
        let DeValue::Array(items) = value.get_ref() else {
            reader.error("policy-type", value.span().start, format!("`{key}` must be a list"), "");
            hold = false;
            continue;
        };
        // Without a reader every command is unknown: it matches each ask and deny, and no allow. No example tells more.
        if rule.command.is_some() && !cfg!(feature = "shell") {
            reader.note_once(
                "policy-example-unread",
                value.span().start,
                "the examples of this file's commands are not checked: this build reads no shell commands",
                "build with the feature `shell`",
            );
            continue;
        }
        for item in items {
            let example = json(item.get_ref());
            if fits(rule, &example, file) != wanted {
                let verb = if wanted { "does not match" } else { "matches" };
                let message = format!("the rule `{}` {verb} its own example `{}`", rule.text, show(&example));
                reader.error("policy-example", item.span().start, message, "fix the rule or the example");
                hold = false;
            }
        }
    }
    hold
}

fn show(example: &Value) -> String {
    example.as_str().map_or_else(|| example.to_string(), str::to_owned)
}

/// Whether a rule alone decides an example: an allow allows all of it, an ask or deny matches it.
fn fits(rule: &Rule, example: &Value, file: &PolicyFile) -> bool {
    let (origin, tool) = match &rule.tool {
        ToolPattern::Mcp { server, tool } => (ToolOrigin::Mcp(plain(server)), plain(tool)),
        ToolPattern::Name(name) => (ToolOrigin::Native, plain(name)),
        ToolPattern::Any => (ToolOrigin::Native, "any".to_owned()),
    };
    let identity = origin.identity(&tool);
    let capability =
        file.capabilities.get(&identity).cloned().or_else(|| ToolCapability::builtin(&tool)).unwrap_or_default();
    let first = |names: &[String]| names.first().and_then(|n| n.split('|').next()).map(str::to_owned);
    let arguments = match example {
        Value::Object(map) => Value::Object(map.clone()),
        text => {
            let key = if rule.command.is_some() {
                capability.command.clone().or(Some("command".to_owned()))
            } else if let Some((_, access)) = &rule.path {
                let written = capability.writes.as_deref().and_then(first);
                if *access == Some(Access::Read) {
                    first(&capability.reads)
                } else {
                    written.or_else(|| first(&capability.reads))
                }
                .or(Some("path".to_owned()))
            } else if rule.host.is_some() {
                first(&capability.hosts).or(Some("url".to_owned()))
            } else {
                capability.target.as_deref().and_then(|t| t.split('|').next()).map(str::to_owned)
            };
            Value::Object(key.map(|k| (k, text.clone())).into_iter().collect::<Map<_, _>>())
        }
    };
    let mut capability = ToolCapability { tier: None, actions: None, ..capability };
    if rule.command.is_some() && capability.command.is_none() {
        capability.command = Some("command".to_owned());
    }
    if rule.path.is_some() && capability.writes.is_none() && capability.reads.is_empty() {
        capability.writes = Some(vec!["path".to_owned()]);
        capability.reads =
            if matches!(rule.path, Some((_, Some(Access::Read)))) { vec!["path".to_owned()] } else { Vec::new() };
    }
    if rule.host.is_some() && capability.hosts.is_empty() {
        capability.hosts = vec!["url".to_owned()];
    }
    let alone = PolicyFile {
        mode: Some(PolicyMode::Enforce),
        default: Some(if rule.effect == Effect::Ask { Effect::Allow } else { Effect::Ask }),
        capabilities: [(identity, capability)].into_iter().collect(),
        rules: vec![rule.clone()],
        programs: file.programs.clone(),
        ..PolicyFile::default()
    };
    // Examples are evaluated in a separate folder, so that relative and absolute paths differ.
    let context = Context {
        cwd: Some("/workspace".to_owned()),
        home: Some("/home/user".to_owned()),
        interactive: true,
        workspace_trusted: true,
        annotations: rule.annotations,
        ..Context::default()
    };
    let call = PolicyCall { tool: &tool, origin: &origin, arguments: &arguments };
    let verdict = Policy::new(vec![alone]).decide(&call, &context, &[]);
    match rule.effect {
        Effect::Allow => verdict.decision.runs(),
        Effect::Ask => verdict.decision == Decision::Confirm,
        Effect::Deny => verdict.decision == Decision::Deny,
    }
}

/// A name that a glob fits.
fn plain(pattern: &str) -> String {
    pattern.replace(['*', '?'], "x")
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).map_or(Value::Null, Value::from),
        DeValue::Float(f) => {
            f.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map_or(Value::Null, Value::Number)
        }
        DeValue::Datetime(d) => Value::String(d.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|i| json(i.get_ref())).collect()),
        DeValue::Table(table) => {
            Value::Object(table.iter().map(|(k, v)| (k.get_ref().to_string(), json(v.get_ref()))).collect())
        }
    }
}
