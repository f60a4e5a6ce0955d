//! An input that is not an object, as an object with one parameter: every API requires an object.

use serde_json::{Map, Value, json};

use super::arguments::properties;
use super::reference::identifier;
use super::types::Types;
use super::walk::walk_mut;
use super::{MAX_DEPTH, deeper_than};

/// The parameter that holds the input.
pub(crate) const VALUE: &str = "value";

/// The number of levels that wrapping adds to a schema.
const LEVELS: usize = 2;

/// The schema of `{"value": …}` for an input that can be something other than an object. `None` if
/// it is an object: an input that may also be `null` can be given as an object, and one with
/// properties is meant as one, whatever its type.
pub(crate) fn wrapped(root: &Value) -> Option<Value> {
    let types = Types::of(root, root)?;
    let is_object = types.iter().all(|kind| matches!(kind, "object" | "null"));
    if is_object || properties(root).is_some() || deeper_than(root, MAX_DEPTH - LEVELS) {
        return None;
    }
    let mut inner = root.as_object()?.clone();
    let mut outer = Map::new();
    // The dialect belongs to the whole document, and definitions stay where references expect them.
    outer.extend(inner.shift_remove("$schema").map(|dialect| ("$schema".to_owned(), dialect)));
    outer.insert("type".to_owned(), json!("object"));
    outer.insert("properties".to_owned(), Value::Null);
    outer.insert("required".to_owned(), json!([VALUE]));
    outer.insert("additionalProperties".to_owned(), json!(false));
    let has_own_base = identifier(root).is_some();
    if !has_own_base {
        for key in ["$defs", "definitions"] {
            outer.extend(inner.shift_remove(key).map(|held| (key.to_owned(), held)));
        }
    }
    outer.insert("properties".to_owned(), json!({ VALUE: inner }));
    let mut outer = Value::Object(outer);
    if !has_own_base {
        walk_mut(&mut outer, &mut |node| {
            let Some(Value::String(reference)) = node.get_mut("$ref") else { return };
            let is_definition = reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/");
            if (reference == "#" || reference.starts_with("#/")) && !is_definition {
                *reference = reference.replacen('#', "#/properties/value", 1);
            }
        });
    }
    Some(outer)
}
