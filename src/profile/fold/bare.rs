//! The bare type of a parameter: what kind of value it takes, and nothing of what is in it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::schema::{self, TYPES, Target};

/// How deep alternatives and references are looked into.
const MAX_DEPTH: usize = 16;

/// A schema that says only the types of what `node` takes. Whatever `node` takes, it takes.
pub(super) fn bare_text(root: &Value, node: &Value) -> String {
    // A parameter that takes no value at all says so.
    if node.as_bool() == Some(false) {
        return "false".to_owned();
    }
    let types = types(root, node, MAX_DEPTH).unwrap_or_default();
    let named: Vec<String> = types.iter().filter_map(|at| TYPES.get(*at)).map(|name| format!("\"{name}\"")).collect();
    let items = if types.iter().any(|at| TYPES.get(*at) == Some(&"array")) { r#","items":{}"# } else { "" };
    match named.as_slice() {
        [] => "{}".to_owned(),
        [one] => format!("{{\"type\":{one}{items}}}"),
        several => format!("{{\"type\":[{}]{items}}}", several.join(",")),
    }
}

/// The types that a schema takes, as places in [`TYPES`]; `None` if that is not said.
fn types(root: &Value, node: &Value, depth: usize) -> Option<BTreeSet<usize>> {
    let map = node.as_object()?;
    let depth = depth.checked_sub(1)?;
    let place = |name: &str| TYPES.iter().position(|own| *own == name);
    match map.get("type") {
        Some(Value::String(name)) => return Some(BTreeSet::from([place(name)?])),
        Some(Value::Array(names)) => return names.iter().map(|name| place(name.as_str()?)).collect(),
        _ => {}
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| place(kind(value))).collect();
    }
    if let Some(value) = map.get("const") {
        return Some(BTreeSet::from([place(kind(value))?]));
    }
    if let Some(reference) = schema::reference(node) {
        let Target::Found(target) = schema::resolve(root, reference) else { return None };
        return types(root, target, depth);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = map.get(key).and_then(Value::as_array) {
            let mut all = BTreeSet::new();
            for branch in branches {
                all.extend(types(root, branch, depth)?);
            }
            return Some(all);
        }
    }
    // Every one of them must hold, so that any one says enough.
    let all = map.get("allOf").and_then(Value::as_array)?;
    all.iter().find_map(|part| types(root, part, depth))
}

/// The type under which a value is listed. Numbers are not told apart: `1.0` is an integer too.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(node: &Value, expected: &str) {
        let root =
            json!({"$defs": {"D": {"type": "object", "properties": {"a": {}}}, "Loop": {"$ref": "#/$defs/Loop"}}});
        assert_eq!(bare_text(&root, node), expected, "{node}");
    }

    #[test]
    fn a_type_is_all_that_is_left() {
        check(&json!({"type": "string", "enum": ["a"], "minLength": 3}), r#"{"type":"string"}"#);
        check(&json!({"type": ["string", "null"], "pattern": "x"}), r#"{"type":["string","null"]}"#);
        check(&json!({"type": "array", "items": {"type": "string"}}), r#"{"type":"array","items":{}}"#);
        check(&json!({"enum": ["a", 1, null]}), r#"{"type":["string","number","null"]}"#);
        check(&json!({"const": true}), r#"{"type":"boolean"}"#);
        check(&json!({"$ref": "#/$defs/D"}), r#"{"type":"object"}"#);
        check(&json!({"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}), r#"{"type":["null","object"]}"#);
        check(&json!({"allOf": [{"minLength": 1}, {"type": "string"}]}), r#"{"type":"string"}"#);
        check(&json!(false), "false");
    }

    #[test]
    fn what_does_not_say_a_type_stays_open() {
        for open in [
            json!({}),
            json!(true),
            json!({"minimum": 1}),
            json!({"type": "text"}),
            json!({"$ref": "#/$defs/Loop"}),
            json!({"$ref": "other.json"}),
            json!({"anyOf": [{"type": "string"}, {}]}),
            json!({"not": {"type": "string"}}),
        ] {
            check(&open, "{}");
        }
    }
}
