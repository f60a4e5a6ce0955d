//! Calls as each wire makes them, and the answers it takes.

use serde_json::{Value, json};
use toolfold::engine::{Arguments, Call, Engine, Outcome};
use toolfold::profile::{Arm, EXPAND_TOOLS};
use toolfold::wire::Wire;

use super::excel;

fn open_format() -> Value {
    json!({"categories": ["format"]})
}

#[track_caller]
fn check(wire: Wire, message: &Value, expected: &[(&str, &str, Value)]) {
    let calls = wire.parse_calls(&excel(Arm::Stable), message).unwrap();
    let found: Vec<(&str, &str, Value)> = calls
        .iter()
        .map(|call| match &call.arguments {
            Arguments::Json(value) => (call.id.as_str(), call.name.as_str(), value.clone()),
            Arguments::Malformed { text, .. } => (call.id.as_str(), call.name.as_str(), json!({ "malformed": text })),
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn calls_are_read_in_each_shape() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{\"k\":1}"}},
        {"id": "b", "type": "function", "function": {"name": "y", "arguments": ""}},
        {"id": "c", "type": "function", "function": {"name": "y", "arguments": "{"}},
        {"id": "d", "type": "custom", "custom": {"name": "z", "input": "text"}}]});
    let expected = [("a", "x", json!({"k": 1})), ("b", "y", json!({})), ("c", "y", json!({"malformed": "{"}))];
    check(Wire::OpenAiChat, &message, &expected);
    check(Wire::OpenAiChat, &json!({"choices": [{"message": message}]}), &expected);
    check(Wire::OpenAiChat, &json!({"role": "assistant", "content": "No calls."}), &[]);

    let items = json!([
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "format_cells", "namespace": "format", "arguments": "{}"},
        {"type": "tool_search_call", "id": "ts_1", "call_id": "b", "execution": "client", "arguments": open_format()},
        {"type": "tool_search_call", "id": "ts_2", "call_id": null, "execution": "server", "arguments": {}}]);
    let expected = [("a", "format_cells", json!({})), ("b", EXPAND_TOOLS, open_format())];
    check(Wire::OpenAiResponses, &items, &expected);
    check(Wire::OpenAiResponses, &json!({"id": "resp_1", "output": items}), &expected);
    check(Wire::OpenAiResponses, &items[1], &expected[..1]);

    let blocks = json!([{"type": "text", "text": "Now."}, {"type": "tool_use", "id": "toolu_1", "name": "x", "input": {"k": 1}},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]);
    check(Wire::Anthropic, &json!({"role": "assistant", "content": blocks}), &[("toolu_1", "x", json!({"k": 1}))]);
    check(Wire::Anthropic, &blocks, &[("toolu_1", "x", json!({"k": 1}))]);
    check(Wire::Anthropic, &json!({"role": "assistant", "content": "Done."}), &[]);

    let parts = json!({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {"k": 1}}}, {"text": "…"},
        {"functionCall": {"id": "own", "name": "y"}}, {"functionCall": {"name": "z", "args": null}}]});
    let expected = [("call-1", "x", json!({"k": 1})), ("own", "y", json!({})), ("call-3", "z", json!({}))];
    check(Wire::Gemini, &parts, &expected);
    check(Wire::Gemini, &json!({"candidates": [{"content": parts}]}), &expected);

    let params = json!({"name": "x", "arguments": {"k": 1}});
    check(Wire::Mcp, &params, &[("call-1", "x", json!({"k": 1}))]);
    check(
        Wire::Mcp,
        &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}),
        &[("7", "x", json!({"k": 1}))],
    );
    check(Wire::Mcp, &json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}), &[]);
}

#[test]
fn an_error_names_its_place() {
    let engine = excel(Arm::Stable);
    let said = |wire: Wire, message: Value| wire.parse_calls(&engine, &message).unwrap_err().to_string();
    assert_eq!(said(Wire::OpenAiChat, json!([])), "openai-chat: the message must be an object, not an array");
    assert_eq!(
        said(Wire::OpenAiChat, json!({"tool_calls": [{"id": "a", "function": {"name": 5}}]})),
        "openai-chat: `/tool_calls/0/function/name` must be a string, not a number"
    );
    assert_eq!(
        said(Wire::OpenAiChat, json!({"tool_calls": [{"id": "a"}]})),
        "openai-chat: `/tool_calls/0/function` must be an object, not absent"
    );
    assert_eq!(
        said(Wire::Anthropic, json!({"content": [{"type": "tool_use", "id": 1, "name": "x"}]})),
        "anthropic: `/content/0/id` must be a string, not a number"
    );
    assert_eq!(said(Wire::Gemini, json!({"parts": {}})), "gemini: `/parts` must be an array, not an object");
    assert_eq!(
        said(Wire::Mcp, json!({"method": "tools/call", "id": 1})),
        "mcp: `/params` must be an object, not absent"
    );
    assert_eq!(
        said(Wire::OpenAiResponses, json!([{"type": "function_call", "call_id": "a"}])),
        "openai-responses: `/0/name` must be a string, not absent"
    );
}

