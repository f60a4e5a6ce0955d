//! Helpers for TOML with spans: a typed value, or a diagnostic with its place.

use toml::Spanned;
use toml::de::DeValue;

use crate::diagnostic::{Diagnostic, Place};
use crate::name::nearest;

/// The file being read, and its diagnostics so far.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(super) fn place(&self, at: usize) -> Place {
        Place::file(self.file).at(self.text, at)
    }

    pub(super) fn error(&mut self, code: &'static str, at: usize, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(code, self.place(at), message);
        self.diagnostics.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Says something that is true of the whole file, where it shows first.
    pub(super) fn note_once(&mut self, code: &'static str, at: usize, message: &str, help: &str) {
        if self.diagnostics.iter().all(|said| said.code != code) {
            self.diagnostics.push(Diagnostic::note(code, self.place(at), message).help(help));
        }
    }

    pub(super) fn unknown_key(&mut self, at: usize, key: &str, known: &[&str]) {
        let help = match nearest(key, known.iter().copied(), 1).first() {
            Some(close) => format!("did you mean `{close}`?"),
            // What stands below a table belongs to it, as TOML has it.
            None if matches!(key, "allow" | "ask" | "deny" | "redact") => {
                format!("write `{key}` above the first `[table]`: below one, it is a key of that table")
            }
            None => format!("the known keys are {}", known.join(", ")),
        };
        self.error("policy-unknown-key", at, format!("unknown key `{key}`"), &help);
    }

    pub(super) fn text_of<'v>(&self, value: &'v Spanned<DeValue<'_>>) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            _ => None,
        }
    }

    /// A string, or a diagnostic.
    pub(super) fn text(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
        let text = self.text_of(value).map(str::to_owned);
        if text.is_none() {
            self.error("policy-type", value.span().start, format!("`{key}` must be a string"), "");
        }
        text
    }

    /// A list of strings, or a diagnostic. A single string counts as a list of one.
    pub(super) fn texts(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<Vec<String>> {
        if let Some(text) = self.text_of(value) {
            return Some(vec![text.to_owned()]);
        }
        let items = match value.get_ref() {
            DeValue::Array(items) => {
                items.iter().map(|i| self.text_of(i).map(str::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        if items.is_none() {
            self.error("policy-type", value.span().start, format!("`{key}` must be a list of strings"), "");
        }
        items
    }
}
