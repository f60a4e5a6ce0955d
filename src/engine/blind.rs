//! How calls are handled whose parameters the model was not shown.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::{InvalidValue, visible};

/// How the gate handles a valid call of a tool with hidden optional parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blind {
    /// Hidden parameters are shown once: before the result of a read-only tool; for any other tool
    /// instead of running it, and the repeated call runs.
    #[default]
    Show,
    /// The call runs without the hidden parameters, and the model is not informed.
    Forward,
}

impl Blind {
    /// Both, in the order of the documentation.
    pub(crate) const ALL: [Self; 2] = [Self::Show, Self::Forward];

    /// The name used in configurations.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Show => "show",
            Self::Forward => "forward",
        }
    }
}

impl fmt::Display for Blind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Blind {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let named = Self::ALL.into_iter().find(|blind| blind.name() == text);
        named.ok_or_else(|| InvalidValue::from(format!("`{}` is neither `show` nor `forward`", visible(text))))
    }
}
