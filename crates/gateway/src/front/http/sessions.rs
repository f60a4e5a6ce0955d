//! The sessions of one tenant's clients, for versions up to 2025-11-25.
//!
//! The session id is sealed and identifies the conversation to every process that has the key. If
//! the conversation is stored, any of these processes can resume it, after a restart or in place of
//! another process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connections::{Connections, try_later};
use super::elsewhere::Elsewhere;
use super::session::{Session, StoredSession};
use super::{SESSION, Times, VERSION, accepted, plain_text, refused};
use crate::rpc::{Id, Message, code, error_member};
use crate::seal::{Opened, Sealed};
use crate::selection::Selection;
use crate::settings::Settings;
use crate::state::{Record, StateError, StateKey};

/// The maximum size of `initialize` in a session id, in bytes: many servers limit headers to 8 KiB.
const MAX_CARRIED: usize = 3 * 1024;

/// How long a new session waits for the end of another one: longer than a server's process takes to
/// end when it ignores the end of its input.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The interval in which a waiting session searches for an idle one.
const RETRY: Duration = Duration::from_millis(200);

/// How long the end of a session is remembered, in milliseconds: longer than its id is valid.
const ENDED_MS: i64 = 31 * 24 * 60 * 60 * 1000;

/// The first version whose clients accept events without a message (specification 2025-11-25,
/// "Streamable HTTP"): earlier SDKs parse them as JSON and report an error.
const EMPTY_EVENTS: &str = "2025-11-25";

pub(super) struct Sessions {
    settings: Settings,
    id: String,
    most: usize,
    /// One permit for each session, from its start to the end of its servers.
    room: Arc<Semaphore>,
    times: Times,
    connections: Arc<Connections>,
    open: Mutex<HashMap<String, Arc<Session>>>,
    /// Held while a session is resumed, so that two requests do not resume it twice.
    taking_up: tokio::sync::Mutex<()>,
    elsewhere: Elsewhere,
}

