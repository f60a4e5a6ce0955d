//! Serves many clients over streamable HTTP: sessions, and from 2026-07-28 on single requests.

mod connections;
pub mod console;
mod elsewhere;
mod events;
pub mod guard;
mod headers;
mod limits;
mod session;
mod sessions;
mod site;
mod stateless;
mod status;
mod streams;
mod times;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use tokio::net::TcpListener;

use self::connections::{Connections, Listener, Place};
use self::console::Console;
use self::guard::Guard;
use self::headers::{accepts, media_type, mirrored, version_fits};
use self::limits::Limits;
use self::sessions::Sessions;
use self::stateless::Stateless;
use self::status::Status;
pub use self::times::Times;
use super::stdio::asked_to_end;
use crate::approvals::Approvals;
use crate::dashboard::Dashboard;
use crate::error::GatewayError;
use crate::names::ListedNames;
use crate::rpc::{Fault, Id, Message, Raw, code, error_member};
use crate::selection::Selection;
use crate::settings::{Settings, State as StoredState};
use crate::state::{Clock, MemoryState, StateStore};
use crate::version::{STATELESS, in_meta};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Settings of the HTTP transport.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Checks requests: host, origin and token.
    pub guard: Guard,
    /// The maximum size of a request body, in bytes.
    pub max_body: usize,
    /// The maximum number of open sessions per tenant. Fewer if their servers would need more than
    /// half of the files that the process may open.
    pub max_sessions: usize,
    /// The maximum number of open connections; `None`: a quarter of the files that the process may
    /// open, at most 10,000.
    pub max_connections: Option<usize>,
    /// Idle time after which a session is ended.
    pub idle: Duration,
    /// The source of `/healthz` and `/metrics`, which the settings' `watch` feeds.
    pub dashboard: Option<Dashboard>,
    /// The approvals that `/metrics` counts and the console answers.
    pub approvals: Option<Arc<Approvals>>,
    /// The store of conversations.
    pub state: Arc<dyn StateStore>,
    /// Checks requests for `/console`; `None` disables the console. Needs a dashboard.
    pub console: Option<Guard>,
    /// The time limits of connections and streams.
    pub times: Times,
}

impl HttpSettings {
    /// Settings for an address, with the defaults: local callers only, bodies up to 16 MiB, 1,000
    /// sessions, an idle time of one hour.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        let guard = Guard::default();
        let (max_body, max_sessions, idle) = (16 * 1024 * 1024, 1_000, Duration::from_secs(3_600));
        let state = Arc::new(MemoryState::new());
        Self {
            listen,
            guard,
            max_body,
            max_sessions,
            max_connections: None,
            idle,
            dashboard: None,
            approvals: None,
            state,
            console: None,
            times: Times::default(),
        }
    }
}

struct Front {
    http: HttpSettings,
    state: StoredState,
    tenants: BTreeMap<Arc<str>, Tenant>,
}

struct Tenant {
    settings: Settings,
    sessions: Sessions,
    stateless: Stateless,
}

/// A bound port that is not served yet.
pub struct Listening {
    listener: Listener,
    front: Arc<Front>,
}

/// Binds the port for the given tenants. The guard maps a request's token to its tenant. Raises the
/// process's limit on open files to the maximum that the system allows; servers keep the earlier
/// one.
///
/// # Errors
/// [`GatewayError`] if the address cannot be bound, if it is not a loopback address and no token is
/// required, or if the store of conversations cannot be used.
pub async fn listen(tenants: Vec<Settings>, http: HttpSettings, id: &str) -> Result<Listening, GatewayError> {
    if !http.listen.ip().is_loopback() && !http.guard.has_token() {
        return Err(format!("{} is reachable from other machines; configure a token", http.listen).into());
    }
    let address = http.listen;
    let port = TcpListener::bind(address).await.map_err(|why| format!("cannot listen on {address}: {why}"))?;
    let limits = Limits::from_files(limits::open_files(), &tenants);
    let connections = Connections::new(http.max_connections.unwrap_or(limits.connections), http.times);
    let listener = Listener { port, connections: Arc::new(connections) };
    let clock = Clock::synced_with(&*http.state).await.map_err(|why| why.to_string())?;
    let state = StoredState { store: http.state.clone(), clock: Arc::new(clock) };
    let mut served = BTreeMap::new();
    for mut settings in tenants {
        settings.state = Some(state.clone());
        let names = ListedNames::stored(state.store.clone(), settings.tenant.clone(), settings.seal.clone()).await;
        settings.names = Arc::new(names.map_err(|why| why.to_string())?);
        let most = http.max_sessions.min(limits.sessions);
        let sessions = Sessions::new(settings.clone(), id, most, http.times, listener.connections.clone());
        let stateless = Stateless::new(settings.clone(), id, http.times);
        served.insert(settings.tenant.clone(), Tenant { settings, sessions, stateless });
    }
    Ok(Listening { listener, front: Arc::new(Front { http, state, tenants: served }) })
}

