//! JSON that a model wrote, on one line and with every digit.

use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};

/// Maximum nesting that is copied: `serde_json`'s limit, so judged arguments are never deeper.
const MAX_DEPTH: usize = 128;

/// JSON text on one line with its numbers as written, or the parsed value if the text is not valid
/// JSON. Of a repeated key, only the judged value is kept: another parser might use a different
/// one.
pub(super) fn exact(text: &str, value: &serde_json::Value) -> Box<RawValue> {
    let mut out = String::with_capacity(text.len());
    let copied = copy(&mut out, text, 0).then(|| RawValue::from_string(out).ok()).flatten();
    copied.or_else(|| to_raw_value(value).ok()).unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// JSON text without white space between its tokens, unchanged if it already has none.
pub(super) fn one_line(text: &str) -> Box<RawValue> {
    let whole =
        (!text.contains('\n') && !text.contains('\r')).then(|| RawValue::from_string(text.to_owned()).ok()).flatten();
    whole.unwrap_or_else(|| exact(text, &serde_json::Value::Null))
}

/// Copies JSON without white space between tokens. False if it is not valid, or too deep.
fn copy(out: &mut String, text: &str, depth: usize) -> bool {
    let text = text.trim();
    match text.bytes().next() {
        Some(b'{') if depth < MAX_DEPTH => {
            // The last of several equal keys, as in everything that judged the arguments.
            let Ok(members) = serde_json::from_str::<IndexMap<String, &RawValue>>(text) else { return false };
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                let Ok(key) = serde_json::to_string(key) else { return false };
                out.push_str(&key);
                out.push(':');
                if !copy(out, value.get(), depth + 1) {
                    return false;
                }
            }
            out.push('}');
            true
        }
        Some(b'[') if depth < MAX_DEPTH => {
            let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else { return false };
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if !copy(out, item.get(), depth + 1) {
                    return false;
                }
            }
            out.push(']');
            true
        }
        Some(b'{' | b'[') | None => false,
        Some(_) => {
            out.push_str(text);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::exact;

    #[test]
    fn every_digit_is_kept_on_one_line() {
        for (text, expected) in [
            ("{ \"a\" : 12345678901234567890123 }", "{\"a\":12345678901234567890123}"),
            ("{\n\t\"a\": [1e400,\r\n -0.10, 1.0]\n}", "{\"a\":[1e400,-0.10,1.0]}"),
            ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"),
            ("{\"\\u0061\":1,\"a\":{\"x\":[]}}", "{\"a\":{\"x\":[]}}"),
            ("{\"a\":\"\\u00e9 \\n {1 , 2}\"}", "{\"a\":\"\\u00e9 \\n {1 , 2}\"}"),
            ("{}", "{}"),
        ] {
            assert_eq!(exact(text, &Value::Null).get(), expected, "{text}");
        }
    }

    #[test]
    fn invalid_json_is_replaced_by_the_value() {
        let value = json!({"a": 1});
        for text in ["", "{\"a\":", "[1,]", "{a:1}"] {
            assert_eq!(exact(text, &value).get(), "{\"a\":1}", "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(exact(&deep, &value).get(), "{\"a\":1}");
    }
}
