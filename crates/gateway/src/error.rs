//! The gateway's general error.

/// Why a setting, a connection, a conversation or a file is unavailable. Its `Display` is the
/// reason, in lower case and without a full stop. Errors that callers distinguish have their own
/// types, such as [`RunError`](crate::run::RunError).
///
/// Hosts also create it in implementations of [`Layers`](crate::settings::Layers) or
/// [`Vault`](crate::link::auth::Vault).
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
