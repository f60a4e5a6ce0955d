//! Compares two policies: the calls on which the newer one is looser or stricter.
//!
//! The calls are made from the rules and records of both, and from each pair of rules that may
//! cover the same call, one of which only one policy has. What is found is certain; that nothing is
//! found proves nothing about calls that no rule suggests.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::capability::ToolCapability;
use super::command::shell_word;
use super::context::{Context, PolicyCall, ToolOrigin};
use super::decision::Decision;
use super::explain::said_by;
use super::glob::is_glob;
use super::history::History;
use super::load::PolicyFile;
use super::policy_set::Policy;
use super::rule::{Access, Rule, ToolPattern};
use crate::diagnostic::visible;

/// How many calls are tried at most: seconds for hundreds of changed rules, minutes for thousands
/// of rules.
const MAX_TRIED: usize = 50_000;

/// The folders of the calls that are tried.
const CWD: &str = "/workspace";
const HOME: &str = "/home/user";

/// Files as tools name them: in the working folder, and outside.
const FILES: [&str; 2] = ["f.txt", "/etc/hosts"];

/// The differences between two policies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Compared {
    /// How many calls were tried.
    pub tried: usize,
    /// Whether there were more calls to try than are tried at most (50,000).
    pub cut: bool,
    /// The calls for which the newer policy decides less strictly.
    pub looser: Vec<ChangedDecision>,
    /// The calls for which it decides more strictly.
    pub stricter: Vec<ChangedDecision>,
}

/// A call that two policies decide differently.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ChangedDecision {
    /// The tool, as rules name it.
    pub tool: String,
    /// The command, or the arguments as JSON.
    pub call: String,
    /// What the older policy decides.
    pub before: Decision,
    /// What the newer one decides.
    pub after: Decision,
    /// Why: the rule or tier of the newer policy.
    pub by: String,
}

impl Policy {
    /// Compares this policy with a newer one, in an interactive session of an untrusted workspace
    /// without earlier calls.
    #[must_use]
    pub fn compare(&self, newer: &Self) -> Compared {
        let mut calls = Calls::new(self, newer);
        calls.add_all();
        let mut compared = Compared { tried: calls.made.len(), cut: calls.cut, ..Compared::default() };
        let mut context = Context::default().with_interactive(true);
        (context.cwd, context.home) = (Some(CWD.to_owned()), Some(HOME.to_owned()));
        let mut causes: BTreeMap<_, ChangedDecision> = BTreeMap::new();
        for (tool, text) in &calls.made {
            let arguments: Value = serde_json::from_str(text).unwrap_or_default();
            let (origin, name) = ToolOrigin::of_identity(tool);
            let call = PolicyCall::new(&origin, name, &arguments);
            let decide = |policy: &Self| policy.prepare(call, &context, None, History::default()).decide(&[]);
            let (before, after) = (decide(self), decide(newer));
            if before.decision == after.decision {
                continue;
            }
            let rule = after.reasons.iter().find(|reason| reason.rule.is_some());
            let change = ChangedDecision {
                tool: tool.clone(),
                call: call_text(&arguments, calls.record(tool).as_ref()),
                before: before.decision,
                after: after.decision,
                by: rule.map_or_else(|| after.reason(), said_by),
            };
            // One call for each cause, the shortest: the others repeat it. A reason without a rule
            // quotes the call.
            let quotes = if rule.is_none() { change.by.find(" `") } else { None };
            let by = quotes.and_then(|end| change.by.get(..end)).unwrap_or(&change.by);
            let cause = (change.tool.clone(), change.before, change.after, by.to_owned());
            let shortest = causes.entry(cause).or_insert_with(|| change.clone());
            if change.call.len() < shortest.call.len() {
                *shortest = change;
            }
        }
        for change in causes.into_values() {
            let list = if change.after < change.before { &mut compared.looser } else { &mut compared.stricter };
            list.push(change);
        }
        compared.looser.sort_unstable();
        compared.stricter.sort_unstable();
        compared
    }
}

/// The command of a call, else its arguments.
fn call_text(arguments: &Value, record: Option<&ToolCapability>) -> String {
    let command = record.and_then(|record| arguments.get(record.command.as_deref()?)?.as_str());
    visible(&command.map_or_else(|| arguments.to_string(), str::to_owned)).into_owned()
}

