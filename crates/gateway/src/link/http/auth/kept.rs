//! A server's login as one JSON text, which the host stores ([`Vault`]).

use serde::{Deserialize, Serialize};

use super::challenge::{Challenge, Scopes};
use crate::error::GatewayError;

const VERSION: u32 = 1;

/// Storage of one server's login, which only its user can read.
pub trait Vault: Send + Sync {
    /// Returns the stored text; `None` if there is none.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be read.
    fn read_login(&self) -> Result<Option<String>, GatewayError>;

    /// Replaces the stored text atomically. `None` removes it.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be written.
    fn write_login(&self, text: Option<&str>) -> Result<(), GatewayError>;

    /// Locks the vault for all processes until the guard is dropped. May block.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be locked.
    fn lock_login(&self) -> Result<Box<dyn Send>, GatewayError>;

    /// The current time, in milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// A login as the vault stores it. It contains secrets and is never displayed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    version: u32,
    /// The server's URL. The login is not used for another server.
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registration: Option<Registration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Tokens>,
    /// The server's last rejection, for the next login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wanted: Option<Challenge>,
    /// The only authorization server that receives the configured secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret_for: Option<String>,
}

/// A client that an authorization server has registered (RFC 7591).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    /// The authorization server. The client is not used with another one.
    pub(super) issuer: String,
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// The authentication method: `none`, `client_secret_basic` or `client_secret_post`.
    pub(super) method: String,
    pub(super) redirect_uri: String,
    /// When the secret expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until_ms: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) method: String,
    pub(super) client_id: String,
    /// The resource that they are for, as in its metadata.
    pub(super) resource: String,
    pub(super) access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh: Option<String>,
    /// When the access token expires, in milliseconds since 1970, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until_ms: Option<i64>,
    pub(super) asked: Scopes,
    pub(super) given: Scopes,
}

impl StoredLogin {
    pub(super) fn new(url: &str) -> Self {
        Self { version: VERSION, url: url.to_owned(), ..Self::default() }
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored login of a URL. An error states why it is unusable, without its content.
    pub(super) fn parse_stored(text: &str, url: &str) -> Result<Self, String> {
        let kept: Self = serde_json::from_str(text).map_err(|_| "the stored login is damaged".to_owned())?;
        match (kept.version, kept.url == url) {
            (VERSION, true) => Ok(kept),
            (VERSION, false) => Err("the stored login belongs to another server".to_owned()),
            (other, _) => Err(format!("the stored login has the unsupported version {other}; expected {VERSION}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_login_belongs_to_one_server() {
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
