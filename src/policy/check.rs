//! Checks of a policy file before any call: that it covers its tools, and what in it is probably a mistake.

use super::argv::base_name;
use super::capability::{PolicyTier, ToolCapability};
use super::command::{CommandPattern, OptionPattern};
use super::decision::Effect;
use super::load::{PolicyFile, PolicyMode};
use super::programs::{self, Does};
use super::rule::{Rule, ToolPattern};
use super::shell::{launchers, tables};
use crate::diagnostic::{Diagnostic, Place};
use crate::name::nearest;

/// A tool that a policy must cover: its identity (`name` or `mcp:server/name`) and its top-level arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The identity.
    pub identity: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
}

impl PolicyFile {
    /// Checks that every tool has a tier, that every tool that changes something declares its path arguments, and that
    /// the tool has every declared argument. The format keeps tiers disjoint: a tool has one record, and an action is
    /// in one tier. The examples of rules are checked when the file loads.
    ///
    /// Without `tools`, only the records themselves are checked.
    #[must_use]
    pub fn check(&self, tools: Option<&[Covered]>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (name, capability) in &self.capabilities {
            mutating(name, capability, &mut found);
            // One that only says how to undo declares nothing that a tool could lack.
            let Some(tools) = tools.filter(|_| !capability.says_only_undo(name)) else { continue };
            match tools.iter().find(|t| t.identity == *name) {
                Some(tool) => arguments(tool, capability, &mut found),
                None => {
                    let close = nearest(name, tools.iter().map(|t| t.identity.as_str()), 1);
                    let help = close
                        .first()
                        .map_or("remove its `[tool]` table".to_owned(), |c| format!("did you mean `{c}`?"));
                    let message = format!("there is no tool `{name}`");
                    found.push(Diagnostic::error("policy-no-such-tool", capability.place.clone(), message).help(help));
                }
            }
        }
        for tool in tools.unwrap_or_default() {
            let record = self.capabilities.get(&tool.identity);
            if record.is_none_or(|record| record.says_only_undo(&tool.identity)) {
                let message = format!("the tool `{}` has no tier: every call to it asks", tool.identity);
                let help = format!("write [tool.\"{}\"] with tier = \"read_only\", \"b\" or \"a\"", tool.identity);
                found.push(Diagnostic::error("policy-no-tier", Place::file(&self.source.0), message).help(help));
            }
        }
        for rule in self.rules.iter().filter(|_| tools.is_some()) {
            named(rule, tools.unwrap_or_default(), &mut found);
        }
        found
    }

    /// Finds probable mistakes: shadowed rules, rules that allow arbitrary code, prefixes that cross word boundaries,
    /// unanchored paths, a mode or default that allows everything.
    #[must_use]
    pub fn lint(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let head = Place::file(&self.source.0);
        match self.mode {
            Some(PolicyMode::Off) => found.push(
                Diagnostic::warning("policy-off", head.clone(), "the policy is off: no call is evaluated")
                    .help("write mode = \"enforce\""),
            ),
            Some(PolicyMode::Audit) => {
                let message = "the policy only audits: it enforces nothing but managed denies and the floor";
                found.push(
                    Diagnostic::warning("policy-audit-only", head.clone(), message).help("write mode = \"enforce\""),
                );
            }
            Some(PolicyMode::Enforce) | None => {}
        }
        if self.default == Some(Effect::Allow) {
            let message = "every call that no rule or tier covers is allowed";
            found.push(Diagnostic::warning("policy-default-allow", head, message).help("write default = \"ask\""));
        }
        for (i, rule) in self.rules.iter().enumerate() {
            code(rule, &mut found);
            code_by_option(rule, &mut found);
            boundary(rule, &mut found);
            alone(rule, &mut found);
            middle(rule, &mut found);
            anchor(rule, &mut found);
            never(rule, &mut found);
            self.confines(rule, &mut found);
            if let Some(other) =
                self.rules.iter().enumerate().find(|(j, o)| shadows(self.last_match, (*j, o), (i, rule)))
            {
                let message = format!(
                    "this rule never takes effect: `{} {}` ({}) shadows it",
                    other.1.effect, other.1.text, other.1.place
                );
                found.push(
                    Diagnostic::warning("policy-shadowed", rule.place.clone(), message).help("remove one of the two"),
                );
            }
        }
        self.unrecorded(&mut found);
        found
    }

