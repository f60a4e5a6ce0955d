//! A person's login: the authorization code grant with PKCE, `resource`, `state` and `iss` (OAuth 2.1, section 4.1; RFC 7636,
//! RFC 8707, RFC 9207).

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

/// The scope by which some authorization servers give tokens that can be renewed (OpenID Connect Core, section 11; SEP-2207).
const OFFLINE: &str = "offline_access";

/// A login that went well.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedIn {
    /// Who gave the tokens.
    pub issuer: String,
    /// What they are for.
    pub resource: String,
    /// The scopes that were given.
    pub scopes: Vec<String>,
    /// When the access token ends, in milliseconds since 1970, where that was said.
    pub until_ms: Option<i64>,
    /// Whether the gateway can renew it without a person.
    pub can_renew: bool,
}

/// Why a login did not go well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// Nobody has answered in time.
    #[error("nobody has logged in within {} s{strange}", time.as_secs())]
    Late {
        /// The time that there was.
        time: Duration,
        /// What came instead, if anything did.
        strange: &'static str,
    },
    /// It was refused, or cannot be done.
    #[error("{0}")]
    Failed(String),
}

impl Auth {
    /// Logs in, and keeps the tokens. `show` gets the address that a person has to open; where the gateway logs in by itself, it
    /// is not called. Blocks until it is done, for `time` at most.
    ///
    /// # Errors
    /// [`LoginError`], with nothing kept.
    pub fn log_in(&self, time: Duration, show: &mut dyn FnMut(&str)) -> Result<LoggedIn, LoginError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| LoginError::Failed(why.to_string()))?;
        let mut strange = "";
        let done = runtime.block_on(async {
            let told = || strange = "; an answer with a wrong `state` came, which was not taken";
            tokio::time::timeout(time, self.logged_in(show, told)).await
        });
        runtime.shutdown_background();
        match done {
            Ok(done) => done.map_err(LoginError::Failed),
            Err(_) => Err(LoginError::Late { time, strange }),
        }
    }

    /// Forgets the tokens and the client. Whether there was anything.
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
        // Alone it would stand in the place of the scopes that are usual there.
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
        let tokens = kept.tokens.as_ref().ok_or("there is no token")?;
        Ok(LoggedIn {
            issuer: tokens.issuer.clone(),
            resource: tokens.resource.clone(),
            scopes: tokens.given.iter().cloned().collect(),
            until_ms: tokens.until_ms,
            can_renew: tokens.refresh.is_some(),
        })
    }

    /// What the server says to a request without a token, with what it refused last.
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

/// Where the parts of the flow go.
struct Endpoints {
    authorization: Url,
    token: String,
}

impl Endpoints {
    fn of_issuer(web: &Web, issuer: &Issuer) -> Result<Self, String> {
        let none = |what: &str| format!("the authorization server `{}` has no {what}", visible(&issuer.issuer));
        // The MCP specification: who does not say that S256 is taken is not asked.
        let methods = issuer.code_challenge_methods_supported.as_deref().unwrap_or_default();
        if !methods.iter().any(|own| own == "S256") {
            return Err(none("PKCE with S256 (`code_challenge_methods_supported`), without which a login is not safe"));
        }
        let authorization = issuer.authorization_endpoint.as_deref().ok_or_else(|| none("authorization endpoint"))?;
        let token = issuer.token_endpoint.clone().ok_or_else(|| none("token endpoint"))?;
        web.url("the token endpoint", &token)?;
        Ok(Self { authorization: web.url("the authorization endpoint", authorization)?, token })
    }
}

/// The code of an answer, if it is of the authorization server that was asked (RFC 9207, section 2.4).
fn code(answer: Answer, issuer: &Issuer) -> Result<String, String> {
    match &answer.iss {
        Some(iss) if *iss != issuer.issuer => {
            let (iss, own) = (beginning(iss), visible(&issuer.issuer));
            return Err(format!("the answer is of `{iss}`, and `{own}` was asked: it is not taken"));
        }
        None if issuer.authorization_response_iss_parameter_supported => {
            return Err(
                "the answer does not say who gave it (`iss`), which this authorization server always does: it is \
                 not taken"
                    .to_owned(),
            );
        }
        _ => {}
    }
    if let Some(error) = answer.error {
        let error = if is_scope(&error) { error } else { "error".to_owned() };
        return Err(format!("the authorization server refused the login: {}", visible(&error)));
    }
    answer.code.filter(|code| !code.is_empty()).ok_or_else(|| "the answer has no code".to_owned())
}

fn port(registration: &Registration) -> Option<u16> {
    Url::parse(&registration.redirect_uri).ok()?.port()
}
