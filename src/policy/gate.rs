//! Two handles on one store of approvals: the gate, which asks and lets through, and the approver, which answers.
//!
//! [`open`] gives both; a host hands the gate to its engine and keeps the approver where only a person reaches it.
//! Nothing that a tool is given leads from one to the other, so an agent cannot approve itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::approval::{Answer, Approval, ApprovalError, Request};
use super::audit::{Entry, Kind};
use super::context::{Context, PolicyCall};
use super::decision::Decision;
use super::grant::Grant;
use super::policy_set::Policy;

/// Where audit records go.
pub trait AuditSink: Send + Sync {
    /// Seals and writes a record. When it returns, the record is on disk.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if it cannot be written. Then what it is about must not run.
    fn append(&self, entry: &Entry) -> Result<(), ApprovalError>;
}

/// Where approvals and grants are kept. Several processes may use one store at once.
pub trait ApprovalStore: AuditSink {
    /// Keeps a new approval, with the record that it was asked for.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn insert(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError>;

    /// One approval.
    ///
    /// # Errors
    /// [`ApprovalError::NotFound`], [`ApprovalError::Store`].
    fn get(&self, id: &str) -> Result<Approval, ApprovalError>;

    /// Those that wait for an answer, oldest first.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError>;

    /// Those of a session whose call has neither run nor been refused, answered or not, oldest first.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn open(&self, session: &str, now_ms: i64) -> Result<Vec<Approval>, ApprovalError>;

    /// Answers one, in one transaction with its record.
    ///
    /// # Errors
    /// [`ApprovalError`] if it does not wait for an answer.
    fn answer(&self, consent: &Consent, id: &str, answer: Answer, now_ms: i64) -> Result<Approval, ApprovalError>;

    /// Uses one up, in one transaction with its record: of any number of callers exactly one succeeds.
    ///
    /// # Errors
    /// [`ApprovalError`] for all the others.
    fn consume(&self, id: &str, digest: &str, now_ms: i64, record: &Entry) -> Result<Approval, ApprovalError>;

    /// Remembers a yes, with its record. Gives it back with its id.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn add_grant(&self, consent: &Consent, grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError>;

    /// What is remembered and neither revoked nor expired, oldest first.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError>;

    /// Takes one back. Anyone may: it only tightens. False if there is none of this id.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    fn revoke(&self, id: &str, now_ms: i64) -> Result<bool, ApprovalError>;
}

/// The proof that an answer comes through an [`Approver`]. Cannot be made outside this module.
#[derive(Debug)]
pub struct Consent(());

/// Gives both handles on a store.
#[must_use]
pub fn open(store: Arc<dyn ApprovalStore>) -> (Gate, Approver) {
    (Gate { store: Arc::clone(&store) }, Approver { store, consent: Consent(()) })
}

/// Asks, and lets through what was approved.
#[derive(Clone)]
pub struct Gate {
    store: Arc<dyn ApprovalStore>,
}

/// Answers. For a person's surface only; cannot be cloned or made from a [`Gate`].
pub struct Approver {
    store: Arc<dyn ApprovalStore>,
    consent: Consent,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

impl std::fmt::Debug for Approver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Approver")
    }
}

impl Gate {
    /// Puts a call before a person.
    ///
    /// # Errors
    /// [`ApprovalError::Store`]: then the call is refused.
    pub fn ask(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        self.store.insert(request, now_ms, wait_ms)
    }

