//! The time of a store, without a request to it each time.

use std::sync::atomic::{AtomicI64, Ordering};

use tokio::time::Instant;

use super::{StateError, StateStore};

/// A clock that continues from the store's last time, not from this machine's.
#[derive(Debug)]
pub struct Clock {
    since: Instant,
    /// The store's time at `since`, in milliseconds since 1970.
    base_ms: AtomicI64,
}

impl Clock {
    /// A clock with the store's time.
    ///
    /// # Errors
    /// If the store cannot say.
    pub async fn synced_with(store: &dyn StateStore) -> Result<Self, StateError> {
        let own = Self { since: Instant::now(), base_ms: AtomicI64::new(0) };
        own.set_by(store).await?;
        Ok(own)
    }

    /// Sets the clock to the store's time again, since clocks drift.
    ///
    /// # Errors
    /// If the store cannot say.
    pub async fn set_by(&self, store: &dyn StateStore) -> Result<(), StateError> {
        let now = store.now_ms().await?;
        self.base_ms.store(now.saturating_sub(self.passed()), Ordering::Release);
        Ok(())
    }

    /// The time, in milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.base_ms.load(Ordering::Acquire).saturating_add(self.passed())
    }

    fn passed(&self) -> i64 {
        i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}
