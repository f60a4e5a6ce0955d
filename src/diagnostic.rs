//! Diagnostics: what is wrong with an input, where, and what to do about it.
//!
//! Loaders never stop at the first mistake and never print: they give back what they could read together with
//! everything they noticed ([`Loaded`]). Whether an error ends the program is the caller's decision.

mod invisible;

pub use invisible::{Invisible, hidden_in, invisible, is_invisible, visible};

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something that was left out or assumed, worth knowing.
    Note,
    /// Probably a mistake; the input is used all the same.
    Warning,
    /// Meaning is lost: the part named was not used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Where it is. Every part is optional; what is known is printed as `file:line:column` and then the path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file as the user named it; `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// A JSON Pointer (RFC 6901) or a dotted key inside the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Place {
    /// A place in a named file.
    #[must_use]
    pub fn file(file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    /// The same file at the given byte offset of its text. An offset beyond the end means the end.
    #[must_use]
    pub fn at(mut self, text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or_default();
        self.line = Some(before.matches('\n').count() + 1);
        self.column = Some(before.rsplit('\n').next().unwrap_or_default().chars().count() + 1);
        self
    }

    /// The same file at a line and column, both counted from 1.
    #[must_use]
    pub fn line_column(mut self, line: usize, column: usize) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// The same place with a path inside the document.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(file) = &self.file {
            parts.push(visible(file).into_owned());
        }
        if let Some(line) = self.line {
            parts.push(line.to_string());
            parts.extend(self.column.map(|c| c.to_string()));
        }
        f.write_str(&parts.join(":"))?;
        match &self.path {
            Some(path) if parts.is_empty() => f.write_str(&visible(path)),
            Some(path) => write!(f, " at {}", visible(path)),
            None => Ok(()),
        }
    }
}

/// One thing that is wrong or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// A stable kebab-case code, unique to the kind of problem.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// What is wrong: lower case, user input in backticks, no full stop.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn error(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, place, message)
    }

    /// A warning at a place.
    #[must_use]
    pub fn warning(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, place, message)
    }

    /// A note at a place.
    #[must_use]
    pub fn note(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, place, message)
    }

    fn new(code: &'static str, severity: Severity, place: Place, message: impl Into<String>) -> Self {
        Self { code, severity, place, message: message.into(), help: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Whether meaning was lost.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::error::Error for Diagnostic {}

impl fmt::Display for Diagnostic {
    /// `error[code] file:3:1 at /0/name: message (help)`, on one line, with invisible characters made visible.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.code)?;
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, " {place}")?;
        }
        write!(f, ": {}", visible(&self.message))?;
        match &self.help {
            Some(help) => write!(f, " ({})", visible(help)),
            None => Ok(()),
        }
    }
}

/// What could be read, and everything noticed on the way, in the order of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loaded<T> {
    /// What could be read. Parts named by error diagnostics are absent from it.
    pub value: T,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Loaded<T> {
    /// Whether any diagnostic is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All or nothing: the value if nothing was lost.
    ///
    /// # Errors
    /// All diagnostics, if at least one of them is an error.
    pub fn into_result(self) -> Result<T, LoadError> {
        if self.has_errors() { Err(LoadError(self.diagnostics)) } else { Ok(self.value) }
    }
}

/// Why something was not loaded: every diagnostic, at least one of them an error. Displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError(Vec<Diagnostic>);

impl LoadError {
    /// The diagnostics, in the order of the input.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0
    }

    /// The diagnostics, in the order of the input.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}
