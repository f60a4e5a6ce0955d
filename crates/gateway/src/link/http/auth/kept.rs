//! What is kept of a server's login between two runs, as one JSON text. Reading and writing it is the host's ([`Vault`]).

use serde::{Deserialize, Serialize};

use super::challenge::{Challenge, Scopes};
use crate::error::GatewayError;

/// The form of the text.
const VERSION: u32 = 1;

/// Where a server's login is kept: a place that only its user can read. One vault is of one server.
pub trait Vault: Send + Sync {
    /// What was written last; `None` if nothing is there.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be read.
    fn read_login(&self) -> Result<Option<String>, GatewayError>;

    /// Writes a text, whole or not at all. `None` takes it away.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be written.
    fn write_login(&self, text: Option<&str>) -> Result<(), GatewayError>;

    /// Keeps others who use this vault, in this process or another, from changing it, until what is given is dropped. May
    /// block for a while.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be locked.
    fn lock_login(&self) -> Result<Box<dyn Send>, GatewayError>;

    /// The time, in milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// A login as the vault stores it. It contains secrets and is never displayed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    version: u32,
    /// The server's URL: what is kept is for no other.
    url: String,
    /// The client that was registered by the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registration: Option<Registration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Tokens>,
    /// What the server last refused, for the next login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wanted: Option<Challenge>,
    /// The authorization server that a configured secret was given to first. It is given to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret_for: Option<String>,
}

/// A client as an authorization server registered it (RFC 7591).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    /// The authorization server. No other is shown this client.
    pub(super) issuer: String,
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// How the client proves who it is: `none`, `client_secret_basic` or `client_secret_post`.
    pub(super) method: String,
    pub(super) redirect_uri: String,
    /// When the secret ends, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until_ms: Option<i64>,
}

/// Tokens, and what they are for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    /// Who gave them.
    pub(super) issuer: String,
    /// Where they are renewed.
    pub(super) token_endpoint: String,
    /// How the client proves who it is there.
    pub(super) method: String,
    /// The client that they were given to.
    pub(super) client_id: String,
    /// The resource that they are for, as its metadata writes it.
    pub(super) resource: String,
    pub(super) access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<String>,
    /// When the access token ends, in milliseconds since 1970, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until_ms: Option<i64>,
    /// The scopes that were asked for.
    pub(super) asked: Scopes,
    /// The scopes that were given.
    pub(super) given: Scopes,
}

impl StoredLogin {
    pub(super) fn new(url: &str) -> Self {
        Self { version: VERSION, url: url.to_owned(), ..Self::default() }
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what was kept for a URL.
    ///
    /// # Errors
    /// Why it cannot be used. What stands in it is not repeated.
    pub(super) fn parse_stored(text: &str, url: &str) -> Result<Self, String> {
        let kept: Self = serde_json::from_str(text).map_err(|_| "the kept login is damaged".to_owned())?;
        match (kept.version, kept.url == url) {
            (VERSION, true) => Ok(kept),
            (VERSION, false) => Err("the kept login is another server's".to_owned()),
            (other, _) => Err(format!("the kept login is of form {other}, and {VERSION} is read")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_of_one_server() {
        let text = StoredLogin::new("https://a.test/mcp").to_text();
        assert!(StoredLogin::parse_stored(&text, "https://a.test/mcp").is_ok());
        for (text, url) in [
            (text.as_str(), "https://b.test/mcp"),
            (&text.replace("\"version\":1", "\"version\":2"), "https://a.test/mcp"),
            (&text[1..], "https://a.test/mcp"),
        ] {
            assert!(StoredLogin::parse_stored(text, url).is_err(), "{text}");
        }
    }
}
