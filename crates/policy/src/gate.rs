//! Two handles on an approval store: the gate, which asks and redeems, and the approver, which
//! answers.
//!
//! [`open`] returns both. A host gives the gate to its engine and keeps the approver where only a
//! person can reach it. Nothing that a tool receives leads from one to the other, so an agent
//! cannot approve its own calls.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::json;

use super::approval::{Answer, Approval, ApprovalError, ApprovalState, Request};
use super::audit::{Entry, Kind, grant_digest};
use super::decision::Decision;
use super::grant::Grant;
use super::history::{History, Series};
use super::prepared::Prepared;

/// A store of approvals, grants and audit records. Several processes may use one store at the same
/// time.
///
/// # Errors
/// Every method gives [`ApprovalError::Store`] where the store cannot be read or written: then the
/// call is refused.
pub trait ApprovalStore: Send + Sync {
    /// Adds a record to the chain. When this returns, the record is on disk;
    /// where that fails, the call that it is about must not run.
    ///
    /// In the same transaction, the [counted](Entry::counted) events are added to their series, and
    /// an outcome [settles](Entry::settles) those of its call. A record of a call that runs fails
    /// with [`ApprovalError::Raced`] if a series has another revision than its event has
    /// [seen](crate::Counted::seen).
    fn record(&self, entry: &Entry) -> Result<(), ApprovalError>;

