//! What a shell command would do, read without running it.
//!
//! [`effects`] turns a command line into three lists: every **command** that may run (behind wrappers, in
//! substitutions, in branches that may not be taken), every **file** that may be read or written, and every
//! **unknown**: a part whose meaning only the run would show. A policy then asks of each command, each file and
//! each unknown whether it is allowed.
//!
//! The contract. Nothing is left out silently: what cannot be read becomes an unknown. The words are those of
//! bash 5 run as `bash -c`, without aliases, startup files or hostile variables in the environment it inherits.
//! Symbolic links and the contents of scripts that lie on disk are not seen.
//!
//! Without the feature `shell` every command is one opaque unknown, together with the guesses of
//! a crude reading so that denies still bite.

use serde::Serialize;

use super::argv::Word;
use super::path::LexPath;
use super::rule::Access;
use crate::diagnostic::hidden_in;

#[cfg(feature = "shell")]
mod ansi;
#[cfg(feature = "shell")]
mod awk;
#[cfg(feature = "shell")]
mod builtins;
#[cfg(feature = "shell")]
mod environ;
#[cfg(feature = "shell")]
mod expansion;
#[cfg(feature = "shell")]
mod files;
#[cfg(feature = "shell")]
mod globs;
pub(crate) mod heuristics;
#[cfg(feature = "shell")]
mod inputs;
#[cfg(feature = "shell")]
mod inspect;
pub(crate) mod launchers;
#[cfg(feature = "shell")]
mod options;
#[cfg(feature = "shell")]
mod outputs;
#[cfg(feature = "shell")]
mod place;
#[cfg(feature = "shell")]
mod programs;
pub(crate) mod readonly;
#[cfg(feature = "shell")]
mod redirect;
#[cfg(feature = "shell")]
mod scripts;
pub(crate) mod tables;
#[cfg(feature = "shell")]
mod unpack;
#[cfg(feature = "shell")]
mod walk;
#[cfg(feature = "shell")]
mod words;
#[cfg(feature = "shell")]
mod wrappers;

/// The longest command that is read, in characters. Longer ones are one unknown.
pub const MAX_CHARS: usize = 10_000;
/// The most commands that are read in one line.
pub const MAX_COMMANDS: usize = 200;
/// The deepest nesting of substitutions, payloads and compound commands.
pub const MAX_DEPTH: usize = 8;

/// How a command comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It runs, and must be allowed.
    Runs,
    /// It only starts another one that is listed too (`timeout 5 …`): looked at by ask and deny.
    Carries,
    /// It may run, as far as one can guess: looked at by ask and deny.
    Guess,
}

/// One command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Program and arguments.
    pub words: Vec<Word>,
    /// How it comes to run.
    pub role: Role,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEffect {
    /// Which file, if that is known.
    #[serde(skip)]
    pub path: Option<LexPath>,
    /// The file as a person would read it.
    pub text: String,
    /// Read, or written (created, changed, deleted).
    pub access: Access,
    /// Whether an allow for the command is not enough: redirects, and options that write.
    pub own: bool,
    /// Whether it may be everything below the path.
    pub recursive: bool,
    /// Whether the path is the only one it can be: false after a `cd` that may have failed.
    pub certain: bool,
}

/// How heavy an unknown weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// A value: which argument, which file. A rule that allows every command covers it.
    Value,
    /// Code: anything may run. Covered by a rule that allows every command only where nothing is forbidden.
    Code,
    /// A person could not see what they say yes to. Always asks.
    Unseen,
}

/// A part of a command whose meaning only the run would show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// What kind: a stable kebab-case word.
    pub kind: &'static str,
    /// The part, as written.
    pub text: String,
    /// How heavy it weighs.
    pub weight: Weight,
    /// For an interpreter that is given code: which of the commands. An allow that names the interpreter has
    /// said yes to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<usize>,
}

/// Everything that a command line may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SideEffects {
    /// The commands, in the order of the source.
    pub commands: Vec<Command>,
    /// The files.
    pub files: Vec<FileEffect>,
    /// What is not known.
    pub unknowns: Vec<Unknown>,
}

impl SideEffects {
    pub(crate) fn unknown(&mut self, kind: &'static str, text: &str, weight: Weight) {
        let text = text.chars().take(80).collect();
        self.unknowns.push(Unknown { kind, text, weight, interpreter: None });
    }
}

/// Reads a command line that starts in the folder `start`.
///
/// Never fails: what cannot be read is an unknown. Time and memory are bounded by [`MAX_CHARS`],
/// [`MAX_COMMANDS`] and [`MAX_DEPTH`].
#[must_use]
pub fn effects(command: &str, start: &LexPath) -> SideEffects {
    let mut found = read(command, start);
    // A carriage return or an escape rewrites the line that the person sees.
    if let Some(c) = hidden_in(command).or_else(|| command.chars().find(|&c| c == '\r')) {
        found.unknown("hidden-character", &c.escape_unicode().to_string(), Weight::Unseen);
    }
    found
}

#[cfg(feature = "shell")]
fn read(command: &str, start: &LexPath) -> SideEffects {
    let mut found = walk::read(command, start);
    globs::loosen(&mut found, command);
    found
}

#[cfg(not(feature = "shell"))]
fn read(command: &str, _start: &LexPath) -> SideEffects {
    let mut found = SideEffects::default();
    found.unknown("no-shell-reader", command, Weight::Code);
    heuristics::guess(command, &mut found);
    found
}

/// The forms under which ask and deny look at a command: as written; the program without its folder; `git`
/// without the options before its subcommand.
pub(crate) fn forms(words: &[Word]) -> Vec<Vec<Word>> {
    let mut all = vec![words.to_vec()];
    let Some(program) = words.first().and_then(Word::get) else { return all };
    let base = super::argv::base_name(program);
    // Where the disk does not tell letter case apart, `RM` is `rm`.
    let lower = base.chars().any(|c| c.is_ascii_uppercase()).then(|| base.to_ascii_lowercase());
    let base = lower.as_deref().unwrap_or(base);
    if base != program {
        let mut short = words.to_vec();
        if let Some(first) = short.first_mut() {
            *first = Word::known(base);
        }
        all.push(short);
    }
    if let Some(at) = tables::subcommand(words).filter(|&at| at > 1) {
        let mut short = vec![Word::known(base)];
        short.extend(words.get(at..).unwrap_or_default().iter().cloned());
        all.push(short);
    }
    all
}
