//! The schema of a tool's arguments: what its top level says, and which type a schema has.

use serde_json::{Map, Value};

use super::keyword::{TYPES, is_annotation};
use super::reference::{MAX_CHAIN, Target, reference, resolve};
use super::types::type_of;

/// The object a schema stands for once a chain of bare references at its top is followed: references beside which no
/// `properties` stand. A cycle or a reference that leads nowhere ends the chain where it is.
#[must_use]
pub fn top(root: &Value) -> &Value {
    let mut node = root;
    for _ in 0..MAX_CHAIN {
        let bare = node.get("properties").is_none();
        match reference(node).filter(|_| bare).map(|reference| resolve(root, reference)) {
            Some(Target::Found(next)) => node = next,
            _ => break,
        }
    }
    node
}

/// The properties of the arguments object, as far as its top level says; `None` if there are none.
#[must_use]
pub fn properties(root: &Value) -> Option<&Map<String, Value>> {
    top(root).get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
}

/// The names that the arguments object requires at its top level.
pub fn required(root: &Value) -> impl Iterator<Item = &str> {
    top(root).get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a schema says that there are no arguments: no parameters, and nothing that would bring some in.
#[must_use]
pub fn takes_no_parameters(root: &Value) -> bool {
    let Some(map) = top(root).as_object() else { return false };
    map.iter().all(|(key, value)| match key.as_str() {
        "properties" | "required" => {
            value.as_object().is_none_or(Map::is_empty) && value.as_array().is_none_or(Vec::is_empty)
        }
        "type" => true,
        "additionalProperties" => value == &Value::Bool(false) || value == &Value::Bool(true),
        other => is_annotation(other),
    })
}

/// The one type of a schema other than `null`: what `type` says, else what its values or its keywords imply. `None` if it has
/// several, or nothing implies one.
#[must_use]
pub fn single_type(map: &Map<String, Value>) -> Option<&'static str> {
    let known = |name: &str| TYPES.into_iter().find(|one| *one == name && *one != "null");
    match map.get("type") {
        Some(Value::String(name)) if name != "null" => return known(name),
        Some(Value::Array(several)) => {
            let mut named = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let one = named.next().and_then(known);
            return one.filter(|_| named.next().is_none());
        }
        _ => {}
    }
    let listed = map.get("enum").and_then(Value::as_array).and_then(|all| all.iter().find(|value| !value.is_null()));
    if let Some(value) = listed.or_else(|| map.get("const")) {
        return known(type_of(value));
    }
    let implied = [
        ("object", ["properties", "additionalProperties", "patternProperties", "propertyNames"]),
        ("array", ["items", "prefixItems", "minItems", "maxItems"]),
        ("string", ["pattern", "minLength", "maxLength", "format"]),
        ("number", ["minimum", "maximum", "multipleOf", "exclusiveMinimum"]),
    ];
    implied.into_iter().find(|(_, keys)| keys.iter().any(|key| map.contains_key(*key))).map(|(name, _)| name)
}
