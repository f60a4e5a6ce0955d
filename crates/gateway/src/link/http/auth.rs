//! Tokens for a server that requires a login (OAuth 2.1, as specified by MCP): selects the token of
//! a request, renews it, and handles its rejection. A token is only sent to the server that it was
//! issued for.
//!
//! This client is not from a crate: the flow is a few small requests, and its critical part (which
//! party is trusted for what) is in no general crate. Signatures are from `ring`, which TLS needs
//! anyway.

mod assertion;
mod challenge;
mod client;
mod discover;
mod kept;
mod login;
mod redirect;
mod settings;
mod token;
mod web;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use reqwest::header::HeaderValue;

pub(super) use self::challenge::Challenge;
use self::challenge::Scopes;
use self::client::ClientId;
pub use self::kept::Vault;
use self::kept::{StoredLogin, Tokens};
pub use self::login::{LoggedIn, LoginError};
pub use self::settings::{AuthSettings, Grant};
use self::token::{For, Refused};
use self::web::{Web, is_loopback, safe_url};
use crate::error::GatewayError;

/// How long before its end a token is renewed, in milliseconds: transit and clocks.
const EARLY_MS: i64 = 30_000;

/// How long a read login is used, in milliseconds: the user may have logged out.
const AGE_MS: i64 = 10_000;

/// Pause after an authorization server failed, in milliseconds, so that calls do not wait.
const REST_MS: i64 = 15_000;

/// The login at one server, shared by all connections to it.
pub struct Auth {
    server: String,
    url: Url,
    settings: AuthSettings,
    vault: Arc<dyn Vault>,
    /// The command with which a user logs in.
    command: String,
    web: OnceLock<Result<Web, String>>,
    /// The login that was read last, with the time of reading. `None` before the first read.
    known: Mutex<Option<(Arc<StoredLogin>, i64)>>,
    /// Why the last request was rejected; `None` after a request that was not.
    refused: Mutex<Option<String>>,
    /// The end of the pause after a failure, in milliseconds since 1970, and its reason.
    resting: Mutex<Option<(i64, String)>>,
    renewing: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("server", &self.server).finish_non_exhaustive()
    }
}

impl PartialEq for Auth {
    fn eq(&self, other: &Self) -> bool {
        (&self.server, &self.url, &self.settings) == (&other.server, &other.url, &other.settings)
    }
}

impl Eq for Auth {}

impl Auth {
    /// The login at a server. `command` is the command with which a user logs in.
    ///
    /// # Errors
    /// [`GatewayError`] if the URL is invalid.
    pub fn new(
        server: &str,
        url: &str,
        settings: AuthSettings,
        vault: Arc<dyn Vault>,
        command: &str,
    ) -> Result<Self, GatewayError> {
        let url = Url::parse(url).map_err(|why| format!("the URL of server `{server}` is invalid: {why}"))?;
        Ok(Self {
            server: server.to_owned(),
            url,
            settings,
            vault,
            command: command.to_owned(),
            web: OnceLock::new(),
            known: Mutex::default(),
            refused: Mutex::default(),
            resting: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
        })
    }

