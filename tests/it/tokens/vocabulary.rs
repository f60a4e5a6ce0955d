//! The packed vocabularies equal those of tiktoken-rs.

use std::collections::HashMap;
use std::path::Path;

use tiktoken_rs::{CoreBPE, Rank};
use toolfold_testing::Cases;

/// The number of single-byte tokens.
const BYTES: usize = 256;

/// The tokens of a vocabulary by rank.
fn tokens(vocabulary: &CoreBPE, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|rank| vocabulary.decode_bytes(&[Rank::try_from(rank).unwrap()]).unwrap()).collect()
}

/// The two tokens of lower rank that a token consists of, if several pairs do the one with the
/// lowest second part: endings repeat, so that its bytes are packed best.
fn parts(token: &[u8], rank: usize, ranks: &HashMap<&[u8], usize>) -> [usize; 2] {
    let lower = |part: &[u8]| ranks.get(part).copied().filter(|own| *own < rank);
    let pairs = (1..token.len()).filter_map(|at| Some([lower(&token[..at])?, lower(&token[at..])?]));
    pairs.min_by_key(|[_, second]| *second).unwrap()
}

/// The low byte and the middle byte of the rank of each token's first part, the same of its second
/// part, and the highest bits of both.
fn tables(pairs: &[[usize; 2]]) -> Vec<u8> {
    let table = |byte: fn(&[usize; 2]) -> usize| pairs.iter().map(move |pair| u8::try_from(byte(pair)).unwrap());
    let mut packed = Vec::new();
    packed.extend(table(|[first, _]| first & 255));
    packed.extend(table(|[first, _]| first >> 8 & 255));
    packed.extend(table(|[_, second]| second & 255));
    packed.extend(table(|[_, second]| second >> 8 & 255));
    packed.extend(table(|[first, second]| first >> 16 << 4 | second >> 16));
    packed
}

/// The tokens of one byte by rank, then the others: those in `common` as their rank there, in three
/// tables, of which the first one, of the high bytes, has 255 for the tokens that are not.
fn pack(tokens: &[Vec<u8>], common: &[Vec<u8>]) -> Vec<u8> {
    let numbered = |tokens: &[Vec<u8>]| tokens.iter().cloned().zip(0..).collect::<HashMap<Vec<u8>, usize>>();
    let (own, common) = (numbered(tokens), numbered(common));
    let ranks = own.iter().map(|(token, rank)| (token.as_slice(), *rank)).collect();
    let (bytes, rest) = tokens.split_at(BYTES);
    let (mut high, mut low, mut middle, mut pairs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (token, rank) in rest.iter().zip(BYTES..) {
        match common.get(token).map(|rank| u32::try_from(*rank).unwrap().to_le_bytes()) {
            Some(rank) => {
                high.push(rank[2]);
                low.push(rank[0]);
                middle.push(rank[1]);
            }
            None => {
                high.push(255);
                pairs.push(parts(token, rank, &ranks));
            }
        }
    }
    let mut packed = bytes.concat();
    assert_eq!(packed.len(), BYTES);
    if !common.is_empty() {
        packed.extend([high, low, middle].concat());
    }
    packed.extend(tables(&pairs));
    packed
}

/// `TOOLFOLD_PACK=1 cargo test --test it packed` writes what the library holds.
#[test]
fn packed_vocabularies_match_tiktoken() {
    let pack_anew = std::env::var_os("TOOLFOLD_PACK").is_some();
    if Cases::of_this_run().is_quick() && !pack_anew {
        // The library's own test compares every token; the composition only affects the file's
        // size.
        println!("skipped: TOOLFOLD_CASES=quick");
        return;
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("src/tokens/vocabulary");
    let (o200k, cl100k) = (folder.join("o200k_base.bin"), folder.join("cl100k_base.deflate.bin"));
    let all = [(tiktoken_rs::o200k_base(), 199_998), (tiktoken_rs::cl100k_base(), 100_256)];
    let [common, other] = all.map(|(vocabulary, count)| tokens(&vocabulary.unwrap(), count));
    let (large, small) = (pack(&common, &[]), pack(&other, &common));
    if pack_anew {
        std::fs::write(&o200k, &large).unwrap();
        std::fs::write(&cl100k, miniz_oxide::deflate::compress_to_vec(&small, 10)).unwrap();
    }
    assert!(std::fs::read(&o200k).unwrap() == large, "o200k_base.bin is another vocabulary");
    let held = miniz_oxide::inflate::decompress_to_vec(&std::fs::read(&cl100k).unwrap()).unwrap();
    assert!(held == small, "cl100k_base.deflate.bin is another vocabulary");
}
