//! The approvals: the approvals that wait for a person, of all sessions that share the store, and the end of the audit trail.
//!
//! It holds a person's handle on approvals. Only the console reaches it, behind the guard; no tool and no conversation does.
//! The store is a file that other processes write, too, so that it is read again and again while somebody looks on.

mod audit;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use toolfold::policy::gate::open;
use toolfold::policy::{Answer, Approval, ApprovalError, Approver, StoreError, StoreErrorKind};
use toolfold::store::SqliteStore;

use self::audit::Audit;
use crate::dashboard::Clock;

/// How often the store is read while somebody looks on.
const EVERY: Duration = Duration::from_secs(1);

/// What is shown of the store, as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shown {
    /// The approvals that wait.
    pub approvals: Arc<str>,
    /// The end of the audit trail, and whether the chain verifies.
    pub audit: Arc<str>,
}

/// See the module.
pub struct Approvals {
    store: Arc<SqliteStore>,
    approver: Approver,
    path: PathBuf,
    clock: Clock,
    audit: Mutex<Audit>,
    shown: watch::Sender<Shown>,
    /// How many look on.
    viewers: AtomicUsize,
    /// Somebody has begun to look on.
    wakes: Notify,
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Somebody who looks on, until it is dropped.
#[derive(Debug)]
pub struct Viewer(Arc<Approvals>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Approvals {
    /// A approvals over the store in a file, which exists. `by` says who answers, and how: it is recorded with each answer.
    ///
    /// # Errors
    /// If the file cannot be used as a store.
    pub fn open(path: &Path, by: &str, clock: Clock) -> Result<Self, ApprovalError> {
        let store = Arc::new(SqliteStore::open(path)?);
        let (_, approver) = open(store.clone());
        let none: Arc<str> = "null".into();
        Ok(Self {
            store,
            approver: approver.named(by),
            path: path.to_owned(),
            clock,
            audit: Mutex::default(),
            shown: watch::channel(Shown { approvals: none.clone(), audit: none }).0,
            viewers: AtomicUsize::new(0),
            wakes: Notify::new(),
        })
    }

    /// How many approvals wait. Reads the store: not for a thread that must not wait.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn pending(&self) -> Result<usize, ApprovalError> {
        self.approver.pending((self.clock)()).map(|pending| pending.len())
    }

    /// Answers an approval as the person who has seen the call of this digest. Writes to the store: not for a thread that must
    /// not wait.
    ///
    /// # Errors
    /// If it is not pending, its call is not the one that was seen or is too long to have been seen whole, or the store cannot
    /// be written.
    pub fn answer(&self, id: &str, digest: &str, answer: Answer) -> Result<Approval, ApprovalError> {
        let approval = self.approver.get(id)?;
        if approval.digest != digest {
            return Err(ApprovalError::Differs(id.to_owned(), "it is not the one that was shown"));
        }
        if answer == Answer::Approve && !rows::is_whole(&approval) {
            return Err(ApprovalError::Differs(id.to_owned(), "it is too long to be shown here"));
        }
        let now = (self.clock)();
        let answered = match answer {
            Answer::Approve => self.approver.approve(id, now),
            Answer::Reject(reason) => self.approver.reject(id, reason.as_deref(), now),
        };
        self.refresh();
        answered
    }

    /// Reads the store, and tells if it is another than before. Not for a thread that must not wait.
    pub fn refresh(&self) {
        let pending = self.approver.pending((self.clock)());
        let approvals = rows::approvals(pending.map_err(|why| why.to_string()));
        let audit = {
            let mut own = self.audit();
            own.read(&self.store);
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

    /// Checks the chain where that is due. Takes about a second per 100,000 records: not for a thread that must not wait.
    pub fn verify(&self) {
        let began = (self.clock)();
        if !self.audit().begin(began) {
            return;
        }
        // A handle of its own: approvals are read and answered meanwhile.
        let verified = SqliteStore::open_to_read(&self.path).and_then(|store| store.verify(&[]));
        self.audit().verified(verified, began, (self.clock)());
        self.refresh();
    }

    /// What is shown, from now on.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>) -> (watch::Receiver<Shown>, Viewer) {
        self.viewers.fetch_add(1, Ordering::Relaxed);
        self.wakes.notify_one();
        (self.shown.subscribe(), Viewer(self.clone()))
    }

    /// Reads the store every second while somebody looks on. Does not end.
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

/// Whether an error means that the store is the trouble, and not the answer.
#[must_use]
pub fn is_of_the_store(why: &ApprovalError) -> bool {
    !matches!(why, ApprovalError::Store(StoreError { kind: StoreErrorKind::Forged, .. }))
        && matches!(why, ApprovalError::Store(_))
}

#[cfg(test)]
mod tests;
