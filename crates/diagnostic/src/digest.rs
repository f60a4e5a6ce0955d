//! The digest that identifies contents.

use sha2::{Digest, Sha256};

/// The SHA-256 of a content in lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    let digest = Sha256::digest(bytes);
    // Bytes: pushing the digits as characters takes a thousand instructions more.
    let mut text = Vec::with_capacity(2 * digest.len());
    for byte in digest {
        text.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}
