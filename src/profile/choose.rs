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
pub struct Choice {
    /// The chosen arm, never [`Arm::Auto`].
    pub arm: Arm,
    /// The reason, as one sentence.
    pub reason: String,
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
    let meter = context.meter.map(|meter| format!("; tokens estimated for {meter}")).unwrap_or_default();
    let choice = |arm, reason: String| Choice { arm, reason: reason + &meter };
    let full = model.candidate(Arm::Full);
    let breaks_limit = |candidate: &Candidate| {
        let Candidate { arm, entries, .. } = candidate;
        let most = context.max_tools.filter(|most| entries > most && arm.delivery() != Delivery::Native)?;
        Some(format!("{arm} is not used: it has {entries} tools, and {most} are taken"))
    };
    let too_many = breaks_limit(&full);
    let full_stands = too_many.is_none();
    let candidates = LADDER.into_iter().map(|arm| model.candidate(arm));
    let candidates: Vec<Candidate> =
        candidates.filter(|candidate| candidate.first < full.first || !full_stands).collect();
    let cheapest = candidates.iter().map(|candidate| candidate.first).min().unwrap_or(full.first);
    let saved = full.first.saturating_sub(cheapest);
    if saved < MIN_GAIN_TOKENS && full_stands {
        let of = full.first;
        let reason =
            format!("nothing is folded: of about {of} tokens folding would save {saved}, under {MIN_GAIN_TOKENS}");
        return choice(Arm::Full, reason);
    }
    // The first reason against any arm, reported if none is chosen.
    let mut against = too_many.map(|why| format!("; {why}")).unwrap_or_default();
    let mut stands = |candidate: &Candidate| {
        let refused = context.refused.iter().find(|(delivery, _)| *delivery == candidate.arm.delivery());
        let why = match refused {
            Some((_, why)) => format!("{} is not used: {why}", candidate.arm),
            None => match breaks_limit(candidate) {
                Some(why) => why,
                None if full_stands && !candidate.pays(&full) => model.why_not(candidate, &full),
                None => return true,
            },
        };
        if against.is_empty() {
            against = format!("; {why}");
        }
        false
    };
    if let Some(why) = context.native
        && stands(&model.candidate(Arm::Native))
    {
        return choice(Arm::Native, format!("the provider defers tools itself: {why}"));
    }
    let candidates: Vec<Candidate> = candidates.into_iter().filter(|candidate| stands(candidate)).collect();
    let Some(cheapest) = candidates.iter().min_by_key(|candidate| candidate.first) else {
        return choice(Arm::Full, format!("nothing is folded{against}"));
    };
    let fitting = candidates.iter().find(|candidate| candidate.first <= budget);
    let Candidate { arm, first, session, .. } = *fitting.unwrap_or(cheapest);
    let by_first_turn = match fitting {
        Some(_) => format!("the richest arm within {budget} tokens: about {first} of {}", full.first),
        None => format!("no arm fits {budget} tokens, and it is the cheapest: about {first} of {}", full.first),
    };
    let by_session = format!("{session} of {} over {}", full.session, model.span());
    choice(arm, format!("{by_first_turn}, and {by_session}{against}"))
}
