//! Files that are packed from sources in the repository.

use std::path::Path;

/// Checks that the deflated file at `path` contains `text`. If the variable `TOOLFOLD_PACK` is set,
/// writes it first where it does not. `command` writes it so.
#[track_caller]
pub fn check_packed(path: impl AsRef<Path>, text: &[u8], command: &str) {
    let path = path.as_ref();
    let unpacked = || miniz_oxide::inflate::decompress_to_vec(&std::fs::read(path).unwrap()).unwrap();
    let mut found = unpacked();
    // The same text keeps its bytes: versions of the compressor differ.
    if std::env::var_os("TOOLFOLD_PACK").is_some() && found != text {
        std::fs::write(path, miniz_oxide::deflate::compress_to_vec(text, 9)).unwrap();
        found = unpacked();
    }
    assert!(found == text, "{} is out of date: TOOLFOLD_PACK=1 {command}", path.display());
}
