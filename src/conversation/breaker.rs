//! The loop breaker: noticing that a model goes in circles.
//!
//! Each kind of circle is answered the same way: at its limit one directive, then once the schemas, then the bare error.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How often the same call may fail before the model is told to change it. Source: `docs/session.md`, "Loops".
const MAX_FAILURES: u32 = 3;

/// How many look-ups may follow each other before the model is told to go on. Source: as above.
const MAX_META_RUN: u32 = 4;

/// How many calls of unknown tools may follow each other before the model is told to stop guessing. Source: as above.
const MAX_UNKNOWN_RUN: u32 = 3;

/// How many failing calls are remembered; the oldest are forgotten first.
const MAX_REMEMBERED: usize = 64;

/// What to add to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nudge {
    /// Nothing.
    None,
    /// A short directive.
    Directive,
    /// The directive and the whole schemas of what the model circles.
    Schemas,
    /// The directive alone, and nothing that was shown before.
    Bare,
}

impl Nudge {
    /// The nudge of the `count`-th time, where the `limit`-th is the first one too many.
    fn for_count(count: u32, limit: u32) -> Self {
        match count {
            _ if count < limit => Self::None,
            _ if count == limit => Self::Directive,
            _ if count == limit + 1 => Self::Schemas,
            _ => Self::Bare,
        }
    }
}

/// What the breaker has counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Breaker {
    /// Digest of target and arguments to how often in a row the call has failed.
    failures: IndexMap<String, u32>,
    /// Look-ups since the last real call.
    meta_run: u32,
    /// Calls of unknown tools since the last call of a known one.
    unknown_run: u32,
}

impl Breaker {
    /// A call of a meta-tool, of an unknown tool, or of a real one.
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

    /// A call that was held back twice and comes again is let through and counted anew: no call is ever lost.
    pub(super) fn forwarded(&mut self, digest: &str) {
        if self.failures.get(digest).is_some_and(|count| *count >= MAX_FAILURES) {
            self.failures.shift_remove(digest);
        }
    }

    /// What an answer to a call that fails now should add; `digest` has failed before as often as is remembered.
    pub(super) fn on_failure(&self, digest: &str) -> Nudge {
        let before = self.failures.get(digest).copied().unwrap_or(0);
        Nudge::for_count(before.saturating_add(1), MAX_FAILURES)
    }

    /// What to answer instead of running a call that failed at the host as often as is remembered. It is held back twice,
    /// then it runs.
    pub(super) fn before_forward(&self, digest: &str) -> Nudge {
        let before = self.failures.get(digest).copied().unwrap_or(0);
        match Nudge::for_count(before, MAX_FAILURES) {
            Nudge::Bare => Nudge::None,
            nudge => nudge,
        }
    }

    /// What an answer to the look-up being judged should add.
    pub(super) fn on_meta(&self) -> Nudge {
        Nudge::for_count(self.meta_run, MAX_META_RUN)
    }

    /// What an answer to the call of an unknown tool being judged should add.
    pub(super) fn on_unknown(&self) -> Nudge {
        Nudge::for_count(self.unknown_run, MAX_UNKNOWN_RUN)
    }
}
