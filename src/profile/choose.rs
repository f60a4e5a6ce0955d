//! Arm `auto`: chooses a session's arm, with a reason, without loading a vocabulary.

use super::cost::{Candidate, CostModel, TokenFactors};
use super::session_bill::CacheRules;
use super::workload::Workload;
use super::{Arm, Assignment, Delivery};
use crate::catalog::Catalog;

/// The maximum cost of the first turn before tools are folded further, in estimated tokens.
pub(crate) const BUDGET_TOKENS: usize = 4_000;

/// The minimum saving that makes folding worthwhile, in estimated tokens.
pub(crate) const MIN_GAIN_TOKENS: usize = 2_000;

/// The candidate arms, richest first.
const LADDER: [Arm; 6] = [Arm::Kept, Arm::Signature, Arm::Outline, Arm::Lean, Arm::Stable, Arm::Index];

/// The chosen arm and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The chosen arm, never [`Arm::Auto`].
    pub arm: Arm,
    /// The reason, as one sentence.
    pub reason: String,
}

impl Choice {
    /// An arm, and the reason for it.
    #[must_use]
    pub fn new(arm: Arm, reason: impl Into<String>) -> Self {
        Self { arm, reason: reason.into() }
    }
}

/// What is known about the environment of a session, for [`Arm::Auto`].
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub(crate) struct AutoContext<'s> {
    /// Why the provider's own deferral can be used, if it can.
    pub native: Option<&'s str>,
    /// Deliveries that are known not to work, each with its source.
    pub refused: &'s [(Delivery, String)],
    /// The cache prices.
    pub cache: CacheRules,
    /// The maximum number of tools in a request, minus those that the host adds.
    pub max_tools: Option<usize>,
    /// The token factors of the provider.
    pub tokens: TokenFactors,
    /// The provider whose tokens are estimated, such as `anthropic`; `None` for OpenAI's tokens
    /// without a wire.
    pub meter: Option<&'s str>,
}

/// Chooses the arm for [`Arm::Auto`].
///
/// Nothing is folded if that saves too little in the first turn. An arm whose array exceeds
/// `max_tools` is chosen only if no other arm remains. If `full` exceeds it, the saving does not
/// matter. Otherwise arms that the environment does not support are excluded, as are arms whose
/// estimated session cost is less than a twentieth below that of `full`. The session cost counts
/// cached tokens at their price and expansions with their requests and answers, and must stay lower
/// even if the array is a fifth smaller than estimated and each of its words is one token. Of the
/// remaining arms, the choice is `native` if the provider supports it; otherwise the richest arm
/// whose first turn is within `budget` tokens; otherwise the one with the cheapest first turn;
/// otherwise `full`.
#[must_use]
pub(crate) fn choose(
    catalog: &Catalog,
    assignment: &Assignment,
    context: AutoContext<'_>,
    budget: usize,
    workload: Workload,
) -> Choice {
    let model = CostModel { catalog, assignment, cache: context.cache, tokens: context.tokens, workload };
    let full = model.candidate(Arm::Full);
    let choice =
        Chooser { full_allowed: exceeds_limit(&context, &full).is_none(), context, model, full }.choose(budget);
    match context.meter {
        Some(meter) => Choice { reason: format!("{}; tokens estimated for {meter}", choice.reason), ..choice },
        None => choice,
    }
}

/// Compares arms with `full`.
struct Chooser<'c> {
    context: AutoContext<'c>,
    model: CostModel<'c>,
    full: Candidate,
    /// Whether `full` has at most `max_tools` tools.
    full_allowed: bool,
}

impl Chooser<'_> {
    fn choose(&self, budget: usize) -> Choice {
        let full = &self.full;
        let mut candidates: Vec<Candidate> = LADDER.into_iter().map(|arm| self.model.candidate(arm)).collect();
        candidates.retain(|candidate| candidate.first < full.first || !self.full_allowed);
        let cheapest = candidates.iter().map(|candidate| candidate.first).min().unwrap_or(full.first);
        let saved = full.first.saturating_sub(cheapest);
        if saved < MIN_GAIN_TOKENS && self.full_allowed {
            let of = full.first;
            let reason =
                format!("nothing is folded: of about {of} tokens folding would save {saved}, under {MIN_GAIN_TOKENS}");
            return Choice { arm: Arm::Full, reason };
        }
        let mut against = exceeds_limit(&self.context, full);
        if let Some(why) = self.context.native {
            match self.reason_against(&self.model.candidate(Arm::Native)) {
                None => return Choice { arm: Arm::Native, reason: format!("the provider defers tools itself: {why}") },
                Some(why) => _ = against.get_or_insert(why),
            }
        }
        candidates.retain(|candidate| match self.reason_against(candidate) {
            None => true,
            Some(why) => {
                against.get_or_insert(why);
                false
            }
        });
        // The first reason against any arm.
        let against = against.map(|why| format!("; {why}")).unwrap_or_default();
        let Some(cheapest) = candidates.iter().min_by_key(|candidate| candidate.first) else {
            return Choice { arm: Arm::Full, reason: format!("nothing is folded{against}") };
        };
        let fitting = candidates.iter().find(|candidate| candidate.first <= budget);
        let Candidate { arm, first, session, .. } = *fitting.unwrap_or(cheapest);
        let by_first_turn = match fitting {
            Some(_) => format!("the richest arm within {budget} tokens: about {first} of {}", full.first),
            None => format!("no arm fits {budget} tokens, and it is the cheapest: about {first} of {}", full.first),
        };
        let by_session = format!("{session} of {} over {}", full.session, self.model.span());
        Choice { arm, reason: format!("{by_first_turn}, and {by_session}{against}") }
    }

    /// Why an arm is not used; `None` if it can be.
    fn reason_against(&self, candidate: &Candidate) -> Option<String> {
        for (delivery, why) in self.context.refused {
            if *delivery == candidate.arm.delivery() {
                return Some(format!("{} is not used: {why}", candidate.arm));
            }
        }
        let exceeds = exceeds_limit(&self.context, candidate);
        if exceeds.is_none() && self.full_allowed && !candidate.pays(&self.full) {
            return Some(self.model.why_not(candidate, &self.full));
        }
        exceeds
    }
}

/// Why an arm exceeds `max_tools`; `None` if it does not.
fn exceeds_limit(context: &AutoContext<'_>, candidate: &Candidate) -> Option<String> {
    let Candidate { arm, entries, .. } = candidate;
    let most = context.max_tools.filter(|most| entries > most && arm.delivery() != Delivery::Native)?;
    Some(format!("{arm} is not used: it has {entries} tools, and {most} are taken"))
}
