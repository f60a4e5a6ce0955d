//! What happens to calls whose parameters the model was not shown.

use std::fmt;
use std::str::FromStr;

/// What the gate does with a valid call of a tool whose optional parameters were hidden.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Blind {
    /// What was hidden is shown once: before the result of a read-only tool, or instead of running any other, which then
    /// runs when it is called again.
    #[default]
    Show,
    /// The call runs. What it left out is missing, and nobody is told.
    Forward,
}

impl Blind {
    /// Both, in the order they are documented.
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

/// A text that names no [`Blind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is neither show nor forward", crate::diagnostic::visible(.0))]
pub struct UnknownBlind(pub String);

impl FromStr for Blind {
    type Err = UnknownBlind;
    fn from_str(text: &str) -> Result<Self, UnknownBlind> {
        let named = Self::ALL.into_iter().find(|blind| blind.name() == text);
        named.ok_or_else(|| UnknownBlind(text.to_owned()))
    }
}
