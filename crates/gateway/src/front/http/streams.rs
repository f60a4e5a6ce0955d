//! The streams of one session: messages wait in them until the client reads them, and for a while
//! after that, for a client that has lost its connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::events::Event;
use crate::backlog::Backlog;
use crate::client::Sink;
use crate::rpc::{Id, Message, code, error_member};

/// The number of read events of each stream that are stored.
const KEPT_EVENTS: usize = 256;

/// The maximum size of the read events of a stream that are stored, in bytes.
const KEPT_BYTES: usize = 1024 * 1024;

/// The maximum size of the events of a stream that no client reads, in bytes.
const KEPT_UNREAD: usize = 16 * 1024 * 1024;

/// The maximum size of the events of a session whose streams have ended, in bytes.
const KEPT_ENDED: usize = 16 * 1024 * 1024;

/// The maximum number of stored streams that have ended.
const KEPT_STREAMS: usize = 32;

#[derive(Default)]
pub(super) struct Streams {
    state: Mutex<State>,
    pub(super) backlog: Backlog,
}

#[derive(Default)]
pub(super) struct State {
    all: Vec<Stream>,
    next: u64,
    /// Whether a request was answered with a result.
    pub(super) begun: bool,
    pub(super) used: Option<Instant>,
}

/// The stream of one request, or the stream for messages that belong to no request.
#[derive(Default)]
struct Stream {
    number: u64,
    of: Option<Id>,
    /// The number of the reader, of those it has had.
    reader: Option<u64>,
    readers: u64,
    wakes: Arc<Notify>,
    /// Events with consecutive numbers.
    kept: VecDeque<(u64, Arc<str>)>,
    /// The size of all stored events, and of those that are not read.
    bytes: usize,
    unread: usize,
    /// The number of the last event, and of the last one that is read.
    events: u64,
    read: u64,
    done: bool,
}

impl Stream {
    /// Whether it is read, or its request runs.
    fn is_busy(&self) -> bool {
        !self.done && (self.of.is_some() || self.reader.is_some())
    }

    fn push(&mut self, data: &str) {
        self.events += 1;
        self.kept.push_back((self.events, data.into()));
        self.bytes += data.len();
        self.unread += data.len();
        self.trim();
        self.wakes.notify_one();
    }

    fn end(&mut self) {
        self.done = true;
        self.wakes.notify_one();
    }

    /// Drops old events that are read, and unread ones that are too many for a stream without a
    /// reader.
    fn trim(&mut self) {
        while let Some((number, data)) = self.kept.front() {
            let is_read = *number <= self.read;
            let read_bytes = self.bytes - self.unread;
            let is_old = is_read && (self.kept.len() > KEPT_EVENTS || read_bytes > KEPT_BYTES);
            let is_lost = !is_read && self.reader.is_none() && self.unread > KEPT_UNREAD && self.kept.len() > 1;
            if !is_old && !is_lost {
                return;
            }
            self.bytes -= data.len();
            if is_lost {
                tracing::debug!(stream = self.number, event = number, "dropped an event: no client reads the stream");
                self.unread -= data.len();
                self.read = *number;
            }
            self.kept.pop_front();
        }
    }

    /// The next event for its reader.
    fn next_event(&mut self) -> Option<Event> {
        let first = self.kept.front()?.0;
        let at = usize::try_from((self.read + 1).checked_sub(first)?).ok()?;
        let (number, data) = self.kept.get(at).cloned()?;
        self.read = number;
        self.unread -= data.len();
        self.trim();
        Some(Event { id: Some(format!("{}-{number}", self.number)), data })
    }

    /// Continues with the first stored event after this one.
    fn rewind(&mut self, after: u64) {
        let first = self.kept.front().map_or(self.events + 1, |(number, _)| *number);
        self.read = after.max(first - 1).min(self.events);
        self.unread = self.kept.iter().filter(|(number, _)| *number > self.read).map(|(_, data)| data.len()).sum();
    }
}

/// The stream and the number of the last event that a client received.
fn last_event(headers: &HeaderMap) -> Option<(u64, u64)> {
    let (stream, event) = headers.get("last-event-id")?.to_str().ok()?.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

/// Reads a stream until its end, or until a newer connection reads it.
pub(super) struct Reader {
    streams: Arc<Streams>,
    stream: u64,
    number: u64,
    wakes: Arc<Notify>,
}

impl Reader {
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            let found = self.streams.change(|state| {
                let stream = state.by_number(self.stream).filter(|own| own.reader == Some(self.number))?;
                let event = stream.next_event();
                (event.is_some() || !stream.done).then_some(event)
            });
            if let Some(event) = found? {
                return Some(event);
            }
            self.wakes.notified().await;
        }
    }

    /// The id of the position before the first event.
    pub(super) fn start(&self) -> String {
        format!("{}-0", self.stream)
    }

    /// Forgets the stream: its only event was sent in another form.
    pub(super) fn forget(self) {
        self.streams.change(|state| state.all.retain(|own| own.number != self.stream));
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.streams.change(|state| {
            if let Some(stream) = state.by_number(self.stream).filter(|own| own.reader == Some(self.number)) {
                stream.reader = None;
                stream.trim();
            }
        });
    }
}

