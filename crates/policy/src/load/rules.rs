//! `[[rule]]` tables and the lists `allow`, `ask` and `deny` of compact rules.

use crate::argv::is_listed;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::memory::{self, WrittenOver};
use super::toml_reader::{Reader, typed};
use super::{PolicyFile, PolicyMode};
use crate::capability::{Family, ToolCapability};
use crate::command::{CommandPattern, OptionPattern};
use crate::compact::compact;
use crate::context::{Annotations, Context, PolicyCall, ToolOrigin};
use crate::decision::Effect;
use crate::host::HostPattern;
use crate::memory::Label;
use crate::path::PathPattern;
use crate::pattern_error::{InvalidValue, invalid};
use crate::policy_set::Policy;
use crate::rule::{Access, Rule, ToolPattern};

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
                    let read = item.get_ref().as_str().ok_or_else(|| InvalidValue::from("a rule must be a string"));
                    match read.and_then(|text| compact(effect, text, |name| file.capabilities.get(name).cloned())) {
                        Ok(rule) => file.rules.push(Rule { place, ..rule }),
                        Err(why) => malformed(reader, file, Some(effect), item.span().start, &why.to_string()),
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

/// A malformed allow is ignored. A malformed ask or deny, or a rule without a known effect, would
/// have restricted something, so every call asks until it is fixed.
fn malformed(reader: &mut Reader<'_>, file: &mut PolicyFile, effect: Option<Effect>, at: usize, why: &str) {
    let (what, help) = match effect {
        Some(Effect::Allow) => ("this allow is ignored", "fix it; the calls it covers ask until then"),
        _ => ("this rule cannot be read", "fix it; every call asks until then"),
    };
    reader.error("policy-rule", at, format!("{what}: {why}"), help);
    file.broken |= effect != Some(Effect::Allow);
}

/// The keys of a `[[rule]]` table.
const KEYS: &str = "decide rule tool command options path access host target args annotations unless_after match_args over once \
                    sends after_reading why match not_match";

/// A `[[rule]]` table as it is written.
#[derive(Deserialize)]
struct Written {
    decide: Effect,
    rule: Option<String>,
    tool: Option<String>,
    command: Option<String>,
    options: Option<Vec<String>>,
    path: Option<String>,
    access: Option<Reach>,
    host: Option<String>,
    target: Option<String>,
    args: Option<Map<String, Value>>,
    annotations: Option<Value>,
    unless_after: Option<String>,
    match_args: Option<Vec<String>>,
    over: Option<WrittenOver>,
    #[serde(default)]
    once: bool,
    #[serde(default)]
    sends: bool,
    after_reading: Option<Vec<Label>>,
    why: Option<String>,
    #[serde(default, rename = "match")]
    fits: Vec<Spanned<Value>>,
    #[serde(default, rename = "not_match")]
    misses: Vec<Spanned<Value>>,
}

/// The values of `access`.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reach {
    Read,
    Write,
    Any,
}

fn table(reader: &mut Reader<'_>, item: &Spanned<DeValue<'_>>, file: &mut PolicyFile) {
    let at = item.span().start;
    let DeValue::Table(table) = item.get_ref() else {
        return broken(reader, file, at, "write rules as `[[rule]]` tables");
    };
    let decide = table.get("decide");
    let effect = decide.and_then(|v| v.get_ref().as_str()).and_then(Effect::parse);
    let before = reader.diagnostics.len();
    for (key, _) in table {
        if !is_listed(KEYS, key.get_ref()) {
            reader.unknown_key(key.span().start, key.get_ref(), KEYS);
        }
    }
    if reader.diagnostics.len() > before {
        file.broken |= effect != Some(Effect::Allow);
        return;
    }
    let Some(effect) = effect else {
        let at = if let Some(value) = decide { value.span().start } else { at };
        return malformed(reader, file, None, at, "`decide` must be allow, ask or deny");
    };
    let written: Written = match typed(item) {
        Ok(written) => written,
        Err(why) => {
            let at = if let Some(span) = why.span() { span.start } else { at };
            let why = why.to_string();
            let (what, key) = why.trim_end().split_once("\nin ").unwrap_or((why.trim_end(), "the rule"));
            return malformed(reader, file, Some(effect), at, &format!("{key}: {what}"));
        }
    };
    match written.rule(file) {
        Ok(rule) => {
            let rule = Rule { place: reader.place(at), ..rule };
            // A rule that fails its own examples may match anything else, so no part of the
            // file is trusted.
            if written.examples_hold(reader, &rule, file) {
                file.rules.push(rule);
            } else {
                file.broken = true;
            }
        }
        Err(why) => malformed(reader, file, Some(effect), at, &why.to_string()),
    }
}

