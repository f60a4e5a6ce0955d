//! Validated names of tools, categories and skills.
//!
//! A name is validated once, when it is created; the type guarantees that it is valid.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{InvalidValue, invisible};

/// The maximum length of a name, in characters.
///
/// Source: MCP 2025-11-25, "Tool names": 1 to 128 characters; Anthropic's tool names allow 128 too.
pub const MAX_NAME_CHARS: usize = 128;

/// Formats a character so that an invisible one is visible.
fn show(c: char) -> String {
    if c.is_alphanumeric() || c.is_ascii_graphic() { format!("`{c}`") } else { format!("U+{:04X}", u32::from(c)) }
}

/// Whether a name may contain a character: letters and digits of any script, and the separators
/// that tool names use.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@')
}

/// Whether the name of a tool may contain a character: any that is visible, and blanks. A wire
/// replaces what its provider refuses.
fn is_visible(c: char) -> bool {
    invisible(c).is_none()
}

fn check_name(text: &str, allows: fn(char) -> bool) -> Result<(), InvalidValue> {
    if text.trim().is_empty() {
        return Err("a name must not be empty".into());
    }
    let chars = text.chars().count();
    if chars > MAX_NAME_CHARS {
        return Err(format!("a name has at most {MAX_NAME_CHARS} characters, this one has {chars}").into());
    }
    match text.chars().find(|&c| !allows(c)) {
        Some(c) => Err(format!("{} is not allowed in a name: use letters, digits and `_ - . : / @`", show(c)).into()),
        None => Ok(()),
    }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $allows:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Validates a text.
            ///
            /// # Errors
            /// Returns a [`InvalidValue`] if the text is empty, too long or has a character that is
            /// not allowed.
            pub fn new(text: &str) -> Result<Self, InvalidValue> {
                check_name(text, $allows).map(|()| Self(Arc::from(text)))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidValue;
            fn try_from(text: String) -> Result<Self, InvalidValue> {
                Self::new(&text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = InvalidValue;
            fn try_from(text: &str) -> Result<Self, InvalidValue> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.as_ref().to_owned()
            }
        }
    };
}

name_type! {
    /// The name of a tool, unique in its catalog. Any visible text.
    ToolName, is_visible
}
name_type! {
    /// The name of a category: a named group of tools that expand together.
    CategoryName, is_plain
}
name_type! {
    /// The name of a skill.
    SkillName, is_plain
}

/// Returns the names in `known` that are closest to `wanted`, at most `most` of them, closest
/// first. Ties keep the order of `known`.
///
/// A name is close if its normalized Damerau–Levenshtein similarity is at least 0.6 after folding
/// case, `-` and `_`, or if one name contains the other. A `wanted` of more than [`MAX_NAME_CHARS`]
/// characters is close to nothing, which bounds the cost.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    if wanted.chars().count() > MAX_NAME_CHARS {
        return Vec::new();
    }
    nearest_of(wanted, &known.into_iter().collect::<Vec<_>>(), most)
}

/// Not generic: a copy for each kind of iterator would be 5 kB, two dozen times.
fn nearest_of<'a>(wanted: &str, known: &[&'a str], most: usize) -> Vec<&'a str> {
    let fold = |s: &str| s.to_lowercase().replace('-', "_");
    let want = fold(wanted);
    let mut scored: Vec<(f64, &str)> = known
        .iter()
        .copied()
        .filter_map(|candidate| {
            let have = fold(candidate);
            // A length outside these bounds cannot reach the similarity, so it is not computed.
            let (short, long) = (want.len().min(have.len()), want.len().max(have.len()));
            let holds = want.len() >= 3 && have.len() >= 3 && (have.contains(&want) || want.contains(&have));
            if !holds && short * 10 < long * 4 {
                return None;
            }
            let score = strsim::normalized_damerau_levenshtein(&want, &have);
            let score = if holds { score.max(0.75) } else { score };
            (score >= 0.6).then_some((score, candidate))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(most).map(|(_, name)| name).collect()
}
