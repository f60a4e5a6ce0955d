//! One session: its hub, and the streams to its client.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::events::{self, Event};
use super::sessions::ended_marker;
use super::{Times, json, plain_text};
use crate::client::{Client, Sink, ToHub};
use crate::hub::{Begin, Hub};
use crate::rpc::{Id, Message, Request, code, error_member};
use crate::selection::Selection;
use crate::settings::Settings;
use crate::state::{Record, StateError, StateKey};

/// The number of events of each stream that are stored for a client that lost its connection.
const KEPT_EVENTS: usize = 256;

/// The maximum stored events of a stream that is read, in bytes. Unread ones all stay.
const KEPT_BYTES: usize = 1024 * 1024;

/// The maximum number of stored streams that have ended.
const KEPT_STREAMS: usize = 32;

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

#[derive(Default)]
struct Streams(Mutex<State>);

#[derive(Default)]
struct State {
    all: VecDeque<Stream>,
    next: u64,
    begun: bool,
    used: Option<Instant>,
}

/// The stream of one request, or the stream for messages that belong to no request.
struct Stream {
    number: u64,
    of: Option<Id>,
    reader: Option<mpsc::UnboundedSender<Event>>,
    kept: VecDeque<(u64, String)>,
    events: u64,
    done: bool,
}

impl Stream {
    /// Whether it is read, or its request runs.
    fn is_busy(&self) -> bool {
        !self.done && (self.of.is_some() || self.reader.as_ref().is_some_and(|reader| !reader.is_closed()))
    }

    fn push(&mut self, data: String) {
        self.events += 1;
        if let Some(reader) = &self.reader
            && reader.send(Event { id: Some(format!("{}-{}", self.number, self.events)), data: data.clone() }).is_err()
        {
            self.reader = None;
        }
        self.kept.push_back((self.events, data));
        let mut bytes: usize = self.kept.iter().map(|(_, data)| data.len()).sum();
        while self.kept.len() > KEPT_EVENTS || (bytes > KEPT_BYTES && self.reader.is_some()) {
            let Some((_, data)) = self.kept.pop_front() else { return };
            bytes = bytes.saturating_sub(data.len());
        }
    }
}

