//! Arm `auto`: which arm a session gets, and why, without loading a vocabulary.

use super::{Arm, Assignment, Expanded, Presentation};
use crate::catalog::Catalog;

/// What the first turn may cost before tools are folded further, in estimated tokens.
/// Source: `design/presentation.md`, arm `auto`.
pub const BUDGET_TOKENS: usize = 4_000;

/// What folding must save to be worth anything, in estimated tokens. Source: as above.
pub const MIN_GAIN_TOKENS: usize = 2_000;

/// The ladder, richest first.
const LADDER: [Arm; 4] = [Arm::Signature, Arm::Lean, Arm::Stable, Arm::Index];

/// The arm chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// An arm that stands for itself, never [`Arm::Auto`].
    pub arm: Arm,
    /// One sentence.
    pub reason: String,
}

/// Chooses for [`Arm::Auto`]: native where the provider has it; nothing folded where folding gains too little; else the
/// richest arm within the budget, or the cheapest if none is. Never an arm estimated to cost more than `full`.
///
/// `native` says why the provider's own deferral can be used, if it can. `budget` is in tokens.
#[must_use]
pub fn choose(catalog: &Catalog, assignment: &Assignment, native: Option<&str>, budget: usize) -> Choice {
    let cost = |arm| estimate(catalog, &Presentation::new(catalog, assignment, arm), assignment);
    let full = cost(Arm::Full);
    let rungs: Vec<(Arm, usize)> =
        LADDER.into_iter().map(|arm| (arm, cost(arm))).filter(|(_, cost)| *cost < full).collect();
    let cheapest = rungs.iter().min_by_key(|(_, cost)| *cost).copied();
    let choice = |arm, reason| Choice { arm, reason };
    let Some((cheap_arm, cheap)) = cheapest.filter(|(_, cost)| full - cost >= MIN_GAIN_TOKENS) else {
        let saved = cheapest.map_or(0, |(_, cost)| full - cost);
        let reason =
            format!("nothing is folded: of about {full} tokens folding would save {saved}, under {MIN_GAIN_TOKENS}");
        return choice(Arm::Full, reason);
    };
    if let Some(why) = native {
        return choice(Arm::Native, format!("the provider defers tools itself: {why}"));
    }
    match rungs.iter().find(|(_, cost)| *cost <= budget) {
        Some((arm, cost)) => {
            let reason = format!("{arm} is the richest arm within {budget} tokens: about {cost} of {full}");
            choice(*arm, reason)
        }
        None => {
            let reason = format!("no arm fits {budget} tokens; {cheap_arm} is the cheapest: about {cheap} of {full}");
            choice(cheap_arm, reason)
        }
    }
}

/// The tokens of the first turn, estimated from bytes: a name costs about a token in three bytes, words and schema one in
/// four and a half. Checked against the billed figures of the corpora in the tests; good to about a fifth.
#[must_use]
pub fn estimate(catalog: &Catalog, presentation: &Presentation, assignment: &Assignment) -> usize {
    let plan = presentation.plan(catalog, assignment, &Expanded::default());
    let cost = |sent: super::Sent<'_>| {
        if sent.deferred && presentation.arm() == Arm::Native {
            return 0;
        }
        // A stub's open schema is not billed; other schemas shrink by their punctuation when they are rendered.
        let schema = sent.tool.parameters_text().len().saturating_sub(62);
        8 + sent.tool.tool().name().as_str().len() / 3 + (sent.tool.description().len() + schema) * 2 / 9
    };
    presentation.array(catalog, &plan).map(cost).sum()
}
