//! What the billed render takes from Python: truth of a value, `strip`, `str`, and `json.dumps` as it prints.
//!
//! The rules were measured with a Python program (`reference/openai_billing.py`); a value prints here as there.

use serde_json::{Number, Value};

/// How deep a printed value may nest; deeper parts print as `null`. No recorded default or enum nests at all.
const DEEPEST_VALUE: usize = 128;

/// Python's truth: `null`, `false`, zero, and whatever is empty are false.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        Value::Array(a) => !a.is_empty(),
        Value::Object(o) => !o.is_empty(),
    }
}

/// Python's `str.isspace`: Unicode white space and the four ASCII separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Python's `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str(value)`: texts as they are, everything else as it would be printed.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => dumps(value),
    }
}

/// Python's `json.dumps(value, ensure_ascii=False)`: `, ` and `: ` between, non-ASCII text as it is.
pub(super) fn dumps(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, DEEPEST_VALUE, &mut out);
    out
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => out.push_str(&number(n)),
        Value::String(s) => write_text(s, out),
        Value::Array(_) | Value::Object(_) if depth == 0 => out.push_str("null"),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_value(item, depth - 1, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (i, (key, member)) in members.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_text(key, out);
                out.push_str(": ");
                write_value(member, depth - 1, out);
            }
            out.push('}');
        }
    }
}

/// A JSON string; both languages escape the same characters the same way.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Integers as they are; floats as Python's `repr`: shortest digits, a point unless there is an exponent, an
/// exponent of at least two digits below 1e-4 and from 1e16.
fn number(n: &Number) -> String {
    match n.as_f64() {
        Some(f) if n.is_f64() && f.is_finite() => float(f),
        _ => n.to_string(),
    }
}

fn float(f: f64) -> String {
    let shortest = format!("{f:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{f}");
        if plain.contains('.') { plain } else { plain + ".0" }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_print_as_python_prints_them() {
        for (value, expect) in [
            (json!(1.0), "1.0"),
            (json!(0.1), "0.1"),
            (json!(-0.0), "-0.0"),
            (json!(1e15), "1000000000000000.0"),
            (json!(1e16), "1e+16"),
            (json!(1.5e300), "1.5e+300"),
            (json!(0.0001), "0.0001"),
            (json!(0.00001), "1e-05"),
            (json!(123456789.125), "123456789.125"),
            (json!(-7), "-7"),
            (json!(18446744073709551615_u64), "18446744073709551615"),
        ] {
            assert_eq!(dumps(&value), expect);
        }
    }

    #[test]
    fn values_print_as_json_dumps_does() {
        let value = json!({"a": [1, "é\u{1}\n", true], "b": {}, "c": null});
        assert_eq!(dumps(&value), r#"{"a": [1, "é\u0001\n", true], "b": {}, "c": null}"#);
        assert_eq!(strip("\u{1c}\u{3000} a\u{200b} \u{85}\n"), "a\u{200b}");
    }
}