    /// Uses an approval up and gives it back: the caller runs its stored arguments and nothing else.
    ///
    /// Judges again first: the stored call under the policy and the facts of now, of which
    /// [`links`](Context::links) must be those of the stored call. `schema_hash` is that of the tool's definition now.
    ///
    /// # Errors
    /// [`ApprovalError`]; the call does not run.
    pub fn redeem(
        &self,
        id: &str,
        policy: &Policy,
        context: &Context,
        schema_hash: &str,
    ) -> Result<Approval, ApprovalError> {
        let approval = self.store.get(id)?;
        let request = &approval.request;
        let differs = |what| Err(ApprovalError::Differs(id.to_owned(), what));
        if request.policy_version != policy.version() {
            return differs("the policy has changed");
        }
        if request.schema_hash != schema_hash {
            return differs("the tool's definition has changed");
        }
        if request.session != context.session {
            return differs("it belongs to another session");
        }
        let call = PolicyCall { tool: &request.tool, origin: &request.origin, arguments: &request.arguments };
        let context = Context { cwd: request.cwd.clone(), interactive: true, ..context.clone() };
        let verdict = policy.decide(&call, &context, &[]);
        if verdict.decision == Decision::Deny {
            return Err(ApprovalError::Denied(verdict.reason()));
        }
        if verdict.links != request.displayed.links {
            return differs("its paths now lead elsewhere");
        }
        let record = Entry {
            decision: Some(Decision::Confirm.name().to_owned()),
            ..about(&approval, Kind::Consumed, context.now_ms, Some(verdict.reason()))
        };
        self.store.consume(id, &request.digest(), context.now_ms, &record)
    }

    /// One approval, for `why`.
    ///
    /// # Errors
    /// [`ApprovalError`].
    pub fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        self.store.get(id)
    }

    /// Those that wait for an answer.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        self.store.pending(now_ms)
    }

    /// Those of a session whose call has neither run nor been refused, answered or not.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn open(&self, session: &str, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        self.store.open(session, now_ms)
    }

    /// What is remembered: to give to [`Policy::decide`].
    ///
    /// # Errors
    /// [`ApprovalError::Store`]: then decide without any.
    pub fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError> {
        self.store.grants(now_ms)
    }

    /// Writes an audit record.
    ///
    /// # Errors
    /// [`ApprovalError::Store`]: then what it is about does not run.
    pub fn record(&self, entry: &Entry) -> Result<(), ApprovalError> {
        self.store.append(entry)
    }
}

impl Approver {
    /// Says yes.
    ///
    /// # Errors
    /// [`ApprovalError`] if it does not wait for an answer.
    pub fn approve(&self, id: &str, now_ms: i64) -> Result<Approval, ApprovalError> {
        self.store.answer(&self.consent, id, Answer::Approve, now_ms)
    }

    /// Says no.
    ///
    /// # Errors
    /// [`ApprovalError`] if it does not wait for an answer.
    pub fn reject(&self, id: &str, reason: Option<&str>, now_ms: i64) -> Result<Approval, ApprovalError> {
        self.store.answer(&self.consent, id, Answer::Reject(reason.map(str::to_owned)), now_ms)
    }

    /// Remembers a yes.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn remember(&self, grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError> {
        self.store.add_grant(&self.consent, grant, now_ms)
    }

    /// Takes a remembered yes back; false if there is none of this id.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn revoke(&self, id: &str, now_ms: i64) -> Result<bool, ApprovalError> {
        self.store.revoke(id, now_ms)
    }

    /// What is remembered.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError> {
        self.store.grants(now_ms)
    }

    /// Those that wait for an answer.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        self.store.pending(now_ms)
    }
}

/// The record of something that happened to an approval. `rule`: the reasons, where a decision was part of it.
#[must_use]
pub fn about(approval: &Approval, kind: Kind, now_ms: i64, rule: Option<String>) -> Entry {
    let mut entry = approval.request.entry(kind, now_ms, &approval.digest, rule);
    entry.outcome.clone_from(&approval.reason);
    match &mut entry.detail {
        Value::Object(detail) => drop(detail.insert("approval".to_owned(), json!(approval.id))),
        detail => *detail = json!({ "approval": approval.id }),
    }
    entry
}

/// The record of a change to what is remembered.
#[must_use]
pub fn about_grant(grant: &Grant, kind: Kind, now_ms: i64) -> Entry {
    Entry {
        origin: Some(grant.origin.clone()),
        tool: grant.tool.clone(),
        detail: json!({ "grant": grant.id, "what": grant.target, "holds": grant.scope, "expires_ms": grant.expires_ms }),
        ..Entry::new(kind, now_ms)
    }
}
