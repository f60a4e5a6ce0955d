//! Seals data that the gateway receives back unchanged: state that clients hold between two
//! requests, session ids, and records in a store. Sealed data is encrypted and bound to its
//! purpose.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};

use crate::error::GatewayError;
use crate::selection::Selection;

/// The prefix of the gateway's tokens, which servers' tokens do not have.
const MARK: &str = "toolfold1.";

/// Lifetime of a question's state, in milliseconds.
const QUESTION_MS: i64 = 60 * 60 * 1000;

/// Lifetime of a session id, in milliseconds: 30 days, longer than any store has its conversation.
const SESSION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The length of the nonce of XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha, section 2.3), in bytes:
/// long enough for random nonces from any number of processes with the same key.
const NONCE: usize = 24;

/// The length of a key, in bytes.
const KEY: usize = 32;

/// The contents of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sealed {
    /// A call that waits for approval.
    Approval {
        /// The approval.
        approval: String,
        /// The digest of the call.
        digest: String,
    },
    /// A request that waits for the client's input.
    Parked {
        /// The number of the parked request.
        place: u64,
    },
    /// A session up to 2025-11-25.
    Session {
        /// The conversation.
        conversation: String,
        /// The parameters of `initialize` as JSON, if they are short.
        params: Option<String>,
        /// The client's selection of tools.
        #[serde(default)]
        selection: Selection,
    },
}

impl Sealed {
    fn life_ms(&self) -> i64 {
        match self {
            Self::Approval { .. } | Self::Parked { .. } => QUESTION_MS,
            Self::Session { .. } => SESSION_MS,
        }
    }
}

/// An opened token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// The contents.
    pub what: Sealed,
    /// The unique id of the token.
    pub token: String,
}

/// Why a token of the gateway cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The text was changed, or was sealed with another key or for another tenant.
    #[error("it was altered or belongs to another gateway")]
    Altered,
    /// Its lifetime has ended.
    #[error("it has expired")]
    TooOld,
}

#[derive(Serialize, Deserialize)]
struct Dated {
    until_ms: i64,
    what: Sealed,
}

/// A key for sealing.
#[derive(Clone)]
pub struct Seal(XChaCha20Poly1305);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(…)")
    }
}

impl Seal {
    /// A key that only this process has.
    ///
    /// # Errors
    /// [`GatewayError`] if the system has no random bits.
    pub fn random() -> Result<Self, GatewayError> {
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(|why| format!("the system has no random bits: {why}"))?;
        Ok(Self::from_key(&key))
    }

    /// A key that several processes share.
    #[must_use]
    pub fn from_key(key: &[u8; KEY]) -> Self {
        Self(XChaCha20Poly1305::new(Key::from_slice(key)))
    }

    /// Reads a key from text: 32 bytes in Base64, in either alphabet.
    ///
    /// # Errors
    /// [`GatewayError`] with the reason; it does not contain the text.
    pub fn from_base64(text: &str) -> Result<Self, GatewayError> {
        let text = text.trim();
        let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')));
        let bytes = bytes.map_err(|_| "it is not valid Base64".to_owned())?;
        let found = bytes.len();
        let key = <[u8; KEY]>::try_from(bytes).map_err(|_| format!("it has {found} bytes, not {KEY}"))?;
        Ok(Self::from_key(&key))
    }

    /// Seals a token for a tenant. Without random bits, returns an empty text, which opens nothing.
    #[must_use]
    pub fn close(&self, tenant: &str, what: &Sealed, now_ms: i64) -> String {
        let dated = Dated { until_ms: now_ms.saturating_add(what.life_ms()), what: what.clone() };
        let text = serde_json::to_vec(&dated).unwrap_or_default();
        match self.hide(&["token", tenant], &text) {
            Some(whole) => format!("{MARK}{}", URL_SAFE_NO_PAD.encode(whole)),
            None => String::new(),
        }
    }

    /// Opens a token of a tenant. `None` if it is not a token of the gateway.
    ///
    /// # Errors
    /// [`TokenError`] if it was altered, belongs to another tenant, or has expired.
    #[must_use]
    pub fn open_token(&self, tenant: &str, token: &str, now_ms: i64) -> Option<Result<Opened, TokenError>> {
        let text = token.strip_prefix(MARK)?;
        Some(self.open_sealed(tenant, text, now_ms))
    }

