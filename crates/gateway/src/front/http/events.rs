//! A response that is a stream of server-sent events.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{StatusCode, header};
use tokio::sync::mpsc;

use super::EVENTS;

/// Interval of keep-alive comments on a silent stream.
const ALIVE: Duration = Duration::from_secs(15);

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

/// A response that streams the given events, then the channel. Owns `kept`.
pub(super) fn response<G: Send + 'static>(
    before: Vec<Event>,
    events: mpsc::UnboundedReceiver<Event>,
    kept: G,
) -> Response {
    let state = (before.into_iter(), events, kept);
    let body = stream::unfold(state, |(mut before, mut events, kept)| async move {
        let bytes = match before.next() {
            Some(event) => event.to_bytes(),
            None => match tokio::time::timeout(ALIVE, events.recv()).await {
                Ok(Some(event)) => event.to_bytes(),
                Ok(None) => return None,
                Err(_) => Bytes::from_static(b": alive\n\n"),
            },
        };
        Some((Ok::<Bytes, std::convert::Infallible>(bytes), (before, events, kept)))
    });
    let headers = [(header::CONTENT_TYPE, EVENTS), (header::CACHE_CONTROL, "no-cache")];
    (StatusCode::OK, headers, Body::from_stream(body)).into_response()
}
