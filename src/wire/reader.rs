//! Reads provider messages without trusting them: every error has a place.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Arguments, Wire, WireError};
use crate::schema;
use crate::schema::text_member;

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct At<'v> {
    pub(super) wire: Wire,
    pub(super) value: &'v Value,
    /// The text from which the whole was parsed, if there is one.
    text: Option<&'v str>,
    path: String,
}

impl<'v> At<'v> {
    pub(super) fn top(wire: Wire, value: &'v Value, text: Option<&'v str>) -> Self {
        Self { wire, value, text, path: String::new() }
    }

    /// Its JSON Pointer in the whole, without escapes.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The member of that name, unless it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Self { wire: self.wire, value, text: self.text, path: format!("{}/{key}", self.path) })
    }

    /// The member of that name.
    pub(super) fn need(&self, key: &'static str, expected: &'static str) -> Result<Self, WireError> {
        let path = format!("{}/{key}", self.path);
        let found = if self.value.is_object() { "absent" } else { schema::kind(self.value) };
        self.get(key).ok_or(WireError::Shape { wire: self.wire, path, expected, found })
    }

    /// Whether the member of that name equals this text.
    pub(super) fn is(&self, key: &str, text: &str) -> bool {
        text_member(self.value, key) == Some(text)
    }

    pub(super) fn text(&self) -> Result<&'v str, WireError> {
        self.value.as_str().ok_or_else(|| self.not("a string"))
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> Result<Vec<Self>, WireError> {
        let list = self.value.as_array().ok_or_else(|| self.not("an array"))?;
        let element =
            |(at, value)| Self { wire: self.wire, value, text: self.text, path: format!("{}/{at}", self.path) };
        Ok(list.iter().enumerate().map(element).collect())
    }

    /// The value itself, if it is an object.
    pub(super) fn object(self) -> Result<Self, WireError> {
        if self.value.is_object() { Ok(self) } else { Err(self.not("an object")) }
    }

    pub(super) fn not(&self, expected: &'static str) -> WireError {
        let found = schema::kind(self.value);
        WireError::Shape { wire: self.wire, path: self.path.clone(), expected, found }
    }

    /// The value as the arguments of a call: as written, if the whole was text.
    pub(super) fn arguments(&self) -> Arguments {
        match self.text.and_then(|text| raw(text, &self.path)) {
            Some(raw) => Arguments::from(raw),
            None => Arguments::from(self.value),
        }
    }
}

/// The part of a JSON text at a JSON Pointer without escapes: known keys and indices.
pub(super) fn raw<'t>(text: &'t str, path: &str) -> Option<&'t RawValue> {
    let mut part: &'t RawValue = serde_json::from_str(text).ok()?;
    for step in path.split('/').skip(1) {
        part = if part.get().starts_with('[') {
            let items: Vec<&'t RawValue> = serde_json::from_str(part.get()).ok()?;
            items.get(step.parse::<usize>().ok()?).copied()?
        } else {
            let members: IndexMap<String, &'t RawValue> = serde_json::from_str(part.get()).ok()?;
            members.get(step).copied()?
        };
    }
    Some(part)
}
