//! OpenAI's vocabularies, packed.
//!
//! `tiktoken-rs` carries them as base64 text, 5.3 MB of it. Here each is its tokens in the order of their ranks, one byte of
//! length before each, and no decoding: 1.6 MB for the one that is counted with every day. The other one is deflated,
//! 0.5 MB. A test compares every token with the crate's own. Only the
//! packing is ours; splitting and merging are `tiktoken-rs`'s.

use std::borrow::Cow;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

use super::Encoding;

const O200K_BASE: &[u8] = include_bytes!("vocabulary/o200k_base.bin");
const CL100K_BASE: &[u8] = include_bytes!("vocabulary/cl100k_base.deflate.bin");

/// The size of the deflated vocabulary, unpacked.
const CL100K_BASE_BYTES: usize = 744_086;

/// How cl100k_base splits a text before it merges. Source: `cl100k_base` of tiktoken-rs 0.12.1, which exports the other
/// pattern only.
const CL100K_BASE_PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The tokenizer of an encoding, loaded when it is first asked for and kept. Nothing if the vocabulary in the binary is
/// damaged, which its test rules out.
pub(super) fn tokenizer(encoding: Encoding) -> Option<&'static CoreBPE> {
    static O200K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    static CL100K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    let (cell, pattern) = match encoding {
        Encoding::O200kBase => (&O200K, O200K_BASE_PAT_STR),
        Encoding::Cl100kBase => (&CL100K, CL100K_BASE_PATTERN),
    };
    cell.get_or_init(|| CoreBPE::new(tokens(&packed(encoding)?), FxHashMap::default(), pattern).ok()).as_ref()
}

/// A vocabulary as its tokens in the order of their ranks.
fn packed(encoding: Encoding) -> Option<Cow<'static, [u8]>> {
    match encoding {
        Encoding::O200kBase => Some(Cow::Borrowed(O200K_BASE)),
        Encoding::Cl100kBase => {
            miniz_oxide::inflate::decompress_to_vec_with_limit(CL100K_BASE, CL100K_BASE_BYTES).ok().map(Cow::Owned)
        }
    }
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
        for (encoding, own, count) in [
            (Encoding::O200kBase, tiktoken_rs::o200k_base().unwrap(), 199_998),
            (Encoding::Cl100kBase, tiktoken_rs::cl100k_base().unwrap(), 100_256),
        ] {
            let tokens = tokens(&packed(encoding).unwrap());
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
