//! Rules learned from recorded calls: the narrowest allows with which those that asked would have
//! run.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::argv::{Word, base_name, display};
use super::canonical::canonical;
use super::capability::ToolCapability;
use super::compact::compact;
use super::decision::{Decision, Effect};
use super::eval::Row;
use super::explain::read_hint;
use super::grant::{Grant, GrantScope};
use super::load::PolicyFile;
use super::policy_set::Policy;
use super::prepared::Prepared;
use super::programs::{self, Files};
use crate::diagnostic::visible;

/// How many different commands of one beginning are replaced by one open rule. With two, the open
/// rule is no shorter than the commands.
const MIN_OPENED: usize = 3;

/// How many examples a rule has.
const MAX_EXAMPLES: usize = 3;

/// How many options of a program are tried to find out which of them an open rule leaves to a
/// person.
const MAX_OPTIONS: usize = 400;

/// What recorded calls teach about a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Learned {
    /// How many calls were judged. The same call counts each time.
    pub calls: usize,
    /// How many of them the policy lets run.
    pub run: usize,
    /// How many of them it denies. No rule is proposed for these.
    pub denied: usize,
    /// How many of them run with [`Self::rules`].
    pub would_run: usize,
    /// The rules, most calls first.
    pub rules: Vec<LearnedRule>,
    /// Why the other calls still ask, most calls first.
    pub remaining: Vec<RemainingCalls>,
}

/// A rule that recorded calls need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LearnedRule {
    /// The rule as a policy file writes it: the text of a compact rule, or the fields of a
    /// `[[rule]]` on one line.
    pub rule: String,
    /// Whether it is a compact rule, an item of `allow = […]`.
    pub compact: bool,
    /// How many of the calls need it.
    pub calls: usize,
    /// Some of these calls, each once.
    pub examples: Vec<String>,
    /// What it allows besides these calls; empty if nothing.
    pub also_allows: String,
}

/// Calls that no proposed rule lets run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RemainingCalls {
    /// Why.
    pub why: String,
    /// How many.
    pub calls: usize,
    /// One of them.
    pub example: String,
}

/// A call that asks, and the rules that it needs.
struct Asking<'r> {
    row: &'r Row,
    times: usize,
    text: String,
    hints: Vec<String>,
}

impl Policy {
    /// Proposes the narrowest rules with which recorded calls run that ask today. A call that is
    /// denied, that a rule asks about, or of which a part is known only when it runs, gets none.
    ///
    /// Three or more commands with the same beginning get one open rule (`cargo test:*`) if that
    /// is narrow enough to be remembered as an approval and
    /// [lint](PolicyFile::lint) has nothing against it.
    #[must_use]
    pub fn learn(&self, rows: &[Row]) -> Learned {
        let mut learned = Learned { calls: rows.len(), ..Learned::default() };
        let mut remaining: IndexMap<String, RemainingCalls> = IndexMap::new();
        let mut asking: Vec<Asking<'_>> = Vec::new();
        for (row, times) in distinct(rows) {
            let cx = row.prepare(self);
            let verdict = cx.decide(&[]);
            if verdict.decision.runs() {
                learned.run += times;
                continue;
            }
            if verdict.decision == Decision::Deny {
                learned.denied += times;
                continue;
            }
            let text = call_line(&cx);
            match self.missing_rules(&cx, &verdict) {
                Ok(mut hints) => {
                    hints.extend(own_files(&cx));
                    asking.push(Asking { row, times, text, hints });
                }
                Err(why) => add_remaining(&mut remaining, why, times, text),
            }
        }
        let mut open_rules = OpenRules::default();
        for call in &asking {
            open_rules.read(self, call);
        }
        let open_rules = open_rules.into_rules(self);
        for call in &mut asking {
            for hint in &mut call.hints {
                if let Some(open) = open_rules.get(hint) {
                    hint.clone_from(open);
                }
            }
            // A line may need one rule for several of its commands.
            let mut seen = BTreeSet::new();
            call.hints.retain(|hint| seen.insert(hint.clone()));
        }
        propose(self, asking, &mut learned, &mut remaining);
        learned.remaining = remaining.into_values().collect();
        learned.remaining.sort_by_cached_key(|calls| std::cmp::Reverse(calls.calls));
        learned
    }
}

