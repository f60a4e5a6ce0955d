//! What a shell command would do, read without running it.
//!
//! [`effects`] turns a command line into three lists: every **command** that may run (also through wrappers, in
//! substitutions and in branches that may not be taken), every **file** that may be read or written, and every
//! **unknown**, a part whose meaning is known only when it runs. The policy then checks that each command, each file
//! and each unknown is allowed.
//!
//! Nothing is omitted silently: whatever cannot be read becomes an unknown. The words are those of bash 5 run as
//! `bash -c`, without aliases, startup files or hostile variables in the inherited environment. Symbolic links and the
//! contents of scripts on disk are not examined.
//!
//! Without the feature `shell`, every command is one opaque unknown, together with heuristic guesses, so that denies
//! still apply.

use serde::Serialize;

use super::argv::Word;
use super::path::LexPath;
use super::rule::Access;
use super::unicode::is_unseen;
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
#[cfg(feature = "shell")]
mod guards;
pub(crate) mod heuristics;
#[cfg(feature = "shell")]
mod inputs;
#[cfg(feature = "shell")]
mod inspect;
pub(crate) mod launchers;
#[cfg(feature = "shell")]
mod listed;
#[cfg(feature = "shell")]
mod listing;
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
#[cfg(feature = "shell")]
mod strict;
pub(crate) mod tables;
#[cfg(feature = "shell")]
mod unpack;
#[cfg(feature = "shell")]
mod walk;
#[cfg(feature = "shell")]
mod words;
#[cfg(feature = "shell")]
mod wrappers;

/// The maximum length of a command in characters. A longer command is one unknown.
pub const MAX_CHARS: usize = 10_000;
/// The maximum number of commands in a line.
pub const MAX_COMMANDS: usize = 200;
/// The maximum nesting of substitutions, payloads and compound commands.
pub const MAX_DEPTH: usize = 8;

/// The role of a command in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It runs, and must be allowed.
    Runs,
    /// It only starts another command that is also listed (`timeout 5 …`). Only ask and deny consider it.
    Carries,
    /// It may run, by a guess. Only ask and deny consider it.
    Guess,
}

/// A command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Its role.
    pub role: Role,
}

/// The effect on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEffect {
    /// The path, if it is known.
    #[serde(skip)]
    pub path: Option<LexPath>,
    /// The file for display.
    pub text: String,
    /// Whether it is read, or written (created, changed, deleted).
    pub access: Access,
    /// Whether it needs an allow of its own, besides that of the command: redirects, and options that write.
    pub own: bool,
    /// Whether it may include everything below the path.
    pub recursive: bool,
    /// Whether the path is certain. It is not after a `cd` that may have failed.
    pub certain: bool,
}

/// The weight of an unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// A value: which argument, which file. A rule that allows every command covers it.
    Value,
    /// Code: anything may run. A rule that allows every command covers it only where no rule restricts anything.
    Code,
    /// A person could not see what they approve. Always asks.
    Unseen,
}

/// A part of a command whose meaning is known only when it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Its kind: a stable kebab-case word.
    pub kind: &'static str,
    /// The part, as written.
    pub text: String,
    /// Its weight.
    pub weight: Weight,
    /// For an interpreter that receives code: the index of its command. An allow that names the interpreter covers the
    /// code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<usize>,
    /// For an option or operand that its program's row does not list: the index of the command, and that of the word. An
    /// allow or a grant that names the word covers it.
    #[serde(skip)]
    pub option: Option<(usize, usize)>,
    /// For a command whose settings lie where it runs: that folder. Where the call itself runs there, it is no unknown.
    #[serde(skip)]
    pub folder: Option<LexPath>,
}

impl Unknown {
    /// A part of which no more is known; long texts are cut.
    fn new(kind: &'static str, text: &str, weight: Weight) -> Self {
        let text = text.chars().take(80).collect();
        Self { kind, text, weight, interpreter: None, option: None, folder: None }
    }
}

/// The side effects of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SideEffects {
    /// The commands, in the order of the source.
    pub commands: Vec<Command>,
    /// The files.
    pub files: Vec<FileEffect>,
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// Files that a part which cannot be read may name. Only denies and the floor consider them.
    #[serde(skip)]
    pub suspects: Vec<FileEffect>,
    /// Hosts that options name.
    #[serde(skip)]
    pub hosts: Vec<String>,
    /// Texts that a program may take for code, as far as is known of it. Only denies consider them.
    #[serde(skip)]
    pub code_hints: Vec<String>,
    /// Texts that a program may take for files. Only denies consider them.
    #[serde(skip)]
    pub file_hints: Vec<String>,
}

/// What the reader of effects found in the line itself, in the order of the source, for the strict reader to compare.
#[cfg(feature = "shell")]
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// The words of each simple command.
    pub(super) commands: Vec<Vec<Word>>,
    /// The files of redirections.
    pub(super) targets: Vec<Word>,
    /// The names of variables that are set.
    pub(super) assigned: Vec<String>,
}

impl SideEffects {
    /// Suspects that a text names a file, which may be read or written.
    pub(crate) fn suspect(&mut self, text: &str, certain: bool) {
        for access in [Access::Read, Access::Write] {
            let path = Some(LexPath::read(text));
            let text = text.to_owned();
            self.suspects.push(FileEffect { path, text, access, own: false, recursive: false, certain });
        }
    }

    pub(crate) fn unknown(&mut self, kind: &'static str, text: &str, weight: Weight) {
        self.unknowns.push(Unknown::new(kind, text, weight));
    }
}

/// Reads a command line that starts in the folder `start`.
///
/// Never fails: whatever cannot be read is an unknown. Time and memory are bounded by [`MAX_CHARS`],
/// [`MAX_COMMANDS`] and [`MAX_DEPTH`].
#[must_use]
pub fn effects(command: &str, start: &LexPath) -> SideEffects {
    let mut found = read(command, start);
    // A carriage return or an escape sequence rewrites the line that the person sees.
    let unseen = |c: &char| is_unseen(*c) && !matches!(c, '\n' | '\t');
    if let Some(c) = hidden_in(command).or_else(|| command.chars().find(unseen)) {
        found.unknown("hidden-character", &c.escape_unicode().to_string(), Weight::Unseen);
    }
    found
}

#[cfg(feature = "shell")]
fn read(command: &str, start: &LexPath) -> SideEffects {
    let strict = strict::read(command);
    let (mut found, own) = walk::read(command, start, strict.as_ref().ok().map(|line| line.data));
    globs::loosen(&mut found, command);
    match strict {
        Ok(line) if strict::agrees(&line, &own) => {}
        Ok(line) => {
            found.unknown("two-readers", command, Weight::Code);
            // What either of them found may be denied.
            found.commands.extend(line.commands().map(|words| Command { words, role: Role::Guess }));
            line.files().for_each(|file| found.suspect(file, false));
        }
        Err(refused) => found.unknown("strict", refused.what, Weight::Value),
    }
    found
}

#[cfg(not(feature = "shell"))]
fn read(command: &str, _start: &LexPath) -> SideEffects {
    let mut found = SideEffects::default();
    found.unknown("no-shell-reader", command, Weight::Code);
    heuristics::guess(command, &mut found);
    found
}

/// The forms of a command that ask and deny compare: as written, with the program without its folder, and `git` without
/// the options before its subcommand.
pub(crate) fn forms(words: &[Word]) -> Vec<Vec<Word>> {
    let mut all = vec![words.to_vec()];
    let Some(program) = words.first().and_then(Word::get) else { return all };
    let base = super::argv::base_name(program);
    // On a case-insensitive disk, `RM` is `rm`.
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