    /// An allow by path for a tool whose tier allows every path.
    fn confines(&self, rule: &Rule, found: &mut Vec<Diagnostic>) {
        let ToolPattern::Name(name) = &rule.tool else { return };
        let tier = self.capabilities.get(name).and_then(|record| record.tier);
        if rule.effect == Effect::Allow
            && rule.path.is_some()
            && matches!(tier, Some(PolicyTier::B | PolicyTier::ReadOnly))
        {
            let message =
                format!("`{}` confines nothing: the tier of `{name}` allows it for every other path, too", rule.text);
            let help = "give the tool tier \"a\", or deny the other paths";
            found.push(Diagnostic::warning("policy-not-confined", rule.place.clone(), message).help(help));
        }
    }

    /// Tools that rules name and that have no record, beside denies of paths or hosts: their arguments are only guessed at.
    fn unrecorded(&self, found: &mut Vec<Diagnostic>) {
        let held = |rule: &Rule| rule.effect == Effect::Deny && (rule.path.is_some() || rule.host.is_some());
        if !self.rules.iter().any(held) {
            return;
        }
        let mut named = std::collections::BTreeSet::new();
        for rule in self.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
            let ToolPattern::Name(name) = &rule.tool else { continue };
            let known = self.capabilities.contains_key(name) || ToolCapability::builtin(name).is_some();
            if known || super::glob::is_glob(name) || !named.insert(name) {
                continue;
            }
            let message = format!(
                "`{name}` has no record: every text of its arguments is held against denies of paths and hosts"
            );
            let help = format!("write [tool.{name}] with tier, reads, writes and hosts");
            found.push(Diagnostic::warning("policy-no-record", rule.place.clone(), message).help(help));
        }
    }
}

/// A rule whose conditions no call meets at once.
fn never(rule: &Rule, found: &mut Vec<Diagnostic>) {
    let command = rule.command.as_ref().is_some_and(|command| !command.any);
    if command && (rule.path.is_some() || rule.host.is_some()) && rule.effect == Effect::Allow {
        let message = format!("`{}` never matches: an allow for commands covers no path or host", rule.text);
        let help = "write two rules: one for the command, one for the path or host";
        found.push(Diagnostic::warning("policy-never", rule.place.clone(), message).help(help));
    }
}

fn mutating(name: &str, capability: &ToolCapability, found: &mut Vec<Diagnostic>) {
    let tiers = capability.tier.into_iter().chain(capability.actions.iter().flat_map(|a| a.tiers.values().copied()));
    let place = || capability.place.clone();
    // What runs is then for rules to say.
    if capability.tier.is_none() && !capability.says_only_undo(name) {
        let message = format!("`{name}` has no tier: every call to it asks");
        found.push(
            Diagnostic::error("policy-no-tier", place(), message).help("write tier = \"read_only\", \"b\" or \"a\""),
        );
    }
    if tiers.max() > Some(PolicyTier::ReadOnly) && capability.writes.is_none() && capability.command.is_none() {
        let message = format!("`{name}` changes something but does not declare which arguments name what it writes");
        let help = "write writes = [\"…\"], or writes = [] if it writes no file";
        found.push(Diagnostic::error("policy-no-paths", place(), message).help(help));
    }
    if capability.tier == Some(PolicyTier::ReadOnly)
        && capability.actions.is_none()
        && capability.writes.as_ref().is_some_and(|w| !w.is_empty())
    {
        let message = format!("`{name}` is read-only but declares arguments that it writes");
        found.push(
            Diagnostic::error("policy-read-only-writes", place(), message).help("change the tier, or remove `writes`"),
        );
    }
}

