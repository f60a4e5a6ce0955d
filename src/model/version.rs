//! Versions of models, compared number by number: 4.10 is later than 4.9, and 10 later than 9.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::diagnostic::{InvalidValue, visible};

/// A whole number of at least this value is not a version: `gpt-41` is a deployment of GPT-4.1, and
/// `gemini-exp-1206` has a date.
const TOO_LATE: u16 = 20;

/// A model's version of up to three numbers; missing ones are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Version([u16; 3]);

impl Version {
    /// A version of two numbers.
    #[must_use]
    pub(crate) const fn new(major: u16, minor: u16) -> Self {
        Self([major, minor, 0])
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [major, 0, 0] => write!(f, "{major}"),
            [major, minor, 0] => write!(f, "{major}.{minor}"),
            [major, minor, patch] => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

impl FromStr for Version {
    type Err = InvalidValue;
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let bad = || not_a_version(text);
        let mut numbers = [0; 3];
        let mut places = numbers.iter_mut();
        for part in text.split('.') {
            *places.next().ok_or_else(bad)? = version_number(part).ok_or_else(bad)?;
        }
        Ok(Self(numbers))
    }
}

impl TryFrom<String> for Version {
    type Error = InvalidValue;
    fn try_from(text: String) -> Result<Self, InvalidValue> {
        text.parse()
    }
}

fn not_a_version(text: &str) -> InvalidValue {
    let start: String = text.chars().take(40).collect();
    InvalidValue::from(format!(
        "`{}` is not a version: write one to three numbers below 100 with dots, in quotes, such as \"4.5\"",
        visible(&start)
    ))
}

/// A number of a version: one or two digits without a leading zero.
fn version_number(text: &str) -> Option<u16> {
    let digits = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
    let padded = text.len() == 2 && text.starts_with('0');
    (digits && !padded).then(|| text.parse().ok()).flatten()
}

/// A version with a letter in front: `v4`, `k3`, `m2.5`.
pub(super) fn lettered(word: &str) -> Option<Version> {
    word.strip_prefix(['v', 'k', 'm'])?.parse().ok()
}

/// A version with a dot, or one whose minor number is the next word (`4-5`), and how many words it
/// takes.
pub(super) fn dashed(word: &str, next: Option<&str>) -> Option<(Version, usize)> {
    if word.contains('.') {
        return word.parse().ok().map(|version| (version, 1));
    }
    let major = version_number(word).filter(|major| *major < TOO_LATE)?;
    match next.and_then(version_number) {
        Some(minor) => Some((Version::new(major, minor), 2)),
        None => Some((Version::new(major, 0), 1)),
    }
}