    /// Asks a person to approve a call: stores a new approval together with its audit record.
    fn ask(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError>;

    /// As [`ask`](Self::ask), for a call whose id is unique in its session: returns the approval
    /// that already [answers for](Approval::standing) the call, if there is one. Both happen in one
    /// transaction, so that only one of several callers asks.
    fn ask_once(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError>;

    /// Returns an approval; [`ApprovalError::NotFound`] if no approval has this id.
    fn get(&self, id: &str) -> Result<Approval, ApprovalError>;

    /// The pending approvals, oldest first.
    fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError>;

    /// The approvals of a session that are pending or approved, oldest first.
    fn open(&self, session: &str, now_ms: i64) -> Result<Vec<Approval>, ApprovalError>;

    /// Answers a pending approval, in one transaction with its audit record.
    fn answer(&self, consent: &Consent, id: &str, answer: Answer, now_ms: i64) -> Result<Approval, ApprovalError>;

    /// Consumes an approval, in one transaction with its audit record. Of any number of callers,
    /// exactly one succeeds, and the others get an [`ApprovalError`].
    fn consume(
        &self,
        judged: &JudgedAgain,
        id: &str,
        digest: &str,
        now_ms: i64,
        record: &Entry,
    ) -> Result<Approval, ApprovalError>;

    /// Stores a grant together with its audit record. Returns it with its id.
    fn add_grant(&self, consent: &Consent, grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError>;

    /// The grants that are neither revoked nor expired, oldest first.
    fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError>;

    /// Revokes a grant. Anyone may, since it only tightens. `false` if no grant has this id.
    fn revoke(&self, id: &str, now_ms: i64) -> Result<bool, ApprovalError>;

    /// The summaries of series of counted calls. `before`: only the events that precede those of
    /// this call, as a replay needs them. The default knows nothing, so that every rule over
    /// earlier calls applies.
    fn history(&self, series: &[Series], before: Option<&str>) -> Result<History, ApprovalError> {
        let _ = (series, before);
        Ok(History::unknown())
    }

    /// The time that counts: `clock_ms`, or that of the last record if that is later. A clock that
    /// goes back revives nothing.
    fn now(&self, clock_ms: i64) -> i64 {
        clock_ms
    }
}

/// The proof that an answer comes through an [`Approver`]. Cannot be constructed outside this
/// module.
#[derive(Debug)]
pub struct Consent {
    by: String,
}

impl Consent {
    /// Who gives the answer, and how.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }
}

/// The proof that [`Gate::redeem`] has judged a call again before its approval is consumed. Cannot
/// be constructed outside this module.
#[derive(Debug)]
pub struct JudgedAgain(());

/// Returns both handles on a store.
#[must_use]
pub fn open(store: Arc<dyn ApprovalStore>) -> (Gate, Approver) {
    let consent = Consent { by: "the host".to_owned() };
    (Gate { store: Arc::clone(&store) }, Approver { store, consent })
}

/// Redeems what was approved, and gives every access to the store that needs no person.
#[derive(Clone)]
pub struct Gate {
    store: Arc<dyn ApprovalStore>,
}

/// Approves and rejects, and gives access to the store. Only for the interface that a person uses.
/// Cannot be cloned, or obtained from a [`Gate`].
pub struct Approver {
    store: Arc<dyn ApprovalStore>,
    consent: Consent,
}

impl Deref for Gate {
    type Target = dyn ApprovalStore;

    fn deref(&self) -> &Self::Target {
        self.store.as_ref()
    }
}

impl Deref for Approver {
    type Target = dyn ApprovalStore;

    fn deref(&self) -> &Self::Target {
        self.store.as_ref()
    }
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
    /// Consumes an approval and returns it. The caller must run its stored arguments and nothing
    /// else.
    ///
    /// First decides again on the stored call: `prepared` must be that [call](Request::call) in its
    /// working folder, under the current policy and disk. `schema_hash` is the hash of the tool's
    /// current definition. `leaving` is the last step before the approval is consumed: it gets the
    /// approval and the audit record of its use, to which it may add. If it fails, nothing is
    /// consumed.
    ///
    /// # Errors
    /// [`ApprovalError`], that of `leaving` among them; the call does not run.
    pub fn redeem(
        &self,
        id: &str,
        prepared: &Prepared<'_>,
        schema_hash: &str,
        leaving: impl FnOnce(&Approval, &mut Entry) -> Result<(), ApprovalError>,
    ) -> Result<Approval, ApprovalError> {
        let approval = self.store.get(id)?;
        let (request, context) = (&approval.request, &prepared.context);
        let differs = |what| Err(ApprovalError::Differs(id.to_owned(), what));
        if request.policy_version != prepared.policy.version() {
            return differs("the policy has changed");
        }
        if request.schema_hash != schema_hash {
            return differs("the tool's definition has changed");
        }
        if request.session != context.session {
            return differs("it belongs to another session");
        }
        if request.call() != prepared.call || request.cwd != context.cwd {
            return differs("another call was evaluated");
        }
        let verdict = prepared.policy.verdict(prepared, &[], true);
        if verdict.decision == Decision::Deny {
            return Err(ApprovalError::Denied(verdict.reason()));
        }
        if verdict.links != request.displayed.links {
            return differs("its paths now lead elsewhere");
        }
        let mut record = Entry {
            counted: prepared.counted(),
            decision: Some(Decision::Confirm.name().to_owned()),
            ..about(&approval, Kind::Consumed, context.now_ms, Some(verdict.reason()))
        };
        // What is not approved does not leave: the store has the reason.
        if approval.state_at(context.now_ms) == ApprovalState::Approved {
            leaving(&approval, &mut record)?;
        }
        self.store.consume(&JudgedAgain(()), id, &request.digest(), context.now_ms, &record)
    }
}

impl Approver {
    /// The same handle with the name recorded for each answer: who answers, and how, such as `ada,
    /// by toolfold approvals`. Default: `the host`.
    #[must_use]
    pub fn named(self, by: impl Into<String>) -> Self {
        Self { consent: Consent { by: by.into() }, ..self }
    }

    /// Approves a call.
    ///
    /// # Errors
    /// [`ApprovalError`] if it is not pending.
    pub fn approve(&self, id: &str, now_ms: i64) -> Result<Approval, ApprovalError> {
        self.store.answer(&self.consent, id, Answer::Approve, now_ms)
    }

    /// Rejects a call.
    ///
    /// # Errors
    /// [`ApprovalError`] if it is not pending.
    pub fn reject(&self, id: &str, reason: Option<&str>, now_ms: i64) -> Result<Approval, ApprovalError> {
        self.store.answer(&self.consent, id, Answer::Reject(reason.map(str::to_owned)), now_ms)
    }

    /// Remembers an approval.
    ///
    /// # Errors
    /// [`ApprovalError::Store`].
    pub fn remember(&self, grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError> {
        self.store.add_grant(&self.consent, grant, now_ms)
    }
}

/// The audit record of an event of an approval. `rule`: the reasons, where a decision was part of
/// it.
#[must_use]
pub fn about(approval: &Approval, kind: Kind, now_ms: i64, rule: Option<String>) -> Entry {
    let mut entry = approval.request.entry(kind, now_ms, &approval.digest, rule);
    entry.outcome.clone_from(&approval.reason);
    entry.add_detail("approval", json!(approval.id));
    if let Some(by) = &approval.answered_by {
        entry.add_detail("by", json!(by));
    }
    entry
}

/// The audit record of a change to a grant.
#[must_use]
pub fn about_grant(grant: &Grant, kind: Kind, now_ms: i64) -> Entry {
    Entry {
        origin: Some(grant.origin.clone()),
        tool: grant.tool.clone(),
        digest: Some(grant_digest(grant)),
        detail: json!({ "grant": grant.id, "what": grant.target, "holds": grant.scope, "expires_ms": grant.expires_ms }),
        ..Entry::new(kind, now_ms)
    }
}
