//! What allows a call: a rule for each thing that it does, the built-in table of read-only
//! commands, or its tier.

use std::borrow::Cow;

use super::argv::{Word, base_name, behind_first, display, first, program};
use super::decide::by_rule;
use super::decision::{Effect, Reason};
use super::path::names_parent;
use super::policy_set::Policy;
use super::prepared::{Prepared, SideEffect, glob_of_links, is_here};
use super::programs::{self, Does};
use super::rule::{Access, Rule};
use super::shell::{FileEffect, Unknown, Weight, launchers, readonly, tables};

/// The most characters of a command that a reason quotes.
const MOST_SHOWN: usize = 120;

/// The allow for a file or a host of a call to a tool that is not a shell. One over paths and hosts
/// needs both in the call.
fn allow_for<'r>(cx: &Prepared<'_>, rules: &[&'r Rule], effect: SideEffect<'_>) -> Option<&'r Rule> {
    rules.iter().copied().find(|rule| {
        let needs_other = match effect {
            SideEffect::File(_) => rule.host.is_some(),
            SideEffect::Host(_) => rule.path.is_some(),
            SideEffect::Command(_) => false,
        };
        let mut others = cx.does().filter(|other| other.kind() != effect.kind());
        cx.allows(rule, effect) && (!needs_other || others.any(|other| cx.allows(rule, other)))
    })
}

impl Policy {
    /// What allows the call, or why it is not allowed. `asked`: what a rule asks about counts as
    /// allowed.
    pub(super) fn permission(&self, cx: &Prepared<'_>, restricted: bool, asked: bool) -> Result<Reason, Reason> {
        let unsure = match cx.unreadable.as_deref() {
            None if cx.context.definition_changed => Some("the tool's definition has changed since it was allowed"),
            why => why,
        };
        if let Some(why) = unsure {
            return match self.by_tier(cx) {
                Err(refusal) if refusal.effect == Effect::Deny => Err(refusal),
                _ => Err(Reason::ask(why)),
            };
        }
        let rules = self.allowing(cx, asked);
        if cx.is_shell { self.shell_permission(cx, &rules, restricted) } else { self.tool_permission(cx, rules) }
    }

    /// The rules that may allow something of a call.
    pub(crate) fn allowing(&self, cx: &Prepared<'_>, asked: bool) -> Vec<&Rule> {
        let counts = self.rules().filter(|r| r.effect == Effect::Allow || asked && r.effect == Effect::Ask);
        counts.filter(|rule| self.may_loosen(rule, cx)).collect()
    }

    fn tool_permission(&self, cx: &Prepared<'_>, mut rules: Vec<&Rule>) -> Result<Reason, Reason> {
        rules.retain(|rule| cx.of_tool(rule));
        rules.reverse();
        if let Some(rule) = rules.iter().find(|rule| rule.is_of_commands() && rule.command.is_none()) {
            return Ok(by_rule(rule, "allowed"));
        }
        let mut open = Vec::new();
        for effect in cx.does().chain(cx.may_do().filter(|effect| may_be_elsewhere(cx, *effect))) {
            if allow_for(cx, &rules, effect).is_none() {
                open.push(effect);
            }
        }
        if open.is_empty()
            && let Some(first) = cx.does().next()
            && let Some(rule) = allow_for(cx, &rules, first)
        {
            return Ok(by_rule(rule, "allowed"));
        }
        let refusal = match self.by_tier(cx) {
            Ok(reason) => return Ok(reason),
            Err(refusal) => refusal,
        };
        if refusal.effect == Effect::Deny || rules.iter().all(|rule| rule.path.is_none()) {
            return Err(refusal);
        }
        let mut text = cx.why_no_path();
        for effect in open {
            if let SideEffect::File(file) = effect {
                text.get_or_insert_with(|| no_rule_for(file));
            }
        }
        Err(Reason { text: text.unwrap_or(refusal.text), ..refusal })
    }

    fn shell_permission(&self, cx: &Prepared<'_>, rules: &[&Rule], restricted: bool) -> Result<Reason, Reason> {
        if let Some(Unknown { text, kind, .. }) = first_unknown(cx, Weight::Unseen) {
            return Err(Reason::ask(format!("it contains characters that a person cannot see: `{text}` ({kind})")));
        }
        let wide = match over_commands(cx, rules).into_iter().find(|rule| !rule.names_commands()) {
            Some(rule) => Ok(by_rule(rule, "allowed")),
            None => self.by_tier(cx),
        };
        let refusal = match (wide, first_unknown(cx, Weight::Code)) {
            (Ok(_), Some(Unknown { text, kind, .. })) if restricted => {
                let text = format!("`{text}` may run anything ({kind}), including what is denied");
                return Err(Reason::ask(text));
            }
            (Ok(reason), _) => return Ok(reason),
            (Err(refusal), _) => refusal,
        };
        self.each_allowed(cx, rules).map_err(|text| Reason { text, ..refusal })
    }

