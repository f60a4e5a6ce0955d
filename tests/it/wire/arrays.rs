//! What each wire sends, tool by tool.
#![allow(clippy::needless_pass_by_value, reason = "a table of `json!` values reads best without borrows")]

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::{Wire, WireError};

use super::notes;
use super::{another_excel, arms, excel, sent};
use crate::project;
use crate::talk::Talk;

/// Long enough that even one tool is worth folding, meta-tools counted.
const WORDS: &str = crate::LONG;

/// A core tool `core` and an extended one `ext`, in Anthropic's shape.
fn two(core: Value, ext: Value, arm: Arm) -> Engine {
    let catalog = Catalog::from_anthropic(&json!([core, ext]).to_string()).unwrap();
    let profile =
        ToolProfile::parse("core = ['core']\n[category.more]\ndescription = 'more'\ntools = ['ext']", "p.toml");
    Engine::builder(catalog).profile(profile.value).arm(arm).build().unwrap()
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Do it. Well.", "input_schema":
        {"type": "object", "properties": {"a": {"type": "string", "description": WORDS}}, "required": ["a"]}})
}

#[test]
fn full_is_unchanged_on_its_own_wire() {
    let text = project("profiles/excel/tools.json");
    let compact = serde_json::from_str::<Value>(&text).unwrap().to_string();
    assert_eq!(excel(Arm::Full).talk_on(Wire::OpenAiChat).tools().json(), compact);
    let odd = r#"[{"name":"a","input_schema":{"type":"object","x-n":1e3},"cache_control":{"type":"ephemeral"}}]"#;
    let engine = Engine::builder(Catalog::from_anthropic(odd).unwrap()).build().unwrap();
    assert_eq!(engine.talk_on(Wire::Anthropic).tools().json(), odd);
    let odd = r#"[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{"k":1.0}}]"#;
    let engine = Engine::builder(Catalog::from_mcp(odd).unwrap()).build().unwrap();
    assert_eq!(engine.talk_on(Wire::Mcp).tools().json(), odd);
    let odd = r#"[{"strict":true,"type":"function","name":"a","parameters":{"type":"object","properties":{"n":{"const":1.0}}}}]"#;
    let engine = Engine::builder(Catalog::from_openai(odd).unwrap()).build().unwrap();
    assert_eq!(engine.talk_on(Wire::OpenAiResponses).tools().json(), odd);
}

#[test]
fn every_wire_uses_its_own_keys() {
    let engine = two(tool("core"), tool("ext"), Arm::Stable);
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string", "description": WORDS}}, "required": ["a"]});
    let stub = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let first = |wire| sent(&engine, wire)[0].clone();
    let second = |wire| sent(&engine, wire)[1].clone();
    assert_eq!(
        first(Wire::OpenAiChat),
        json!({"type": "function", "function": {"name": "core", "description": "Do it. Well.", "parameters": schema}})
    );
    assert_eq!(
        second(Wire::OpenAiResponses),
        json!({"type": "function", "name": "ext", "description": "Do it.", "parameters": stub, "strict": false})
    );
    assert_eq!(second(Wire::Anthropic), json!({"name": "ext", "description": "Do it.", "input_schema": stub}));
    assert_eq!(second(Wire::Mcp), json!({"name": "ext", "description": "Do it.", "inputSchema": stub}));
    let gemini = first(Wire::Gemini);
    let names: Vec<&str> =
        gemini["functionDeclarations"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["core", "ext", "expand_tools"]);
    assert_eq!(gemini["functionDeclarations"][0]["parametersJsonSchema"], schema);
    assert_eq!(
        gemini["functionDeclarations"][1],
        json!({"name": "ext", "description": "Do it.", "parametersJsonSchema": stub})
    );
}

