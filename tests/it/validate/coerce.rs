//! What has one meaning is put right before it is judged; what has two or none stays as it is
//! written.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::Engine;
use toolfold::wire::Arguments;

use crate::talk::Talk;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"},
            "s": {"type": "string"}, "m": {"type": ["string", "null"]}, "either": {"type": ["string", "integer"]},
            "list": {"type": "array", "items": {"type": "integer"}},
            "box": {"$ref": "#/$defs/Box"}, "maybe": {"anyOf": [{"$ref": "#/$defs/Box"}, {"type": "null"}]},
            "two": {"anyOf": [{"$ref": "#/$defs/Box"}, {"type": "object", "properties": {"w": {"type": "string"}}}]},
            "open": {}
        },
        "required": ["s"],
        "$defs": {"Box": {"type": "object", "properties": {"w": {"type": "integer"}, "h": {"type": "integer"}}, "required": ["w"]}}
    })
}

/// What a call with these arguments is handed to the host as, and what is said to have been put
/// right. `None` if the call is not forwarded.
fn forwarded(schema: &Value, text: &str) -> Option<(String, Vec<String>)> {
    let tools = json!([{"name": "put", "description": "Put.", "inputSchema": schema}]).to_string();
    let engine = Engine::builder(Catalog::from_mcp(&tools).unwrap()).build().unwrap();
    match engine.talk().call("c1", "put", Arguments::from_text(text)).unwrap() {
        Outcome::Forward(forward) => Some((forward.arguments_json, forward.context.coerced)),
        _ => None,
    }
}

/// The text of an object with the required member before its own.
fn with_required(text: &str) -> String {
    match text.strip_prefix('{') {
        Some(rest) if !text.contains("\"s\":") && rest != "}" => format!("{{\"s\":\"a\",{rest}"),
        _ => text.to_owned(),
    }
}

#[track_caller]
fn check(text: &str, expected: Option<&str>) {
    let text = with_required(text);
    match (forwarded(&schema(), &text), expected) {
        (Some((arguments, notes)), Some(expected)) => {
            assert_eq!(arguments, with_required(expected), "{text}");
            assert!(!notes.is_empty(), "{text}");
        }
        (Some((arguments, notes)), None) => {
            assert_eq!(arguments, text);
            assert_eq!(notes, [""; 0], "{text}");
        }
        (None, expected) => assert_eq!(expected, None, "{text}"),
    }
}

#[test]
fn what_has_one_meaning_is_put_right() {
    check(r#"{"s":"a","n":null}"#, Some(r#"{"s":"a"}"#));
    check(r#"{"n":"5"}"#, Some(r#"{"n":5}"#));
    check(r#"{"n":"-12345678901234567890123"}"#, Some(r#"{"n":-12345678901234567890123}"#));
    check(r#"{"x":"1.50"}"#, Some(r#"{"x":1.50}"#));
    check(r#"{"b":"true"}"#, Some(r#"{"b":true}"#));
    check(r#"{"list":"[1, 2]"}"#, Some(r#"{"list":[1, 2]}"#));
    check(r#"{"list":["1",2]}"#, Some(r#"{"list":[1,2]}"#));
    check(r#"{"list":"[\"1\"]"}"#, Some(r#"{"list":[1]}"#));
    check(r#"{"box":"{\"w\":\"3\",\"h\":null}"}"#, Some(r#"{"box":{"w":3}}"#));
    check(r#"{"maybe":{"w":"3"}}"#, Some(r#"{"maybe":{"w":3}}"#));
    check(
        r#"{"s":"a","open":12345678901234567890123,"n":"1"}"#,
        Some(r#"{"s":"a","open":12345678901234567890123,"n":1}"#),
    );
}

#[test]
fn what_has_two_meanings_or_none_is_not_touched() {
    for text in [
        r#"{"s":"5"}"#,
        r#"{"either":"5"}"#,
        r#"{"m":null}"#,
        r#"{"s":null}"#,
        r#"{"open":null}"#,
        r#"{"unknown":null}"#,
        r#"{"n":"05"}"#,
        r#"{"n":"5.0"}"#,
        r#"{"n":"five"}"#,
        r#"{"n":""}"#,
        r#"{"b":"yes"}"#,
        r#"{"n":"[1]"}"#,
        r#"{"list":"[1"}"#,
        r#"{"list":"1,2"}"#,
        r#"{"list":[null]}"#,
        r#"{"two":{"w":"3"}}"#,
        r#"{"box":{"w":null}}"#,
        r#"{"x":"NaN"}"#,
        "{}",
        "[]",
        "\"",
        "",
    ] {
        check(text, None);
    }
}

#[test]
fn hostile_arguments_end_soon() {
    let deep = format!("{{\"box\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    check(&deep, None);
    let text = format!("{{\"list\":{}}}", json!(format!("{}1{}", "[".repeat(200), "]".repeat(200))));
    check(&text, None);
    let many = format!("{{\"list\":[{}]}}", vec!["\"1\""; 10_000].join(","));
    let (_, notes) = forwarded(&schema(), &with_required(&many)).unwrap();
    assert_eq!(notes.len(), 20, "no more are said");
    let circle = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}});
    assert!(forwarded(&circle, r#"{"a":"5"}"#).is_none_or(|(arguments, _)| arguments == r#"{"a":"5"}"#));
}
