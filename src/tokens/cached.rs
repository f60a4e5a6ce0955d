//! Counts repeated words only once.

use std::cell::RefCell;
use std::collections::HashMap;

use super::encoding::TokenCounter;

/// The maximum number of cached pieces; tens of thousands cover nearly all tool texts.
const MOST_PIECES: usize = 200_000;
/// The maximum length of a cached piece, in bytes.
const LONGEST_PIECE: usize = 48;

/// A counter that caches the counts of text pieces. A text is split wherever counts add up
/// ([`TokenCounter::splits_between`]), about once per word, and most words of tool texts repeat.
/// Every count equals that of the wrapped counter.
#[derive(Debug)]
pub struct Cached<C> {
    counter: C,
    seen: RefCell<HashMap<Box<str>, usize>>,
}

impl<C: TokenCounter> Cached<C> {
    /// Caches the counts of this counter.
    #[must_use]
    pub fn new(counter: C) -> Self {
        Self { counter, seen: RefCell::default() }
    }

    fn piece(&self, piece: &str) -> usize {
        if piece.len() > LONGEST_PIECE {
            return self.counter.count(piece);
        }
        if let Some(known) = self.seen.borrow().get(piece) {
            return *known;
        }
        let count = self.counter.count(piece);
        let mut seen = self.seen.borrow_mut();
        if seen.len() < MOST_PIECES {
            seen.insert(piece.into(), count);
        }
        count
    }
}

impl<C: TokenCounter> TokenCounter for Cached<C> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> usize {
        let (mut count, mut start) = (0, 0);
        let mut before: Option<char> = None;
        for (at, c) in text.char_indices() {
            if before.is_some_and(|before| self.counter.splits_between(before, c)) {
                count += self.piece(text.get(start..at).unwrap_or_default());
                start = at;
            }
            before = Some(c);
        }
        count + self.piece(text.get(start..).unwrap_or_default())
    }

    fn splits_between(&self, before: char, after: char) -> bool {
        self.counter.splits_between(before, after)
    }
}

#[cfg(all(test, feature = "tiktoken"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{Encoding, Tiktoken};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

        #[test]
        fn what_is_remembered_counts_the_same(
            words in proptest::collection::vec("[a-zA-Z0-9'/_ .,:{}\"\\n\\t设置é#-]{0,12}", 0..40),
            encoding in prop_oneof![Just(Encoding::O200kBase), Just(Encoding::Cl100kBase)],
        ) {
            let text = words.concat();
            let (plain, cached) = (Tiktoken::new(encoding), Cached::new(Tiktoken::new(encoding)));
            prop_assert_eq!(cached.count(&text), plain.count(&text));
            prop_assert_eq!(cached.count(&text), plain.count(&text), "a second time");
        }
    }

    #[test]
    fn long_pieces_are_not_kept() {
        let cached = Cached::new(Tiktoken::new(Encoding::O200kBase));
        let long = "x".repeat(LONGEST_PIECE + 1);
        assert_eq!(cached.count(&long), Tiktoken::new(Encoding::O200kBase).count(&long));
        assert!(cached.seen.borrow().is_empty());
    }
}
