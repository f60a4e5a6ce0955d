//! The error of a text that is not a valid pattern, option or rule.

pub(crate) use crate::diagnostic::InvalidValue;

/// The error of a text that is not valid. `why` is lower case, without a full stop.
pub(crate) fn invalid<T>(why: impl Into<InvalidValue>) -> Result<T, InvalidValue> {
    Err(why.into())
}