impl Sessions {
    pub(super) fn new(settings: Settings, id: &str, most: usize, times: Times, connections: Arc<Connections>) -> Self {
        let (open, taking_up) = (Mutex::default(), tokio::sync::Mutex::default());
        let room = Arc::new(Semaphore::new(most));
        let elsewhere = Elsewhere::new();
        Self { settings, id: id.to_owned(), most, room, times, connections, open, taking_up, elsewhere }
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn post(&self, headers: &HeaderMap, message: Message, selection: &Selection) -> Response {
        if matches!(&message, Message::Request(own) if own.method == "initialize") && !headers.contains_key(&SESSION) {
            return self.begin(message, selection).await;
        }
        let session = match self.selected_session(headers, selection).await {
            Ok(session) => session,
            Err(refused) => return refused,
        };
        match message {
            Message::Request(request) => {
                let has_empty_events =
                    headers.get(&VERSION).is_some_and(|version| version.as_bytes() >= EMPTY_EVENTS.as_bytes());
                session.answer_request(request, has_empty_events).await
            }
            other => {
                self.elsewhere.leave(&self.settings, session.state_key(), &other).await;
                session.say(other).await;
                accepted()
            }
        }
    }

    /// Delivers the messages of clients that other processes got, to sessions in which something
    /// may wait for them.
    pub(super) async fn deliver_left(&self) {
        let open: Vec<Arc<Session>> = self.lock_sessions().values().cloned().collect();
        let busy: Vec<Arc<Session>> = open.into_iter().filter(|session| session.quiet_since().is_none()).collect();
        self.elsewhere.deliver(&self.settings, &busy).await;
    }

    async fn begin(&self, message: Message, selection: &Selection) -> Response {
        let Message::Request(request) = message else { return accepted() };
        let settings = match selection.settings(&self.settings) {
            Ok(settings) => settings,
            Err(why) => {
                let why = error_member(code::INVALID_REQUEST, &why.to_string());
                return refused(StatusCode::BAD_REQUEST, Some(request.id), why);
            }
        };
        // Names also depend on the tools that servers have listed to other processes.
        if let Err(why) = self.settings.names.refresh().await {
            return unkept(&why);
        }
        let Some(number) = random() else {
            return plain_text(StatusCode::INTERNAL_SERVER_ERROR, "the system has no random bits");
        };
        // The audit contains conversation ids, and the session id is a secret.
        let conversation = format!("{}/{number}", self.id);
        let params = request.params.as_deref().map(|own| own.get().to_owned());
        let params = params.filter(|text| text.len() <= MAX_CARRIED);
        let (conversation_of, selection_of) = (conversation.clone(), selection.clone());
        let what = Sealed::Session { conversation: conversation_of, params, selection: selection_of };
        let name = self.settings.sealed(&what);
        let Some(place) = self.room().await else { return self.full(Some(request.id)) };
        let session = Session::start_session((settings, place), conversation, selection.clone(), None, self.times);
        let session = Arc::new(session);
        self.lock_sessions().insert(name.clone(), session.clone());
        let mut response = session.answer_request(request, false).await;
        if session.has_begun() {
            if let Ok(value) = HeaderValue::from_str(&name) {
                response.headers_mut().insert(SESSION, value);
            }
        } else {
            self.lock_sessions().remove(&name);
            session.forget().await;
        }
        response
    }

    /// A place for one more session. If there is none, suspends the session that is idle longest
    /// and waits until its servers have ended. `None` if all are in use.
    async fn room(&self) -> Option<OwnedSemaphorePermit> {
        let end = Instant::now() + MAX_WAIT;
        let mut is_suspended = false;
        loop {
            if let Ok(place) = self.room.clone().try_acquire_owned() {
                return Some(place);
            }
            is_suspended = is_suspended || self.suspend_idle();
            if let Ok(place) = tokio::time::timeout(RETRY, self.room.clone().acquire_owned()).await {
                return place.ok();
            }
            if Instant::now() >= end {
                return None;
            }
        }
    }

    /// Suspends the session that is idle longest; it can be resumed. Returns whether there is one.
    fn suspend_idle(&self) -> bool {
        let mut open = self.lock_sessions();
        let quiet = open.iter().filter_map(|(name, session)| Some((session.quiet_since()?, name.clone())));
        let oldest = quiet.min_by_key(|(since, _)| *since).map(|(_, name)| name);
        let Some(session) = oldest.and_then(|name| open.remove(&name)) else { return false };
        tracing::info!("an idle session is suspended: {} sessions are open", self.most);
        session.end_session();
        true
    }

    fn full(&self, id: Option<Id>) -> Response {
        let why = format!("{} sessions are in use; end one or try again later", self.most);
        self.connections.rejected(&format!("all {} sessions are in use", self.most));
        try_later(refused(StatusCode::SERVICE_UNAVAILABLE, id, error_member(code::INTERNAL, &why)))
    }

    pub(super) async fn listen_to_session(&self, headers: &HeaderMap, selection: &Selection) -> Response {
        match self.selected_session(headers, selection).await {
            Ok(session) => session.listen(headers),
            Err(refused) => refused,
        }
    }

    pub(super) async fn delete(&self, headers: &HeaderMap, selection: &Selection) -> Response {
        let session = match self.selected_session(headers, selection).await {
            Ok(session) => session,
            Err(refused) => return refused,
        };
        self.lock_sessions().retain(|_, own| !Arc::ptr_eq(own, &session));
        session.forget().await;
        match self.forget(session.state_key()).await {
            Ok(()) => StatusCode::NO_CONTENT.into_response(),
            Err(why) => unkept(&why),
        }
    }

    async fn forget(&self, key: &StateKey) -> Result<(), StateError> {
        let Some(state) = &self.settings.state else { return Ok(()) };
        state.store.consume(&ended_marker(key), "the client", ENDED_MS).await?;
        state.store.remove_state(key).await
    }

    /// The session of a request, whose selection is missing or the session's.
    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    async fn selected_session(&self, headers: &HeaderMap, selection: &Selection) -> Result<Arc<Session>, Response> {
        let session = self.session_by_name(headers).await?;
        if !selection.is_all() && *selection != session.selection {
            let why = "the session has another selection of tools, which cannot change; send `initialize` to start a new session";
            return Err(refused(StatusCode::BAD_REQUEST, None, error_member(code::INVALID_REQUEST, why)));
        }
        Ok(session)
    }

    /// The session with the id in the headers: updated with other processes' changes, or resumed.
    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    async fn session_by_name(&self, headers: &HeaderMap) -> Result<Arc<Session>, Response> {
        let Some(name) = headers.get(&SESSION) else {
            let why = "Bad Request: the header Mcp-Session-Id is missing; send `initialize` first";
            return Err(refused(StatusCode::BAD_REQUEST, None, error_member(code::INVALID_REQUEST, why)));
        };
        let name = name.to_str().map_err(|_| unknown_session())?;
        let own = self.lock_sessions().get(name).cloned();
        match own {
            Some(session) => match session.refreshed(&self.settings).await {
                Ok(true) => Ok(session),
                Ok(false) => {
                    self.lock_sessions().remove(name);
                    session.forget().await;
                    Err(unknown_session())
                }
                // The session is open here, and what a call must record fails on its own.
                Err(why) => {
                    tracing::error!("{why}; an open session continues without changes by other processes");
                    Ok(session)
                }
            },
            None => self.take_up(name).await,
        }
    }

    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    async fn take_up(&self, name: &str) -> Result<Arc<Session>, Response> {
        let (Some(state), Some(Ok(Opened { what: Sealed::Session { conversation, params, selection }, .. }))) =
            (&self.settings.state, self.settings.unsealed(name))
        else {
            return Err(unknown_session());
        };
        // Tools of its selection may no longer exist.
        let settings = selection.settings(&self.settings).map_err(|_| unknown_session())?;
        let place = self.room().await.ok_or_else(|| self.full(None))?;
        let _one = self.taking_up.lock().await;
        if let Some(session) = self.lock_sessions().get(name) {
            return Ok(session.clone());
        }
        let key = StateKey { tenant: self.settings.tenant.clone(), name: conversation.clone() };
        if state.store.is_consumed(&ended_marker(&key)).await.map_err(|why| unkept(&why))? {
            return Err(unknown_session());
        }
        self.settings.names.refresh().await.map_err(|why| unkept(&why))?;
        let kept = state.store.read_state(&key).await.map_err(|why| unkept(&why))?;
        let version = kept.as_ref().map_or(0, |kept| kept.version);
        let record = kept.and_then(|kept| Record::open_sealed(&self.settings.seal, &key, &kept));
        let carried = || params.and_then(|text| RawValue::from_string(text).ok());
        let record = record.or_else(|| carried().map(Record::from_params)).ok_or_else(unknown_session)?;
        tracing::info!(conversation, "resumed a session");
        let stored = StoredSession { record, version };
        let session = Session::start_session((settings, place), conversation, selection, Some(stored), self.times);
        let session = Arc::new(session);
        self.lock_sessions().insert(name.to_owned(), session.clone());
        Ok(session)
    }

    pub(super) fn end_idle(&self, idle: Duration) {
        self.lock_sessions().retain(|_, session| {
            let stays = !session.is_idle(idle);
            if !stays {
                session.end_session();
            }
            stays
        });
    }

    pub(super) async fn drain(&self) {
        let all: Vec<Arc<Session>> = self.lock_sessions().drain().map(|(_, session)| session).collect();
        let drained = all.iter().map(|session| session.drain());
        futures_util::future::join_all(drained).await;
    }
}

/// The key that is consumed when a client ends its session.
pub(super) fn ended_marker(key: &StateKey) -> StateKey {
    StateKey { tenant: key.tenant.clone(), name: format!("ended {}", key.name) }
}

fn unknown_session() -> Response {
    let why = "unknown session; send `initialize` again";
    refused(StatusCode::NOT_FOUND, None, error_member(code::INVALID_REQUEST, why))
}

pub(super) fn unkept(why: &StateError) -> Response {
    tracing::error!("{why}");
    let why = "the gateway's store of conversations is unavailable; try again later";
    refused(StatusCode::SERVICE_UNAVAILABLE, None, error_member(code::INTERNAL, why))
}

/// 64 random bits, in hexadecimal digits.
pub(super) fn random() -> Option<String> {
    let mut bits = [0u8; 8];
    getrandom::fill(&mut bits).ok()?;
    Some(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}
