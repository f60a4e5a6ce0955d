//! The token counts of lists of tools: the host's meter counts each text once.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

const REMEMBERED: usize = 64;

/// A named token counter. The gateway has no vocabulary; the command provides the counter.
#[derive(Clone)]
pub struct Meter {
    name: Arc<str>,
    count: Arc<dyn Fn(&str) -> usize + Send + Sync>,
}

impl Meter {
    /// A meter with a name, such as `json/o200k_base`.
    #[must_use]
    pub fn new(name: &str, count: impl Fn(&str) -> usize + Send + Sync + 'static) -> Self {
        Self { name: name.into(), count: Arc::new(count) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn count_tokens(&self, text: &str) -> usize {
        (self.count)(text)
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Meter").field(&self.name).finish()
    }
}

/// Identifies a text by hash and length. A collision only shows a wrong count on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text {
    hash: u64,
    pub(super) bytes: usize,
}

impl Text {
    pub(super) fn hashed(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { hash: hasher.finish(), bytes: text.len() }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Known(usize),
    /// Another task is counting it.
    Underway,
    /// The caller counts it now.
    Now,
}

/// The known and pending counts.
#[derive(Debug, Default)]
pub(super) struct Counts(VecDeque<(Text, Option<usize>)>);

impl Counts {
    pub(super) fn begin(&mut self, text: Text) -> Begun {
        match self.0.iter().find(|(own, _)| *own == text) {
            Some((_, Some(tokens))) => Begun::Known(*tokens),
            Some((_, None)) => Begun::Underway,
            None => {
                if self.0.len() >= REMEMBERED {
                    self.0.pop_front();
                }
                self.0.push_back((text, None));
                Begun::Now
            }
        }
    }

    pub(super) fn done(&mut self, text: Text, tokens: usize) {
        if let Some((_, own)) = self.0.iter_mut().find(|(own, _)| *own == text) {
            *own = Some(tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_counted_once() {
        let mut counts = Counts::default();
        let text = Text::hashed("[]");
        assert_eq!(counts.begin(text), Begun::Now);
        assert_eq!(counts.begin(text), Begun::Underway);
        counts.done(text, 1);
        assert_eq!(counts.begin(text), Begun::Known(1));
        for n in 0..1_000 {
            counts.begin(Text::hashed(&n.to_string()));
        }
        assert_eq!((counts.0.len(), counts.begin(text)), (REMEMBERED, Begun::Now));
    }
}
