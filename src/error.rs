//! The crate's error type: a kind to match on, and the diagnostics that caused it.

use std::fmt;

use crate::diagnostic::Diagnostic;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A catalog is invalid.
    Catalog,
    /// A profile is invalid, or does not match its catalog.
    Profile,
    /// The parts of an engine are incompatible.
    Engine,
}

/// An error with at least one diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// All diagnostics, including warnings and notes, in the order of the input.
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// Creates an error from its diagnostics.
    #[must_use]
    pub(crate) fn new(kind: ErrorKind, diagnostics: Vec<Diagnostic>) -> Self {
        Self { kind, diagnostics }
    }
}

impl fmt::Display for Error {
    /// Writes every error diagnostic on its own line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.diagnostics.iter().filter(|d| d.is_error());
        if let Some(first) = errors.next() {
            write!(f, "{first}")?;
        }
        errors.try_for_each(|d| write!(f, "\n{d}"))
    }
}

impl std::error::Error for Error {}
