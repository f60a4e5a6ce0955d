//! The floor, which no policy file has to state: what no call may do, whatever allows it.

use std::cell::LazyCell;

use super::argv::{Word, base_name};
use super::call_context::CallContext;
use super::decision::{Effect, Fit, Reason};
use super::path::{LexPath, PathPattern};
use super::rule::Access;
use super::unicode::is_same_name;
use crate::diagnostic::visible;

/// Why the floor denies a call, if it does.
pub(super) fn floor(cx: &CallContext<'_>) -> Option<Reason> {
    protected(cx).or_else(|| approves_itself(cx))
}

/// No call writes the policy files and the audit store, under whatever name.
fn protected(cx: &CallContext<'_>) -> Option<Reason> {
    // Most calls write no file.
    let guarded: LazyCell<Vec<LexPath>, _> =
        LazyCell::new(|| cx.context.protected.iter().flat_map(|p| LexPath::read(p).everywhere(cx.context)).collect());
    let starts = |long: &LexPath, short: &LexPath| {
        long.parts.len() >= short.parts.len() && long.parts.iter().zip(&short.parts).all(|(a, b)| is_same_name(a, b))
    };
    let hits = |file: &&super::shell::FileEffect| {
        // What is known only when it runs is handled by `may_be_protected`.
        let known = file.path.as_ref().filter(|path| file.access == Access::Write && path.tail().is_none());
        let Some(path) = known else { return false };
        path.everywhere(cx.context).iter().any(|path| {
            guarded.iter().any(|g| path.base == g.base && (starts(path, g) || (file.recursive && starts(g, path))))
        })
    };
    let file = cx.effects.files.iter().chain(&cx.effects.suspects).find(hits)?;
    let text = format!("`{}` belongs to the policy or its store: no call may write it", visible(&file.text));
    Some(Reason::new(Effect::Deny, text))
}

/// Whether a call may write one of those files, where only the run shows which files it writes.
pub(super) fn may_be_protected(cx: &CallContext<'_>) -> Option<Reason> {
    let writes = cx.effects.files.iter().filter(|file| file.access == Access::Write);
    let mut open =
        writes.filter_map(|file| Some((file, file.path.as_ref()?))).filter(|(_, path)| path.tail().is_some());
    let (file, is_glob, own) = open.find_map(|(file, path)| {
        let may_be = |own: &&String| PathPattern::literal(own).fit(path, file.recursive, cx.context, false) != Fit::No;
        Some((file, path.tail()?.is_glob(), cx.context.protected.iter().find(may_be)?))
    })?;
    let quote = if is_glob { "`" } else { "" };
    let (text, own) = (visible(&file.text), visible(own));
    let text = format!("it may write {quote}{text}{quote}, which may include the protected file `{own}`");
    Some(Reason::ask(text))
}

/// Whether a command is one by which a person answers: `toolfold approvals approve`, or `accept`, its alias, or a
/// `toolfold session`, whose lines `accept` and `approve_skill` are a person's too, or a `toolfold undo`, which writes
/// files without being asked. An agent that may run programs must not answer for the person.
fn approves_itself(cx: &CallContext<'_>) -> Option<Reason> {
    let command = cx.effects.commands.iter().find_map(|command| approves(&command.words))?;
    let text = format!("only a person approves and undoes calls: no call may run `toolfold {command}`");
    Some(Reason::new(Effect::Deny, text))
}

/// The command of a person that these words run, or may run.
fn approves(words: &[Word]) -> Option<&'static str> {
    let (program, rest) = words.split_first()?;
    let program = program.get()?;
    // Cargo passes on what follows `--`; without it, everything after its own options.
    let own = |at: usize| {
        let behind = rest.get(at + 1..)?;
        let dashes = behind.iter().position(|word| word.is("--"));
        dashes.map_or(Some(behind), |at| behind.get(at + 1..))
    };
    let run = rest.iter().position(|word| matches!(word.get(), Some("run" | "r")));
    let rest = match (base_name(program), run.and_then(own)) {
        ("cargo", Some(own)) => own,
        (name, _) if name.eq_ignore_ascii_case("toolfold") => rest,
        _ => return None,
    };
    // Cargo's example of that name is another program.
    let example = rest.iter().position(|word| word.is("--example")).map(|at| at + 1);
    let named = |wanted: &&str| rest.iter().enumerate().any(|(at, word)| word.is(wanted) && Some(at) != example);
    if let Some(command) = ["session", "undo"].into_iter().find(named) {
        return Some(command);
    }
    // A word that is known only when it runs may be any word.
    let first = rest.iter().find(|word| word.get().is_none_or(|text| !text.starts_with('-')));
    let open = first.is_some_and(|word| word.get().is_none());
    let approve = || rest.iter().any(|word| word.get().is_none_or(|text| matches!(text, "approve" | "accept")));
    (open || (rest.iter().any(|word| word.is("approvals")) && approve())).then_some("approvals approve")
}
