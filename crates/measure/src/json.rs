//! Members of a JSON object by their type.

use serde_json::{Map, Value};

pub(crate) fn string_member<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

pub(crate) fn object_member<'v>(value: &'v Value, key: &str) -> Option<&'v Map<String, Value>> {
    value.get(key)?.as_object()
}

/// The elements of a member; none if it is not a list.
pub(crate) fn list_member<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    match value.get(key) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}
