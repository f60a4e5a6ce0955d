//! OpenAI's vocabularies in packed form.
//!
//! `tiktoken-rs` contains them as base64 text, 5.3 MB of it. Every token of more than one byte is a
//! pair of two tokens of lower rank, so here each is stored as the ranks of those two: 1.0 MB for
//! the common vocabulary, and 0.7 MB in an archive. Five of six tokens of the other one are also
//! common ones and stored as their rank there: 0.2 MB, deflated. A test packs the crate's
//! vocabularies and compares. Pattern and merging are those of `tiktoken-rs`.

mod tokens;

use std::sync::OnceLock;

use fancy_regex::Regex;
use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

use self::tokens::Tokens;
use super::Encoding;

const O200K_BASE: &[u8] = include_bytes!("vocabulary/o200k_base.bin");
const CL100K_BASE: &[u8] = include_bytes!("vocabulary/cl100k_base.deflate.bin");

/// The unpacked size of the deflated vocabulary, and its number of tokens.
const CL100K_BASE_BYTES: usize = 345_925;
const CL100K_BASE_TOKENS: usize = 100_256;

/// The pattern by which cl100k_base splits a text before it merges. Source: `cl100k_base` of
/// tiktoken-rs 0.12.1, which exports only the other pattern.
const CL100K_BASE_PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The longest piece that is merged pair by pair, in bytes: its time grows with the square of the
/// length. Pieces of text and of JSON are shorter.
const LONGEST_PIECE: usize = 256;

/// A vocabulary of OpenAI. `CoreBPE` of `tiktoken-rs` copies the tokens into several maps and sorts
/// them; only long pieces need it.
pub(super) struct Vocabulary {
    encoding: Encoding,
    tokens: Tokens,
    pattern: Regex,
    whole: OnceLock<Option<CoreBPE>>,
}

/// The vocabulary of an encoding, loaded at the first use and cached. `None` if the one in the
/// binary is damaged, which a test excludes.
pub(super) fn vocabulary(encoding: Encoding) -> Option<&'static Vocabulary> {
    static O200K: OnceLock<Option<Vocabulary>> = OnceLock::new();
    static CL100K: OnceLock<Option<Vocabulary>> = OnceLock::new();
    let cell = match encoding {
        Encoding::O200kBase => &O200K,
        Encoding::Cl100kBase => &CL100K,
    };
    cell.get_or_init(|| Vocabulary::load(encoding)).as_ref()
}

impl Vocabulary {
    fn load(encoding: Encoding) -> Option<Self> {
        let tokens = unpacked(encoding)?;
        let pattern = Regex::new(pattern_of(encoding)).ok()?;
        Some(Self { encoding, tokens, pattern, whole: OnceLock::new() })
    }

    /// The number of tokens of a text.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let mut end = 0;
        for found in self.pattern.find_iter(text) {
            // A search that fails (its steps are limited) leaves the rest: a byte counts as a
            // token.
            let Ok(piece) = found else { return tokens + text.len() - end };
            end = piece.end();
            tokens += self.count_piece(piece.as_str());
        }
        tokens
    }

    fn count_piece(&self, piece: &str) -> usize {
        if piece.len() < 2 || self.tokens.rank(piece.as_bytes()).is_some() {
            return 1;
        }
        if piece.len() <= LONGEST_PIECE {
            return self.tokens.merge(piece.as_bytes());
        }
        match self.whole.get_or_init(|| self.whole()) {
            Some(whole) => whole.encode_ordinary(piece).len(),
            None => piece.len(),
        }
    }

    /// The tokenizer of `tiktoken-rs`, which merges a long piece with a heap.
    fn whole(&self) -> Option<CoreBPE> {
        let ranked = self.tokens.iter().map(<[u8]>::to_vec).zip(0..);
        CoreBPE::new(ranked.collect(), FxHashMap::default(), pattern_of(self.encoding)).ok()
    }
}

fn pattern_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::O200kBase => O200K_BASE_PAT_STR,
        Encoding::Cl100kBase => CL100K_BASE_PATTERN,
    }
}

/// The tokens of the packed vocabulary.
fn unpacked(encoding: Encoding) -> Option<Tokens> {
    match encoding {
        Encoding::O200kBase => Some(Tokens::unpack(O200K_BASE)),
        Encoding::Cl100kBase => {
            let packed = miniz_oxide::inflate::decompress_to_vec_with_limit(CL100K_BASE, CL100K_BASE_BYTES).ok()?;
            Some(Tokens::unpack_beside(&Tokens::listed(O200K_BASE), &packed, CL100K_BASE_TOKENS))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a packed vocabulary of `count` tokens with the crate's own: token by token, and in
    /// the counts of texts.
    fn compare(encoding: Encoding, own: &tiktoken_rs::CoreBPE, count: usize) {
        let tokens = unpacked(encoding).unwrap();
        assert_eq!(tokens.iter().count(), count);
        for (token, rank) in tokens.iter().zip(0..) {
            assert_eq!(own.decode_bytes(&[rank]).unwrap(), token, "rank {rank}");
            assert_eq!(tokens.rank(token), Some(rank));
        }
        let text = "Set fonts, fills: don't stop — 设置 1234567 \r\n\n  x\u{301}\t// “ok” ".repeat(20);
        // Long pieces: letters, other letters, blanks before a letter, signs.
        let long: String = [("abQ", 400), ("设", 300), (" ", 900), ("x", 1), ("=-/", 300), ("\n", 500)]
            .map(|(part, times)| part.repeat(times))
            .concat();
        let ours = vocabulary(encoding).unwrap();
        for text in [&text, &long] {
            assert_eq!(ours.count(text), own.encode_ordinary(text).len());
        }
    }

    #[test]
    fn packed_o200k_base_is_the_crates_own() {
        compare(Encoding::O200kBase, &tiktoken_rs::o200k_base().unwrap(), 199_998);
    }

    #[test]
    fn packed_cl100k_base_is_the_crates_own() {
        compare(Encoding::Cl100kBase, &tiktoken_rs::cl100k_base().unwrap(), 100_256);
    }
}
