//! A JSON object whose members are replaced one by one; others keep their text.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rpc::{Raw, raw};

/// The members of an object in their order, each with its original text.
#[derive(Debug, Clone, Default)]
pub struct Object(IndexMap<String, Raw>);

impl Object {
    /// Reads an object; `None` if the JSON is not an object. Of duplicate names, the last counts.
    #[must_use]
    pub fn from_json(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok().map(Self)
    }

    /// The parameters as an object; empty if there are none.
    #[must_use]
    pub fn from_params(params: Option<&RawValue>) -> Self {
        params.and_then(Self::from_json).unwrap_or_default()
    }

    /// The original text of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// A member of a type; `None` if it is missing or has another type.
    #[must_use]
    pub fn read_as<'o, T: Deserialize<'o>>(&'o self, name: &str) -> Option<T> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A member that is an object.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::from_json)
    }

    /// Whether the object has a member.
    #[must_use]
    pub fn has_member(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets a member, at its place or at the end.
    pub fn set(&mut self, name: &str, value: Raw) {
        self.0.insert(name.to_owned(), value);
    }

    /// Sets a member to a value.
    pub fn put_value<T: serde::Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.set(name, raw(value));
    }

    /// Removes a member; the others keep their order.
    pub fn remove_member(&mut self, name: &str) -> Option<Raw> {
        self.0.shift_remove(name)
    }

    /// The members with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// Whether the object is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object as JSON.
    #[must_use]
    pub fn to_raw(&self) -> Raw {
        raw(&self.0)
    }
}

/// The elements of a list; empty if the JSON is not a list.
#[must_use]
pub fn elements(list: Option<&RawValue>) -> Vec<Raw> {
    list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
}

/// The length of the string that begins a JSON text, in bytes with quotes; all of it if unclosed.
pub(crate) fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_members_stay_unchanged() {
        let text = r#"{"b":1.50,"a":{"z":1,"y":12345678901234567890123},"name":"n"}"#;
        let mut object = Object::from_json(&RawValue::from_string(text.to_owned()).unwrap()).unwrap();
        assert_eq!(object.to_raw().get(), text);
        object.put_value("name", "m");
        assert_eq!(object.to_raw().get(), text.replace("\"n\"", "\"m\""));
        object.remove_member("b");
        assert_eq!(object.to_raw().get(), r#"{"a":{"z":1,"y":12345678901234567890123},"name":"m"}"#);
        assert_eq!(object.read_as::<String>("name").as_deref(), Some("m"));
    }
}
