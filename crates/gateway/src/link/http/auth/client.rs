//! The gateway as a client of an authorization server: a client that was registered beforehand, one
//! that is identified by the URL of its metadata, or one that registers itself (RFC 7591), in this
//! order, as the MCP specification requires.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use serde_json::json;

use super::assertion;
use super::discover::Found;
use super::kept::{Registration, StoredLogin};
use super::web::{Web, encoded};
use super::{AuthSettings, Grant};
use crate::link::beginning;

const BASIC: &str = "client_secret_basic";
const POST: &str = "client_secret_post";
const NONE: &str = "none";
const KEY: &str = "private_key_jwt";

pub(super) struct ClientId {
    pub(super) id: String,
    /// A name in `token_endpoint_auth_methods_supported`.
    pub(super) method: String,
    pub(super) secret: Option<String>,
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
    /// In seconds since 1970; 0 if it does not expire.
    client_secret_expires_at: Option<i64>,
}

/// The client for a login. If the login registers a client, it is added to `kept`.
pub(super) async fn client(
    web: &Web,
    settings: &AuthSettings,
    found: &Found,
    kept: &mut StoredLogin,
    redirect_uri: &str,
    now_ms: i64,
) -> Result<ClientId, String> {
    if settings.client_id.is_some() {
        return configured(settings, found, kept);
    }
    if let Some(url) =
        settings.client_metadata_url.as_ref().filter(|_| found.issuer.client_id_metadata_document_supported)
    {
        return Ok(ClientId { id: url.clone(), method: NONE.to_owned(), secret: None });
    }
    let is_valid = kept.registration.as_ref().is_some_and(|own| {
        let expired = own.until_ms.is_some_and(|until| until <= now_ms);
        own.issuer == found.issuer.issuer && own.redirect_uri == redirect_uri && !expired
    });
    if !is_valid {
        kept.registration = Some(register(web, found, redirect_uri).await?);
    }
    let own = kept.registration.as_ref().ok_or("no registered client")?;
    Ok(ClientId { id: own.client_id.clone(), method: own.method.clone(), secret: own.client_secret.clone() })
}

/// The configured client. Only the authorization server that had its secret gets it.
pub(super) fn configured(settings: &AuthSettings, found: &Found, kept: &mut StoredLogin) -> Result<ClientId, String> {
    let issuer = &found.issuer.issuer;
    let id = settings.client_id.clone().ok_or("`client_id` is missing in [gateway.server.NAME.auth]")?;
    if settings.client_secret.is_none() && settings.private_key.is_none() {
        return Ok(ClientId { id, method: NONE.to_owned(), secret: None });
    }
    if let Some(first) = kept.secret_for.as_ref().filter(|first| *first != issuer && settings.issuer.is_none()) {
        let why = "its secret belongs to `{first}` and is not sent to another server";
        let fix = "if the server has moved, set `issuer` or log out first";
        return Err(format!(
            "the server now names the authorization server `{issuer}`: {}; {fix}",
            why.replace("{first}", first)
        ));
    }
    kept.secret_for = Some(issuer.clone());
    if settings.private_key.is_some() {
        return Ok(ClientId { id, method: KEY.to_owned(), secret: None });
    }
    let method = if supports(found, BASIC) || !supports(found, POST) { BASIC } else { POST };
    Ok(ClientId { id, method: method.to_owned(), secret: settings.client_secret.clone() })
}

impl ClientId {
    /// The client that tokens were issued to, for renewing them.
    pub(super) fn of_tokens(settings: &AuthSettings, kept: &StoredLogin) -> Option<Self> {
        let tokens = kept.tokens.as_ref()?;
        let registered = kept.registration.as_ref();
        let registered = registered.filter(|own| own.issuer == tokens.issuer && own.client_id == tokens.client_id);
        let secret = registered.and_then(|own| own.client_secret.clone());
        let own = settings.client_secret.as_ref().filter(|_| settings.client_id.as_ref() == Some(&tokens.client_id));
        let secret = own.cloned().or(secret);
        Some(Self { id: tokens.client_id.clone(), method: tokens.method.clone(), secret })
    }

