//! The console: a page for people that shows what the gateway does, and where they answer approvals.
//!
//! The page itself holds nothing that is secret, so that it is served to any browser on this machine; all data needs the token.
//! A browser cannot bring one with a navigation: it stands behind the `#` of the address, which is never sent, and the page's
//! script sends it as a header. Nothing is kept in a cookie, so that another site's page has nothing to ride on.

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

/// How many streams there may be at once.
const MAX_STREAMS: usize = 32;

/// See the module. A handle.
#[derive(Clone)]
pub struct Console {
    inner: Arc<Inner>,
}

struct Inner {
    dashboard: Dashboard,
    approvals: Option<Arc<Approvals>>,
    guard: Guard,
    streams: AtomicUsize,
    /// Whether the gateway is shutting down: then its streams do.
    ends: watch::Sender<bool>,
}

impl Console {
    /// Creates a console over a dashboard and, if a store exists, over its approvals. `guard` should
    /// have a token: every user of the console can approve calls.
    #[must_use]
    pub fn new(dashboard: Dashboard, approvals: Option<Arc<Approvals>>, guard: Guard) -> Self {
        let (ends, _) = watch::channel(false);
        Self { inner: Arc::new(Inner { dashboard, approvals, guard, streams: AtomicUsize::new(0), ends }) }
    }

    /// Its routes.
    pub(super) fn routes(&self) -> Router {
        Router::new()
            .route("/console", get(show))
            .route("/console/events", get(watch_on))
            .route("/console/approvals/{id}/{answer}", post(answers::answer_approval))
            .with_state(self.clone())
    }

    /// Ends the streams.
    pub(super) fn end_streams(&self) {
        self.inner.ends.send_replace(true);
    }

    /// Whether a request may see or answer anything.
    #[allow(clippy::result_large_err, reason = "it is the answer, made once")]
    fn check_request(&self, headers: &HeaderMap) -> Result<(), Response> {
        self.inner.guard.check_headers(headers)?;
        if is_own_page(headers) {
            return Ok(());
        }
        Err(plain_text(StatusCode::FORBIDDEN, "only the console's own page may ask here"))
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
        Err(_) => plain_text(StatusCode::SERVICE_UNAVAILABLE, "too many consoles are open: close one"),
    }
}

/// Whether a request comes from the gateway's own page, or from no page at all. The guard lets pages of this machine call,
/// which may be anybody's development server; the console lets only its own.
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
    fn only_the_own_page_may_ask() {
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
