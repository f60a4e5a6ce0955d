//! Stateless requests (2026-07-28). All requests of one selection share a hub.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::events::{self, Event};
use super::sessions::{random, unkept};
use super::{Times, accepted, json, plain_text, refused};
use crate::backlog::Backlog;
use crate::capture::digest_of_texts;
use crate::client::{Client, Sink, ToHub};
use crate::hub::{Begin, Hub};
use crate::object::Object;
use crate::rpc::{Id, Message, Raw, Request, code, error_member};
use crate::seal::Opened;
use crate::selection::Selection;
use crate::settings::Settings;
use crate::state::{Record, StateError, StateKey};
use crate::version::{META_CAPABILITIES, META_VERSION};

/// How long the use of a request state is remembered, in milliseconds: longer than it is valid.
const USED_MS: i64 = 2 * 60 * 60 * 1000;

pub(super) struct Stateless {
    settings: Settings,
    id: String,
    hubs: Mutex<BTreeMap<Selection, Running>>,
    next: AtomicU64,
    times: Times,
    /// Identifies this process among all that share the store, on any machine.
    process: String,
}

/// The maximum number of hubs. Beyond it, the least recently used one ends.
const MAX_HUBS: usize = 32;

/// The number of events that wait for a client in the form in which they are sent.
const UNREAD: usize = 16;

/// A hub of one selection.
struct Running {
    to: mpsc::Sender<ToHub>,
    task: JoinHandle<()>,
    used: Instant,
    kept: StoredVersion,
}

/// The key and the version under which the conversation of a hub is stored.
#[derive(Clone)]
struct StoredVersion {
    key: StateKey,
    /// The version of the stored state that the hub has read or written.
    version: Arc<AtomicU64>,
}

/// Receives the messages for one request.
struct One(mpsc::UnboundedSender<Message>, Backlog);

impl Sink for One {
    fn send(&self, message: Message, _of: Option<&Id>) {
        // The hub cannot wait for this client: it has others.
        if matches!(message, Message::Notification(_)) && self.1.is_full() {
            tracing::debug!("dropped a notification: the client is not reading");
            return;
        }
        self.1.add(size(&message));
        drop(self.0.send(message));
    }
}

/// The size of a message's content, in bytes.
fn size(message: &Message) -> usize {
    let content = match message {
        Message::Request(own) => own.params.as_ref(),
        Message::Notification(own) => own.params.as_ref(),
        Message::Response(_, Ok(content) | Err(content)) | Message::Fault(_, content) => Some(content),
    };
    content.map_or(0, |content| content.get().len())
}

/// Reports to the hub that the client has disconnected, when it is dropped.
struct Waits {
    hub: mpsc::Sender<ToHub>,
    key: u64,
    done: bool,
}

impl Drop for Waits {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let (hub, key) = (self.hub.clone(), self.key);
        // If the runtime is shutting down, so is the hub.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { drop(hub.send(ToHub::Gone(key)).await) });
        }
    }
}

impl Stateless {
    pub(super) fn new(settings: Settings, id: &str, times: Times) -> Self {
        let process = random().unwrap_or_else(|| std::process::id().to_string());
        Self { settings, id: id.to_owned(), hubs: Mutex::default(), next: AtomicU64::new(0), times, process }
    }

    /// Consumes the `requestState` of a request. Returns `false` if it was used before.
    async fn uses_up(&self, request: &Request, by: u64) -> Result<bool, StateError> {
        let (Some(state), Some(params)) = (&self.settings.state, &request.params) else { return Ok(true) };
        if !params.get().contains("requestState") {
            return Ok(true);
        }
        let given: Option<String> = Object::from_params(Some(params)).read_as("requestState");
        let Some(Ok(Opened { token, .. })) = given.and_then(|given| self.settings.unsealed(&given)) else {
            return Ok(true);
        };
        let key = StateKey { tenant: self.settings.tenant.clone(), name: format!("token {token}") };
        state.store.consume(&key, &format!("{}#{by}", self.process), USED_MS).await
    }

