//! What Claude bills: raw JSON Schemas, and a prompt for tool use that the provider adds once per
//! request.

use super::schema::{Texts, structure};
use super::{Band, Estimate, rounded, times};
use crate::model::{ModelId, Version};
use crate::tokens::encoding::TokenCounter;
use crate::tokens::json::Style;
use crate::tokens::prompt::{Choice, Message, Prompt, Role, Thinking, Turn};
use crate::tokens::reason::Reason;
use crate::tokens::render::Function;

/// The prompt for tool use that is added to a request with tools, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ToolPrompt {
    tier: &'static str,
    version: Version,
    /// With `tool_choice` `auto` or `none`.
    auto: usize,
    /// With `any` or a named tool.
    forced: usize,
}

const fn prompt(tier: &'static str, major: u16, minor: u16, auto: usize, forced: usize) -> ToolPrompt {
    ToolPrompt { tier, version: Version::new(major, minor), auto, forced }
}

/// Source: recorded requests with a single small tool, up to September 2026. They agree with the
/// table on Anthropic's page on tool use for the models that it lists. Requests of 2025 to the 4.5
/// models were billed 346 and 313.
const TOOL_PROMPTS: [ToolPrompt; 17] = [
    prompt("opus", 4, 8, 290, 410),
    prompt("opus", 4, 7, 675, 804),
    prompt("opus", 4, 6, 497, 589),
    prompt("sonnet", 4, 6, 497, 589),
    prompt("opus", 4, 5, 496, 588),
    prompt("sonnet", 4, 5, 496, 588),
    prompt("haiku", 4, 5, 496, 588),
    prompt("sonnet", 5, 0, 354, 474),
    prompt("opus", 4, 1, 313, 315),
    prompt("opus", 4, 0, 313, 315),
    prompt("sonnet", 4, 0, 313, 315),
    prompt("sonnet", 3, 7, 346, 313),
    prompt("sonnet", 3, 5, 294, 261),
    prompt("haiku", 3, 5, 264, 355),
    prompt("opus", 3, 0, 530, 281),
    prompt("sonnet", 3, 0, 159, 235),
    prompt("haiku", 3, 0, 264, 340),
];

/// The assumed size if the prompt is unknown: the middle of the known ones, which range from 264
/// to 804.
const UNKNOWN_TOOL_PROMPT: usize = 500;

/// The maximum error of the assumption, below and above.
const UNKNOWN_PROMPT_OFF: (usize, usize) = (250, 320);

/// Factors of one tokenizer: tokens for each token of `o200k_base`, and tokens for each part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// Per request.
    pub(super) request: f64,
    /// Text of messages, system and results.
    pub(super) text: f64,
    /// Per assistant message.
    pub(super) assistant: f64,
    /// Per tool.
    pub(super) tool: f64,
    /// Descriptions of tools and in their schemas.
    pub(super) description: f64,
    /// The rest of a definition, as compact JSON.
    pub(super) structure: f64,
    /// Per call with its result.
    pub(super) pair: f64,
    /// The name of a called tool with its arguments.
    pub(super) call: f64,
    /// Thinking with a budget, per request.
    pub(super) thinking: f64,
    /// The error in percent that nine in ten requests with tools stay within, on recordings not
    /// used for the fit: see `held_out`.
    pub(super) band: usize,
    /// The same for requests without tools.
    pub(super) text_band: usize,
}

/// Models up to 4.6. Fitted on 753 recorded requests up to September 2026, with a loss that is
/// robust to outliers. Fitted on half of the recordings, the factors are off by 1.2 % (first turns
/// with tools) and 1.9 % (calls) on the other half.
const TO_4_6: Weights = Weights {
    request: 6.7,
    text: 1.08,
    assistant: 5.0,
    tool: 4.5,
    description: 1.01,
    structure: 1.47,
    pair: 57.0,
    call: 1.3,
    thinking: 28.5,
    band: 7,
    text_band: 11,
};

/// From 4.7, another tokenizer. Set manually from 41 recorded requests, with a wider band.
const FROM_4_7: Weights = Weights {
    request: 8.0,
    text: 1.4,
    assistant: 3.0,
    tool: 4.5,
    description: 1.43,
    structure: 2.1,
    pair: 75.0,
    call: 1.8,
    thinking: 28.5,
    band: 20,
    text_band: 22,
};

