//! The content security policy of a page: only its own style sheet and script.

use sha2::{Digest, Sha256};

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The policy that allows a style sheet and a script by their digests.
/// Source: W3C, "Content Security Policy Level 3", hash sources.
pub(super) fn policy(style: &str, script: &str) -> String {
    let [style, script] = [style, script].map(|text| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes()))));
    format!("default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'")
}

/// Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let [one, two, three] = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or_default()));
        let group = one << 16 | two << 8 | three;
        for at in 0..4 {
            let letter = LETTERS.get((group >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'=');
            out.push(char::from(if at <= chunk.len() { letter } else { b'=' }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (text, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }
}
