//! `/healthz` and `/metrics`: for whoever keeps the gateway running.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode, header};

use super::guard::Guard;
use super::plain;
use crate::board::Board;
use crate::desk::Desk;

/// See the module.
#[derive(Clone)]
pub(super) struct Status {
    pub(super) guard: Guard,
    pub(super) board: Option<Board>,
    pub(super) desk: Option<Arc<Desk>>,
}

impl Status {
    pub(super) fn routes(self) -> Router {
        Router::new().route("/healthz", get(health)).route("/metrics", get(metrics)).with_state(self)
    }
}

/// The gateway is well as long as it answers: it starts servers again by itself, and takes calls for those that are there. So
/// the status is 200, and the text says which are down to whoever may know.
async fn health(State(own): State<Status>, headers: HeaderMap) -> Response {
    let health = own.board.as_ref().map(Board::health).unwrap_or_default();
    if health.down.is_empty() {
        return plain(StatusCode::OK, "ok");
    }
    let mut text = format!("degraded: {} of {} servers down", health.down.len(), health.servers);
    if own.guard.check(&headers).is_ok() {
        for name in &health.down {
            text.push_str("\ndown: ");
            text.push_str(name);
        }
    }
    plain(StatusCode::OK, &text)
}

async fn metrics(State(own): State<Status>, headers: HeaderMap) -> Response {
    if let Err(refused) = own.guard.check(&headers) {
        return refused;
    }
    let Some(board) = own.board else { return plain(StatusCode::NOT_FOUND, "nothing is counted here") };
    let pending = match own.desk {
        Some(desk) => tokio::task::spawn_blocking(move || desk.pending().ok()).await.ok().flatten(),
        None => None,
    };
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (StatusCode::OK, kind, board.metrics(pending)).into_response()
}
