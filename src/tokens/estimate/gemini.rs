//! What Gemini bills. The billing of tools depends on the host and the model's generation.

use super::schema::{Texts, compact_definition};
use super::{Band, Estimate, rounded, times};
use crate::model::ModelId;
use crate::tokens::encoding::TokenCounter;
use crate::tokens::prompt::{Message, Prompt, Turn};
use crate::tokens::reason::Reason;
use crate::tokens::render::Function;

/// Factors: tokens for each token of `o200k_base`, and tokens for each part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// Per request.
    pub(super) request: f64,
    pub(super) text: f64,
    /// Descriptions of tools and in their schemas.
    pub(super) description: f64,
    /// Names of tools and properties.
    pub(super) name: f64,
    /// Enum values.
    pub(super) value: f64,
    /// Per tool.
    pub(super) tool: f64,
    /// Per property.
    pub(super) property: f64,
    /// A definition as compact JSON; if set, the five factors above are 0.
    pub(super) json: f64,
    /// Per call with its result.
    pub(super) pair: f64,
    /// The name of a called tool with its arguments.
    pub(super) call: f64,
    /// Per result.
    pub(super) result: f64,
    /// The error in percent that nine in ten requests with tools stay within, on recordings not
    /// used for the fit: see `held_out`.
    pub(super) band: usize,
    /// The same for requests without tools.
    pub(super) text_band: usize,
}

/// Vertex AI, and 1.5 and 2.0 on any host: declarations are billed as their texts. Fitted on 133
/// recorded requests without thought signatures, up to September 2026. Fitted on half of them, the
/// factors are off by 6.7 % on the other half.
const TEXTS: Weights = Weights {
    request: 0.0,
    text: 1.03,
    description: 1.1,
    name: 1.6,
    value: 0.7,
    tool: 1.2,
    property: 0.6,
    json: 0.0,
    pair: 0.0,
    call: 0.75,
    result: 0.9,
    band: 26,
    text_band: 14,
};

/// 2.5 to 3.4 on AI Studio: fitted likewise on 250 requests, off by 8.2 % on the other half.
const DECLARED: Weights = Weights {
    request: 1.0,
    text: 1.04,
    description: 1.13,
    name: 1.3,
    value: 1.3,
    tool: 18.0,
    property: 12.0,
    json: 0.0,
    pair: 20.0,
    call: 1.0,
    result: 1.2,
    band: 18,
    text_band: 14,
};

/// From 3.5: five requests with tools. The band comes from 15 requests.
const FROM_3_5: Weights = Weights {
    request: 1.5,
    text: 1.0,
    description: 0.0,
    name: 0.0,
    value: 0.0,
    tool: 0.0,
    property: 0.0,
    json: 1.2,
    pair: 20.0,
    call: 1.0,
    result: 1.2,
    band: 32,
    text_band: 32,
};

/// The error in percent for requests with calls in their history: 20 of 23 requests not used for
/// the fit are within it. More cannot be derived from this number.
pub(super) const CALLS_BAND: usize = 55;

/// Estimates a request for a Gemini model. `vertex`: it is sent to Vertex AI, not to AI Studio.
pub(in super::super) fn estimate<C: TokenCounter>(
    prompt: &Prompt<'_>,
    id: &ModelId,
    vertex: bool,
    counter: &C,
) -> Estimate {
    let weights = weights(id, vertex);
    let mut reasons = prompt.reasons.clone();
    let mut tokens = weighted(prompt, &weights, counter);
    if let Some(format) = &prompt.format {
        reasons.insert(Reason::ResponseFormat);
        tokens += format.schema.map_or(0.0, |schema| times(1.0, counter.count(&schema.to_string())));
    }
    let tokens = rounded(tokens);
    let per_cent = if prompt.tools.is_empty() { weights.text_band } else { weights.band };
    // Thinking models sign their calls, and only the provider knows the cost of a signature.
    let signed = reasons.contains(&Reason::ThoughtSignature);
    let calls = prompt.turns.iter().any(|turn| matches!(turn, Turn::Round(round) if !round.calls.is_empty()));
    let mut band = Band::around(tokens, if calls { per_cent.max(CALLS_BAND) } else { per_cent });
    if prompt.format.is_some() {
        band = band.widened(tokens / 4, tokens / 4);
    }
    if signed {
        band = band.at_least();
    }
    Estimate { tokens, band, reasons }
}

/// The weighted sum of a prompt's parts.
pub(super) fn weighted<C: TokenCounter>(prompt: &Prompt<'_>, weights: &Weights, counter: &C) -> f64 {
    let mut tokens = weights.request;
    for turn in &prompt.turns {
        tokens += match turn {
            Turn::Message(Message { text, .. }) => times(weights.text, counter.count(text)),
            Turn::Round(round) => {
                let said = if round.said.is_empty() { 0 } else { counter.count(&round.said) };
                let calls = round.calls.iter().map(|call| counter.count(call.name) + counter.count(&call.arguments));
                let results = round.results.iter().map(|result| counter.count(result)).sum::<usize>();
                times(weights.text, said)
                    + times(weights.call, calls.sum())
                    + times(weights.result, results)
                    + times(weights.pair, round.calls.len())
            }
        };
    }
    tokens + prompt.tools.iter().map(|tool| tool_cost(tool, weights, counter)).sum::<f64>()
}

/// The cost of each tool for a Gemini model.
pub(in super::super) fn tool_costs<C: TokenCounter>(
    functions: &[Function<'_>],
    id: &ModelId,
    vertex: bool,
    counter: &C,
) -> Vec<f64> {
    let weights = weights(id, vertex);
    functions.iter().map(|function| tool_cost(function, &weights, counter)).collect()
}

fn tool_cost<C: TokenCounter>(function: &Function<'_>, weights: &Weights, counter: &C) -> f64 {
    if weights.json > 0.0 {
        return times(weights.json, counter.count(&compact_definition(function)));
    }
    let texts = Texts::of_function(function, counter);
    weights.tool
        + times(weights.description, texts.descriptions)
        + times(weights.name, texts.names)
        + times(weights.value, texts.values)
        + times(weights.property, texts.properties)
}

/// A model without a version, such as `gemini-flash-latest`, is treated as 2.5 to 3.4.
pub(super) fn weights(id: &ModelId, vertex: bool) -> Weights {
    if id.is_since(3, 5) {
        FROM_3_5
    } else if vertex || id.is_before(2, 5) {
        TEXTS
    } else {
        DECLARED
    }
}