/// The calls that the rules of two policies suggest.
struct Calls<'p> {
    older: &'p Policy,
    newer: &'p Policy,
    /// Each rule, and whether only one of the policies has it.
    rules: Vec<(&'p Rule, bool)>,
    /// Tool and arguments, in their order.
    made: BTreeSet<(String, String)>,
    cut: bool,
}

impl<'p> Calls<'p> {
    fn new(older: &'p Policy, newer: &'p Policy) -> Self {
        Self { older, newer, rules: rules(older, newer), made: BTreeSet::new(), cut: false }
    }

    fn add(&mut self, tool: &str, arguments: &Value) {
        if self.made.len() < MAX_TRIED {
            self.made.insert((tool.to_owned(), arguments.to_string()));
        } else {
            self.cut = true;
        }
    }

    /// The record of a tool in either policy, else the built-in one.
    fn record(&self, tool: &str) -> Option<ToolCapability> {
        let written = [self.newer, self.older].into_iter().find_map(|policy| policy.capabilities().get(tool).copied());
        written.cloned().or_else(|| ToolCapability::builtin(tool))
    }

    /// Every tool that a record or a rule names.
    fn tools(&self) -> BTreeSet<String> {
        let mut tools = BTreeSet::new();
        for policy in [self.older, self.newer] {
            tools.extend(policy.capabilities().into_keys().map(str::to_owned));
        }
        for (rule, _) in &self.rules {
            match &rule.tool {
                ToolPattern::Any => {}
                ToolPattern::Name(name) => drop(tools.insert(filled(name))),
                ToolPattern::Mcp { server, tool } => {
                    tools.insert(format!("mcp:{}/{}", filled(server), filled(tool)));
                }
            }
        }
        tools.insert("a_tool_without_a_record".to_owned());
        tools
    }

    /// First what single rules suggest, for every tool: pairs of rules may be too many.
    fn add_all(&mut self) {
        for in_pairs in [false, true] {
            let (paths, hosts) = (self.paths(in_pairs), self.hosts());
            let commands = self.commands(in_pairs, &paths, &hosts);
            for tool in self.tools() {
                let record = self.record(&tool).unwrap_or_default();
                self.of_record(&tool, &record, &paths, &hosts);
                if let Some(older) = self.older.capabilities().get(tool.as_str()).filter(|older| ***older != record) {
                    let older = (**older).clone();
                    self.of_record(&tool, &older, &paths, &hosts);
                }
                if let Some(command) = &record.command {
                    for text in &commands {
                        self.add(&tool, &json!({ command.as_str(): text }));
                    }
                    continue;
                }
                for (rule, _) in self.rules.clone() {
                    self.of_arguments(&tool, rule);
                }
            }
        }
    }

    /// A call for each argument that a record declares.
    fn of_record(&mut self, tool: &str, record: &ToolCapability, paths: &BTreeSet<String>, hosts: &BTreeSet<String>) {
        self.add(tool, &json!({}));
        if let Some(actions) = &record.actions {
            for action in actions.tiers.keys() {
                self.add(tool, &json!({ actions.arg.as_str(): action }));
            }
        }
        for (argument, access) in declared(record) {
            for path in paths {
                let mut arguments = Map::new();
                arguments.insert(argument.clone(), path.as_str().into());
                // A tool whose other arguments are missing may be unreadable for the policy.
                for (other, _) in declared(record).filter(|(other, own)| *other != argument && *own != access) {
                    arguments.insert(other, FILES.first().copied().unwrap_or_default().into());
                }
                self.add(tool, &Value::Object(arguments));
            }
        }
        for argument in record.hosts.iter().filter_map(|names| names.split('|').next()) {
            for host in hosts {
                self.add(tool, &json!({ argument: format!("https://{host}/") }));
            }
        }
    }

    /// A call with the arguments that a rule names.
    fn of_arguments(&mut self, tool: &str, rule: &Rule) {
        if rule.args.is_empty() {
            return;
        }
        for fill in ["", "x"] {
            let mut arguments = Map::new();
            for (name, pattern) in &rule.args {
                let name = if name == "*" { "text" } else { name };
                arguments.insert(name.to_owned(), pattern.replace('*', fill).replace('?', "x").into());
            }
            self.add(tool, &Value::Object(arguments));
        }
    }

