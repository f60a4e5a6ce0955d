//! Values of the tables below `gateway`: what they may be, and what is said of those that are not.

use toml::de::DeValue;

use toolfold::name::nearest;

/// Why a setting is none: code, reason, way out.
pub(super) type Bad = (&'static str, String, String);

/// A value of another type than its key takes.
pub(super) fn wrong(why: &str) -> Bad {
    ("wrong-type", why.to_owned(), "see docs/gateway.md".to_owned())
}

/// A text.
pub(super) fn text_value(value: &DeValue<'_>) -> Result<String, Bad> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        _ => Err(wrong("it must be a text")),
    }
}

/// A key that is none of those that there are.
pub(super) fn unknown_key(key: &str, known: &[&str]) -> Bad {
    let help = match nearest(key, known.iter().copied(), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    ("unknown-key", "there is no such setting".to_owned(), help)
}
