//! The pending approvals of all sessions that share a store, and the end of the audit trail.
//!
//! The type holds an `Approver`. Only the console reaches it, behind the guard; tools and
//! conversations do not. Other processes also write to the store, so it is read periodically while
//! there are viewers.

mod audit;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use toolfold::policy::gate::open;
use toolfold::policy::{Answer, Approval, ApprovalError, Approver, StoreError, StoreErrorKind};
use toolfold::store::{AuditedStore, SqliteStore};

use self::audit::Audit;
use crate::dashboard::Clock;

/// Interval between reads of the store while there are viewers.
const EVERY: Duration = Duration::from_secs(1);

/// The displayed contents of the store, as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shown {
    /// The pending approvals.
    pub approvals: Arc<str>,
    /// The end of the audit trail, and whether the chain verifies.
    pub audit: Arc<str>,
}

/// The approvals and the audit trail of one store.
pub struct Approvals {
    store: Arc<dyn AuditedStore>,
    approver: Approver,
    /// The file of the store, if it is one.
    path: Option<PathBuf>,
    clock: Clock,
    audit: Mutex<Audit>,
    shown: watch::Sender<Shown>,
    viewers: AtomicUsize,
    /// Notified when the first viewer arrives.
    wakes: Notify,
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Counts as a viewer until it is dropped.
#[derive(Debug)]
pub struct Viewer(Arc<Approvals>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Approvals {
    /// Opens the store in an existing file. `by` is recorded with each answer.
    ///
    /// # Errors
    /// If the file cannot be used as a store.
    pub fn open_store(path: &Path, by: &str, clock: Clock) -> Result<Self, ApprovalError> {
        let own = Self::of_store(Arc::new(SqliteStore::open(path)?), by, clock);
        Ok(Self { path: Some(path.to_owned()), ..own })
    }

    /// The approvals of an open store. `by` is recorded with each answer.
    #[must_use]
    pub fn of_store(store: Arc<dyn AuditedStore>, by: &str, clock: Clock) -> Self {
        let (_, approver) = open(store.clone());
        let none: Arc<str> = "null".into();
        Self {
            store,
            approver: approver.named(by),
            path: None,
            clock,
            audit: Mutex::default(),
            shown: watch::channel(Shown { approvals: none.clone(), audit: none }).0,
            viewers: AtomicUsize::new(0),
            wakes: Notify::new(),
        }
    }

    /// The number of pending approvals. Reads the store, so it may block.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_pending(&self) -> Result<usize, ApprovalError> {
        self.approver.pending((self.clock)()).map(|pending| pending.len())
    }

    /// Answers an approval for the user who has seen the call with this digest. Writes to the
    /// store, so it must not be called on a thread that must not block.
    ///
    /// # Errors
    /// If it is not pending, its call is not the one that was seen or is too long to have been seen
    /// whole, or the store cannot be written.
    pub fn answer_approval(&self, id: &str, digest: &str, answer: Answer) -> Result<Approval, ApprovalError> {
        let approval = self.approver.get(id)?;
        if approval.digest != digest {
            return Err(ApprovalError::Differs(id.to_owned(), "it differs from the displayed call"));
        }
        if answer == Answer::Approve && !rows::is_whole(&approval) {
            return Err(ApprovalError::Differs(id.to_owned(), "it is too long to be displayed here"));
        }
        let now = (self.clock)();
        let answered = match answer {
            Answer::Approve => self.approver.approve(id, now),
            Answer::Reject(reason) => self.approver.reject(id, reason.as_deref(), now),
        };
        self.refresh();
        answered
    }

    /// Reads the store and notifies the viewers of changes. May block.
    pub fn refresh(&self) {
        let pending = self.approver.pending((self.clock)());
        let approvals = rows::approvals(pending.map_err(|why| why.to_string()));
        let audit = {
            let mut own = self.audit();
            own.read_new_records(&*self.store);
            own.to_json()
        };
        self.shown.send_if_modified(|shown| {
            let is_new = *shown.approvals != *approvals || *shown.audit != *audit;
            if is_new {
                *shown = Shown { approvals: approvals.into(), audit: audit.into() };
            }
            is_new
        });
    }

    /// Verifies the chain if that is due. Takes about a second per 100,000 records: must not be
    /// called on a thread that must not block.
    pub fn verify(&self) {
        let began = (self.clock)();
        if !self.audit().begin(began) {
            return;
        }
        let verified = match &self.path {
            // A separate connection: approvals are read and answered during the verification.
            Some(path) => SqliteStore::open_to_read(path).and_then(|store| store.verify(&[])),
            None => self.store.verify(&[]),
        };
        self.audit().verified(verified, began, (self.clock)());
        self.refresh();
    }

    /// Subscribes to the displayed contents.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>) -> (watch::Receiver<Shown>, Viewer) {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        self.wakes.notify_one();
        (self.shown.subscribe(), Viewer(self.clone()))
    }

    /// Reads the store every second while there are viewers. Never returns.
    pub async fn attend(self: Arc<Self>) {
        loop {
            while self.viewers.load(Ordering::Relaxed) == 0 {
                self.wakes.notified().await;
            }
            let (reads, verifies) = (self.clone(), self.clone());
            drop(tokio::task::spawn_blocking(move || reads.refresh()).await);
            if self.audit().is_due((self.clock)()) {
                drop(tokio::task::spawn_blocking(move || verifies.verify()));
            }
            let again = tokio::time::timeout(EVERY, self.wakes.notified());
            drop(again.await);
        }
    }

    fn audit(&self) -> MutexGuard<'_, Audit> {
        self.audit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error is a failure of the store rather than an invalid answer.
#[must_use]
pub fn is_of_the_store(why: &ApprovalError) -> bool {
    !matches!(why, ApprovalError::Store(StoreError { kind: StoreErrorKind::Forged, .. }))
        && matches!(why, ApprovalError::Store(_))
}

#[cfg(test)]
mod tests;
