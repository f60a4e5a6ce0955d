//! Simulates sessions: the cost of each under a profile.

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::profile::bill_session;

use super::SuggestOptions;
use super::costs::Shown;
use super::needs::{Lookup, Needs};
use crate::sim::{Opening, RequestKind, Session, SessionStep, play};
use crate::usage::UsedSession;

/// The total cost of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Simulated {
    /// The number of simulated sessions.
    pub sessions: usize,
    /// The tool array of the first request, in tokens.
    pub first_turn: usize,
    /// Their cost, in thousandths of a token at the price of input: input by its caching, and the
    /// model's output for expansions.
    pub milli_tokens: u64,
    /// The number of expansions.
    pub lookups: usize,
}

impl Simulated {
    /// The cost of one session, in tokens at the price of input.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.milli_tokens as f64 / 1_000.0 / self.sessions.max(1) as f64
    }

    fn add_costs(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.first_turn = self.first_turn.max(other.first_turn);
        self.milli_tokens = self.milli_tokens.saturating_add(other.milli_tokens);
        self.lookups += other.lookups;
    }
}

pub(super) struct Simulator<'s> {
    pub(super) options: &'s SuggestOptions,
}

/// The maximum length of a fully simulated session; the cost of a longer one is proportional.
const MAX_REQUESTS: usize = 1_000;

impl Simulator<'_> {
    pub(super) fn play_all(&self, shown: &Shown, needs: &Needs, sessions: &[&UsedSession]) -> Simulated {
        let mut sum = Simulated::default();
        for session in sessions {
            sum.add_costs(&self.play(shown, needs, session));
        }
        sum
    }

    /// Simulates one session: a request for each call and one more, evenly filled up to the
    /// requested number, and one before each call whose tool must be expanded and is not open yet.
    fn play(&self, shown: &Shown, needs: &Needs, session: &UsedSession) -> Simulated {
        let rules = &self.options.rules;
        let played = play(&shown.sizes, &self.session(shown, needs, session));
        let lookups = played.iter().filter(|own| own.kind == RequestKind::Expand).count();
        let total = bill_session(rules, played.iter().map(|own| own.request)).total();
        let written = total.output as u64 * u64::from(self.options.output);
        let milli_tokens = total.milli_tokens(rules).saturating_add(written);
        Simulated { sessions: 1, first_turn: shown.sizes.first_turn, milli_tokens, lookups }
    }

    fn session(&self, shown: &Shown, needs: &Needs, session: &UsedSession) -> Session {
        let options = self.options;
        let calls = session.calls.len().min(MAX_REQUESTS);
        let requests = options.requests.unwrap_or(calls + 1).clamp(calls + 1, MAX_REQUESTS + 1);
        let mut steps: Vec<SessionStep> = Vec::with_capacity(requests);
        // The model's output for calls is the same in every arm.
        let step = |opens| SessionStep { input: options.step_tokens, opens, ..SessionStep::default() };
        for (at, call) in session.calls.iter().take(calls).enumerate() {
            // Additional requests are placed between the calls.
            while steps.len() < requests * at / (calls + 1) {
                steps.push(step(Vec::new()));
            }
            let opening = match options.lookup {
                Lookup::Category => Opening::Categories(vec![call.tool]),
                Lookup::Tool => Opening::Tools(vec![call.tool]),
            };
            steps.push(step(if needs.lacks(&shown.forms, call) { vec![opening] } else { Vec::new() }));
        }
        while steps.len() < requests {
            steps.push(step(Vec::new()));
        }
        Session { system: options.system_tokens, steps }
    }
}
