//! Estimates for providers without a published tokenizer: Anthropic and Google.
//!
//! Texts are measured with OpenAI's `o200k_base`, and factors fitted on recorded requests convert
//! that into tokens of the model. An estimate is never verified. It prints its [`Band`], which
//! contains nine in ten recorded requests of the kind.

pub(super) mod anthropic;
mod band;
pub(super) mod gemini;
#[cfg(all(test, feature = "tiktoken"))]
mod held_out;
mod schema;

pub use band::Band;

use std::collections::BTreeSet;

use super::reason::Reason;

/// An estimate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    pub(super) tokens: usize,
    pub(super) band: Band,
    pub(super) reasons: BTreeSet<Reason>,
}

/// Returns `factor` tokens for each of `count`.
fn times(factor: f64, count: usize) -> f64 {
    // Counts beyond 2^52 tokens do not fit into memory.
    factor * count as f64
}

/// Rounds to whole tokens, at least one: a request is never free.
fn rounded(tokens: f64) -> usize {
    if tokens >= 1.0 { tokens.round() as usize } else { 1 }
}

/// Rounds a sum to whole tokens.
pub(super) fn rounded_sum(tokens: &[f64]) -> usize {
    tokens.iter().sum::<f64>().round() as usize
}
