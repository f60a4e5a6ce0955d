//! The floor that no file needs to write: what no call does, whatever allows it.

use std::cell::LazyCell;

use super::argv::{Word, base_name};
use super::call_context::CallContext;
use super::decision::{Effect, Fit, Reason};
use super::path::{LexPath, PathPattern};
use super::rule::Access;
use super::unicode::Equivalence;
use crate::diagnostic::visible;

/// Why the floor forbids a call, if it does.
pub(super) fn floor(cx: &CallContext<'_>) -> Option<Reason> {
    protected(cx).or_else(|| approves_itself(cx))
}

/// The policy itself and the audit store are not written by any call, under whatever name.
fn protected(cx: &CallContext<'_>) -> Option<Reason> {
    // Most calls write no file.
    let guarded: LazyCell<Vec<LexPath>, _> =
        LazyCell::new(|| cx.context.protected.iter().flat_map(|p| LexPath::read(p).everywhere(cx.context)).collect());
    let starts = |long: &LexPath, short: &LexPath| {
        long.parts.len() >= short.parts.len()
            && long.parts.iter().zip(&short.parts).all(|(a, b)| Equivalence::Confusable.name(a, b))
    };
    let hits = |file: &&super::shell::FileEffect| {
        // What is only known when it runs is looked at below.
        let known = file.path.as_ref().filter(|path| file.access == Access::Write && path.tail().is_none());
        let Some(path) = known else { return false };
        path.everywhere(cx.context).iter().any(|path| {
            guarded.iter().any(|g| path.base == g.base && (starts(path, g) || (file.recursive && starts(g, path))))
        })
    };
    let file = cx.effects.files.iter().find(hits)?;
    let text = format!("`{}` belongs to the policy itself: no call writes it", visible(&file.text));
    Some(Reason::new(Effect::Deny, text))
}

/// Whether what a call writes below a folder may be one of those files: only the run shows it.
pub(super) fn may_be_protected(cx: &CallContext<'_>) -> Option<Reason> {
    let writes = cx.effects.files.iter().filter(|file| file.access == Access::Write);
    let mut open =
        writes.filter_map(|file| Some((file, file.path.as_ref()?))).filter(|(_, path)| path.tail().is_some());
    let (file, _) = open.find(|(file, path)| {
        let may_be = |own: &String| PathPattern::literal(own).fit(path, file.recursive, cx.context, false) != Fit::No;
        cx.context.protected.iter().any(may_be)
    })?;
    let text = format!("`{}` may be what belongs to the policy itself", visible(&file.text));
    Some(Reason::new(Effect::Ask, text))
}

/// Whether a command is the one by which a person says yes: `toolfold approvals accept`. An agent that may run programs
/// must not answer for the person.
fn approves_itself(cx: &CallContext<'_>) -> Option<Reason> {
    cx.effects.commands.iter().find(|command| says_yes(&command.words))?;
    Some(Reason::new(Effect::Deny, "only a person says yes: no call runs `toolfold approvals accept`"))
}

fn says_yes(words: &[Word]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let Some(program) = program.get() else { return false };
    let own = rest.iter().position(|word| word.get() == Some("--")).and_then(|at| rest.get(at + 1..));
    let rest = match base_name(program) {
        "cargo" if rest.iter().any(|word| matches!(word.get(), Some("run" | "r"))) => own.unwrap_or_default(),
        name if name.eq_ignore_ascii_case("toolfold") => rest,
        _ => return false,
    };
    // A word that is only known when it runs may be any.
    let first = rest.iter().find(|word| word.get().is_none_or(|text| !text.starts_with('-')));
    if first.is_some_and(|word| word.get().is_none()) {
        return true;
    }
    rest.iter().any(|word| word.get() == Some("approvals"))
        && rest.iter().any(|word| word.get().is_none_or(|text| text == "accept"))
}
