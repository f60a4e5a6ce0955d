//! OpenAI's vocabularies, packed.
//!
//! `tiktoken-rs` carries them as base64 text, 5.3 MB of it. Every token of more than one byte is made of two that rank before
//! it, so here each is the ranks of those two, 1.0 MB for the vocabulary that is counted with every day, and 0.7 MB in an
//! archive. The other one is deflated, 0.3 MB. A test packs the crate's own and compares. Only the
//! packing is ours; splitting and merging are `tiktoken-rs`'s.

use std::borrow::Cow;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

use super::Encoding;

const O200K_BASE: &[u8] = include_bytes!("vocabulary/o200k_base.bin");
const CL100K_BASE: &[u8] = include_bytes!("vocabulary/cl100k_base.deflate.bin");

/// The size of the deflated vocabulary, unpacked.
const CL100K_BASE_BYTES: usize = 500_256;

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

/// A vocabulary: the tokens of one byte in the order of their ranks, which are the first, and five tables with a byte for
/// each further token. They hold the low byte and the middle byte of the rank of its first part, the same of its second part,
/// and the highest bits of both, those of the first above those of the second.
fn packed(encoding: Encoding) -> Option<Cow<'static, [u8]>> {
    match encoding {
        Encoding::O200kBase => Some(Cow::Borrowed(O200K_BASE)),
        Encoding::Cl100kBase => {
            miniz_oxide::inflate::decompress_to_vec_with_limit(CL100K_BASE, CL100K_BASE_BYTES).ok().map(Cow::Owned)
        }
    }
}

/// How many tokens have one byte: one for each.
const BYTES: usize = 256;

/// The tokens of a packed vocabulary with their ranks.
fn tokens(packed: &[u8]) -> FxHashMap<Vec<u8>, Rank> {
    let (bytes, tables) = packed.split_at_checked(BYTES).unwrap_or_default();
    let count = tables.len() / 5;
    let mut tokens: Vec<Vec<u8>> = Vec::with_capacity(BYTES + count);
    tokens.extend(bytes.iter().map(|byte| vec![*byte]));
    let table = |number: usize| tables.iter().skip(number * count).take(count);
    let rank = |low: u8, middle: u8, high: u8| usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
    let pairs = table(0).zip(table(1)).zip(table(2).zip(table(3))).zip(table(4));
    for (((low, middle), (other_low, other_middle)), high) in pairs {
        let (first, second) = (rank(*low, *middle, high >> 4), rank(*other_low, *other_middle, high & 15));
        let (Some(first), Some(second)) = (tokens.get(first), tokens.get(second)) else { break };
        tokens.push([first.as_slice(), second].concat());
    }
    let ranked = tokens.into_iter().zip(0..);
    ranked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a token is put together from two of lower rank: merging its bytes by rank, as a tokenizer does, stops there.
    fn parts(token: &[u8], ranks: &FxHashMap<Vec<u8>, Rank>) -> [usize; 2] {
        let rank = |part: &[u8]| ranks.get(part).filter(|_| part.len() < token.len()).map(|rank| *rank as usize);
        let mut parts: Vec<Vec<u8>> = token.iter().map(|byte| vec![*byte]).collect();
        while parts.len() > 2 {
            let merged = parts.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(&pair.concat())?, at)));
            let (_, at) = merged.min().unwrap();
            let tail = parts.remove(at + 1);
            parts[at].extend(tail);
        }
        [rank(&parts[0]).unwrap(), rank(&parts[1]).unwrap()]
    }

    fn pack(vocabulary: &CoreBPE, count: usize) -> Vec<u8> {
        let ranked = (0..).zip((0..count).map(|rank| vocabulary.decode_bytes(&[rank as Rank]).unwrap()));
        let ranks: FxHashMap<Vec<u8>, Rank> = ranked.map(|(rank, token)| (token, rank)).collect();
        let mut all: Vec<_> = ranks.iter().map(|(token, rank)| (*rank, token)).collect();
        all.sort_unstable();
        let (bytes, rest) = all.split_at(BYTES);
        let pairs: Vec<[usize; 2]> = rest.iter().map(|(_, token)| parts(token, &ranks)).collect();
        let table = |byte: fn(&[usize; 2]) -> usize| pairs.iter().map(move |pair| u8::try_from(byte(pair)).unwrap());
        let packed = bytes.iter().map(|(_, token)| *<&[u8; 1]>::try_from(token.as_slice()).unwrap()).map(|[byte]| byte);
        packed
            .chain(table(|[first, _]| first & 255))
            .chain(table(|[first, _]| first >> 8 & 255))
            .chain(table(|[_, second]| second & 255))
            .chain(table(|[_, second]| second >> 8 & 255))
            .chain(table(|[first, second]| first >> 16 << 4 | second >> 16))
            .collect()
    }

    /// `TOOLFOLD_PACK=1 cargo test -p toolfold --features tiktoken --lib packed_as` writes the files anew.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "it writes the files when it is asked to")]
    fn the_files_are_the_crates_vocabularies_packed_as_said() {
        let write = |name: &str, bytes: &[u8]| {
            if std::env::var_os("TOOLFOLD_PACK").is_some() {
                let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tokens/vocabulary");
                std::fs::write(folder.join(name), bytes).unwrap();
            }
        };
        let o200k = pack(&tiktoken_rs::o200k_base().unwrap(), 199_998);
        write("o200k_base.bin", &o200k);
        let cl100k = pack(&tiktoken_rs::cl100k_base().unwrap(), 100_256);
        write("cl100k_base.deflate.bin", &miniz_oxide::deflate::compress_to_vec(&cl100k, 10));
        assert!(*packed(Encoding::O200kBase).unwrap() == *o200k);
        assert!(*packed(Encoding::Cl100kBase).unwrap() == *cl100k);
    }

    #[test]
    fn a_damaged_vocabulary_has_fewer_tokens() {
        let whole = packed(Encoding::O200kBase).unwrap();
        assert_eq!(tokens(&whole[..BYTES - 1]).len(), 0);
        assert_eq!(tokens(&whole[..BYTES + 4]).len(), BYTES);
        let mut own = vec![7; BYTES];
        own[1] = 8;
        // The ranks 0 and 1, and 0 and 999, which no token has.
        own.extend([0, 0, 0, 0, 1, 231, 0, 3, 0, 0]);
        let found = tokens(&own);
        assert_eq!((found.len(), found.get([7, 8].as_slice())), (3, Some(&256)));
    }

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
