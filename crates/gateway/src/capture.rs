//! What a server said when it last listed its tools, kept so that the next start need not wait for it.
//!
//! A capture is one text with the SHA-256 digest of its content: what is damaged is not used. It is named by the server and by
//! a digest of how it is reached, in which no value of a variable takes part. Reading and writing files is the host's.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::GatewayError;

/// The form of the text.
const VERSION: u32 = 1;

/// One server's introduction and tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Capture {
    /// Its answer to `initialize` or `server/discover`, as JSON.
    pub hello: String,
    /// Each tool as it was written, as JSON.
    pub tools: Vec<String>,
    /// What else stood in the result, as JSON.
    pub beside: String,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    version: u32,
    server: String,
    identity: String,
    sha256: String,
    /// The capture as JSON text: the digest is of these bytes.
    content: String,
}

impl Capture {
    /// The text to keep.
    #[must_use]
    pub fn to_text(&self, server: &str, identity: &str) -> String {
        let content = serde_json::to_string(self).unwrap_or_default();
        let sealed = Sealed {
            version: VERSION,
            server: server.to_owned(),
            identity: identity.to_owned(),
            sha256: digest_of_texts(&[server, identity, &content]),
            content,
        };
        serde_json::to_string(&sealed).unwrap_or_default()
    }

    /// Reads a text that was kept for this server.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be used: it is damaged, of another form, or another server's.
    pub fn parse_stored(text: &str, server: &str, identity: &str) -> Result<Self, GatewayError> {
        let sealed: Sealed = serde_json::from_str(text).map_err(|why| format!("it cannot be read: {why}"))?;
        if sealed.version != VERSION {
            return Err(format!("it is of form {}, and {VERSION} is read", sealed.version).into());
        }
        if sealed.server != server || sealed.identity != identity {
            return Err("it is of another server".into());
        }
        if sealed.sha256 != digest_of_texts(&[server, identity, &sealed.content]) {
            return Err("its digest does not fit: it is damaged".into());
        }
        Ok(serde_json::from_str(&sealed.content).map_err(|why| format!("it cannot be read: {why}"))?)
    }

    /// The protocol version that the server spoke, if it said so.
    #[must_use]
    pub fn protocol(&self) -> Option<String> {
        let hello: serde_json::Value = serde_json::from_str(&self.hello).ok()?;
        let last = || hello.get("supportedVersions")?.as_array()?.last()?.as_str();
        hello.get("protocolVersion").and_then(serde_json::Value::as_str).or_else(last).map(str::to_owned)
    }
}

/// The name of the file that a server's capture is kept in, without a folder.
#[must_use]
pub fn file_name(server: &str, identity: &str) -> String {
    format!("{}.json", digest_of_texts(&[server, identity]))
}

/// SHA-256 over texts, each with its length, so that none of them can be taken for another.
pub(crate) fn digest_of_texts(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture() -> Capture {
        Capture {
            hello: r#"{"protocolVersion":"2025-11-25"}"#.to_owned(),
            tools: vec![r#"{"name":"a","n":1.50}"#.to_owned()],
            beside: "{}".to_owned(),
        }
    }

    #[test]
    fn what_was_kept_is_read_again() {
        let text = capture().to_text("files", "id");
        assert_eq!(Capture::parse_stored(&text, "files", "id").unwrap(), capture());
        assert_eq!(capture().protocol().as_deref(), Some("2025-11-25"));
    }

    #[test]
    fn what_is_damaged_or_anothers_is_not_used() {
        let text = capture().to_text("files", "id");
        for (text, server, identity, word) in [
            (text.replace("1.50", "1.51"), "files", "id", "digest"),
            (text.replace("\"version\":1", "\"version\":2"), "files", "id", "form"),
            (text[..text.len() / 2].to_owned(), "files", "id", "read"),
            (text.clone(), "other", "id", "another"),
            (text.clone(), "files", "elsewhere", "another"),
            (text.replace("\"server\":\"files\"", "\"server\":\"other\""), "other", "id", "digest"),
        ] {
            let why = Capture::parse_stored(&text, server, identity).unwrap_err().to_string();
            assert!(why.contains(word), "{why}");
        }
        assert_ne!(file_name("a", "bc"), file_name("ab", "c"));
    }
}
