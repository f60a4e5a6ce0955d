//! Why a text is not a valid pattern or rule.

/// A text that is not a valid pattern, option or rule. Its `Display` is an error message: lower
/// case, without a full stop.
///
/// All parsers of this layer return it: those of the patterns, and [`compact`](super::compact) for
/// a whole rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl PatternError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The error of a text that is not valid.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T, PatternError> {
    Err(PatternError::new(why))
}
