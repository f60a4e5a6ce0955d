//! The tokens of a vocabulary, found by their bytes.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use tiktoken_rs::Rank;

/// The number of single-byte tokens.
const BYTES: usize = 256;

/// A slot without a token. No vocabulary has that many.
const EMPTY: Rank = Rank::MAX;

/// The high byte of a rank that says that the token is no common one.
const PAIR: u8 = u8::MAX;

/// The tokens in the order of their ranks, one after the other, and a hash table of the ranks with
/// linear probing, at most half full. A `HashMap` of 200,000 vectors would take 50 ms to load in
/// each process that counts tokens (debug build).
pub(super) struct Tokens {
    text: Vec<u8>,
    /// The end of each token in the text.
    ends: Vec<u32>,
    /// A power of two of ranks, or [`EMPTY`].
    slots: Vec<Rank>,
}

impl Tokens {
    /// Unpacks a vocabulary: the single-byte tokens in the order of their ranks, which are the
    /// first, and the [pairs](pairs) of the others. A damaged vocabulary has the tokens before the
    /// damage.
    pub(super) fn unpack(packed: &[u8]) -> Self {
        Self::listed(packed).indexed()
    }

    /// The tokens of [`unpack`](Self::unpack) by rank only.
    pub(super) fn listed(packed: &[u8]) -> Self {
        let (bytes, tables) = packed.split_at_checked(BYTES).unwrap_or_default();
        let mut tokens = Self::of_bytes(bytes);
        for (first, second) in pairs(tables) {
            if tokens.join(first, second).is_none() {
                break;
            }
        }
        tokens
    }

    /// Unpacks a vocabulary of `count` tokens beside another one. After the single-byte tokens,
    /// three tables have the ranks of the tokens there: the high bytes, or [`PAIR`] for a token
    /// that is not there; then the low bytes and the middle bytes of those that are. The
    /// [pairs](pairs) of the others follow.
    pub(super) fn unpack_beside(common: &Self, packed: &[u8], count: usize) -> Self {
        let (bytes, tables) = packed.split_at_checked(BYTES).unwrap_or_default();
        let (highs, tables) = tables.split_at_checked(count.saturating_sub(BYTES)).unwrap_or_default();
        let shared = highs.iter().filter(|high| **high != PAIR).count();
        let (lows, tables) = tables.split_at_checked(shared).unwrap_or_default();
        let (middles, tables) = tables.split_at_checked(shared).unwrap_or_default();
        let (mut shared, mut pairs) = (lows.iter().zip(middles), pairs(tables));
        let mut tokens = Self::of_bytes(bytes);
        let mut add = |high: u8| match high {
            PAIR => pairs.next().and_then(|(first, second)| tokens.join(first, second)),
            _ => {
                let (low, middle) = shared.next()?;
                let text = common.text.get(common.range(rank(*low, *middle, high))?)?;
                tokens.text.extend_from_slice(text);
                tokens.ends.push(tokens.text.len() as u32);
                Some(())
            }
        };
        // Up to the damage, if there is any.
        let _ = highs.iter().try_for_each(|high| add(*high));
        tokens.indexed()
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self { text: bytes.to_vec(), ends: (1..=bytes.len() as u32).collect(), slots: Vec::new() }
    }

    /// Adds a token that consists of two others.
    fn join(&mut self, first: usize, second: usize) -> Option<()> {
        let (first, second) = (self.range(first)?, self.range(second)?);
        self.text.extend_from_within(first);
        self.text.extend_from_within(second);
        self.ends.push(self.text.len() as u32);
        Some(())
    }

    fn indexed(mut self) -> Self {
        let mut slots = vec![EMPTY; (2 * self.ends.len()).next_power_of_two()];
        for (token, rank) in self.iter().zip(0..) {
            let mut at = start(token, slots.len());
            while let Some(slot) = slots.get_mut(at) {
                if *slot == EMPTY {
                    *slot = rank;
                    break;
                }
                at = (at + 1) & (slots.len() - 1);
            }
        }
        self.slots = slots;
        self
    }