    /// The rule that allows the last command of a line of which every part is allowed; or which
    /// part is not.
    fn each_allowed(&self, cx: &Prepared<'_>, rules: &[&Rule]) -> Result<Reason, String> {
        let (over, mut by) = (over_commands(cx, rules), None);
        for (index, command) in cx.running() {
            let named = || named_with_wrapper(cx, &over, index).map(Permit::Rule);
            let Some(permit) = self.permit(cx, &over, index).or_else(named) else {
                // A word has one character at least, so what is cut off is not put together.
                let words = command.words.get(..MOST_SHOWN).unwrap_or(&command.words);
                let line: String = display(words).chars().take(MOST_SHOWN).collect();
                return Err(format!("no rule allows `{line}`"));
            };
            by = Some((permit, index));
        }
        for file in cx.effects.files.iter().filter(|file| file.own) {
            if !rules.iter().any(|rule| cx.of_effects(rule) && cx.allows(rule, SideEffect::File(file))) {
                return Err(no_rule_for(file));
            }
        }
        if let Some(file) = glob_of_links(cx) {
            return Err(format!("`{}` may name symbolic links, which may lead to other files", file.text));
        }
        for part in &cx.effects.unknowns {
            let here = matches!(&part.folder, Some(folder) if is_here(folder, &cx.context));
            if !here && !rules.iter().any(|rule| names_part(cx, rule, part)) {
                return Err(part.reason());
            }
        }
        let mut by = by.map(|(permit, index)| permit.reason(cx, index));
        if by.is_none() && self.read_only_shell(&cx.context) && is_comment(cx) {
            by = Some(Reason::new(Effect::Allow, "it contains only comments"));
        }
        by.ok_or_else(|| "it contains no command that a rule allows".to_owned())
    }

    /// The commands that something allows, so that no grant needs to cover them.
    pub(crate) fn allowed_commands(&self, cx: &Prepared<'_>) -> Vec<usize> {
        let over = over_commands(cx, &self.allowing(cx, false));
        let running = cx.running().map(|(index, _)| index);
        running.filter(|index| self.permit(cx, &over, *index).is_some()).collect()
    }

    /// What allows one command, a rule or the built-in table.
    pub(crate) fn command_allowed_by(&self, cx: &Prepared<'_>, rules: &[&Rule], index: usize) -> Option<Reason> {
        Some(self.permit(cx, &over_commands(cx, rules), index)?.reason(cx, index))
    }

    /// The same, as no reason yet. `over`: the rules over commands.
    fn permit<'r>(&self, cx: &Prepared<'_>, over: &[&'r Rule], index: usize) -> Option<Permit<'r>> {
        let words = cx.words_of(index);
        let program = first(words)?;
        if program.split('/').any(|part| part == "..") {
            return None;
        }
        // The same under the name for which the policy has this path.
        let renamed = self.program_at(program).map(|name| [&[Word::known(name)], behind_first(words)].concat());
        let plain = [tables::without_flags(words), renamed.as_deref().and_then(tables::without_flags)];
        for rule in over {
            let Some(pattern) = &rule.command else { continue };
            let mut others = renamed.iter().chain(plain.iter().flatten());
            if pattern.allows(words) || others.any(|form| pattern.allows(form)) {
                return Some(Permit::Rule(rule));
            }
        }
        let reads = self.read_only_shell(&cx.context) && readonly::only_reads(words, cx.context.workspace_trusted);
        if reads { Some(Permit::Reads) } else { None }
    }
}

/// What allows a command.
enum Permit<'r> {
    Rule(&'r Rule),
    /// The table of commands that only read.
    Reads,
}

impl Permit<'_> {
    fn reason(self, cx: &Prepared<'_>, index: usize) -> Reason {
        match self {
            Self::Rule(rule) => by_rule(rule, "allowed"),
            Self::Reads => {
                let program = first(cx.words_of(index)).unwrap_or_default();
                Reason::new(Effect::Allow, format!("`{program}` only reads"))
            }
        }
    }
}

/// Whether a call consists of comments, which run nothing.
fn is_comment(cx: &Prepared<'_>) -> bool {
    let effects = &cx.effects;
    let is_empty = effects.commands.is_empty() && effects.files.is_empty() && effects.unknowns.is_empty();
    is_empty && matches!(&cx.command_line, Some(line) if line.trim_start().starts_with('#'))
}

