//! Compares arms: the cost of each over a session relative to arm `full`.

use schemars::JsonSchema;
use serde::Serialize;
use toolfold::profile::{
    CacheLoss, CacheRules, Delivery, RequestBill, SessionBill, SessionRequest, TokenPrices, bill_session,
};

use super::play::{Opening, Played, RequestKind, Session, play};
use super::sizes::ArmSizes;
use crate::prices::PriceRow;

/// The name of the JSON format of [`Simulation`].
pub const SIM_SCHEMA: &str = "toolfold.sim/1";

/// The prices of a session.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Pricing {
    /// The provider's cache rules.
    pub rules: CacheRules,
    /// Token prices; `None` if unknown. Costs are then compared in tokens at the price of input,
    /// without the model's output.
    pub prices: Option<TokenPrices>,
    /// The context window in tokens, if known.
    pub context: Option<usize>,
}

impl From<&PriceRow> for Pricing {
    fn from(row: &PriceRow) -> Self {
        Self { rules: row.rules, prices: Some(row.prices), context: row.context }
    }
}

impl Pricing {
    /// The cost of a bill: US dollars, or tokens at the price of input without prices.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "costs are far below 2^53 thousandths of a token")]
    pub fn cost(&self, bill: &RequestBill) -> f64 {
        match &self.prices {
            Some(prices) => bill.usd(prices),
            None => bill.milli_tokens(&self.rules) as f64 / 1_000.0,
        }
    }
}

/// The cost of a session under several arms.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Simulation {
    /// The arms in the order they were given.
    pub arms: Vec<ArmCost>,
}

/// The cost of a session under one arm.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ArmCost {
    /// The arm.
    pub arm: String,
    /// The arm that `auto` chose.
    pub chosen: Option<String>,
    /// The reason for the choice.
    pub reason: Option<String>,
    /// How an expansion reaches the model.
    pub delivery: Delivery,
    /// The tool array of the first turn, in tokens.
    pub first_turn_tokens: usize,
    /// Requests to the model, including those that only expand.
    pub requests: usize,
    /// Requests that only expand.
    pub expansions: usize,
    /// The number of changes that invalidated cached input.
    pub cache_breaks: usize,
    /// The number of pauses that invalidated cached input.
    pub cache_expiries: usize,
    /// Input read from the cache, in tokens.
    pub cached_tokens: usize,
    /// Input written to the cache, in tokens.
    pub written_tokens: usize,
    /// Other input, in tokens.
    pub uncached_tokens: usize,
    /// The model's output, in tokens.
    pub output_tokens: usize,
    /// All input, in tokens at the price of input.
    pub input_cost_tokens: u64,
    /// The cost of the session in US dollars; `None` if the price is unknown.
    pub usd: Option<f64>,
    /// The cost relative to arm `full`, as a share; above 0 if higher. Without prices the input
    /// alone. `None` if arm `full` was not simulated.
    pub relative_to_full: Option<f64>,
    /// The request, counted from 1 without those that only expand, from which on the session costs
    /// less than with arm `full`. `None` if never, or for arm `full`.
    pub cheaper_from_request: Option<usize>,
    /// Remarks about these figures.
    pub warnings: Vec<String>,
    /// Every request in order.
    pub timeline: Vec<TimelineRequest>,
}

/// A request of a session under an arm, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineRequest {
    /// The step of the session that it belongs to, counted from 1.
    pub step: usize,
    /// Its purpose.
    pub kind: RequestKind,
    /// The tool array.
    pub tools: usize,
    /// The system text.
    pub system: usize,
    /// The messages.
    pub messages: usize,
    /// Input read from the cache.
    pub cached: usize,
    /// Input written to the cache.
    pub written: usize,
    /// Other input.
    pub uncached: usize,
    /// The model's output.
    pub output: usize,
    /// Why less was read than was cached, if so.
    pub loss: Option<CacheLoss>,
    /// US dollars, or tokens at the price of input without prices.
    pub cost: f64,
}

/// Plays a session under each arm and bills it. The others are compared with the arm named `full`.
#[must_use]
pub fn simulate(arms: &[ArmSizes], session: &Session, pricing: &Pricing) -> Simulation {
    let (mut bills, mut full) = (Vec::new(), None);
    for arm in arms {
        let played = play(arm, session);
        let bill = bill_session(&pricing.rules, played.iter().map(|own| own.request));
        if arm.name == "full" && full.is_none() {
            full = Some(running(&played, &bill, pricing));
        }
        bills.push((played, bill));
    }
    let costs = arms.iter().zip(&bills).map(|(arm, own)| arm_cost(arm, own, full.as_deref(), pricing));
    Simulation { arms: costs.collect() }
}

/// The maximum number of look-ups that [`break_even`] plays.
const MAX_BREAK_EVEN: usize = 100;

