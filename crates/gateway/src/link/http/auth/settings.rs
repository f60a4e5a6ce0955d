//! The configured login settings of a server.

/// How the gateway obtains tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// A user logs in with a browser.
    #[default]
    AuthorizationCode,
    /// The gateway logs in with a secret or a key, without a user.
    ClientCredentials,
}

impl Grant {
    /// All grants.
    pub const ALL: [Self; 2] = [Self::AuthorizationCode, Self::ClientCredentials];

    /// The name in OAuth.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
        }
    }
}

/// The configured login settings of a server. By default, the gateway registers itself.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthSettings {
    /// How the gateway obtains tokens.
    pub grant: Grant,
    /// The client id that was registered for this gateway beforehand.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<String>,
    /// The client's private key, PKCS#8 in PEM.
    pub private_key: Option<String>,
    /// The URL of the client's metadata, a client id for servers that support it.
    pub client_metadata_url: Option<String>,
    /// The authorization server of the client. Default: the first one that the server lists.
    pub issuer: Option<String>,
    /// The scopes to request. Empty: those that the server requires.
    pub scopes: Vec<String>,
    /// The local port for the browser's redirect. Default: any free port.
    pub redirect_port: Option<u16>,
}

impl std::fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { grant, client_id, client_metadata_url, issuer, scopes, redirect_port, .. } = self;
        f.debug_struct("AuthSettings")
            .field("grant", grant)
            .field("client_id", client_id)
            .field("client_metadata_url", client_metadata_url)
            .field("issuer", issuer)
            .field("scopes", scopes)
            .field("redirect_port", redirect_port)
            .finish_non_exhaustive()
    }
}
