//! The types that a schema accepts.

use serde_json::Value;

use super::keyword::TYPES;
use super::list_member;
use super::reference::{Target, reference, resolve};

/// The maximum depth to which alternatives and references are followed.
const MAX_DEPTH: usize = 16;

/// A set of the seven types of JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// The types that `node` can accept: a value of any other type is invalid. `None` if the schema
    /// does not restrict types. `root` is the document that references start at.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolfold::schema::Types;
    ///
    /// let node = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    /// let types = Types::of(&node, &node).unwrap();
    /// assert!(types.has("null") && !types.has("string"));
    /// assert_eq!(types.iter().collect::<Vec<_>>(), ["integer", "null"]);
    /// assert_eq!(Types::of(&json!({}), &json!({"minimum": 1})), None);
    /// ```
    #[must_use]
    pub fn of(root: &Value, node: &Value) -> Option<Self> {
        types(root, node, MAX_DEPTH)
    }

    /// Whether the set contains a type.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        one(name).is_some_and(|own| self.0 & own.0 != 0)
    }

    /// The names of the types, in the order `string`, `number`, `integer`,
    /// `boolean`, `null`, `array`, `object`.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        TYPES.into_iter().filter(move |name| self.has(name))
    }
}

fn one(name: &str) -> Option<Types> {
    let at = TYPES.iter().position(|own| *own == name)?;
    Some(Types(1 << at))
}

fn union(each: impl Iterator<Item = Option<Types>>) -> Option<Types> {
    let mut all = Types::default();
    for own in each {
        all.0 |= own?.0;
    }
    Some(all)
}

fn types(root: &Value, node: &Value, depth: usize) -> Option<Types> {
    let map = node.as_object()?;
    let depth = depth.checked_sub(1)?;
    match map.get("type") {
        Some(Value::String(name)) => return one(name),
        Some(Value::Array(names)) => return union(names.iter().map(|name| one(name.as_str()?))),
        _ => {}
    }
    if let Some(Value::Array(values)) = map.get("enum") {
        return union(values.iter().map(|value| one(type_of(value))));
    }
    if let Some(value) = map.get("const") {
        return one(type_of(value));
    }
    if let Some(reference) = reference(node) {
        let Target::Found(target) = resolve(root, reference) else { return None };
        return types(root, target, depth);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = map.get(key) {
            return union(branches.iter().map(|branch| types(root, branch, depth)));
        }
    }
    // All members must hold, so one that restricts the types is enough.
    list_member(map, "allOf").iter().find_map(|part| types(root, part, depth))
}

/// The type of a listed value. Numbers are not distinguished, because `1.0` is an integer too.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