    /// Authenticates a token request: adds fields, or returns a header.
    pub(super) fn sign(
        &self,
        settings: &AuthSettings,
        issuer: &str,
        now_ms: i64,
        fields: &mut Vec<(String, String)>,
    ) -> Result<Option<HeaderValue>, String> {
        let secret = self.secret.as_deref();
        if self.method != BASIC {
            fields.push(("client_id".to_owned(), self.id.clone()));
        }
        match (self.method.as_str(), secret) {
            (BASIC, Some(secret)) => {
                // RFC 6749, section 2.3.1: both parts are form-encoded before they are joined.
                let [id, secret] = [&self.id, secret].map(|text| {
                    let form = encoded(&[(String::new(), text.to_owned())]);
                    form.strip_prefix('=').unwrap_or(&form).to_owned()
                });
                let pair = STANDARD.encode(format!("{id}:{secret}"));
                let mut value = HeaderValue::from_str(&format!("Basic {pair}")).map_err(|why| why.to_string())?;
                value.set_sensitive(true);
                return Ok(Some(value));
            }
            (POST, Some(secret)) => fields.push(("client_secret".to_owned(), secret.to_owned())),
            (KEY, _) => {
                let key = settings.private_key.as_deref().ok_or("`private_key` is missing")?;
                let assertion = assertion::signed(key, &self.id, issuer, now_ms)?;
                fields.push(("client_assertion_type".to_owned(), assertion::TYPE.to_owned()));
                fields.push(("client_assertion".to_owned(), assertion));
            }
            (NONE, _) => {}
            (method, None) => return Err(format!("`{method}` requires a client secret")),
            (method, Some(_)) => {
                return Err(format!("the client was registered for the unsupported method `{method}`"));
            }
        }
        Ok(None)
    }
}

fn supports(found: &Found, method: &str) -> bool {
    // RFC 8414, section 2: the default is `client_secret_basic`.
    let all = found.issuer.token_endpoint_auth_methods_supported.as_deref();
    all.map_or(method == BASIC, |all| all.iter().any(|own| own == method))
}

async fn register(web: &Web, found: &Found, redirect_uri: &str) -> Result<Registration, String> {
    const WHAT: &str = "the registration";
    let Some(endpoint) = &found.issuer.registration_endpoint else {
        return Err(format!(
            "the authorization server `{}` does not register clients automatically; register one there and set \
             `client_id` (or `client_metadata_url`) in [gateway.server.NAME.auth]",
            beginning(&found.issuer.issuer)
        ));
    };
    // A program on a user's machine cannot keep a secret (OAuth 2.1, 2.1): prefer `none`.
    let method = [NONE, BASIC, POST].into_iter().find(|own| supports(found, own)).unwrap_or(NONE);
    let body = json!({
        "client_name": "toolfold",
        "application_type": "native",
        "redirect_uris": [redirect_uri],
        "grant_types": [Grant::AuthorizationCode.name(), "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    let (status, body) = web.json(WHAT, web.url("the registration endpoint", endpoint)?, &body).await?;
    if !status.is_success() {
        return Err(format!("{WHAT} was rejected: {}", super::token::oauth_error(status, &body, &[])));
    }
    let own: Registered = serde_json::from_slice(&body).map_err(|_| format!("{WHAT} returned no client"))?;
    let given = own.token_endpoint_auth_method.unwrap_or_else(|| method.to_owned());
    Ok(Registration {
        issuer: found.issuer.issuer.clone(),
        client_id: own.client_id,
        method: if own.client_secret.is_none() { NONE.to_owned() } else { given },
        client_secret: own.client_secret,
        redirect_uri: redirect_uri.to_owned(),
        until_ms: own.client_secret_expires_at.filter(|at| *at > 0).map(|at| at.saturating_mul(1000)),
    })
}
