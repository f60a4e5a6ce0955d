//! The crate's one error: opaque, with a kind to match on and the diagnostics behind it.

use std::fmt;

use crate::diagnostic::Diagnostic;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A catalogue could not be read whole.
    Catalog,
    /// A profile could not be read whole, or does not fit its catalogue.
    Profile,
    /// The parts given to an engine do not fit together.
    Engine,
}

/// Why an operation gave nothing back. Holds at least one diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// An error of a kind with what was noticed.
    #[must_use]
    pub fn new(kind: ErrorKind, diagnostics: Vec<Diagnostic>) -> Self {
        Self { kind, diagnostics }
    }

    /// What kind of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Everything that was noticed, errors and lesser, in the order of the input.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether a catalogue could not be read whole.
    #[must_use]
    pub fn is_catalog(&self) -> bool {
        self.kind == ErrorKind::Catalog
    }

    /// Whether a profile could not be read whole.
    #[must_use]
    pub fn is_profile(&self) -> bool {
        self.kind == ErrorKind::Profile
    }

    /// Whether the parts given to an engine do not fit together.
    #[must_use]
    pub fn is_engine(&self) -> bool {
        self.kind == ErrorKind::Engine
    }
}

impl fmt::Display for Error {
    /// Every error diagnostic on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.diagnostics.iter().filter(|d| d.is_error());
        if let Some(first) = errors.next() {
            write!(f, "{first}")?;
        }
        errors.try_for_each(|d| write!(f, "\n{d}"))
    }
}

impl std::error::Error for Error {}
