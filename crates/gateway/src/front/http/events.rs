//! A response that is a stream of server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, StatusCode, header};
use tokio::sync::mpsc;

use super::EVENTS;
use super::streams::Reader;

/// One event: a message as text, with an id if the stream can be resumed.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) data: Arc<str>,
}

impl Event {
    fn to_bytes(&self) -> Bytes {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        Bytes::from(format!("{id}event: message\ndata: {}\n\n", self.data))
    }
}

/// The source of a stream's events.
pub(super) trait Events: Send + 'static {
    /// The next event; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send;
}

impl Events for Reader {
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send {
        Self::next(self)
    }
}

impl Events for mpsc::Receiver<Event> {
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send {
        self.recv()
    }
}

/// A response that streams an event, if there is one already, then the others, with a comment after
/// each `alive` without an event.
pub(super) fn response(before: Option<Event>, events: impl Events, alive: Duration) -> Response {
    let body = stream::unfold((before, events), move |(mut before, mut events)| async move {
        let bytes = match before.take() {
            Some(event) => event.to_bytes(),
            None => match tokio::time::timeout(alive, events.next()).await {
                Ok(Some(event)) => event.to_bytes(),
                Ok(None) => return None,
                Err(_) => Bytes::from_static(b": alive\n\n"),
            },
        };
        Some((Ok::<Bytes, std::convert::Infallible>(bytes), (before, events)))
    });
    // Without the last one, nginx holds events back until its buffer is full.
    let headers = [
        (header::CONTENT_TYPE, EVENTS),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (StatusCode::OK, headers, Body::from_stream(body)).into_response()
}
