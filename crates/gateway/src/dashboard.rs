//! The recent activity of a gateway, for its console and its metrics.
//!
//! The number of conversations, tools and events is bounded, texts are truncated and labels are
//! from a bounded set, so clients, servers and models cannot make it grow. [`Watch::on_event`] is
//! called from the hubs and never blocks. Subscribers are notified of a change and read everything
//! since their last read, so a slow subscriber cannot fall behind.

mod histogram;
mod meter;
mod metrics;
mod rows;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

pub use self::meter::Meter;
use self::meter::{Counts, Text};
use self::state::State;
use crate::watch::{Observed, Watch};

/// The time in milliseconds since 1970 UTC, from the host's clock.
pub type Clock = fn() -> i64;

/// Maximum number of conversations. Ended ones are removed first, then the oldest.
pub const MAX_CONVERSATIONS: usize = 256;
/// Maximum number of recent events: calls, and replies of the gateway itself.
pub const MAX_RECENT: usize = 200;
/// Maximum number of tools with their own figures. All others are counted together, as the tool
/// `(other)`.
pub const MAX_TOOLS: usize = 512;
/// Maximum number of servers that are distinguished, besides the configured ones.
pub const MAX_SERVERS: usize = 256;
/// Maximum length of a name, in characters; longer names are truncated.
pub const MAX_NAME: usize = 120;

/// The availability of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// The number of servers.
    pub servers: usize,
    /// The servers that are down in a conversation now, or were when last tried.
    pub down: Vec<String>,
}

/// A handle on the recent activity: clones share it.
#[derive(Clone)]
pub struct Dashboard {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    counts: Mutex<Counts>,
    meter: Option<Meter>,
    changed: watch::Sender<u64>,
    clock: Clock,
}

impl std::fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dashboard").finish_non_exhaustive()
    }
}

impl Dashboard {
    /// A dashboard for a gateway with these servers. `meter` counts the tokens of the lists of
    /// tools; without a meter, only their bytes are shown.
    #[must_use]
    pub fn new<'s>(servers: impl IntoIterator<Item = &'s str>, meter: Option<Meter>, clock: Clock) -> Self {
        let state = State::new(servers);
        let (changed, _) = watch::channel(state.seq);
        Self { inner: Arc::new(Inner { state: Mutex::new(state), counts: Mutex::default(), meter, changed, clock }) }
    }

    /// Subscribes to changes.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// The changes after a sequence number, as JSON, with the last number. 0 returns all.
    #[must_use]
    pub fn since(&self, seq: u64) -> (u64, String) {
        let state = self.inner.state();
        let text = serde_json::to_string(&state.since(seq)).unwrap_or_else(|_| "{}".to_owned());
        (state.seq, text)
    }

    /// The metrics in Prometheus' text format (version 0.0.4). `pending` is the number of pending
    /// approvals, if it is known.
    #[must_use]
    pub fn metrics(&self, pending: Option<usize>) -> String {
        metrics::metrics_text(&self.inner.state(), pending)
    }

    /// The availability of the servers.
    #[must_use]
    pub fn health(&self) -> Health {
        let state = self.inner.state();
        let down = state.servers.iter().filter(|(_, own)| own.is_up() == Some(false));
        Health { servers: state.servers.len(), down: down.map(|(name, _)| name.clone()).collect() }
    }

    /// The name of the meter, if there is one.
    #[must_use]
    pub fn meter(&self) -> Option<&str> {
        self.inner.meter.as_ref().map(Meter::name)
    }

    /// The host's time.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        (self.inner.clock)()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let seq = {
            let mut state = self.state();
            state.seq += 1;
            change(&mut state);
            state.seq
        };
        self.changed.send_replace(seq);
    }
}

impl Watch for Dashboard {
    fn on_event(&self, conversation: &str, what: &Observed<'_>) {
        let now = (self.inner.clock)();
        let texts = match what {
            Observed::Shown { list, full, .. } => vec![Text::hashed(list), Text::hashed(full)],
            Observed::Reshown { list } => vec![Text::hashed(list)],
            _ => Vec::new(),
        };
        self.inner.change(|state| state.observe(conversation, what, &texts, now));
        for (text, whole) in texts.into_iter().zip(what.list_texts()) {
            self.count_tokens_later(text, whole);
        }
    }
}

impl Dashboard {
    /// Counts a text outside the hub's task. A text that has been counted costs nothing.
    fn count_tokens_later(&self, text: Text, whole: &str) {
        let Some(meter) = &self.inner.meter else { return };
        let begun = self.inner.counts().begin(text);
        match begun {
            meter::Begun::Known(tokens) => self.inner.change(|state| state.counted(text, tokens)),
            meter::Begun::Underway => {}
            meter::Begun::Now => {
                let (meter, inner, whole) = (meter.clone(), self.inner.clone(), whole.to_owned());
                let count = move || {
                    let tokens = meter.count_tokens(&whole);
                    inner.counts().done(text, tokens);
                    inner.change(|state| state.counted(text, tokens));
                };
                match tokio::runtime::Handle::try_current() {
                    Ok(runtime) => drop(runtime.spawn_blocking(count)),
                    Err(_) => count(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
