//! A response that is a stream of server-sent events.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderName, StatusCode, header};
use tokio::sync::mpsc;

use super::EVENTS;

/// One event: a message as text, with an id if the stream can be resumed.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) data: String,
}

impl Event {
    fn to_bytes(&self) -> Bytes {
        let id = self.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
        Bytes::from(format!("{id}event: message\ndata: {}\n\n", self.data))
    }
}

/// A response that streams the given events, then the channel, with a comment after each `alive`
/// without an event.
pub(super) fn response(before: Vec<Event>, events: mpsc::UnboundedReceiver<Event>, alive: Duration) -> Response {
    let state = (before.into_iter(), events);
    let body = stream::unfold(state, move |(mut before, mut events)| async move {
        let bytes = match before.next() {
            Some(event) => event.to_bytes(),
            None => match tokio::time::timeout(alive, events.recv()).await {
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
