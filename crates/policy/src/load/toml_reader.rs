//! Helpers for TOML with spans: a typed value, or a diagnostic with its place.

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

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

    /// Says where the first syntax error is: what follows from it is none of the author's. Of a key
    /// that is there twice, where it was before.
    pub(super) fn syntax(&mut self, errors: &[toml::de::Error]) {
        let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        let Some(first) = errors.iter().min_by_key(|error| at(error)) else { return };
        let mut message = first.message().to_owned();
        if message.contains("duplicate key") {
            let head = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
            let number = self.text.get(..at(first)).unwrap_or_default().matches('\n').count();
            let own = self.text.lines().nth(number).map(head).unwrap_or_default();
            if let Some(before) = self.text.lines().take(number).position(|line| head(line) == own) {
                message = format!("`{own}` is already defined in line {}", before + 1);
            }
        }
        self.error("policy-syntax", at(first), message, "fix the TOML; every call asks until then");
    }

    /// Says something that is true of the whole file, where it shows first.
    pub(super) fn note_once(&mut self, code: &'static str, at: usize, message: &str, help: &str) {
        if self.diagnostics.iter().all(|said| said.code != code) {
            self.diagnostics.push(Diagnostic::note(code, self.place(at), message).help(help));
        }
    }

    pub(super) fn unknown_key(&mut self, at: usize, key: &str, known: &str) {
        let is_of_rule = known.starts_with("decide ");
        let help = match nearest(key, known.split_whitespace(), 1).first() {
            Some(close) => format!("did you mean `{close}`?"),
            None if is_of_rule && matches!(key, "action" | "effect" | "decision" | "allow" | "deny") => {
                "did you mean `decide`?".to_owned()
            }
            // What stands below a table belongs to it, as TOML has it.
            None if matches!(key, "allow" | "ask" | "deny" | "redact") => {
                format!("write `{key}` above the first `[table]`: below one, it is a key of that table")
            }
            None => format!("the known keys are {}", known.replace(' ', ", ")),
        };
        self.error("policy-unknown-key", at, format!("unknown key `{key}`"), &help);
    }

    /// A value of a type, or a diagnostic.
    pub(super) fn value<'v, T: Deserialize<'v>>(
        &mut self,
        value: &'v Spanned<DeValue<'v>>,
        (code, message, help): (&'static str, &str, &str),
    ) -> Option<T> {
        let read = typed(value).ok();
        if read.is_none() {
            self.error(code, value.span().start, message, help);
        }
        read
    }

    /// A string, or a diagnostic.
    pub(super) fn text(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
        self.value(value, ("policy-type", &format!("`{key}` must be a string"), ""))
    }

    /// A list of strings, or a diagnostic. A single string counts as a list of one.
    pub(super) fn texts(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<Vec<String>> {
        match value.get_ref().as_str() {
            Some(text) => Some(vec![text.to_owned()]),
            None => self.value(value, ("policy-type", &format!("`{key}` must be a list of strings"), "")),
        }
    }
}

/// A value as a type.
///
/// # Errors
/// What does not fit, with its place.
pub(super) fn typed<'v, T: Deserialize<'v>>(value: &'v Spanned<DeValue<'v>>) -> Result<T, toml::de::Error> {
    T::deserialize(ValueDeserializer::from(value.clone()))
}
