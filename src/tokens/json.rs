//! JSON text in the styles of providers: with or without white space, complete or with members left
//! out.

use serde_json::{Number, Value};

/// The maximum depth of a printed value; deeper parts print as `null`. serde_json reads no deeper,
/// and no recorded schema, default or argument comes close.
const DEEPEST_VALUE: usize = 128;

/// The treatment of an object member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    /// It is printed.
    Kept,
    /// It is printed with an empty string as its value.
    Emptied,
    /// It is left out with its key.
    Left,
}

/// A style of printing JSON.
#[derive(Clone, Copy)]
pub(super) struct Style {
    comma: &'static str,
    colon: &'static str,
    /// Decides on a member that is a keyword, by its key and value. Names below `properties` and
    /// `$defs` are not keywords.
    member: fn(&str, &Value) -> Member,
}

impl Style {
    /// `{"a":[1,2]}`.
    pub(super) const COMPACT: Self = Self { comma: ",", colon: ":", member: |_, _| Member::Kept };
    /// `{"a": [1, 2]}`, as printed by Python.
    pub(super) const SPACED: Self = Self { comma: ", ", colon: ": ", member: |_, _| Member::Kept };

    /// Compact, with a decision on each keyword.
    pub(super) const fn choosing(member: fn(&str, &Value) -> Member) -> Self {
        Self { member, ..Self::COMPACT }
    }

    /// Prints a value in this style. Total, and linear in the value.
    pub(super) fn print(&self, value: &Value) -> String {
        let mut out = String::new();
        self.write_value(value, DEEPEST_VALUE, false, &mut out);
        out
    }

    /// `names`: the keys of this object are property names, not keywords.
    fn write_value(&self, value: &Value, depth: usize, names: bool, out: &mut String) {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Number(n) => out.push_str(&python_number(n)),
            Value::String(s) => write_text(s, out),
            Value::Array(_) | Value::Object(_) if depth == 0 => out.push_str("null"),
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { self.comma });
                    self.write_value(item, depth - 1, false, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                let mut first = true;
                for (key, member) in members {
                    let fate = if names { Member::Kept } else { (self.member)(key, member) };
                    if fate == Member::Left {
                        continue;
                    }
                    out.push_str(if std::mem::take(&mut first) { "" } else { self.comma });
                    write_text(key, out);
                    out.push_str(self.colon);
                    match fate {
                        Member::Emptied => out.push_str("\"\""),
                        _ => self.write_value(member, depth - 1, !names && holds_names(key), out),
                    }
                }
                out.push('}');
            }
        }
    }
}

fn holds_names(key: &str) -> bool {
    matches!(key, "properties" | "patternProperties" | "$defs" | "definitions")
}

/// A JSON string. Python and serde_json use the same escapes.
pub(super) fn write_text(text: &str, out: &mut String) {
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

/// Integers are unchanged. Floats print like Python's `repr`: the shortest digits, a point unless
/// there is an exponent, and an exponent of at least two digits below 1e-4 and from 1e16.
fn python_number(n: &Number) -> String {
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
            assert_eq!(Style::SPACED.print(&value), expect);
        }
    }

    #[test]
    fn values_print_with_and_without_white_space() {
        let value = json!({"a": [1, "é\u{1}\n", true], "b": {}, "c": null});
        assert_eq!(Style::SPACED.print(&value), r#"{"a": [1, "é\u0001\n", true], "b": {}, "c": null}"#);
        assert_eq!(Style::COMPACT.print(&value), r#"{"a":[1,"é\u0001\n",true],"b":{},"c":null}"#);
        assert_eq!(Style::COMPACT.print(&value), value.to_string());
    }

    #[test]
    fn names_are_no_keywords() {
        let style = Style::choosing(|key, value| match (key, value) {
            ("format", _) => Member::Left,
            ("description", Value::String(_)) => Member::Emptied,
            _ => Member::Kept,
        });
        let schema = json!({"description": "d", "format": "x", "properties": {
            "format": {"format": "date", "description": "e"}, "description": {"properties": {"properties": {"format": 1}}}}});
        assert_eq!(
            style.print(&schema),
            r#"{"description":"","properties":{"format":{"description":""},"description":{"properties":{"properties":{}}}}}"#
        );
    }
}
