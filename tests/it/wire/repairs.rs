//! Schemas that an API refuses although they are valid: what is sent instead, and what is said of
//! it.
#![allow(clippy::needless_pass_by_value, reason = "a table of `json!` values reads best without borrows")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use super::arms;
use super::notes;
use crate::talk::Talk;

const OPENAI: [Wire; 2] = [Wire::OpenAiChat, Wire::OpenAiResponses];

/// An engine over one tool `t`, in a wire's own format where it has one with that wire.
fn one(wire: Wire, schema: &Value) -> Engine {
    let tool = match wire {
        Wire::OpenAiChat => {
            json!({"type": "function", "function": {"name": "t", "description": "Do it.", "parameters": schema}})
        }
        Wire::OpenAiResponses => {
            json!({"type": "function", "name": "t", "description": "Do it.", "parameters": schema, "strict": false})
        }
        Wire::Anthropic => json!({"name": "t", "description": "Do it.", "input_schema": schema}),
        Wire::Gemini => {
            json!({"functionDeclarations": [{"name": "t", "description": "Do it.", "parametersJsonSchema": schema}]})
        }
        _ => json!({"name": "t", "description": "Do it.", "inputSchema": schema}),
    };
    Engine::builder(Catalog::import(&json!([tool]).to_string(), "t", None).value).build().unwrap()
}

fn schema_of(wire: Wire, array: &Value) -> Value {
    match wire {
        Wire::OpenAiChat => array[0]["function"]["parameters"].clone(),
        Wire::OpenAiResponses => array[0]["parameters"].clone(),
        Wire::Anthropic => array[0]["input_schema"].clone(),
        _ => array[0]["inputSchema"].clone(),
    }
}

fn description_of(wire: Wire, array: &Value) -> String {
    let tool = if wire == Wire::OpenAiChat { &array[0]["function"] } else { &array[0] };
    tool["description"].as_str().unwrap().to_owned()
}

/// What a schema is sent as by each of `wires`, whichever format it came in, and what is said of
/// it.
#[track_caller]
fn check(wires: &[Wire], schema: Value, expected: Value, said: &[&str]) {
    for wire in wires {
        for from in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic, Wire::Mcp, Wire::Gemini] {
            let engine = one(from, &schema);
            let text = engine.talk_on(*wire).tools().json().to_owned();
            let sent = schema_of(*wire, &serde_json::from_str(&text).unwrap());
            // As text, so that the order of the keys counts too.
            assert_eq!(sent.to_string(), expected.to_string(), "from {from} to {wire}");
            let notes: Vec<String> = notes(&engine, *wire, Arm::Full).iter().map(ToString::to_string).collect();
            assert_eq!(notes.len(), said.len(), "from {from} to {wire}: {notes:#?}");
            for (note, said) in notes.iter().zip(said) {
                assert!(note.contains("`t`") && note.contains(wire.name()) && note.contains(said), "{note}");
            }
        }
    }
}

#[test]
fn valid_schemas_are_sent_unchanged() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    check(&[OPENAI[0], OPENAI[1], Wire::Anthropic, Wire::Mcp], plain.clone(), plain, &[]);
    // OpenAI takes an object without properties below the top: the tools of its own agents have
    // some.
    let nested = json!({"type": "object", "properties": {"o": {"type": "object"}}});
    check(&OPENAI, nested.clone(), nested, &[]);
    let bare = json!({"type": "object"});
    check(&[Wire::Anthropic, Wire::Mcp], bare.clone(), bare, &[]);
    let union = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(&[Wire::Mcp], union.clone(), union, &[]);
    let inner = json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"enum": [1]}]}}});
    check(&[OPENAI[0], OPENAI[1], Wire::Anthropic], inner.clone(), inner, &[]);
    let array = json!({"type": "object", "properties": {"a": {"type": "array"}}});
    check(&[Wire::Anthropic, Wire::Mcp], array.clone(), array, &[]);
}

#[test]
fn an_object_gets_its_type_and_its_properties() {
    // The MCP specification's own example of a tool without parameters.
    check(
        &OPENAI,
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        &["note[repaired-schema]: tool `t`: the schema is sent with `\"properties\":{}`"],
    );
    check(&OPENAI, json!({"type": "object"}), json!({"type": "object", "properties": {}}), &["`\"properties\":{}`"]);
    let typeless = json!({"properties": {"x": {"type": "string"}}});
    let typed = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    check(&[OPENAI[0], OPENAI[1], Wire::Anthropic, Wire::Mcp], typeless, typed, &["`\"type\":\"object\"`"]);
    for wires in [&OPENAI[..], &[Wire::Anthropic, Wire::Mcp]] {
        check(wires, json!({}), json!({"type": "object", "properties": {}}), &["`\"type\":\"object\"`"]);
    }
    check(
        &[OPENAI[0], OPENAI[1], Wire::Anthropic, Wire::Mcp],
        json!({"type": ["object", "null"], "properties": {}}),
        json!({"type": "object", "properties": {}}),
        &["`\"type\":\"object\"`"],
    );
}