/// The maximum number of look-ups, of one tool each and evenly spaced, with which a session costs
/// no more than under another arm without any. `None` if it costs more without look-ups, or no more
/// with every tool looked up.
#[must_use]
pub fn break_even(arm: &ArmSizes, full: &ArmSizes, session: &Session, pricing: &Pricing) -> Option<usize> {
    let mut plain = session.clone();
    for step in &mut plain.steps {
        step.opens.clear();
    }
    let most = cost_with_lookups(full, &plain, 0, pricing)?;
    let tools = arm.folded.iter().flatten().count().min(MAX_BREAK_EVEN);
    for lookups in 0..=tools {
        if cost_with_lookups(arm, &plain, lookups, pricing).is_none_or(|own| own > most) {
            return lookups.checked_sub(1);
        }
    }
    None
}

/// The cost of a session with evenly spaced look-ups of one tool each.
fn cost_with_lookups(arm: &ArmSizes, plain: &Session, lookups: usize, pricing: &Pricing) -> Option<f64> {
    let (mut session, requests) = (plain.clone(), plain.steps.len());
    for at in 1..=lookups {
        if let Some(step) = session.steps.get_mut(at * requests / (lookups + 1)) {
            step.opens.push(Opening::Count(1));
        }
    }
    let played = play(arm, &session);
    running(&played, &bill_session(&pricing.rules, played.iter().map(|own| own.request)), pricing).last().copied()
}

/// The cost of the session up to and including each step.
fn running(played: &[Played], bill: &SessionBill, pricing: &Pricing) -> Vec<f64> {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for (own, bill) in played.iter().zip(&bill.requests) {
        sum += pricing.cost(bill);
        if own.kind == RequestKind::Work {
            sums.push(sum);
        }
    }
    sums
}

fn arm_cost(
    arm: &ArmSizes,
    (played, bill): &(Vec<Played>, SessionBill),
    full: Option<&[f64]>,
    pricing: &Pricing,
) -> ArmCost {
    let total = bill.total();
    let sums = running(played, bill, pricing);
    let own_cost = sums.last().copied().unwrap_or_default();
    let relative_to_full = match full.map(|full| full.last()) {
        Some(Some(full)) if *full > 0.0 => Some(own_cost / full - 1.0),
        Some(_) => Some(0.0),
        None => None,
    };
    let (chosen, reason) = match &arm.choice {
        Some(choice) => (Some(choice.arm.to_string()), Some(choice.reason.clone())),
        None => (None, None),
    };
    ArmCost {
        arm: arm.name.clone(),
        chosen,
        reason,
        delivery: arm.delivery,
        first_turn_tokens: arm.first_turn,
        requests: played.len(),
        expansions: played.iter().filter(|own| own.kind == RequestKind::Expand).count(),
        cache_breaks: bill.breaks(),
        cache_expiries: bill.requests.iter().filter(|own| own.loss == Some(CacheLoss::Expired)).count(),
        cached_tokens: total.cached,
        written_tokens: total.written,
        uncached_tokens: total.uncached,
        output_tokens: total.output,
        input_cost_tokens: total.milli_tokens(&pricing.rules) / 1_000,
        usd: pricing.prices.map(|prices| total.usd(&prices)),
        relative_to_full,
        cheaper_from_request: full.filter(|_| arm.name != "full").and_then(|full| cheaper_from(&sums, full)),
        warnings: warnings(played, pricing),
        timeline: played.iter().zip(&bill.requests).map(|(own, bill)| timeline(own, bill, pricing)).collect(),
    }
}

/// The first step from which on the running sum stays below the other.
fn cheaper_from(sums: &[f64], full: &[f64]) -> Option<usize> {
    let mut from = 1;
    for (at, (own, full)) in sums.iter().zip(full).enumerate() {
        // Sums of the same figures in another order may differ in their last digits.
        if *own >= *full * (1.0 - 1e-9) {
            from = at + 2;
        }
    }
    if from <= sums.len().min(full.len()) { Some(from) } else { None }
}

fn warnings(played: &[Played], pricing: &Pricing) -> Vec<String> {
    let mut warnings = Vec::new();
    let minimum = pricing.rules.minimum;
    let under = played.iter().filter(|own| own.request.input() < minimum).count();
    if pricing.rules.matters() && under > 0 {
        let which =
            if under == played.len() { "no request is".to_owned() } else { format!("{under} requests are not") };
        warnings.push(format!("{which} cached: the minimum length of a prefix is {minimum} tokens"));
    }
    let lengths = played.iter().map(|own| own.request.input().saturating_add(own.request.output));
    let most = lengths.max().unwrap_or_default();
    if let Some(context) = pricing.context
        && most > context
    {
        warnings.push(format!("the longest request has {most} tokens, but the context window has {context}"));
    }
    warnings
}

fn timeline(played: &Played, bill: &RequestBill, pricing: &Pricing) -> TimelineRequest {
    let SessionRequest { tools, system, messages, output, .. } = played.request;
    TimelineRequest {
        step: played.step + 1,
        kind: played.kind,
        tools,
        system,
        messages,
        cached: bill.cached,
        written: bill.written,
        uncached: bill.uncached,
        output,
        loss: bill.loss,
        cost: pricing.cost(bill),
    }
}
