//! Inputs that are not objects, and names of parameters that a provider refuses: what is sent, and
//! what the tool gets.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::{arms, engine, notes};
use crate::talk::Talk;

const WORDS: &str = "Words enough that folding them saves something, and more than something. ";

/// A tool with this input, beside one that is worth folding.
fn tools(input: &Value) -> Value {
    let long = json!({"type": "object", "properties": {"a": {"type": "string", "description": WORDS.repeat(20)}}});
    json!([{"name": "t", "description": "Does it.", "inputSchema": input},
           {"name": "long", "description": "Reads. More.", "inputSchema": long}])
}

/// The first tool of an array: its schema.
fn first_schema(wire: Wire, array: &Value) -> Value {
    let tool = match wire {
        Wire::OpenAiChat => &array[0]["function"]["parameters"],
        Wire::OpenAiResponses => &array[0]["parameters"],
        Wire::Anthropic => &array[0]["input_schema"],
        Wire::Gemini => &array[0]["functionDeclarations"][0]["parametersJsonSchema"],
        Wire::BedrockConverse => &array[0]["toolSpec"]["inputSchema"]["json"],
        _ => &array[0]["inputSchema"],
    };
    tool.clone()
}

/// What the tool gets; the answer as text if it is not called.
fn given(conversation: &mut Conversation, arguments: &str) -> Result<String, String> {
    match conversation.call("", "t", arguments).unwrap() {
        Outcome::Forward(forward) => {
            // The value is the nearest one; the text has every digit.
            let value: Value = serde_json::from_str(&forward.arguments_json).unwrap();
            assert_eq!(forward.arguments, value);
            Ok(forward.arguments_json)
        }
        outcome => Err(outcome.content().unwrap().into_owned()),
    }
}

