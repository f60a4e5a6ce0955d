//! Checks of a policy file before any call: that it covers its tools, and what in it is probably a
//! mistake.

use std::collections::BTreeSet;

use super::capability::{Family, PolicyTier, ToolCapability};
use super::decision::Effect;
use super::glob::is_glob;
use super::load::{PolicyFile, PolicyMode};
use super::rule::{Access, Rule, ToolPattern};
use super::settings::all_settings;
use crate::diagnostic::{Diagnostic, Place};
use crate::name::nearest;

pub(super) mod never;
mod wide;

/// A tool that a policy must cover: its identity (`name` or `mcp:server/name`) and its top-level
/// arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// The identity.
    pub identity: String,
    /// The names of its arguments.
    pub arguments: Vec<String>,
}

impl PolicyFile {
    /// Checks that every tool has a tier, that every tool that changes something declares its path
    /// arguments, and that the tool has every declared argument. The format keeps tiers disjoint: a
    /// tool has one record, and an action is in one tier. The examples of rules are checked when
    /// the file loads.
    ///
    /// Without `tools`, only the records themselves are checked.
    #[must_use]
    pub fn check(&self, tools: Option<&[Covered]>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (name, capability) in self.capabilities.iter().filter(|(_, capability)| !capability.is_broken) {
            found.extend(mutating(name, capability));
        }
        let Some(tools) = tools else { return found };
        let identities: Vec<&str> = tools.iter().map(|tool| tool.identity.as_str()).collect();
        // One that only says how to undo declares nothing that a tool could lack.
        for (name, capability) in self.capabilities.iter().filter(|(name, own)| !own.says_only_undo(name)) {
            let known = ToolCapability::builtin(name).unwrap_or_default();
            // No line of this file declares what a built-in record declares.
            match tools.iter().find(|tool| tool.identity == *name) {
                Some(tool) => {
                    for name in capability.declared().filter(|own| !known.declares(own)) {
                        let message = format!("`{}` has no argument `{name}`", tool.identity);
                        found.extend(tool.lacks(name, &capability.place, message));
                    }
                }
                None => {
                    let help = did_you_mean(name, &identities, "remove its `[tool]` table");
                    found.push(error(&capability.place, "policy-no-such-tool", format!("unknown tool `{name}`"), help));
                }
            }
        }
        for Covered { identity, .. } in tools {
            // For a tool with a built-in record, rules decide what runs.
            let family = Family::of_name(identity);
            if family.is_some() && self.rules.iter().any(|rule| rule.family == family) {
                continue;
            }
            if self.capabilities.get(identity).is_none_or(|record| record.says_only_undo(identity)) {
                let message = format!("the tool `{identity}` has no tier: every call to it asks");
                let help = format!("write [tool.\"{identity}\"] with tier = \"read_only\", \"b\" or \"a\"");
                found.push(error(&Place::file(&self.source.0), "policy-no-tier", message, help));
            }
        }
        for rule in &self.rules {
            let Some(identity) = rule.tool.identity() else { continue };
            if let Some(tool) = tools.iter().find(|tool| tool.identity == identity) {
                for (name, _) in rule.args.iter().filter(|(name, _)| name != "*") {
                    let about = format!("the rule `{}` refers to the argument `{name}`", rule.text);
                    found.extend(tool.lacks(name, &rule.place, format!("{about}, which `{identity}` does not have")));
                }
            } else if rule.family.is_none() && !self.capabilities.contains_key(&identity) {
                // Names of families cover tools of other names; a record of the name has been
                // complained of.
                let help = did_you_mean(&identity, &identities, "remove the rule");
                let message = format!("the rule `{}` refers to the unknown tool `{identity}`", rule.text);
                found.push(error(&rule.place, "policy-no-such-tool", message, help));
            }
        }
        found
    }

