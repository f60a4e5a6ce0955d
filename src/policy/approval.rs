//! Approvals: a person's yes to one call, bound to everything that the person saw.
//!
//! `pending → approved | rejected | expired`, `approved → consumed`, once. Many may be pending. The first answer
//! wins; a no is durable. What runs are the stored arguments, never a second copy from the caller.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::audit::{Entry, Kind, redact, redact_lines};
use super::canonical::digest;
use super::context::ToolOrigin;
use super::grant::GrantTarget;
use super::links::Links;
use super::store_error::StoreError;

/// How long an approval waits for an answer, and a yes for its call, in milliseconds: 15 minutes.
pub const WAIT_MS: i64 = 15 * 60 * 1000;

/// What a person is shown before the yes. Part of the digest: another picture needs another yes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Displayed {
    /// The real target: where a tool passes a call on, what it passes it to.
    pub target: String,
    /// The arguments in canonical form, invisible characters escaped.
    pub arguments: String,
    /// What it would touch, one line each.
    pub effects: Vec<String>,
    /// How it can be taken back: `snapshot`, `inverse`, `compensate`, `irreversible`.
    pub undo: String,
    /// Why it is asked about.
    pub why: Vec<String>,
    /// What may be remembered with the yes. Empty: only this once.
    pub remember: Vec<GrantTarget>,
    /// The paths of the call that lead elsewhere than they say. Where they lead elsewhere again, the yes is void.
    #[serde(default, skip_serializing_if = "Links::is_empty")]
    pub links: Links,
}

/// A call that waits for a person, with everything its approval is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Who offers the tool.
    pub origin: ToolOrigin,
    /// The tool's name at its origin.
    pub tool: String,
    /// The digest of the tool's definition.
    pub schema_hash: String,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as the model wrote them, where [`arguments`](Self::arguments) does not give that text back: integers
    /// beyond 64 bits keep their digits here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_json: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The session.
    pub session: String,
    /// The call's id.
    pub call_id: String,
    /// The policy's version.
    pub policy_version: String,
    /// What the person is shown.
    #[serde(rename = "shown")]
    pub displayed: Displayed,
    /// Globs over argument names that the policy keeps out of the audit. Not in the digest: the policy's version is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
}

impl Request {
    /// SHA-256 over the canonical form of all of it.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut parts = json!({
            "origin": self.origin, "tool": self.tool, "schema_hash": self.schema_hash, "arguments": self.arguments,
            "cwd": self.cwd, "session": self.session, "call_id": self.call_id, "policy_version": self.policy_version,
            "shown": self.displayed,
        });
        if let (Some(parts), Some(text)) = (parts.as_object_mut(), &self.arguments_json) {
            parts.insert("arguments_json".to_owned(), json!(text));
        }
        digest(&parts)
    }

    /// The record of something that happened to the call, without secrets. `digest` is [`Request::digest`], `rule` the
    /// reasons of the decision.
    #[must_use]
    pub fn entry(&self, kind: Kind, now_ms: i64, digest: &str, rule: Option<String>) -> Entry {
        let hidden: Vec<&str> = self.redact.iter().map(String::as_str).collect();
        Entry {
            session: self.session.clone(),
            origin: Some(self.origin.clone()),
            tool: self.tool.clone(),
            call_id: self.call_id.clone(),
            digest: Some(digest.to_owned()),
            arguments: redact(&self.arguments, &hidden),
            effects: json!(redact_lines(&self.displayed.effects, &self.arguments, &hidden)),
            rule: rule.and_then(|rule| redact_lines(&[rule], &self.arguments, &hidden).pop()),
            detail: self.links_on_record(&hidden),
            undo: Some(self.displayed.undo.clone()).filter(|undo| !undo.is_empty()),
            ..Entry::new(kind, now_ms)
        }
    }
}

impl Request {
    /// Where the call's paths led, as far as no secret shows; nothing if they led where they say.
    fn links_on_record(&self, hidden: &[&str]) -> Value {
        let pairs = self.displayed.links.iter().filter(|(path, real)| {
            let lines = [(*path).to_owned(), real.unwrap_or_default().to_owned()];
            redact_lines(&lines, &self.arguments, hidden) == lines
        });
        let links: serde_json::Map<String, Value> = pairs.map(|(path, real)| (path.to_owned(), json!(real))).collect();
        if links.is_empty() { Value::Null } else { json!({ "links": links }) }
    }
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits for an answer.
    Pending,
    /// A person said yes; the call has not run.
    Approved,
    /// A person said no.
    Rejected,
    /// Nobody answered, or nobody ran it, in time.
    Expired,
    /// The call was let through. It is never let through again.
    Consumed,
}

impl std::fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
        })
    }
}

/// An approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id: never reused.
    pub id: String,
    /// The digest of its request when it was made.
    pub digest: String,
    /// What it is for.
    pub request: Request,
    /// Where it stands.
    pub state: ApprovalState,
    /// When it was made, in milliseconds since 1970 UTC.
    pub created_ms: i64,
    /// When it ends, unless it is used before.
    pub expires_ms: i64,
    /// The person's words with a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to exactly this.
    Approve,
    /// No, and why.
    Reject(Option<String>),
}

/// Why an approval does not let a call through. Every one of them means: the call does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is none of this id.
    #[error("there is no approval `{0}`")]
    NotFound(String),
    /// It has been answered, used or has run out.
    #[error("approval `{id}` is {state}, not {wanted}")]
    Not {
        /// Which.
        id: String,
        /// Where it stands.
        state: ApprovalState,
        /// Where it would have to stand.
        wanted: ApprovalState,
    },
    /// What would run is not what was approved.
    #[error("approval `{0}` does not cover this call: {1}")]
    Differs(String, &'static str),
    /// The policy now forbids it.
    #[error("the policy now forbids this call: {0}")]
    Denied(String),
    /// The store cannot be read or written.
    #[error("the approval store cannot be used: {0}")]
    Store(#[from] StoreError),
}

impl Approval {
    /// A new one.
    #[must_use]
    pub fn pending(id: String, request: Request, now_ms: i64, wait_ms: i64) -> Self {
        let expires_ms = now_ms.saturating_add(wait_ms);
        Self {
            id,
            digest: request.digest(),
            request,
            state: ApprovalState::Pending,
            created_ms: now_ms,
            expires_ms,
            reason: None,
        }
    }

    /// Where it stands at a time.
    #[must_use]
    pub fn state_at(&self, now_ms: i64) -> ApprovalState {
        match self.state {
            ApprovalState::Pending | ApprovalState::Approved if now_ms >= self.expires_ms => ApprovalState::Expired,
            state => state,
        }
    }

    /// Whether its call may still run, now or after a yes.
    #[must_use]
    pub fn is_open_at(&self, now_ms: i64) -> bool {
        matches!(self.state_at(now_ms), ApprovalState::Pending | ApprovalState::Approved)
    }

    /// After a person's answer. The first one wins.
    ///
    /// # Errors
    /// [`ApprovalError::Not`] if it does not wait for one.
    pub fn answered(mut self, answer: Answer, now_ms: i64) -> Result<Self, ApprovalError> {
        self.must_be(ApprovalState::Pending, now_ms)?;
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

    /// After its one use.
    ///
    /// # Errors
    /// [`ApprovalError`] if it is not approved now, or is for something else than `digest`.
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