impl Listening {
    /// The bound address, with the port that the system chose for port 0.
    ///
    /// # Errors
    /// If the system does not report the address.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        axum::serve::Listener::local_addr(&self.listener)
    }

    /// Serves until the process receives SIGTERM or SIGINT, then waits for running calls.
    ///
    /// # Errors
    /// If connections cannot be accepted.
    pub async fn serve(self) -> std::io::Result<()> {
        let Self { listener, front } = self;
        let sweeper = tokio::spawn(sweep(front.clone()));
        let hearer = tokio::spawn(hear(front.clone()));
        let HttpSettings { guard, dashboard, approvals, console, .. } = front.http.clone();
        let status = Status {
            guard,
            dashboard: dashboard.clone(),
            approvals: approvals.clone(),
            connections: listener.connections.clone(),
            state: front.http.state.clone(),
        };
        let console =
            dashboard.zip(console).map(|(dashboard, guard)| Console::new(dashboard, approvals.clone(), guard));
        let attending = approvals.filter(|_| console.is_some()).map(|approvals| tokio::spawn(approvals.attend()));
        let mut routes = Router::new()
            .route("/mcp", any(answer_request))
            .route("/mcp/", any(answer_request))
            .route("/mcp/{profile}", any(answer_request))
            .with_state(front.clone())
            .merge(status.routes());
        if let Some(console) = &console {
            routes = routes.merge(console.routes());
        }
        let routes = routes.layer(from_fn(connections::keep_place));
        let routes = routes.into_make_service_with_connect_info::<Place>();
        let ending = front.clone();
        let served = axum::serve(listener, routes)
            .with_graceful_shutdown(async move {
                asked_to_end().await;
                tracing::info!("shutting down; waiting for running calls");
                if let Some(console) = console {
                    console.end_streams();
                }
                let drained = ending.tenants.values().map(|own| async {
                    tokio::join!(own.sessions.drain(), own.stateless.drain());
                    own.settings.names.write_to_store().await;
                });
                futures_util::future::join_all(drained).await;
            })
            .await;
        sweeper.abort();
        hearer.abort();
        if let Some(attending) = attending {
            attending.abort();
        }
        served
    }
}

async fn sweep(front: Arc<Front>) {
    const EVERY: Duration = Duration::from_secs(30);
    loop {
        tokio::time::sleep(EVERY).await;
        for own in front.tenants.values() {
            own.sessions.end_idle(front.http.idle);
            own.stateless.end_idle(front.http.idle);
        }
        let StoredState { store, clock } = &front.state;
        let done = tokio::join!(store.purge(), clock.set_by(&**store));
        if let (Err(why), _) | (_, Err(why)) = done {
            tracing::error!("{why}");
        }
    }
}

/// Delivers the messages of clients that other processes got.
async fn hear(front: Arc<Front>) {
    let store = &front.state.store;
    while store.carries_messages() {
        if let Err(why) = store.until_message().await {
            tracing::debug!("{why}");
        }
        for own in front.tenants.values() {
            own.sessions.deliver_left().await;
        }
    }
}

async fn answer_request(State(front): State<Arc<Front>>, request: Request) -> Response {
    site::share_with_origins(&front.http.guard, request, |request| answer_from_site(&front, request)).await
}

