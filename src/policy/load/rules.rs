//! `[[rule]]` tables and the lists `allow`, `ask` and `deny` of compact rules.

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_reader::Reader;
use super::{Mode, PolicyFile};
use crate::policy::command::CommandPattern;
use crate::policy::compact::compact;
use crate::policy::decision::{Decision, Says};
use crate::policy::facts::{Annotations, Call, Facts, Origin};
use crate::policy::host::HostPattern;
use crate::policy::path::PathPattern;
use crate::policy::record::{Family, Record};
use crate::policy::rule::{Access, Rule, ToolPattern};
use crate::policy::set::Policy;

/// The most rules a file may have.
const MAX_RULES: usize = 5_000;

pub(super) fn read(reader: &mut Reader<'_>, top: &DeTable<'_>, file: &mut PolicyFile) {
    // In the order of the file, whichever form a rule has.
    for (key, value) in top {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("rule", DeValue::Array(items)) => {
                for item in items {
                    table(reader, item, file);
                }
            }
            ("rule", _) => broken(reader, file, value.span().start, "rules are written `[[rule]]`"),
            (word @ ("allow" | "ask" | "deny"), _) => {
                let Some(says) = Says::parse(word) else { continue };
                let DeValue::Array(items) = value.get_ref() else {
                    broken(reader, file, value.span().start, "write a list of rules");
                    continue;
                };
                for item in items {
                    let place = reader.place(item.span().start);
                    let read = reader.text_of(item).ok_or_else(|| "a rule must be a text".to_owned());
                    match read.and_then(|text| compact(says, text, |name| file.records.get(name).cloned())) {
                        Ok(rule) => file.rules.push(Rule { place, ..rule }),
                        Err(why) => malformed(reader, file, Some(says), item.span().start, &why),
                    }
                }
            }
            _ => {}
        }
        if file.rules.len() > MAX_RULES {
            return broken(reader, file, value.span().start, "a policy has at most 5000 rules");
        }
    }
}

fn broken(reader: &mut Reader<'_>, file: &mut PolicyFile, at: usize, help: &str) {
    reader.error("policy-rule", at, "the rules cannot be read", help);
    file.broken = true;
}

/// A malformed allow is left out. A malformed ask or deny, or one that does not say which it is, would have
/// forbidden something: until it is mended everything asks.
fn malformed(reader: &mut Reader<'_>, file: &mut PolicyFile, says: Option<Says>, at: usize, why: &str) {
    let (what, help) = match says {
        Some(Says::Allow) => ("this allow is left out", "mend it; until then the calls it means are asked about"),
        _ => ("this rule cannot be read", "until it is mended everything asks"),
    };
    reader.error("policy-rule", at, format!("{what}: {why}"), help);
    file.broken |= says != Some(Says::Allow);
}

const KEYS: &[&str] = &[
    "decide",
    "rule",
    "tool",
    "command",
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
    let DeValue::Table(table) = item.get_ref() else { return broken(reader, file, at, "rules are written `[[rule]]`") };
    let decide = table.get("decide").and_then(|v| reader.text_of(v)).and_then(Says::parse);
    let Some(says) = decide else { return malformed(reader, file, None, at, "`decide` must be allow, ask or deny") };
    match fields(reader, table, says, file) {
        Ok(mut rule) => {
            rule.place = reader.place(at);
            if examples(reader, table, &rule, file) {
                file.rules.push(rule);
            } else {
                file.broken |= says != Says::Allow;
            }
        }
        Err(why) => malformed(reader, file, Some(says), at, &why),
    }
}

fn fields(reader: &mut Reader<'_>, table: &DeTable<'_>, says: Says, file: &PolicyFile) -> Result<Rule, String> {
    let get = |key: &str| {
        table.get(key).map(|v| reader.text_of(v).ok_or_else(|| format!("`{key}` must be a text"))).transpose()
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(format!("`{}` means nothing in a rule; known: {}", key.get_ref(), KEYS.join(", ")));
    }
    let known = |name: &str| file.records.get(name).cloned();
    if let Some(text) = get("rule")? {
        let mut rule = compact(says, text, known)?;
        rule.why = get("why")?.map(str::to_owned);
        return Ok(rule);
    }
    let tool = get("tool")?.ok_or("`tool` is missing: a name, a glob, `mcp:server/tool`, or `*`")?;
    let mut rule = Rule::new(says, ToolPattern::parse(tool)?, tool);
    rule.family = Family::of_name(tool);
    let mut words = vec![tool.to_owned()];
    if let Some(command) = get("command")? {
        rule.command = Some(CommandPattern::parse(command)?);
        words.push(format!("command = {command}"));
    }
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
            .map_err(|_| "`annotations` has hints such as `readOnlyHint = true`".to_owned())?;
    }
    rule.text = words.join(", ");
    Ok(rule)
}

