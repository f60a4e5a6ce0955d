//! The loop breaker: noticing that a model goes in circles.
//!
//! Source of the numbers: `design/presentation.md`, "Dispatch", step 5.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How often the same call may fail before the model is told to change it.
const MAX_FAILURES: u32 = 3;

/// How many meta-calls may follow each other before the model is told to go on.
const MAX_META_RUN: u32 = 4;

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
}

/// What the breaker has counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Breaker {
    /// Digest of target and arguments to how often in a row the call has failed.
    failures: IndexMap<String, u32>,
    /// Meta-calls since the last real one.
    meta_run: u32,
}

impl Breaker {
    pub(super) fn called(&mut self, meta: bool) {
        self.meta_run = if meta { self.meta_run.saturating_add(1) } else { 0 };
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
        match self.failures.get(digest).copied().unwrap_or(0).saturating_add(1) {
            count if count < MAX_FAILURES => Nudge::None,
            MAX_FAILURES => Nudge::Directive,
            _ => Nudge::Schemas,
        }
    }

    /// What to answer instead of running a call that failed at the host as often as is remembered.
    pub(super) fn before_forward(&self, digest: &str) -> Nudge {
        match self.failures.get(digest).copied().unwrap_or(0) {
            MAX_FAILURES => Nudge::Directive,
            count if count == MAX_FAILURES + 1 => Nudge::Schemas,
            _ => Nudge::None,
        }
    }

    /// What an answer to the meta-call being judged should add.
    pub(super) fn on_meta(&self) -> Nudge {
        match self.meta_run {
            run if run < MAX_META_RUN => Nudge::None,
            MAX_META_RUN => Nudge::Directive,
            _ => Nudge::Schemas,
        }
    }
}
