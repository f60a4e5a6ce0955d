//! What the configuration says of a server's login.

/// How tokens are come by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in with a browser.
    #[default]
    AuthorizationCode,
    /// The gateway logs in by itself, with a secret or a key.
    ClientCredentials,
}

impl Grant {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::AuthorizationCode, Self::ClientCredentials];

    /// As OAuth names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
        }
    }
}

/// What the configuration says of a server's login. Everything may be left out: then the gateway registers itself.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AuthSettings {
    /// How tokens are come by.
    pub grant: Grant,
    /// The client that was registered for this gateway beforehand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// Its private key, PKCS#8 in PEM.
    pub private_key: Option<String>,
    /// The URL of the client's metadata, which is its id where an authorization server takes such.
    pub client_metadata_url: Option<String>,
    /// The authorization server that the client belongs to. Default: the first that the server names.
    pub issuer: Option<String>,
    /// The scopes to ask for. Empty: those that the server says it needs.
    pub scopes: Vec<String>,
    /// The port of this machine that the browser is sent back to. Default: any that is free.
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