    /// The tokens in the order of their ranks.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().map(move |end| {
            let token = self.text.get(begin..*end as usize).unwrap_or_default();
            begin = *end as usize;
            token
        })
    }

    /// The rank of a token. `None`: these bytes are no token.
    pub(super) fn rank(&self, token: &[u8]) -> Option<Rank> {
        let mut at = start(token, self.slots.len());
        loop {
            let rank = self.slots.get(at).copied().filter(|rank| *rank != EMPTY)?;
            if self.range(rank as usize).and_then(|range| self.text.get(range)) == Some(token) {
                return Some(rank);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The number of tokens of a piece of at least two bytes. As long as two neighbours together
    /// are a token, the pair with the lowest rank is joined, and the first of several such pairs.
    pub(super) fn merge(&self, piece: &[u8]) -> usize {
        let mut bounds: Vec<usize> = (0..=piece.len()).collect();
        let joined = |bounds: &[usize], at: usize| {
            let range = bounds.get(at).zip(bounds.get(at + 2));
            range.and_then(|(start, end)| self.rank(piece.get(*start..*end)?)).unwrap_or(EMPTY)
        };
        // The rank of each part together with the next one.
        let mut ranks: Vec<Rank> = (0..piece.len().saturating_sub(1)).map(|at| joined(&bounds, at)).collect();
        while let Some((at, rank)) = ranks.iter().copied().enumerate().min_by_key(|(_, rank)| *rank) {
            if rank == EMPTY {
                break;
            }
            bounds.remove(at + 1);
            ranks.remove(at);
            for changed in at.saturating_sub(1)..=at {
                if let Some(rank) = ranks.get_mut(changed) {
                    *rank = joined(&bounds, changed);
                }
            }
        }
        bounds.len() - 1
    }

    /// The place of a token in the text.
    fn range(&self, rank: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(rank)? as usize;
        let start = rank.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        Some(start..end)
    }
}

/// The slot from which a token is looked for, of a power of two.
fn start(token: &[u8], slots: usize) -> usize {
    FxBuildHasher.hash_one(token) as usize & slots.saturating_sub(1)
}

/// The ranks of the two parts of each token, in five tables with a byte for each token. They hold
/// the low byte and the middle byte of the rank of its first part, the same of its second part, and
/// the highest bits of both, those of the first above those of the second.
fn pairs(tables: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let count = tables.len() / 5;
    (0..count).map(move |at| {
        let byte = |table: usize| tables.get(table * count + at).copied().unwrap_or_default();
        (rank(byte(0), byte(1), byte(4) >> 4), rank(byte(2), byte(3), byte(4) & 15))
    })
}

/// A rank from its low, middle and high byte.
fn rank(low: u8, middle: u8, high: u8) -> usize {
    usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_vocabulary_has_fewer_tokens() {
        let whole: Vec<u8> = (0..=255).chain([0, 0, 0, 0, 1, 1, 0, 3, 0, 0]).collect();
        assert_eq!(Tokens::unpack(&whole[..BYTES - 1]).iter().count(), 0);
        assert_eq!(Tokens::unpack(&whole[..BYTES - 1]).rank(b"a"), None);
        assert_eq!(Tokens::unpack(&whole[..BYTES + 4]).iter().count(), BYTES);
        let mut own = vec![7; BYTES];
        own[1] = 8;
        // The pairs of ranks 0 and 1, and 0 and 999, which no token has.
        own.extend([0, 0, 0, 0, 1, 231, 0, 3, 0, 0]);
        let found = Tokens::unpack(&own);
        assert_eq!((found.iter().count(), found.rank(&[7, 8]), found.merge(&[7, 7, 8, 8])), (257, Some(256), 3));
    }

    #[test]
    fn a_vocabulary_beside_another_has_its_tokens_and_its_own() {
        let bytes: Vec<u8> = (0..=255).collect();
        let joined = |tables: &[u8]| [bytes.as_slice(), tables].concat();
        // Rank 256 is `ab`.
        let common = Tokens::unpack(&joined(&[97, 0, 98, 0, 0]));
        // `ab`, which the other one has, and `cd`.
        let whole = joined(&[0, PAIR, 0, 1, 99, 0, 100, 0, 0]);
        let found = Tokens::unpack_beside(&common, &whole, 258);
        assert_eq!([found.rank(b"ab"), found.rank(b"cd"), found.rank(b"bc")], [Some(256), Some(257), None]);
        for end in 0..whole.len() {
            assert!(Tokens::unpack_beside(&common, &whole[..end], 258).iter().count() < 258, "{end}");
        }
    }
}
