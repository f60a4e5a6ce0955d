//! Calls as each wire makes them, and the answers it takes.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, EXPAND_TOOLS};
use toolfold::wire::Wire;

use super::excel;
use crate::talk::Talk;

fn open_format() -> Value {
    json!({"categories": ["format"]})
}

/// Tools that take anything.
fn anything() -> Engine {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let list = json!([tool("x"), tool("y"), tool("z"), tool("format_cells")]);
    Engine::builder(Catalog::from_mcp(&list.to_string()).unwrap()).arm(Arm::Full).build().unwrap()
}

/// What the gate took each call of a message for: id, name, and the arguments where they are JSON.
fn read(conversation: &mut Conversation, message: &Value) -> Vec<(String, String, Option<Value>)> {
    let turn = conversation.turn(message).unwrap();
    let each = turn.outcomes().map(|outcome| {
        let arguments = match outcome {
            Outcome::Forward(forward) => Some(forward.arguments.clone()),
            _ => None,
        };
        (outcome.id().to_string(), outcome.name().to_owned(), arguments)
    });
    each.collect()
}

#[track_caller]
fn check(wire: Wire, message: &Value, expected: &[(&str, &str, Option<Value>)]) {
    let found = read(&mut anything().talk_on(wire), message);
    let expected: Vec<_> =
        expected.iter().map(|(id, name, args)| ((*id).to_owned(), (*name).to_owned(), args.clone())).collect();
    assert_eq!(found, expected, "{wire} {message}");
}

#[test]
fn calls_are_read_in_each_format() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{\"k\":1}"}},
        {"id": "b", "type": "function", "function": {"name": "y", "arguments": ""}},
        {"id": "c", "type": "function", "function": {"name": "y", "arguments": "{"}},
        {"id": "d", "type": "custom", "custom": {"name": "z", "input": "text"}}]});
    check(
        Wire::OpenAiChat,
        &message,
        &[("a", "x", Some(json!({"k": 1}))), ("b", "y", Some(json!({}))), ("c", "y", None)],
    );
    check(Wire::OpenAiChat, &json!({"role": "assistant", "content": "No calls."}), &[]);
    let old = json!({"role": "assistant", "function_call": {"name": "x", "arguments": "{}"}});
    check(Wire::OpenAiChat, &old, &[("toolfold-call-1", "x", Some(json!({})))]);

    let items = json!([
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "format_cells", "namespace": "format", "arguments": "{}"},
        {"type": "tool_search_call", "id": "ts_1", "call_id": "b", "execution": "client", "arguments": open_format()},
        {"type": "tool_search_call", "id": "ts_2", "call_id": null, "execution": "server", "arguments": {}}]);
    check(Wire::OpenAiResponses, &items, &[("a", "format_cells", Some(json!({}))), ("b", EXPAND_TOOLS, None)]);
    check(Wire::OpenAiResponses, &items[1], &[("a", "format_cells", Some(json!({})))]);
    check(Wire::OpenAiResponses, &json!([]), &[]);

    let blocks = json!([{"type": "text", "text": "Now."}, {"type": "tool_use", "id": "toolu_1", "name": "x", "input": {"k": 1}},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]);
    let expected = [("toolu_1", "x", Some(json!({"k": 1})))];
    check(Wire::Anthropic, &json!({"role": "assistant", "content": blocks}), &expected);
    check(Wire::Anthropic, &json!({"type": "message", "id": "m", "role": "assistant", "content": blocks}), &expected);
    check(Wire::Anthropic, &blocks, &expected);
    check(Wire::Anthropic, &json!({"role": "assistant", "content": "Done."}), &[]);

    let parts = json!({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {"k": 1}}}, {"text": "…"},
        {"functionCall": {"id": "own", "name": "y"}}, {"functionCall": {"name": "z", "args": null}}]});
    let expected = [
        ("toolfold-call-1", "x", Some(json!({"k": 1}))),
        ("own", "y", Some(json!({}))),
        ("toolfold-call-3", "z", Some(json!({}))),
    ];
    check(Wire::Gemini, &parts, &expected);

    let params = json!({"name": "x", "arguments": {"k": 1}});
    check(Wire::Mcp, &params, &[("toolfold-call-1", "x", Some(json!({"k": 1})))]);
    check(
        Wire::Mcp,
        &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}),
        &[("7", "x", Some(json!({"k": 1})))],
    );
    check(Wire::Mcp, &json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}), &[]);
}

