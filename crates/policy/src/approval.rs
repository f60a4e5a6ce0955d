//! Approvals: a person approves one call, and the approval is bound to everything that the person
//! saw.
//!
//! `pending → approved | rejected | expired`, `approved → consumed`, once. Several may be pending
//! at the same time. The first answer wins, and a rejection is final. The stored arguments run,
//! never a second copy from the caller.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::audit::{Entry, Kind, redact, redact_lines};
use super::canonical::digest;
use super::context::{PolicyCall, ToolOrigin};
use super::grant::GrantTarget;
use super::links::Links;
use super::store_error::StoreError;

/// How long an approval waits for an answer, and then for its call, in milliseconds: 15 minutes.
pub const WAIT_MS: i64 = 15 * 60 * 1000;

/// What a person is shown before approving. Part of the digest: a call that is displayed otherwise
/// needs a new approval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Displayed {
    /// The real target: the tool, or what a dispatching tool passes the call on to.
    pub target: String,
    /// The arguments in canonical form, with invisible characters escaped.
    pub arguments: String,
    /// The effects of the call, one line each.
    pub effects: Vec<String>,
    /// How the call can be undone: `snapshot`, `inverse`, `compensate`, `irreversible`.
    pub undo: String,
    /// Why it is `irreversible`, where the tool's record says `snapshot`. Empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub undo_why: String,
    /// Why the call needs approval.
    pub why: Vec<String>,
    /// What may be remembered with the approval. Empty: the call can only be approved once.
    pub remember: Vec<GrantTarget>,
    /// The paths of the call that symbolic links lead elsewhere. If one of them changes, the
    /// approval is void.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

/// A call that needs approval, with everything that the approval is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Who provides the tool.
    pub origin: ToolOrigin,
    /// The tool's name at its origin.
    pub tool: String,
    /// The digest of the tool's definition.
    pub schema_hash: String,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as the model wrote them, where [`arguments`](Self::arguments) does not give
    /// that text back: integers beyond 64 bits keep their digits here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_json: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The session.
    pub session: String,
    /// The call's id, as the provider gave it. Calls of several messages may have the same.
    pub call_id: String,
    /// What distinguishes the call from others of the session with this id: the key of its message,
    /// or how many calls had the id. `None` for the first one without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The policy's version.
    pub policy_version: String,
    /// What the person is shown.
    #[serde(rename = "shown")]
    pub displayed: Displayed,
    /// Globs over the names of arguments that the policy keeps out of the audit trail. Not part of
    /// the digest, which includes the version of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// What identifies the channel that the host gave the conversation for a person's answers, if
    /// it has one: an answer through another conversation's channel does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl Request {
    /// The call that it is about, as the policy sees it.
    #[must_use]
    pub fn call(&self) -> PolicyCall<'_> {
        PolicyCall { tool: &self.tool, origin: &self.origin, arguments: &self.arguments }
    }

    /// SHA-256 over the canonical form of the request.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut parts = json!({
            "origin": self.origin, "tool": self.tool, "schema_hash": self.schema_hash, "arguments": self.arguments,
            "cwd": self.cwd, "session": self.session, "call_id": self.call_id, "policy_version": self.policy_version,
            "shown": self.displayed,
        });
        for (name, text) in
            [("arguments_json", &self.arguments_json), ("channel", &self.channel), ("message", &self.message)]
        {
            if let (Some(parts), Some(text)) = (parts.as_object_mut(), text) {
                parts.insert(name.to_owned(), json!(text));
            }
        }
        digest(&parts)
    }

    /// Whether both have one call id and the same arguments, whatever their messages.
    #[must_use]
    pub fn is_repeat_of(&self, other: &Self) -> bool {
        self.has_same_id(other) && self.has_same_arguments(other)
    }

    fn has_same_id(&self, other: &Self) -> bool {
        self.call_id == other.call_id
            && self.session == other.session
            && self.channel == other.channel
            && self.origin == other.origin
            && self.tool == other.tool
    }

    fn has_same_arguments(&self, other: &Self) -> bool {
        self.arguments == other.arguments && self.arguments_json == other.arguments_json
    }

    fn redacted_arguments(&self) -> Value {
        redact(&self.arguments, &self.hidden())
    }

    fn redacted(&self, lines: &[String]) -> Vec<String> {
        redact_lines(lines, &self.arguments, &self.hidden())
    }

    /// Globs over the names of arguments that hold secrets.
    fn hidden(&self) -> Vec<&str> {
        self.redact.iter().map(String::as_str).collect()
    }

    /// The audit record of an event of the call, without secrets. `digest` is [`Request::digest`],
    /// `rule` the reasons of the decision.
    #[must_use]
    pub fn entry(&self, kind: Kind, now_ms: i64, digest: &str, rule: Option<String>) -> Entry {
        // Where symbolic links led the paths of the call, leaving out pairs that contain a secret.
        let mut links = Map::new();
        for (path, real) in self.displayed.links.iter() {
            let pair = [path.to_owned(), real.unwrap_or_default().to_owned()];
            if self.redacted(&pair) == pair {
                links.insert(path.to_owned(), json!(real));
            }
        }
        let mut entry = Entry {
            session: self.session.clone(),
            origin: Some(self.origin.clone()),
            tool: self.tool.clone(),
            call_id: self.call_id.clone(),
            digest: Some(digest.to_owned()),
            arguments: self.redacted_arguments(),
            effects: json!(self.redacted(&self.displayed.effects)),
            rule: rule.and_then(|rule| self.redacted(&[rule]).pop()),
            detail: if links.is_empty() { Value::Null } else { json!({ "links": links }) },
            undo: Some(self.displayed.undo.clone()).filter(|undo| !undo.is_empty()),
            ..Entry::new(kind, now_ms)
        };
        if let Some(message) = &self.message {
            entry.add_detail("message", json!(message));
        }
        entry
    }

    /// The request without secrets: what is kept once its call is over.
    fn cut(self) -> Self {
        let arguments = self.redacted_arguments();
        let displayed = Displayed {
            arguments: self.redacted(std::slice::from_ref(&self.displayed.arguments)).concat(),
            effects: self.redacted(&self.displayed.effects),
            why: self.redacted(&self.displayed.why),
            remember: Vec::new(),
            links: Links::default(),
            ..self.displayed.clone()
        };
        Self { arguments, arguments_json: None, displayed, ..self }
    }
}

/// The state of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
