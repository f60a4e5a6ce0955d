//! What a list of tools costs: counted by the host's meter, each text once.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// How many texts have their figure remembered.
const REMEMBERED: usize = 64;

/// Something that counts tokens, and its name. The gateway has no vocabulary of its own: the command brings one.
#[derive(Clone)]
pub struct Meter {
    name: Arc<str>,
    count: Arc<dyn Fn(&str) -> usize + Send + Sync>,
}

impl Meter {
    /// A meter by its name, such as `json/o200k_base`.
    #[must_use]
    pub fn new(name: &str, count: impl Fn(&str) -> usize + Send + Sync + 'static) -> Self {
        Self { name: name.into(), count: Arc::new(count) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn count_tokens(&self, text: &str) -> usize {
        (self.count)(text)
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Meter").field(&self.name).finish()
    }
}

/// Which text: its hash and its length. Two that are taken for one cost a wrong figure on a page, and nothing else.
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

/// What becomes of a text that is to be counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It is known.
    Known(usize),
    /// Somebody counts it.
    Underway,
    /// Whoever asked counts it.
    Now,
}

/// The figures that are known, or come.
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
