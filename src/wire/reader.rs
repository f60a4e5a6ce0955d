//! Reading what a provider sent, without trusting it: every error names its place.

use serde_json::Value;

use super::{Wire, WireError};
use crate::schema;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct At<'v> {
    pub(super) wire: Wire,
    pub(super) value: &'v Value,
    path: String,
}

impl<'v> At<'v> {
    pub(super) fn top(wire: Wire, value: &'v Value) -> Self {
        Self { wire, value, path: String::new() }
    }

    /// The member of that name, unless it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Self { wire: self.wire, value, path: format!("{}/{key}", self.path) })
    }

    /// The member of that name.
    pub(super) fn need(&self, key: &'static str, expected: &'static str) -> Result<Self, WireError> {
        let path = format!("{}/{key}", self.path);
        let found = if self.value.is_object() { "absent" } else { schema::kind(self.value) };
        self.get(key).ok_or(WireError::Shape { wire: self.wire, path, expected, found })
    }

    /// Whether the member of that name is this text.
    pub(super) fn is(&self, key: &str, text: &str) -> bool {
        self.value.get(key).and_then(Value::as_str) == Some(text)
    }

    pub(super) fn text(&self) -> Result<&'v str, WireError> {
        self.value.as_str().ok_or_else(|| self.not("a string"))
    }

    /// The elements of an array.
    pub(super) fn list(&self) -> Result<Vec<Self>, WireError> {
        let list = self.value.as_array().ok_or_else(|| self.not("an array"))?;
        let element = |(at, value)| Self { wire: self.wire, value, path: format!("{}/{at}", self.path) };
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
}
