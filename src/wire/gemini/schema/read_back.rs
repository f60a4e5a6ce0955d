//! Records which arguments were requested as text, and parses them.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;

/// Kinds of JSON values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const OBJECT: Self = Self(1);
    pub(super) const ARRAY: Self = Self(2);
    pub(super) const STRING: Self = Self(4);
    /// Numbers, booleans and null.
    pub(super) const OTHER: Self = Self(8);
    pub(super) const ALL: Self = Self(15);

    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Object(_) => Self::OBJECT,
            Value::Array(_) => Self::ARRAY,
            Value::String(_) => Self::STRING,
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::OTHER,
        }
    }

    pub(super) fn of_type(kind: &str) -> Self {
        match kind {
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "string" => Self::STRING,
            _ => Self::OTHER,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }
}

/// A step from a value to one of its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Property(String),
    Item,
}

/// The record for one place of the arguments and the places below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReadBack {
    /// The kinds of values that are requested as JSON text.
    pub(super) text: Kinds,
    /// The kinds that a plain string could be parsed as.
    pub(super) string: Kinds,
    pub(super) properties: IndexMap<String, ReadBack>,
    pub(super) items: Option<Box<ReadBack>>,
}

impl ReadBack {
    /// A place where values are requested as text.
    pub(super) fn requested_as_text(kinds: Kinds) -> Self {
        Self { text: kinds, ..Self::default() }
    }

    /// A place where any string may occur.
    pub(super) fn any_string() -> Self {
        Self { string: Kinds::ALL, ..Self::default() }
    }

    /// A place where one of these strings may occur.
    pub(super) fn strings<'v>(texts: impl Iterator<Item = &'v str>) -> Self {
        let read = texts.map(|text| json(text).as_ref().map_or(Kinds::NONE, Kinds::of_value));
        Self { string: read.fold(Kinds::NONE, Kinds::and), ..Self::default() }
    }

    /// Adds the record of an alternative schema.
    pub(super) fn or(&mut self, other: Self) {
        self.text = self.text.and(other.text);
        self.string = self.string.and(other.string);
        for (name, below) in other.properties {
            self.properties.entry(name).or_default().or(below);
        }
        match (&mut self.items, other.items) {
            (Some(own), Some(below)) => own.or(*below),
            (own @ None, below) => *own = below,
            (Some(_), None) => {}
        }
    }

    /// The places where a string could be both a plain value and JSON text.
    pub(super) fn ambiguous(&self) -> BTreeSet<Vec<Step>> {
        let mut found = BTreeSet::new();
        self.gather_ambiguous(&mut Vec::new(), &mut found);
        found
    }

    fn gather_ambiguous(&self, at: &mut Vec<Step>, found: &mut BTreeSet<Vec<Step>>) {
        if !self.text.both(self.string).is_empty() {
            found.insert(at.clone());
        }
        for (name, below) in &self.properties {
            at.push(Step::Property(name.clone()));
            below.gather_ambiguous(at, found);
            at.pop();
        }
        if let Some(below) = &self.items {
            at.push(Step::Item);
            below.gather_ambiguous(at, found);
            at.pop();
        }
    }

    /// The arguments with everything requested as text parsed. A string that does not match the
    /// request is unchanged; validation reports what is wrong with it.
    pub(super) fn restored(&self, value: Value) -> Value {
        match value {
            Value::String(text) if !self.text.is_empty() => match json(&text) {
                Some(read) if !self.text.both(Kinds::of_value(&read)).is_empty() => read,
                _ => Value::String(text),
            },
            Value::Object(map) if !self.properties.is_empty() => {
                let each = map.into_iter().map(|(name, value)| match self.properties.get(&name) {
                    Some(below) => {
                        let value = below.restored(value);
                        (name, value)
                    }
                    None => (name, value),
                });
                Value::Object(each.collect())
            }
            Value::Array(list) => match &self.items {
                Some(below) => Value::Array(list.into_iter().map(|value| below.restored(value)).collect()),
                None => Value::Array(list),
            },
            other => other,
        }
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
