//! The dashboard: what a gateway has done lately, for its console and its metrics.
//!
//! It keeps no more than so many conversations, tools and recent events, whatever clients, servers and models do: each text in
//! it is cut, each label is one of a bounded set. It never waits: [`Watch::observed`] is called from the hubs. Whoever looks on
//! is told that something has changed, and reads what has changed since he read last, so that nobody can fall behind.

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

/// The time in milliseconds since 1970 UTC, as the host's clock has it.
pub type Clock = fn() -> i64;

/// How many conversations are kept: the ones that have ended go first, then the oldest.
pub const MAX_CONVERSATIONS: usize = 256;
/// How many of the last events are kept: calls, and what the gateway answered by itself.
pub const MAX_RECENT: usize = 200;
/// How many tools have figures of their own. All others are counted together, as the tool `(other)`.
pub const MAX_TOOLS: usize = 512;
/// How many servers are told apart, beside those of the configuration.
pub const MAX_SERVERS: usize = 256;
/// How much is kept of a name, in characters.
pub const MAX_NAME: usize = 120;

/// Whether the servers are there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// How many servers there are.
    pub servers: usize,
    /// Those that are down in some conversation now, or were when they were last tried.
    pub down: Vec<String>,
}

/// See the module. A handle: clones show the same dashboard.
#[derive(Clone)]
pub struct Dashboard {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    /// What the lists cost, once it is counted.
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
    /// A dashboard for a gateway with these servers. `meter` counts what the lists of tools cost; without one, only their bytes
    /// are shown.
    #[must_use]
    pub fn new<'s>(servers: impl IntoIterator<Item = &'s str>, meter: Option<Meter>, clock: Clock) -> Self {
        let state = State::new(servers);
        let (changed, _) = watch::channel(state.seq);
        Self { inner: Arc::new(Inner { state: Mutex::new(state), counts: Mutex::default(), meter, changed, clock }) }
    }

    /// Tells when there is something new.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// What has changed after a number, as JSON, and the number up to which that is. 0: everything.
    #[must_use]
    pub fn since(&self, seq: u64) -> (u64, String) {
        let state = self.inner.state();
        let text = serde_json::to_string(&state.since(seq)).unwrap_or_else(|_| "{}".to_owned());
        (state.seq, text)
    }

    /// The figures for Prometheus, in its text format (version 0.0.4). `pending`: how many approvals wait, if that is known.
    #[must_use]
    pub fn metrics(&self, pending: Option<usize>) -> String {
        metrics::text(&self.inner.state(), pending)
    }

    /// Whether the servers are there.
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
    fn observed(&self, conversation: &str, what: &Observed<'_>) {
        let now = (self.inner.clock)();
        let texts = match what {
            Observed::Shown { list, full, .. } => vec![Text::of(list), Text::of(full)],
            Observed::Reshown { list } => vec![Text::of(list)],
            _ => Vec::new(),
        };
        self.inner.change(|state| state.observe(conversation, what, &texts, now));
        for (text, whole) in texts.into_iter().zip(what.texts()) {
            self.count(text, whole);
        }
    }
}

impl Dashboard {
    /// Counts a text, away from the hub that shows it. A text that was counted already costs nothing.
    fn count(&self, text: Text, whole: &str) {
        let Some(meter) = &self.inner.meter else { return };
        let begun = self.inner.counts().begin(text);
        match begun {
            meter::Begun::Known(tokens) => self.inner.change(|state| state.counted(text, tokens)),
            meter::Begun::Underway => {}
            meter::Begun::Now => {
                let (meter, inner, whole) = (meter.clone(), self.inner.clone(), whole.to_owned());
                let count = move || {
                    let tokens = meter.count(&whole);
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
