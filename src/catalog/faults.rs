//! What APIs refuse in a schema although it is valid, found once when a tool is made.

use serde_json::Value;

use crate::schema;

/// What some API refuses in a schema. Wires repair it on the way out, see `docs/wires.md`.
///
/// Folding adds none of them except where it cuts an array to its bare type, so that a wire which finds none here need
/// not look again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// The top has no `type`, or another than `"object"`.
    pub(crate) not_an_object: bool,
    /// The top has no `properties`.
    pub(crate) no_properties: bool,
    /// An array somewhere has no `items`.
    pub(crate) no_items: bool,
    /// `oneOf`, `anyOf`, `allOf`, `enum` or `not` stands at the top.
    pub(crate) alternatives: bool,
}

/// What OpenAI refuses at the top of a schema. Source: its error text, "schema must have type 'object' and not have
/// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
pub(crate) const ALTERNATIVES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

impl Faults {
    pub(super) fn of(root: &Value) -> Self {
        let mut no_items = false;
        schema::walk(root, &mut |node| no_items |= is_array(node.get("type")) && node.get("items").is_none());
        Self {
            not_an_object: root.get("type").and_then(Value::as_str) != Some("object"),
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