#[test]
fn every_array_gets_items() {
    check(
        &OPENAI,
        json!({"type": "object", "properties": {
            "a": {"type": "array", "description": "A."},
            "items": {"type": ["array", "null"]},
            "kept": {"type": "array", "items": {"type": "array"}},
            "any": {"anyOf": [{"type": "array"}, {"type": "string"}]},
            "default": {"default": {"type": "array"}, "enum": [{"type": "array"}]}},
            "$defs": {"D": {"properties": {"x": {"type": "array", "minItems": 1}}}}}),
        json!({"type": "object", "properties": {
            "a": {"type": "array", "items": {}, "description": "A."},
            "items": {"type": ["array", "null"], "items": {}},
            "kept": {"type": "array", "items": {"type": "array", "items": {}}},
            "any": {"anyOf": [{"type": "array", "items": {}}, {"type": "string"}]},
            "default": {"default": {"type": "array"}, "enum": [{"type": "array"}]}},
            "$defs": {"D": {"properties": {"x": {"type": "array", "items": {}, "minItems": 1}}}}}),
        &["`\"items\":{}` in 5 arrays"],
    );
}

#[test]
fn top_level_alternatives_are_merged() {
    let alternatives = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    let closed = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let all = [OPENAI[0], OPENAI[1], Wire::Anthropic];
    for key in ["oneOf", "anyOf", "allOf"] {
        let mut schema = closed.clone();
        schema[key] = alternatives.clone();
        let mut expected = closed.clone();
        if key == "allOf" {
            expected["required"] = json!(["a", "b"]);
        }
        check(&all, schema, expected, &[&format!("the branches of `{key}` merged")]);
    }
    // Every branch is named; what only one requires is optional; constants become one list.
    let page = json!({"type": "object", "oneOf": [
        {"properties": {"action": {"const": "create"}, "title": {"type": "string"}, "n": {"type": "string"}}, "required": ["action", "title"], "additionalProperties": false},
        {"$ref": "#/$defs/Delete"}, {"type": "string"}],
        "$defs": {"Delete": {"properties": {"action": {"const": "delete"}, "id": {"type": "string"}, "n": {"type": "number"}}, "required": ["id", "action"], "additionalProperties": false}}});
    let merged = json!({"type": "object", "$defs": page["$defs"], "properties": {
        "action": {"enum": ["create", "delete"]}, "title": {"type": "string"},
        "n": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "id": {"type": "string"}},
        "required": ["action"], "additionalProperties": false});
    check(&all, page, merged, &["the branches of `oneOf` merged"]);
}

#[test]
fn merged_alternatives_are_closed_only_if_nothing_is_left_open() {
    let (a, b) = (json!({"type": "string"}), json!({"type": "number"}));
    let closed = |name: &str, schema: &Value| json!({"properties": {name: schema}, "additionalProperties": false});
    let open = |properties: Value| json!({"type": "object", "properties": properties});
    for (key, branches, expected) in [
        ("anyOf", json!([true, closed("a", &a)]), open(json!({"a": a}))),
        (
            "anyOf",
            json!([false, closed("a", &a)]),
            json!({"type": "object", "properties": {"a": a}, "additionalProperties": false}),
        ),
        (
            "oneOf",
            json!([{"patternProperties": {"^x": {}}, "additionalProperties": false}, closed("a", &a)]),
            open(json!({"a": a})),
        ),
        // What a branch refers to counts beside its own parameters.
        (
            "allOf",
            json!([{"$ref": "#/$defs/A", "properties": {"b": b}}]),
            json!({"type": "object", "properties": {"b": b, "a": a}, "required": ["a"]}),
        ),
    ] {
        let definitions = json!({"A": {"properties": {"a": a}, "required": ["a"]}});
        let mut expected = expected;
        let mut schema = json!({"type": "object", "properties": {}});
        if key == "allOf" {
            (schema["$defs"], expected) = (definitions.clone(), {
                let mut with = json!({"type": "object", "properties": expected["properties"]});
                (with["$defs"], with["required"]) = (definitions, expected["required"].clone());
                with
            });
        }
        schema[key] = branches;
        check(&OPENAI, schema, expected, &[&format!("the branches of `{key}` merged")]);
    }
    // A few lines that mean billions of branches are sent open, at once.
    let same = json!({"$ref": "#"});
    let endless = json!({"type": "object", "properties": {"a": a}, "anyOf": vec![same; 50]});
    let sent = json!({"type": "object", "properties": {"a": a}, "additionalProperties": true});
    check(&OPENAI, endless, sent, &["refuses `anyOf`"]);
}

