//! The page's event stream: the complete state first, then the changes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{StatusCode, header};
use tokio::sync::watch;

use super::Console;
use crate::approvals::{Shown, Viewer};
use crate::front::http::EVENTS;

/// Delay that combines changes in quick succession into one event.
const TOGETHER: Duration = Duration::from_millis(150);
/// Interval of keep-alive comments on a silent stream, as for the streams of clients.
const ALIVE: Duration = Duration::from_secs(5);

struct Stream {
    console: Console,
    dashboard: watch::Receiver<u64>,
    /// The sequence number of the last change that was sent.
    seq: u64,
    approvals: Option<(watch::Receiver<Shown>, Viewer)>,
    sent: Option<Shown>,
    ends: watch::Receiver<bool>,
    is_first: bool,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.console.inner.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The response with the stream of a page. The caller has incremented the counter of streams.
pub(super) fn response(console: Console) -> Response {
    let inner = &console.inner;
    let (dashboard, ends) = (inner.dashboard.subscribe(), inner.ends.subscribe());
    let approvals = inner.approvals.as_ref().map(crate::approvals::Approvals::subscribe);
    let stream = Stream { dashboard, seq: 0, approvals, sent: None, ends, is_first: true, console };
    let body = stream::unfold(stream, |mut stream| async move {
        let text = stream.next().await?;
        Some((Ok::<Bytes, std::convert::Infallible>(Bytes::from(text)), stream))
    });
    let headers = [
        (header::CONTENT_TYPE, EVENTS),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (StatusCode::OK, headers, Body::from_stream(body)).into_response()
}

impl Stream {
    /// The next event to send. `None`: the gateway is shutting down.
    async fn next(&mut self) -> Option<String> {
        if std::mem::take(&mut self.is_first) {
            let dashboard = &self.console.inner.dashboard;
            let hello = serde_json::json!({
                "version": env!("CARGO_PKG_VERSION"),
                "now_ms": dashboard.now_ms(),
                "meter": dashboard.meter(),
                "store": self.approvals.is_some(),
                "most_recent": crate::dashboard::MAX_RECENT,
            });
            return Some(event("hello", &hello.to_string()) + &self.changes());
        }
        tokio::select! {
            changed = self.dashboard.changed() => changed.ok()?,
            changed = changed(&mut self.approvals) => changed?,
            _ = self.ends.wait_for(|ends| *ends) => return None,
            () = tokio::time::sleep(ALIVE) => return Some(": alive\n\n".to_owned()),
        }
        tokio::time::sleep(TOGETHER).await;
        Some(self.changes())
    }

    fn changes(&mut self) -> String {
        let mut text = String::new();
        self.dashboard.mark_unchanged();
        let (seq, dashboard) = self.console.inner.dashboard.since(self.seq);
        if seq != self.seq {
            self.seq = seq;
            text.push_str(&event("board", &dashboard));
        }
        if let Some((approvals, _)) = &mut self.approvals {
            let shown = approvals.borrow_and_update().clone();
            let is_new =
                |part: fn(&Shown) -> &Arc<str>| self.sent.as_ref().is_none_or(|sent| part(sent) != part(&shown));
            if is_new(|own| &own.approvals) {
                text.push_str(&event("approvals", &shown.approvals));
            }
            if is_new(|own| &own.audit) {
                text.push_str(&event("audit", &shown.audit));
            }
            self.sent = Some(shown);
        }
        text
    }
}

/// Waits for a change of the approvals; forever if there is no store.
async fn changed(approvals: &mut Option<(watch::Receiver<Shown>, Viewer)>) -> Option<()> {
    match approvals {
        Some((approvals, _)) => approvals.changed().await.ok(),
        None => std::future::pending().await,
    }
}

/// An event. JSON text has no line breaks, so one `data` line is enough.
fn event(name: &str, json: &str) -> String {
    format!("event: {name}\ndata: {json}\n\n")
}
