//! A stream of events, as a response.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{StatusCode, header};
use tokio::sync::mpsc;

use super::EVENTS;

/// After how long a silent stream shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// One event: its id, where the stream can be taken up again, and a message as text.
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

/// The stream of what comes through a channel, after what is there already. `kept` lives as long as the response.
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
