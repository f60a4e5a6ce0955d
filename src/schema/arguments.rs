//! The schema of a tool's arguments: its top level, and the type of a schema.

use serde_json::{Map, Value};

use super::keyword::{TYPES, is_annotation};
use super::reference::{MAX_CHAIN, Target, reference, resolve};
use super::types::type_of;
use super::{list_member, object_member, text_members};

/// The object that a schema refers to after following the bare references at its top, which are
/// references without `properties` beside them. A cycle or a reference without a target ends the
/// chain there.
#[must_use]
pub(crate) fn top(root: &Value) -> &Value {
    let mut node = root;
    for _ in 0..MAX_CHAIN {
        if node.get("properties").is_none()
            && let Some(reference) = reference(node)
            && let Target::Found(next) = resolve(root, reference)
        {
            node = next;
        } else {
            break;
        }
    }
    node
}

/// The properties that the top level of the arguments object declares; `None` if there are none.
#[must_use]
pub fn properties(root: &Value) -> Option<&Map<String, Value>> {
    object_member(top(root), "properties").filter(|map| !map.is_empty())
}

/// The names that the top level of the arguments object requires.
pub fn required(root: &Value) -> impl Iterator<Item = &str> {
    text_members(top(root), "required")
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
    match map.get("type") {
        Some(Value::String(name)) if name != "null" => return known_type(name),
        Some(Value::Array(several)) => {
            let mut named = several.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            return match (named.next(), named.next()) {
                (Some(only), None) => known_type(only),
                _ => None,
            };
        }
        _ => {}
    }
    let listed = list_member(map, "enum").iter().find(|value| !value.is_null());
    if let Some(value) = listed.or_else(|| map.get("const")) {
        return known_type(type_of(value));
    }
    let implied = [
        ("object", ["properties", "additionalProperties", "patternProperties", "propertyNames"]),
        ("array", ["items", "prefixItems", "minItems", "maxItems"]),
        ("string", ["pattern", "minLength", "maxLength", "format"]),
        ("number", ["minimum", "maximum", "multipleOf", "exclusiveMinimum"]),
    ];
    for (name, keys) in implied {
        if keys.iter().any(|key| map.contains_key(*key)) {
            return Some(name);
        }
    }
    None
}

fn known_type(name: &str) -> Option<&'static str> {
    TYPES.into_iter().find(|one| *one == name && *one != "null")
}
