//! The floor, which no policy file has to state: what no call may do, whatever allows it.

mod answers;
mod own_program;

use std::cell::LazyCell;

use self::own_program::{Given, Line};
use super::argv::{Word, program};
use super::call_context::{CallContext, command_text};
use super::decision::{Effect, Fit, Reason};
use super::links::Links;
use super::path::{LexPath, PathPattern};
use super::rule::Access;
use super::shell::{FileEffect, Role};
use super::undeclared;
use super::unicode::{fold, is_same_name};
use crate::diagnostic::visible;

pub(super) use self::own_program::candidates;

/// Why the floor denies a call, if it does.
pub(super) fn floor(cx: &CallContext<'_>) -> Option<Reason> {
    protected(cx).or_else(|| answers_itself(cx))
}

/// Why a person must see a call whatever allows it and in whatever mode, if so: it may be one that the floor denies.
pub(super) fn doubt(cx: &CallContext<'_>) -> Option<Reason> {
    may_read_a_secret(cx).or_else(|| may_answer_itself(cx))
}

/// The paths of a list, in every reading.
fn everywhere(paths: &[String], cx: &CallContext<'_>) -> Vec<LexPath> {
    paths.iter().flat_map(|path| LexPath::read(path).everywhere(cx.context)).collect()
}

/// Whether a path is another one, or below it.
fn is_below(long: &LexPath, short: &LexPath) -> bool {
    let mut pairs = long.parts.iter().zip(&short.parts);
    long.base == short.base && long.parts.len() >= short.parts.len() && pairs.all(|(a, b)| is_same_name(a, b))
}

