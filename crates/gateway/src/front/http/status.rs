//! `/healthz` and `/metrics`, for operators.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode, header};

use super::connections::Connections;
use super::guard::Guard;
use super::plain_text;
use crate::approvals::Approvals;
use crate::dashboard::Dashboard;
use crate::state::StateStore;

/// How long `/healthz` waits for the store of sessions.
const STATE: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) struct Status {
    pub(super) guard: Guard,
    pub(super) dashboard: Option<Dashboard>,
    pub(super) approvals: Option<Arc<Approvals>>,
    pub(super) connections: Arc<Connections>,
    /// The store of sessions.
    pub(super) state: Arc<dyn StateStore>,
}

impl Status {
    pub(super) fn routes(self) -> Router {
        Router::new().route("/healthz", get(health)).route("/metrics", get(metrics)).with_state(self)
    }
}

impl Status {
    /// Whether the store of sessions answers. One in memory always does.
    async fn has_state(&self) -> bool {
        let asked = async { self.state.is_shared().then_some(self.state.now_ms())?.await.err() };
        matches!(tokio::time::timeout(STATE, asked).await, Ok(None))
    }
}

/// The status is 200 while the gateway responds: it restarts servers automatically and accepts
/// calls to the others. A lack of connections or sessions, and a store that does not answer, are
/// reported too. For authorized callers, the text lists the servers that are down.
async fn health(State(own): State<Status>, headers: HeaderMap) -> Response {
    let health = own.dashboard.as_ref().map(Dashboard::health).unwrap_or_default();
    let mut reasons = Vec::new();
    if !health.down.is_empty() {
        reasons.push(format!("degraded: {} of {} servers down", health.down.len(), health.servers));
    }
    reasons.extend(own.connections.overload().map(|why| format!("degraded: {why}")));
    if !own.has_state().await {
        reasons.push("degraded: the store of sessions does not answer".to_owned());
    }
    if reasons.is_empty() {
        return plain_text(StatusCode::OK, "ok");
    }
    let mut text = reasons.join("\n");
    if own.guard.check_headers(&headers).is_ok() {
        for name in &health.down {
            text.push_str("\ndown: ");
            text.push_str(name);
        }
    }
    plain_text(StatusCode::OK, &text)
}

async fn metrics(State(own): State<Status>, headers: HeaderMap) -> Response {
    if let Err(refused) = own.guard.check_headers(&headers) {
        return refused;
    }
    let Some(dashboard) = own.dashboard else {
        return plain_text(StatusCode::NOT_FOUND, "this gateway has no dashboard");
    };
    let pending = match own.approvals {
        Some(approvals) => tokio::task::spawn_blocking(move || approvals.count_pending().ok()).await.ok().flatten(),
        None => None,
    };
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (StatusCode::OK, kind, dashboard.metrics(pending)).into_response()
}
