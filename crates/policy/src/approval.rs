//! Approvals: a person approves one call, and the approval is bound to everything that the person
//! saw.
//!
//! `pending → approved | rejected | expired`, `approved → consumed`, once. Several may be pending
//! at the same time. The first answer wins, and a rejection is final. The stored arguments run,
//! never a second copy from the caller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store_error::StoreError;

mod request;

pub use request::{Displayed, Request};

/// How long an approval waits for an answer, and then for its call, in milliseconds: 15 minutes.
pub const WAIT_MS: i64 = 15 * 60 * 1000;

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Pending,
    /// A person approved; the call has not run yet.
    Approved,
    /// A person rejected it.
    Rejected,
    /// Nobody answered in time, or the call did not run in time.
    Expired,
    /// The call was forwarded. It is never forwarded again.
    Consumed,
}

impl ApprovalState {
    /// Whether the call may still run, now or once it is approved.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved)
    }

    /// Whether a person's answer has ended it.
    fn is_settled(self) -> bool {
        matches!(self, Self::Consumed | Self::Rejected)
    }
}

impl std::fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Approval {
    /// Its id. Ids are never reused.
    pub id: String,
    /// The digest of its request when the approval was created.
    pub digest: String,
    /// The call that it is for.
    pub request: Request,
    /// Its state at the last change.
    pub state: ApprovalState,
    /// When it was created, in milliseconds since 1970 UTC.
    pub created_ms: i64,
    /// When it expires, in milliseconds since 1970 UTC.
    pub expires_ms: i64,
    /// The person's reason for rejecting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who answered, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Approve exactly this call.
    Approve,
    /// Reject it, with the reason if the person gave one.
    Reject(Option<String>),
}

/// Why an approval does not let a call run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// No approval has this id.
    #[error("there is no approval `{0}`")]
    NotFound(String),
    /// It is in another state than the operation needs.
    #[error("approval `{id}` is {state}, not {wanted}")]
    Not {
        /// Its id.
        id: String,
        /// Its state.
        state: ApprovalState,
        /// The state that the operation needs.
        wanted: ApprovalState,
    },
    /// The call that would run is not the one that was approved.
    #[error("approval `{0}` does not cover this call: {1}")]
    Differs(String, &'static str),
    /// The policy now denies the call.
    #[error("the policy now forbids this call: {0}")]
    Denied(String),
    /// The person was shown that a snapshot undoes the call, and none can be made.
    #[error("approval `{id}` showed that the call can be undone, and no snapshot can be made: {why}")]
    NoSnapshot {
        /// Its id.
        id: String,
        /// Why not.
        why: String,
        /// Whether it may be possible later; then the approval still holds.
        passing: bool,
    },
    /// The store has another approver's key.
    #[error("the store has another approver's key")]
    Key,
    /// Another call was counted after this one was decided on: decide again.
    #[error("another call was counted meanwhile; try again")]
    Raced,
    /// The store cannot be read or written.
    #[error("the approval store cannot be used: {0}")]
    Store(#[from] StoreError),
}

impl Approval {
    /// A new, pending approval.
    #[must_use]
    pub fn pending(id: String, request: Request, now_ms: i64, wait_ms: i64) -> Self {
        Self {
            id,
            digest: request.digest(),
            request,
            state: ApprovalState::Pending,
            created_ms: now_ms,
            expires_ms: now_ms.saturating_add(wait_ms),
            reason: None,
            answered_by: None,
        }
    }

    /// Returns, of approvals in order of age, the one that already answers for a call with this id
    /// and message, session, channel, origin and tool: the last that a person's answer has ended,
    /// if its arguments are the same without secrets, as they are stored; otherwise the last that
    /// is open, if its arguments and its policy are the same.
    #[must_use]
    pub fn standing<'a>(
        approvals: impl IntoIterator<Item = &'a Self>,
        request: &Request,
        now_ms: i64,
    ) -> Option<&'a Self> {
        let standing = approvals.into_iter().filter(|approval| approval.stands_for(request, now_ms));
        standing.max_by_key(|approval| approval.state.is_settled())
    }

    /// Whether it answers a request about the same call, or waits for an answer to it.
    fn stands_for(&self, request: &Request, now_ms: i64) -> bool {
        if self.request.message != request.message || !self.request.has_same_id(request) {
            return false;
        }
        if self.state.is_settled() {
            return self.request.redacted_arguments() == request.redacted_arguments();
        }
        self.is_open_at(now_ms)
            && self.request.has_same_arguments(request)
            && self.request.policy_version == request.policy_version
    }

    /// What a store keeps of it: once it is over, its call without secrets.
    #[must_use]
    pub fn kept(self) -> Self {
        if self.state.is_open() { self } else { Self { request: self.request.cut(), ..self } }
    }

    /// The approval after its time, if it had not ended before.
    #[must_use]
    pub fn expired(self, now_ms: i64) -> Self {
        Self { state: self.state_at(now_ms), ..self }
    }

    /// Its state at a time, which accounts for expiry.
    #[must_use]
    pub fn state_at(&self, now_ms: i64) -> ApprovalState {
        if self.state.is_open() && now_ms >= self.expires_ms { ApprovalState::Expired } else { self.state }
    }

    /// Whether its call may still run, now or once it is approved.
    #[must_use]
    pub fn is_open_at(&self, now_ms: i64) -> bool {
        self.state_at(now_ms).is_open()
    }

    /// The approval after a person's answer. The first answer wins. `by` says who gave it, and how.
    ///
    /// # Errors
    /// [`ApprovalError::Not`] if it is not pending, [`ApprovalError::Differs`] if its call is not
    /// the one that was asked about.
    pub fn answered(mut self, answer: Answer, by: &str, now_ms: i64) -> Result<Self, ApprovalError> {
        self.must_be(ApprovalState::Pending, now_ms)?;
        if answer == Answer::Approve && self.request.digest() != self.digest {
            return Err(ApprovalError::Differs(self.id, "the digest differs"));
        }
        self.answered_by = Some(by.to_owned());
        match answer {
            Answer::Approve => {
                self.state = ApprovalState::Approved;
                self.expires_ms = now_ms.saturating_add(WAIT_MS);
            }
            Answer::Reject(reason) => {
                self.state = ApprovalState::Rejected;
                self.reason = reason;
            }
        }
        Ok(self)
    }

    /// The approval after its single use.
    ///
    /// # Errors
    /// [`ApprovalError`] if it is not approved now, or does not have this digest.
    pub fn consumed(mut self, digest: &str, now_ms: i64) -> Result<Self, ApprovalError> {
        self.must_be(ApprovalState::Approved, now_ms)?;
        if digest.is_empty() || self.digest != digest || self.request.digest() != digest {
            return Err(ApprovalError::Differs(self.id, "the digest differs"));
        }
        self.state = ApprovalState::Consumed;
        Ok(self)
    }

    fn must_be(&self, wanted: ApprovalState, now_ms: i64) -> Result<(), ApprovalError> {
        let state = self.state_at(now_ms);
        if state == wanted { Ok(()) } else { Err(ApprovalError::Not { id: self.id.clone(), state, wanted }) }
    }
}
