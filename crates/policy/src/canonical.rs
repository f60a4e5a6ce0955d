//! Canonical JSON, so that a digest identifies a value and not one of its forms.
//!
//! RFC 8785 (JCS): members sorted by UTF-16 code units, no whitespace, numbers as ECMAScript prints
//! them. There is one deviation, which distinguishes more values: integers beyond 2^53 keep all
//! their digits, whereas JCS would round them to the same double.

use serde_json::{Number, Value};

use toolfold_diagnostic::sha256_hex;

/// The canonical form of a value.
#[must_use]
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => number_text(number),
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            let mut texts = Vec::with_capacity(members.len());
            for (key, value) in members {
                texts.push(format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            }
            format!("{{{}}}", texts.join(","))
        }
        // `serde_json` escapes what JCS escapes, and in the same way.
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

/// A number of a value that may be rounded: an integer that needs more than 64 bits is read as a
/// double, which equals other integers' doubles from 2^53 on.
pub(crate) fn rounded(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().filter(|_| number.is_f64())?;
            (double.abs() >= 2_f64.powi(53)).then_some(number)
        }
        Value::Array(items) => items.iter().find_map(rounded),
        Value::Object(map) => map.values().find_map(rounded),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// SHA-256 over the canonical form, in lower-case hexadecimal digits.
#[must_use]
pub fn digest(value: &Value) -> String {
    sha256_hex(canonical(value).as_bytes())
}

/// ECMAScript's Number::toString for doubles; integers as they are. Rust prints the same digits,
/// the shortest that give the number back, with an exponent on request.
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        None => number.to_string(),
        Some(_) if !number.is_f64() => number.to_string(),
        Some(0.0) => "0".to_owned(),
        Some(value) if (1e-6..1e21).contains(&value.abs()) => value.to_string(),
        Some(value) => {
            let text = format!("{value:e}");
            if text.contains("e-") { text } else { text.replace('e', "e+") }
        }
    }
}
