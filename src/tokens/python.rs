//! Python semantics in the billed render: truth of a value, `strip`, `str`, and `json.dumps`.
//!
//! The rules were measured with a Python program; values print here as they do there.

use serde_json::Value;

use super::json::Style;

/// Python's truth: `null`, `false`, zero and empty values are false.
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

/// Python's `str(value)`: strings unchanged, everything else as printed.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => dumps(value),
    }
}

/// Python's `json.dumps(value, ensure_ascii=False)`: `, ` and `: ` as separators, non-ASCII text
/// unchanged.
pub(super) fn dumps(value: &Value) -> String {
    Style::SPACED.print(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_what_python_strips() {
        assert_eq!(strip("\u{1c}\u{3000} a\u{200b} \u{85}\n"), "a\u{200b}");
    }
}
