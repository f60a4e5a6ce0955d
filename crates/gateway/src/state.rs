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
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use self::clock::Clock;
pub use self::memory::MemoryState;
pub use self::record::{Record, Upstream};
pub(crate) use self::saver::StateWriter;
pub use self::sqlite::SqliteState;

/// How long a conversation is stored after its last change, in milliseconds. Seven days: a client
/// that is suspended over a weekend can resume.
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

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
}
