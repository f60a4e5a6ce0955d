//! Diagnostics collected while reading a list.

use crate::diagnostic::{Diagnostic, Place};

/// The maximum number of diagnostics reported individually; the rest are only counted. Bounds the
/// cost of a hostile list, which would otherwise be quadratic.
pub(super) const MAX_DIAGNOSTICS: usize = 50;

/// Collects diagnostics up to a limit and counts the rest.
pub(super) struct Notes<'t> {
    text: &'t str,
    file: &'t str,
    list: Vec<Diagnostic>,
    more: usize,
    more_errors: bool,
}

impl<'t> Notes<'t> {
    pub(super) fn new(text: &'t str, file: &'t str) -> Self {
        Self { text, file, list: Vec::new(), more: 0, more_errors: false }
    }

    fn full(&self) -> bool {
        self.list.len() >= MAX_DIAGNOSTICS
    }

    /// Adds a diagnostic about a part of the text and sets its place. A path that it has is relative
    /// to `path`.
    pub(super) fn push_at(&mut self, mut diagnostic: Diagnostic, part: &str, path: &str) {
        if !self.full() {
            // Parts are slices of the text, so the difference of their addresses is the offset.
            let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
            let path = format!("{path}{}", diagnostic.place.path.unwrap_or_default());
            diagnostic.place = Place::file(self.file).path(path).at(self.text, offset);
        }
        self.push(diagnostic);
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.full() {
            self.more += 1;
            self.more_errors |= diagnostic.is_error();
        } else {
            self.list.push(diagnostic);
        }
    }

    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.more > 0 {
            let message = format!("{} more like these are not shown", self.more);
            let place = Place::file(self.file);
            self.list.push(if self.more_errors {
                Diagnostic::error("more", place, message)
            } else {
                Diagnostic::note("more", place, message)
            });
        }
        self.list
    }
}

/// A diagnostic whose place is filled in by the caller.
pub(super) fn fault(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, Place::default(), message)
}

pub(super) fn caution(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(code, Place::default(), message)
}

pub(super) fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::note(code, Place::default(), message)
}

pub(super) fn bad_tool(why: String) -> Diagnostic {
    fault("bad-tool", why).help("fix the tool's definition; it was not imported")
}
