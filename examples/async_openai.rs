//! toolfold in an agent on [async-openai](https://docs.rs/async-openai), with a script in place of the API.
//! Run it: `cargo run --example async_openai`
//!
//! The request, the response and the messages are the library's own types. An agent that has them already adopts toolfold
//! in the five places marked `toolfold:`.

use std::error::Error;

use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
    CreateChatCompletionResponse,
};
use serde_json::{Value, from_str, from_value, json, to_value};
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

    let user = ChatCompletionRequestUserMessage::from("Make column A of sales.xlsx a percentage.");
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![user.into()];
    let mut turns = Vec::new();
    loop {
        // toolfold: the array to send, in the library's type.
        let array = session.present(WIRE);
        let request = CreateChatCompletionRequest {
            model: "gpt-4.1".to_owned(),
            messages: messages.clone(),
            tools: Some(from_str(&array)?),
            ..Default::default()
        };
        let tools = serde_json::to_string(&request.tools)?;
        let mut turn = Turn { tools, digest: array.digest().to_owned(), calls: Vec::new() };

        let response = scripted(&request, turns.len())?; // client.chat().create(request).await?
        let answer = response.choices.first().ok_or("a response without choices")?;
        let answer = to_value(&answer.message)?;
        // toolfold: every call goes through the gate, and every answer into the next request.
        let calls = WIRE.parse_calls(&engine, &answer)?;
        messages.push(from_value(answer)?);
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
            messages.push(from_value(message)?);
        }
        turns.push(turn);
        if calls.is_empty() {
            return Ok(turns);
        }
    }
}

/// What the API would answer: the model opens a category, calls a tool of it (and one that does not exist), and ends.
fn scripted(request: &CreateChatCompletionRequest, turn: usize) -> serde_json::Result<CreateChatCompletionResponse> {
    let format = json!({"file_path": "sales.xlsx", "cell_range": "A2:A99", "number_format": "0.0%"});
    let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let message = match turn {
        0 => {
            json!({"role": "assistant", "tool_calls": [call("c1", "expand_tools", json!({"categories": ["format"]}))]})
        }
        1 => json!({"role": "assistant", "tool_calls": [
            call("c2", "format_cells", format),
            call("c3", "format_column", json!({"column": "A"})),
        ]}),
        _ => json!({"role": "assistant", "content": "Column A shows percentages now."}),
    };
    serde_json::from_value(json!({
        "id": format!("chatcmpl-{turn}"), "object": "chat.completion", "created": 0, "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": if turn < 2 { "tool_calls" } else { "stop" }}],
    }))
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
