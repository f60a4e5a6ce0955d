//! Diagnostics: what is wrong with an input, where, and how to fix it.
//!
//! Loaders never stop at the first error and never print. They return what they could read together
//! with all diagnostics ([`Loaded`]). The caller decides whether an error ends the program.

mod invisible;

pub use invisible::{Invisible, hidden_in, invisible, is_invisible, visible};

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something was ignored or assumed.
    Note,
    /// Probably a mistake; the input is used nevertheless.
    Warning,
    /// The named part was not used.
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

/// The place of a problem. Every part is optional; the known parts are printed as
/// `file:line:column` followed by the path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Place {
    /// The file as the user named it; `-` is standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
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

    /// Sets line and column from a byte offset of the file's text. An offset beyond the end refers
    /// to the end.
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

    /// Sets line and column, both counted from 1.
    #[must_use]
    pub fn line_column(mut self, line: usize, column: usize) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Sets the path inside the document.
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
            Some(path) if parts.is_empty() => f.write_str(&bounded(&visible(path), MAX_CHARS)),
            Some(path) => write!(f, " at {}", bounded(&visible(path), MAX_CHARS)),
            None => Ok(()),
        }
    }
}

/// The maximum number of characters of a message or a path: an input whose key is a whole
/// description would otherwise fill the screen.
const MAX_CHARS: usize = 480;

/// The same of a help, which may list all settings that are known.
const MAX_HELP_CHARS: usize = 4_000;

/// The text, without its middle if it is longer than `most` characters. The end remains, because
/// it often states what is wrong with the quoted input before it.
fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    let tail = most / 3;
    let mut ends = text.char_indices().map(|(at, _)| at);
    let Some(head) = ends.nth(most - tail).filter(|_| text.chars().nth(most).is_some()) else {
        return text.into();
    };
    let tail = text.char_indices().rev().nth(tail - 2).map_or(text.len(), |(at, _)| at);
    format!("{}…{}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default()).into()
}

/// A problem or a remark about an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Diagnostic {
    /// A stable kebab-case code, unique to the kind of problem.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The place of the problem.
    pub place: Place,
    /// What is wrong: lower case, user input in backticks, no full stop. As it is created, at most
    /// 480 characters; `…` replaces the middle of a longer one.
    pub message: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error.
    #[must_use]
    pub fn error(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, place, message)
    }

    /// Creates a warning.
    #[must_use]
    pub fn warning(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, place, message)
    }

    /// Creates a note.
    #[must_use]
    pub fn note(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, place, message)
    }

    fn new(code: &'static str, severity: Severity, place: Place, message: impl Into<String>) -> Self {
        Self { code, severity, place, message: bounded(&message.into(), MAX_CHARS).into_owned(), help: None }
    }

    /// Adds how to fix the problem.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(bounded(&help.into(), MAX_HELP_CHARS).into_owned());
        self
    }

    /// Whether the severity is [`Severity::Error`].
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::error::Error for Diagnostic {}

impl fmt::Display for Diagnostic {
    /// `error[code] file:3:1 at /0/name: message (help)`, on one line, with invisible characters
    /// escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity, self.code)?;
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, " {place}")?;
        }
        // Bounded once more, because an invisible character becomes an escape of eight.
        write!(f, ": {}", bounded(&visible(&self.message), MAX_CHARS))?;
        match &self.help {
            Some(help) => write!(f, " ({})", bounded(&visible(help), MAX_HELP_CHARS)),
            None => Ok(()),
        }
    }
}

/// Why a text or a value is not valid. The message is one line that states what is wrong and what
/// is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(String);

impl From<String> for InvalidValue {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for InvalidValue {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

/// A value that was read, with all diagnostics in the order of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Loaded<T> {
    /// The value. Parts named by error diagnostics are absent from it.
    pub value: T,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Loaded<T> {
    /// Whether any diagnostic is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns the value if no diagnostic is an error.
    ///
    /// # Errors
    /// Returns all diagnostics if at least one of them is an error.
    pub fn into_result(self) -> Result<T, LoadError> {
        if self.has_errors() { Err(LoadError(self.diagnostics)) } else { Ok(self.value) }
    }
}

/// The diagnostics of a failed load, in the order of the input, at least one of them an error.
/// Displayed one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError(pub Vec<Diagnostic>);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_keeps_its_start_and_its_end() {
        for length in [0, MAX_CHARS - 8, MAX_CHARS, 100_000] {
            let shown =
                Diagnostic::error("long", Place::default(), format!("key `{}` is bad", "é".repeat(length))).message;
            assert!(shown.starts_with("key `") && shown.ends_with("` is bad"), "{shown}");
            assert_eq!(shown.chars().count(), (length + 13).min(MAX_CHARS));
            assert_eq!(shown.contains('…'), length + 13 > MAX_CHARS);
        }
    }

    #[test]
    fn escapes_count_as_they_are_shown() {
        let hidden = "\u{202e}".repeat(1_000);
        let place = Place::default().path(&*hidden);
        let line = Diagnostic::error("hidden", place, hidden).to_string();
        assert!(line.chars().count() < 2 * MAX_CHARS + 40, "{line}");
    }

    #[test]
    fn a_help_may_list_every_setting() {
        let known = "presentation.lookups_required_write, ".repeat(60);
        let help = Diagnostic::error("unknown-key", Place::default(), "").help(known.as_str()).help;
        assert_eq!(help.as_deref(), Some(known.as_str()));
    }
}
