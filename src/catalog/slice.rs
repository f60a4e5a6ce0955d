//! Slices of a shared text.

use std::ops::Deref;
use std::sync::Arc;

/// A slice of a shared text: a tool's schema is stored as a range of the tool's text, not as a
/// copy.
#[derive(Debug, Clone)]
pub(super) struct Slice {
    text: Arc<str>,
    start: usize,
    end: usize,
}

impl Slice {
    /// The whole of a text.
    pub(super) fn whole_text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { start: 0, end: text.len(), text }
    }

    /// The range of `part` in `text`. If `part` was not borrowed from `text`, a copy of it.
    pub(super) fn range_of(text: &Arc<str>, part: &str) -> Self {
        let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let end = start.wrapping_add(part.len());
        match text.get(start..end) {
            Some(_) => Self { text: text.clone(), start, end },
            None => Self::whole_text(part),
        }
    }
}

impl Deref for Slice {
    type Target = str;

    fn deref(&self) -> &str {
        // The constructors took the range from this text, so the slice always exists.
        self.text.get(self.start..self.end).unwrap_or(&self.text)
    }
}