/// Tries the rules of each call, and keeps those with which it runs.
fn propose(
    policy: &Policy,
    asking: Vec<Asking<'_>>,
    learned: &mut Learned,
    remaining: &mut IndexMap<String, RemainingCalls>,
) {
    let mut rules: IndexMap<String, LearnedRule> = IndexMap::new();
    learned.would_run = learned.run;
    for Asking { row, times, text, hints } in asking {
        let cx = row.prepare(policy);
        let verdict = policy.with_rules(&hints, &cx.capability).verdict(&cx, &[], cx.context.interactive);
        if !verdict.decision.runs() {
            add_remaining(remaining, format!("no rule: {}", verdict.reason()), times, text);
            continue;
        }
        learned.would_run += times;
        for hint in hints {
            let (rule, compact) = match (hint.strip_prefix("allow "), hint.strip_prefix("[[rule]] ")) {
                (Some(rule), _) => (rule.to_owned(), true),
                (None, fields) => (fields.unwrap_or(&hint).to_owned(), false),
            };
            let kept = rules.entry(hint.clone()).or_insert_with(|| LearnedRule {
                rule,
                compact,
                calls: 0,
                examples: Vec::new(),
                also_allows: also_allowed(policy, row, &hint),
            });
            kept.calls += times;
            if kept.examples.len() < MAX_EXAMPLES {
                kept.examples.push(text.clone());
            }
        }
    }
    learned.rules = rules.into_values().collect();
    learned.rules.sort_by_cached_key(|rule| std::cmp::Reverse(rule.calls));
}

/// What a rule allows besides the call that needs it.
fn also_allowed(policy: &Policy, row: &Row, hint: &str) -> String {
    let cx = row.prepare(policy);
    let rules = read_hint(hint, &cx.capability);
    let Some(rule) = rules.first() else { return String::new() };
    let Some(command) = &rule.command else {
        return match (&rule.path, &rule.host, rule.args.is_empty()) {
            (Some(_), None, true) if cx.is_shell => "every tool of this family, on this file".to_owned(),
            (Some(_), None, true) => "any other argument of the tool, on this file".to_owned(),
            (None, Some(_), true) => "any path and argument, at this host and its subdomains".to_owned(),
            (None, None, false) => "any value of the arguments that it does not name".to_owned(),
            _ => "every call of this tool".to_owned(),
        };
    };
    let Some((words, true)) = command.literal() else { return String::new() };
    let mut also = format!("any other words after `{}`", visible(&words.join(" ")));
    let base = words.first().map(|program| base_name(program)).unwrap_or_default();
    let row_of = row_of(base, &words);
    match row_of.files() {
        Files::Read => also.push_str(", so any file that no rule denies is read"),
        Files::Write if !row_of.needs_write => also.push_str(", so any file that no rule denies is written"),
        _ => {}
    }
    let asks = options_that_ask(policy, row, hint, &words, row_of);
    if !asks.is_empty() {
        also.push_str(&format!("; still asks with {}", asks.join(", ")));
    }
    also
}

/// The row of a program, or of its subcommand.
fn row_of(base: &str, words: &[&str]) -> &'static programs::Program {
    let deeper = words.get(1).map(|second| programs::row_or_empty(&format!("{base} {second}")));
    deeper.filter(|row| row.is_listed).unwrap_or_else(|| programs::known(base))
}

/// The options of a program with which a command asks although an open rule allows its
/// beginning, at most five.
fn options_that_ask(
    policy: &Policy,
    row: &Row,
    hint: &str,
    words: &[&str],
    program: &programs::Program,
) -> Vec<String> {
    let mut asks: Vec<String> = Vec::new();
    let cx = row.prepare(policy);
    let Some(argument) = cx.capability.command.as_deref() else { return asks };
    let opened = policy.with_rules(&[hint.to_owned()], &cx.capability);
    let mut options = Vec::from_iter(program.options().filter(|(option, _)| option.starts_with('-')));
    options.sort_unstable_by_key(|(option, _)| *option);
    for (option, does) in options.into_iter().take(MAX_OPTIONS) {
        let mut tried = row.clone();
        let value = if does.takes_value() { " x" } else { "" };
        let text = format!("{} {option}{value}", words.join(" "));
        tried.arguments = serde_json::json!({ argument: text });
        if !tried.prepare(&opened).decide(&[]).decision.runs() {
            asks.push(format!("`{option}`"));
        }
        if asks.len() == 5 {
            asks.push("…".to_owned());
            break;
        }
    }
    asks
}

