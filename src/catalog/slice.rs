//! Parts of a shared text.

use std::ops::Deref;
use std::sync::Arc;

/// A part of a text that others hold too: a tool's schema is not stored beside the tool's text but in it.
#[derive(Debug, Clone)]
pub(super) struct Slice {
    text: Arc<str>,
    start: usize,
    end: usize,
}

impl Slice {
    /// A whole text.
    pub(super) fn whole(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { start: 0, end: text.len(), text }
    }

    /// `part`, which was borrowed from `text`; a copy of it if it was not.
    pub(super) fn of(text: &Arc<str>, part: &str) -> Self {
        let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let end = start.wrapping_add(part.len());
        match text.get(start..end) {
            Some(_) => Self { text: text.clone(), start, end },
            None => Self::whole(part),
        }
    }
}

impl Deref for Slice {
    type Target = str;

    fn deref(&self) -> &str {
        // The constructors took the range from this very text, so that it is always there.
        self.text.get(self.start..self.end).unwrap_or(&self.text)
    }
}
