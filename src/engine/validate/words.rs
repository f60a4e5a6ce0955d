//! Descriptions for a language model: a shortened value, and what a schema expects.

use std::fmt::Write as _;
use std::io::{Error, Result as Written, Write};

use serde_json::Value;

use crate::diagnostic::is_invisible;
use crate::schema::{self, text_member};

/// The maximum length of a quoted value, in characters.
const FOUND_CHARS: usize = 80;

/// The maximum length of an expectation, in characters.
const EXPECTED_CHARS: usize = 240;

/// The maximum number of listed values or names.
const LISTED: usize = 12;

/// The maximum depth at which [`expectation`] describes a schema.
const DESCRIBE_DEPTH: usize = 3;

/// A text of at most 80 characters, with invisible characters escaped.
pub(super) fn clip(text: &str) -> String {
    clip_to(text, FOUND_CHARS)
}

/// An expectation of at most 240 characters.
pub(super) fn clip_expected(text: &str) -> String {
    clip_to(text, EXPECTED_CHARS)
}

/// A value as compact JSON of at most 80 characters. Serializes no more than that.
pub(super) fn found(value: &Value) -> String {
    let mut head = Head(Vec::new());
    // The writer returns an error once it has enough.
    let _ = serde_json::to_writer(&mut head, value);
    clip(&String::from_utf8_lossy(&head.0))
}

/// What a schema expects, as a noun phrase: "a string", "one of \"a\", \"b\"", "an array of numbers
/// or null".
pub(super) fn expectation(root: &Value, node: &Value) -> String {
    clip_expected(&describe(root, node, DESCRIBE_DEPTH))
}

/// A readable number of JSON values, separated by commas.
pub(super) fn values(list: &[Value]) -> String {
    joined_parts(list.iter().map(found), list.len())
}

/// A readable number of names in backticks, separated by commas.
pub(super) fn some_names<'a>(list: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = list.len();
    joined_parts(list.map(|name| format!("`{}`", clip(name))), count)
}

/// A JSON Schema type with its article.
pub(super) fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        other => format!("a {}", clip(other)),
    }
}

/// "1 item", "2 items".
pub(super) fn counted_noun(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Joins distinct phrases with "or".
pub(super) fn either(phrases: impl IntoIterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for phrase in phrases {
        if !seen.contains(&phrase) {
            seen.push(phrase);
        }
    }
    seen.join(" or ")
}

fn joined_parts(parts: impl Iterator<Item = String>, count: usize) -> String {
    let mut text = String::new();
    for (index, part) in parts.enumerate() {
        if index >= LISTED || text.len() + part.len() > EXPECTED_CHARS - 40 {
            let _ = write!(text, ", … ({count} in total)");
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&part);
    }
    text
}

fn clip_to(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut room = most;
    for c in text.chars() {
        let shown = if is_invisible(c) { c.escape_unicode().to_string() } else { c.to_string() };
        let width = shown.chars().count();
        if width >= room {
            out.push('…');
            return out;
        }
        room -= width;
        out.push_str(&shown);
    }
    out
}

/// Keeps the first bytes that are written, then returns an error.
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> Written<usize> {
        let room = (FOUND_CHARS * 4 + 4).saturating_sub(self.0.len());
        self.0.extend(bytes.iter().take(room));
        if room == 0 { Err(Error::other("enough")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> Written<()> {
        Ok(())
    }
}

fn describe(root: &Value, node: &Value, depth: usize) -> String {
    let node = schema::pointed(root, node);
    let get = |key: &str| node.get(key);
    if let Some(value) = get("const") {
        return found(value);
    }
    if let Some(Value::Array(list)) = get("enum") {
        return one_of(list);
    }
    if let Some(Value::Array(branches)) = get("anyOf").or_else(|| get("oneOf"))
        && depth > 0
    {
        return either(branches.iter().take(4).map(|branch| describe(root, branch, depth - 1)));
    }
    let types: Vec<&str> = match get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ if get("properties").is_some() => vec!["object"],
        _ => Vec::new(),
    };
    if types.is_empty() {
        let parts = if depth > 0 { schema::list_member(node, "allOf") } else { &[] };
        let mut texts = parts.iter().map(|part| describe(root, part, depth - 1));
        return texts.find(|text| text != "a value").unwrap_or_else(|| "a value".to_owned());
    }
    either(types.into_iter().map(|kind| match kind {
        "array" => items(root, node, depth),
        "object" => object(node),
        "string" => string(node),
        "number" | "integer" => format!("{}{}", article(kind), bounds(node)),
        other => article(other),
    }))
}

/// `one of "a", "b"`, or the only value.
pub(super) fn one_of(list: &[Value]) -> String {
    match list {
        [only] => found(only),
        several => format!("one of {}", values(several)),
    }
}

fn items(root: &Value, node: &Value, depth: usize) -> String {
    let Some(items @ Value::Object(_)) = node.get("items") else { return "an array".to_owned() };
    match text_member(schema::pointed(root, items), "type") {
        Some(kind @ ("string" | "number" | "integer" | "boolean" | "object" | "array")) if depth > 0 => {
            format!("an array of {kind}s")
        }
        _ => "an array".to_owned(),
    }
}

fn object(node: &Value) -> String {
    let required: Vec<&str> = schema::text_members(node, "required").collect();
    if required.is_empty() {
        "an object".to_owned()
    } else {
        format!("an object with {}", some_names(required.into_iter()))
    }
}

fn string(node: &Value) -> String {
    if let Some(format) = text_member(node, "format") {
        return format!("a string in the format `{}`", clip(format));
    }
    match text_member(node, "pattern") {
        Some(pattern) => format!("a string that matches `{}`", clip(pattern)),
        None => "a string".to_owned(),
    }
}

fn bounds(node: &Value) -> String {
    let bound = |key: &str| node.get(key).filter(|bound| bound.is_number());
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    }
}