/// A rule that names a tool that is not among those it should cover, or an argument that its tool does not have.
fn named(rule: &Rule, tools: &[Covered], found: &mut Vec<Diagnostic>) {
    let identity = match &rule.tool {
        ToolPattern::Name(name) if !super::glob::is_glob(name) => name.clone(),
        ToolPattern::Mcp { server, tool } if !super::glob::is_glob(tool) => format!("mcp:{server}/{tool}"),
        _ => return,
    };
    let Some(tool) = tools.iter().find(|tool| tool.identity == identity) else {
        // Names of families cover tools of other names.
        if rule.family.is_none() {
            let close = nearest(&identity, tools.iter().map(|t| t.identity.as_str()), 1);
            let help = close.first().map_or("remove the rule".to_owned(), |c| format!("did you mean `{c}`?"));
            let message = format!("the rule `{}` is about `{identity}`, and there is no such tool", rule.text);
            found.push(Diagnostic::error("policy-no-such-tool", rule.place.clone(), message).help(help));
        }
        return;
    };
    for (name, _) in rule.args.iter().filter(|(name, _)| name != "*" && !tool.arguments.contains(name)) {
        let close = nearest(name, tool.arguments.iter().map(String::as_str), 1);
        let help = close.first().map_or("see the tool's schema".to_owned(), |c| format!("did you mean `{c}`?"));
        let message =
            format!("the rule `{}` is about the argument `{name}`, which `{identity}` does not have", rule.text);
        found.push(Diagnostic::error("policy-no-such-argument", rule.place.clone(), message).help(help));
    }
}

fn arguments(tool: &Covered, capability: &ToolCapability, found: &mut Vec<Diagnostic>) {
    let single = [&capability.command, &capability.workdir, &capability.target];
    let named = capability
        .reads
        .iter()
        .chain(capability.writes.iter().flatten())
        .chain(&capability.hosts)
        .chain(single.into_iter().flatten());
    let action = capability.actions.as_ref().map(|a| a.arg.as_str());
    for name in named.flat_map(|n| n.split('|')).chain(action) {
        if !tool.arguments.iter().any(|a| a == name) {
            let close = nearest(name, tool.arguments.iter().map(String::as_str), 1);
            let help = close.first().map_or("see the tool's schema".to_owned(), |c| format!("did you mean `{c}`?"));
            let message = format!("`{}` has no argument `{name}`", tool.identity);
            found.push(Diagnostic::error("policy-no-such-argument", capability.place.clone(), message).help(help));
        }
    }
}

/// An allow whose prefix lets a program run arbitrary code.
fn code(rule: &Rule, found: &mut Vec<Diagnostic>) {
    let Some((tokens, true)) = rule
        .command
        .as_ref()
        .filter(|_| rule.effect == Effect::Allow)
        .and_then(super::command::CommandPattern::literal)
    else {
        return;
    };
    let Some(program) = tokens.first().map(|t| base_name(t)) else { return };
    let narrow = tokens.len() > 1 && !tokens.iter().skip(1).any(|t| t.starts_with('-'));
    let runs = tables::is_interpreter(program) || tables::is_shell(program) || launchers::is_launcher(program);
    if runs && !narrow {
        let message = format!("`{}` allows arbitrary code: `{program}` runs any code it is given", rule.text);
        let help = "name the script or the whole command, without `:*`";
        found.push(Diagnostic::warning("policy-interpreter", rule.place.clone(), message).help(help));
    }
}

