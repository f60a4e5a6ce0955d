//! Arm `auto`: chooses a session's arm, with a reason, without loading a vocabulary.

use super::cost::{Candidate, CostModel, TokenFactors};
use super::session_bill::CacheRules;
use super::workload::Workload;
use super::{Arm, Assignment, Delivery};
use crate::catalog::Catalog;

/// The maximum cost of the first turn before tools are folded further, in estimated tokens.
pub(crate) const BUDGET_TOKENS: usize = 4_000;

/// The minimum saving that makes folding worthwhile, in estimated tokens.
const MIN_GAIN_TOKENS: usize = 400;

/// The arms that show the name of every parameter, richest first.
const NAMING: [Arm; 3] = [Arm::Kept, Arm::Outline, Arm::Signature];

/// The arms that hide names, richest first.
const HIDING: [Arm; 4] = [Arm::Lean, Arm::Stable, Arm::Index, Arm::Search];

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
/// Arms that the environment does not support are excluded, as are arms whose array exceeds
/// `max_tools`, and arms whose expected session is not clearly cheaper than that of `full`. If
/// folding saves too little in the first turn, nothing is folded. If `full` exceeds `max_tools`,
/// the saving does not matter.
///
/// Of the remaining arms, the choice is `native`, then the richest one that shows the names of all
/// parameters and whose first turn is within `budget` tokens. Arms that hide names are considered
/// only if no such arm is within the budget; then the choice is the one with the cheapest session
/// within the budget, or else a short one among the cheapest.
#[must_use]
pub(crate) fn choose_auto_arm(
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
        let mut candidates = Vec::new();
        for arm in NAMING.into_iter().chain(HIDING) {
            let candidate = self.model.candidate(arm);
            if candidate.first < full.first || !self.full_allowed {
                candidates.push(candidate);
            }
        }
        let names_fit = |own: &Candidate| {
            NAMING.contains(&own.arm) && own.first <= budget && self.full_allowed && self.refusal(own).is_none()
        };
        if candidates.iter().any(names_fit) {
            candidates.retain(names_fit);
        }
        let saved = |own: &Candidate| full.first.saturating_sub(own.first);
        let most = candidates.iter().map(saved).max().unwrap_or_default();
        if self.full_allowed && most < MIN_GAIN_TOKENS && self.context.native.is_none() {
            let reason = format!("nothing is folded: it would save {most} tokens, under {MIN_GAIN_TOKENS}");
            return Choice { arm: Arm::Full, reason };
        }
        let gains = |own: &Candidate| !self.full_allowed || saved(own) >= MIN_GAIN_TOKENS;
        candidates.retain(gains);
        // The first reason why an arm cannot be used, and why one does not pay.
        let (mut refused, mut dear) = (exceeds_limit(&self.context, full), None);
        let mut is_usable = |candidate: &Candidate| {
            let refusal = self.refusal(candidate);
            let cost = if refusal.is_none() { self.cost_reason(candidate) } else { None };
            let is_usable = refusal.is_none() && cost.is_none();
            refused = refused.take().or(refusal);
            dear = dear.take().or(cost);
            is_usable
        };
        let mut native = None;
        if let Some(why) = self.context.native {
            let candidate = self.model.candidate(Arm::Native);
            if gains(&candidate) && is_usable(&candidate) {
                native = Some((candidate, why));
            }
        }
        candidates.retain(|candidate| is_usable(candidate));
        let (refused, dear) = (after_semicolon(refused), after_semicolon(dear));
        let fitting = candidates.iter().find(|own| names_fit(own));
        let chosen = fitting.or_else(|| cheapest_session(&candidates, budget));
        match (chosen, native) {
            (_, Some((native, why))) => self.choice(&native, why),
            (Some(chosen), None) => {
                let choice = self.choice(chosen, "");
                Choice { reason: format!("{}{refused}", choice.reason), ..choice }
            }
            (None, None) => Choice { arm: Arm::Full, reason: format!("nothing is folded{dear}{refused}") },
        }
    }

    /// A chosen arm with the figures of its choice. `native`: why the provider's deferral is used.
    fn choice(&self, chosen: &Candidate, native: &str) -> Choice {
        let Candidate { arm, first, session, .. } = *chosen;
        let requests = self.model.workload.requests;
        let mut reason = format!("it takes about {first} tokens");
        if self.full_allowed {
            let (turn, over) = (saved_percent(first, self.full.first), saved_percent(session, self.full.session));
            reason = format!("{reason}, saves {turn} % on the first turn and {over} % over {requests} requests");
        }
        match self.model.break_even(chosen, &self.full).filter(|_| self.full_allowed) {
            Some((lookups, true)) => {
                let plural = if lookups == 1 { "" } else { "s" };
                reason = format!("{reason}, and pays up to {lookups} look-up{plural} in {requests} requests");
            }
            Some((_, false)) => reason = format!("{reason}, and pays with any number of look-ups"),
            None => {}
        }
        if !native.is_empty() {
            reason = format!("{reason}; the provider defers tools itself: {native}");
        }
        Choice { arm, reason }
    }

    /// Why an arm cannot be used; `None` if it can be.
    fn refusal(&self, candidate: &Candidate) -> Option<String> {
        let refused = self.context.refused.iter().find(|(delivery, _)| *delivery == candidate.arm.delivery());
        match refused {
            Some((_, why)) => Some(format!("{} is not used: {why}", candidate.arm)),
            None => exceeds_limit(&self.context, candidate),
        }
    }

    /// Why an arm does not pay; `None` if it does, or if `full` cannot be used.
    fn cost_reason(&self, candidate: &Candidate) -> Option<String> {
        if !self.full_allowed || candidate.pays(&self.full) {
            return None;
        }
        let (arm, requests) = (candidate.arm, self.model.workload.requests);
        let (own, full) = (candidate.session, self.full.session);
        Some(if own > full {
            format!("{arm} costs {} % more over {requests} requests", (own - full) as u128 * 100 / full.max(1) as u128)
        } else {
            let saved = saved_percent(own, full);
            format!("{arm} saves {saved} % over {requests} requests, which is too close for an estimate")
        })
    }
}

fn after_semicolon(why: Option<String>) -> String {
    match why {
        Some(why) => format!("; {why}"),
        None => String::new(),
    }
}

/// The share that a cost is below another, in percent.
fn saved_percent(own: usize, full: usize) -> u128 {
    full.saturating_sub(own) as u128 * 100 / full.max(1) as u128
}

/// The candidate with the cheapest session of those within the budget; otherwise the one with the
/// shortest first turn of those whose session costs hardly more than the cheapest.
fn cheapest_session(candidates: &[Candidate], budget: usize) -> Option<&Candidate> {
    let fitting = candidates.iter().filter(|own| own.first <= budget).min_by_key(|own| own.session);
    let least = candidates.iter().map(|own| own.session).min()?;
    let close = candidates.iter().filter(|own| own.session as u128 * 100 <= least as u128 * 105);
    fitting.or_else(|| close.min_by_key(|own| own.first))
}

/// Why an arm exceeds `max_tools`; `None` if it does not.
fn exceeds_limit(context: &AutoContext<'_>, candidate: &Candidate) -> Option<String> {
    let Candidate { arm, entries, .. } = candidate;
    match context.max_tools {
        Some(most) if *entries > most && arm.delivery() != Delivery::Native => {
            Some(format!("{arm} is not used: it has {entries} tools, and {most} are taken"))
        }
        _ => None,
    }
}
