//! The bare type of a parameter: the kind of its value without further structure.

use serde_json::Value;

use crate::schema::Types;

/// A schema with only the types of `node`. It accepts everything that `node` accepts.
pub(super) fn bare_text(root: &Value, node: &Value) -> String {
    // A parameter that accepts no value keeps that.
    if node.as_bool() == Some(false) {
        return "false".to_owned();
    }
    let types = Types::of(root, node).unwrap_or_default();
    let named: Vec<String> = types.iter().map(|name| format!("\"{name}\"")).collect();
    let items = if types.has("array") { r#","items":{}"# } else { "" };
    match named.as_slice() {
        [] => "{}".to_owned(),
        [one] => format!("{{\"type\":{one}{items}}}"),
        several => format!("{{\"type\":[{}]{items}}}", several.join(",")),
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
