//! Reading objects that were asked for as text.

use serde_json::{Map, Value};

use super::kind;
use super::merge::pointed;

/// The arguments with every text read as JSON that stands where the whole schema takes objects and no text.
///
/// A text that is no JSON object stays: the gate says what is wrong with it.
pub(in crate::wire) fn restore(root: &Value, arguments: Value) -> Value {
    restored(root, root, arguments)
}

/// Goes as deep as the value does, and the value came from JSON text of limited depth.
fn restored(root: &Value, node: &Value, value: Value) -> Value {
    let node = pointed(root, node);
    match value {
        Value::String(text) if text.trim_start().starts_with('{') && wants_object(root, node) => {
            match serde_json::from_str::<Map<String, Value>>(&text) {
                Ok(map) => Value::Object(map),
                Err(_) => Value::String(text),
            }
        }
        Value::Object(map) => {
            let own = node.get("properties");
            let each = map.into_iter().map(|(name, value)| match own.and_then(|own| own.get(&name)) {
                Some(below) => {
                    let value = restored(root, below, value);
                    (name, value)
                }
                None => (name, value),
            });
            Value::Object(each.collect())
        }
        Value::Array(list) => match node.get("items").filter(|items| items.is_object()) {
            Some(below) => Value::Array(list.into_iter().map(|value| restored(root, below, value)).collect()),
            None => Value::Array(list),
        },
        other => other,
    }
}

/// Whether a schema takes objects and no text.
fn wants_object(root: &Value, node: &Value) -> bool {
    let Some(map) = node.as_object() else { return false };
    let choices = ["anyOf", "oneOf"].iter().find_map(|key| map.get(*key).and_then(Value::as_array));
    if let Some(choices) = choices {
        let kinds: Vec<Option<&str>> =
            choices.iter().map(|own| pointed(root, own).as_object().and_then(kind)).collect();
        return kinds.contains(&Some("object")) && !kinds.contains(&Some("string"));
    }
    match map.get("type") {
        Some(Value::Array(types)) => {
            types.iter().any(|own| own == "object") && !types.iter().any(|own| own == "string")
        }
        _ => kind(map) == Some("object"),
    }
}
