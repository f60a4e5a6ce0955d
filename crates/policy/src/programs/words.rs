//! The words of a key.

use serde::Deserialize;

/// The words of a key, separated by blanks.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Words(Box<str>);

impl Words {
    pub(crate) fn iter(&self) -> std::str::SplitWhitespace<'_> {
        self.0.split_whitespace()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a word is this text.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.iter().any(|own| own == text)
    }

    /// Whether a word is this text, or is a front of it that ends in `*`.
    pub(crate) fn fit(&self, text: &str) -> bool {
        self.iter().any(|own| fits(own, text))
    }
}

/// Whether a text is a word of a key, or begins like one that ends in `*`.
pub(crate) fn fits(own: &str, text: &str) -> bool {
    if let Some(front) = own.strip_suffix('*') { text.starts_with(front) } else { own == text }
}
