//! State in this process: the default store of a gateway.

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{BoxFuture, StateKey, StateStore, StoredState, Written};

/// The maximum size of the stored entries, in bytes; the least recently written are removed first.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of consumed keys; the oldest are removed first.
const MAX_CONSUMED: usize = 100_000;

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryState(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    kept: HashMap<StateKey, Own>,
    consumed: HashMap<StateKey, Used>,
    bytes: usize,
    turn: u64,
}

#[derive(Debug)]
struct Own {
    kept: StoredState,
    until_ms: i64,
    turn: u64,
}

#[derive(Debug)]
struct Used {
    by: String,
    until_ms: i64,
    turn: u64,
}

impl MemoryState {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock_all(&self) -> MutexGuard<'_, All> {
        // A panic leaves the value valid, since no operation fails half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn live(&self, key: &StateKey, now: i64) -> Option<&StoredState> {
        self.kept.get(key).filter(|own| own.until_ms > now).map(|own| &own.kept)
    }

    fn remove_entry(&mut self, key: &StateKey) {
        if let Some(own) = self.kept.remove(key) {
            self.bytes -= own.kept.value.len();
        }
    }

    fn make_room(&mut self) {
        while self.bytes > MAX_BYTES {
            let oldest = self.kept.iter().min_by_key(|(_, own)| own.turn).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.remove_entry(&oldest);
        }
        while self.consumed.len() > MAX_CONSUMED {
            let oldest = self.consumed.iter().min_by_key(|(_, used)| used.turn).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.consumed.remove(&oldest);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "an edge: the store's clock is this machine's")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl StateStore for MemoryState {
    fn now_ms(&self) -> BoxFuture<'_, i64> {
        Box::pin(ready(Ok(now())))
    }

    fn read_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, Option<StoredState>> {
        Box::pin(ready(Ok(self.lock_all().live(key, now()).cloned())))
    }

    fn version<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, u64> {
        Box::pin(ready(Ok(self.lock_all().live(key, now()).map_or(0, |kept| kept.version))))
    }

    fn write_state<'a>(&'a self, key: &'a StateKey, from: u64, value: Vec<u8>, life_ms: i64) -> BoxFuture<'a, Written> {
        let (mut all, now) = (self.lock_all(), now());
        let version = all.live(key, now).map_or(0, |kept| kept.version);
        let written = if version == from {
            all.remove_entry(key);
            all.turn += 1;
            all.bytes += value.len();
            let (version, turn) = (version + 1, all.turn);
            let own = Own { kept: StoredState { version, value }, until_ms: now.saturating_add(life_ms), turn };
            all.kept.insert(key.clone(), own);
            all.make_room();
            Written::Now(version)
        } else {
            Written::Changed(version)
        };
        Box::pin(ready(Ok(written)))
    }

    fn consume<'a>(&'a self, key: &'a StateKey, by: &'a str, life_ms: i64) -> BoxFuture<'a, bool> {
        let (mut all, now) = (self.lock_all(), now());
        let first = match all.consumed.get(key) {
            Some(used) if used.until_ms > now => used.by == by,
            _ => {
                all.turn += 1;
                let used = Used { by: by.to_owned(), until_ms: now.saturating_add(life_ms), turn: all.turn };
                all.consumed.insert(key.clone(), used);
                all.make_room();
                true
            }
        };
        Box::pin(ready(Ok(first)))
    }

    fn is_consumed<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, bool> {
        Box::pin(ready(Ok(self.lock_all().consumed.get(key).is_some_and(|used| used.until_ms > now()))))
    }

    fn remove_state<'a>(&'a self, key: &'a StateKey) -> BoxFuture<'a, ()> {
        self.lock_all().remove_entry(key);
        Box::pin(ready(Ok(())))
    }

    fn purge(&self) -> BoxFuture<'_, usize> {
        let (mut all, now) = (self.lock_all(), now());
        let late: Vec<StateKey> =
            all.kept.iter().filter(|(_, own)| own.until_ms <= now).map(|(key, _)| key.clone()).collect();
        for key in &late {
            all.remove_entry(key);
        }
        let before = all.consumed.len();
        all.consumed.retain(|_, used| used.until_ms > now);
        Box::pin(ready(Ok(late.len() + before - all.consumed.len())))
    }

    fn is_shared(&self) -> bool {
        false
    }
}
