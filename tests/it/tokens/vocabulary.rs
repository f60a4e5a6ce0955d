//! The packed vocabularies equal those of tiktoken-rs.

use std::collections::HashMap;
use std::path::Path;

use tiktoken_rs::{CoreBPE, Rank};
use toolfold_testing::Cases;

/// The number of single-byte tokens.
const BYTES: usize = 256;

/// The two tokens of lower rank that a token consists of: merging its bytes by rank stops there.
fn parts(token: &[u8], ranks: &HashMap<Vec<u8>, usize>) -> [usize; 2] {
    let rank = |part: &[u8]| ranks.get(part).filter(|_| part.len() < token.len()).copied();
    let mut parts: Vec<Vec<u8>> = token.iter().map(|byte| vec![*byte]).collect();
    while parts.len() > 2 {
        let merged = parts.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(&pair.concat())?, at)));
        let (_, at) = merged.min().unwrap();
        let tail = parts.remove(at + 1);
        parts[at].extend(tail);
    }
    [rank(&parts[0]).unwrap(), rank(&parts[1]).unwrap()]
}

/// The tokens of one byte by rank, then the low byte and the middle byte of the rank of each
/// further token's first part, the same of its second part, and the highest bits of both.
fn pack(vocabulary: &CoreBPE, count: usize) -> Vec<u8> {
    let token = |rank: usize| vocabulary.decode_bytes(&[Rank::try_from(rank).unwrap()]).unwrap();
    let tokens: Vec<Vec<u8>> = (0..count).map(token).collect();
    let ranks = tokens.iter().cloned().zip(0..).collect();
    let (bytes, rest) = tokens.split_at(BYTES);
    let pairs: Vec<[usize; 2]> = rest.iter().map(|token| parts(token, &ranks)).collect();
    let table = |byte: fn(&[usize; 2]) -> usize| pairs.iter().map(move |pair| u8::try_from(byte(pair)).unwrap());
    let mut packed = bytes.concat();
    assert_eq!(packed.len(), BYTES);
    packed.extend(table(|[first, _]| first & 255));
    packed.extend(table(|[first, _]| first >> 8 & 255));
    packed.extend(table(|[_, second]| second & 255));
    packed.extend(table(|[_, second]| second >> 8 & 255));
    packed.extend(table(|[first, second]| first >> 16 << 4 | second >> 16));
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
    let packed = [(tiktoken_rs::o200k_base(), 199_998), (tiktoken_rs::cl100k_base(), 100_256)];
    let [large, small] = packed.map(|(vocabulary, count)| pack(&vocabulary.unwrap(), count));
    if pack_anew {
        std::fs::write(&o200k, &large).unwrap();
        std::fs::write(&cl100k, miniz_oxide::deflate::compress_to_vec(&small, 10)).unwrap();
    }
    assert!(std::fs::read(&o200k).unwrap() == large, "o200k_base.bin is another vocabulary");
    let held = miniz_oxide::inflate::decompress_to_vec(&std::fs::read(&cl100k).unwrap()).unwrap();
    assert!(held == small, "cl100k_base.deflate.bin is another vocabulary");
}
