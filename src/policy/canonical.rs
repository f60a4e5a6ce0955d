//! Canonical JSON, so that a digest identifies a value and not one of its forms.
//!
//! RFC 8785 (JCS): members sorted by UTF-16 code units, no whitespace, numbers as ECMAScript prints them. There is one
//! deviation, which distinguishes more values: integers beyond 2^53 keep all their digits, whereas JCS would round them
//! to the same double.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::load::hex;

/// The canonical form of a value.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// SHA-256 over the canonical form, in lower-case hexadecimal digits.
#[must_use]
pub fn digest(value: &Value) -> String {
    hex(&Sha256::digest(canonical(value).as_bytes()))
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            out.push('{');
            for (i, (key, value)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn string(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{9}' => out.push_str("\\t"),
            '\u{a}' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\u{d}' => out.push_str("\\r"),
            c if c < '\u{20}' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// ECMAScript's Number::toString for doubles; integers as they are.
fn number_text(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    let Some(value) = number.as_f64() else { return number.to_string() };
    if value == 0.0 {
        return "0".to_owned();
    }
    // Still a distinct text for a distinct value, should Rust ever print doubles differently.
    ecmascript(value).unwrap_or_else(|| number.to_string())
}

/// A double that is not zero: Rust's shortest round-trip digits, laid out as ECMAScript does.
fn ecmascript(value: f64) -> Option<String> {
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e')?;
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = exponent.parse::<i32>().ok()?.checked_add(1)?;
    let count = i32::try_from(digits.len()).ok()?;
    let sign = if value < 0.0 { "-" } else { "" };
    let zeros = |n: i32| usize::try_from(n).ok().map(|n| "0".repeat(n));
    let body = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count)?)
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at_checked(usize::try_from(point).ok()?)?;
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point)?)
    } else {
        let (first, rest) = digits.split_at_checked(1)?;
        let dot = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        format!("{first}{dot}e{}{}", if point > 0 { "+" } else { "-" }, (point - 1).abs())
    };
    Some(format!("{sign}{body}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_ecmascript_prints_them() {
        // RFC 8785, appendix B.
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (0.002, "0.002"),
            (1e-7, "1e-7"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (-4.5, "-4.5"),
        ] {
            assert_eq!(number_text(&Number::from_f64(value).unwrap()), text);
        }
    }

    #[test]
    fn members_are_sorted() {
        let value: Value = serde_json::from_str(r#"{"b":[1,{"z":null,"a":"\u0007"}],"a":1.0}"#).unwrap();
        assert_eq!(canonical(&value), "{\"a\":1,\"b\":[1,{\"a\":\"\\u0007\",\"z\":null}]}");
    }
}
