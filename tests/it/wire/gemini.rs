//! A JSON Schema in Gemini's subset.
#![allow(clippy::needless_pass_by_value, reason = "a table of `json!` values reads best without borrows")]

use serde_json::{Value, json};
use toolfold::engine::{Arguments, Engine};
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::{engine, sent};
use crate::talk::Talk;

fn one(schema: Value) -> Engine {
    engine(&json!([{"name": "t", "inputSchema": schema}]), "", Arm::Full)
}

/// What a property's schema becomes, and what is said of it.
#[track_caller]
fn check(property: Value, expected: Value, said: &[&str]) {
    check_in(property, json!({}), expected, said);
}

#[track_caller]
fn check_in(property: Value, defs: Value, expected: Value, said: &[&str]) {
    let engine = one(json!({"type": "object", "properties": {"p": property}, "$defs": defs}));
    let array = sent(&engine, Wire::Gemini);
    assert_eq!(array[0]["functionDeclarations"][0]["parameters"]["properties"]["p"], expected);
    let notes = Wire::Gemini.diagnostics(&engine, Arm::Full);
    let notes: Vec<String> = notes
        .iter()
        .map(|note| {
            assert!(note.message.starts_with("tool `t`: "), "{note}");
            format!("{} {}", note.place, note.message.trim_start_matches("tool `t`: "))
        })
        .collect();
    assert_eq!(notes, said);
}

const AS_TEXT: &str = "(a JSON object, written as text)";

#[test]
fn what_the_subset_says_passes() {
    let plain = json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}, "minItems": 1});
    check(plain.clone(), plain, &[]);
    let text = json!({"type": "string", "description": "D.", "enum": ["a", "b"], "pattern": "^a"});
    check(text.clone(), text, &[]);
    check(json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"}), &[]);
}

#[test]
fn what_it_cannot_say_is_left_out_and_noted_once() {
    check(
        json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri", "title": "A", "default": "x"}},
               "required": ["a", "b"], "additionalProperties": false, "patternProperties": {}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        &[
            "/properties/p/properties/a `default` is left out",
            "/properties/p/properties/a `format` is left out where Gemini does not know it",
            "/properties/p `additionalProperties` is left out",
            "/properties/p `patternProperties` is left out",
        ],
    );
    check(
        json!({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "number"}}),
        &["/properties/p `uniqueItems` is left out", "/properties/p/items `exclusiveMinimum` is left out"],
    );
}

#[test]
fn types_and_choices() {
    check(json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true}), &[]);
    check(
        json!({"type": ["string", "number"], "description": "D."}),
        json!({"anyOf": [{"type": "string", "description": "D."}, {"type": "number", "description": "D."}]}),
        &[],
    );
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "P"}),
        json!({"nullable": true, "type": "string"}),
        &["/properties/p `default` is left out"],
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        &["/properties/p `oneOf` is said as `anyOf`"],
    );
    check(
        json!({"const": "a"}),
        json!({"type": "string", "enum": ["a"]}),
        &["/properties/p `const` is said as an enum of one"],
    );
    check(
        json!({"enum": [1, 2], "description": "Which."}),
        json!({"type": "number", "description": "Which. One of: 1, 2."}),
        &["/properties/p `enum` is said in the description: only texts may have one"],
    );
    check(
        json!({"enum": ["a", null, ""]}),
        json!({"type": "string", "nullable": true, "enum": ["a"]}),
        &["/properties/p `enum` loses what is no text, or empty"],
    );
    check(
        json!({"description": "Any."}),
        json!({"anyOf": [{"type": "string", "description": "Any."}, {"type": "number", "description": "Any."}, {"type": "boolean", "description": "Any."}]}),
        &["/properties/p `type` is not said: narrowed to text, number or boolean"],
    );
}

#[test]
fn references_are_put_in_place_and_circles_cut() {
    check_in(
        json!({"$ref": "#/$defs/Row", "description": "Mine."}),
        json!({"Row": {"type": "object", "description": "Row.", "properties": {"k": {"$ref": "#/$defs/Key"}}}, "Key": {"type": "string"}}),
        json!({"type": "object", "description": "Mine.", "properties": {"k": {"type": "string"}}}),
        &[],
    );
    check_in(
        json!({"$ref": "#/$defs/Node"}),
        json!({"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}),
        json!({"type": "object", "properties": {"next": {"type": "string", "description": AS_TEXT}}}),
        &["/properties/p/properties/next `$ref` runs in a circle or too far, and is cut to any object"],
    );
    check(
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                         {"properties": {"b": {"type": "number"}}, "required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a", "b"]}),
        &[],
    );
    check(
        json!({"$ref": "#/nowhere", "type": "string"}),
        json!({"type": "string"}),
        &["/properties/p `$ref` leads nowhere and is left out"],
    );
}

#[test]
fn without_properties_there_are_no_parameters() {
    for schema in [json!({"type": "object", "properties": {}}), json!({"type": "object"}), json!({})] {
        assert_eq!(sent(&one(schema), Wire::Gemini)[0]["functionDeclarations"][0], json!({"name": "t"}));
    }
}

#[test]
fn an_object_without_properties_is_asked_for_as_text_and_read_again() {
    let schema = json!({"type": "object", "properties": {
        "options": {"type": "object", "description": "Options."},
        "rows": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}},
        "note": {"type": "string"}}});
    let engine = one(schema);
    let written = sent(&engine, Wire::Gemini);
    let properties = &written[0]["functionDeclarations"][0]["parameters"]["properties"];
    assert_eq!(properties["options"], json!({"type": "string", "description": format!("Options. {AS_TEXT}")}));
    let message = json!({"role": "model", "parts": [{"text": "Now."}, {"functionCall": {"name": "t", "args":
        {"options": "{\"a\":1}", "rows": ["{\"b\":\"c\"}", "{"], "note": "{\"d\":2}"}}}]});
    let calls = Wire::Gemini.parse_calls(&engine, &message).unwrap();
    assert_eq!(calls[0].id, "call-1");
    let expected = json!({"options": {"a": 1}, "rows": [{"b": "c"}, "{"], "note": "{\"d\":2}"});
    assert_eq!(calls[0].arguments, Arguments::Json(expected), "texts stay texts, and what is no JSON stays as it is");
}

#[test]
fn a_hostile_schema_ends() {
    let mut defs = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}));
    }
    let engine = one(json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": defs}));
    let text = engine.talk_on(Wire::Gemini).tools().to_string();
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    let all = json!({"anyOf": [{"type": "string"}, {"type": "number"}], "oneOf": [{"minimum": 1}, {"minimum": 2}]});
    let deep = (0..40).fold(all.clone(), |inner, _| json!({"anyOf": [inner, all]}));
    let nested = one(json!({"type": "object", "properties": {"p": deep}}));
    assert!(nested.talk_on(Wire::Gemini).tools().len() < 2_000_000);
    let circle = one(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
    );
    assert!(circle.talk_on(Wire::Gemini).tools().len() < 2_000);
}