#[test]
fn native_on_anthropic_declares_everything_and_defers_the_extended() {
    let engine = excel(Arm::Native);
    let array = sent(&engine, Wire::Anthropic);
    let tools = array.as_array().unwrap();
    assert_eq!(tools.len(), engine.catalog().len() + 1);
    let deferred = tools.iter().filter(|tool| tool["defer_loading"] == true).count();
    let extended = engine.assignment().tools.iter().filter(|own| own.tier == toolfold::profile::Tier::Extended).count();
    assert_eq!(deferred, extended);
    assert!(tools.iter().all(|tool| tool["input_schema"]["properties"].is_object()), "whole, not stubs");
    let last = tools.last().unwrap();
    assert_eq!(last["name"], "expand_tools");
    assert_eq!(last.get("defer_loading"), None);
}

#[test]
fn native_on_responses_has_namespaces_and_a_search() {
    let engine = excel(Arm::Native);
    let array = sent(&engine, Wire::OpenAiResponses);
    let tools = array.as_array().unwrap();
    let kinds: Vec<&str> = tools.iter().map(|tool| tool["type"].as_str().unwrap()).collect();
    assert!(kinds.starts_with(&["function"]) && kinds.ends_with(&["namespace", "tool_search"]), "{kinds:?}");
    let search = tools.last().unwrap();
    assert_eq!(search["execution"], "client");
    assert_eq!(
        search["parameters"],
        json!({"type":"object","properties":{"query":{"type":"string"},"categories":{"type":"array","items":{"type":"string"}}},"additionalProperties":false})
    );
    let mut inside = 0;
    for space in tools.iter().filter(|tool| tool["type"] == "namespace") {
        let functions = space["tools"].as_array().unwrap();
        inside += functions.len();
        assert!(functions.iter().all(|tool| tool["defer_loading"] == true && tool["strict"].is_boolean()));
        assert!(
            search["description"].as_str().unwrap().contains(&format!("\n- {} (", space["name"].as_str().unwrap()))
        );
    }
    let top = kinds.iter().filter(|kind| **kind == "function").count();
    assert_eq!(top + inside, engine.catalog().len());
    assert!(tools.iter().all(|tool| tool["name"] != "expand_tools" && tool.get("defer_loading").is_none()));
}

#[test]
fn native_is_rejected_if_nothing_is_deferred() {
    for wire in Wire::ALL {
        let able = matches!(wire, Wire::Anthropic | Wire::OpenAiResponses);
        assert_eq!(wire.supports(Arm::Native).is_ok(), able, "{wire}");
    }
    let why = Wire::OpenAiChat.supports(Arm::Native).unwrap_err();
    assert!(matches!(why, WireError::Arm { .. }));
    assert_eq!(
        why.to_string(),
        "arm native cannot be used on openai-chat: Chat Completions has no deferred tools: use openai-responses, or arm stable"
    );
}

/// Where the breakpoint goes is in `keys.rs`.
#[test]
fn a_deferred_tool_has_no_cache_control() {
    let mut ext = tool("ext");
    ext["cache_control"] = json!({"type": "ephemeral"});
    ext["input_examples"] = json!([{"a": "b"}]);
    let array = sent(&two(tool("core"), ext.clone(), Arm::Native), Wire::Anthropic);
    assert_eq!(array[1]["defer_loading"], true);
    assert_eq!(array[1].get("cache_control"), None);
    assert_eq!(array[1]["input_examples"], json!([{"a": "b"}]), "what else it came with stays");
    let full = sent(&two(tool("core"), ext.clone(), Arm::Full), Wire::Anthropic);
    assert_eq!(full[1], ext, "not deferred, so as it came");
    ext["defer_loading"] = json!(true);
    let own = sent(&two(tool("core"), ext, Arm::Full), Wire::Anthropic);
    assert!(own[1]["defer_loading"] == true && own[1].get("cache_control").is_none(), "deferred by itself: the same");
}

#[test]
fn at_least_one_tool_is_not_deferred() {
    let tools = r#"[{"name":"a","input_schema":{"type":"object"},"defer_loading":true},{"name":"b","input_schema":{"type":"object"},"defer_loading":true}]"#;
    let engine = Engine::builder(Catalog::from_anthropic(tools).unwrap()).build().unwrap();
    let array = sent(&engine, Wire::Anthropic);
    assert_eq!((array[0].get("defer_loading"), &array[1]["defer_loading"]), (None, &json!(true)));
    assert_eq!(notes(&engine, Wire::Anthropic, Arm::Full)[0].code, "all-deferred");
}

