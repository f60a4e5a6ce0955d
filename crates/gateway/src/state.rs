//! Stores the state of conversations between requests and between processes.
//!
//! A store maps a tenant and a name to bytes with a version, which increases with every write. A
//! write names the version it is based on, so that of two concurrent writes one returns a conflict.
//! The store provides the time, because processes must not compare times of different clocks.

mod clock;
mod memory;
mod record;
mod saver;
mod sqlite;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub use self::clock::Clock;
pub use self::memory::MemoryState;
pub use self::record::{Record, Upstream};
pub(crate) use self::saver::{OnConflict, StateWriter};
pub use self::sqlite::SqliteState;

/// How long a conversation is stored after its last change, in milliseconds. Seven days: a client
/// that is suspended over a weekend can resume.
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// How often a process looks for messages, unless the store says that there is one.
pub(crate) const POLL: Duration = Duration::from_secs(1);

/// The future that a method of a store returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// An error of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the state of conversations cannot be {doing}: {why}")]
#[non_exhaustive]
pub struct StateError {
    /// The operation: `read` or `written`.
    pub doing: &'static str,
    /// Why it failed.
    pub why: String,
}

/// The owner of the state. One tenant never reads another tenant's state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct StateKey {
    /// The tenant.
    pub tenant: Arc<str>,
    /// The name of the conversation, or of another entry of the tenant.
    pub name: String,
}

/// A stored entry.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredState {
    /// The version: the number of writes so far, 1 after the first.
    pub version: u64,
    /// The stored bytes.
    pub value: Vec<u8>,
}

impl fmt::Debug for StoredState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredState({} bytes, version {})", self.value.len(), self.version)
    }
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Written {
    /// The entry was written and has this version.
    Now(u64),
    /// Nothing was written: the stored entry has another version; 0 if it does not exist.
    Changed(u64),
}

/// A message that a process has left for the others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftMessage {
    /// Its number, unique in the store.
    pub number: i64,
    /// The name of the entry that it is for.
    pub name: String,
    /// The message.
    pub value: Vec<u8>,
}

/// A store of state. Every method is atomic.
pub trait StateStore: Send + Sync + fmt::Debug {
    /// The store's time, in milliseconds since 1970.
    fn now_ms(&self) -> BoxFuture<'_, i64>;

    /// The entry of a key, unless it has expired.
    fn read_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, Option<StoredState>>;

    /// The version of an entry; 0 if it does not exist.
    fn version<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, u64>;

    /// Writes an entry that is based on version `from` (0: no entry exists), to expire in
    /// `life_ms`.
    fn write_state<'a>(&'a self, key: &'a StateKey, from: u64, value: Vec<u8>, life_ms: i64) -> BoxFuture<'a, Written>;

    /// Consumes a one-time key. Returns `true` for the first caller, and whenever the same caller
    /// (`by`) repeats the call; `false` for all others until `life_ms` after the first use.
    fn consume<'a>(&'a self, key: &'a StateKey, by: &'a str, life_ms: i64) -> BoxFuture<'a, bool>;

    /// Whether a one-time key was consumed and has not expired.
    fn is_consumed<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, bool>;

    /// Removes the entry of a key.
    fn remove_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, ()>;

    /// Removes all expired entries, and returns their number.
    fn purge(&self) -> BoxFuture<'_, usize>;

    /// Whether other processes may write to the store after an entry was read.
    fn is_shared(&self) -> bool;

    /// Whether processes can leave messages for each other. Default: they cannot.
    fn carries_messages(&self) -> bool {
        false
    }

    /// Leaves a message for the processes that serve an entry. It is kept for a minute.
    fn leave_message<'a>(&'a self, key: &'a StateKey, message: Vec<u8>) -> BoxFuture<'a, ()> {
        let _ = (key, message);
        Box::pin(ready(Ok(())))
    }

    /// The messages that were left for a tenant's entries, oldest first.
    fn messages<'a>(&'a self, tenant: &'a str, names: Vec<String>) -> BoxFuture<'a, Vec<LeftMessage>> {
        let _ = (tenant, names);
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Waits until a message may have been left, or for a second.
    fn until_message(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            tokio::time::sleep(POLL).await;
            Ok(())
        })
    }
}