/// The stream and the number of the last event that a client received.
fn last_event(headers: &HeaderMap) -> Option<(u64, u64)> {
    let (stream, event) = headers.get("last-event-id")?.to_str().ok()?.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

impl Streams {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_stream(&mut self, of: Option<Id>, reader: mpsc::UnboundedSender<Event>) -> u64 {
        self.next += 1;
        let ended = self.all.iter().filter(|own| own.done).count();
        if ended > KEPT_STREAMS
            && let Some(at) = self.all.iter().position(|own| own.done)
        {
            self.all.remove(at);
        }
        let number = self.next;
        let reader = Some(reader);
        self.all.push_back(Stream { number, of, reader, kept: VecDeque::new(), events: 0, done: false });
        number
    }

    /// The open stream of the message's request, else the general stream, else any that is read.
    fn stream_for(&mut self, of: Option<&Id>) -> Option<&mut Stream> {
        let at = match of {
            Some(id) => self.all.iter().position(|own| !own.done && own.of.as_ref() == Some(id)),
            None => None,
        };
        let at = at.or_else(|| self.all.iter().position(|own| !own.done && own.of.is_none()));
        let at = at.or_else(|| self.all.iter().rposition(|own| !own.done && own.reader.is_some()));
        at.and_then(|at| self.all.get_mut(at))
    }
}

impl Sink for Streams {
    fn send(&self, message: Message, of: Option<&Id>) {
        let mut state = self.state();
        let answers = matches!(message, Message::Response(..));
        if answers && matches!(&message, Message::Response(_, Ok(_))) {
            state.begun = true;
        }
        let Some(stream) = state.stream_for(of) else {
            tracing::debug!("dropped a message: the client is not reading");
            return;
        };
        stream.push(message.to_text());
        if answers && stream.of.as_ref() == of {
            // Ends the stream after the response.
            (stream.done, stream.reader) = (true, None);
        }
    }

    fn cancelled(&self, of: &Id) {
        let mut state = self.state();
        if let Some(stream) = state.all.iter_mut().find(|own| !own.done && own.of.as_ref() == Some(of)) {
            (stream.done, stream.reader) = (true, None);
        }
    }
}

impl Session {
    pub(super) fn start_session(
        settings: Settings,
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
        };
        let (hub, task) = Hub::begin(settings, id, begin);
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
        state.used.filter(|_| !state.all.iter().any(Stream::is_busy))
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
        let (to, mut events) = mpsc::unbounded_channel();
        // Its response has the session id only if it succeeds.
        let may_start_early = request.method != "initialize";
        let number = {
            let mut state = self.streams.state();
            // The hub would reject it too, but on the stream of the request that has the id.
            if state.all.iter().any(|own| !own.done && own.of.as_ref() == Some(&request.id)) {
                let why = format!("request id {} is already in use by an open request", request.id);
                let refused = Err(error_member(code::INVALID_REQUEST, &why));
                return json(StatusCode::OK, &Message::Response(request.id, refused));
            }
            state.add_stream(Some(request.id.clone()), to)
        };
        if hub.send(ToHub::Message(self.client(), Message::Request(request))).await.is_err() {
            return ended();
        }
        drop(hub);
        let alive = self.times.alive;
        let late = tokio::time::sleep(self.times.head);
        let first = tokio::select! {
            first = events.recv() => first,
            () = late, if may_start_early => {
                let empty = Event { id: Some(format!("{number}-0")), data: String::new() };
                return events::response(Vec::from_iter(has_empty_events.then_some(empty)), events, alive);
            }
        };
        let Some(first) = first else {
            // A cancelled request has no response; that is not an error.
            let lives = self.hub().is_some();
            return if lives { events::response(Vec::new(), events, alive) } else { ended() };
        };
        let whole = Message::from_json(&first.data).ok().filter(|message| matches!(message, Message::Response(..)));
        match whole {
            Some(answer) => {
                // No event was sent, so the client cannot resume the stream.
                self.streams.state().all.retain(|own| own.number != number);
                json(StatusCode::OK, &answer)
            }
            None => events::response(vec![first], events, alive),
        }
    }

    /// Opens the general stream, or resumes a stream after its last event.
    pub(super) fn listen(&self, headers: &HeaderMap) -> Response {
        let (to, events) = mpsc::unbounded_channel();
        let mut state = self.streams.state();
        state.used = Some(Instant::now());
        if let Some((number, after)) = last_event(headers) {
            let Some(stream) = state.all.iter_mut().find(|own| own.number == number) else {
                return plain_text(StatusCode::NOT_FOUND, "the stream is no longer stored");
            };
            let mut missed = Vec::new();
            for (event, data) in &stream.kept {
                if *event > after {
                    missed.push(Event { id: Some(format!("{number}-{event}")), data: data.clone() });
                }
            }
            if !stream.done {
                stream.reader = Some(to);
            }
            return events::response(missed, events, self.times.alive);
        }
        if let Some(stream) = state.all.iter_mut().find(|own| own.of.is_none() && !own.done) {
            // The newest connection reads the stream.
            stream.reader = Some(to);
        } else {
            state.add_stream(None, to);
        }
        events::response(Vec::new(), events, self.times.alive)
    }

    /// Whether it has been idle for `idle` and is not being read.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        let state = self.streams.state();
        let read = state.all.iter().any(|own| own.reader.as_ref().is_some_and(|reader| !reader.is_closed()));
        !read && state.used.is_none_or(|used| used.elapsed() > idle)
    }

    pub(super) fn end_session(&self) {
        drop(self.hub.lock().unwrap_or_else(PoisonError::into_inner).take());
        for stream in &mut self.streams.state().all {
            (stream.done, stream.reader) = (true, None);
        }
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
