//! Where the state of conversations is kept between requests, and between the processes that serve one gateway.
//!
//! A store keeps bytes under a tenant and a name, each with a version that every write raises. A write says which version it
//! goes on from, so that of two processes that write at once one is told. Times are the store's: what several processes
//! compare must not come from clocks of their own.

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

/// How long a conversation is kept after its last change, in milliseconds: seven days, so that a client which slept over a
/// weekend goes on.
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// What a store will have done.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the state of conversations cannot be {doing}: {why}")]
#[non_exhaustive]
pub struct StateError {
    /// What it was doing: `read` or `written`.
    pub doing: &'static str,
    /// Why it failed.
    pub why: String,
}

/// Whose state: that of one tenant is never read for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct StateKey {
    /// The tenant.
    pub tenant: Arc<str>,
    /// The conversation, or what else is kept for the tenant.
    pub name: String,
}

/// What is kept.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredState {
    /// How often it has been written: 1 at first.
    pub version: u64,
    /// What was written.
    pub value: Vec<u8>,
}

impl fmt::Debug for StoredState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredState({} bytes, version {})", self.value.len(), self.version)
    }
}

/// How a write went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It was written, and is this version.
    Now(u64),
    /// It was not: what is kept has another version than the write goes on from. 0: nothing is kept any more.
    Changed(u64),
}

/// A store of state. Every method is one step: it is done whole or not at all.
pub trait StateStore: Send + Sync + fmt::Debug {
    /// The time, in milliseconds since 1970, by the store's clock.
    fn now_ms(&self) -> BoxFuture<'_, i64>;

    /// What is kept under a key, unless its time is over.
    fn read<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, Option<StoredState>>;

    /// Its version alone; 0 if nothing is kept.
    fn version<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, u64>;

    /// Writes what goes on from version `from` (0: nothing is kept yet), to be kept for `life_ms` from now.
    fn write<'a>(&'a self, key: &'a StateKey, from: u64, value: Vec<u8>, life_ms: i64) -> BoxFuture<'a, Written>;

    /// Uses something that can be used once. `true` for the first who does, and whenever the same one (`by`) asks again; `false`
    /// for all others until `life_ms` after the first use.
    fn consume<'a>(&'a self, key: &'a StateKey, by: &'a str, life_ms: i64) -> BoxFuture<'a, bool>;

    /// Whether something that can be used once was used, and that is still remembered.
    fn is_consumed<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, bool>;

    /// Removes what is kept under a key.
    fn remove<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, ()>;

    /// Removes everything whose time is over, and says how much that was.
    fn purge(&self) -> BoxFuture<'_, usize>;

    /// Whether other processes may write to it, so that what was read may have changed since.
    fn is_shared(&self) -> bool;
}
