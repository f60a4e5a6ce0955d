//! The schemas that a value must match besides the one at its place.

use serde_json::{Map, Value};

use super::{Target, Types, list_member, reference, resolve, text_members};

/// The maximum number of schemas of one place.
const MAX_LAYERS: usize = 32;

/// The schema objects that a value of a type must match: the node, the target of its reference, all
/// of its `allOf`, and the one alternative that accepts this type. With several such alternatives
/// the interpretation is ambiguous, so none is used.
pub(crate) fn layers<'s>(root: &'s Value, node: &'s Value, name: &str) -> Vec<&'s Map<String, Value>> {
    let mut layers: Vec<&'s Map<String, Value>> = Vec::new();
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let Some(map) = node.as_object() else { continue };
        if layers.len() >= MAX_LAYERS || layers.iter().any(|known| std::ptr::eq(*known, map)) {
            continue;
        }
        layers.push(map);
        if let Some(reference) = reference(node)
            && let Target::Found(target) = resolve(root, reference)
        {
            waiting.push(target);
        }
        waiting.extend(list_member(map, "allOf"));
        for key in ["anyOf", "oneOf"] {
            let branches = list_member(map, key).iter();
            let mut fitting = branches.filter(|branch| Types::of(root, branch).is_none_or(|types| types.has(name)));
            if let (Some(one), None) = (fitting.next(), fitting.next()) {
                waiting.push(one);
            }
        }
    }
    layers
}

/// Whether `null` for a property counts as no value: the property is not required, and its schema
/// does not accept `null`. `layers` are those of the object.
pub(crate) fn drops_null(root: &Value, layers: &[&Map<String, Value>], name: &str, schema: &Value) -> bool {
    let takes_null = Types::of(root, schema).is_none_or(|types| types.has("null"));
    !takes_null && !layers.iter().any(|layer| text_members(*layer, "required").any(|own| own == name))
}
