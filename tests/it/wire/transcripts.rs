//! Conversations rebuilt from a provider's message array alone, and what of it a model still sees.

use serde_json::{Value, json};
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::{arms, excel};
use crate::talk::{Call, Dispatch, Talk};

/// What a host sees of a conversation: it, and the provider's message array.
pub(crate) struct Live {
    pub(crate) session: Conversation,
    pub(crate) messages: Vec<Value>,
}

/// Drives a conversation by assistant messages of calls and keeps the array that a provider would
/// be sent. Names are those that a model was shown, or wrote.
pub(crate) fn drive(engine: &Engine, wire: Wire, turns: &[Vec<Call>]) -> Live {
    let mut live = Live { session: engine.talk_on(wire), messages: vec![json!({"role": "user", "content": "Go."})] };
    if matches!(wire, Wire::Gemini | Wire::OpenAiResponses | Wire::Mcp) {
        live.messages.clear();
    }
    for turn in turns {
        step(&mut live, turn);
    }
    live
}

/// One assistant message and its answers.
pub(crate) fn step(live: &mut Live, turn: &[Call]) {
    let wire = live.session.wire();
    let message = made(wire, live.session.arm(), turn);
    let mut judged = live.session.turn(&message).unwrap();
    for call in judged.runnable() {
        judged.finish(&call.id, "done").unwrap();
    }
    let answers = judged.into_messages();
    match message {
        Value::Array(items) => live.messages.extend(items),
        message => live.messages.push(message),
    }
    live.messages.extend(answers);
}

/// The message of a model that makes these calls. Natively a Responses model expands by a search.
fn made(wire: Wire, arm: Arm, calls: &[Call]) -> Value {
    let listed: Vec<(&str, &str, Value)> =
        calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.clone())).collect();
    let mut message = wire.assistant_message(&listed);
    if (wire, arm) == (Wire::OpenAiResponses, Arm::Native) {
        for item in message.as_array_mut().unwrap().iter_mut().filter(|item| item["name"] == "expand_tools") {
            let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
            *item = json!({"type": "tool_search_call", "id": "ts", "call_id": item["call_id"], "execution": "client",
                "arguments": arguments});
        }
    }
    message
}

#[test]
fn a_conversation_is_rebuilt_on_every_wire_and_arm() {
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
            let mut again = engine.conversation(wire).from_transcript(&messages).unwrap();
            assert_eq!(again.expanded(), live.session.expanded(), "{wire} {arm}");
            assert_eq!(again.digest(), live.session.digest(), "{wire} {arm}");
            assert_eq!(again.snapshot(), live.session.snapshot(), "{wire} {arm}");
            assert_eq!(again.opened().is_empty(), arm == Arm::Full, "{wire} {arm}: a bad call opens a schema too");
        }
    }
}

/// Where a provider gives no ids, calls are told by their order.
#[test]
fn a_conversation_without_ids_is_rebuilt() {
    let engine = excel(Arm::Stable);
    let turns = [
        vec![Call::new("", "expand_tools", json!({"categories": ["format"]}))],
        vec![Call::new("", "list_sheets", json!({"file_path": "a.xlsx"}))],
    ];
    let live = drive(&engine, Wire::Gemini, &turns);
    assert!(!json!(live.messages).to_string().contains("toolfold-call"), "no id of ours is sent");
    let again = engine.conversation(Wire::Gemini).from_transcript(&json!(live.messages)).unwrap();
    assert_eq!(again.snapshot(), live.session.snapshot());
}

#[test]
fn a_request_is_read_like_its_array() {
    let engine = excel(Arm::Stable);
    let live =
        drive(&engine, Wire::Anthropic, &[vec![Call::new("c1", "expand_tools", json!({"tools": ["format_cells"]}))]]);
    let request = json!({"model": "m", "messages": live.messages, "tools": []});
    let again = engine.conversation(Wire::Anthropic).from_transcript(&request).unwrap();
    assert_eq!(again, live.session);
    let text = json!({"model": "m", "input": "Hello."});
    assert!(engine.conversation(Wire::OpenAiResponses).from_transcript(&text).unwrap().opened().is_empty());
}

#[test]
fn a_failed_result_counts_as_one() {
    let engine = excel(Arm::Stable);
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "list_sheets", "input": {"file_path": "a.xlsx"}}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "no", "is_error": true}]});
    let messages: Vec<Value> = ["a", "b", "c"].iter().flat_map(|id| [call(id), result(id)]).collect();
    let mut conversation = engine.conversation(Wire::Anthropic).from_transcript(&json!(messages)).unwrap();
    let outcome = conversation.dispatch(&Call::new("d", "list_sheets", json!({"file_path": "a.xlsx"})));
    assert!(matches!(outcome, Outcome::Reply(_)), "three failures are remembered: {outcome:?}");
}

