//! Which types a schema takes, as far as it says so.

use serde_json::Value;

use super::keyword::TYPES;
use super::reference::{Target, reference, resolve};

/// How deep alternatives and references are looked into.
const MAX_DEPTH: usize = 16;

/// A set of the seven types of JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// The types that `node` takes at most: a value of any other is not valid. `None` if that is not said. `root` is the
    /// document that references start at.
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

    /// Whether a type is among them.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        one(name).is_some_and(|own| self.0 & own.0 != 0)
    }

    /// Their names, in the order of [`TYPES`].
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        TYPES.into_iter().filter(move |name| self.has(name))
    }
}

fn one(name: &str) -> Option<Types> {
    TYPES.iter().position(|own| *own == name).map(|at| Types(1 << at))
}

fn union(mut each: impl Iterator<Item = Option<Types>>) -> Option<Types> {
    each.try_fold(Types::default(), |all, own| Some(Types(all.0 | own?.0)))
}

fn types(root: &Value, node: &Value, depth: usize) -> Option<Types> {
    let map = node.as_object()?;
    let depth = depth.checked_sub(1)?;
    match map.get("type") {
        Some(Value::String(name)) => return one(name),
        Some(Value::Array(names)) => return union(names.iter().map(|name| one(name.as_str()?))),
        _ => {}
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
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
        if let Some(branches) = map.get(key).and_then(Value::as_array) {
            return union(branches.iter().map(|branch| types(root, branch, depth)));
        }
    }
    // Every one of them must hold, so that any one says enough.
    let all = map.get("allOf").and_then(Value::as_array)?;
    all.iter().find_map(|part| types(root, part, depth))
}

/// The type under which a value is listed. Numbers are not told apart: `1.0` is an integer too.
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
