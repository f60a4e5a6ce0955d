//! User-defined arms: a detail per tier and a delivery.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arm, Delivery, Detail};
use crate::diagnostic::{InvalidValue, visible};

/// The maximum length of an arm's name, in bytes.
pub(crate) const MAX_ARM_NAME_BYTES: usize = 31;

/// An arm's name, stored inline because arms are copied often.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ArmName {
    length: u8,
    bytes: [u8; MAX_ARM_NAME_BYTES],
}

impl ArmName {
    /// Accepts lower-case letters, digits, `-` and `_`, starting with a letter.
    fn new(text: &str) -> Option<Self> {
        let follows = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let sound = text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(follows);
        let length = u8::try_from(text.len()).ok()?;
        let mut bytes = [0; MAX_ARM_NAME_BYTES];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        sound.then_some(Self { length, bytes })
    }

    fn as_str(&self) -> &str {
        // The stored bytes are always ASCII.
        let own = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(own).unwrap_or_default()
    }
}

impl fmt::Debug for ArmName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A user-defined arm: the detail of each tier, and how further detail is delivered.
///
/// ```
/// use toolfold::profile::{Arm, CustomArm, Delivery, Detail};
///
/// let mine = CustomArm::new("mine", Detail::Full, Detail::Required, Delivery::InResult)?;
/// assert_eq!(Arm::Custom(mine).extended(), Detail::Required);
/// assert!(CustomArm::new("mine", Detail::Full, Detail::Required, Delivery::None).is_err());
/// # Ok::<(), toolfold::diagnostic::InvalidValue>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
pub struct CustomArm {
    name: ArmName,
    core: Detail,
    extended: Detail,
    delivery: Delivery,
}

/// The form of a [`CustomArm`] in logs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    core: Detail,
    extended: Detail,
    delivery: Delivery,
}

impl CustomArm {
    /// Creates an arm.
    ///
    /// # Errors
    /// Returns an [`InvalidValue`] if the name is invalid or that of a built-in arm, or if the
    /// three parts are incompatible: folded tools need a delivery, core tools must not have less
    /// detail than extended ones, and tools outside the array need a bridge or are appended.
    pub fn new(name: &str, core: Detail, extended: Detail, delivery: Delivery) -> Result<Self, InvalidValue> {
        let wrong = |why: String| InvalidValue::from(format!("arm `{}`: {why}", visible(name)));
        let Some(own) = ArmName::new(name) else {
            return Err(wrong(format!(
                "the name must have 1 to {MAX_ARM_NAME_BYTES} lower-case letters, digits, `-` and `_`, a letter first"
            )));
        };
        if Arm::ALL.iter().any(|arm| arm.name() == name) {
            return Err(wrong("the name is that of a built-in arm".to_owned()));
        }
        match incompatible(core, extended, delivery) {
            Some(why) => Err(wrong(why)),
            None => Ok(Self { name: own, core, extended, delivery }),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(super) fn core(self) -> Detail {
        self.core
    }

    pub(super) fn extended(self) -> Detail {
        self.extended
    }

    pub(super) fn delivery(self) -> Delivery {
        self.delivery
    }
}

/// Why the three parts are incompatible, if they are.
fn incompatible(core: Detail, extended: Detail, delivery: Delivery) -> Option<String> {
    let (core_name, extended_name, delivery_name) = (core.name(), extended.name(), delivery.name());
    let folds = core != Detail::Full || extended != Detail::Full;
    match delivery {
        _ if core > extended => {
            let why =
                format!("core tools would be shown in less (`{core_name}`) than extended ones (`{extended_name}`)");
            Some(why)
        }
        _ if !core.is_in_array() => Some(format!("core tools are always in the array: core cannot be `{core_name}`")),
        Delivery::Native if folds => {
            Some("the provider folds the tools: with delivery `native` core and extended are `full`".to_owned())
        }
        Delivery::None if folds => {
            Some("folded tools could not be expanded: delivery `none` needs core and extended `full`".to_owned())
        }
        Delivery::Bridge if extended.is_in_array() => Some(format!(
            "through the bridge tools are called that are not in the array: extended must be `index` or `search`, not \
             `{extended_name}`"
        )),
        Delivery::InPlace | Delivery::InResult if !extended.is_in_array() => Some(format!(
            "tools that are not in the array are called through a bridge or appended: delivery must be `bridge` or \
             `append`, not `{delivery_name}`"
        )),
        Delivery::Append if core != Detail::Full || extended.is_in_array() => Some(format!(
            "a tool is appended once and is not in the array: with delivery `append` core must be `full` and extended \
             `index` or `search`, not `{core_name}` and `{extended_name}`"
        )),
        Delivery::InPlace | Delivery::InResult if !folds => {
            Some(format!("nothing is folded, so nothing is delivered: delivery must be `none`, not `{delivery_name}`"))
        }
        _ => None,
    }
}

impl TryFrom<Written> for CustomArm {
    type Error = InvalidValue;
    fn try_from(written: Written) -> Result<Self, InvalidValue> {
        Self::new(&written.name, written.core, written.extended, written.delivery)
    }
}

impl From<CustomArm> for Written {
    fn from(arm: CustomArm) -> Self {
        Self { name: arm.name().to_owned(), core: arm.core, extended: arm.extended, delivery: arm.delivery }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_arm_is_a_sound_triple() {
        for arm in Arm::ALL.into_iter().filter(|arm| *arm != Arm::Auto) {
            assert_eq!(incompatible(arm.core(), arm.extended(), arm.delivery()), None, "{arm}");
        }
    }

    #[test]
    fn three_parts_must_go_together() {
        use {Delivery as D, Detail as T};
        let refused = [
            (T::Summary, T::Full, D::InResult, "core tools would be shown in less"),
            (T::Index, T::Index, D::Bridge, "core cannot be `index`"),
            (T::Search, T::Search, D::Bridge, "core cannot be `search`"),
            (T::Full, T::Search, D::InResult, "delivery must be `bridge`"),
            (T::Full, T::Summary, D::Native, "with delivery `native`"),
            (T::Full, T::Summary, D::None, "could not be expanded"),
            (T::Full, T::Summary, D::Bridge, "extended must be `index`"),
            (T::Full, T::Index, D::InPlace, "delivery must be `bridge`"),
            (T::Full, T::Full, D::InResult, "delivery must be `none`"),
        ];
        for (core, extended, delivery, why) in refused {
            let found = CustomArm::new("mine", core, extended, delivery).unwrap_err();
            assert!(found.to_string().contains(why), "{found}");
        }
        for name in ["", "Mine", "1a", "a b", "é", "a\u{0}", "lean", "auto", &"a".repeat(32)] {
            assert!(CustomArm::new(name, T::Full, T::Summary, D::InResult).is_err(), "{name:?}");
        }
        let longest = "a".repeat(MAX_ARM_NAME_BYTES);
        assert_eq!(CustomArm::new(&longest, T::Full, T::Summary, D::InResult).unwrap().name(), longest);
    }
}
