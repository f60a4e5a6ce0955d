//! The floor, which no policy file has to state: what no call may do, whatever allows it.

mod answers;
mod own_program;

use std::cell::LazyCell;

use self::own_program::{Given, Line};
use super::argv::{Word, contains_any, known, place_of, program, unquoted};
use super::decision::{Effect, Fit, Reason};
use super::path::{LexPath, PathPattern};
use super::prepared::Prepared;
use super::rule::Access;
use super::shell::FileEffect;
use super::undeclared;
use super::unicode::{fold, is_same_name};
use crate::diagnostic::visible;

pub(super) use self::own_program::candidates;

/// Why the floor denies a call, if it does.
pub(super) fn floor(cx: &Prepared<'_>) -> Option<Reason> {
    protected(cx).or_else(|| answers_itself(cx))
}

/// Why a person must see a call whatever allows it and in whatever mode, if so: it may be one that
/// the floor denies.
pub(super) fn doubt(cx: &Prepared<'_>) -> Option<Reason> {
    cx.doubt.get_or_init(|| may_read_a_secret(cx).or_else(|| may_answer_itself(cx))).clone()
}

/// The paths of a list, in every reading.
fn everywhere(paths: &[String], cx: &Prepared<'_>) -> Vec<LexPath> {
    paths.iter().flat_map(|path| LexPath::read(path).everywhere(&cx.context)).collect()
}

/// Whether a path is another one, or below it.
fn is_below(long: &LexPath, short: &LexPath) -> bool {
    let mut pairs = long.parts.iter().zip(&short.parts);
    long.base == short.base && long.parts.len() >= short.parts.len() && pairs.all(|(a, b)| is_same_name(a, b))
}

/// No call writes the policy files and the audit store, and none reads or writes a secret, under
/// whatever name.
fn protected(cx: &Prepared<'_>) -> Option<Reason> {
    // Most calls write no file, and most contexts have no secret.
    let guarded: LazyCell<Vec<LexPath>, _> = LazyCell::new(|| everywhere(&cx.context.protected, cx));
    let secrets: LazyCell<Vec<LexPath>, _> = LazyCell::new(|| everywhere(&cx.context.secrets, cx));
    for file in cx.effects.files.iter().chain(&cx.effects.suspects) {
        let writes = file.access == Access::Write;
        let what = if writes && is_within(cx, file, &guarded) {
            "belongs to the policy or its store: no call may write it"
        } else if is_within(cx, file, &secrets) {
            "holds the approver's key: no call may read or write it"
        } else {
            continue;
        };
        return Some(Reason::new(Effect::Deny, format!("`{}` {what}", visible(&file.text))));
    }
    None
}

/// Whether a file is one of these or below one of them, or is written with everything below it, and
/// so with one of them.
fn is_within(cx: &Prepared<'_>, file: &FileEffect, guarded: &[LexPath]) -> bool {
    // What is known only when it runs is handled by `may_be_protected` and `may_read_a_secret`.
    let Some(path) = &file.path else { return false };
    if path.tail().is_some() || guarded.is_empty() {
        return false;
    }
    let above = file.recursive && file.access == Access::Write;
    let mut paths = path.everywhere(&cx.context).into_iter();
    paths.any(|path| guarded.iter().any(|own| is_below(&path, own) || above && is_below(own, &path)))
}

/// Whether a call may write one of those files, where only the run shows which files it writes.
pub(super) fn may_be_protected(cx: &Prepared<'_>) -> Option<Reason> {
    for file in cx.effects.written() {
        let Some(path) = &file.path else { continue };
        let Some(tail) = path.tail() else { continue };
        let Some(own) = cx.context.protected.iter().find(|own| may_be(cx, file, path, own)) else { continue };
        let quote = if tail.is_glob() { "`" } else { "" };
        let (text, own) = (visible(&file.text), visible(own));
        let text = format!("it may write {quote}{text}{quote}, which may include the protected file `{own}`");
        return Some(Reason::ask(text));
    }
    None
}

/// Whether a file may be this one, where its path is known only in part.
fn may_be(cx: &Prepared<'_>, file: &FileEffect, path: &LexPath, own: &str) -> bool {
    PathPattern::literal(own).fit(path, file.recursive, &cx.context, false) != Fit::No
}

/// Whether a call may read or write a secret: as one of the files below a folder or of a glob, or
/// because a text of it names the file.
fn may_read_a_secret(cx: &Prepared<'_>) -> Option<Reason> {
    let own = &cx.context.secrets;
    if own.is_empty() {
        return None;
    }
    let secrets = everywhere(own, cx);
    let file = cx.effects.files.iter().find(|file| may_hold(cx, file, &secrets));
    let what = if let Some(file) = file { &*file.text } else { own.iter().find(|own| is_named(cx, own))? };
    Some(Reason::ask(format!("`{}` may be, or include, the approver's key", visible(what))))
}

/// Whether a file may be a secret, or a folder that contains one.
fn may_hold(cx: &Prepared<'_>, file: &FileEffect, secrets: &[LexPath]) -> bool {
    let Some(path) = &file.path else { return false };
    if path.tail().is_some() {
        return cx.context.secrets.iter().any(|own| may_be(cx, file, path, own));
    }
    // A tool other than a shell may read what is below a folder; one that lists names does not.
    let lists = matches!(cx.call.tool, "Glob" | "LS");
    let below = file.recursive || !cx.is_shell && !lists;
    below && path.everywhere(&cx.context).iter().any(|path| secrets.iter().any(|own| is_below(own, path)))
}

