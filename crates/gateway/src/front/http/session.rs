//! One session: its hub, and the streams to its client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::events::{self, Event};
use super::sessions::ended_marker;
use super::streams::Streams;
use super::{Times, json, plain_text};
use crate::client::{Client, ToHub};
use crate::hub::{Begin, Hub};
use crate::rpc::{Message, Request, code, error_member};
use crate::selection::Selection;
use crate::settings::Settings;
use crate::state::{Record, StateError, StateKey};

/// The stored conversation on which a session is based.
pub(super) struct StoredSession {
    pub(super) record: Record,
    /// The version of the stored state; 0 without one.
    pub(super) version: u64,
}

pub(super) struct Session {
    key: StateKey,
    /// The version of the stored state that its hub has read or written.
    version: Arc<AtomicU64>,
    /// `None` after its end.
    hub: Mutex<Option<mpsc::Sender<ToHub>>>,
    task: Mutex<Option<JoinHandle<()>>>,
    streams: Arc<Streams>,
    pub(super) selection: Selection,
    times: Times,
}

impl Session {
    /// Starts a session. Its place is free again when its servers have ended.
    pub(super) fn start_session(
        (settings, place): (Settings, OwnedSemaphorePermit),
        id: String,
        selection: Selection,
        stored: Option<StoredSession>,
        times: Times,
    ) -> Self {
        let streams = Arc::new(Streams::default());
        {
            let mut state = streams.state();
            state.used = Some(Instant::now());
            state.begun = stored.is_some();
        }
        let key = StateKey { tenant: settings.tenant.clone(), name: id.clone() };
        let version = Arc::new(AtomicU64::new(stored.as_ref().map_or(0, |stored| stored.version)));
        let client = Client::new(0, streams.clone());
        let begin = Begin {
            kept: Some((key.clone(), version.clone())),
            client: stored.is_some().then_some(client),
            record: stored.map(|stored| stored.record),
            backlog: streams.backlog.clone(),
        };
        let (hub, task) = Hub::begin(settings, id, begin);
        let task = tokio::spawn(async move {
            drop(task.await);
            drop(place);
        });
        Self { key, version, hub: Mutex::new(Some(hub)), task: Mutex::new(Some(task)), streams, selection, times }
    }

    pub(super) fn state_key(&self) -> &StateKey {
        &self.key
    }

    /// Loads other processes' changes. Returns `false` if one has ended the session.
    pub(super) async fn refreshed(&self, settings: &Settings) -> Result<bool, StateError> {
        let Some(state) = settings.state.as_ref().filter(|state| state.store.is_shared()) else { return Ok(true) };
        let known = self.version.load(Ordering::Acquire);
        let kept = state.store.version(&self.key).await?;
        if kept <= known {
            // A session without stored state, or whose state is being written, is up to date.
            return Ok(kept > 0 || known == 0 || !state.store.is_consumed(&ended_marker(&self.key)).await?);
        }
        let Some(kept) = state.store.read_state(&self.key).await? else { return Ok(true) };
        if let Some(record) = Record::open_sealed(&settings.seal, &self.key, &kept)
            && let Some(hub) = self.hub()
        {
            self.version.store(kept.version, Ordering::Release);
            drop(hub.send(ToHub::Changed(Box::new(record))).await);
        }
        Ok(true)
    }

    /// The time of the last use; `None` while it is read or a request runs.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = self.streams.state();
        state.used.filter(|_| state.is_quiet())
    }

    pub(super) async fn forget(&self) {
        if let Some(hub) = self.hub() {
            drop(hub.send(ToHub::Forget).await);
        }
        self.end_session();
    }

    fn hub(&self) -> Option<mpsc::Sender<ToHub>> {
        self.streams.state().used = Some(Instant::now());
        self.hub.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn client(&self) -> Client {
        Client::new(0, self.streams.clone())
    }

    pub(super) fn has_begun(&self) -> bool {
        self.streams.state().begun
    }

    pub(super) async fn say(&self, message: Message) {
        if let Some(hub) = self.hub() {
            drop(hub.send(ToHub::Message(self.client(), message)).await);
        }
    }

    /// Handles a request. A result that comes first is sent as JSON, not as a stream, unless it
    /// comes late. A late stream starts with an event without a message if the client's protocol
    /// version `has_empty_events`: with its id, the client can resume the stream.
    pub(super) async fn answer_request(&self, request: Request, has_empty_events: bool) -> Response {
        let ended = || plain_text(StatusCode::NOT_FOUND, "the session has ended");
        let Some(hub) = self.hub() else { return ended() };
        // The hub would reject an id in use too, but on the stream of the request that has the id.
        let Some(mut events) = self.streams.open(&request.id) else {
            let why = format!("request id {} is already in use by an open request", request.id);
            let refused = Err(error_member(code::INVALID_REQUEST, &why));
            return json(StatusCode::OK, &Message::Response(request.id, refused));
        };
        // Its response has the session id only if it succeeds.
        let may_start_early = request.method != "initialize";
        if hub.send(ToHub::Message(self.client(), Message::Request(request))).await.is_err() {
            return ended();
        }
        drop(hub);
        let alive = self.times.alive;
        let late = tokio::time::sleep(self.times.head);
        let first = tokio::select! {
            first = events.next() => first,
            () = late, if may_start_early => {
                let empty = has_empty_events.then(|| Event { id: Some(events.start()), data: "".into() });
                return events::response(empty, events, alive);
            }
        };
        let Some(first) = first else {
            // A cancelled request has no response; that is not an error.
            let lives = self.hub().is_some();
            return if lives { events::response(None, events, alive) } else { ended() };
        };
        let whole = Message::from_json(&first.data).ok().filter(|message| matches!(message, Message::Response(..)));
        match whole {
            Some(answer) => {
                // No event was sent, so the client cannot resume the stream.
                events.forget();
                json(StatusCode::OK, &answer)
            }
            None => events::response(Some(first), events, alive),
        }
    }

    /// Opens the general stream, or resumes a stream after its last event.
    pub(super) fn listen(&self, headers: &HeaderMap) -> Response {
        match self.streams.listen(headers) {
            Some(reader) => events::response(None, reader, self.times.alive),
            None => plain_text(StatusCode::NOT_FOUND, "the stream is no longer stored"),
        }
    }

    /// Whether it has been idle for `idle` and is not being read.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        let state = self.streams.state();
        !state.is_read() && state.used.is_none_or(|used| used.elapsed() > idle)
    }

    pub(super) fn end_session(&self) {
        drop(self.hub.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.streams.end_all();
    }

    pub(super) async fn drain(&self) {
        let hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(hub) = hub {
            drop(hub.send(ToHub::Drain).await);
        }
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            drop(task.await);
        }
        self.end_session();
    }
}