    /// Why a login is required, if the last request was rejected for that.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        lock_unpoisoned(&self.refused).clone()
    }

    /// The token for a request, if one is stored. A token that is about to expire is renewed first.
    pub(super) async fn bearer(self: &Arc<Self>) -> Option<Bearer> {
        let kept = self.known().ok()?;
        let tokens = kept.tokens.as_ref()?;
        let ends = tokens.until_ms.is_some_and(|until| until - EARLY_MS <= self.vault.now_ms());
        if !ends || tokens.refresh.is_none() {
            return Bearer::from_token(&tokens.access);
        }
        let (own, used) = (self.clone(), tokens.access.clone());
        let renewed = run_to_end(async move {
            let _renewing = own.renewing.lock().await;
            own.renewed(&used).await
        });
        if let Err(why) = renewed.await {
            tracing::info!(server = self.server, "cannot renew the token: {why}");
        }
        Bearer::from_token(&self.known().ok()?.tokens.as_ref()?.access)
    }

    /// Handles a rejection. On `Ok`, the caller sends the request again.
    pub(super) async fn challenged(self: &Arc<Self>, challenge: Challenge, used: Option<Bearer>) -> Result<(), String> {
        let own = self.clone();
        let outcome = run_to_end(async move {
            let _renewing = own.renewing.lock().await;
            own.answer_challenge(&challenge, used.as_ref()).await
        });
        let outcome = outcome.await;
        *lock_unpoisoned(&self.refused) = outcome.as_ref().err().cloned();
        outcome
    }

    pub(super) fn accepted(&self) {
        let mut refused = lock_unpoisoned(&self.refused);
        if refused.is_some() {
            *refused = None;
        }
    }

    async fn answer_challenge(&self, challenge: &Challenge, used: Option<&Bearer>) -> Result<(), String> {
        let kept = self.read_again()?;
        // The user or another process may have renewed the tokens meanwhile.
        if let Some(tokens) = &kept.tokens
            && used.is_none_or(|used| used.token != tokens.access)
        {
            return Ok(());
        }
        if challenge.is_step_up
            && let Some(tokens) = &kept.tokens
        {
            self.step_up(challenge, tokens)?;
        } else if let Some(tokens) = kept.tokens.as_ref().filter(|own| own.refresh.is_some()) {
            match self.renewed(&tokens.access.clone()).await {
                Ok(()) => return Ok(()),
                Err(why) => tracing::info!(server = self.server, "cannot renew the token: {why}"),
            }
        }
        if self.settings.grant == Grant::ClientCredentials {
            self.rests()?;
            return self.rested(self.by_itself(challenge).await);
        }
        if let Err(why) = self.remember(challenge).await {
            tracing::warn!(server = self.server, "{why}");
        }
        Err(match challenge.is_step_up {
            false => format!("login required; run `{}`", self.command),
            true => {
                let scopes = challenge::joined(&challenge.scopes);
                format!("more scopes required (`{scopes}`); log in again with `{}`", self.command)
            }
        })
    }

    /// Checks that another login could help: not for scopes already requested.
    fn step_up(&self, challenge: &Challenge, tokens: &Tokens) -> Result<(), String> {
        if challenge.scopes.is_empty() || !challenge.scopes.is_subset(&tokens.asked) {
            return Ok(());
        }
        let scopes = challenge::joined(&challenge.scopes);
        Err(format!(
            "the server requires the scopes `{scopes}`, which the last login already requested; another login will not help"
        ))
    }

    /// An error during the pause after a failure.
    fn rests(&self) -> Result<(), String> {
        let resting = lock_unpoisoned(&self.resting).clone().filter(|(until, _)| *until > self.vault.now_ms());
        resting.map_or(Ok(()), |(_, why)| Err(why))
    }

    fn rested<T>(&self, outcome: Result<T, String>) -> Result<T, String> {
        let until = self.vault.now_ms().saturating_add(REST_MS);
        *lock_unpoisoned(&self.resting) = outcome.as_ref().err().map(|why| (until, why.clone()));
        outcome
    }

    /// Renews the tokens, unless another access token than `used` is stored.
    async fn renewed(&self, used: &str) -> Result<(), String> {
        let locked = self.locked().await?;
        let mut kept = StoredLogin::clone(&*self.read_again()?);
        let Some(tokens) = kept.tokens.clone().filter(|own| own.access == used) else { return Ok(()) };
        let Some(refresh) = tokens.refresh.clone() else { return Err("no refresh token".to_owned()) };
        let client = ClientId::of_tokens(&self.settings, &kept).ok_or("no registered client")?;
        let of = For {
            issuer: &tokens.issuer,
            token_endpoint: &tokens.token_endpoint,
            resource: &tokens.resource,
            asked: tokens.asked.clone(),
        };
        let fields =
            vec![("grant_type".to_owned(), "refresh_token".to_owned()), ("refresh_token".to_owned(), refresh.clone())];
        self.rests()?;
        let now_ms = self.vault.now_ms();
        let outcome = match token::request_tokens(self.web()?, &self.settings, &client, of, fields, now_ms).await {
            Ok(mut new) => {
                new.refresh = new.refresh.or(Some(refresh));
                kept.tokens = Some(new);
                tracing::debug!(server = self.server, "renewed the token");
                Ok(())
            }
            Err(Refused { is_final, why }) => {
                // Prevents another attempt for each request.
                if is_final && let Some(tokens) = &mut kept.tokens {
                    tokens.refresh = None;
                }
                Err(why)
            }
        };
        if let Err(why) = self.store_login(kept) {
            tracing::warn!(server = self.server, "{why}");
        }
        drop(locked);
        self.rested(outcome)
    }

    /// Logs in without a user, by the client credentials grant.
    async fn by_itself(&self, challenge: &Challenge) -> Result<(), String> {
        let locked = self.locked().await?;
        let before = self.known()?.tokens.clone();
        let mut kept = StoredLogin::clone(&*self.read_again()?);
        if kept.tokens != before {
            return Ok(());
        }
        let web = self.web()?;
        let found = discover::discover(web, &self.url, challenge, self.settings.issuer.as_deref()).await?;
        let client = client::configured(&self.settings, &found, &mut kept)?;
        let asked = self.scopes(challenge, &found, kept.tokens.as_ref());
        let endpoint =
            found.issuer.token_endpoint.as_deref().ok_or("the authorization server has no token endpoint")?;
        let mut fields = vec![("grant_type".to_owned(), Grant::ClientCredentials.name().to_owned())];
        if !asked.is_empty() {
            fields.push(("scope".to_owned(), challenge::joined(&asked)));
        }
        let of = For { issuer: &found.issuer.issuer, token_endpoint: endpoint, resource: &found.resource, asked };
        let given = token::request_tokens(web, &self.settings, &client, of, fields, self.vault.now_ms()).await;
        kept.tokens = Some(given.map_err(|refused| refused.why)?);
        self.store_login(kept)?;
        drop(locked);
        Ok(())
    }

    /// The configured scopes, else those of the rejection, else those in the resource's metadata.
    /// A step-up adds the scopes of the last login, so that none is lost (SEP-2350).
    fn scopes(&self, challenge: &Challenge, found: &discover::Found, before: Option<&Tokens>) -> Scopes {
        let mut all: Scopes = match (self.settings.scopes.is_empty(), challenge.scopes.is_empty()) {
            (false, _) => self.settings.scopes.iter().cloned().collect(),
            (true, false) => Scopes::new(),
            (true, true) => found.scopes.clone(),
        };
        if self.settings.scopes.is_empty() || challenge.is_step_up {
            all.extend(challenge.scopes.iter().cloned());
        }
        let is_same = |own: &&Tokens| own.issuer == found.issuer.issuer && own.resource == found.resource;
        if let Some(before) = before.filter(is_same).filter(|_| challenge.is_step_up) {
            all.extend(before.asked.iter().cloned());
        }
        all
    }

    fn web(&self) -> Result<&Web, String> {
        self.web.get_or_init(|| Web::new(&self.url)).as_ref().map_err(Clone::clone)
    }

    /// Checks that a token may be sent to the server.
    fn is_safe(&self) -> Result<(), String> {
        safe_url(is_loopback(&self.url), "the server", self.url.as_str()).map(drop)
    }

    /// The stored login, read at most [`AGE_MS`] ago.
    fn known(&self) -> Result<Arc<StoredLogin>, String> {
        let oldest = self.vault.now_ms() - AGE_MS;
        let known = lock_unpoisoned(&self.known).as_ref().filter(|(_, at)| *at >= oldest).map(|(kept, _)| kept.clone());
        known.map_or_else(|| self.read_again(), Ok)
    }

    fn read_again(&self) -> Result<Arc<StoredLogin>, String> {
        let kept = match self.vault.read_login()? {
            Some(text) => StoredLogin::parse_stored(&text, self.url.as_str()).unwrap_or_else(|why| {
                tracing::warn!(server = self.server, "ignored the stored login: {why}");
                StoredLogin::new(self.url.as_str())
            }),
            None => StoredLogin::new(self.url.as_str()),
        };
        let mut kept = kept;
        if self.is_safe().is_err() {
            kept.tokens = None;
        }
        let kept = Arc::new(kept);
        *lock_unpoisoned(&self.known) = Some((kept.clone(), self.vault.now_ms()));
        Ok(kept)
    }

    async fn remember(&self, challenge: &Challenge) -> Result<(), String> {
        if self.known()?.wanted.as_ref() == Some(challenge) {
            return Ok(());
        }
        let locked = self.locked().await?;
        let mut kept = StoredLogin::clone(&*self.read_again()?);
        kept.wanted = Some(challenge.clone());
        self.store_login(kept)?;
        drop(locked);
        Ok(())
    }

    /// Locks the vault until the returned guard is dropped.
    async fn locked(&self) -> Result<Box<dyn Send>, String> {
        let vault = self.vault.clone();
        Ok(tokio::task::spawn_blocking(move || vault.lock_login()).await.map_err(|why| why.to_string())??)
    }

    fn store_login(&self, kept: StoredLogin) -> Result<(), String> {
        let written = self.vault.write_login(Some(&kept.to_text()));
        // The login is used in this run even if storing fails.
        *lock_unpoisoned(&self.known) = Some((Arc::new(kept), self.vault.now_ms()));
        Ok(written?)
    }
}

pub(super) struct Bearer {
    token: String,
    pub(super) header: HeaderValue,
}

impl Bearer {
    fn from_token(token: &str) -> Option<Self> {
        let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        header.set_sensitive(true);
        Some(Self { token: token.to_owned(), header })
    }
}

/// Runs a future to its end even if the caller stops waiting: a used refresh token whose response
/// is lost would end the login.
async fn run_to_end(what: impl Future<Output = Result<(), String>> + Send + 'static) -> Result<(), String> {
    tokio::spawn(what).await.map_err(|why| why.to_string())?
}

/// 256 random bits, encoded for a URL.
fn random() -> Result<String, String> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits).map_err(|why| format!("the system has no random bits: {why}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bits))
}

/// A panic leaves the value valid, since every change is one assignment.
fn lock_unpoisoned<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