/// An option that takes code, allowed with any value.
fn code_by_option(rule: &Rule, found: &mut Vec<Diagnostic>) {
    let lead = rule.command.as_ref().map(CommandPattern::lead).unwrap_or_default();
    let rows = (1..=lead.len()).filter_map(|end| programs::row(&lead.get(..end)?.join(" ")));
    let rows: Vec<_> = rows.collect();
    for (name, value) in rule.options.iter().map(OptionPattern::parts) {
        let does = rows.iter().filter_map(|row| row.does(name)).max();
        let any = value.is_none_or(|value| value.starts_with('*'));
        if any && matches!(does, Some(Does::Run | Does::Load)) {
            let message =
                format!("`options` of `{}` allows arbitrary code: `{name}` runs or loads any value", rule.text);
            let help = format!("name the value: `{name}=VALUE`");
            found.push(Diagnostic::warning("policy-option-code", rule.place.clone(), message).help(help));
        }
    }
}

fn boundary(rule: &Rule, found: &mut Vec<Diagnostic>) {
    if rule.effect == Effect::Allow && rule.command.as_ref().is_some_and(super::command::CommandPattern::first_is_glob)
    {
        let message =
            format!("`{}` has no word boundary: it also allows other programs with the same prefix", rule.text);
        found.push(Diagnostic::warning("policy-no-boundary", rule.place.clone(), message).help("write `name:*`"));
    }
}

/// A deny or an ask of a program without any of its arguments.
fn alone(rule: &Rule, found: &mut Vec<Diagnostic>) {
    let exact = rule.command.as_ref().and_then(CommandPattern::literal);
    if let (Some((words, false)), true) = (exact, rule.effect != Effect::Allow)
        && let [program] = words.as_slice()
    {
        let message = format!("`{}` matches `{program}` without arguments, and no other command", rule.text);
        let help = format!("write `{program}:*` for every command of `{program}`");
        found.push(Diagnostic::warning("policy-without-arguments", rule.place.clone(), message).help(help));
    }
}

/// An allow with a `*` between words, which stands for any number of them.
fn middle(rule: &Rule, found: &mut Vec<Diagnostic>) {
    if rule.effect == Effect::Allow
        && rule.command.as_ref().is_some_and(|command| !command.any && !command.is_word_by_word())
    {
        let message = format!("the `*` in the middle of `{}` stands for any words, another subcommand too", rule.text);
        let help = "name the words, or write one rule for each form";
        found.push(Diagnostic::warning("policy-any-words", rule.place.clone(), message).help(help));
    }
}

fn anchor(rule: &Rule, found: &mut Vec<Diagnostic>) {
    let Some((pattern, _)) = &rule.path else { return };
    // What does not match a pattern is anywhere.
    if rule.text.contains(['(', '=']) && rule.text.rsplit(['(', '=']).next().is_some_and(|t| t.trim().starts_with('!'))
    {
        return;
    }
    let text = rule.text.rsplit(['(', '=']).next().unwrap_or_default().trim().trim_end_matches(')');
    if rule.effect == Effect::Deny && pattern.is_bare(text) {
        let message = format!("`{}` denies only paths below the working folder", rule.text);
        let help = "write `**/…` for any folder, or `./…` if that is intended";
        found.push(Diagnostic::warning("policy-unanchored", rule.place.clone(), message).help(help));
    }
}

/// Whether `other` decides every call that `rule` would decide.
fn shadows(last_match: bool, (j, other): (usize, &Rule), (i, rule): (usize, &Rule)) -> bool {
    let beats = if last_match { j > i } else { other.effect > rule.effect || (other.effect == rule.effect && j > i) };
    let same_tool = other.tool == rule.tool || other.tool == ToolPattern::Any;
    let plain =
        |r: &Rule| r.args.is_empty() && r.target.is_none() && r.host.is_none() && r.annotations == Default::default();
    if i == j || !beats || !same_tool || !plain(other) || !plain(rule) {
        return false;
    }
    if !other.is_conditional() {
        return true;
    }
    match (&other.command, &rule.command, &other.path, &rule.path) {
        (Some(wide), Some(narrow), None, None) => wide.covers(narrow),
        (None, None, Some(a), Some(b)) => a == b,
        _ => false,
    }
}
