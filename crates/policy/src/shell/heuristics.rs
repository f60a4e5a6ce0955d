//! Heuristics: guesses about the commands in a text that could not be read, so that a limit or a
//! syntax error never weakens a deny. Never used to allow.

use super::launchers;
use super::side_effects::{Command, Role, SideEffects, Weight};
use crate::argv::{Word, base_name, first, unquoted};
use crate::programs;
use crate::unicode::is_word;

/// The maximum number of guesses from one text.
const MAX_GUESSES: usize = 50_000;

/// Words before a command.
const KEYWORDS: [&str; 13] =
    ["!", "if", "then", "else", "elif", "do", "while", "until", "time", "coproc", "exec", "eval", "function"];

/// Adds every run of words between operators as a guess, and every tail of it that follows a
/// program which may run another one.
pub(crate) fn guess(text: &str, found: &mut SideEffects) {
    let text = text.replace("\\\n", "");
    let before = found.commands.len();
    for segment in text.split(|c| ";|&\n\r()`{}<>".contains(c)) {
        let words: Vec<Word> = segment.split_whitespace().filter_map(word).collect();
        tails(&words, found);
        if found.commands.len() - before > MAX_GUESSES {
            // Beyond this limit, not even denies can be searched for. Only a person can decide.
            return found.unknown("limit", "too much to search", Weight::Unseen);
        }
    }
}

/// Searches a text that cannot be read for the commands and the files that it may name.
pub(crate) fn search(text: &str, found: &mut SideEffects) {
    guess(text, found);
    files(text, found);
}

/// The maximum number of words of one text that are taken for files.
const MAX_FILES: usize = 4_000;

/// Suspects that each word of a text that cannot be read names a file: for denies of paths, and for
/// the floor.
fn files(text: &str, found: &mut SideEffects) {
    let apart = |c: char| c.is_whitespace() || ";|&()`{}<>=,".contains(c);
    let text = unquoted(&text.replace("\\\n", ""));
    for word in text.split(apart).filter(|word| !word.is_empty()).take(MAX_FILES) {
        found.suspect(word, false);
    }
}

/// A word without its quotes and backslashes, unless a part of it is known only when it runs.
fn word(text: &str) -> Option<Word> {
    let bare = unquoted(text);
    let open = bare.contains(['$', '*', '?', '~']);
    (!bare.is_empty()).then(|| if open { Word::unknown(text, false) } else { Word::known(&bare) })
}

/// Adds a command and, where its program may run another one, that command.
pub(crate) fn tails(words: &[Word], found: &mut SideEffects) {
    let mut rest = words;
    for _ in 0..8 {
        let Some((program, arguments)) = rest.split_first() else { return };
        found.commands.push(Command { words: rest.to_vec(), role: Role::Guess });
        let Some(name) = program.get() else { return };
        let assigns = matches!(name.split_once('='), Some((name, _)) if is_word(name));
        if KEYWORDS.contains(&name) || assigns {
            rest = arguments;
            continue;
        }
        let Some(from) = launchers::behind(rest) else { return };
        // The end of its own options is unknown: every later word may be the program.
        for at in from..rest.len().min(from + 12) {
            let tail = rest.get(at..).unwrap_or_default();
            let Some(inner) = first(tail).filter(|inner| !inner.starts_with('-')) else { continue };
            found.commands.push(Command { words: tail.to_vec(), role: Role::Guess });
            if programs::kinds(base_name(inner)).shell {
                launchers::texts(tail).for_each(|text| guess(text, found));
            }
        }
        return launchers::texts(rest).for_each(|text| guess(text, found));
    }
}

/// Adds every tail of a list of words, and every command line in it: for programs that pass on
/// their arguments.
pub(crate) fn anywhere(words: &[Word], found: &mut SideEffects) {
    for at in 0..words.len().min(12) {
        let tail = words.get(at..).unwrap_or_default();
        match first(tail) {
            Some(text) if text.contains(char::is_whitespace) => guess(text, found),
            Some(word) if !word.starts_with('-') => tails(tail, found),
            _ => {}
        }
    }
}