#[test]
fn a_condition_that_cannot_be_sent_is_reported() {
    let properties = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    let rest = json!({"type": "object", "properties": properties, "additionalProperties": false});
    for (key, value) in [("enum", json!([{"a": "x"}, {"b": "y"}])), ("not", json!({"required": ["a", "b"]}))] {
        let mut schema = rest.clone();
        schema[key] = value;
        let said = format!("warning[refused-at-top]: tool `t`: W refuses `{key}` at the top of a schema");
        for wire in OPENAI {
            check(&[wire], schema.clone(), rest.clone(), &[&said.replace('W', wire.name())]);
        }
        check(&[Wire::Anthropic], schema.clone(), schema.clone(), &[]);
        let array: Value = one(Wire::Mcp, &schema).talk_on(Wire::OpenAiChat).tools().value();
        assert_eq!(
            description_of(Wire::OpenAiChat, &array),
            "Do it. Its parameters have alternatives that are not shown here: a call that does not fit is answered with them."
        );
    }
    let text = json!({"type": "object", "anyOf": [{"type": "string"}]});
    check(&OPENAI, text, json!({"type": "object", "properties": {}}), &["refuses `anyOf`"]);
}

/// A folded tool can be expanded, and is told to be.
#[test]
fn a_folded_tool_with_alternatives_refers_to_expand_tools() {
    let words = crate::LONG;
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}, "not": {"required": ["a", "b"]}});
    let tools = json!([{"name": "t", "description": "Do it. Well.", "inputSchema": schema}]).to_string();
    let catalog = Catalog::from_mcp(&tools).unwrap();
    let profile = ToolProfile::parse("[category.c]\ntools = ['t']", "p").value;
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Signature).build().unwrap();
    let array: Value = engine.talk_on(Wire::OpenAiChat).tools().value();
    assert_eq!(
        description_of(Wire::OpenAiChat, &array),
        "Do it. Its parameters have alternatives that are not shown here: get them with expand_tools before calling it."
    );
    let stable =
        Engine::builder(engine.catalog().clone()).profile(ToolProfile::parse("[category.c]\ntools = ['t']", "p").value);
    let array: Value = stable.arm(Arm::Stable).build().unwrap().talk_on(Wire::OpenAiChat).tools().value();
    assert_eq!(description_of(Wire::OpenAiChat, &array), "Do it.", "a stub is open anyway");
}

#[test]
fn a_top_level_reference_is_inlined() {
    let args =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "description": "D."});
    check(
        &OPENAI,
        json!({"$ref": "#/$defs/Args", "$defs": {"Args": args, "A": {"type": "string"}}, "$comment": "s"}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "description": "D.",
               "$defs": {"Args": args, "A": {"type": "string"}}, "$comment": "s"}),
        &["the definition that its top refers to"],
    );
    // What cannot be put there leaves the tool open: a circle, a keyword on both sides.
    for (schema, rest) in [
        (
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            json!({"$defs": {"A": {"$ref": "#/$defs/A"}}}),
        ),
        (
            json!({"$ref": "#/$defs/A", "required": ["b"], "$defs": {"A": {"required": ["a"]}}}),
            json!({"required": ["b"], "$defs": {"A": {"required": ["a"]}}}),
        ),
    ] {
        let mut expected = json!({"type": "object"});
        expected.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        expected["properties"] = json!({});
        expected["additionalProperties"] = json!(true);
        check(&OPENAI, schema, expected, &["refuses `$ref` at the top"]);
    }
}

#[test]
fn a_missing_schema_is_added_if_required() {
    for (wire, key) in [(Wire::Anthropic, "input_schema"), (Wire::Mcp, "inputSchema")] {
        let tools = json!([{"name": "t", "description": "D.", "x": 1}]).to_string();
        let format =
            Some(if wire == Wire::Mcp { toolfold::catalog::Format::Mcp } else { toolfold::catalog::Format::Anthropic });
        let engine = Engine::builder(Catalog::import(&tools, "t", format).value).build().unwrap();
        let empty = json!({"type": "object", "properties": {}});
        let array: Value = engine.talk_on(wire).tools().value();
        assert_eq!(array, json!([{"name": "t", "description": "D.", key: empty, "x": 1}]));
        let notes = notes(&engine, wire, Arm::Full);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].message.contains(&format!("`t` is sent with an empty `{key}`")), "{}", notes[0]);
    }
}

