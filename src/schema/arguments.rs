//! The schema of a tool's arguments: its top level, and the type of a schema.

use serde_json::{Map, Value};

use super::keyword::{TYPES, is_annotation};
use super::reference::{MAX_CHAIN, Target, reference, resolve};
use super::types::type_of;

/// The object that a schema refers to after following the bare references at its top, which are
/// references without `properties` beside them. A cycle or a reference without a target ends the
/// chain there.
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

/// The properties that the top level of the arguments object declares; `None` if there are none.
#[must_use]
pub fn properties(root: &Value) -> Option<&Map<String, Value>> {
    top(root).get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
}

/// The names that the top level of the arguments object requires.
pub fn required(root: &Value) -> impl Iterator<Item = &str> {
    top(root).get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a schema excludes all arguments: it has no properties, and no keyword that could add
/// some.
#[must_use]
pub(crate) fn takes_no_parameters(root: &Value) -> bool {
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

/// The single type of a schema other than `null`, taken from `type` or else implied by its values
/// or keywords. `None` if there are several, or if nothing implies one.
#[must_use]
pub(crate) fn single_type(map: &Map<String, Value>) -> Option<&'static str> {
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
