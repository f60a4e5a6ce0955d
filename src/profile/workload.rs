//! The expected cost of a session including prompt caching, which arm `auto` compares.
//!
//! The model's output, pauses and steps of a provider's cache are left out, because they hardly
//! differ between arms.

use super::session_bill::{CacheRules, SessionRequest, bill_session};

/// The expected length of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Workload {
    /// Requests to the model, excluding those that only expand.
    pub requests: usize,
    /// The number of expanded categories.
    pub expansions: usize,
    /// Tokens of system text, which follows the tools in every request.
    pub system_tokens: usize,
    /// Tokens by which the conversation grows with each request.
    pub step_tokens: usize,
}

impl Default for Workload {
    /// 20 requests, 2 expansions, 2,000 tokens of system text and 600 per step: a medium-length
    /// agent task.
    fn default() -> Self {
        Self::new(20, 2)
    }
}

/// The maximum number of simulated requests: the cost of a longer session is proportional.
const MAX_REQUESTS: usize = 1_000;

/// The differences between arms, in estimated tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The tool array.
    pub(super) block: usize,
    /// The answer to an expansion.
    pub(super) reply: usize,
    /// The number of categories that can be expanded.
    pub(super) categories: usize,
}

impl Workload {
    /// A session of this many requests and expansions, with the default's tokens.
    #[must_use]
    pub const fn new(requests: usize, expansions: usize) -> Self {
        Self { requests, expansions, system_tokens: 2_000, step_tokens: 600 }
    }

    /// Sets [`Self::system_tokens`].
    #[must_use]
    pub const fn with_system_tokens(mut self, system_tokens: usize) -> Self {
        self.system_tokens = system_tokens;
        self
    }

    /// Sets [`Self::step_tokens`].
    #[must_use]
    pub const fn with_step_tokens(mut self, step_tokens: usize) -> Self {
        self.step_tokens = step_tokens;
        self
    }

    /// The input of a session under an arm whose array never changes, in tokens at the price of
    /// input.
    pub(super) fn session_cost(&self, shape: Shape, rules: CacheRules) -> usize {
        let requests = self.requests.clamp(1, MAX_REQUESTS);
        let expansions = self.expansions.min(shape.categories).min(MAX_REQUESTS);
        let all_requests = requests + expansions;
        // Expansions are evenly spaced: this many are due before the request at this position.
        let due = |at: usize| (at * (expansions + 1) / all_requests).min(expansions);
        let mut messages = 0_usize;
        let session = (0..all_requests).map(|at| {
            let request =
                SessionRequest { tools: shape.block, system: self.system_tokens, messages, ..Default::default() };
            let expands = due(at + 1) > due(at);
            messages = messages.saturating_add(if expands { shape.reply } else { self.step_tokens });
            request
        });
        let milli = bill_session(&rules, session).total().milli_tokens(&rules);
        usize::try_from(milli / 1_000).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { block: 2_000, reply: 500, categories: 9 };

    #[track_caller]
    fn check(requests: usize, expansions: usize, cache: CacheRules, expected: usize) {
        let workload = Workload { requests, expansions, system_tokens: 0, step_tokens: 100 };
        assert_eq!(workload.session_cost(SHAPE, cache), expected);
    }

    #[test]
    fn a_session_is_billed_request_by_request() {
        let cache = CacheRules::new(100, 1_250, 1_024);
        check(1, 0, cache, 2_500);
        check(2, 0, cache, 2_500 + 200 + 125);
        check(2, 0, CacheRules::NONE, 2_000 + 2_100);
        // One expansion: three requests, with its answer before the last.
        check(2, 1, CacheRules::NONE, 2_000 + 2_100 + 2_100 + 500);
        check(0, 0, CacheRules::NONE, 2_000);
        let with_system = Workload { requests: 1, expansions: 0, system_tokens: 300, step_tokens: 100 };
        assert_eq!(with_system.session_cost(SHAPE, CacheRules::NONE), 2_300);
    }

    #[test]
    fn a_prefix_under_the_minimum_is_paid_whole() {
        let cache = CacheRules::new(100, 1_250, 2_150);
        check(2, 0, cache, 2_000 + 2_100);
        check(3, 0, cache, 2_000 + 2_100 + 2_200 * 5 / 4);
    }

    #[test]
    fn nothing_overflows_or_runs_for_long() {
        let most = usize::MAX;
        let endless = Workload { requests: most, expansions: most, system_tokens: most, step_tokens: most };
        let shape = Shape { block: usize::MAX, reply: usize::MAX, categories: usize::MAX };
        assert!(endless.session_cost(shape, CacheRules::default()) > 0);
    }
}
