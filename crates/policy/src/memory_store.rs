//! An in-memory approval store: for tests, and for hosts that keep nothing. Its content ends with
//! the process.

use std::sync::{Mutex, MutexGuard};

use indexmap::IndexMap;

use super::approval::{Answer, Approval, ApprovalError, ApprovalState, Request};
use super::audit::{Entry, GENESIS, Kind, Stored, body, link};
use super::events::Events;
use super::gate::{ApprovalStore, Consent, JudgedAgain, about, about_grant};
use super::grant::Grant;
use super::history::{History, Series};
use super::store_error::{StoreError, StoreErrorKind};

/// An in-memory approval store.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    approvals: IndexMap<String, Approval>,
    grants: IndexMap<String, Grant>,
    chain: Vec<Stored>,
    events: Events,
}

impl MemoryStore {
    /// The chain as `(seq, body, prev, hash)`, to verify or export.
    ///
    /// # Errors
    /// [`ApprovalError::Store`] if another thread panicked while it held the store.
    pub fn chain(&self) -> Result<Vec<Stored>, ApprovalError> {
        Ok(self.lock()?.chain.clone())
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, ApprovalError> {
        let poisoned = "another thread panicked while it held the store";
        self.inner.lock().map_err(|_| StoreError::new(StoreErrorKind::Other, poisoned).into())
    }
}

impl Inner {
    fn append(&mut self, entry: &Entry) -> Result<(), ApprovalError> {
        let text = body(entry).map_err(|why| StoreError::new(StoreErrorKind::Other, why.to_string()))?;
        let (seq, prev) =
            self.chain.last().map_or((1, GENESIS.to_owned()), |(seq, _, _, hash)| (seq + 1, hash.clone()));
        if self.events.has_raced(entry) {
            return Err(ApprovalError::Raced);
        }
        self.events.add(seq, entry);
        self.events.prune(entry);
        let hash = link(seq, &prev, &text);
        self.chain.push((seq, text, prev, hash));
        Ok(())
    }

    fn ask(&mut self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        self.next += 1;
        let approval = Approval::pending(format!("ap-{}", self.next), request, now_ms, wait_ms);
        self.append(&about(&approval, Kind::Asked, now_ms, None))?;
        self.approvals.insert(approval.id.clone(), approval.clone());
        Ok(approval)
    }

    fn approval(&mut self, id: &str) -> Result<&mut Approval, ApprovalError> {
        self.approvals.get_mut(id).ok_or_else(|| ApprovalError::NotFound(id.to_owned()))
    }
}

impl ApprovalStore for MemoryStore {
    fn record(&self, entry: &Entry) -> Result<(), ApprovalError> {
        self.lock()?.append(entry)
    }

    fn ask(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        self.lock()?.ask(request, now_ms, wait_ms)
    }

    fn ask_once(&self, request: Request, now_ms: i64, wait_ms: i64) -> Result<Approval, ApprovalError> {
        let mut inner = self.lock()?;
        let standing = Approval::standing(inner.approvals.values(), &request, now_ms).cloned();
        if let Some(standing) = standing { Ok(standing) } else { inner.ask(request, now_ms, wait_ms) }
    }

    fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        Ok(self.lock()?.approval(id)?.clone())
    }

    fn pending(&self, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        let inner = self.lock()?;
        let pending = inner.approvals.values().filter(|a| a.state_at(now_ms) == ApprovalState::Pending);
        Ok(pending.cloned().collect())
    }

    fn open(&self, session: &str, now_ms: i64) -> Result<Vec<Approval>, ApprovalError> {
        let inner = self.lock()?;
        let open = inner.approvals.values().filter(|a| a.request.session == session && a.is_open_at(now_ms));
        Ok(open.cloned().collect())
    }

    fn answer(&self, consent: &Consent, id: &str, answer: Answer, now_ms: i64) -> Result<Approval, ApprovalError> {
        let mut inner = self.lock()?;
        let answered = inner.approval(id)?.clone().answered(answer, consent.by(), now_ms)?;
        let kind = if answered.state == ApprovalState::Approved { Kind::Accepted } else { Kind::Rejected };
        inner.append(&about(&answered, kind, now_ms, None))?;
        *inner.approval(id)? = answered.clone().kept();
        Ok(answered)
    }

    fn consume(
        &self,
        _: &JudgedAgain,
        id: &str,
        digest: &str,
        now_ms: i64,
        record: &Entry,
    ) -> Result<Approval, ApprovalError> {
        let mut inner = self.lock()?;
        let consumed = inner.approval(id)?.clone().consumed(digest, now_ms)?;
        inner.append(record)?;
        *inner.approval(id)? = consumed.clone().kept();
        Ok(consumed)
    }

    fn add_grant(&self, _: &Consent, mut grant: Grant, now_ms: i64) -> Result<Grant, ApprovalError> {
        let mut inner = self.lock()?;
        inner.next += 1;
        grant.id = format!("gr-{}", inner.next);
        inner.append(&about_grant(&grant, Kind::Granted, now_ms))?;
        inner.grants.insert(grant.id.clone(), grant.clone());
        Ok(grant)
    }

    fn grants(&self, now_ms: i64) -> Result<Vec<Grant>, ApprovalError> {
        let inner = self.lock()?;
        let mut live: Vec<Grant> = inner.grants.values().cloned().collect();
        live.retain(|grant| grant.expires_ms.is_none_or(|end| now_ms < end));
        Ok(live)
    }

    fn history(&self, series: &[Series], before: Option<&str>) -> Result<History, ApprovalError> {
        let mut inner = self.lock()?;
        inner.events.ask(series);
        Ok(inner.events.history(series, before))
    }

    fn revoke(&self, id: &str, now_ms: i64) -> Result<bool, ApprovalError> {
        let mut inner = self.lock()?;
        let Some(grant) = inner.grants.get(id) else { return Ok(false) };
        let record = about_grant(grant, Kind::Revoked, now_ms);
        inner.append(&record)?;
        inner.grants.shift_remove(id);
        Ok(true)
    }
}
