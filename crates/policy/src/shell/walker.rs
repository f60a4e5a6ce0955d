//! The state of the walk over a command line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::piped_files::PipedFiles;
use super::place::Place;
use super::side_effects::SideEffects;

/// The standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// Inherited from the host.
    #[default]
    Inherited,
    /// Text in the line. `None`: it is known only when it runs.
    Text(Option<String>),
    /// The output of the command before the pipe, where that is certain.
    Pipe(Option<String>),
    /// A file.
    File,
}

impl Input {
    /// What it is, where that is certain.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Pipe(text) => text.as_deref(),
            Self::Inherited | Self::File => None,
        }
    }
}

#[derive(Default)]
pub(super) struct Walker {
    pub(super) found: SideEffects,
    /// Values that the line itself assigns, where they are certain. For guesses only.
    pub(super) variables: BTreeMap<String, String>,
    /// The names that the line sets to something that may be no number, and those that arithmetic
    /// evaluates.
    pub(super) set: BTreeSet<String>,
    pub(super) evaluated: BTreeSet<String>,
    pub(super) functions: Vec<String>,
    pub(super) place: Place,
    pub(super) depth: usize,
    /// Text printed by the command before the pipe, where certain: what a shell after it would
    /// read.
    pub(super) piped: Option<String>,
    /// The files that the latest command prints, and those that the command before the pipe
    /// printed.
    pub(super) printed_files: Option<PipedFiles>,
    pub(super) piped_files: Option<PipedFiles>,
    /// Text that the latest simple command reads, where certain.
    pub(super) read: Option<String>,
    /// The output of the latest `<(…)`, where certain.
    pub(super) substituted: Option<String>,
    /// Whether the commands being read only may run.
    pub(super) supposing: bool,
    /// Whether the command that is read has an input of its own.
    pub(super) has_input: bool,
    /// The input of the commands in the enclosing group, unless they redirect it.
    pub(super) input: Input,
    pub(super) limited: bool,
    pub(super) line: Arc<str>,
}

impl Walker {
    /// Walks a part and restores the folder: commands in a subshell change only its folder.
    pub(super) fn apart<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let place = self.place.clone();
        let result = walk(self);
        self.place = place;
        result
    }

    /// What is read only may run.
    pub(super) fn supposing(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.supposing, true);
        walk(self);
        self.supposing = before;
    }

    /// A variable gets a value for guesses, or none that is certain.
    pub(super) fn set_variable(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.variables.insert(name.to_owned(), value)),
            None => drop(self.variables.remove(name)),
        }
    }
}
