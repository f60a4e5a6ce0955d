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

/// Words of a schema's text that its rendered form mostly does without.
const KEYWORDS: [&str; 15] = [
    "type",
    "properties",
    "description",
    "required",
    "items",
    "enum",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "default",
    "title",
    "object",
    "true",
    "false",
];

/// The tokens of the first turn, estimated without a vocabulary: words, with a further token for every seven letters,
/// and characters beyond ASCII, weighted by where they stand.
///
/// Fitted on what the arms of the 22 catalogues of the corpora are billed: within a fifth for nine arms in ten.
#[must_use]
pub fn estimate(catalog: &Catalog, presentation: &Presentation, assignment: &Assignment) -> usize {
    let plan = presentation.plan(catalog, assignment, &Expanded::default());
    let cost = |sent: super::Sent<'_>| {
        if sent.deferred && presentation.arm() == Arm::Native {
            return 0;
        }
        let name = weigh(sent.tool.tool().name().as_str(), 13);
        let tenths = name + weigh(sent.tool.description(), 13) + weigh(sent.tool.parameters_text(), 11);
        (tenths / 10).saturating_sub(4)
    };
    presentation.array(catalog, &plan).map(cost).sum()
}

/// The weight of a text in tenths of a token, with `word` tenths for a word that is no keyword of schemas.
fn weigh(text: &str, word: usize) -> usize {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    let tenths = |run: &str| if KEYWORDS.contains(&run) { 12 } else { word * run.len().div_ceil(7) };
    words.map(tenths).sum::<usize>() + text.chars().filter(|c| !c.is_ascii()).count() * 10
}
