//! The arguments of a call, as the model wrote them and as a value.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::outside::{has_long_number, not_a_number};

/// The maximum nesting depth. Source: the recursion limit of `serde_json` is 128.
const MAX_DEPTH: usize = 120;

/// The arguments of a call.
///
/// The original text is stored: a value rounds integers beyond 64 bits to the nearest
/// floating-point number, whereas the text has all their digits.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    text: Option<String>,
    read: Result<Value, String>,
}

impl Arguments {
    /// Reads JSON text. Empty text and `null` become an empty object, because models write them for
    /// tools without parameters.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let read = match serde_json::from_str(text) {
            _ if text.trim().is_empty() => return Self::empty(),
            Ok(Value::Null) => return Self::empty(),
            Ok(value) => Ok(value),
            Err(why) => match not_a_number(text) {
                Some(word) => Err(format!("`{word}` is not a JSON number: leave the argument out, or give a number")),
                None => nearest_value(text, 0).ok_or_else(|| why.to_string()),
            },
        };
        // If a key is repeated, another reader might use the value that was not checked. Each key
        // has a colon, so with as many members as colons none is repeated.
        let is_unique = |value| member_count(value) == text.bytes().filter(|byte| *byte == b':').count();
        let repeats = read.as_ref().is_ok_and(|value| !is_unique(value) && repeats_a_key(text, 0));
        let own = if repeats { exactly(text) } else { text.to_owned() };
        Self { text: Some(own), read }
    }

    fn empty() -> Self {
        Self { text: None, read: Ok(Value::Object(Map::new())) }
    }

    /// Arguments from a value, and from its JSON text if there is one.
    pub(crate) fn of_parts(text: Option<String>, value: Value) -> Self {
        Self { text, read: Ok(value) }
    }

    /// The value, or why the text is not valid JSON.
    ///
    /// # Errors
    /// Returns what is wrong with the text, in words for the model.
    pub fn value(&self) -> Result<&Value, &str> {
        self.read.as_ref().map_err(String::as_str)
    }

    /// The JSON text: as written, or generated from the value if there was none. A repeated key is
    /// written once with its effective value.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match (&self.text, &self.read) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, Ok(value)) => Cow::Owned(value.to_string()),
            (None, Err(_)) => Cow::Borrowed(""),
        }
    }

    /// The text as written; `None` if the arguments came as a value.
    pub(crate) fn as_written(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// A member of the arguments object, as exact as the object itself. A string is parsed as JSON,
    /// because some models write inner arguments as strings.
    pub(crate) fn member(&self, key: &str) -> Option<Self> {
        let value = self.read.as_ref().ok()?.get(key)?;
        let raw = self.text.as_deref().and_then(|text| {
            let members: IndexMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            members.get(key).copied()
        });
        Some(match (value, raw) {
            (Value::String(text), _) => Self::from_text(text),
            (_, Some(raw)) => Self::from_text(raw.get()),
            (value, None) => Self::from(value),
        })
    }

    /// The value as written, with sorted keys and without white space; `None` if it came as a value
    /// or is not valid JSON.
    pub(crate) fn exact(&self) -> Option<String> {
        self.text.as_ref().filter(|_| self.read.is_ok()).map(|text| exactly(text))
    }

    /// A canonical form: equal for equal arguments, whatever the order of their keys and the white
    /// space; different if any digit of a number is.
    pub(crate) fn canonical(&self) -> String {
        match (&self.read, &self.text) {
            (Ok(_), Some(text)) if has_long_number(text) => exactly(text),
            (Ok(value), _) => {
                let mut out = String::new();
                write_sorted(&mut out, value);
                out
            }
            (Err(_), text) => text.clone().unwrap_or_default(),
        }
    }
}

impl From<&Value> for Arguments {
    /// A string is parsed as JSON, as in Chat Completions; null becomes an empty object.
    fn from(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::from_text(text),
            Value::Null => Self::empty(),
            other => Self { text: None, read: Ok(other.clone()) },
        }
    }
}

