//! Arms: named ways to present a catalog, the unit of A/B comparison.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diagnostic::{InvalidValue, visible};
use crate::name::nearest;

mod custom;

pub use custom::CustomArm;

/// How much of a tool is sent, richest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Name, full description, full schema.
    Full,
    /// Name, one sentence, and the schema without descriptions: names, types, `required`, `enum`
    /// and structure stay.
    Signature,
    /// Every parameter by name: those that a call may need as in `Signature`, the others with their
    /// bare type.
    Outline,
    /// Like `Signature`, but with only the required top-level parameters; the schema is open for
    /// the others.
    Required,
    /// Name and one sentence, with an open schema that accepts any arguments.
    Summary,
    /// Only the name, in its category's line of `expand_tools`. The tool is not in the array.
    Index,
    /// Nothing: a query of `expand_tools` finds the tool. The tool is not in the array.
    Search,
}

impl Detail {
    /// Every detail, richest first.
    pub const ALL: [Self; 7] =
        [Self::Full, Self::Signature, Self::Outline, Self::Required, Self::Summary, Self::Index, Self::Search];

    /// The name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Signature => "signature",
            Self::Outline => "outline",
            Self::Required => "required",
            Self::Summary => "summary",
            Self::Index => "index",
            Self::Search => "search",
        }
    }

    /// Whether the array contains the tool. At [`Self::Index`] and [`Self::Search`] it does not.
    #[must_use]
    pub fn is_in_array(self) -> bool {
        !matches!(self, Self::Index | Self::Search)
    }
}

/// How an expansion reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Nothing is folded, so nothing is delivered.
    None,
    /// Expanded tools become full in the array from the next turn on. Invalidates the provider's
    /// prompt cache.
    InPlace,
    /// The result of `expand_tools` holds the full schemas. The array never changes.
    InResult,
    /// Folded tools are not in the array and are called with `call_tool`. The array never changes.
    Bridge,
    /// The provider keeps folded tools out of the prompt until a result refers to them. The array
    /// never changes.
    Native,
    /// Folded tools are not in the array. Their full definitions are appended to the messages in a
    /// form that the provider defines. The array never changes.
    Append,
}

impl Delivery {
    /// Every delivery.
    pub const ALL: [Self; 6] = [Self::None, Self::InPlace, Self::InResult, Self::Bridge, Self::Native, Self::Append];

    /// The name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::InPlace => "in_place",
            Self::InResult => "in_result",
            Self::Bridge => "bridge",
            Self::Native => "native",
            Self::Append => "append",
        }
    }
}

/// A named way to present a catalog.
///
/// Serializes as its name. In logs and snapshots, a user-defined arm is an object with its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arm {
    /// Every tool full: the control.
    Full,
    /// The original design: core full, the rest summaries that become full in place.
    Seed,
    /// Core full, the rest summaries, schemas in the result.
    Stable,
    /// Every tool as a signature, schemas in the result.
    Signature,
    /// Core as signatures, the rest as outlines, schemas in the result.
    Outline,
    /// Core as signatures, the rest with required parameters only, schemas in the result.
    Lean,
    /// Core full, the rest as outlines, schemas in the result.
    Kept,
    /// Core full, the rest named in `expand_tools` and called with `call_tool`.
    Index,
    /// Core full, the rest found by a query of `expand_tools` and called with `call_tool`.
    Search,
    /// Core full, the rest deferred by the provider. Only on wires that support it, see the
    /// capability table.
    Native,
    /// Core full, the rest named in `expand_tools` and appended to the messages as full
    /// definitions. Only on wires that support it, see the capability table.
    Append,
    /// Chosen once, when a session starts.
    Auto,
    /// Defined by a user.
    Custom(CustomArm),
}

