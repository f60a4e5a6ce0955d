//! Restricts untrusted servers: hints cannot loosen policy, texts cannot hide characters.
//!
//! MCP on annotations: "clients MUST consider tool annotations to be untrusted unless they come
//! from trusted servers" (specification 2025-06-18, server/tools). Hidden characters are Unicode's
//! controls (Cc), the controls of writing direction (UAX #9, section 2), tags (U+E0000 to U+E007F)
//! and marks without width. Line breaks and tabs stay, and so do the joiners that Persian, Indic
//! scripts and emoji need.

use std::borrow::Cow;

use serde_json::Value;

use crate::error::GatewayError;
use crate::object::{Object, string_length};
use crate::rpc::{Raw, raw};

/// The trust in a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    /// Not configured: hints can tighten policy but not loosen it; texts pass unchanged.
    #[default]
    Unstated,
    /// Hints can also loosen policy.
    Trusted,
    /// Loosening hints and hidden characters in all texts are removed.
    Untrusted,
}

impl Trust {
    /// Reads `trusted` or `untrusted`.
    #[must_use]
    pub fn from_name(text: &str) -> Option<Self> {
        match text {
            "trusted" => Some(Self::Trusted),
            "untrusted" => Some(Self::Untrusted),
            _ => None,
        }
    }
}

/// Members of a schema without effect on calls: hidden characters are removed.
const TEXTS: [&str; 4] = ["description", "title", "$comment", "examples"];

/// A text without its hidden characters.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(hides) {
        Cow::Owned(text.chars().filter(|c| !hides(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn hides(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let widthless = matches!(c, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    direction || widthless || c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// JSON without hidden characters in strings; the rest keeps its text and digits.
#[must_use]
pub fn strings(json: &Raw) -> Raw {
    let text = json.get();
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        let Some((string, behind)) = from.split_at_checked(string_length(from)) else { break };
        out.push_str(before);
        match serde_json::from_str::<String>(string) {
            Ok(own) if own.chars().any(hides) => out.push_str(raw(visible(&own).as_ref()).get()),
            _ => out.push_str(string),
        }
        rest = behind;
    }
    out.push_str(rest);
    if out == text {
        json.clone()
    } else {
        serde_json::value::RawValue::from_string(out).unwrap_or_else(|_| json.clone())
    }
}

/// Cleans the tool definition of an untrusted server.
///
/// # Errors
/// [`GatewayError`] with the place of hidden characters that cannot be removed without changing the
/// tool's arguments.
pub fn sanitized_tool(definition: &Raw) -> Result<Raw, GatewayError> {
    let value: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    if let Some(place) = hidden(&value, "") {
        return Err(format!("`{}` contains invisible characters", visible(&place)).into());
    }
    let cleaned = strings(definition);
    let Some(mut own) = Object::from_json(&cleaned) else { return Ok(cleaned) };
    let Some(mut hints) = own.object("annotations") else { return Ok(cleaned) };
    let loosens =
        [("readOnlyHint", true), ("destructiveHint", false), ("idempotentHint", true), ("openWorldHint", false)];
    let mut changed = false;
    for (hint, value) in loosens {
        if hints.read_as::<bool>(hint) == Some(value) {
            hints.remove_member(hint);
            changed = true;
        }
    }
    if !changed {
        return Ok(cleaned);
    }
    own.set("annotations", hints.to_raw());
    Ok(own.to_raw())
}

/// The place of a name, key or value with hidden characters.
fn hidden(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::String(text) => text.chars().any(hides).then(|| place.to_owned()),
        Value::Array(list) => list.iter().find_map(|one| hidden(one, place)),
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            if key.chars().any(hides) {
                return Some(format!("{place}/{key}"));
            }
            // A property may be named `title`: then its value is a schema, which is checked.
            let read_only = TEXTS.contains(&key.as_str()) && !value.is_object();
            if read_only { None } else { hidden(value, &format!("{place}/{key}")) }
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Raw {
        serde_json::value::RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn hidden_characters_are_removed_and_digits_stay() {
        let before =
            json(r#"{"n":12345678901234567890123,"a":"x\u202ey\u0007z","b":"e\"\u200d\n é","t":"\udb40\udc41"}"#);
        let after = strings(&before);
        assert_eq!(after.get(), "{\"n\":12345678901234567890123,\"a\":\"xyz\",\"b\":\"e\\\"\\u200d\\n é\",\"t\":\"\"}");
        let plain = json(r#"{"a": 1.50, "b":"\u00e9"}"#);
        assert_eq!(strings(&plain).get(), plain.get());
    }

    #[test]
    fn loosening_hints_are_removed() {
        let before = json(
            r#"{"name":"rm","description":"a\u200bb","annotations":{"readOnlyHint":true,"destructiveHint":true}}"#,
        );
        let after = sanitized_tool(&before).unwrap();
        assert_eq!(after.get(), r#"{"name":"rm","description":"ab","annotations":{"destructiveHint":true}}"#);
        let tightening = json(r#"{"name":"rm","annotations":{"readOnlyHint":false}}"#);
        assert_eq!(sanitized_tool(&tightening).unwrap().get(), tightening.get());
    }

    #[test]
    fn hidden_characters_in_names_and_values_are_rejected() {
        for text in [
            r#"{"name":"r\u200bm"}"#,
            r#"{"name":"a","inputSchema":{"properties":{"x\u202e":{}}}}"#,
            r#"{"name":"a","inputSchema":{"properties":{"x":{"enum":["a\u0000"]}}}}"#,
            r#"{"name":"a","inputSchema":{"properties":{"title":{"enum":["a\u0000"]}}}}"#,
        ] {
            assert!(sanitized_tool(&json(text)).is_err(), "{text}");
        }
        assert!(
            sanitized_tool(&json(r#"{"name":"a","inputSchema":{"properties":{"x":{"description":"a\u0000"}}}}"#))
                .is_ok()
        );
    }
}