    /// Finds probable mistakes: shadowed rules, rules that allow arbitrary code, prefixes that
    /// cross word boundaries, unanchored paths, a mode or default that allows everything.
    #[must_use]
    pub fn lint(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut head = |code, message, help| {
            found.push(Diagnostic::warning(code, Place::file(&self.source.0), message).help(help));
        };
        match self.mode {
            Some(PolicyMode::Off) => {
                head("policy-off", "the policy is off: no call is evaluated", "write mode = \"enforce\"");
            }
            Some(PolicyMode::Audit) => {
                let message = "the policy only audits: it enforces only managed denies and the floor";
                head("policy-audit-only", message, "write mode = \"enforce\"");
            }
            Some(PolicyMode::Enforce) | None => {}
        }
        if self.default == Some(Effect::Allow) {
            let message = "every call that no rule or tier covers is allowed";
            head("policy-default-allow", message, "write default = \"ask\"");
        }
        for (i, rule) in self.rules.iter().enumerate() {
            let mut report = |code, message: String, help: &str| {
                found.push(Diagnostic::warning(code, rule.place.clone(), message).help(help));
            };
            match &rule.command {
                Some(command) if rule.effect == Effect::Allow => wide::commands(rule, command, &mut report),
                Some(command) => wide::too_narrow(rule, command, &mut report),
                None => {}
            }
            if rule.effect == Effect::Allow {
                wide::everything(rule, &mut report);
            }
            // Of the others, loading has reported it.
            if rule.effect == Effect::Allow
                && let Some(never) = never::never(rule, self)
            {
                report(never.code, format!("`{}` never matches: {}", rule.text, never.why), &never.help);
            }
            wide::literally(rule, &mut report);
            self.paths(rule, &mut report);
            self.settings(rule, &mut report);
            self.lifted(i, rule, &mut report);
            let mut all = self.rules.iter().enumerate();
            if let Some((_, other)) = all.find(|(j, o)| shadows(self.last_match, (*j, o), (i, rule))) {
                let shadow = format!("`{} {}` ({})", other.effect, other.text, other.place);
                let message = format!("this rule never takes effect: {shadow} shadows it");
                report("policy-shadowed", message, "remove one of the two");
            }
        }
        self.unrecorded(&mut found);
        self.shells(&mut found);
        found
    }

    /// Shells whose tier allows every command.
    fn shells(&self, found: &mut Vec<Diagnostic>) {
        for (name, record) in self.capabilities.iter().filter(|(_, record)| record.command.is_some()) {
            let Some(tier @ (PolicyTier::ReadOnly | PolicyTier::B)) = record.tier else { continue };
            let message =
                format!("`{name}` runs shell commands, and its tier {tier} allows all of them, including `rm -rf x`");
            let help = "write tier = \"a\", and allow commands by rules: `Bash(git log:*)`";
            found.push(Diagnostic::warning("policy-shell-tier", record.place.clone(), message).help(help));
        }
    }

    /// A deny that holds only here, and an allow by path for a tool whose tier allows every path.
    fn paths(&self, rule: &Rule, report: Report<'_>) {
        let Some((pattern, _)) = &rule.path else { return };
        let text = rule.text.rsplit(['(', '=']).next().unwrap_or_default().trim().trim_end_matches(')');
        // What does not match a pattern is anywhere.
        if rule.effect == Effect::Deny && !text.starts_with('!') && pattern.is_bare(text) {
            let message = format!("`{}` denies only paths below the working folder", rule.text);
            report("policy-unanchored", message, "write `**/…` for any folder, or `./…` if that is intended");
        }
        let ToolPattern::Name(name) = &rule.tool else { return };
        let Some(ToolCapability { tier: Some(tier), .. }) = self.capabilities.get(name) else { return };
        if rule.effect == Effect::Allow && *tier < PolicyTier::A {
            let message =
                format!("`{}` confines nothing: the tier of `{name}` also allows every other path", rule.text);
            report("policy-not-confined", message, "give the tool tier \"a\", or deny the other paths");
        }
    }

    /// An allow to write settings that programs load, beside an allow of a command: what is written
    /// there runs with the next allowed command.
    fn settings(&self, rule: &Rule, report: Report<'_>) {
        let Some((pattern, access)) = &rule.path else { return };
        if rule.effect != Effect::Allow || *access == Some(Access::Read) {
            return;
        }
        let Some(setting) = all_settings().find(|setting| pattern.names(setting)) else { return };
        let runs = |other: &&Rule| other.effect == Effect::Allow && other.command.is_some();
        if let Some(other) = self.rules.iter().find(runs) {
            let message = format!(
                "`{}` allows writing `{setting}`, which programs load: with `{}` ({}) that is arbitrary code",
                rule.text, other.text, other.place
            );
            report("policy-settings", message, "ask for it: ask = [\"Edit(…)\"]");
        }
    }