impl Written {
    /// The rule that it says, without its place.
    fn rule(&self, file: &PolicyFile) -> Result<Rule, InvalidValue> {
        let mut rule = if let Some(text) = &self.rule { self.compact(text, file)? } else { self.conditions()? };
        rule.why.clone_from(&self.why);
        rule.sends = self.sends;
        if rule.sends && rule.effect == Effect::Allow {
            return invalid("`sends` is only valid on an `ask` or `deny` rule");
        }
        rule.memory = memory::condition(
            rule.effect,
            self.unless_after.as_deref(),
            self.match_args.as_deref(),
            self.over.as_ref(),
            self.once,
            self.after_reading.as_deref(),
        )?;
        if let Some(options) = &self.options {
            if rule.effect != Effect::Allow || !rule.names_commands() {
                return invalid("`options` is only valid on an `allow` rule whose `command` names a program");
            }
            rule.options = options.iter().map(|text| OptionPattern::parse(text)).collect::<Result<_, _>>()?;
        }
        Ok(rule)
    }

    fn compact(&self, text: &str, file: &PolicyFile) -> Result<Rule, InvalidValue> {
        let texts = [&self.tool, &self.command, &self.path, &self.host, &self.target];
        let alone = self.access.is_none() && self.args.is_none() && self.annotations.is_none();
        if !alone || texts.into_iter().any(Option::is_some) {
            return invalid("`rule` replaces `tool` and its conditions: write one or the other");
        }
        compact(self.decide, text, |name| file.capabilities.get(name).cloned())
    }

    fn conditions(&self) -> Result<Rule, InvalidValue> {
        let any = self.sends.then(|| "*".to_owned());
        let Some(tool) = self.tool.as_ref().or(any.as_ref()) else {
            return invalid("`tool` is missing: a name, a glob, `mcp:server/tool`, or `*`");
        };
        let mut rule = Rule::new(self.decide, ToolPattern::parse(tool)?, tool);
        rule.family = Family::of_name(tool);
        rule.target.clone_from(&self.target);
        if let Some(command) = &self.command {
            rule.command = Some(CommandPattern::parse(command)?.of(self.decide)?);
        }
        rule.host = self.host.as_deref().map(HostPattern::parse).transpose()?;
        if let Some(path) = &self.path {
            let access = match self.access {
                Some(Reach::Read) => Some(Access::Read),
                Some(Reach::Write) => Some(Access::Write),
                Some(Reach::Any) | None => None,
            };
            rule.path = Some((PathPattern::parse(path)?, access));
        }
        for (name, value) in self.args.iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Array(_) | Value::Object(_) => {
                    return invalid(format!(
                        "`args.{name}` must be a string, number or boolean: write one rule for each value"
                    ));
                }
                other => other.to_string(),
            };
            rule.args.push((name.clone(), text));
        }
        if let Some(hints) = &self.annotations {
            // A hint that is not known would be a condition that is not checked.
            match Annotations::deserialize(hints) {
                Ok(known) if serde_json::to_value(known).ok().as_ref() == Some(hints) => rule.annotations = known,
                _ => return invalid("`annotations` requires hints such as `readOnlyHint = true`"),
            }
        }
        for (key, text) in [("command", &self.command), ("path", &self.path), ("host", &self.host)] {
            if let Some(text) = text {
                rule.text += &format!(", {key} = {text}");
            }
        }
        for (name, text) in &rule.args {
            rule.text += &format!(", {name} = {text}");
        }
        Ok(rule)
    }

    /// Whether the rule does what its examples say.
    fn examples_hold(&self, reader: &mut Reader<'_>, rule: &Rule, file: &PolicyFile) -> bool {
        let mut hold = true;
        let examples = self.fits.iter().map(|example| (example, true));
        for (example, wanted) in examples.chain(self.misses.iter().map(|example| (example, false))) {
            // Without a reader every command is unknown: it matches each ask and deny, and no
            // allow. No example tells more.
            if rule.command.is_some() && !cfg!(feature = "shell") {
                reader.note_once(
                    "policy-example-unread",
                    example.span().start,
                    "the examples of this file's commands are not checked: this build cannot parse shell commands",
                    "build with the feature `shell`",
                );
            } else if fits(rule, example.get_ref(), file) != wanted {
                let verb = if wanted { "does not match" } else { "matches" };
                let shown = example.get_ref().as_str().map_or_else(|| example.get_ref().to_string(), str::to_owned);
                let message = format!("the rule `{}` {verb} its own example `{shown}`", rule.text);
                let apart = rule.effect == Effect::Allow && rule.command.is_some() && !rule.is_of_commands();
                let help =
                    if apart { "an allow of a command has no `host` or `path`" } else { "fix the rule or the example" };
                reader.error("policy-example", example.span().start, message, help);
                hold = false;
            }
        }
        hold
    }
}

