//! A server's last introduction and list of tools, stored so that the next start does not wait for
//! it.
//!
//! A capture is one text with the SHA-256 digest of its content; a damaged capture is not used. Its
//! file is named by the server and by a digest of the connection, which does not include values of
//! variables. The host reads and writes the files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::GatewayError;

const VERSION: u32 = 1;

/// One server's introduction and tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Capture {
    /// The response to `initialize` or `server/discover`, as JSON.
    pub hello: String,
    /// The tools as the server wrote them, as JSON.
    pub tools: Vec<String>,
    /// The other members of the result, as JSON.
    pub beside: String,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    version: u32,
    server: String,
    identity: String,
    sha256: String,
    /// The capture as JSON text, whose bytes the digest covers.
    content: String,
}

impl Capture {
    /// The text to store.
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

    /// Reads a stored text of a server.
    ///
    /// # Errors
    /// [`GatewayError`] if the text is damaged, has another version, or belongs to another server.
    pub fn parse_stored(text: &str, server: &str, identity: &str) -> Result<Self, GatewayError> {
        let sealed: Sealed = serde_json::from_str(text).map_err(|why| format!("it is unreadable: {why}"))?;
        if sealed.version != VERSION {
            return Err(format!("it has the unsupported version {}; expected {VERSION}", sealed.version).into());
        }
        if sealed.server != server || sealed.identity != identity {
            return Err("it belongs to another server".into());
        }
        if sealed.sha256 != digest_of_texts(&[server, identity, &sealed.content]) {
            return Err("it is damaged: its digest does not match".into());
        }
        Ok(serde_json::from_str(&sealed.content).map_err(|why| format!("it is unreadable: {why}"))?)
    }

    /// The server's protocol version, if its response has one.
    #[must_use]
    pub fn protocol(&self) -> Option<String> {
        let hello: serde_json::Value = serde_json::from_str(&self.hello).ok()?;
        let last = || hello.get("supportedVersions")?.as_array()?.last()?.as_str();
        hello.get("protocolVersion").and_then(serde_json::Value::as_str).or_else(last).map(str::to_owned)
    }
}

/// The name of a server's capture file, without the directory.
#[must_use]
pub fn file_name(server: &str, identity: &str) -> String {
    format!("{}.json", digest_of_texts(&[server, identity]))
}

/// SHA-256 over texts, each with its length, so that texts cannot run together.
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
    fn a_stored_capture_is_read() {
        let text = capture().to_text("files", "id");
        assert_eq!(Capture::parse_stored(&text, "files", "id").unwrap(), capture());
        assert_eq!(capture().protocol().as_deref(), Some("2025-11-25"));
    }

    #[test]
    fn a_damaged_or_foreign_capture_is_rejected() {
        let text = capture().to_text("files", "id");
        for (text, server, identity, word) in [
            (text.replace("1.50", "1.51"), "files", "id", "digest"),
            (text.replace("\"version\":1", "\"version\":2"), "files", "id", "version"),
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