#[test]
fn calls_without_ids_are_numbered_over_the_whole_conversation() {
    let mut conversation = anything().talk_on(Wire::Gemini);
    let message = |n: usize| json!({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {"n": n}}}]});
    let ids: Vec<String> = (0..3).map(|n| read(&mut conversation, &message(n)).remove(0).0).collect();
    assert_eq!(ids, ["toolfold-call-1", "toolfold-call-2", "toolfold-call-3"]);
}

fn said(wire: Wire, message: &Value) -> String {
    anything().talk_on(wire).turn(message).unwrap_err().to_string()
}

#[test]
fn an_error_has_its_place() {
    let check = |wire, message: Value, expected: &str| assert_eq!(said(wire, &message), expected);
    check(
        Wire::OpenAiChat,
        json!({"tool_calls": [{"id": "a", "function": {"name": 5}}]}),
        "openai-chat: `/tool_calls/0/function/name` must be a string, not a number",
    );
    check(
        Wire::OpenAiChat,
        json!({"tool_calls": [{"id": "a"}]}),
        "openai-chat: `/tool_calls/0/function` must be an object, not absent",
    );
    check(
        Wire::Anthropic,
        json!({"content": [{"type": "tool_use", "id": 1, "name": "x"}]}),
        "anthropic: `/content/0/id` must be a string, not a number",
    );
    check(Wire::Gemini, json!({"parts": {}}), "gemini: `/parts` must be an array, not an object");
    check(Wire::Mcp, json!({"method": "tools/call", "id": 1}), "mcp: `/params` must be an object, not absent");
    check(
        Wire::OpenAiResponses,
        json!([{"type": "function_call", "call_id": "a"}]),
        "openai-responses: `/0/name` must be a string, not absent",
    );
    let broken = anything().talk_on(Wire::OpenAiChat).turn("{\"tool_calls\": [").unwrap_err().to_string();
    assert!(broken.starts_with("openai-chat: the message is not valid JSON: EOF"), "{broken}");
}

/// Every wire's message on every other wire: an error that names both, never a message without
/// calls.
#[test]
fn a_message_of_another_wire_is_rejected_by_name() {
    let own = |wire: Wire| match wire {
        Wire::OpenAiChat => wire.assistant_message(&[("a", "x", json!({}))]),
        other => other.assistant_message(&[("a", "x", json!({}))]),
    };
    let looks = |wire: Wire| match wire {
        Wire::OpenAiChat => "a Chat Completions message (`tool_calls`)",
        Wire::OpenAiResponses => "output items of OpenAI Responses (`function_call`)",
        Wire::Anthropic => "an Anthropic message (`tool_use` blocks)",
        Wire::Gemini => "a Gemini content (`parts`)",
        Wire::BedrockConverse => "a message of Bedrock Converse (`toolUse` blocks)",
        _ => "an MCP request (`method`)",
    };
    for wire in Wire::ALL {
        assert_eq!(read(&mut anything().talk_on(wire), &own(wire)).len(), 1, "{wire}");
        for other in Wire::ALL.into_iter().filter(|other| *other != wire) {
            let why = said(wire, &own(other));
            assert!(why.starts_with(&format!("{wire} expects ")), "{wire} {other}: {why}");
            assert!(why.ends_with(&format!("; this looks like {}", looks(other))), "{wire} {other}: {why}");
        }
    }
}

#[test]
fn a_whole_response_is_rejected_with_the_part_to_pass() {
    let chat = json!({"choices": [{"message": {"role": "assistant", "content": "Hi."}}]});
    assert!(said(Wire::OpenAiChat, &chat).ends_with("pass its `choices[0].message`"));
    let responses = json!({"id": "resp_1", "object": "response", "output": []});
    assert!(said(Wire::OpenAiResponses, &responses).ends_with("pass its `output`"));
    let gemini = json!({"candidates": [{"content": {"parts": []}}]});
    assert!(said(Wire::Gemini, &gemini).ends_with("pass its `candidates[0].content`"));
    for (wire, message) in [
        (Wire::Anthropic, json!({"model": "m", "messages": []})),
        (Wire::OpenAiChat, json!([{"role": "user", "content": "Hi."}])),
        (Wire::OpenAiChat, json!({})),
        (Wire::Mcp, json!(5)),
        (Wire::Gemini, json!({"role": "assistant", "content": "Hi."})),
    ] {
        assert!(said(wire, &message).contains(&format!("{wire} expects")) || said(wire, &message).contains("must be"));
    }
}