/// Whether a rule alone decides an example: an allow allows all of it, an ask or deny matches it.
fn fits(rule: &Rule, example: &Value, file: &PolicyFile) -> bool {
    let (origin, tool) = match &rule.tool {
        ToolPattern::Mcp { server, tool } => (ToolOrigin::Mcp(plain(server)), plain(tool)),
        ToolPattern::Name(name) => (ToolOrigin::Native, plain(name)),
        ToolPattern::Any => (ToolOrigin::Native, "any".to_owned()),
    };
    let identity = origin.identity(&tool);
    let known = file.capabilities.get(&identity).cloned().or_else(|| ToolCapability::builtin(&tool));
    let mut capability = ToolCapability { tier: None, actions: None, ..known.unwrap_or_default() };
    // What the rule is about, the tool has.
    let only_reads = matches!(rule.path, Some((_, Some(Access::Read))));
    if rule.command.is_some() {
        capability.command.get_or_insert_with(|| "command".to_owned());
    }
    if rule.path.is_some() && capability.writes.is_none() && capability.reads.is_empty() {
        capability.writes = Some(vec!["path".to_owned()]);
        if only_reads {
            capability.reads.push("path".to_owned());
        }
    }
    if rule.host.is_some() && capability.hosts.is_empty() {
        capability.hosts.push("url".to_owned());
    }
    // A text stands for the argument that the rule is about.
    let names = if rule.command.is_some() {
        capability.command.as_ref()
    } else if rule.path.is_some() {
        let written = if only_reads { None } else { capability.writes.iter().flatten().next() };
        written.or(capability.reads.first())
    } else if rule.host.is_some() {
        capability.hosts.first()
    } else {
        capability.target.as_ref()
    };
    let arguments = match (example, names.and_then(|names| names.split('|').next())) {
        (Value::Object(_), _) => example.clone(),
        (text, Some(name)) => json!({ name: text }),
        (_, None) => json!({}),
    };
    let alone = PolicyFile {
        mode: Some(PolicyMode::Enforce),
        default: Some(if rule.effect == Effect::Ask { Effect::Allow } else { Effect::Ask }),
        capabilities: [(identity, capability)].into(),
        // Examples are single calls: only the other conditions are checked.
        rules: vec![Rule { memory: None, sends: false, ..rule.clone() }],
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
    let decision = Policy::new(vec![alone]).decide(&call, &context, &[]).decision;
    decision.word() == rule.effect.to_string()
}

/// A name that a glob fits.
fn plain(pattern: &str) -> String {
    pattern.replace(['*', '?'], "x")
}
