//! What a program is, besides its options and operands.

#![deny(dead_code)]

use serde::de::value::MapDeserializer;
use serde::{Deserialize, Deserializer};

use super::words::Words;

/// What a program is: the words of the key `is`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Kinds {
    /// It adds words from its input to a command: `xargs`.
    pub(crate) adds_arguments: bool,
    /// It reads the language of `awk`.
    pub(crate) awk: bool,
    /// Its first word holds letters of options: `tar xf`.
    pub(crate) bundled_letters: bool,
    /// Its letters can be combined, for ask and deny.
    pub(crate) clusters: bool,
    /// It starts commands on another machine or in a container.
    pub(crate) elsewhere: bool,
    /// It reads the expressions of `find`.
    pub(crate) finds: bool,
    /// It runs code that it receives.
    pub(crate) interpreter: bool,
    /// It joins its words to a command line for a shell: `watch`.
    pub(crate) joins_words: bool,
    /// It starts a program named in its words.
    pub(crate) launcher: bool,
    /// A launcher that is often used for something else.
    pub(crate) often_other: bool,
    /// Its expressions may name files that it reads: `load("a.yml")`.
    pub(crate) loads_files: bool,
    /// It only reads, unless `not_read_only` lists an option that it has.
    pub(crate) only_reads: bool,
    /// A subcommand of a launcher that only shows something.
    pub(crate) only_shows: bool,
    /// It runs a command as another user.
    pub(crate) other_user: bool,
    /// Settings in the working directory make it run something.
    pub(crate) own_settings: bool,
    /// Operands with a slash choose another folder.
    pub(crate) path_operands: bool,
    /// Operands with a pipe are commands: `convert '|ls'`.
    pub(crate) pipe_operands: bool,
    /// It gives a command more rights.
    pub(crate) privileged: bool,
    /// It reads code from its input, where that is not the terminal.
    pub(crate) reads_code: bool,
    /// It reads commands for a shell from its input.
    pub(crate) reads_commands: bool,
    /// An interpreter whose input is data.
    pub(crate) reads_data: bool,
    /// Its words name no file that it reads, besides those that its row covers.
    pub(crate) reads_nothing: bool,
    /// It reads a timetable of commands from its input.
    pub(crate) reads_timetable: bool,
    /// It reads archives on other machines, by a program that it starts.
    pub(crate) remote_archives: bool,
    /// A shell on another machine reads its words again.
    pub(crate) remote_words: bool,
    /// An operand `@file` holds options.
    pub(crate) response_files: bool,
    /// It runs its operands.
    pub(crate) runs_arguments: bool,
    /// It reads the language of `sed`.
    pub(crate) sed: bool,
    /// It runs a command of the shell in the shell itself: `builtin`.
    pub(crate) same_shell: bool,
    /// It sets environment variables for a command: `env`.
    pub(crate) sets_environment: bool,
    /// Its operands set variables: `make`.
    pub(crate) sets_variables: bool,
    /// It is a shell.
    pub(crate) shell: bool,
    /// It shows or copies all files of a repository.
    pub(crate) shows_all: bool,
    /// It shows files of a revision.
    pub(crate) shows_files: bool,
    /// Options with a slash: `msbuild /p:x=y`.
    pub(crate) slash_options: bool,
    /// It may start a program that it does not name.
    pub(crate) starter: bool,
    /// It only reads, with any operands and options.
    pub(crate) takes_any: bool,
    /// Its words are text for another shell: `cmd`.
    pub(crate) takes_text: bool,
    /// A wrapper of whose command it adds nothing.
    pub(crate) transparent: bool,
    /// It starts another program after its own options.
    pub(crate) wrapper: bool,
    /// A wrapper that writes no file itself, and runs its command on this machine, where it can be
    /// judged.
    pub(crate) writes_nothing: bool,
    /// It writes what its operands name and nothing else, unless it has an option of `writes_more`.
    /// For undo.
    pub(crate) writes_operands: bool,
}

/// The kinds of a program, from words.
pub(super) fn read_kinds<'de, D: Deserializer<'de>>(words: D) -> Result<Kinds, D::Error> {
    let words = Words::deserialize(words)?;
    Kinds::deserialize(MapDeserializer::new(words.iter().map(|word| (word, true))))
}