impl From<Value> for Arguments {
    /// As from `&Value`.
    fn from(value: Value) -> Self {
        match value {
            Value::String(_) | Value::Null => Self::from(&value),
            other => Self { text: None, read: Ok(other) },
        }
    }
}

impl From<&str> for Arguments {
    /// As [`from_text`](Self::from_text).
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

impl From<&String> for Arguments {
    fn from(text: &String) -> Self {
        Self::from_text(text)
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::from_text(&text)
    }
}

impl From<&RawValue> for Arguments {
    /// A JSON value as written. A string is parsed as JSON.
    fn from(raw: &RawValue) -> Self {
        match serde_json::from_str::<String>(raw.get()) {
            Ok(text) => Self::from_text(&text),
            Err(_) => Self::from_text(raw.get()),
        }
    }
}

/// The nearest value of a JSON text with numbers beyond the range of floats. `None` if it is not
/// valid JSON.
fn nearest_value(text: &str, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let text = text.trim();
    match text.bytes().next()? {
        b'{' => {
            let members: IndexMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let each = members.into_iter().map(|(key, raw)| Some((key, nearest_value(raw.get(), depth + 1)?)));
            each.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items
                .into_iter()
                .map(|raw| nearest_value(raw.get(), depth + 1))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
        }
        first => serde_json::from_str(text).ok().or_else(|| {
            // A raw value is valid JSON, so one that does not parse as a float is out of range.
            let _sound: &RawValue = serde_json::from_str(text).ok()?;
            let most = if first == b'-' { f64::MIN } else { f64::MAX };
            (first == b'-' || first.is_ascii_digit()).then(|| Number::from_f64(most).map(Value::Number)).flatten()
        }),
    }
}

/// The number of members of all objects in a value.
fn member_count(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.len() + map.values().map(member_count).sum::<usize>(),
        Value::Array(list) => list.iter().map(member_count).sum(),
        _ => 0,
    }
}

fn write_sorted(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in members {
                crate::catalog::write_string(out, key);
                out.push(':');
                write_sorted(out, value);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for value in list {
                write_sorted(out, value);
                out.push(',');
            }
            out.push(']');
        }
        Value::String(text) => crate::catalog::write_string(out, text),
        other => out.push_str(&other.to_string()),
    }
}

/// A valid JSON text with sorted, unique keys and numbers as written.
fn exactly(text: &str) -> String {
    let mut out = String::new();
    write_exact(&mut out, text, 0);
    out
}

/// Like [`write_sorted`], with numbers as written.
fn write_exact(out: &mut String, text: &str, depth: usize) {
    let text = text.trim();
    let sorted = |text| serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(text);
    match text.bytes().next() {
        Some(b'{') if depth <= MAX_DEPTH => {
            out.push('{');
            for (at, (key, raw)) in sorted(text).unwrap_or_default().into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                crate::catalog::write_string(out, &key);
                out.push(':');
                write_exact(out, raw.get(), depth + 1);
            }
            out.push('}');
        }
        Some(b'[') if depth <= MAX_DEPTH => {
            out.push('[');
            for (at, raw) in serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default().into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_exact(out, raw.get(), depth + 1);
            }
            out.push(']');
        }
        Some(b'"') => crate::catalog::write_string(out, &serde_json::from_str::<String>(text).unwrap_or_default()),
        _ => out.push_str(text),
    }
}

/// Whether an object in a JSON text repeats a key. `false` for text that is not valid JSON or too
/// deep.
fn repeats_a_key(text: &str, depth: usize) -> bool {
    let text = text.trim();
    match text.bytes().next() {
        Some(b'{') if depth <= MAX_DEPTH => {
            let Ok(Members(members)) = serde_json::from_str(text) else { return false };
            let mut keys = std::collections::BTreeSet::new();
            members.iter().any(|(key, raw)| !keys.insert(key.as_str()) || repeats_a_key(raw.get(), depth + 1))
        }
        Some(b'[') if depth <= MAX_DEPTH => {
            let items = serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
            items.iter().any(|raw| repeats_a_key(raw.get(), depth + 1))
        }
        _ => false,
    }
}