/// Judges a call and formats what the session says by itself.
fn answered(engine: &Engine, wire: Wire, call: &Call) -> Value {
    match engine.session().dispatch(call) {
        Outcome::Reply(reply) => wire.format_reply(engine, call, &reply),
        other => panic!("{other:?}"),
    }
}

#[test]
fn results_have_each_wires_shape() {
    let engine = excel(Arm::Stable);
    let call = Call::new("c1", "format_cells", json!({}));
    let result = |wire: Wire, failed| wire.format_result(&engine, &call, "text", failed);
    assert_eq!(result(Wire::OpenAiChat, true), json!({"role": "tool", "tool_call_id": "c1", "content": "text"}));
    assert_eq!(
        result(Wire::OpenAiResponses, true),
        json!({"type": "function_call_output", "call_id": "c1", "output": "text"})
    );
    assert_eq!(result(Wire::Anthropic, false), json!({"type": "tool_result", "tool_use_id": "c1", "content": "text"}));
    assert_eq!(result(Wire::Anthropic, true)["is_error"], true);
    assert_eq!(
        result(Wire::Gemini, false),
        json!({"functionResponse": {"id": "c1", "name": "format_cells", "response": {"output": "text"}}})
    );
    let numbered = Call::new("call-2", "format_cells", json!({}));
    assert_eq!(
        Wire::Gemini.format_result(&engine, &numbered, "text", true),
        json!({"functionResponse": {"name": "format_cells", "response": {"error": "text"}}}),
        "an id that the provider never gave is not sent"
    );
    assert_eq!(result(Wire::Mcp, true), json!({"content": [{"type": "text", "text": "text"}], "isError": true}));
}

#[test]
fn expansions_answer_with_text_unless_native() {
    let engine = excel(Arm::Stable);
    let call = Call::new("c1", EXPAND_TOOLS, open_format());
    let answer = answered(&engine, Wire::OpenAiChat, &call);
    assert!(answer["content"].as_str().unwrap().contains("\"name\":\"format_cells\""));
    assert!(answered(&engine, Wire::Anthropic, &call)["content"].is_string());
    assert_eq!(answered(&engine, Wire::OpenAiResponses, &call)["type"], "function_call_output");
}

#[test]
fn native_expansions_answer_as_the_provider_wants() {
    let engine = excel(Arm::Native);
    let call = Call::new("c1", EXPAND_TOOLS, open_format());
    let format = engine.presentation(Arm::Native).deferred().iter().find(|entry| entry.category == "format").unwrap();
    let answer = answered(&engine, Wire::Anthropic, &call);
    let references = answer["content"].as_array().unwrap();
    assert_eq!(references.len(), format.tools.len());
    assert!(references.contains(&json!({"type": "tool_reference", "tool_name": "format_cells"})));
    assert_eq!((&answer["type"], &answer["tool_use_id"]), (&json!("tool_result"), &json!("c1")));

    let answer = answered(&engine, Wire::OpenAiResponses, &call);
    assert_eq!(
        (&answer["type"], &answer["call_id"], &answer["execution"], &answer["status"]),
        (&json!("tool_search_output"), &json!("c1"), &json!("client"), &json!("completed"))
    );
    let spaces = answer["tools"].as_array().unwrap();
    assert_eq!(spaces.len(), 1);
    assert_eq!((&spaces[0]["type"], &spaces[0]["name"]), (&json!("namespace"), &json!("format")));
    let whole = spaces[0]["tools"].as_array().unwrap();
    assert_eq!(whole.len(), format.tools.len());
    assert!(whole.iter().all(|tool| tool["parameters"]["properties"].as_object().is_some_and(|all| !all.is_empty())));

    let nothing = Call::new("c2", EXPAND_TOOLS, json!({"categories": ["no such thing"]}));
    assert!(answered(&engine, Wire::Anthropic, &nothing)["content"].as_str().unwrap().contains("Unknown"));
    assert_eq!(answered(&engine, Wire::OpenAiResponses, &nothing)["tools"], json!([]));
}