#[test]
fn an_input_that_is_no_object_is_a_parameter() {
    for (input, arguments, expected) in [
        (json!({"type": "string", "minLength": 2}), r#"{"value": "ab"}"#, r#""ab""#),
        (json!({"type": "array", "items": {"type": "integer"}}), r#"{"value":[1, 2]}"#, "[1, 2]"),
        (json!({"anyOf": [{"type": "string"}, {"type": "object"}]}), r#"{"value":{"value":1}}"#, r#"{"value":1}"#),
        (json!({"type": ["number", "null"]}), r#"{"value":12345678901234567890123}"#, "12345678901234567890123"),
        (json!({"type": ["string", "null"]}), r#"{"value":null}"#, "null"),
        (json!({"enum": ["a", "b"]}), r#"{"value":"b"}"#, r#""b""#),
        (json!({"$ref": "#/$defs/S", "$defs": {"S": {"type": "string"}}}), r#"{"value":""}"#, r#""""#),
    ] {
        for wire in Wire::ALL {
            for arm in arms(wire) {
                let engine = engine(&tools(&input), "core = ['t']", arm);
                let mut conversation = engine.talk_on(wire);
                let schema = first_schema(wire, &conversation.tools().value());
                assert_eq!(schema["type"], "object", "{wire} {arm}");
                let is_shown = schema["properties"]["value"].is_object() || schema["additionalProperties"] == true;
                assert!(is_shown || arm == Arm::Index, "{wire} {arm}: {schema}");
                assert_eq!(given(&mut conversation, arguments).as_deref(), Ok(expected), "{wire} {arm}");
                let refused = given(&mut conversation, r#"{"value":false}"#).unwrap_err();
                assert!(refused.contains("/value"), "{refused}");
                assert!(given(&mut conversation, "{}").is_err());
                assert!(given(&mut conversation, r#""ab""#).unwrap_err().contains("must be a JSON object"));
            }
        }
    }
}

#[test]
fn objects_are_not_wrapped() {
    for input in [
        json!({}),
        json!({"type": ["object", "null"], "properties": {"a": {}}}),
        json!({"anyOf": [{"type": "object"}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "string"}, {}]}),
        json!({"type": "array", "properties": {"a": {"type": "string"}}}),
        json!({"type": "null"}),
    ] {
        let catalog = Catalog::import(&tools(&input).to_string(), "t", None).value;
        assert!(catalog.get("t").unwrap().parameters().pointer("/properties/value").is_none(), "{input}");
    }
}

/// References start at the root of the document, which is now around the input.
#[test]
fn references_of_a_wrapped_input_lead_where_they_led() {
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/Leaf"}, {"$ref": "#/prefixItems/0"}]},
        "prefixItems": [{"type": "integer"}],
        "$defs": {"Leaf": {"const": "x"}, "Tree": {"$ref": "#"}},
    });
    let mut conversation = engine(&tools(&input), "", Arm::Full).talk();
    let schema = first_schema(Wire::OpenAiChat, &conversation.tools().value());
    assert_eq!(schema["$defs"]["Tree"]["$ref"], "#/properties/value");
    assert_eq!(schema["properties"]["value"]["items"]["anyOf"][2]["$ref"], "#/properties/value/prefixItems/0");
    assert!(given(&mut conversation, r#"{"value":[1,[2,"x"],3]}"#).is_ok());
    assert!(given(&mut conversation, r#"{"value":[1,["y"]]}"#).is_err());
}

#[test]
fn an_expansion_shows_the_parameter() {
    let long = json!({"type": "string", "description": WORDS.repeat(20)});
    let mut conversation = engine(&tools(&long), "[category.all]\ntools = ['*']", Arm::Stable).talk();
    let outcome = conversation.call("", "expand_tools", json!({"tools": ["t"]})).unwrap();
    let answer = outcome.content().unwrap();
    assert!(answer.contains(r#""properties":{"value":{"type":"string""#), "{answer}");
}

/// Parameters as REST APIs name them, and names that are too long.
fn filters() -> Value {
    let long = "a".repeat(65);
    json!({"type": "object", "properties": {
            "filter[name]": {"type": "string", "description": WORDS}, "filter(name)": {"type": "integer"},
            "filter_name_": {"type": "boolean"}, "$top": {"type": "integer"}, "x.y": {}, &long: {"type": "string"},
            "名前": {"type": "string", "description": "The name of the city."}},
        "required": ["filter[name]", "x.y"], "dependentRequired": {"$top": ["filter[name]"]}, "additionalProperties": false})
}

#[test]
fn refused_parameters_have_other_names_and_back() {
    let own = r#"{"filter[name]":"n","filter(name)":12345678901234567890123,"filter_name_":true,"$top":1,"x.y":null,"名前":"c"}"#;
    for wire in Wire::ALL {
        for arm in arms(wire) {
            let engine = engine(&tools(&filters()), "core = ['t']", arm);
            let mut conversation = engine.talk_on(wire);
            let schema = first_schema(wire, &conversation.tools().value());
            let names: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            if wire != Wire::Anthropic {
                assert!(names.contains(&"filter[name]"), "{wire} {arm}: {names:?}");
                assert_eq!(given(&mut conversation, own).as_deref(), Ok(own), "{wire} {arm}");
                continue;
            }
            let fits = |name: &&str| {
                let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
                (1..=64).contains(&name.len()) && name.chars().all(legal)
            };
            assert!(names.iter().all(fits), "{wire} {arm}: {names:?}");
            assert_eq!(names.len(), 7, "{wire} {arm}: none is lost: {names:?}");
            let shown = r#"{"filter_name__259d8078":"n","filter_name__b1e3118d":12345678901234567890123,"filter_name_":true,"_top":1,"x.y":null,"name_of_city_7ec26292":"c"}"#;
            assert_eq!(given(&mut conversation, shown).as_deref(), Ok(own), "{arm}");
            assert_eq!(given(&mut conversation, own).as_deref(), Ok(own), "{arm}: a tool's own names are accepted");
            let refused = given(&mut conversation, r#"{"_top": 1, "x.y": 2}"#).unwrap_err();
            assert!(
                refused.contains("/filter_name__259d8078: missing") && !refused.contains("filter[name]"),
                "{refused}"
            );
            let both = given(&mut conversation, r#"{"$top": 1, "_top": 2, "filter[name]": "", "x.y": 2}"#).unwrap_err();
            assert!(both.contains("`$top` and `_top` are the same parameter: give only `_top`"), "{both}");
            let invented = r#"{"filter_name__259d8078":"n","x.y":1,"top":2}"#;
            let suggested = given(&mut conversation, invented).unwrap_err();
            let line = r#"Try: {"name":"t","arguments":{"filter_name__259d8078":"n","x.y":1,"_top":2}}"#;
            assert!(suggested.contains(line), "{arm}: {suggested}");
        }
    }
    let said = notes(&engine(&tools(&filters()), "", Arm::Full), Wire::Anthropic, Arm::Full);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].message.contains("`filter[name]` as `filter_name__259d8078`"), "{}", said[0]);
}

/// Alternatives, definitions and references name parameters too.
#[test]
fn every_schema_of_the_arguments_has_the_new_names() {
    let part = json!({"type": "object", "properties": {"b[]": {"type": "array", "items": {"$ref": "#/$defs/Part"}}}, "required": ["b[]"]});
    let input = json!({
        "$defs": {"Part": part},
        "properties": {"a[]": {"type": "array", "items": {"type": "string"}}, "same": {"$ref": "#/properties/a%5B%5D"}},
        "anyOf": [{"$ref": "#/$defs/Part"}, {"required": ["a[]"]}],
        "propertyNames": {"pattern": "^(a\\[\\]|b\\[\\]|same)$"},
    });
    for arm in arms(Wire::Anthropic) {
        let mut conversation = engine(&tools(&input), "core = ['t']", arm).talk_on(Wire::Anthropic);
        let schema = first_schema(Wire::Anthropic, &conversation.tools().value());
        assert!(schema["properties"]["a__"].is_object() && schema["properties"]["b__"].is_object(), "{arm}: {schema}");
        let nested = r#"{"b__":[{"b[]":[]}]}"#;
        assert_eq!(given(&mut conversation, nested).as_deref(), Ok(r#"{"b[]":[{"b[]":[]}]}"#), "only at the top");
        assert_eq!(given(&mut conversation, r#"{"a__":["x"],"same":[]}"#).as_deref(), Ok(r#"{"a[]":["x"],"same":[]}"#));
        assert!(given(&mut conversation, r#"{"same":[]}"#).is_err());
        assert!(given(&mut conversation, r#"{"a__":[1]}"#).is_err());
        assert!(given(&mut conversation, r#"{"a__":[],"same":[1]}"#).is_err(), "the reference still leads there");
    }
}

#[test]
fn examples_have_the_names_that_are_sent() {
    let tools = json!([{"name": "t", "input_schema": {"type": "object", "properties": {"a[]": {}}},
        "input_examples": [{"a[]": 1, "b": {"a[]": 2}}]}]);
    let engine = Engine::builder(Catalog::from_anthropic(&tools.to_string()).unwrap()).arm(Arm::Full).build().unwrap();
    let sent = engine.talk_on(Wire::Anthropic).tools().value();
    assert_eq!(sent[0]["input_examples"], json!([{"a__": 1, "b": {"a[]": 2}}]));
}

/// Policy judges, and a person sees, the tool's own names; an input that is not an object stays in
/// its parameter, so that rules can name it.
#[test]
fn policy_judges_the_tools_own_input() {
    for (input, rule, arguments, other) in [
        (
            filters(),
            r#""filter[name]" = "secret*""#,
            r#"{"filter_name__259d8078":"secret 1","x.y":1}"#,
            r#"{"filter_name__259d8078":"a","x.y":1}"#,
        ),
        (json!({"type": "string"}), r#"value = "secret*""#, r#"{"value":"secret 1"}"#, r#"{"value":"a"}"#),
    ] {
        let text = format!("[[rule]]\ndecide = \"deny\"\ntool = \"t\"\nargs = {{ {rule} }}\n");
        let file = PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap();
        let (policy, _) = PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), || 1_000);
        let catalog = Catalog::from_mcp(&tools(&input).to_string()).unwrap();
        let engine = Engine::builder(catalog).arm(Arm::Full).policy(policy).build().unwrap();
        let mut conversation = engine.talk_on(Wire::Anthropic);
        assert!(matches!(conversation.call("", "t", arguments).unwrap(), Outcome::Refuse(_)), "{input}");
        assert!(!matches!(conversation.call("", "t", other).unwrap(), Outcome::Refuse(_)), "{input}");
    }
}
