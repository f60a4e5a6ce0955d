//! A store whose audit chain can be read and verified.

use super::SqliteStore;
use crate::policy::audit::{Checkpoint, Sealed, Verified};
use crate::policy::{ApprovalError, ApprovalStore};

/// A store whose audit chain can be read and verified, and which holds the approver's key.
///
/// # Errors
/// Every method gives [`ApprovalError::Store`] if the store cannot be read or written.
pub trait AuditedStore: ApprovalStore + std::fmt::Debug {
    /// Checks the chain against the stored head and against checkpoints stored elsewhere, replays
    /// the recorded consent, and compares the stored approvals and grants with it.
    fn verify(&self, known: &[Checkpoint]) -> Result<Verified, ApprovalError>;

    /// Returns at most `most` records with a number greater than `after`, oldest first.
    fn records(&self, after: u64, most: usize) -> Result<Vec<Sealed>, ApprovalError>;

    /// The number of records.
    fn count(&self) -> Result<u64, ApprovalError>;

    /// Removes the approvals that ended before `before_ms` and records their number. Their audit
    /// records stay. Returns the number.
    fn purge(&self, before_ms: i64, now_ms: i64) -> Result<usize, ApprovalError>;

    /// The [digest](super::approver_digest) of the approver's key. `None` if no key was set.
    fn approver(&self) -> Result<Option<String>, ApprovalError>;

    /// The time of the store in milliseconds since 1970. `None`: that of the host counts.
    fn time_ms(&self) -> Option<i64> {
        None
    }

    /// Sets `key` as the approver's key. `known` is the current key, if the store has one; `by`
    /// names who sets it. [`ApprovalError::Key`] if `known` is not the current key.
    fn set_approver(&self, known: Option<&str>, key: &str, by: &str, now_ms: i64) -> Result<(), ApprovalError>;
}

impl AuditedStore for SqliteStore {
    fn verify(&self, known: &[Checkpoint]) -> Result<Verified, ApprovalError> {
        self.verify(known)
    }

    fn records(&self, after: u64, most: usize) -> Result<Vec<Sealed>, ApprovalError> {
        self.records(after, most)
    }

    fn count(&self) -> Result<u64, ApprovalError> {
        self.count()
    }

    fn purge(&self, before_ms: i64, now_ms: i64) -> Result<usize, ApprovalError> {
        self.purge(before_ms, now_ms)
    }

    fn approver(&self) -> Result<Option<String>, ApprovalError> {
        self.approver()
    }

    fn set_approver(&self, known: Option<&str>, key: &str, by: &str, now_ms: i64) -> Result<(), ApprovalError> {
        self.set_approver(known, key, by, now_ms)
    }
}
