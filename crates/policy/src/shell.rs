//! What a shell command would do, read without running it.
//!
//! [`effects`] turns a command line into three lists: every **command** that may run (also through
//! wrappers, in substitutions and in branches that may not be taken), every **file** that may be
//! read or written, and every **unknown**, a part whose meaning is known only when it runs. The
//! policy then checks that each command, each file and each unknown is allowed.
//!
//! Nothing is omitted silently: whatever cannot be read becomes an unknown. The words are those of
//! bash 5 run as `bash -c`, without aliases, startup files or hostile variables in the inherited
//! environment. Symbolic links and the contents of scripts on disk are not examined.
//!
//! Without the feature `shell`, every command is one opaque unknown, together with heuristic
//! guesses, so that denies still apply.

use std::borrow::Cow;

use super::argv::{Word, first};
use super::command::spellings_of_script;
use super::dialect::Dialect;
use super::path::LexPath;
use super::unicode::is_unseen;
use crate::diagnostic::hidden_in;

mod ansi;
mod awk;
mod builtins;
mod code;
mod dialects;
mod expansion;
mod files;
mod formats;
mod given;
mod globs;
pub(crate) mod heuristics;
mod inspect;
pub(crate) mod launchers;
mod meaning;
mod outputs;
mod piped_files;
mod place;
mod reader;
pub(crate) mod readonly;
mod redirect;
mod rows;
mod scripts;
mod sed;
mod side_effects;
pub(crate) mod tables;
mod walk;
mod walker;
mod words;
mod wrappers;

pub(crate) use self::piped_files::is_filter;
pub use self::side_effects::{Command, FileEffect, Role, SideEffects, Unknown, Weight};
/// Reads a command line that `bash -c` runs in the current folder.
///
/// Never fails: whatever cannot be read is an unknown. The length, the number of commands and the
/// depth are bounded, and so time and memory.
#[must_use]
pub fn effects(command: &str) -> SideEffects {
    effects_in(command, &LexPath::here(), Dialect::BASH)
}

/// Reads a command line of a shell that starts in the folder `start`.
pub(crate) fn effects_in(command: &str, start: &LexPath, dialect: Dialect) -> SideEffects {
    let mut found = read(command, start, dialect);
    // All that is in most commands is seen.
    if command.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return found;
    }
    // A carriage return or an escape sequence rewrites the line that the person sees.
    let unseen = command.chars().find(|c| is_unseen(*c) && !matches!(c, '\n' | '\t'));
    if let Some(c) = hidden_in(command).or(unseen) {
        found.unknown("hidden-character", &c.escape_unicode().to_string(), Weight::Unseen);
    }
    found
}

fn read(command: &str, start: &LexPath, dialect: Dialect) -> SideEffects {
    if !cfg!(feature = "shell") {
        let mut found = SideEffects::default();
        found.unknown("no-shell-reader", command, Weight::Code);
        heuristics::guess(command, &mut found);
        return found;
    }
    let parsed = reader::read(command, dialect);
    let mut found = walk::walk_line(command, start, &parsed);
    globs::loosen(&mut found, command);
    let (refused, doubt) = match &parsed {
        Ok(parsed) if parsed.refused.is_none() => (None, parsed.doubt),
        Ok(parsed) => (parsed.refused, dialects::unread(command, dialect)),
        Err(why) => (Some(*why), dialects::unread(command, dialect)),
    };
    if let Some(why) = doubt {
        found.unknown("dialect", why, Weight::Code);
    }
    // What no reader reads is code: `syntax`. What is read, but outside the strict grammar, is a
    // value.
    if let Some(why) = refused {
        found.unknown("strict", why, Weight::Value);
    }
    found
}

/// The forms of a command that ask and deny compare besides the written one: with the program
/// without its folder, without the options before its subcommand, and all spellings of a script.
pub(crate) fn other_forms(words: &[Word]) -> Vec<Vec<Word>> {
    let mut all = Vec::new();
    let Some(program) = first(words) else { return all };
    // On a case-insensitive disk, `RM` is `rm`.
    let mut base = Cow::Borrowed(super::argv::base_name(program));
    if base.bytes().any(|b| b.is_ascii_uppercase()) {
        base = Cow::Owned(base.to_ascii_lowercase());
    }
    let from = |at: usize| [&[Word::known(&base)], words.get(at..).unwrap_or_default()].concat();
    if base != program {
        all.push(from(1));
    }
    if let Some(at) = tables::subcommand(words) {
        if at > 1 {
            all.push(from(at));
        }
        all.extend(spellings_of_script(&base, words.get(at..).unwrap_or_default()));
    }
    all
}
