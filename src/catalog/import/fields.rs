//! The raw fields of a JSON object, and the tool list inside a document.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

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

/// Returns the elements of a document's tool list and the list's JSON Pointer.
pub(super) fn list_elements<'t>(text: &'t str, file: &str) -> Result<(String, Vec<&'t RawValue>), Diagnostic> {
    let syntax = |why: &serde_json::Error| {
        let place = Place::file(file).line_column(why.line(), why.column().max(1));
        let help = if why.is_eof() { "the text ends too early: was it cut off?" } else { "the input must be JSON" };
        Diagnostic::error("bad-json", place, without_place(why)).help(help)
    };
    let mut raw: &RawValue = serde_json::from_str(text).map_err(|why| syntax(&why))?;
    let mut base = String::new();
    loop {
        if raw.get().starts_with('[') {
            return Ok((base, serde_json::from_str(raw.get()).map_err(|why| syntax(&why))?));
        }
        let place = Place::file(file).path(base.clone());
        if !raw.get().starts_with('{') {
            let message = format!("a tool list must be an array, not {}", kind_of(raw.get()));
            return Err(Diagnostic::error("no-tools", place, message).help(SHAPES));
        }
        let fields: Fields<'t> = serde_json::from_str(raw.get()).map_err(|why| syntax(&why))?;
        let inner =
            ["tools", "functions", "result", "error"].into_iter().find_map(|key| Some((key, fields.raw_field(key)?)));
        match inner {
            Some(("error", error)) => {
                let message: String = error.get().chars().take(300).collect();
                let message = format!("this is a JSON-RPC error, not a tool list: {message}");
                return Err(Diagnostic::error("no-tools", place, message).help(SHAPES));
            }
            Some((key, next)) if base.len() < "/result/tools".len() => {
                base = format!("{base}/{key}");
                raw = next;
            }
            _ => {
                let message = "no tool list in this object".to_owned();
                return Err(Diagnostic::error("no-tools", place, message).help(SHAPES));
            }
        }
    }
}

const SHAPES: &str = "give an array of tools, an object with \"tools\", or a JSON-RPC response to tools/list";

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
