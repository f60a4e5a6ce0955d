//! The raw fields of a JSON object, and the tool list inside a document.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::framework::Shape;
use crate::diagnostic::{Diagnostic, Place};

/// An object's fields in order, each with its original text. A repeated key is rejected, because
/// two readers would disagree on its value.
pub(crate) struct Fields<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Fields<'t> {
    pub(super) fn from_raw(raw: &'t RawValue) -> Result<Self, String> {
        Self::parse_fields(raw.get())
    }

    /// Parses the fields of a JSON object.
    ///
    /// # Errors
    /// Fails if the text is not an object or repeats a key.
    pub(crate) fn parse_fields(text: &'t str) -> Result<Self, String> {
        if !text.starts_with('{') {
            return Err(format!("a tool must be an object, not {}", kind_of(text)));
        }
        serde_json::from_str(text).map_err(|why| without_place(&why))
    }

    pub(crate) fn raw_field(&self, key: &str) -> Option<&'t RawValue> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, raw)| *raw)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'t RawValue)> {
        self.0.iter().map(|(key, raw)| (key.as_str(), *raw))
    }

    /// The fields in order, each with its key.
    pub(crate) fn into_iter(self) -> impl Iterator<Item = (String, &'t RawValue)> {
        self.0.into_iter()
    }

    /// Returns a string, or `None` if the key is absent or null.
    pub(super) fn string(&self, key: &str) -> Result<Option<String>, String> {
        let Some(raw) = self.raw_field(key) else { return Ok(None) };
        serde_json::from_str(raw.get())
            .map_err(|_| format!("`{key}` must be a valid JSON string, found {}", kind_of(raw.get())))
    }

    /// Returns a boolean, or `None` if the key is absent or null.
    pub(super) fn boolean(&self, key: &str) -> Result<Option<bool>, String> {
        let Some(raw) = self.raw_field(key) else { return Ok(None) };
        serde_json::from_str(raw.get())
            .map_err(|_| format!("`{key}` must be true or false, not {}", kind_of(raw.get())))
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields: Vec<(String, &'de RawValue)> = Vec::new();
                let mut seen = std::collections::BTreeSet::new();
                while let Some((key, raw)) = map.next_entry::<String, &'de RawValue>()? {
                    if !seen.insert(key.clone()) {
                        return Err(serde::de::Error::custom(format_args!("the key `{key}` is there twice")));
                    }
                    fields.push((key, raw));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// An element of a tool list.
pub(super) struct Element<'t> {
    /// Its key, if the list is an object.
    pub(super) name: Option<String>,
    pub(super) raw: &'t RawValue,
}

/// The tool list of a document.
pub(super) struct Elements<'t> {
    /// The JSON Pointer of the list.
    pub(super) base: String,
    pub(super) list: Vec<Element<'t>>,
    /// Whether the document is one page of several.
    pub(super) is_page: bool,
}

/// Returns the tool list of a document.
pub(super) fn list_elements<'t>(text: &'t str, file: &str) -> Result<Elements<'t>, Diagnostic> {
    let syntax = |why: &serde_json::Error| {
        let place = Place::file(file).line_column(why.line(), why.column().max(1));
        let help = if why.is_eof() { "the text ends too early: was it cut off?" } else { "the input must be JSON" };
        Diagnostic::error("bad-json", place, without_place(why)).help(help)
    };
    let mut raw: &RawValue = serde_json::from_str(text).map_err(|why| syntax(&why))?;
    let (mut base, mut is_page) = (String::new(), false);
    loop {
        if raw.get().starts_with('[') {
            let list: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|why| syntax(&why))?;
            let list = list.into_iter().map(|raw| Element { name: None, raw }).collect();
            return Ok(Elements { base, list, is_page });
        }
        let none = |message: String| {
            Err(Diagnostic::error("no-tools", Place::file(file).path(base.clone()), message).help(SHAPES))
        };
        if !raw.get().starts_with('{') {
            return none(format!("a tool list must be an array, not {}", kind_of(raw.get())));
        }
        let fields: Fields<'t> = serde_json::from_str(raw.get()).map_err(|why| syntax(&why))?;
        if fields.0.iter().all(|(_, tool)| Shape::is_named_tool(tool.get())) && !fields.0.is_empty() {
            let list = fields.into_iter().map(|(name, raw)| Element { name: Some(name), raw }).collect();
            return Ok(Elements { base, list, is_page });
        }
        is_page |= fields.raw_field("nextCursor").is_some_and(|cursor| cursor.get() != "null");
        let keys = ["tools", "functions", "toolConfig", "result", "error"];
        match keys.into_iter().find_map(|key| Some((key, fields.raw_field(key)?))) {
            Some(("error", error)) => {
                let message: String = error.get().chars().take(300).collect();
                return none(format!("this is a JSON-RPC error, not a tool list: {message}"));
            }
            Some((key, next)) if base.len() < "/result/tools".len() => {
                base = format!("{base}/{key}");
                raw = next;
            }
            _ => return none(format!("no tool list in this object{}", keys_of(&fields))),
        }
    }
}

/// The first keys of an object, as the end of a message.
fn keys_of(fields: &Fields<'_>) -> String {
    const MAX_KEYS: usize = 6;
    const MAX_CHARS: usize = 40;
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in fields.iter().take(MAX_KEYS) {
        keys.push(format!("`{}`", key.chars().take(MAX_CHARS).collect::<String>()));
    }
    match (keys.is_empty(), fields.0.len() > MAX_KEYS) {
        (true, _) => ", which is empty".to_owned(),
        (false, true) => format!(", which has the keys {} and more", keys.join(", ")),
        (false, false) => format!(", which has the keys {}", keys.join(", ")),
    }
}

const SHAPES: &str = "give an array of tools, an object with \"tools\" or \"toolConfig\", a JSON-RPC response to tools/list, \
    or the object of tools of AI SDK";

/// The message of a JSON error without its line and column, which are relative to the parsed part.
pub(super) fn without_place(why: &serde_json::Error) -> String {
    let text = why.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// The kind of the JSON value that a text starts with.
fn kind_of(text: &str) -> &'static str {
    match text.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
