//! The members of an object by the form of their values.

use serde_json::{Map, Value};

/// An object, or a value that may be one: any other value has no members.
pub(crate) trait Holder {
    /// The value of a member.
    fn member(&self, key: &str) -> Option<&Value>;
}

impl Holder for Map<String, Value> {
    fn member(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}

impl Holder for Value {
    fn member(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}

/// A member that is text.
pub(crate) fn text_member<'v>(holder: &'v impl Holder, key: &str) -> Option<&'v str> {
    holder.member(key)?.as_str()
}

/// The elements of a member; none if it is not a list.
pub(crate) fn list_member<'v>(holder: &'v impl Holder, key: &str) -> &'v [Value] {
    match holder.member(key) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

/// A member that is an object.
pub(crate) fn object_member<'v>(holder: &'v impl Holder, key: &str) -> Option<&'v Map<String, Value>> {
    holder.member(key)?.as_object()
}

/// The elements of a member that are text; none if it is not a list.
pub(crate) fn text_members<'v>(holder: &'v impl Holder, key: &str) -> impl Iterator<Item = &'v str> {
    list_member(holder, key).iter().filter_map(Value::as_str)
}