/// Whether a text of the call has the name of a file in it.
fn is_named(cx: &Prepared<'_>, file: &str) -> bool {
    let name = fold(file.rsplit(['/', '\\']).next().unwrap_or(file));
    match &cx.command_line {
        Some(text) => unquoted(&fold(text)).contains(&*name),
        None => undeclared::places(cx.call.arguments).iter().any(|text| unquoted(&fold(text)).contains(&*name)),
    }
}

/// The most commands of a line whose words are searched for answers: guesses about a long text have
/// many more, and the text itself is searched, too.
const MOST_COMMANDS: usize = 2_000;

/// Whether a command is one by which a person answers. An agent that may run programs must not
/// answer for the person.
fn answers_itself(cx: &Prepared<'_>) -> Option<Reason> {
    let line = line(cx)?;
    for command in &cx.effects.commands {
        if let Some(Given::Surely(given)) = line.given(&command.words)
            && let Some(own) = of_a_person(given)
        {
            let text = format!("only a person approves and undoes calls: no call may run `toolfold {own}`");
            return Some(Reason::new(Effect::Deny, text));
        }
    }
    None
}

/// Whether a command may be one: by the words that it is given, whatever its program is.
fn may_answer_itself(cx: &Prepared<'_>) -> Option<Reason> {
    let (line, has_words) = (line(cx), has_any(cx, &answers::NEEDED));
    if !has_words && line.is_none() {
        return None;
    }
    let mut commands = cx.effects.commands.iter().take(MOST_COMMANDS);
    let command = commands.find_map(|command| may_answer(line.as_ref(), &command.words, has_words));
    let command = command.or_else(|| answers::in_text(cx.command_line.as_deref()?))?;
    Some(Reason::ask(format!("it may answer for the person: it has the words of `toolfold {command}`")))
}

/// The command of a person that a command may be, or that may be in one of its words.
fn may_answer(line: Option<&Line<'_>>, words: &[Word], has_words: bool) -> Option<&'static str> {
    let answer = if has_words { answers::in_command(words) } else { None };
    let line = match answer {
        Some(_) => return answer,
        None => line?,
    };
    if let Some(own) = given_to(line, words) {
        return Some(own);
    }
    for text in known(words).filter(|text| text.contains(char::is_whitespace)) {
        let words: Vec<Word> = text.split_whitespace().map(Word::known).collect();
        if let Some(own) = given_to(line, &words) {
            return Some(own);
        }
    }
    None
}

/// The command of a person that toolfold is given by a command, if that may run toolfold.
fn given_to(line: &Line<'_>, words: &[Word]) -> Option<&'static str> {
    match line.given(words)? {
        Given::Surely(given) | Given::Perhaps(given) => of_a_person(given),
    }
}

/// The line of a call, unless none of its commands has anything to do with toolfold.
fn line<'c>(cx: &'c Prepared<'_>) -> Option<Line<'c>> {
    let copies = matches!(&cx.context.links, Some(links) if links.has_own_programs());
    let cargo = cx.effects.commands.iter().any(|command| program(&command.words) == Some("cargo"));
    if copies || cargo || has_any(cx, &["toolfold"]) { Some(Line::new(cx)) } else { None }
}

/// Whether one of these texts, which have no blanks, is in the command line, or in what a variable
/// or an escape makes of it.
fn has_any(cx: &Prepared<'_>, wanted: &[&str]) -> bool {
    let searched = cx.searched_text.get_or_init(|| {
        let mut text = cx.command_line.clone().unwrap_or_default();
        for word in cx.running().flat_map(|(_, command)| known(&command.words)) {
            text.push('\n');
            text.push_str(word);
        }
        unquoted(&text).to_ascii_lowercase()
    });
    contains_any(searched, wanted)
}

/// The command of a person among the words that toolfold is given: `approvals approve`, or
/// `accept`, its alias; `approvals init`, which makes the key for that; `session`, whose lines
/// `accept` and `approve_skill` are a person's too; `undo`, which writes files without being asked.
fn of_a_person(given: &[Word]) -> Option<&'static str> {
    let known: Vec<&str> = known(given).collect();
    // Cargo's example of that name is another program.
    let example = place_of(given, "--example").map(|at| at + 1);
    let named = |name: &str| given.iter().enumerate().any(|(at, word)| word.is(name) && Some(at) != example);
    if let Some(command) = ["session", "undo"].into_iter().find(|name| named(name)) {
        return Some(command);
    }
    // A word that is known only when it runs may be any word.
    let any = known.len() < given.len();
    let first = given.iter().find(|word| !word.begins(['-']));
    let open = matches!(first, Some(word) if word.get().is_none());
    let accepts = any || known.contains(&"accept");
    match (named("approvals"), named("pins")) {
        (true, _) if known.contains(&"init") => Some("approvals init"),
        (approvals, _) if open || approvals && (accepts || known.contains(&"approve")) => Some("approvals approve"),
        (_, true) if accepts => Some("pins accept"),
        _ => None,
    }
}
