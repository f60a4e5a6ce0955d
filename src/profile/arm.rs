//! Arms: named ways to present a catalogue, the unit of A/B comparison.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::nearest;

/// How much of a tool is sent, richest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Name, whole description, whole schema.
    Full,
    /// Name, one sentence, the schema without its words: names, types, `required`, `enum` and shape stay.
    Signature,
    /// As `Signature` with only the required top-level parameters, open for the others.
    Required,
    /// Name and one sentence; an open schema that takes any arguments.
    Summary,
    /// Only the name, in its category's line of `expand_tools`; the tool is not in the array.
    Index,
}

impl Detail {
    /// Every detail, richest first.
    pub const ALL: [Self; 5] = [Self::Full, Self::Signature, Self::Required, Self::Summary, Self::Index];

    /// The name used in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Signature => "signature",
            Self::Required => "required",
            Self::Summary => "summary",
            Self::Index => "index",
        }
    }
}

/// How an expansion reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Nothing is folded, so nothing is delivered.
    None,
    /// Opened tools become full in the array from the next turn on. Breaks the provider's prompt cache.
    InPlace,
    /// The full schemas are the result of `expand_tools`; the array never changes.
    InResult,
    /// Folded tools are not in the array; `call_tool` calls them. The array never changes.
    Bridge,
    /// The provider keeps folded tools out of the prompt until a result refers to them. The array never changes.
    Native,
}

/// A named way to present a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Arm {
    /// Everything full: the control.
    Full,
    /// The original design: core full, the rest summaries that become full in place.
    Seed,
    /// Core full, the rest summaries, schemas in the result.
    Stable,
    /// Every tool as a signature, schemas in the result.
    Signature,
    /// Core as signatures, the rest with required parameters only, schemas in the result.
    Lean,
    /// Core full, the rest named in `expand_tools` and called through `call_tool`.
    Index,
    /// Core full, the rest deferred by the provider itself. Only on wires that can, see the capability table.
    Native,
    /// Chosen once, when a session starts: see [`choose`](super::choose).
    Auto,
}

impl Arm {
    /// Every arm, in the order they are documented.
    pub const ALL: [Self; 8] =
        [Self::Full, Self::Seed, Self::Stable, Self::Signature, Self::Lean, Self::Index, Self::Native, Self::Auto];

    /// The arms that stand for themselves on every wire, in the order reports list them.
    pub const EVERYWHERE: [Self; 6] = [Self::Full, Self::Seed, Self::Stable, Self::Signature, Self::Lean, Self::Index];

    /// The name used in flags, files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Seed => "seed",
            Self::Stable => "stable",
            Self::Signature => "signature",
            Self::Lean => "lean",
            Self::Index => "index",
            Self::Native => "native",
            Self::Auto => "auto",
        }
    }

    /// The detail in which core tools are sent.
    #[must_use]
    pub fn core(self) -> Detail {
        match self {
            Self::Full | Self::Seed | Self::Stable | Self::Index | Self::Native | Self::Auto => Detail::Full,
            Self::Signature | Self::Lean => Detail::Signature,
        }
    }

    /// The detail in which extended tools are sent before they are expanded. Arm `auto` stands for none and folds
    /// nothing.
    #[must_use]
    pub fn extended(self) -> Detail {
        match self {
            Self::Full | Self::Native | Self::Auto => Detail::Full,
            Self::Seed | Self::Stable => Detail::Summary,
            Self::Signature => Detail::Signature,
            Self::Lean => Detail::Required,
            Self::Index => Detail::Index,
        }
    }

    /// How an expansion reaches the model.
    #[must_use]
    pub fn delivery(self) -> Delivery {
        match self {
            Self::Full | Self::Auto => Delivery::None,
            Self::Native => Delivery::Native,
            Self::Seed => Delivery::InPlace,
            Self::Stable | Self::Signature | Self::Lean => Delivery::InResult,
            Self::Index => Delivery::Bridge,
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no [`Arm`]. There is no silent default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownArm(pub String);

impl fmt::Display for UnknownArm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Arm::ALL.iter().map(|arm| arm.name()).collect();
        write!(f, "unknown arm `{}`: use one of {}", crate::diagnostic::visible(&self.0), names.join(", "))?;
        match nearest(&self.0, names.iter().copied(), 1).first() {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownArm {}

impl FromStr for Arm {
    type Err = UnknownArm;
    fn from_str(text: &str) -> Result<Self, UnknownArm> {
        Self::ALL.into_iter().find(|arm| arm.name() == text).ok_or_else(|| UnknownArm(text.to_owned()))
    }
}
