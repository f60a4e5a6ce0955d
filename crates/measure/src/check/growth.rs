//! A maximum growth: tokens, or a share.

use std::fmt;
use std::str::FromStr;

use crate::figures::grouped;

/// A maximum growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Growth {
    /// A number of tokens.
    Tokens(usize),
    /// A share of the previous cost, in hundredths of a percent.
    Share(u32),
}

impl Growth {
    /// The maximum growth in tokens for a previous cost of `before`.
    #[must_use]
    pub fn allowed_from(self, before: usize) -> usize {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => {
                let tokens = before as u128 * u128::from(share) / 10_000;
                usize::try_from(tokens).unwrap_or(usize::MAX)
            }
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => write!(f, "{}", grouped(*tokens)),
            Self::Share(share) if share % 100 == 0 => write!(f, "{}%", share / 100),
            Self::Share(share) => {
                let places = format!("{:02}", share % 100);
                write!(f, "{}.{}%", share / 100, places.trim_end_matches('0'))
            }
        }
    }
}

/// The text is not a growth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a growth: write a number of tokens such as 200, or a share such as 5%")]
pub struct UnknownGrowth(String);

impl FromStr for Growth {
    type Err = UnknownGrowth;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let growth = match text.strip_suffix('%') {
            Some(share) => hundredths(share.trim_end()).map(Self::Share),
            None => text.parse().ok().map(Self::Tokens),
        };
        growth.ok_or_else(|| UnknownGrowth(text.chars().take(80).collect()))
    }
}

/// A decimal number with at most two places, in hundredths.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(places) || places.len() > 2 {
        return None;
    }
    let places: u32 = format!("{places:0<2}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(places)
}