/// The members of an object, sorted and including repeated keys.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> serde::de::Visitor<'de> for Reader {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_is_what_is_handed_on() {
        for (text, handed) in [
            (r#"{"a": 1, "a": 1e400}"#, r#"{"a":1e400}"#),
            (r#"{"x":[{"p":"/work","\u0070":"/etc"}]}"#, r#"{"x":[{"p":"/etc"}]}"#),
            (r#"{"a": 1, "b": {"a": 2}}"#, r#"{"a": 1, "b": {"a": 2}}"#),
            (r#"{"a": 12345678901234567890123}"#, r#"{"a": 12345678901234567890123}"#),
            (r#"{"a:": ":", "b": {"a:": 1}}"#, r#"{"a:": ":", "b": {"a:": 1}}"#),
            (r#"{"a:": ":", "b": [{"c": 1, "c": 2}]}"#, r#"{"a:":":","b":[{"c":2}]}"#),
        ] {
            assert_eq!(Arguments::from_text(text).text(), handed, "{text}");
        }
    }

    #[test]
    fn integers_of_any_size_keep_their_digits() {
        let long = format!("{{\"a\":[{}],\"b\":-1{}}}", "12345678901234567890123", "0".repeat(400));
        let read = Arguments::from_text(&long);
        assert_eq!(read.text(), long);
        let value = read.value().unwrap();
        assert_eq!(value["a"][0].as_f64(), Some(1.2345678901234568e22));
        assert_eq!(value["b"].as_f64(), Some(f64::MIN), "a value holds the nearest number there is");
        let other = Arguments::from_text(&long.replace("0123]", "0124]"));
        assert_eq!(other.value(), read.value());
        assert_ne!(other.canonical(), read.canonical(), "digits that no float holds tell two calls apart");
    }

    #[test]
    fn order_and_space_do_not_tell_calls_apart() {
        let same = ["{\"a\":1,\"b\":{\"c\":\"x\",\"d\":[]}}", "{ \"b\": {\"d\":[], \"c\":\"\\u0078\"}, \"a\":1 }"];
        assert_eq!(Arguments::from_text(same[0]).canonical(), Arguments::from_text(same[1]).canonical());
        let long = same.map(|text| Arguments::from_text(&text.replace(":1", ":11111111111111111111")).canonical());
        assert_eq!(long[0], long[1]);
        assert_ne!(
            Arguments::from_text("{\"a\":[1,2]}").canonical(),
            Arguments::from_text("{\"a\":[2,1]}").canonical()
        );
        assert_ne!(
            Arguments::from_text("{\"a\":[\"1,\"]}").canonical(),
            Arguments::from_text("{\"a\":[\"1\",\"\"]}").canonical()
        );
    }

    #[test]
    fn what_is_no_number_is_named() {
        let why = |text: &str| Arguments::from_text(text).value().unwrap_err().to_owned();
        assert!(why("{\"a\": NaN}").starts_with("`NaN` is not a JSON number"));
        assert!(why("{\"a\": [1, -Infinity]}").starts_with("`-Infinity`"));
        assert!(why("{\"NaN\": \"a \\\" NaN\", \"b\": }").starts_with("expected value"), "words in strings are words");
        assert!(why(&"[".repeat(100_000)).contains("recursion") || !why(&"[".repeat(100_000)).is_empty());
    }

    #[test]
    fn a_member_is_as_exact_as_the_whole() {
        let outer = Arguments::from_text("{\"name\":\"f\",\"arguments\":{\"n\": 12345678901234567890123 }}");
        assert_eq!(outer.member("arguments").unwrap().text(), "{\"n\": 12345678901234567890123 }");
        let inner = Arguments::from_text("{\"arguments\":\"{\\\"n\\\": 5.0}\"}").member("arguments").unwrap();
        assert_eq!(inner.text(), "{\"n\": 5.0}");
        assert_eq!(Arguments::from(serde_json::json!({"a": {"b": 1}})).member("a").unwrap().text(), "{\"b\":1}");
        assert_eq!(Arguments::from_text("[1]").member("a"), None);
    }
}
