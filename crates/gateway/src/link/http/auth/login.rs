//! A user's login: the authorization code grant with PKCE, `resource`, `state` and `iss` (OAuth
//! 2.1, section 4.1; RFC 7636, RFC 8707, RFC 9207).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::runtime::Builder;
use toolfold::diagnostic::visible;

use super::challenge::{Challenge, is_scope, joined};
use super::discover::{Issuer, discover};
use super::kept::{Registration, StoredLogin};
use super::redirect::{Answer, Redirect};
use super::token::{self, For};
use super::web::Web;
use super::{Auth, Grant, client, lock_unpoisoned, random};
use crate::error::GatewayError;
use crate::link::beginning;
use crate::version::{STATELESS, WITH_SESSIONS};

/// The scope for refresh tokens (OpenID Connect Core, section 11; SEP-2207).
const OFFLINE: &str = "offline_access";

/// A successful login.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedIn {
    /// The authorization server that issued the tokens.
    pub issuer: String,
    /// The resource that they are for.
    pub resource: String,
    /// The granted scopes.
    pub scopes: Vec<String>,
    /// When the access token expires, in milliseconds since 1970, if known.
    pub until_ms: Option<i64>,
    /// Whether the gateway can renew the token without a user.
    pub can_renew: bool,
}

/// Why a login failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// No login within the time limit.
    #[error("no login within {} s{strange}", time.as_secs())]
    Late {
        /// The time limit.
        time: Duration,
        /// A note about unexpected requests, if there were any.
        strange: &'static str,
    },
    /// The login was rejected or is not possible.
    #[error("{0}")]
    Failed(String),
}