#[test]
fn a_repaired_tool_is_strict_only_if_closed() {
    let sent = |schema: Value| {
        let tools = json!([{"type": "function", "name": "t", "parameters": schema, "strict": true}]).to_string();
        let engine = Engine::builder(Catalog::from_openai(&tools).unwrap()).build().unwrap();
        let array: Value = engine.talk_on(Wire::OpenAiResponses).tools().value();
        (array[0]["strict"].clone(), notes(&engine, Wire::OpenAiResponses, Arm::Full)[0].message.clone())
    };
    assert_eq!(sent(json!({"type": "object", "additionalProperties": false})).0, true);
    let (strict, said) = sent(json!({"type": "object"}));
    assert_eq!(strict, false);
    assert!(said.contains("and not as strict"), "{said}");
}

/// Every token of a schema that is repaired stays as it was written, but for what is put in.
#[test]
fn a_repair_changes_only_what_is_invalid() {
    let schema = r#"{"properties":{"n":{"maximum":12345678901234567890123,"minimum":1e3,"description":"caf\u00e9 \/"},"l":{"type":"array"}}}"#;
    let text = format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#);
    let engine = Engine::builder(Catalog::from_mcp(&text).unwrap()).build().unwrap();
    let expected = schema
        .replacen('{', r#"{"type":"object","#, 1)
        .replace(r#"{"type":"array"}"#, r#"{"type":"array","items":{}}"#);
    let sent = engine.talk_on(Wire::OpenAiChat).tools().json().to_owned();
    assert!(sent.contains(&expected), "{sent}");
    let twice = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"l":{"type":"string","type":"array"}}}}]"#;
    let engine = Engine::builder(Catalog::from_mcp(twice).unwrap()).build().unwrap();
    let sent: Value = engine.talk_on(Wire::OpenAiChat).tools().value();
    assert_eq!(
        sent[0]["function"]["parameters"]["properties"]["l"],
        json!({"type": "array", "items": {}}),
        "a repeated key"
    );
}

fn node() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "array"})),
        Just(json!({"type": ["array", "null"]})),
        Just(json!({"type": "object"})),
        Just(json!(true)),
        Just(json!({"$ref": "#/$defs/d"})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let named = prop::collection::btree_map("[a-c]|items|type", inner.clone(), 0..3);
        prop_oneof![
            named.clone().prop_map(|map| json!({"type": "object", "properties": map})),
            named.prop_map(|map| json!({"properties": map})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"type": "array", "prefixItems": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            inner.clone().prop_map(|one| json!({"type": "object", "not": one})),
            inner.prop_map(|one| json!({"$ref": "#/$defs/d", "$defs": {"d": one}})),
        ]
    })
}

/// What OpenAI's error texts say, read from the array alone.
fn refused(node: &Value, top: bool) -> Option<String> {
    let Some(map) = node.as_object() else { return top.then(|| format!("no object: {node}")) };
    if top {
        let wrong = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().find(|key| map.contains_key(**key));
        if let Some(key) = wrong {
            return Some(format!("{key} at the top"));
        }
        if map.contains_key("$ref")
            && node["properties"].as_object().is_none_or(serde_json::Map::is_empty)
            && node["additionalProperties"] != true
        {
            return Some("parameters behind a reference".to_owned());
        }
        if node["type"] != "object" || !node["properties"].is_object() {
            return Some("no object with properties".to_owned());
        }
    }
    let is_array = node["type"] == "array" || node["type"].as_array().is_some_and(|all| all.contains(&json!("array")));
    if is_array && !map.contains_key("items") {
        return Some(format!("array without items: {node}"));
    }
    let mut below: Vec<&Value> = Vec::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => below.extend(named.values()),
            ("prefixItems" | "anyOf", Value::Array(list)) => below.extend(list),
            ("items" | "not", one) => below.push(one),
            _ => {}
        }
    }
    below.into_iter().find_map(|inner| refused(inner, false))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(192)))]

    #[test]
    fn no_rejected_schema_is_sent(schema in node()) {
        prop_assume!(schema.is_object());
        for from in [Wire::Mcp, Wire::OpenAiChat] {
            let engine = one(from, &schema);
            for wire in OPENAI {
                for arm in arms(wire) {
                    let profile = ToolProfile::parse("[category.c]\ntools = ['t']", "p").value;
                    let engine = Engine::builder(engine.catalog().clone()).profile(profile).arm(arm).without_validation().build().unwrap();
                    let array: Value = engine.talk_on(wire).tools().value();
                    let flat = array.as_array().unwrap().iter().flat_map(|entry| match entry["tools"].as_array() {
                        Some(inner) => inner.clone(),
                        None => vec![entry.clone()],
                    });
                    for tool in flat {
                        let own = if wire == Wire::OpenAiChat { &tool["function"]["parameters"] } else { &tool["parameters"] };
                        prop_assert_eq!(refused(own, true), None, "{} {} {}", wire, arm, tool);
                    }
                }
            }
        }
    }
}