#[test]
fn a_message_without_calls_is_an_empty_turn() {
    let mut conversation = anything().talk();
    let turn = conversation.turn(&json!({"role": "assistant", "content": "Hi."})).unwrap();
    assert!(turn.is_empty());
}

#[test]
fn arguments_keep_every_digit_on_every_wire() {
    let long = "12345678901234567890123";
    for wire in Wire::ALL {
        let message = wire.assistant_message(&[("a", "x", json!({"n": 5}))]).to_string();
        let message =
            message.replace("\\\"n\\\":5", &format!("\\\"n\\\":{long}")).replace("\"n\":5", &format!("\"n\":{long}"));
        let mut conversation = anything().talk_on(wire);
        let turn = conversation.turn(&message).unwrap();
        let Some(Outcome::Forward(forward)) = turn.outcomes().next() else { panic!("{wire}: {message}") };
        assert_eq!(forward.arguments_json, format!("{{\"n\":{long}}}"), "{wire}");
    }
    let wrapped = format!("{{\"name\":\"x\",\"arguments\":{{\"n\":{long}}}}}");
    let Ok(Outcome::Forward(forward)) = anything().talk().call("a", "call_tool", &wrapped) else { panic!("{wrapped}") };
    assert_eq!(forward.arguments_json, format!("{{\"n\":{long}}}"), "taken off its wrapper");
}

/// What is appended for a call of a tool and its result.
fn result(wire: Wire, id: &str, result: Result<&str, &str>) -> Value {
    let mut conversation = excel(Arm::Stable).talk_on(wire);
    let arguments = json!({"file_path": "a.xlsx", "cell_range": "A1", "number_format": "0"});
    conversation.call("shown-first", "format_cells", arguments.clone()).unwrap();
    let outcome = conversation.call(id, "format_cells", arguments).unwrap();
    let mut messages = conversation.answer(outcome.id(), result).unwrap();
    assert_eq!(messages.len(), 1, "{wire}");
    messages.remove(0)
}

#[test]
fn results_have_each_wires_format() {
    let (ok, failed) = (Ok("text"), Err("text"));
    assert_eq!(
        result(Wire::OpenAiChat, "c1", failed),
        json!({"role": "tool", "tool_call_id": "c1", "content": "text"})
    );
    assert_eq!(
        result(Wire::OpenAiResponses, "c1", failed),
        json!({"type": "function_call_output", "call_id": "c1", "output": "text"})
    );
    assert_eq!(
        result(Wire::Anthropic, "c1", ok),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "text"}]})
    );
    assert_eq!(result(Wire::Anthropic, "c1", failed)["content"][0]["is_error"], true);
    assert_eq!(
        result(Wire::Gemini, "c1", ok),
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "format_cells", "response": {"output": "text"}}}]})
    );
    assert_eq!(
        result(Wire::Gemini, "", failed),
        json!({"role": "user", "parts": [{"functionResponse": {"name": "format_cells", "response": {"error": "text"}}}]}),
        "an id that the provider never gave is not sent"
    );
    let mcp = json!({"content": [{"type": "text", "text": "text"}], "isError": true});
    assert_eq!(result(Wire::Mcp, "c1", failed), mcp);
}

/// The answers to one call.
fn answered(engine: &Engine, wire: Wire, name: &str, arguments: Value) -> Vec<Value> {
    engine.talk_on(wire).call("c1", name, arguments).unwrap().answers()
}

#[test]
fn expansions_answer_with_text_unless_native() {
    let engine = excel(Arm::Stable);
    let answer = |wire| answered(&engine, wire, EXPAND_TOOLS, open_format()).remove(0);
    assert!(answer(Wire::OpenAiChat)["content"].as_str().unwrap().contains("\"name\":\"format_cells\""));
    assert!(answer(Wire::Anthropic)["content"].is_string());
    assert_eq!(answer(Wire::OpenAiResponses)["type"], "function_call_output");
}