impl Auth {
    /// Logs in and stores the tokens. `show` receives the address that the user opens; it is not
    /// called for the client credentials grant. Blocks until the login is done, for at most `time`.
    ///
    /// # Errors
    /// [`LoginError`]; nothing is stored then.
    pub fn log_in(&self, time: Duration, show: &mut dyn FnMut(&str)) -> Result<LoggedIn, LoginError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| LoginError::Failed(why.to_string()))?;
        let mut strange = "";
        let done = runtime.block_on(async {
            let on_strange = || strange = "; ignored a response with a wrong `state`";
            tokio::time::timeout(time, self.logged_in(show, on_strange)).await
        });
        runtime.shutdown_background();
        match done {
            Ok(done) => done.map_err(LoginError::Failed),
            Err(_) => Err(LoginError::Late { time, strange }),
        }
    }

    /// Removes the tokens and the client. Returns whether there were any.
    ///
    /// # Errors
    /// [`GatewayError`] if the vault cannot be changed.
    pub fn log_out(&self) -> Result<bool, GatewayError> {
        let locked = self.vault.lock_login()?;
        let was_there = self.vault.read_login()?.is_some();
        if was_there {
            self.vault.write_login(None)?;
        }
        *lock_unpoisoned(&self.known) = None;
        drop(locked);
        Ok(was_there)
    }

    async fn logged_in(&self, show: &mut dyn FnMut(&str), strange: impl FnMut()) -> Result<LoggedIn, String> {
        self.is_safe()?;
        let web = self.web()?;
        let mut kept = StoredLogin::clone(&*self.read_again()?);
        let challenge = self.challenge(web, &kept).await?;
        if self.settings.grant == Grant::ClientCredentials {
            self.by_itself(&challenge).await?;
            return self.result();
        }
        let found = discover(web, &self.url, &challenge, self.settings.issuer.as_deref()).await?;
        let endpoints = Endpoints::of_issuer(web, &found.issuer)?;
        let usual = kept.registration.as_ref().filter(|own| own.issuer == found.issuer.issuer).and_then(port);
        let redirect = Redirect::listen(self.settings.redirect_port, usual).await?;
        let now_ms = self.vault.now_ms();
        let who = client::client(web, &self.settings, &found, &mut kept, &redirect.uri, now_ms).await?;
        let mut asked = self.scopes(&challenge, &found, kept.tokens.as_ref());
        // Alone, it would replace the server's default scopes.
        let offers = found.issuer.scopes_supported.as_deref().unwrap_or_default();
        if !asked.is_empty() && offers.iter().any(|own| own == OFFLINE) {
            asked.insert(OFFLINE.to_owned());
        }
        let (state, verifier) = (random()?, random()?);
        let mut address = endpoints.authorization;
        let scope = joined(&asked);
        let own = [
            ("response_type", "code"),
            ("client_id", &who.id),
            ("redirect_uri", &redirect.uri),
            ("state", &state),
            ("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))),
            ("code_challenge_method", "S256"),
            ("resource", &found.resource),
            ("scope", &scope),
        ];
        address.query_pairs_mut().extend_pairs(own.iter().filter(|(_, value)| !value.is_empty()));
        show(address.as_str());
        let answer = redirect.wait_for_answer(&state, strange).await?;
        let code = code(answer, &found.issuer)?;
        let fields = [
            ("grant_type", Grant::AuthorizationCode.name()),
            ("code", &code),
            ("redirect_uri", &redirect.uri),
            ("code_verifier", &verifier),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let (issuer, resource) = (&found.issuer.issuer, &found.resource);
        let of = For { issuer, token_endpoint: &endpoints.token, resource, asked };
        let given = token::request_tokens(web, &self.settings, &who, of, fields, self.vault.now_ms()).await;
        kept.tokens = Some(given.map_err(|refused| refused.why)?);
        kept.wanted = None;
        let locked = self.locked().await?;
        self.store_login(kept)?;
        drop(locked);
        self.result()
    }

    fn result(&self) -> Result<LoggedIn, String> {
        let kept = self.known()?;
        let tokens = kept.tokens.as_ref().ok_or("no token is stored")?;
        Ok(LoggedIn {
            issuer: tokens.issuer.clone(),
            resource: tokens.resource.clone(),
            scopes: tokens.given.iter().cloned().collect(),
            until_ms: tokens.until_ms,
            can_renew: tokens.refresh.is_some(),
        })
    }

    /// The server's response to a request without a token, combined with its last rejection.
    async fn challenge(&self, web: &Web, kept: &StoredLogin) -> Result<Challenge, String> {
        let info = json!({"name": "toolfold", "version": env!("CARGO_PKG_VERSION")});
        let meta = json!({"io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": info, "io.modelcontextprotocol/clientCapabilities": {}});
        let hello = json!({"protocolVersion": WITH_SESSIONS[0], "capabilities": {}, "clientInfo": info});
        let asks = [("initialize", hello), ("tools/list", json!({"_meta": meta}))];
        let mut fresh = None;
        for (method, params) in asks {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let response = web.post_without_token(self.url.clone(), &body).await?;
            fresh = Challenge::from_response(response.status(), response.headers());
            if fresh.is_some() {
                break;
            }
        }
        let before = kept.wanted.clone();
        let Some(mut fresh) = fresh else { return Ok(before.unwrap_or_default()) };
        if let Some(before) = before.filter(|own| own.is_step_up || fresh.scopes.is_empty()) {
            fresh.scopes.extend(before.scopes);
            fresh.is_step_up |= before.is_step_up;
        }
        Ok(fresh)
    }
}

struct Endpoints {
    authorization: Url,
    token: String,
}

impl Endpoints {
    fn of_issuer(web: &Web, issuer: &Issuer) -> Result<Self, String> {
        let none = |what: &str| format!("the authorization server `{}` has no {what}", visible(&issuer.issuer));
        // The MCP specification: a client must not proceed if S256 is not listed.
        let methods = issuer.code_challenge_methods_supported.as_deref().unwrap_or_default();
        if !methods.iter().any(|own| own == "S256") {
            return Err(none("PKCE with S256 (`code_challenge_methods_supported`), which a secure login requires"));
        }
        let authorization = issuer.authorization_endpoint.as_deref().ok_or_else(|| none("authorization endpoint"))?;
        let token = issuer.token_endpoint.clone().ok_or_else(|| none("token endpoint"))?;
        web.url("the token endpoint", &token)?;
        Ok(Self { authorization: web.url("the authorization endpoint", authorization)?, token })
    }
}

/// The code of a response, if its issuer is the requested one (RFC 9207, section 2.4).
fn code(answer: Answer, issuer: &Issuer) -> Result<String, String> {
    match &answer.iss {
        Some(iss) if *iss != issuer.issuer => {
            let (iss, own) = (beginning(iss), visible(&issuer.issuer));
            return Err(format!("rejected a response from `{iss}`: the login was requested from `{own}`"));
        }
        None if issuer.authorization_response_iss_parameter_supported => {
            return Err("rejected a response without `iss`, which this authorization server always includes".to_owned());
        }
        _ => {}
    }
    if let Some(error) = answer.error {
        let error = if is_scope(&error) { error } else { "error".to_owned() };
        return Err(format!("the authorization server rejected the login: {}", visible(&error)));
    }
    answer.code.filter(|code| !code.is_empty()).ok_or_else(|| "the response has no code".to_owned())
}

fn port(registration: &Registration) -> Option<u16> {
    Url::parse(&registration.redirect_uri).ok()?.port()
}
