//! The expected cost of a session including prompt caching, which arm `auto` compares.
//!
//! The model's output and pauses are left out, because they hardly differ between arms.

use std::sync::OnceLock;

use serde::Deserialize;

use super::session_bill::{CacheRules, SessionRequest, bill_session};
use super::{Detail, Presentation};
use crate::catalog::{Catalog, Tool};

/// The default workload with its sources.
const SHIPPED: &str = include_str!("workload.toml");

/// The expected length of a session, and what the use of folded tools costs in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Workload {
    /// Requests to the model, excluding those that only look up or repeat a call of a folded tool.
    pub requests: usize,
    /// The number of distinct folded tools that a session uses.
    pub used_tools: usize,
    /// Tokens of system text, which follows the tools in every request.
    pub system_tokens: usize,
    /// Tokens by which the conversation grows with each request.
    pub step_tokens: usize,
    /// The extra requests per first use of a folded tool.
    pub lookups: LookupRates,
}

/// Extra requests per first use of a folded tool, in thousandths, by what the model sees of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LookupRates {
    /// [`Detail::Signature`].
    pub signature: u32,
    /// [`Detail::Outline`].
    pub outline: u32,
    /// [`Detail::Required`] of a tool that is read-only or hides no parameter.
    pub required: u32,
    /// [`Detail::Required`] of any other tool: the gate shows its hidden parameters before a call
    /// runs.
    pub required_write: u32,
    /// [`Detail::Summary`].
    pub summary: u32,
    /// [`Detail::Index`], [`Detail::Search`], and a tool that the provider defers.
    pub index: u32,
}

impl LookupRates {
    /// The rate of a tool, given by its index in the catalog, while it is closed.
    #[must_use]
    pub fn of_tool(&self, presentation: &Presentation, catalog: &Catalog, index: usize) -> u32 {
        let Some((planned, tool)) = presentation.plan_of(index).zip(catalog.at(index)) else { return 0 };
        match planned.detail {
            _ if !planned.deferred => 0,
            // The provider defers the complete tool.
            Detail::Full => self.index,
            Detail::Required if !is_read_only(tool) && !presentation.hidden_parameters(index, tool).is_empty() => {
                self.required_write
            }
            detail => self.of_detail(detail),
        }
    }

    /// The rate of a read-only tool at a detail.
    #[must_use]
    pub fn of_detail(&self, detail: Detail) -> u32 {
        match detail {
            Detail::Full => 0,
            Detail::Signature => self.signature,
            Detail::Outline => self.outline,
            Detail::Required => self.required,
            Detail::Summary => self.summary,
            Detail::Index | Detail::Search => self.index,
        }
    }
}

fn is_read_only(tool: &Tool) -> bool {
    tool.annotations().and_then(|hints| hints.read_only_hint) == Some(true)
}

/// The format of `workload.toml`.
#[derive(Deserialize)]
struct File {
    requests: usize,
    used_tools: usize,
    system_tokens: usize,
    step_tokens: usize,
    lookups: Rates,
}

#[derive(Deserialize)]
struct Rates {
    signature: f64,
    outline: f64,
    required: f64,
    required_write: f64,
    summary: f64,
    index: f64,
}

impl From<File> for Workload {
    fn from(file: File) -> Self {
        let File { requests, used_tools, system_tokens, step_tokens, lookups } = file;
        let Rates { signature, outline, required, required_write, summary, index } = lookups;
        // Rates of the file are small; a cast of any other saturates.
        let [signature, outline, required, required_write, summary, index] =
            [signature, outline, required, required_write, summary, index].map(|rate| (rate * 1_000.0).round() as u32);
        let lookups = LookupRates { signature, outline, required, required_write, summary, index };
        Self { requests, used_tools, system_tokens, step_tokens, lookups }
    }
}

impl Default for Workload {
    /// The workload of `src/profile/workload.toml`: 20 requests that use 6 folded tools, 2,000
    /// tokens of system text and 600 per step.
    fn default() -> Self {
        static SHIPPED_WORKLOAD: OnceLock<Option<Workload>> = OnceLock::new();
        let read = || toml::from_str::<File>(SHIPPED).ok().map(Self::from);
        let nothing =
            Self { requests: 0, used_tools: 0, system_tokens: 0, step_tokens: 0, lookups: LookupRates::default() };
        // A test ensures that the file is valid.
        SHIPPED_WORKLOAD.get_or_init(read).unwrap_or(nothing)
    }
}

/// The maximum number of simulated requests: the cost of a longer session is proportional.
const MAX_REQUESTS: usize = 1_000;

/// The maximum number of look-ups of which the cost is compared with arm `full`.
const MAX_BREAK_EVEN: usize = 100;

/// The differences between arms, in estimated tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The tool array.
    pub(super) block: usize,
    /// The answer to a look-up: the definition of one tool, and what is around it.
    pub(super) reply: usize,
    /// The number of tools that can be looked up.
    pub(super) tools: usize,
    /// The expected number of look-ups, in thousandths.
    pub(super) lookups: usize,
}

