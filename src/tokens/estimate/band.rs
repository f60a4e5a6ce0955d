//! The error of an estimate.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The range around an estimate that contains nine in ten recorded requests of the kind, in tokens.
///
/// Displays as `1148–1320` or `at least 1148`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Band {
    /// The lower end, at least 1.
    pub low: usize,
    /// The upper end. `None` if the request contains parts that no factor covers.
    pub high: Option<usize>,
}

impl Band {
    /// The band of an exact count.
    #[must_use]
    pub fn exact(tokens: usize) -> Self {
        Self { low: tokens, high: Some(tokens) }
    }

    /// A band of a percentage around a figure, at least three tokens to either side.
    #[must_use]
    pub(super) fn around(tokens: usize, per_cent: usize) -> Self {
        let off = (tokens.saturating_mul(per_cent) / 100).max(3);
        Self { low: tokens.saturating_sub(off).max(1), high: Some(tokens.saturating_add(off)) }
    }

    /// Widens the band by tokens to either side.
    #[must_use]
    pub(super) fn widened(self, below: usize, above: usize) -> Self {
        Self { low: self.low.saturating_sub(below).max(1), high: self.high.map(|high| high.saturating_add(above)) }
    }

    /// Removes the upper end.
    #[must_use]
    pub(super) fn at_least(self) -> Self {
        Self { high: None, ..self }
    }

    /// Adds the bands of two parts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let high = self.high.zip(other.high).map(|(a, b)| a.saturating_add(b));
        Self { low: self.low.saturating_add(other.low), high }
    }

    /// Whether a figure is inside the band.
    #[must_use]
    pub fn holds(self, tokens: usize) -> bool {
        self.low <= tokens && self.high.is_none_or(|high| tokens <= high)
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.high {
            Some(high) => write!(f, "{}–{high}", self.low),
            None => write!(f, "at least {}", self.low),
        }
    }
}
