//! Where results are stored.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::GatewayError;

/// The limits of stored results. The command uses those of the copies for undo: `[undo]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// The maximum size of one result in bytes; of a longer one, the beginning is stored.
    pub one: usize,
    /// The maximum size of all results of a tenant in bytes; the oldest are removed first.
    pub total: u64,
    /// How long a result is stored.
    pub keep: Duration,
}

impl Quota {
    /// Limits in bytes for one result and for all of a tenant, and how long a result is stored.
    #[must_use]
    pub fn new(one: usize, total: u64, keep: Duration) -> Self {
        Self { one, total, keep }
    }
}

/// A store of encrypted results. Its methods may block.
pub trait ResultStore: Send + Sync + std::fmt::Debug {
    /// Stores a result under a name of hexadecimal digits, and removes old ones.
    ///
    /// # Errors
    /// [`GatewayError`] if it cannot be stored.
    fn put_result(&self, name: &str, bytes: &[u8]) -> Result<(), GatewayError>;

    /// The result with a name; `None` if there is none, or it is too old.
    fn stored_result(&self, name: &str) -> Option<Vec<u8>>;
}

/// The maximum size of results in memory, in bytes, as for the state of sessions.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Results in this process, for a user without a state folder. They last until the process ends.
#[derive(Debug)]
pub struct MemoryResults {
    quota: Quota,
    results: Mutex<VecDeque<(String, Vec<u8>)>>,
}

impl MemoryResults {
    /// An empty store.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self { quota, results: Mutex::default() }
    }
}

impl ResultStore for MemoryResults {
    fn put_result(&self, name: &str, bytes: &[u8]) -> Result<(), GatewayError> {
        let most = self.quota.total.min(MAX_BYTES);
        let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size(bytes) > most {
            return Err(format!("it has more than {most} bytes").into());
        }
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: u64 = results.iter().map(|(_, own)| size(own)).sum();
        while all + size(bytes) > most
            && let Some((_, oldest)) = results.pop_front()
        {
            all -= size(&oldest);
        }
        results.push_back((name.to_owned(), bytes.to_vec()));
        Ok(())
    }

    fn stored_result(&self, name: &str) -> Option<Vec<u8>> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.iter().find(|(own, _)| own == name).map(|(_, bytes)| bytes.clone())
    }
}