/// Checks a rule's own examples; false if one does not hold.
fn examples(reader: &mut Reader<'_>, table: &DeTable<'_>, rule: &Rule, file: &PolicyFile) -> bool {
    let mut hold = true;
    for (key, wanted) in [("match", true), ("not_match", false)] {
        let Some(value) = table.get(key) else { continue };
        let DeValue::Array(items) = value.get_ref() else {
            reader.error("policy-type", value.span().start, format!("`{key}` must be a list"), "");
            hold = false;
            continue;
        };
        for item in items {
            let example = json(item.get_ref());
            if fits(rule, &example, file) != wanted {
                let verb = if wanted { "does not match" } else { "matches" };
                let message = format!("the rule `{}` {verb} its own example `{}`", rule.text, show(&example));
                reader.error(
                    "policy-example",
                    item.span().start,
                    message,
                    "mend the rule or the example: one of them is not meant so",
                );
                hold = false;
            }
        }
    }
    hold
}

fn show(example: &Value) -> String {
    example.as_str().map_or_else(|| example.to_string(), str::to_owned)
}

/// Whether a rule alone decides an example: an allow allows all of it, an ask or deny catches it.
fn fits(rule: &Rule, example: &Value, file: &PolicyFile) -> bool {
    let (origin, tool) = match &rule.tool {
        ToolPattern::Mcp { server, tool } => (Origin::Mcp(plain(server)), plain(tool)),
        ToolPattern::Name(name) => (Origin::Native, plain(name)),
        ToolPattern::Any => (Origin::Native, "any".to_owned()),
    };
    let identity = origin.identity(&tool);
    let record = file.records.get(&identity).cloned().or_else(|| Record::builtin(&tool)).unwrap_or_default();
    let first = |names: &[String]| names.first().and_then(|n| n.split('|').next()).map(str::to_owned);
    let arguments = match example {
        Value::Object(map) => Value::Object(map.clone()),
        text => {
            let key = if rule.command.is_some() {
                record.command.clone().or(Some("command".to_owned()))
            } else if let Some((_, access)) = &rule.path {
                let written = record.writes.as_deref().and_then(first);
                if *access == Some(Access::Read) {
                    first(&record.reads)
                } else {
                    written.or_else(|| first(&record.reads))
                }
                .or(Some("path".to_owned()))
            } else if rule.host.is_some() {
                first(&record.hosts).or(Some("url".to_owned()))
            } else {
                record.target.as_deref().and_then(|t| t.split('|').next()).map(str::to_owned)
            };
            Value::Object(key.map(|k| (k, text.clone())).into_iter().collect::<Map<_, _>>())
        }
    };
    let mut record = Record { tier: None, actions: None, ..record };
    if rule.command.is_some() && record.command.is_none() {
        record.command = Some("command".to_owned());
    }
    if rule.path.is_some() && record.writes.is_none() && record.reads.is_empty() {
        record.writes = Some(vec!["path".to_owned()]);
        record.reads =
            if matches!(rule.path, Some((_, Some(Access::Read)))) { vec!["path".to_owned()] } else { Vec::new() };
    }
    if rule.host.is_some() && record.hosts.is_empty() {
        record.hosts = vec!["url".to_owned()];
    }
    let alone = PolicyFile {
        mode: Some(Mode::Enforce),
        default: Some(if rule.says == Says::Ask { Says::Allow } else { Says::Ask }),
        records: [(identity, record)].into_iter().collect(),
        rules: vec![rule.clone()],
        programs: file.programs.clone(),
        ..PolicyFile::default()
    };
    // Examples are read in a folder of their own, so that relative and absolute paths can be told apart.
    let facts = Facts {
        cwd: Some("/workspace".to_owned()),
        home: Some("/home/user".to_owned()),
        interactive: true,
        workspace_trusted: true,
        annotations: rule.annotations,
        ..Facts::default()
    };
    let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
    let verdict = Policy::new(vec![alone]).decide(&call, &facts, &[]);
    match rule.says {
        Says::Allow => verdict.decision.runs(),
        Says::Ask => verdict.decision == Decision::Confirm,
        Says::Deny => verdict.decision == Decision::Deny,
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