#[test]
fn native_expansions_use_the_providers_format() {
    let engine = excel(Arm::Native);
    let presentation = engine.presentation(Arm::Native);
    let format = presentation.deferred.iter().find(|entry| entry.category == "format").unwrap();
    let [answer] = &answered(&engine, Wire::Anthropic, EXPAND_TOOLS, open_format())[..] else { panic!("one answer") };
    let references = answer["content"].as_array().unwrap();
    assert_eq!(references.len(), format.tools.len());
    assert!(references.contains(&json!({"type": "tool_reference", "tool_name": "format_cells"})));
    assert_eq!((&answer["type"], &answer["tool_use_id"]), (&json!("tool_result"), &json!("c1")));

    let [answer] = &answered(&engine, Wire::OpenAiResponses, EXPAND_TOOLS, open_format())[..] else {
        panic!("nothing has to be said beside it")
    };
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
}

#[test]
fn native_answers_have_notes_beside_them() {
    let engine = excel(Arm::Native);
    let both = json!({"categories": ["format", "charrt"]});
    let [answer] = &answered(&engine, Wire::Anthropic, EXPAND_TOOLS, both.clone())[..] else { panic!("one answer") };
    let content = answer["content"].as_array().unwrap();
    let last = content.last().unwrap();
    assert_eq!(last, &json!({"type": "text", "text": "Unknown category `charrt`. Did you mean `chart`?"}));
    let [found, note] = &answered(&engine, Wire::OpenAiResponses, EXPAND_TOOLS, both)[..] else { panic!("and a note") };
    assert_eq!(found["tools"].as_array().unwrap().len(), 1);
    assert_eq!((&note["type"], &note["role"]), (&json!("message"), &json!("developer")));
    assert_eq!(note["content"][0]["text"], last["text"]);

    let nothing = json!({"categories": ["no such thing"]});
    let [answer] = &answered(&engine, Wire::Anthropic, EXPAND_TOOLS, nothing.clone())[..] else { panic!("one") };
    assert!(answer["content"].as_str().unwrap().contains("Unknown category `no such thing`"));
    let [found, note] = &answered(&engine, Wire::OpenAiResponses, EXPAND_TOOLS, nothing)[..] else { panic!("two") };
    assert_eq!(found["tools"], json!([]));
    assert!(note["content"][0]["text"].as_str().unwrap().contains("Unknown category"));
}

/// The loop breaker's sentence reaches the model natively too.
#[test]
fn native_answers_contain_loop_directives() {
    for wire in [Wire::Anthropic, Wire::OpenAiResponses] {
        let mut conversation = excel(Arm::Native).talk_on(wire);
        let mut said = Vec::new();
        for n in 0..4 {
            let outcome = conversation.call(format!("c{n}"), EXPAND_TOOLS, open_format()).unwrap();
            said.push(json!(outcome.answers()).to_string().contains("Several lookups in a row"));
        }
        assert_eq!(said, [false, false, false, true], "{wire}");
    }
}

#[test]
fn a_turn_has_one_answer_per_call_in_order() {
    for wire in Wire::ALL {
        let mut conversation = anything().talk_on(wire);
        let calls = [("a", "x", json!({})), ("b", "nope", json!({})), ("c", "y", json!({}))];
        let message = wire.assistant_message(&calls);
        let mut turn = conversation.turn(&message).unwrap();
        let runnable = turn.runnable();
        assert_eq!(runnable.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        // Finished in another order than they were made.
        turn.finish(&runnable[1].id, "second").unwrap();
        assert_eq!(turn.runnable().len(), 1);
        assert!(turn.finish(&"b".into(), "no").is_err(), "what was answered here takes no result");
        assert!(turn.finish(&runnable[1].id, "again").is_err(), "once");
        turn.finish(&runnable[0].id, "first").unwrap();
        let messages = turn.into_messages();
        let text = json!(messages).to_string();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{wire}: {part} in {text}"));
        assert!(at("first") < at("Unknown tool") && at("Unknown tool") < at("second"), "{wire}: {text}");
        let wrapped = matches!(wire, Wire::Anthropic | Wire::Gemini | Wire::BedrockConverse);
        assert_eq!(messages.len(), if wrapped { 1 } else { 3 }, "{wire}");
    }
}

#[test]
fn a_call_that_was_never_run_is_answered_as_failed() {
    let mut conversation = anything().talk_on(Wire::Anthropic);
    let message = Wire::Anthropic.assistant_message(&[("a", "x", json!({}))]);
    let messages = conversation.turn(&message).unwrap().into_messages();
    assert_eq!(messages[0]["content"][0]["is_error"], true);
    assert!(messages[0]["content"][0]["content"].as_str().unwrap().contains("returned no result"));
}