impl Workload {
    /// The expected input of a session under an arm whose array never changes, in tokens at the
    /// price of input: between the whole numbers of look-ups, the cost is interpolated.
    pub(super) fn expected_cost(&self, shape: Shape, rules: CacheRules) -> usize {
        let (whole, part) = (shape.lookups / 1_000, shape.lookups % 1_000);
        let low = self.session_cost(shape, whole, rules);
        if part == 0 {
            return low;
        }
        let high = self.session_cost(shape, whole + 1, rules);
        let mixed = low as u128 * (1_000 - part) as u128 + high as u128 * part as u128;
        usize::try_from(mixed / 1_000).unwrap_or(usize::MAX)
    }

    /// The maximum number of look-ups with which a session costs no more than `most`; `None` if it
    /// costs more without any.
    pub(super) fn break_even(&self, shape: Shape, most: usize, rules: CacheRules) -> Option<usize> {
        let pays = |lookups: &usize| self.session_cost(shape, *lookups, rules) <= most;
        (0..=shape.tools.min(MAX_BREAK_EVEN)).take_while(pays).last()
    }

    /// The input of a session with this many look-ups, evenly spaced.
    fn session_cost(&self, shape: Shape, lookups: usize, rules: CacheRules) -> usize {
        let requests = self.requests.clamp(1, MAX_REQUESTS);
        let lookups = lookups.min(MAX_REQUESTS);
        let all_requests = requests + lookups;
        // This many look-ups are due before the request at this position.
        let due = |at: usize| (at * (lookups + 1) / all_requests).min(lookups);
        let mut messages = 0_usize;
        let session = (0..all_requests).map(|at| {
            let request =
                SessionRequest { tools: shape.block, system: self.system_tokens, messages, ..Default::default() };
            let looks_up = due(at + 1) > due(at);
            messages = messages.saturating_add(if looks_up { shape.reply } else { self.step_tokens });
            request
        });
        let milli = bill_session(&rules, session).total().milli_tokens(&rules);
        usize::try_from(milli / 1_000).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { block: 2_000, reply: 500, tools: 9, lookups: 0 };

    fn workload(requests: usize, system_tokens: usize, step_tokens: usize) -> Workload {
        Workload { system_tokens, step_tokens, requests, used_tools: 6, ..Workload::default() }
    }

    #[track_caller]
    fn check(requests: usize, lookups: usize, cache: CacheRules, expected: usize) {
        assert_eq!(workload(requests, 0, 100).session_cost(SHAPE, lookups, cache), expected);
    }

    #[test]
    fn the_builtin_workload_is_valid() {
        let Workload { requests, used_tools, lookups, .. } = Workload::default();
        assert_eq!((requests, used_tools), (20, 6));
        assert_eq!((lookups.outline, lookups.required, lookups.required_write, lookups.index), (90, 700, 700, 970));
        let file: toml::Table = toml::from_str(SHIPPED).unwrap();
        for table in [&file, file["lookups"].as_table().unwrap()] {
            assert!(["source", "date"].iter().all(|key| table[*key].as_str().is_some_and(|text| !text.is_empty())));
        }
    }

    #[test]
    fn a_session_is_billed_request_by_request() {
        let cache = CacheRules::new(100, 1_250, 1_024);
        check(1, 0, cache, 2_500);
        check(2, 0, cache, 2_500 + 200 + 125);
        check(2, 0, CacheRules::NONE, 2_000 + 2_100);
        // One look-up: three requests, with its answer before the last.
        check(2, 1, CacheRules::NONE, 2_000 + 2_100 + 2_100 + 500);
        check(0, 0, CacheRules::NONE, 2_000);
        assert_eq!(workload(1, 300, 100).session_cost(SHAPE, 0, CacheRules::NONE), 2_300);
    }

    #[test]
    fn a_fraction_of_a_look_up_costs_that_share() {
        let session = workload(2, 0, 100);
        let expected = |lookups| session.expected_cost(Shape { lookups, ..SHAPE }, CacheRules::NONE);
        assert_eq!((expected(0), expected(1_000), expected(250)), (4_100, 6_700, 4_750));
        assert_eq!(session.break_even(SHAPE, 4_099, CacheRules::NONE), None);
        assert_eq!(session.break_even(SHAPE, 6_700, CacheRules::NONE), Some(1));
        assert_eq!(session.break_even(SHAPE, usize::MAX, CacheRules::NONE), Some(9), "no more than there are tools");
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
        let endless = Workload { used_tools: most, ..workload(most, most, most) };
        let shape = Shape { block: most, reply: most, tools: most, lookups: most };
        assert!(endless.expected_cost(shape, CacheRules::default()) > 0);
        assert!(endless.break_even(shape, most, CacheRules::default()).is_some());
    }
}
