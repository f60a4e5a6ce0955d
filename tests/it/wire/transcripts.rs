//! Sessions rebuilt from a provider's message array alone.

use serde_json::{Value, json};
use toolfold::engine::{Call, Engine, Outcome, Session, SessionOptions};
use toolfold::profile::Arm;
use toolfold::wire::{Capabilities, Wire};

use super::{arms, excel};

/// What a host sees of a conversation: the session, and the provider's message array.
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) messages: Vec<Value>,
}

/// Drives a session by assistant messages of calls and keeps the array a provider would be sent.
pub(crate) fn drive(engine: &Engine, wire: Wire, turns: &[Vec<Call>]) -> Live {
    let mut live = Live { session: engine.session(), messages: vec![json!({"role": "user", "content": "Go."})] };
    if matches!(wire, Wire::Gemini | Wire::OpenAiResponses | Wire::Mcp) {
        live.messages.clear();
    }
    for turn in turns {
        let message = wire.format_calls(engine, live.session.arm(), turn);
        // What the host hands to the gate is what it reads off the wire.
        let calls = wire.parse_calls(engine, &message).unwrap();
        match message {
            Value::Array(items) => live.messages.extend(items),
            message => live.messages.push(message),
        }
        let mut results = Vec::new();
        for call in &calls {
            results.push(match live.session.dispatch(call) {
                Outcome::Reply(reply) => wire.format_reply(engine, call, &reply),
                Outcome::Forward(forward) => {
                    live.session.finished(&forward.id, true);
                    wire.format_result(engine, call, "done", false)
                }
                Outcome::Refuse(refusal) => wire.format_refusal(engine, call, &refusal),
                Outcome::Confirm(confirm) => panic!("nobody is asked without a policy: {confirm:?}"),
            });
        }
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => live.messages.extend(results),
            Wire::Anthropic => live.messages.push(json!({"role": "user", "content": results})),
            Wire::Gemini => live.messages.push(json!({"role": "user", "parts": results})),
            Wire::Mcp => {
                let answer =
                    |(call, result): (&Call, Value)| json!({"jsonrpc": "2.0", "id": call.id, "result": result});
                live.messages.extend(calls.iter().zip(results).map(answer));
            }
            other => panic!("{other} is not driven yet"),
        }
    }
    live
}

#[test]
fn a_session_is_rebuilt_on_every_wire_and_arm() {
    let turns = [
        vec![Call::new("c1", "expand_tools", json!({"categories": ["format"]}))],
        vec![
            Call::new("c2", "list_sheets", json!({"file_path": "a.xlsx"})),
            Call::new("c3", "no_such_tool", json!({})),
        ],
        vec![Call::new("c4", "create_chart", json!("not an object"))],
        vec![Call::new("c5", "call_tool", json!({"name": "create_excel_chart", "arguments": []}))],
    ];
    for wire in Wire::ALL {
        for arm in arms(wire) {
            let engine = excel(arm);
            let mut live = drive(&engine, wire, &turns);
            let messages = Value::Array(live.messages);
            let mut again = engine.from_transcript(wire, &messages, SessionOptions::default()).unwrap();
            assert_eq!(again.expanded(), live.session.expanded(), "{wire} {arm}");
            assert_eq!(again.digest(wire), live.session.digest(wire), "{wire} {arm}");
            assert_eq!(again.snapshot(), live.session.snapshot(), "{wire} {arm}");
            assert_eq!(again.opened().is_empty(), arm == Arm::Full, "{wire} {arm}: a bad call opens a schema too");
        }
    }
}

#[test]
fn a_request_is_read_like_its_array() {
    let engine = excel(Arm::Stable);
    let live =
        drive(&engine, Wire::Anthropic, &[vec![Call::new("c1", "expand_tools", json!({"tools": ["format_cells"]}))]]);
    let request = json!({"model": "m", "messages": live.messages, "tools": []});
    let again = engine.from_transcript(Wire::Anthropic, &request, SessionOptions::default()).unwrap();
    assert_eq!(again, live.session);
    let text = json!({"model": "m", "input": "Hello."});
    assert!(
        engine.from_transcript(Wire::OpenAiResponses, &text, SessionOptions::default()).unwrap().opened().is_empty()
    );
}

#[test]
fn a_failed_result_counts_as_one() {
    let engine = excel(Arm::Stable);
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "list_sheets", "input": {"file_path": "a.xlsx"}}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "no", "is_error": true}]});
    let messages: Vec<Value> = ["a", "b", "c"].iter().flat_map(|id| [call(id), result(id)]).collect();
    let mut session = engine.from_transcript(Wire::Anthropic, &json!(messages), SessionOptions::default()).unwrap();
    let outcome = session.dispatch(&Call::new("d", "list_sheets", json!({"file_path": "a.xlsx"})));
    assert!(matches!(outcome, Outcome::Reply(_)), "the loop breaker has counted three failures: {outcome:?}");
}

#[test]
fn what_is_no_message_array_is_refused_with_its_place() {
    let engine = excel(Arm::Stable);
    let said =
        |wire, value: Value| engine.from_transcript(wire, &value, SessionOptions::default()).unwrap_err().to_string();
    assert_eq!(
        said(Wire::OpenAiChat, json!({"messages": 1})),
        "openai-chat: `/messages` must be an array, not a number"
    );
    assert_eq!(said(Wire::OpenAiChat, json!([1])), "openai-chat: `/0` must be an object, not a number");
    assert_eq!(
        said(Wire::Gemini, json!({"contents": [{"role": "model", "parts": [{"functionCall": {}}]}]})),
        "gemini: `/contents/0/parts/0/functionCall/name` must be a string, not absent"
    );
    let native = engine.options_on(Wire::Anthropic, None, "s", Capabilities::builtin()).unwrap();
    let native = SessionOptions { arm: Some(Arm::Native), ..native };
    assert!(engine.from_transcript(Wire::Mcp, &json!([]), native).is_err());
}
