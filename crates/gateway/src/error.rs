//! Why something of the gateway cannot be had.

/// Why something cannot be had: a setting, a connection, a conversation, a file. Its `Display` is the reason, in lower case
/// and without a full stop. What a caller can tell apart has types of its own, such as [`RunError`](crate::run::RunError).
///
/// Hosts make it too, where they implement [`Layers`](crate::settings::Layers) or [`Vault`](crate::link::auth::Vault).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GatewayError(String);

impl GatewayError {
    /// An error with its reason.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl From<String> for GatewayError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl From<&str> for GatewayError {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<GatewayError> for String {
    fn from(error: GatewayError) -> Self {
        error.0
    }
}
