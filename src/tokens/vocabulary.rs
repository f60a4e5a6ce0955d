//! OpenAI's vocabularies, packed.
//!
//! `tiktoken-rs` carries them as base64 text, 5.3 MB of it. Here each is its tokens in the order of their ranks, one byte of
//! length before each: 2.3 MB for the two, and no decoding. A test compares every token with the crate's own. Only the
//! packing is ours; splitting and merging are `tiktoken-rs`'s.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

use super::Encoding;

const O200K_BASE: &[u8] = include_bytes!("vocabulary/o200k_base.bin");
const CL100K_BASE: &[u8] = include_bytes!("vocabulary/cl100k_base.bin");

/// How cl100k_base splits a text before it merges. Source: `cl100k_base` of tiktoken-rs 0.12.1, which exports the other
/// pattern only.
const CL100K_BASE_PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The tokenizer of an encoding, loaded when it is first asked for and kept. Nothing if the vocabulary in the binary is
/// damaged, which its test rules out.
pub(super) fn tokenizer(encoding: Encoding) -> Option<&'static CoreBPE> {
    static O200K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    static CL100K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    let (cell, packed, pattern) = match encoding {
        Encoding::O200kBase => (&O200K, O200K_BASE, O200K_BASE_PAT_STR),
        Encoding::Cl100kBase => (&CL100K, CL100K_BASE, CL100K_BASE_PATTERN),
    };
    cell.get_or_init(|| CoreBPE::new(tokens(packed), FxHashMap::default(), pattern).ok()).as_ref()
}

/// The tokens of a packed vocabulary with their ranks.
fn tokens(packed: &[u8]) -> FxHashMap<Vec<u8>, Rank> {
    let mut tokens = FxHashMap::default();
    tokens.reserve(packed.len() / 7);
    let mut rest = packed;
    while let Some((length, tail)) = rest.split_first() {
        let Some((token, next)) = tail.split_at_checked(usize::from(*length)) else { break };
        let rank = Rank::try_from(tokens.len()).unwrap_or(Rank::MAX);
        tokens.insert(token.to_vec(), rank);
        rest = next;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_vocabularies_are_the_crates_own() {
        for (packed, own, count) in [
            (O200K_BASE, tiktoken_rs::o200k_base().unwrap(), 199_998),
            (CL100K_BASE, tiktoken_rs::cl100k_base().unwrap(), 100_256),
        ] {
            let tokens = tokens(packed);
            assert_eq!(tokens.len(), count);
            for (token, rank) in tokens {
                assert_eq!(own.decode_bytes(&[rank]).unwrap(), token, "rank {rank}");
            }
        }
        let text = "Set fonts, fills: don't stop — 设置 1234567 \r\n\n  x\u{301}\t// “ok” ".repeat(20);
        for (encoding, own) in
            [(Encoding::O200kBase, tiktoken_rs::o200k_base()), (Encoding::Cl100kBase, tiktoken_rs::cl100k_base())]
        {
            let ours = tokenizer(encoding).unwrap().encode_ordinary(&text);
            assert_eq!(ours, own.unwrap().encode_ordinary(&text), "the pattern splits alike");
        }
    }
}
