//! Arm `auto`: which arm a session gets, and why, without loading a vocabulary.

use super::cost::{Candidate, CostModel, TokenFactors};
use super::session_bill::CacheRules;
use super::workload::Workload;
use super::{Arm, Assignment, Delivery};
use crate::catalog::Catalog;

/// What the first turn may cost before tools are folded further, in estimated tokens.
pub const BUDGET_TOKENS: usize = 4_000;

/// What folding must save to be worth anything, in estimated tokens.
pub const MIN_GAIN_TOKENS: usize = 2_000;

/// The ladder, richest first.
const LADDER: [Arm; 6] = [Arm::Kept, Arm::Signature, Arm::Outline, Arm::Lean, Arm::Stable, Arm::Index];

/// The arm chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// An arm that stands for itself, never [`Arm::Auto`].
    pub arm: Arm,
    /// One sentence.
    pub reason: String,
}

/// What is known of where a session will run, for [`Arm::Auto`].
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct AutoContext<'s> {
    /// Why the provider's own deferral can be used, if it can.
    pub native: Option<&'s str>,
    /// Deliveries that are known not to work there, each with who says so.
    pub refused: &'s [(Delivery, String)],
    /// What cached input costs there.
    pub cache: CacheRules,
    /// The most tools that one request may hold there, less those that the host adds to an arm's own.
    pub max_tools: Option<usize>,
    /// What tokens are worth there.
    pub tokens: TokenFactors,
    /// For whom tokens are estimated, such as `anthropic`; `None` for OpenAI's tokens without a wire.
    pub meter: Option<&'s str>,
}

/// Chooses for [`Arm::Auto`].
///
/// Nothing is folded where the first turn gains too little by it. An arm whose array would hold more tools than are taken
/// there is never chosen while another is left, `full` among them: then what folding saves does not matter. Otherwise arms that cannot be used there are left out,
/// and arms with which the whole session is not estimated to cost a twentieth less than with `full` (what is cached counted at
/// its price, expansions with their requests and answers): so much, a fifth of the array, and all that its words are
/// taken to be beyond a token each, estimates may be off. Of those left, `native` where the provider has it; else the richest whose
/// first turn is within `budget`, in tokens; else the one with the cheapest first turn; else `full`.
#[must_use]
pub fn choose(
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
    // Why an arm is no choice, the first such reason kept for who asks.
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