    fn hub(&self, selection: &Selection) -> Result<(mpsc::Sender<ToHub>, StoredVersion), String> {
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = hubs.get_mut(selection).filter(|own| !own.to.is_closed()) {
            own.used = Instant::now();
            return Ok((own.to.clone(), own.kept.clone()));
        }
        let settings = selection.settings(&self.settings)?;
        let kept = StoredVersion { key: self.state_key(selection), version: Arc::default() };
        // A unique id: the end of a conversation closes the approvals under its id.
        let id = if selection.is_all() {
            self.id.clone()
        } else {
            format!("{}/selection-{}", self.id, self.next.fetch_add(1, Ordering::Relaxed))
        };
        let shared = settings.state.as_ref().is_some_and(|state| state.store.is_shared());
        let own = shared.then(|| (kept.key.clone(), kept.version.clone()));
        let (to, task) = Hub::begin(settings, id, Begin { kept: own, ..Begin::default() });
        let running = Running { to: to.clone(), task, used: Instant::now(), kept: kept.clone() };
        hubs.insert(selection.clone(), running);
        if hubs.len() > MAX_HUBS {
            let others = hubs.iter().filter(|(own, _)| *own != selection && !own.is_all());
            let oldest = others.min_by_key(|(_, own)| own.used).map(|(own, _)| own.clone());
            // Running requests hold it until their end.
            oldest.and_then(|own| hubs.remove(&own));
        }
        Ok((to, kept))
    }

    /// The key of a selection's conversation, the same in every process.
    fn state_key(&self, selection: &Selection) -> StateKey {
        let all = format!("{}/stateless", self.id);
        let name = if selection.is_all() {
            all
        } else {
            let text = serde_json::to_string(selection).unwrap_or_default();
            format!("{all}/{}", digest_of_texts(&[&text]))
        };
        StateKey { tenant: self.settings.tenant.clone(), name }
    }

    /// The record, if other processes have changed it: it has the pending calls.
    async fn changed(&self, StoredVersion { key, version }: &StoredVersion) -> Result<Option<Record>, StateError> {
        let Some(state) = self.settings.state.as_ref().filter(|state| state.store.is_shared()) else { return Ok(None) };
        if state.store.version(key).await? <= version.load(Ordering::Acquire) {
            return Ok(None);
        }
        let Some(kept) = state.store.read_state(key).await? else { return Ok(None) };
        version.store(kept.version, Ordering::Release);
        Ok(Record::open_sealed(&self.settings.seal, key, &kept))
    }

    pub(super) fn end_idle(&self, idle: Duration) {
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.retain(|selection, own| selection.is_all() || own.used.elapsed() < idle);
    }

    fn has_hub(&self, selection: &Selection) -> bool {
        let hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.get(selection).is_some_and(|own| !own.to.is_closed())
    }

    pub(super) async fn post(&self, message: Message, selection: &Selection) -> Response {
        // Names also depend on the tools that servers have listed to other processes.
        if !self.has_hub(selection)
            && let Err(why) = self.settings.names.refresh().await
        {
            return unkept(&why);
        }
        let (hub, kept) = match self.hub(selection) {
            Ok(own) => own,
            Err(why) => return refused(StatusCode::BAD_REQUEST, None, error_member(code::INVALID_REQUEST, &why)),
        };
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let (to, mut messages) = mpsc::unbounded_channel();
        let backlog = Backlog::default();
        let client = Client::new(key, Arc::new(One(to, backlog.clone())));
        let malformed = match &message {
            Message::Request(request) => lacks_meta(request),
            _ => return accepted(),
        };
        match self.prepared((&hub, &kept), &message, key).await {
            Ok(None) => {}
            Ok(Some(answer)) => return answer,
            Err(why) => return unkept(&why),
        }
        let mut waits = Waits { hub: hub.clone(), key, done: false };
        if hub.send(ToHub::Message(client, message)).await.is_err() {
            return plain_text(StatusCode::SERVICE_UNAVAILABLE, "the gateway is shutting down");
        }
        let alive = self.times.alive;
        let Ok(first) = tokio::time::timeout(self.times.head, messages.recv()).await else {
            return events::response(None, until_answered(messages, waits, backlog), alive);
        };
        let Some(first) = first else {
            return plain_text(StatusCode::SERVICE_UNAVAILABLE, "the gateway is shutting down");
        };
        if let Message::Response(_, answer) = &first {
            waits.done = true;
            return json(status_of(answer.as_ref().err(), malformed), &first);
        }
        events::response(Some(event(&first)), until_answered(messages, waits, backlog), alive)
    }

