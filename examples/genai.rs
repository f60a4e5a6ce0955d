//! toolfold in an agent on [genai](https://docs.rs/genai), with a script in place of a provider.
//! Run it: `cargo run --example genai`
//!
//! The tools, the request, the response and the messages are the library's own types. They know no provider's wire: toolfold
//! speaks Chat Completions with them, and genai translates for whichever provider the model is of. An agent that has them
//! already adopts toolfold in the five places marked `toolfold:`.

use std::error::Error;

use genai::ModelIden;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ChatResponse, MessageContent, Tool, ToolCall, ToolResponse};
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::{Engine, Outcome};
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

const WIRE: Wire = Wire::OpenAiChat;

/// What a turn sent, and what became of the calls it got back.
pub(crate) struct Turn {
    /// The request's `tools` as the library writes them.
    pub(crate) tools: String,
    /// The digest of the array that the session gave.
    pub(crate) digest: String,
    /// A line for each call.
    pub(crate) calls: Vec<String>,
}

pub(crate) fn run() -> Result<Vec<Turn>, Box<dyn Error>> {
    // toolfold: once a process. The tools are those the agent has: here the built-in ones.
    let catalog = Catalog::from_openai(include_str!("../profiles/excel/tools.json"))?;
    let profile = ToolProfile::parse(include_str!("../profiles/excel/profile.toml"), "profile.toml").value;
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build()?;
    // toolfold: once a conversation.
    let mut session = engine.session();

    let mut messages = vec![ChatMessage::user("Make column A of sales.xlsx a percentage.")];
    let mut turns = Vec::new();
    loop {
        // toolfold: the array to send, in the library's type.
        let array = session.present(WIRE);
        let request = ChatRequest::from_messages(messages.clone()).with_tools(tools(&array)?);
        let sent = serde_json::to_string(&request.tools)?;
        let mut turn = Turn { tools: sent, digest: array.digest().to_owned(), calls: Vec::new() };

        let response = scripted(&request, turns.len()); // client.exec_chat(model, request, None).await?
        // toolfold: every call goes through the gate, and every answer into the next request.
        let calls = WIRE.parse_calls(&engine, &chat_message(&response))?;
        messages.push(ChatMessage::assistant(response.content));
        for call in &calls {
            let (outcome, message) = match session.dispatch(call) {
                Outcome::Reply(reply) => ("reply", WIRE.format_reply(&engine, call, &reply)),
                Outcome::Refuse(refusal) => ("refuse", WIRE.format_refusal(&engine, call, &refusal)),
                Outcome::Confirm(confirm) => {
                    // With a policy: show `confirm.shown` to a person, then session.accept or session.reject.
                    ("confirm", WIRE.format_result(&engine, call, &confirm.reason, true))
                }
                Outcome::Forward(forward) => {
                    let result = run_tool(forward.target.as_str(), &forward.arguments);
                    session.finished(&forward.id, true); // toolfold: the host tells what it ran
                    ("forward", WIRE.format_result(&engine, call, &result, false))
                }
            };
            turn.calls.push(format!("{} -> {outcome}", call.name));
            let content = message["content"].as_str().unwrap_or_default();
            messages.push(ToolResponse::new(call.id.as_str(), content).into());
        }
        turns.push(turn);
        if calls.is_empty() {
            return Ok(turns);
        }
    }
}

/// The array as the library's tools.
fn tools(array: &str) -> serde_json::Result<Vec<Tool>> {
    let array: Vec<Value> = serde_json::from_str(array)?;
    let tool = |mut tool: Value| {
        let function = &mut tool["function"];
        let schema = function["parameters"].take();
        let own = Tool::new(function["name"].as_str().unwrap_or_default()).with_schema(schema);
        Tool { description: function["description"].as_str().map(str::to_owned), ..own }
    };
    Ok(array.into_iter().map(tool).collect())
}

/// The calls of a response as a message of Chat Completions.
fn chat_message(response: &ChatResponse) -> Value {
    let call = |call: &&ToolCall| {
        let function = json!({"name": call.fn_name, "arguments": call.fn_arguments});
        json!({"id": call.call_id, "type": "function", "function": function})
    };
    json!({"role": "assistant", "tool_calls": response.tool_calls().iter().map(call).collect::<Vec<_>>()})
}

/// What a model would answer: it opens a category, calls a tool of it (and one that does not exist), and ends.
fn scripted(_request: &ChatRequest, turn: usize) -> ChatResponse {
    let format = json!({"file_path": "sales.xlsx", "cell_range": "A2:A99", "number_format": "0.0%"});
    let call = |id: &str, name: &str, fn_arguments: Value| ToolCall {
        call_id: id.to_owned(),
        fn_name: name.to_owned(),
        fn_arguments,
        thought_signatures: None,
    };
    let content: MessageContent = match turn {
        0 => call("c1", "expand_tools", json!({"categories": ["format"]})).into(),
        1 => vec![call("c2", "format_cells", format), call("c3", "format_column", json!({"column": "A"}))].into(),
        _ => "Column A shows percentages now.".into(),
    };
    let model = ModelIden::new(AdapterKind::OpenAI, "gpt-4.1");
    ChatResponse {
        content,
        reasoning_content: None,
        model_iden: model.clone(),
        provider_model_iden: model,
        stop_reason: None,
        usage: genai::chat::Usage::default(),
        captured_raw_body: None,
        response_id: None,
    }
}

/// The agent's own: toolfold never runs a tool.
fn run_tool(name: &str, _arguments: &Value) -> String {
    format!("{name}: done")
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut last: Option<String> = None;
    for (at, turn) in run()?.into_iter().enumerate() {
        let same = if last.as_ref().is_none_or(|last| *last == turn.digest) { "unchanged" } else { "CHANGED" };
        println!("turn {at}: {} bytes of tools, digest {:.12} {same}", turn.tools.len(), turn.digest);
        for call in &turn.calls {
            println!("  {call}");
        }
        last = Some(turn.digest);
    }
    Ok(())
}