async fn answer_from_site(front: &Front, request: Request) -> Response {
    let tenant = match front.http.guard.check_headers(request.headers()) {
        Ok(tenant) => front.tenants.get(&tenant),
        Err(refused) => return refused,
    };
    let Some(tenant) = tenant else {
        return plain_text(StatusCode::FORBIDDEN, "this token is not valid for this gateway");
    };
    let selection = Selection::from_request(request.uri().path(), request.uri().query(), request.headers());
    let selection = match selection.and_then(|own| own.check_names(&tenant.settings).map(|()| own)) {
        Ok(selection) => selection,
        Err(why) => {
            return refused(StatusCode::BAD_REQUEST, None, error_member(code::INVALID_REQUEST, &why.to_string()));
        }
    };
    match *request.method() {
        Method::POST => post(front, tenant, request, &selection).await,
        Method::GET => listening(tenant, request.headers(), &selection).await,
        Method::DELETE => leaving(tenant, request.headers(), &selection).await,
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, POST, DELETE")]).into_response(),
    }
}

async fn post(front: &Front, tenant: &Tenant, request: Request, selection: &Selection) -> Response {
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    if media_type(&headers) != JSON {
        return plain_text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
    }
    if !accepts(&headers, JSON) || !accepts(&headers, EVENTS) {
        let why = "the Accept header must list application/json and text/event-stream";
        return plain_text(StatusCode::NOT_ACCEPTABLE, why);
    }
    let bytes = match to_bytes(body, front.http.max_body).await {
        Ok(bytes) => bytes,
        Err(why) if why.to_string().contains("length limit") => {
            let why = format!("the body exceeds {} bytes", front.http.max_body);
            return plain_text(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        Err(_) => return plain_text(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
    };
    if let Some(ConnectInfo(place)) = parts.extensions.get::<ConnectInfo<Place>>() {
        place.is_complete();
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| Fault::not_utf8());
    let message = match text.and_then(Message::from_json) {
        Ok(message) => message,
        Err(fault) => return refused(StatusCode::BAD_REQUEST, fault.id, error_member(fault.code, &fault.why)),
    };
    let version = headers.get(&VERSION).map(|value| value.to_str().unwrap_or("?").to_owned());
    let (id, params) = match &message {
        Message::Request(own) => (Some(own.id.clone()), own.params.as_deref()),
        Message::Notification(own) => (None, own.params.as_deref()),
        Message::Response(..) | Message::Fault(..) => (None, None),
    };
    let in_body = params.and_then(in_meta);
    if let Err(why) = version_fits(version.as_deref(), in_body.as_deref(), id.is_some()) {
        return refused(StatusCode::BAD_REQUEST, id, why);
    }
    let stateless = in_body.is_some() || version.as_deref() == Some(STATELESS);
    if stateless {
        if let Err(why) = mirrored(&headers, &message) {
            return refused(StatusCode::BAD_REQUEST, id, error_member(code::HEADER_MISMATCH, &why));
        }
        return tenant.stateless.post(message, selection).await;
    }
    tenant.sessions.post(&headers, message, selection).await
}

async fn listening(tenant: &Tenant, headers: &HeaderMap, selection: &Selection) -> Response {
    if !accepts(headers, EVENTS) {
        return plain_text(StatusCode::NOT_ACCEPTABLE, "the Accept header must list text/event-stream");
    }
    if headers.get(&VERSION).is_some_and(|version| version == STATELESS) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")]).into_response();
    }
    tenant.sessions.listen_to_session(headers, selection).await
}

async fn leaving(tenant: &Tenant, headers: &HeaderMap, selection: &Selection) -> Response {
    if headers.get(&VERSION).is_some_and(|version| version == STATELESS) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")]).into_response();
    }
    tenant.sessions.delete(headers, selection).await
}

pub(super) fn plain_text(status: StatusCode, why: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{why}\n")).into_response()
}

pub(super) fn refused(status: StatusCode, id: Option<Id>, why: Raw) -> Response {
    json(status, &Message::Fault(id, why))
}

pub(super) fn json(status: StatusCode, message: &Message) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], Body::from(message.to_text())).into_response()
}

/// 202 without a body.
pub(super) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}