/// No call writes the policy files and the audit store, and none reads or writes a secret, under whatever name.
fn protected(cx: &CallContext<'_>) -> Option<Reason> {
    // Most calls write no file, and most contexts have no secret.
    let guarded: LazyCell<Vec<LexPath>, _> = LazyCell::new(|| everywhere(&cx.context.protected, cx));
    let secrets: LazyCell<Vec<LexPath>, _> = LazyCell::new(|| everywhere(&cx.context.secrets, cx));
    let within = |file: &FileEffect, guarded: &[LexPath], above: bool| {
        // What is known only when it runs is handled by `may_be_protected` and `may_read_a_secret`.
        let Some(path) = file.path.as_ref().filter(|path| path.tail().is_none()) else { return false };
        path.everywhere(cx.context)
            .iter()
            .any(|path| guarded.iter().any(|own| is_below(path, own) || (above && is_below(own, path))))
    };
    for file in cx.effects.files.iter().chain(&cx.effects.suspects) {
        let writes = file.access == Access::Write;
        if writes && within(file, &guarded, file.recursive) {
            let text = format!("`{}` belongs to the policy or its store: no call may write it", visible(&file.text));
            return Some(Reason::new(Effect::Deny, text));
        }
        if !cx.context.secrets.is_empty() && within(file, &secrets, writes && file.recursive) {
            let text =
                format!("`{}` holds a person's key for approvals: no call may read or write it", visible(&file.text));
            return Some(Reason::new(Effect::Deny, text));
        }
    }
    None
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

/// Whether a call may read or write a secret: as one of the files below a folder or of a glob, or because a text of it names
/// the file.
fn may_read_a_secret(cx: &CallContext<'_>) -> Option<Reason> {
    if cx.context.secrets.is_empty() {
        return None;
    }
    let secrets = LazyCell::new(|| everywhere(&cx.context.secrets, cx));
    // A tool other than a shell may read what is below a folder; one that lists names does not.
    let lists = matches!(cx.call.tool, "Glob" | "LS");
    let holds = |file: &&FileEffect| {
        let Some(path) = &file.path else { return false };
        let below = file.recursive || !cx.is_shell && !lists;
        if path.tail().is_none() {
            return below
                && path.everywhere(cx.context).iter().any(|path| secrets.iter().any(|own| is_below(own, path)));
        }
        let fits = |own: &String| PathPattern::literal(own).fit(path, file.recursive, cx.context, false) != Fit::No;
        cx.context.secrets.iter().any(fits)
    };
    let file = cx.effects.files.iter().find(holds).map(|file| file.text.as_str());
    let what = file.or_else(|| cx.context.secrets.iter().find(|own| is_named(cx, own)).map(String::as_str))?;
    Some(Reason::ask(format!("`{}` may be, or include, a person's key for approvals", visible(what))))
}

/// Whether a text of the call has the name of a file in it.
fn is_named(cx: &CallContext<'_>, file: &str) -> bool {
    let name = fold(file.rsplit(['/', '\\']).next().unwrap_or(file)).into_owned();
    let bare = |text: &str| fold(text).chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect::<String>();
    match shell_text(cx) {
        Some(text) => bare(&text).contains(&name),
        None => undeclared::places(cx.call.arguments).iter().any(|text| bare(text).contains(&name)),
    }
}

/// The command line of a call to a shell, as the tool gets it.
fn shell_text(cx: &CallContext<'_>) -> Option<String> {
    command_text(cx.call.arguments, cx.capability.command.as_deref()?)
}

/// The most commands of a line whose words are searched for answers: guesses about a long text have many more, and the text
/// itself is searched, too.
const MOST_COMMANDS: usize = 2_000;

/// Whether a command is one by which a person answers. An agent that may run programs must not answer for the person.
fn answers_itself(cx: &CallContext<'_>) -> Option<Reason> {
    let line = line(cx)?;
    let denied = |words: &[Word]| match line.given(words)? {
        Given::Surely(given) => of_a_person(given),
        Given::Perhaps(_) => None,
    };
    let command = cx.effects.commands.iter().find_map(|command| denied(&command.words))?;
    let text = format!("only a person approves and undoes calls: no call may run `toolfold {command}`");
    Some(Reason::new(Effect::Deny, text))
}

/// Whether a command may be one: by the words that it is given, whatever its program is.
fn may_answer_itself(cx: &CallContext<'_>) -> Option<Reason> {
    let line = line(cx);
    let perhaps = |words: &[Word]| match line.as_ref()?.given(words)? {
        Given::Surely(given) | Given::Perhaps(given) => of_a_person(given),
    };
    let has_words = has_any(cx, &answers::NEEDED);
    let of_command = |words: &[Word]| {
        let texts = words.iter().filter_map(Word::get).filter(|text| text.contains(char::is_whitespace));
        let split = |text: &str| text.split_whitespace().map(Word::known).collect::<Vec<_>>();
        let answer = || answers::in_command(words).filter(|_| has_words);
        answer().or_else(|| perhaps(words)).or_else(|| texts.map(split).find_map(|words| perhaps(&words)))
    };
    if !has_words && line.is_none() {
        return None;
    }
    let commands = cx.effects.commands.iter().take(MOST_COMMANDS);
    let command = commands.map(|command| command.words.as_slice()).find_map(of_command);
    let command = command.or_else(|| answers::in_text(&shell_text(cx)?))?;
    Some(Reason::ask(format!("it may answer for the person: it has the words of `toolfold {command}`")))
}

/// The line of a call, unless none of its commands has anything to do with toolfold.
fn line<'c>(cx: &'c CallContext<'_>) -> Option<Line<'c>> {
    let copies = || cx.context.links.as_ref().is_some_and(Links::has_own_programs);
    let cargo = || cx.effects.commands.iter().any(|command| program(&command.words) == Some("cargo"));
    (copies() || cargo() || has_any(cx, &["toolfold"])).then(|| Line::new(cx))
}

/// Whether one of these texts is in the command line, or in what a variable or an escape makes of it.
fn has_any(cx: &CallContext<'_>, texts: &[&str]) -> bool {
    let has = |text: &str| {
        let bare = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect::<String>().to_ascii_lowercase();
        texts.iter().any(|own| bare.contains(own))
    };
    let runs = cx.effects.commands.iter().filter(|command| command.role == Role::Runs);
    runs.flat_map(|command| &command.words).filter_map(Word::get).any(has)
        || shell_text(cx).is_some_and(|text| has(&text))
}

/// The command of a person among the words that toolfold is given: `approvals approve`, or `accept`, its alias; `approvals
/// init`, which makes the key for that; `session`, whose lines `accept` and `approve_skill` are a person's too; `undo`, which
/// writes files without being asked.
fn of_a_person(given: &[Word]) -> Option<&'static str> {
    // Cargo's example of that name is another program.
    let example = given.iter().position(|word| word.is("--example")).map(|at| at + 1);
    let named = |wanted: &&str| given.iter().enumerate().any(|(at, word)| word.is(wanted) && Some(at) != example);
    if let Some(command) = ["session", "undo"].into_iter().find(named) {
        return Some(command);
    }
    // A word that is known only when it runs may be any word.
    let first = given.iter().find(|word| word.get().is_none_or(|text| !text.starts_with('-')));
    let open = first.is_some_and(|word| word.get().is_none());
    let has = |words: &[&str]| given.iter().any(|word| word.get().is_none_or(|text| words.contains(&text)));
    let known = |words: &[&str]| given.iter().any(|word| word.get().is_some_and(|text| words.contains(&text)));
    let (approvals, pins) = (named(&"approvals"), named(&"pins"));
    match () {
        () if approvals && known(&["init"]) => Some("approvals init"),
        () if open || approvals && has(&["approve", "accept"]) => Some("approvals approve"),
        () if pins && has(&["accept"]) => Some("pins accept"),
        () => None,
    }
}