/// A command as it is written, and without the harmless flags before its subcommand.
fn forms_of(words: &[Word]) -> impl Iterator<Item = Cow<'_, [Word]>> {
    std::iter::once(words.into()).chain(tables::without_flags(words).map(Cow::from))
}

/// The first unknown of a weight.
fn first_unknown<'c>(cx: &'c Prepared<'_>, weight: Weight) -> Option<&'c Unknown> {
    cx.effects.unknowns.iter().find(|part| part.weight == weight)
}

/// The rules of the call's tool that are over commands, the last one first.
fn over_commands<'r>(cx: &Prepared<'_>, rules: &[&'r Rule]) -> Vec<&'r Rule> {
    rules.iter().rev().copied().filter(|rule| rule.is_of_commands() && cx.of_tool(rule)).collect()
}

/// A rule that names a wrapper together with the program it starts covers that program too: `npx
/// tsc:*`.
fn named_with_wrapper<'r>(cx: &Prepared<'_>, over: &[&'r Rule], index: usize) -> Option<&'r Rule> {
    let inner = cx.words_of(index);
    let outer = cx.words_of(index.checked_sub(1)?);
    let from = outer.strip_suffix(inner)?.len();
    if from == 0 || !launchers::is_launcher(program(outer)?) {
        return None;
    }
    for rule in over {
        let Some(pattern) = &rule.command else { continue };
        if matches!(pattern.literal(), Some((words, _)) if words.len() > from) && pattern.allows(outer) {
            return Some(rule);
        }
    }
    None
}

/// Whether an allow names the interpreter of a part's code, or the word that is its option.
fn names_part(cx: &Prepared<'_>, rule: &Rule, part: &Unknown) -> bool {
    matches!(part.interpreter, Some(index) if names_interpreter(cx, rule, index))
        || matches!(part.option, Some((index, at)) if names_word(cx, rule, index, at))
        || matches!(&part.variable, Some((index, value)) if names_variable(cx, rule, (*index, &part.text), value.as_deref()))
}

/// Whether an allow names a variable that is set for a command, with its value.
fn names_variable(cx: &Prepared<'_>, rule: &Rule, (index, name): (usize, &str), value: Option<&str>) -> bool {
    let Some(pattern) = &rule.command else { return false };
    pattern.sets(name, value) && forms_of(cx.words_of(index)).any(|form| pattern.allows(&form)) && cx.of_tool(rule)
}

/// Whether an allow names the interpreter of a part, and so any code of it.
fn names_interpreter(cx: &Prepared<'_>, rule: &Rule, index: usize) -> bool {
    let (words, Some(pattern)) = (cx.words_of(index), &rule.command) else { return false };
    let Some(program) = first(words) else { return false };
    // A rule that names more than the interpreter means that, and no code; one that names the code
    // means the code.
    let wide = pattern.len() == 1
        || pattern.len() >= words.len() && pattern.is_word_by_word()
        || matches!(pattern.literal(), Some((named, true)) if ends_in_code(&named));
    wide && pattern.program() == Some(program) && pattern.allows(words) && cx.of_tool(rule)
}

/// Whether the words of a pattern end in the option behind which an interpreter takes code: `python
/// -c:*`.
fn ends_in_code(named: &[&str]) -> bool {
    let (Some(program), Some(option)) = (named.first(), named.last()) else { return false };
    named.len() == 2 && programs::known(base_name(program)).does(option) == Some(Does::Code)
}

/// Whether an allow names a word of a command, and not only what is before it, or allows it as an
/// option.
fn names_word(cx: &Prepared<'_>, rule: &Rule, index: usize, at: usize) -> bool {
    let (words, Some(pattern)) = (cx.words_of(index), &rule.command) else { return false };
    let named = pattern.names(words, at) || rule.options.iter().any(|option| option.covers(words, at));
    named && pattern.allows(words) && cx.of_tool(rule)
}

/// Whether an undeclared argument may be a path that the tool uses, and refers to another place, or
/// a host.
fn may_be_elsewhere(cx: &Prepared<'_>, effect: SideEffect<'_>) -> bool {
    let SideEffect::File(file) = effect else { return true };
    if !cx.is_recorded {
        return is_elsewhere(&file.text);
    }
    let writes_nothing = cx.capability.writes.as_deref() == Some(&[]);
    file.access == if writes_nothing { Access::Read } else { Access::Write }
}

/// Whether a text that may be a path leads out of the working folder.
fn is_elsewhere(text: &str) -> bool {
    text.starts_with(['/', '~', '$', '\\']) || names_parent(text) || text.contains(':')
}

/// Why a call whose paths need rules is not allowed: the first file without one.
fn no_rule_for(file: &FileEffect) -> String {
    let verb = if file.access == Access::Write { "writing" } else { "reading" };
    format!("no rule allows {verb} `{}`", file.text)
}
