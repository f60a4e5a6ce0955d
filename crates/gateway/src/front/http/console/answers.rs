//! Users' answers to approvals.

use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use toolfold::policy::{Answer, ApprovalError};

use super::Console;
use crate::approvals::is_of_the_store;
use crate::front::http::{JSON, media_type, plain_text};

/// The maximum size of a request body, in bytes.
const MAX_BODY: usize = 8 * 1024;
/// The maximum length of a reason, in characters; longer ones are truncated.
const MAX_REASON: usize = 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    /// The digest of the call that the user has seen.
    digest: String,
    /// Why the call is rejected, for the model.
    reason: Option<String>,
}

/// `POST /console/approvals/{id}/approve` and `…/reject`. The body must be JSON, which a form of
/// another site cannot send.
pub(super) async fn answer_approval(
    State(console): State<Console>,
    Path((id, answer)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refused) = console.check_request(&parts.headers) {
        return refused;
    }
    if media_type(&parts.headers) != JSON {
        return plain_text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
    }
    let Some(approvals) = console.inner.approvals.clone() else {
        return plain_text(StatusCode::NOT_FOUND, "this gateway has no approval store");
    };
    let given = to_bytes(body, MAX_BODY).await.ok().and_then(|body| serde_json::from_slice::<Given>(&body).ok());
    let Some(Given { digest, reason }) = given else {
        return plain_text(
            StatusCode::BAD_REQUEST,
            "the body must be {\"digest\": \"…\"}, with an optional reason for a rejection",
        );
    };
    let reason = reason.map(|reason| reason.trim().chars().take(MAX_REASON).collect::<String>());
    let answer = match answer.as_str() {
        "approve" => Answer::Approve,
        "reject" => Answer::Reject(reason.filter(|reason| !reason.is_empty())),
        _ => return plain_text(StatusCode::NOT_FOUND, "unknown answer; use approve or reject"),
    };
    let answered = tokio::task::spawn_blocking(move || approvals.answer_approval(&id, &digest, answer)).await;
    match answered {
        Ok(Ok(approval)) => {
            let body = json!({"id": approval.id, "state": approval.state, "expires_ms": approval.expires_ms});
            (StatusCode::OK, [(header::CONTENT_TYPE, JSON)], body.to_string()).into_response()
        }
        Ok(Err(why)) => plain_text(status_of(&why), &why.to_string()),
        Err(_) => plain_text(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not stored; see the gateway's log"),
    }
}

fn status_of(why: &ApprovalError) -> StatusCode {
    match why {
        ApprovalError::NotFound(_) => StatusCode::NOT_FOUND,
        why if is_of_the_store(why) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::CONFLICT,
    }
}