    /// Commands that the rules of both policies cover, and programs that read or write files and
    /// hosts. In pairs: two rules of one program together, one of which has changed.
    fn commands(&self, in_pairs: bool, paths: &BTreeSet<String>, hosts: &BTreeSet<String>) -> BTreeSet<String> {
        let mut made = BTreeSet::from(["unlisted --option operand".to_owned()]);
        let commands = self.rules.iter().filter_map(|(rule, changed)| Some((rule.command.as_ref()?, *changed)));
        let patterns = Vec::from_iter(commands);
        for (pattern, changed) in &patterns {
            made.extend(pattern.samples(&[]));
            let pairs = patterns.iter().filter(|(_, other_changed)| in_pairs && (*changed || *other_changed));
            for (other, _) in pairs {
                let of_one = other.program().is_none() || other.program() == pattern.program();
                if of_one && made.len() < MAX_TRIED && other != pattern {
                    made.extend(pattern.samples(&other.behind_program()));
                }
            }
        }
        for path in paths {
            let path = shell_word(path);
            made.extend([format!("cat {path}"), format!("head {path}"), format!("echo x > {path}")]);
        }
        made.extend(hosts.iter().map(|host| format!("curl https://{host}/")));
        made
    }

    /// Paths that the rules cover: each pattern filled in. In pairs: each `**` with another
    /// pattern, one of which has changed.
    fn paths(&self, in_pairs: bool) -> BTreeSet<String> {
        let mut made = BTreeSet::from(FILES.map(str::to_owned));
        let paths = self.rules.iter().filter_map(|(rule, changed)| Some((&rule.path.as_ref()?.0, *changed)));
        let patterns = Vec::from_iter(paths);
        for (pattern, changed) in &patterns {
            made.insert(pattern.sample("d/e"));
            for (other, other_changed) in patterns.iter().filter(|_| in_pairs) {
                if (*changed || *other_changed) && made.len() < MAX_TRIED {
                    let inner = other.sample("d");
                    made.insert(pattern.sample(inner.trim_start_matches(['/', '~'])));
                }
            }
        }
        made
    }

    fn hosts(&self) -> BTreeSet<String> {
        let mut made = BTreeSet::from(["example.org".to_owned()]);
        for host in self.rules.iter().filter_map(|(rule, _)| rule.host.as_ref()) {
            made.insert(filled(host.text()));
            made.insert(format!("sub.{}", filled(host.text())));
        }
        made
    }
}

/// The rules of both policies, each once, and whether a rule has changed: only one policy has it,
/// or what else decides differs too.
fn rules<'p>(older: &'p Policy, newer: &'p Policy) -> Vec<(&'p Rule, bool)> {
    let only_rules = differ_in_rules_only(older, newer);
    let by_text = |policy: &'p Policy| {
        let mut by_text: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for rule in policy.rules() {
            by_text.entry(&rule.text).or_default().push(rule);
        }
        by_text
    };
    let (of_older, of_newer) = (by_text(older), by_text(newer));
    let has = |policy: &BTreeMap<&str, Vec<&Rule>>, rule: &Rule| {
        policy.get(rule.text.as_str()).is_some_and(|same| same.iter().any(|other| rule.decides_as(other)))
    };
    let of_older_policy = older.rules().map(|rule| (rule, !only_rules || !has(&of_newer, rule)));
    of_older_policy.chain(newer.rules().filter(|rule| !has(&of_older, rule)).map(|rule| (rule, true))).collect()
}

/// Whether nothing but rules, whose order has no effect, can make the policies decide differently.
fn differ_in_rules_only(older: &Policy, newer: &Policy) -> bool {
    let (older, newer) = (&older.files, &newer.files);
    let bare = |file: &PolicyFile| PolicyFile { rules: Vec::new(), source: Default::default(), ..file.clone() };
    let same = |(old, new): (&PolicyFile, &PolicyFile)| !old.last_match && bare(old) == bare(new);
    older.len() == newer.len() && older.iter().zip(newer.iter()).all(same)
}

/// A name that a glob fits.
fn filled(glob: &str) -> String {
    if is_glob(glob) { glob.replace(['*', '?'], "x") } else { glob.to_owned() }
}

/// The first of each group of arguments that name files.
fn declared(record: &ToolCapability) -> impl Iterator<Item = (String, Access)> {
    let reads = record.reads.iter().map(|names| (names, Access::Read));
    let writes = record.writes.iter().flatten().map(|names| (names, Access::Write));
    reads.chain(writes).filter_map(|(names, access)| Some((names.split('|').next()?.to_owned(), access)))
}