/// The rows, the same ones once, with how often each occurs.
fn distinct(rows: &[Row]) -> impl Iterator<Item = (&Row, usize)> {
    let mut found: IndexMap<String, (&Row, usize)> = IndexMap::new();
    for row in rows {
        let key = format!("{:?} {} {:?} {}", row.origin, row.tool, row.context, canonical(&row.arguments));
        found.entry(key).or_insert((row, 0)).1 += 1;
    }
    found.into_values()
}

/// A call on one line for a person, at most 200 characters.
fn call_line(cx: &Prepared<'_>) -> String {
    let command = cx.capability.command.as_deref().and_then(|name| cx.call.arguments.get(name)?.as_str());
    let text = match command {
        Some(command) => command.to_owned(),
        None => format!("{} {}", cx.identity(), canonical(cx.call.arguments)),
    };
    let text = visible(&text).replace('\n', "\\n");
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn add_remaining(remaining: &mut IndexMap<String, RemainingCalls>, why: String, times: usize, example: String) {
    remaining.entry(why.clone()).or_insert(RemainingCalls { why, calls: 0, example }).calls += times;
}

/// Rules for the files that a command line writes itself.
fn own_files(cx: &Prepared<'_>) -> Vec<String> {
    let mut rules = Vec::new();
    for file in cx.effects.files.iter().filter(|file| file.own && cx.is_shell) {
        rules.push(format!("allow Edit({})", file.text));
    }
    rules
}

/// The exact commands that ask, by tool and by the words that an open rule may keep.
#[derive(Default)]
struct OpenRules {
    by_beginning: BTreeMap<(String, Vec<String>), BTreeSet<String>>,
    records: BTreeMap<String, ToolCapability>,
}

impl OpenRules {
    fn read(&mut self, policy: &Policy, call: &Asking<'_>) {
        let cx = call.row.prepare(policy);
        for (_, command) in cx.running() {
            let hint = format!("allow {}({})", cx.identity(), display(&command.words));
            let words: Vec<&str> = command.words.iter().filter_map(Word::get).collect();
            if words.len() < command.words.len() || !call.hints.contains(&hint) {
                continue;
            }
            self.records.insert(cx.identity(), cx.capability.clone().into_owned());
            for beginning in beginnings(&words) {
                let key = (cx.identity(), beginning.iter().map(|word| (*word).to_owned()).collect());
                self.by_beginning.entry(key).or_default().insert(hint.clone());
            }
        }
    }

    /// The open rule of each exact one that it replaces.
    fn into_rules(self, policy: &Policy) -> BTreeMap<String, String> {
        let mut rules: BTreeMap<String, String> = BTreeMap::new();
        // The longest beginning first: it is the narrowest rule.
        let mut groups = Vec::from_iter(self.by_beginning);
        groups.sort_by_cached_key(|((_, words), _)| std::cmp::Reverse(words.len()));
        for ((tool, words), mut hints) in groups {
            hints.retain(|hint| !rules.contains_key(hint));
            let open = format!("allow {tool}({}:*)", words.join(" "));
            let record = self.records.get(&tool);
            if hints.len() >= MIN_OPENED && is_narrow(policy, &open, &words, record) {
                rules.extend(hints.into_iter().map(|hint| (hint, open.clone())));
            }
        }
        rules
    }
}

/// The beginnings of a command that an open rule may keep: the program and its subcommands, as far
/// as no option and no path is among them.
fn beginnings<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w [&'w str]> {
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c));
    let names = words.iter().take(3).enumerate();
    let plain = names.take_while(move |(at, word)| *at == 0 || is_name(word) && !word.starts_with('-')).count();
    (1..=plain).filter_map(|count| words.get(..count))
}

/// Whether an open rule states what it allows: the table lists the options of its program, it names
/// the subcommand if there is one, it may be remembered as an approval, and lint has nothing
/// against it.
fn is_narrow(policy: &Policy, open: &str, words: &[String], record: Option<&ToolCapability>) -> bool {
    let text = open.trim_start_matches("allow ");
    let base = words.first().map(|program| base_name(program)).unwrap_or_default();
    let program = programs::known(base);
    if !program.is_listed || program.subcommands && words.len() < 2 {
        return false;
    }
    let Ok(rule) = compact(Effect::Allow, text, |_| record.cloned()) else { return false };
    if Grant::from_rule(&rule, "", GrantScope::Always, "").is_err() {
        return false;
    }
    let mut file = PolicyFile { rules: vec![rule], ..PolicyFile::default() };
    for own in policy.files() {
        file.capabilities.extend(own.capabilities.clone());
    }
    let findings = file.lint();
    !findings.iter().any(|finding| finding.message.contains(text))
}
