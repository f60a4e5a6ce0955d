//! Playing sessions through: what each costs under a profile.

use serde::Serialize;
use toolfold::profile::{PromptPart, SessionRequest, bill_session};

use super::SuggestOptions;
use super::costs::{REPLY_FRAME, Shown};
use super::needs::{Lookup, Needs};
use crate::usage::UsedSession;

/// What the model writes to open a category, in tokens: a call of `expand_tools` with one name.
pub(super) const LOOKUP_OUTPUT: usize = 25;

/// What sessions cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Simulated {
    /// Sessions that were played.
    pub sessions: usize,
    /// The tool array of the first request, in tokens.
    pub first_turn: usize,
    /// What they cost, in thousandths of a token at the price of input: input by how it was cached, and what the model
    /// writes to look tools up.
    pub milli_tokens: u64,
    /// How often something was looked up.
    pub lookups: usize,
}

impl Simulated {
    /// What one session costs, in tokens at the price of input.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.milli_tokens as f64 / 1_000.0 / self.sessions.max(1) as f64
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.first_turn = self.first_turn.max(other.first_turn);
        self.milli_tokens = self.milli_tokens.saturating_add(other.milli_tokens);
        self.lookups += other.lookups;
    }
}

/// Plays sessions.
pub(super) struct Simulator<'s> {
    pub(super) options: &'s SuggestOptions,
}

/// The longest session that is played in full: a longer one costs in proportion.
const MAX_REQUESTS: usize = 1_000;

impl Simulator<'_> {
    /// One session: a request for each call and one more, evenly filled up to the number that was asked for, and one
    /// before each call whose tool has to be looked up.
    pub(super) fn play(&self, shown: &Shown, needs: &Needs, session: &UsedSession) -> Simulated {
        let options = self.options;
        let calls = session.calls.len().min(MAX_REQUESTS);
        let requests = options.requests.unwrap_or(calls + 1).clamp(calls + 1, MAX_REQUESTS + 1);
        let mut open = Open { categories: vec![false; shown.replies.len()], tools: Vec::new() };
        let mut made = Vec::with_capacity(requests);
        let mut now = SessionRequest { tools: shown.block, system: options.system_tokens, ..Default::default() };
        let mut lookups = 0;
        let mut send = |now: &mut SessionRequest, grown: usize| {
            made.push(*now);
            now.changed = None;
            now.messages = now.messages.saturating_add(grown);
        };
        let mut sent = 0;
        for (at, call) in session.calls.iter().take(calls).enumerate() {
            // What is asked for beyond the calls comes between them.
            while sent < requests * at / (calls + 1) {
                send(&mut now, options.step_tokens);
                sent += 1;
            }
            if let Some(form) = shown.forms.get(call.tool).filter(|form| needs.lacks(form, call))
                && let Some(reply) = open.open(call.tool, form.category, form.whole, options.lookup, shown)
            {
                lookups += 1;
                send(&mut now, if shown.in_place { REPLY_FRAME } else { reply } + LOOKUP_OUTPUT);
                if shown.in_place {
                    now.tools = now.tools.saturating_add(reply);
                    now.changed = Some(PromptPart::Tools);
                }
            }
            send(&mut now, options.step_tokens);
            sent += 1;
        }
        while sent < requests {
            send(&mut now, options.step_tokens);
            sent += 1;
        }
        let bill = bill_session(&options.rules, made);
        let written = (lookups * LOOKUP_OUTPUT) as u64 * u64::from(options.output);
        let milli_tokens = bill.milli_tokens(&options.rules).saturating_add(written);
        Simulated { sessions: 1, first_turn: shown.block, milli_tokens, lookups }
    }
}

/// What a session has opened.
struct Open {
    categories: Vec<bool>,
    tools: Vec<usize>,
}

impl Open {
    /// Opens what a call needs. What that brings; `None` if it is open already.
    fn open(
        &mut self,
        tool: usize,
        category: Option<usize>,
        whole: usize,
        lookup: Lookup,
        shown: &Shown,
    ) -> Option<usize> {
        match (lookup, category) {
            (Lookup::Category, Some(place)) => {
                let known = self.categories.get_mut(place)?;
                (!std::mem::replace(known, true)).then(|| shown.replies.get(place).copied().unwrap_or_default())
            }
            _ => {
                let new = !self.tools.contains(&tool);
                self.tools.push(tool);
                new.then_some(whole + REPLY_FRAME)
            }
        }
    }
}