impl Streams {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the streams, and then reports what is unread.
    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let done = act(&mut state);
        self.backlog.set(state.all.iter().filter(|own| own.reader.is_some()).map(|own| own.unread).sum());
        done
    }

    /// Opens the stream of a request. `None` if the id is in use by an open request.
    pub(super) fn open(self: &Arc<Self>, of: &Id) -> Option<Reader> {
        let (stream, number, wakes) = self.change(|state| {
            let is_used = state.all.iter().any(|own| !own.done && own.of.as_ref() == Some(of));
            (!is_used).then(|| state.add_stream(Some(of.clone())))
        })?;
        Some(Reader { streams: self.clone(), stream, number, wakes })
    }

    /// Opens the general stream, or resumes a stream after the last event in the headers. `None` if
    /// the stream is no longer stored.
    pub(super) fn listen(self: &Arc<Self>, headers: &HeaderMap) -> Option<Reader> {
        let (stream, number, wakes) = self.change(|state| {
            state.used = Some(Instant::now());
            if let Some((number, after)) = last_event(headers) {
                return Some(state.by_number(number)?.attach(Some(after)));
            }
            let open = state.all.iter().position(|own| own.of.is_none() && !own.done);
            match open.and_then(|at| state.all.get_mut(at)) {
                // The newest connection reads the stream.
                Some(stream) => Some(stream.attach(None)),
                None => Some(state.add_stream(None)),
            }
        })?;
        Some(Reader { streams: self.clone(), stream, number, wakes })
    }

    pub(super) fn end_all(&self) {
        self.change(|state| state.all.iter_mut().for_each(Stream::end));
    }
}

impl Stream {
    /// Gives the stream to a new reader: the numbers of stream and reader.
    fn attach(&mut self, after: Option<u64>) -> (u64, u64, Arc<Notify>) {
        // The earlier reader ends.
        self.wakes.notify_one();
        self.wakes = Arc::default();
        if let Some(after) = after {
            self.rewind(after);
        }
        self.readers += 1;
        self.reader = Some(self.readers);
        (self.number, self.readers, self.wakes.clone())
    }
}

impl State {
    fn by_number(&mut self, number: u64) -> Option<&mut Stream> {
        self.all.iter_mut().find(|own| own.number == number)
    }

    /// Adds a stream with a reader.
    fn add_stream(&mut self, of: Option<Id>) -> (u64, u64, Arc<Notify>) {
        self.next += 1;
        let mut stream = Stream { number: self.next, of, ..Stream::default() };
        let reader = stream.attach(None);
        self.all.push(stream);
        reader
    }

    /// Drops ended streams, the oldest first, that are too many or too large.
    fn drop_ended(&mut self) {
        let ended = |own: &&Stream| own.done && own.reader.is_none();
        let mut count = self.all.iter().filter(ended).count();
        let mut bytes: usize = self.all.iter().filter(ended).map(|own| own.bytes).sum();
        self.all.retain(|own| {
            let goes = (count > KEPT_STREAMS || bytes > KEPT_ENDED) && ended(&own);
            if goes {
                count -= 1;
                bytes -= own.bytes;
            }
            !goes
        });
    }

    /// Whether no stream is read and no request runs.
    pub(super) fn is_quiet(&self) -> bool {
        !self.all.iter().any(Stream::is_busy)
    }

    pub(super) fn is_read(&self) -> bool {
        self.all.iter().any(|own| own.reader.is_some())
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
        self.change(|state| {
            let answers = matches!(message, Message::Response(..));
            if matches!(&message, Message::Response(_, Ok(_))) {
                state.begun = true;
            }
            let Some(stream) = state.stream_for(of) else {
                tracing::debug!("dropped a message: the client is not reading");
                return;
            };
            let mut text = message.to_text();
            if stream.reader.is_none() && text.len() > KEPT_UNREAD {
                text = too_large(message, text.len()).to_text();
            }
            stream.push(&text);
            if answers && stream.of.as_ref() == of {
                // Ends the stream after the response.
                stream.end();
                state.drop_ended();
            }
        });
    }

    fn cancelled(&self, of: &Id) {
        self.change(|state| {
            if let Some(stream) = state.all.iter_mut().find(|own| !own.done && own.of.as_ref() == Some(of)) {
                stream.end();
            }
        });
    }
}

/// The error that replaces a response which is too large to be stored.
fn too_large(message: Message, bytes: usize) -> Message {
    let why = format!(
        "the call has ended, but its result of {bytes} bytes is not stored for a client without a connection; \
         the maximum is {KEPT_UNREAD} bytes"
    );
    match message {
        Message::Response(id, _) => Message::Response(id, Err(error_member(code::INTERNAL, &why))),
        other => other,
    }
}