/// The cost of a response schema in addition to itself; observed between 155 and 190 without the
/// schema.
const FORMAT: f64 = 165.0;

/// Estimates a request for a Claude model.
pub(in super::super) fn estimate<C: TokenCounter>(prompt: &Prompt<'_>, id: &ModelId, counter: &C) -> Estimate {
    let weights = weights(id);
    let mut reasons = prompt.reasons.clone();
    let mut tokens = weighted(prompt, &weights, counter);
    let mut wider = (0, 0);
    if !prompt.tools.is_empty() {
        let forced = matches!(prompt.choice, Choice::Required | Choice::Named(_));
        let (added, known) = tool_prompt(id, forced);
        tokens += times(1.0, added);
        if !known {
            reasons.insert(Reason::ToolPrompt);
            wider = UNKNOWN_PROMPT_OFF;
        }
    }
    if let Some(format) = &prompt.format {
        reasons.insert(Reason::ResponseFormat);
        let schema = format.schema.map_or(0, |schema| counter.count(&Style::COMPACT.print(schema)));
        tokens += FORMAT + times(weights.structure, schema);
        wider = (wider.0 + 40, wider.1 + 40);
    }
    let tokens = rounded(tokens);
    let per_cent = if prompt.tools.is_empty() { weights.text_band } else { weights.band };
    let band = Band::around(tokens, per_cent).widened(wider.0, wider.1);
    Estimate { tokens, band, reasons }
}

/// The weighted sum of a prompt's parts.
pub(super) fn weighted<C: TokenCounter>(prompt: &Prompt<'_>, weights: &Weights, counter: &C) -> f64 {
    let mut tokens = weights.request;
    for turn in &prompt.turns {
        tokens += match turn {
            Turn::Message(Message { role, text, .. }) => {
                times(weights.text, counter.count(text)) + assistant(*role, weights)
            }
            Turn::Round(round) => {
                let said = if round.said.is_empty() { 0 } else { counter.count(&round.said) };
                let results = round.results.iter().map(|result| counter.count(result)).sum::<usize>();
                let calls = round.calls.iter().map(|call| counter.count(&format!("{}{}", call.name, call.arguments)));
                times(weights.text, said + results)
                    + times(weights.call, calls.sum())
                    + times(weights.pair, round.calls.len())
                    + weights.assistant
            }
        };
    }
    if prompt.thinking == Thinking::Budget {
        tokens += weights.thinking;
    }
    tokens += times(weights.text, prompt.beside.iter().map(|text| counter.count(text)).sum());
    tokens + prompt.tools.iter().map(|tool| tool_cost(tool, weights, counter)).sum::<f64>()
}

fn assistant(role: Role, weights: &Weights) -> f64 {
    if role == Role::Assistant { weights.assistant } else { 0.0 }
}

/// The cost of each tool for a Claude model, without the prompt that is added once for all of them.
pub(in super::super) fn tool_costs<C: TokenCounter>(functions: &[Function<'_>], id: &ModelId, counter: &C) -> Vec<f64> {
    let weights = weights(id);
    functions.iter().map(|function| tool_cost(function, &weights, counter)).collect()
}

fn tool_cost<C: TokenCounter>(function: &Function<'_>, weights: &Weights, counter: &C) -> f64 {
    let descriptions = Texts::of_function(function, counter).descriptions;
    weights.tool
        + times(weights.description, descriptions)
        + times(weights.structure, counter.count(&structure(function)))
}

pub(super) fn weights(id: &ModelId) -> Weights {
    if id.is_before(4, 7) { TO_4_6 } else { FROM_4_7 }
}

/// The tokens of a model's prompt for tool use, and whether they are known.
pub(in super::super) fn tool_prompt(id: &ModelId, forced: bool) -> (usize, bool) {
    for row in &TOOL_PROMPTS {
        let is_tier = id.tier.as_deref() == Some(row.tier) || id.variants.iter().any(|word| word == row.tier);
        if is_tier && id.version == Some(row.version) {
            return (if forced { row.forced } else { row.auto }, true);
        }
    }
    (UNKNOWN_TOOL_PROMPT, false)
}