impl Arm {
    /// Every built-in arm, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Full,
        Self::Seed,
        Self::Stable,
        Self::Signature,
        Self::Outline,
        Self::Lean,
        Self::Kept,
        Self::Index,
        Self::Search,
        Self::Native,
        Self::Append,
        Self::Auto,
    ];

    /// The built-in arms that work on every wire, in the order of the reports. Excludes `auto`.
    pub const EVERYWHERE: [Self; 9] = [
        Self::Full,
        Self::Seed,
        Self::Stable,
        Self::Signature,
        Self::Outline,
        Self::Lean,
        Self::Kept,
        Self::Index,
        Self::Search,
    ];

    /// The name in flags, files and reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Custom(own) => own.name(),
            Self::Full => "full",
            Self::Seed => "seed",
            Self::Stable => "stable",
            Self::Signature => "signature",
            Self::Outline => "outline",
            Self::Lean => "lean",
            Self::Kept => "kept",
            Self::Index => "index",
            Self::Search => "search",
            Self::Native => "native",
            Self::Append => "append",
            Self::Auto => "auto",
        }
    }

    /// The detail of core tools.
    #[must_use]
    pub fn core(self) -> Detail {
        match self {
            Self::Full
            | Self::Seed
            | Self::Stable
            | Self::Kept
            | Self::Index
            | Self::Search
            | Self::Native
            | Self::Append
            | Self::Auto => Detail::Full,
            Self::Signature | Self::Outline | Self::Lean => Detail::Signature,
            Self::Custom(own) => own.core(),
        }
    }

    /// The detail of extended tools before they are expanded. For `auto` this is the detail of an
    /// arm that folds nothing.
    #[must_use]
    pub fn extended(self) -> Detail {
        match self {
            Self::Full | Self::Native | Self::Auto => Detail::Full,
            Self::Seed | Self::Stable => Detail::Summary,
            Self::Signature => Detail::Signature,
            Self::Outline | Self::Kept => Detail::Outline,
            Self::Lean => Detail::Required,
            Self::Custom(own) => own.extended(),
            Self::Index | Self::Append => Detail::Index,
            Self::Search => Detail::Search,
        }
    }

    /// How an expansion reaches the model.
    #[must_use]
    pub fn delivery(self) -> Delivery {
        match self {
            Self::Full | Self::Auto => Delivery::None,
            Self::Native => Delivery::Native,
            Self::Append => Delivery::Append,
            Self::Seed => Delivery::InPlace,
            Self::Stable | Self::Signature | Self::Outline | Self::Lean | Self::Kept => Delivery::InResult,
            Self::Index | Self::Search => Delivery::Bridge,
            Self::Custom(own) => own.delivery(),
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Arm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Writes an arm so that it can be read again without the configuration that defined it.
pub(crate) fn serialize_whole<S: Serializer>(arm: &Arm, serializer: S) -> Result<S::Ok, S::Error> {
    match arm {
        Arm::Custom(own) => own.serialize(serializer),
        built_in => built_in.serialize(serializer),
    }
}

impl<'de> Deserialize<'de> for Arm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            BuiltIn(String),
            Custom(CustomArm),
        }
        match Written::deserialize(deserializer)? {
            Written::BuiltIn(name) => name.parse().map_err(serde::de::Error::custom),
            Written::Custom(own) => Ok(Self::Custom(own)),
        }
    }
}

/// The error for a text that names none of the arms. There is no silent default.
fn unknown_arm(text: &str, own: &[CustomArm]) -> InvalidValue {
    let names: Vec<&str> = Arm::ALL.iter().map(Arm::name).chain(own.iter().map(CustomArm::name)).collect();
    let mut message = format!("unknown arm `{}`: use one of {}", visible(text), names.join(", "));
    if let Some(near) = nearest(text, names, 1).first() {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    InvalidValue::from(message)
}

impl FromStr for Arm {
    type Err = InvalidValue;
    /// Parses the name of a built-in arm.
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::named(text, &[])
    }
}

impl Arm {
    /// Parses the name of a built-in arm or of one of the user's `own` arms.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`], which lists the valid names.
    pub fn named(text: &str, own: &[CustomArm]) -> Result<Self, InvalidValue> {
        let mut arms = Self::ALL.into_iter().chain(own.iter().copied().map(Self::Custom));
        arms.find(|arm| arm.name() == text).ok_or_else(|| unknown_arm(text, own))
    }
}