#[test]
fn a_malformed_array_is_an_error_that_names_its_place() {
    let engine = excel(Arm::Stable);
    let said =
        |wire: Wire, messages: Value| engine.conversation(wire).from_transcript(&messages).unwrap_err().to_string();
    assert_eq!(said(Wire::OpenAiChat, json!(5)), "openai-chat: the message must be an array, not a number");
    assert_eq!(said(Wire::OpenAiChat, json!([1])), "openai-chat: `/0` must be an object, not a number");
    assert_eq!(
        said(Wire::Gemini, json!({"contents": [{"role": "model", "parts": [{"functionCall": {}}]}]})),
        "gemini: `/contents/0/parts/0/functionCall/name` must be a string, not absent"
    );
    assert!(engine.conversation(Wire::Mcp).arm(Arm::Native).from_transcript(&json!([])).is_err());
}

fn expand(id: &str, category: &str) -> Call {
    Call::new(id, "expand_tools", json!({"categories": [category]}))
}

/// What a compaction drops counts as closed, and the next look-up brings it again.
#[test]
fn tools_of_dropped_answers_are_closed() {
    for wire in Wire::ALL {
        for arm in arms(wire).filter(|arm| !matches!(arm, Arm::Full | Arm::Seed)) {
            let engine = excel(arm);
            let mut live = drive(&engine, wire, &[vec![expand("c1", "chart")], vec![expand("c2", "print")]]);
            let all = live.session.opened();
            assert!(all.contains(&"create_chart".to_owned()), "{wire} {arm}: {all:?}");
            live.session.seen(&json!(live.messages)).unwrap();
            assert_eq!(live.session.opened(), all, "{wire} {arm}: everything is in sight");
            // The first expansion and its answer go.
            let at = live.messages.iter().position(|message| message.to_string().contains("chart")).unwrap();
            let end = live.messages.iter().rposition(|message| message.to_string().contains("create_chart")).unwrap();
            live.messages.drain(at..=end);
            live.session.seen(&json!(live.messages)).unwrap();
            assert!(!live.session.opened().contains(&"create_chart".to_owned()), "{wire} {arm}");
            assert!(!live.session.opened().is_empty(), "{wire} {arm}: the second is still there");
            let again = live.session.dispatch(&expand("c3", "chart"));
            let Outcome::Reply(reply) = again else { panic!("{wire} {arm}: answered") };
            assert!(reply.opened.iter().any(|tool| tool.name == "create_chart"), "{wire} {arm}: sent again");
        }
    }
}

#[test]
fn a_cut_answer_is_not_visible() {
    let engine = excel(Arm::Stable);
    let mut live = drive(&engine, Wire::OpenAiChat, &[vec![expand("c1", "chart")]]);
    let whole = live.messages.last().unwrap()["content"].as_str().unwrap().to_owned();
    for (left, open) in
        [(whole.clone(), true), ("[cleared]".to_owned(), false), (whole[..whole.len() / 2].to_owned(), false)]
    {
        let mut session = live.session.clone();
        live.messages.last_mut().unwrap()["content"] = json!(left);
        session.seen(&json!(live.messages)).unwrap();
        assert_eq!(!session.opened().is_empty(), open, "{left:.40}");
    }
}

#[test]
fn a_host_without_wire_messages_passes_the_visible_calls() {
    let engine = excel(Arm::Lean);
    let live = drive(&engine, Wire::OpenAiChat, &[vec![expand("c1", "chart")], vec![expand("c2", "print")]]);
    let mut session = live.session.clone();
    session.seen_calls(["c2"]);
    assert!(!session.opened().contains(&"create_chart".to_owned()) && !session.opened().is_empty());
    session.seen_calls(Vec::<String>::new());
    assert_eq!(session.opened(), Vec::<String>::new());
    let again = engine.replay(&session.take_log(0)).map(|again| again == session);
    assert!(again.is_ok_and(|same| same), "what was dropped is in the log");
    // In place the array shows it, whatever the messages say.
    let mut seed = drive(
        &excel(Arm::Seed),
        Wire::OpenAiChat,
        &[vec![Call::new("c1", "expand_tools", json!({"category": "chart"}))]],
    )
    .session;
    seed.seen(&json!([])).unwrap();
    assert!(!seed.opened().is_empty());
}
