//! The console: a web page that shows the gateway's activity and where users answer approvals.
//!
//! The page contains no secrets, so any browser on this machine may load it; all data requires the
//! token. A browser cannot send a token with a navigation: the token follows the `#` of the
//! address, which is never sent, and the page's script sends it as a header. No cookie is used, so
//! pages of other sites cannot act with the user's credentials.

mod answers;
mod page;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderMap, StatusCode, header};
use tokio::sync::watch;

use super::guard::Guard;
use super::plain_text;
use crate::approvals::Approvals;
use crate::dashboard::Dashboard;

const MAX_STREAMS: usize = 32;

/// Handle of the console.
#[derive(Clone)]
pub struct Console {
    inner: Arc<Inner>,
}

struct Inner {
    dashboard: Dashboard,
    approvals: Option<Arc<Approvals>>,
    guard: Guard,
    streams: AtomicUsize,
    /// Becomes `true` when the gateway shuts down, which ends the streams.
    ends: watch::Sender<bool>,
}

impl Console {
    /// Creates a console over a dashboard and, if a store exists, over its approvals. `guard`
    /// should have a token: every user of the console can approve calls.
    #[must_use]
    pub fn new(dashboard: Dashboard, approvals: Option<Arc<Approvals>>, guard: Guard) -> Self {
        let (ends, _) = watch::channel(false);
        Self { inner: Arc::new(Inner { dashboard, approvals, guard, streams: AtomicUsize::new(0), ends }) }
    }

    pub(super) fn routes(&self) -> Router {
        Router::new()
            .route("/console", get(show))
            .route("/console/events", get(watch_on))
            .route("/console/approvals/{id}/{answer}", post(answers::answer_approval))
            .with_state(self.clone())
    }

    pub(super) fn end_streams(&self) {
        self.inner.ends.send_replace(true);
    }

    /// Checks the token and the origin of a request.
    #[allow(clippy::result_large_err, reason = "the error is the response, created once")]
    fn check_request(&self, headers: &HeaderMap) -> Result<(), Response> {
        self.inner.guard.check_headers(headers)?;
        if is_own_page(headers) {
            return Ok(());
        }
        Err(plain_text(StatusCode::FORBIDDEN, "only the console's own page may send this request"))
    }
}

async fn show(State(console): State<Console>, headers: HeaderMap) -> Response {
    match console.inner.guard.check_site(&headers) {
        Ok(()) => page::response(),
        Err(refused) => refused,
    }
}

async fn watch_on(State(console): State<Console>, headers: HeaderMap) -> Response {
    if let Err(refused) = console.check_request(&headers) {
        return refused;
    }
    let open = console
        .inner
        .streams
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| (open < MAX_STREAMS).then_some(open + 1));
    match open {
        Ok(_) => stream::response(console),
        Err(_) => plain_text(StatusCode::SERVICE_UNAVAILABLE, "too many open consoles; close one"),
    }
}

/// Whether a request comes from the gateway's own page, or not from a page. The guard accepts pages
/// of this machine, such as a development server's; the console only accepts its own.
fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let origin = match (headers.contains_key(header::ORIGIN), text(header::ORIGIN), text(header::HOST)) {
        (false, ..) => true,
        (true, Some(origin), Some(host)) => {
            origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
        }
        (true, ..) => false,
    };
    site && origin
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn requests_of_other_pages_are_rejected() {
        let asks = |given: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            headers.insert("host", HeaderValue::from_static("localhost:3900"));
            for (name, value) in given {
                headers.insert(*name, HeaderValue::from_str(value).unwrap());
            }
            is_own_page(&headers)
        };
        assert!(asks(&[]) && asks(&[("origin", "http://localhost:3900"), ("sec-fetch-site", "same-origin")]));
        for origin in ["http://localhost:5173", "http://localhost", "null", "", "http://localhost:3900.evil.test"] {
            assert!(!asks(&[("origin", origin)]), "{origin}");
        }
        assert!(!asks(&[("sec-fetch-site", "cross-site")]) && !asks(&[("sec-fetch-site", "same-site")]));
    }
}