    /// Prepares a message for the hub. Returns a response if the message must not reach the hub.
    async fn prepared(
        &self,
        (hub, kept): (&mpsc::Sender<ToHub>, &StoredVersion),
        message: &Message,
        key: u64,
    ) -> Result<Option<Response>, StateError> {
        let Message::Request(request) = message else { return Ok(None) };
        if !self.uses_up(request, key).await? {
            let why = "this `requestState` was already used; send the request again without it";
            let answer = Message::Response(request.id.clone(), Err(error_member(code::INVALID_PARAMS, why)));
            return Ok(Some(json(StatusCode::OK, &answer)));
        }
        match self.changed(kept).await {
            Ok(Some(record)) => drop(hub.send(ToHub::Changed(Box::new(record))).await),
            Ok(None) => {}
            Err(why) => tracing::error!("{why}; the conversation continues without changes by other processes"),
        }
        Ok(None)
    }

    pub(super) async fn drain(&self) {
        let hubs = std::mem::take(&mut *self.hubs.lock().unwrap_or_else(PoisonError::into_inner));
        let drained = hubs.into_values().map(|Running { to, task, .. }| async move {
            drop(to.send(ToHub::Drain).await);
            drop(to);
            drop(task.await);
        });
        futures_util::future::join_all(drained).await;
    }
}

/// Forwards messages up to the response, which ends the stream.
fn until_answered(
    mut messages: mpsc::UnboundedReceiver<Message>,
    waits: Waits,
    backlog: Backlog,
) -> mpsc::Receiver<Event> {
    let (to, events) = mpsc::channel(UNREAD);
    tokio::spawn(async move {
        // Moves it into the task, so that it is dropped with the task.
        let mut waits = waits;
        loop {
            let message = tokio::select! {
                message = messages.recv() => message,
                // The client has disconnected.
                () = to.closed() => return,
            };
            let Some(message) = message else { return };
            waits.done = matches!(message, Message::Response(..));
            if to.send(event(&message)).await.is_err() || waits.done {
                return;
            }
            backlog.subtract(size(&message));
        }
    });
    events
}

fn event(message: &Message) -> Event {
    Event { id: None, data: message.to_text().into() }
}

fn lacks_meta(request: &Request) -> bool {
    let meta = Object::from_params(request.params.as_deref()).object("_meta").unwrap_or_default();
    !meta.has_member(META_VERSION) || !meta.has_member(META_CAPABILITIES)
}

/// The HTTP status for an error (specification 2026-07-28, "streamable HTTP").
fn status_of(error: Option<&Raw>, malformed: bool) -> StatusCode {
    let Some(error) = error else { return StatusCode::OK };
    match Object::from_json(error).and_then(|own| own.read_as::<i64>("code")) {
        Some(code::UNSUPPORTED_VERSION | code::MISSING_CAPABILITY | code::HEADER_MISMATCH) => StatusCode::BAD_REQUEST,
        Some(code::INVALID_PARAMS) if malformed => StatusCode::BAD_REQUEST,
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
