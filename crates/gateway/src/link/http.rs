//! Messages over streamable HTTP (specifications 2025-03-26 to 2026-07-28): one POST for each
//! message, with a JSON response or an event stream. Up to 2025-11-25 there is also a session, and
//! a stream on which the server sends messages of its own.

pub mod auth;
mod body;
mod exchange;
mod headers;
mod notes;
mod renew;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::auth::Auth;
use self::exchange::Exchange;
use super::{Event, Outgoing, Resumed, Source};
use crate::rpc::{Message, Request};
use crate::version::has_sessions;

/// Time limit for connecting to a server.
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Known {
    /// The `Mcp-Session-Id` that the server assigned.
    session: Option<String>,
    version: Option<String>,
    /// The handshake that begins the session, or a new one in its place.
    hello: Option<Request>,
    /// The headers that mirror arguments, for each tool (`x-mcp-header`, specification 2026-07-28).
    mirrored: HashMap<String, headers::Mirrored>,
}

#[derive(Debug)]
struct Endpoint {
    client: reqwest::Client,
    url: reqwest::Url,
    known: Mutex<Known>,
    source: Source,
    stays: Arc<AtomicBool>,
    ends: CancellationToken,
    /// Held while a lost session is replaced.
    renewing: tokio::sync::Mutex<()>,
    /// The login; `None` if the configuration has an `Authorization` header.
    auth: Option<Arc<Auth>>,
}

pub(super) struct Of<'t> {
    pub(super) url: &'t str,
    pub(super) headers: &'t BTreeMap<String, String>,
    pub(super) auth: Option<Arc<Auth>>,
    pub(super) resumed: Option<Resumed>,
    /// Whether the session stays open after the connection ends.
    pub(super) stays: Arc<AtomicBool>,
}

pub(super) fn serve_endpoint(
    of: Of<'_>,
    source: Source,
    outgoing: mpsc::UnboundedReceiver<Outgoing>,
    ends: CancellationToken,
) -> Result<tokio::task::JoinHandle<()>, String> {
    let Of { url, headers, auth, resumed, stays } = of;
    let parsed = reqwest::Url::parse(url).map_err(|why| format!("`{url}` is not a valid URL: {why}"))?;
    let mut always = HeaderMap::new();
    for (name, value) in headers {
        // The value may be a secret, so the error does not contain it.
        let bad = || format!("invalid header `{name}`: its name or value has characters that headers must not contain");
        let mut sent = HeaderValue::from_str(value).map_err(|_| bad())?;
        sent.set_sensitive(true);
        always.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, sent);
    }
    let auth = auth.filter(|_| !always.contains_key(AUTHORIZATION));
    crate::tls::ready();
    let mut builder = reqwest::Client::builder();
    if !needs_authorities(&parsed) {
        builder = builder.tls_certs_only([]);
    }
    let client = builder
        .default_headers(always)
        .connect_timeout(CONNECT)
        .redirect(same_origin())
        .tcp_nodelay(true)
        .build()
        .map_err(|why| format!("cannot create an HTTP client: {why}"))?;
    let goes_on = resumed.is_some();
    let known = resumed.map(|Resumed { session, version, hello }| Known {
        session: Some(session),
        version: Some(version),
        hello: Some(hello),
        ..Known::default()
    });
    let known = Mutex::new(known.unwrap_or_default());
    let renewing = tokio::sync::Mutex::default();
    let endpoint = Arc::new(Endpoint { client, url: parsed, known, source, stays, ends: ends.clone(), renewing, auth });
    Ok(tokio::spawn(serve(endpoint, outgoing, ends, goes_on)))
}

/// Whether a connection to a server may use TLS. Otherwise, the certificates of this machine's
/// authorities are not read: a few hundred KB and several milliseconds. Redirects stay at the same
/// origin, and a proxy may be reached through TLS.
#[expect(clippy::disallowed_methods, reason = "reqwest reads its proxies from the environment")]
fn needs_authorities(url: &reqwest::Url) -> bool {
    let is_tls = |name: &str| std::env::var(name).is_ok_and(|proxy| proxy.starts_with("https"));
    url.scheme() != "http" || ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].into_iter().any(is_tls)
}

/// Follows redirects that repeat the request at the same origin (307 and 308, as for a missing
/// slash at the end of the path). Another host would receive the headers.
fn same_origin() -> Policy {
    const MAX: usize = 5;
    Policy::custom(|attempt| {
        let repeats = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let first = attempt.previous().first().map(reqwest::Url::origin);
        if repeats && first == Some(attempt.url().origin()) && attempt.previous().len() <= MAX {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

async fn serve(
    endpoint: Arc<Endpoint>,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    ends: CancellationToken,
    goes_on: bool,
) {
    let mut running: HashMap<u64, CancellationToken> = HashMap::new();
    let unanswered = notes::spawn_queue(&ends);
    let mut listening = goes_on;
    if goes_on {
        tokio::spawn(exchange::listen(endpoint.clone(), ends.child_token()));
    }
    loop {
        let next = tokio::select! {
            next = outgoing.recv() => next,
            () = ends.cancelled() => None,
        };
        match next {
            None => break,
            Some(Outgoing::Version(version)) => endpoint.with_known(|known| known.version = Some(version)),
            Some(Outgoing::Abandon(id)) => {
                if let Some(request) = running.remove(&id) {
                    request.cancel();
                }
            }
            Some(Outgoing::Message(message)) => {
                let id = match &message {
                    Message::Request(request) => request.id.as_number(),
                    Message::Notification(_) | Message::Response(..) | Message::Fault(..) => None,
                };
                if let Message::Request(request) = &message
                    && request.method == "initialize"
                {
                    endpoint.with_known(|known| known.hello = Some(request.clone()));
                }
                let starts =
                    matches!(&message, Message::Notification(note) if note.method == "notifications/initialized");
                let exchange = Exchange::new(endpoint.clone(), message, id);
                match id {
                    Some(id) => {
                        running.retain(|_, request| !request.is_cancelled());
                        let ends = ends.child_token();
                        running.insert(id, ends.clone());
                        tokio::spawn(async move {
                            exchange.run_exchange(&ends).await;
                            ends.cancel();
                        });
                    }
                    // A server may reject requests that arrive before this notification.
                    None if starts => notes::sent(exchange, ends.child_token()).await,
                    // Notifications stay in order.
                    None => drop(unanswered.send(exchange)),
                }
                if starts
                    && !listening
                    && endpoint.with_known(|known| known.version.as_deref().is_none_or(has_sessions))
                {
                    listening = true;
                    tokio::spawn(exchange::listen(endpoint.clone(), ends.child_token()));
                }
            }
        }
    }
    endpoint.leave().await;
    endpoint.source.tell(Event::Closed("the connection was closed".to_owned())).await;
}

impl Endpoint {
    fn with_known<T>(&self, act: impl FnOnce(&mut Known) -> T) -> T {
        // A panic leaves the value valid, since every change is one assignment.
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        act(&mut known)
    }

    async fn leave(&self) {
        if self.stays.load(Ordering::Acquire) {
            return;
        }
        let Some(session) = self.with_known(|known| known.session.take()) else { return };
        let asked = || self.client.delete(self.url.clone()).header(headers::SESSION, &session);
        drop(tokio::time::timeout(Duration::from_secs(2), self.sent(asked)).await);
    }
}