#[test]
fn only_twenty_are_strict_on_anthropic() {
    let strict = |n: usize| {
        let mut own = tool(&format!("t{n}"));
        own["strict"] = json!(true);
        own
    };
    let tools: Vec<Value> = (0..23).map(strict).collect();
    let engine =
        Engine::builder(Catalog::from_anthropic(&json!(tools).to_string()).unwrap()).arm(Arm::Full).build().unwrap();
    let array = sent(&engine, Wire::Anthropic);
    let which: Vec<bool> = array.as_array().unwrap().iter().map(|tool| tool["strict"] == true).collect();
    assert_eq!(which, (0..23).map(|n| n < 20).collect::<Vec<_>>());
    let notes = notes(&engine, Wire::Anthropic, Arm::Full);
    assert_eq!(notes.iter().filter(|note| note.code == "too-many-strict").count(), 3);
    let chat = sent(&engine, Wire::OpenAiChat);
    assert!(chat.as_array().unwrap().iter().all(|tool| tool["function"]["strict"] == true), "no such limit there");
}

#[test]
fn a_folded_tool_is_never_strict() {
    let mut ext = tool("ext");
    ext["strict"] = json!(true);
    for arm in [Arm::Seed, Arm::Stable, Arm::Lean, Arm::Signature] {
        let engine = two(tool("core"), ext.clone(), arm);
        assert_eq!(sent(&engine, Wire::OpenAiChat)[1]["function"].get("strict"), None, "{arm}");
        assert_eq!(sent(&engine, Wire::OpenAiResponses)[1]["strict"], false, "{arm}: said explicitly");
        assert_eq!(sent(&engine, Wire::Anthropic)[1].get("strict"), None, "{arm}");
    }
    let full = two(tool("core"), ext, Arm::Full);
    assert_eq!(sent(&full, Wire::OpenAiResponses)[1]["strict"], true);
}

#[test]
fn a_schema_without_a_type_is_given_an_objects() {
    let catalog =
        Catalog::from_anthropic(r#"[{"name":"a","input_schema":{"properties":{"x":{"type":"string"}}}}]"#).unwrap();
    let engine = Engine::builder(catalog).build().unwrap();
    let expected = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    assert_eq!(sent(&engine, Wire::OpenAiResponses)[0]["parameters"], expected);
    assert_eq!(sent(&engine, Wire::Mcp)[0]["inputSchema"], expected);
}

#[test]
fn an_empty_catalog_sends_an_empty_array() {
    let engine = Engine::builder(Catalog::default()).build().unwrap();
    for wire in Wire::ALL {
        assert_eq!(engine.talk_on(wire).tools().json(), "[]", "{wire}");
    }
}

#[test]
fn the_text_is_shared_and_the_same_in_every_engine() {
    for wire in Wire::ALL {
        for arm in arms(wire) {
            let (one, two) = (excel(arm), another_excel(arm));
            let mut talk = one.talk_on(wire);
            let first = talk.tools();
            assert!(std::ptr::eq(first.json(), talk.tools().json()), "{wire} {arm}");
            assert_eq!(first, two.talk_on(wire).tools(), "{wire} {arm}");
        }
    }
}

#[test]
fn wires_are_named_in_flags_and_files() {
    for wire in Wire::ALL {
        assert_eq!(wire.name().parse(), Ok(wire));
        assert_eq!(serde_json::from_value::<Wire>(json!(wire.name())).unwrap(), wire);
        assert_eq!(serde_json::to_value(wire).unwrap(), json!(wire.name()));
    }
    let why = "openai".parse::<Wire>().unwrap_err().to_string();
    assert_eq!(
        why,
        "unknown wire `openai`: use openai-chat, openai-responses, anthropic, gemini, mcp or bedrock-converse"
    );
}
