//! The digest that identifies contents.

use sha2::{Digest, Sha256};

/// The SHA-256 of a content in lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    let digest = Sha256::digest(bytes);
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}