    fn open_sealed(&self, tenant: &str, text: &str, now_ms: i64) -> Result<Opened, TokenError> {
        let whole = URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenError::Altered)?;
        let clear = self.show(&["token", tenant], &whole).ok_or(TokenError::Altered)?;
        let Dated { until_ms, what } = serde_json::from_slice(&clear).map_err(|_| TokenError::Altered)?;
        if now_ms > until_ms {
            return Err(TokenError::TooOld);
        }
        let nonce = whole.get(..NONCE).unwrap_or_default();
        Ok(Opened { what, token: URL_SAFE_NO_PAD.encode(nonce) })
    }

    /// Encrypts bytes for a place; they can only be decrypted for the same place. `None` if the
    /// system has no random bits.
    #[must_use]
    pub fn hide(&self, place: &[&str], clear: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: clear, aad: &aad(place) };
        let hidden = self.0.encrypt(XNonce::from_slice(&nonce), payload).ok()?;
        Some([nonce.as_slice(), hidden.as_slice()].concat())
    }

    /// Decrypts bytes of a place; `None` if they were altered or belong elsewhere.
    #[must_use]
    pub fn show(&self, place: &[&str], whole: &[u8]) -> Option<Vec<u8>> {
        let (nonce, hidden) = whole.split_at_checked(NONCE)?;
        let payload = Payload { msg: hidden, aad: &aad(place) };
        self.0.decrypt(XNonce::from_slice(nonce), payload).ok()
    }
}

/// The parts of a place, each prefixed with its length, so that places are distinct.
fn aad(place: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in place {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sealed_tokens_open_and_they_expire() {
        let (seal, other) = (Seal::random().unwrap(), Seal::random().unwrap());
        let what = Sealed::Approval { approval: "ap-1".to_owned(), digest: "d".to_owned() };
        let state = seal.close("one", &what, 1_000);
        assert!(!state.contains("ap-1"));
        assert_eq!(seal.open_token("one", &state, 2_000).unwrap().unwrap().what, what);
        assert!(seal.open_token("one", &state, 1_001 + QUESTION_MS).unwrap().is_err());
        assert!(seal.open_token("two", &state, 2_000).unwrap().is_err(), "the token of another tenant");
        assert!(other.open_token("one", &state, 2_000).unwrap().is_err());
        assert_eq!(seal.open_token("one", "a server's own", 2_000), None);
        for at in MARK.len()..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert!(seal.open_token("one", &String::from_utf8(bytes).unwrap(), 2_000).unwrap().is_err(), "{at}");
        }
        let again = seal.close("one", &what, 1_000);
        let token = |state: &str| seal.open_token("one", state, 2_000).unwrap().unwrap().token;
        assert_ne!(token(&state), token(&again), "each token is consumed separately");
    }

    #[test]
    fn hidden_bytes_are_only_shown_for_their_place() {
        let seal = Seal::random().unwrap();
        let hidden = seal.hide(&["record", "ab", "c"], b"secret").unwrap();
        assert_eq!(seal.show(&["record", "ab", "c"], &hidden).unwrap(), b"secret");
        assert_eq!(seal.show(&["record", "a", "bc"], &hidden), None);
        assert_eq!(seal.show(&["record", "ab", "c"], &hidden[..NONCE - 1]), None);
    }

    #[test]
    fn a_key_is_read_from_text() {
        let text = STANDARD.encode([7; KEY]);
        let state = Seal::from_key(&[7; KEY]).close("one", &Sealed::Parked { place: 1 }, 0);
        assert!(Seal::from_base64(&format!(" {text}\n")).unwrap().open_token("one", &state, 1).unwrap().is_ok());
        assert_eq!(Seal::from_base64("c2hvcnQ=").unwrap_err().to_string(), "it has 5 bytes, not 32");
        assert_eq!(Seal::from_base64("not base64!").unwrap_err().to_string(), "it is not valid Base64");
    }
}
