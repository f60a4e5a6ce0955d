//! The members of a schema object by the form of their values.

use serde_json::{Map, Value};

/// A member that is text.
pub(crate) fn text_member<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    map.get(key)?.as_str()
}

/// The elements of a member; none if it is not a list.
pub(crate) fn list_member<'v>(map: &'v Map<String, Value>, key: &str) -> &'v [Value] {
    match map.get(key) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

/// A member that is an object.
pub(crate) fn object_member<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Map<String, Value>> {
    map.get(key)?.as_object()
}
