//! A maximum growth: tokens, or a share.

use std::fmt;
use std::str::FromStr;

use super::form::grouped;

/// A maximum growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let unknown = || UnknownGrowth(text.chars().take(80).collect());
        let Some(share) = text.strip_suffix('%') else {
            return text.parse().map(Self::Tokens).map_err(|_| unknown());
        };
        let (whole, places) = share.trim_end().split_once('.').unwrap_or((share.trim_end(), "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(places) || places.len() > 2 {
            return Err(unknown());
        }
        let number = |text: &str| text.parse::<u32>().map_err(|_| unknown());
        let whole = number(whole)?.checked_mul(100).ok_or_else(unknown)?;
        let places = number(&format!("{places:0<2}"))?;
        whole.checked_add(places).map(Self::Share).ok_or_else(unknown)
    }
}
