//! Valid schema constructs that provider APIs reject, detected once when a tool is created.

use serde_json::Value;

use crate::schema;
use crate::schema::text_member;

/// Constructs in a schema that some API rejects. Wires repair them when they write it, see
/// `docs/wires.md`.
///
/// Folding adds none of them, except where it reduces an array to its bare type. A wire therefore
/// skips the check for a tool without faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// The top level has no `type`, or a `type` other than `"object"`.
    pub(crate) not_an_object: bool,
    /// The top level has no `properties`.
    pub(crate) no_properties: bool,
    /// Some array has no `items`.
    pub(crate) no_items: bool,
    /// The top level has `oneOf`, `anyOf`, `allOf`, `enum` or `not`.
    pub(crate) alternatives: bool,
}

/// Keywords that OpenAI rejects at the top level of a schema. Source: its error text, "schema must
/// have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
pub(crate) const ALTERNATIVES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

impl Faults {
    pub(super) fn of_schema(root: &Value) -> Self {
        let mut no_items = false;
        schema::walk(root, &mut |node| no_items |= is_array(node.get("type")) && node.get("items").is_none());
        Self {
            not_an_object: text_member(root, "type") != Some("object"),
            no_properties: root.get("properties").is_none(),
            no_items,
            alternatives: ALTERNATIVES.iter().any(|key| root.get(*key).is_some()),
        }
    }
}

/// Whether the value of `type` allows an array.
pub(crate) fn is_array(kind: Option<&Value>) -> bool {
    match kind {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        _ => false,
    }
}
