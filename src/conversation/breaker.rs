//! The loop breaker: detects a model that repeats itself.
//!
//! Every kind of loop is handled in the same steps: at its limit a directive is added, the next
//! time also the schemas, after that only the directive.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The number of failures of the same call at which the model is directed to change it. See
/// `docs/session.md`, "Loops".
const MAX_FAILURES: u32 = 3;

/// The number of consecutive lookups at which the model is directed to call a tool. See
/// `docs/session.md`, "Loops".
const MAX_META_RUN: u32 = 4;

/// The number of consecutive unknown tools at which the model is directed to stop guessing. See
/// `docs/session.md`, "Loops".
const MAX_UNKNOWN_RUN: u32 = 3;

/// The maximum number of failing calls remembered; the oldest are dropped first.
const MAX_REMEMBERED: usize = 64;

/// What to add to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nudge {
    /// Nothing.
    None,
    /// A short directive.
    Directive,
    /// The directive and the full schemas of the repeated tools.
    Schemas,
    /// The directive alone.
    Bare,
}

impl Nudge {
    /// The nudge for occurrence `count`, if `limit` is the first that gets one.
    fn for_count(count: u32, limit: u32) -> Self {
        match count {
            _ if count < limit => Self::None,
            _ if count == limit => Self::Directive,
            _ if count == limit + 1 => Self::Schemas,
            _ => Self::Bare,
        }
    }
}

/// The breaker's counters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Breaker {
    /// The number of consecutive failures of each call, by the digest of target and arguments.
    failures: IndexMap<String, u32>,
    /// Lookups since the last call of a tool.
    meta_run: u32,
    /// Calls of unknown tools since the last call of a known one.
    unknown_run: u32,
}

impl Breaker {
    /// Counts a call of a meta-tool, an unknown tool or a known one.
    pub(super) fn called(&mut self, meta: bool, unknown: bool) {
        self.meta_run = if meta { self.meta_run.saturating_add(1) } else { 0 };
        self.unknown_run = if unknown { self.unknown_run.saturating_add(1) } else { 0 };
    }

    pub(super) fn failed(&mut self, digest: &str) {
        let count = self.failures.shift_remove(digest).unwrap_or(0).saturating_add(1);
        self.failures.insert(digest.to_owned(), count);
        if self.failures.len() > MAX_REMEMBERED {
            self.failures.shift_remove_index(0);
        }
    }

    pub(super) fn succeeded(&mut self, digest: &str) {
        self.failures.shift_remove(digest);
    }

    /// Resets the count of a call that was held back twice and is now forwarded. Every call is
    /// eventually forwarded.
    pub(super) fn forwarded(&mut self, digest: &str) {
        if self.failures.get(digest).is_some_and(|count| *count >= MAX_FAILURES) {
            self.failures.shift_remove(digest);
        }
    }

    /// The nudge for the answer to a call that fails now, based on its earlier failures.
    pub(super) fn on_failure(&self, digest: &str) -> Nudge {
        let before = self.failures.get(digest).copied().unwrap_or(0);
        Nudge::for_count(before.saturating_add(1), MAX_FAILURES)
    }

    /// The nudge to answer instead of forwarding a call that keeps failing at the host. A call is
    /// held back twice, then forwarded.
    pub(super) fn before_forward(&self, digest: &str) -> Nudge {
        let before = self.failures.get(digest).copied().unwrap_or(0);
        match Nudge::for_count(before, MAX_FAILURES) {
            Nudge::Bare => Nudge::None,
            nudge => nudge,
        }
    }

    /// The nudge for the answer to the current lookup.
    pub(super) fn on_meta(&self) -> Nudge {
        Nudge::for_count(self.meta_run, MAX_META_RUN)
    }

    /// The nudge for the answer to the current call of an unknown tool.
    pub(super) fn on_unknown(&self) -> Nudge {
        Nudge::for_count(self.unknown_run, MAX_UNKNOWN_RUN)
    }
}