    /// A deny or an ask that a later allow of another kind overrides: one for commands lifts one
    /// over paths.
    fn lifted(&self, at: usize, rule: &Rule, report: Report<'_>) {
        if !self.last_match || rule.effect == Effect::Allow || rule.is_of_commands() {
            return;
        }
        for other in self.rules.iter().skip(at + 1).filter(|other| other.effect == Effect::Allow) {
            let same = other.tool == rule.tool || other.tool == ToolPattern::Any;
            if other.is_of_commands() && (other.command.is_some() || !same) {
                let (text, effect) = (&rule.text, rule.effect);
                let message =
                    format!("with last-match, `{}` ({}) lifts the {effect} `{text}`", other.text, other.place);
                report("policy-lifted", message, "write it below the allow, or take order = \"strictest\"");
                return;
            }
        }
    }

    /// Tools that rules name and that have no record, beside denies of paths or hosts: their
    /// arguments are only guessed at.
    fn unrecorded(&self, found: &mut Vec<Diagnostic>) {
        if !self.rules.iter().any(|rule| rule.effect == Effect::Deny && !rule.is_of_commands()) {
            return;
        }
        let mut named = BTreeSet::new();
        for rule in self.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
            let ToolPattern::Name(name) = &rule.tool else { continue };
            let known = self.capabilities.contains_key(name) || ToolCapability::builtin(name).is_some();
            if known || is_glob(name) || !named.insert(name) {
                continue;
            }
            let message = format!(
                "`{name}` has no record: every string in its arguments is checked against denies of paths and hosts"
            );
            let help = format!("write [tool.{name}] with tier, reads, writes and hosts");
            found.push(Diagnostic::warning("policy-no-record", rule.place.clone(), message).help(help));
        }
    }
}

/// Takes the code, the message and the help of a finding.
type Report<'r> = &'r mut dyn FnMut(&'static str, String, &str);

impl Covered {
    /// A tool by its identity, with the names of its arguments.
    #[must_use]
    pub fn new(identity: impl Into<String>, arguments: Vec<String>) -> Self {
        Self { identity: identity.into(), arguments }
    }

    /// What is wrong where an argument is named that it does not have.
    fn lacks(&self, name: &str, place: &Place, message: String) -> Option<Diagnostic> {
        let known: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if known.contains(&name) {
            return None;
        }
        let help = did_you_mean(name, &known, "see the tool's schema");
        Some(error(place, "policy-no-such-argument", message, help))
    }
}

fn error(place: &Place, code: &'static str, message: String, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, place.clone(), message).help(help)
}

/// What to do about an unknown name: take the closest known one, or something else where none is
/// close.
fn did_you_mean(name: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(name, known.iter().copied(), 1).first() {
        Some(close) => format!("did you mean `{close}`?"),
        None => otherwise.to_owned(),
    }
}

/// What is wrong with a record alone.
fn mutating(name: &str, capability: &ToolCapability) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut report = |code, message, help| found.push(error(&capability.place, code, message, help));
    // What runs is then for rules to say.
    if capability.tier.is_none() && !capability.says_only_undo(name) {
        let message = format!("`{name}` has no tier: every call to it asks");
        report("policy-no-tier", message, "write tier = \"read_only\", \"b\" or \"a\"");
    }
    let mut tier = capability.tier;
    if let Some(actions) = &capability.actions {
        tier = tier.max(actions.tiers.values().copied().max());
    }
    if tier > Some(PolicyTier::ReadOnly) && capability.writes.is_none() && capability.command.is_none() {
        let message = format!("`{name}` does not declare whether it writes files");
        report("policy-no-paths", message, "write writes = [\"…\"], or writes = [] if it writes no file");
    }
    let only_reads = capability.tier == Some(PolicyTier::ReadOnly) && capability.actions.is_none();
    if only_reads && matches!(&capability.writes, Some(writes) if !writes.is_empty()) {
        let message = format!("`{name}` is read-only but declares arguments that it writes");
        report("policy-read-only-writes", message, "change the tier, or remove `writes`");
    }
    found
}

/// Whether a rule has no conditions but on commands and paths.
fn is_plain(rule: &Rule) -> bool {
    rule.args.is_empty()
        && rule.target.is_none()
        && rule.host.is_none()
        && rule.annotations == super::context::Annotations::default()
}

/// Whether `other` decides every call that `rule` would decide.
fn shadows(last_match: bool, (j, other): (usize, &Rule), (i, rule): (usize, &Rule)) -> bool {
    let beats = if last_match { j > i } else { other.effect > rule.effect || (other.effect == rule.effect && j > i) };
    let same_tool = other.tool == rule.tool || other.tool == ToolPattern::Any;
    if i == j || !beats || !same_tool || !is_plain(other) || !is_plain(rule) {
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
