//! Values of the tables below `gateway`, and the errors for invalid ones.

use crate::similar::did_you_mean;
use toml::de::DeValue;

/// Why a value is invalid: code, reason, fix.
pub(super) type Bad = (&'static str, String, String);

pub(super) fn wrong(why: &str) -> Bad {
    ("wrong-type", why.to_owned(), "see docs/gateway.md".to_owned())
}

pub(super) fn text_value(value: &DeValue<'_>) -> Result<String, Bad> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        _ => Err(wrong("it must be a text")),
    }
}

pub(super) fn unknown_key(key: &str, known: &[&str]) -> Bad {
    let help = did_you_mean(key, known.iter().copied()).unwrap_or_else(|| format!("known are {}", known.join(", ")));
    ("unknown-key", "unknown setting".to_owned(), help)
}
