//! Bedrock Converse: blocks without types, a schema below `json`, and an id for each answer.

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::conversation::Outcome;
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::engine;
use crate::talk::Talk;

const WIRE: Wire = Wire::BedrockConverse;

fn anything() -> Engine {
    engine(&json!([{"name": "x", "inputSchema": {"type": "object"}}, {"name": "y", "inputSchema": {}}]), "", Arm::Full)
}

#[test]
fn a_tool_is_a_specification() {
    let tools = json!([
        {"name": "fs.read", "description": "Reads.", "inputSchema": {"anyOf": [{"type": "object", "properties": {"a": {}}}]}},
        {"name": "bare", "inputSchema": {"type": "object"}}]);
    let sent = engine(&tools, "", Arm::Full).talk_on(WIRE).tools().value();
    let first = json!({"type": "object", "properties": {"a": {}}});
    assert_eq!(
        sent,
        json!([
            {"toolSpec": {"name": "fs_read", "description": "Reads.", "inputSchema": {"json": first}}},
            {"toolSpec": {"name": "bare", "inputSchema": {"json": {"type": "object"}}}}
        ])
    );
}

#[test]
fn a_list_in_its_format_keeps_every_byte() {
    let text = r#"[{"toolSpec":{"inputSchema":{"json":{"type":"object","properties":{"n":{"maximum":1e3}}}},"name":"a","strict":true}},{"cachePoint":{"type":"default"}},{"toolSpec":{"name":"b","inputSchema":{"json":{"type":"object"}}}}]"#;
    let loaded = Catalog::import(text, "t", None);
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.value.get("a").unwrap().strict(), Some(true));
    assert_eq!(loaded.value.to_json(Format::BedrockConverse), text);
    let engine = Engine::builder(loaded.value).arm(Arm::Full).build().unwrap();
    assert_eq!(engine.talk_on(WIRE).tools().json(), text);
    let chat = engine.talk_on(Wire::OpenAiChat).tools().value();
    assert_eq!(chat[0]["function"]["parameters"]["properties"]["n"]["maximum"], 1e3);
}

#[test]
fn calls_and_answers_are_blocks() {
    let mut conversation = anything().talk_on(WIRE);
    let message = json!({"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "I look."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "x", "input": {"n": 1}}},
        {"toolUse": {"toolUseId": "srv", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "nope", "input": {}}}]});
    let mut turn = conversation.turn(&message).unwrap();
    let runnable = turn.runnable();
    assert_eq!((runnable.len(), &runnable[0].arguments), (1, &json!({"n": 1})));
    turn.finish(&"tooluse_1".into(), "").unwrap();
    let messages = turn.into_messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["role"], "user");
    let first = json!({"toolResult": {"toolUseId": "tooluse_1", "content": []}});
    assert_eq!(messages[0]["content"][0], first, "a blank text is rejected");
    let second = &messages[0]["content"][1]["toolResult"];
    assert_eq!((&second["toolUseId"], &second["status"]), (&json!("tooluse_2"), &json!("error")));
    assert!(second["content"][0]["text"].as_str().unwrap().starts_with("Unknown tool"));
    let past =
        WIRE.past_calls(&json!({"messages": [{"role": "user", "content": [{"text": "Go."}]}, message]})).unwrap();
    assert_eq!(past.iter().map(|call| call.name.as_deref().unwrap()).collect::<Vec<_>>(), ["x", "nope"]);
}

#[test]
fn text_is_no_call_and_a_response_is_rejected() {
    let mut conversation = anything().talk_on(WIRE);
    for text in [json!({"role": "assistant", "content": [{"text": "Hi."}]}), json!([{"text": "Hi."}]), json!([])] {
        assert!(conversation.turn(&text).unwrap().is_empty(), "{text}");
    }
    let response = json!({"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "tool_use"});
    let why = conversation.turn(&response).unwrap_err().to_string();
    assert!(why.ends_with("this looks like a whole response of Bedrock Converse: pass its `output.message`"), "{why}");
}

#[test]
fn native_and_append_are_rejected_with_the_reason() {
    for (arm, why) in [(Arm::Native, "use InvokeModel with wire anthropic"), (Arm::Append, "defines none")] {
        let said = WIRE.supports(arm).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}

/// Claude restricts names of parameters behind Bedrock as on its own API; other models do not.
#[test]
fn parameters_are_renamed_for_claude() {
    let engine = engine(&json!([{"name": "t", "inputSchema": {"properties": {"a[]": {}}}}]), "", Arm::Full);
    let named = |model: &str| {
        let mut conversation = engine.conversation(WIRE).model(model).start().unwrap();
        let sent: Value = conversation.tools().value();
        let Ok(Outcome::Forward(forward)) = conversation.call("", "t", r#"{"a[]": 1}"#) else { panic!("{model}") };
        assert_eq!(forward.arguments, json!({"a[]": 1}));
        sent[0]["toolSpec"]["inputSchema"]["json"]["properties"].clone()
    };
    assert_eq!(named("us.anthropic.claude-opus-4-5-20251101-v1:0"), json!({"a__": {}}));
    assert_eq!(named("amazon.nova-pro-v1:0"), json!({"a[]": {}}));
}
