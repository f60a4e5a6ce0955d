//! toolfold in an agent on [async-openai](https://docs.rs/async-openai), with a script instead of
//! the API. Run it: `cargo run -p toolfold-examples async_openai`
//!
//! The request, the response and the messages are the library's own types. An existing agent adopts
//! toolfold with the lines marked `toolfold`.

use std::error::Error;

use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
    CreateChatCompletionResponse,
};
use serde_json::{Value, from_value, json, to_value};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use crate::turn::Turn;

/// Returns what each turn sent.
///
/// # Errors
/// Returns the library's error.
pub fn run() -> Result<Vec<Turn>, Box<dyn Error>> {
    // toolfold, once per process. The tools are the agent's: here the built-in ones.
    let catalog = Catalog::from_openai(include_str!("../../../profiles/excel/tools.json"))?;
    let profile =
        ToolProfile::parse(include_str!("../../../profiles/excel/profile.toml"), "profile.toml").into_result()?;
    let engine = Engine::builder(catalog).profile(profile).build()?;
    // toolfold, once per conversation.
    let mut conversation = engine.conversation(Wire::OpenAiChat).model("gpt-4.1").arm(Arm::Stable).start()?;

    let user = ChatCompletionRequestUserMessage::from("Make column A of sales.xlsx a percentage.");
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![user.into()];
    let mut turns = Vec::new();
    loop {
        let tools = conversation.tools(); // toolfold: the array to send
        let request = CreateChatCompletionRequest {
            model: "gpt-4.1".to_owned(),
            messages: messages.clone(),
            tools: Some(tools.to()?), // in the library's type
            ..Default::default()
        };
        let response = scripted(&request, turns.len())?; // client.chat().create(request).await?
        let answer = to_value(&response.choices.first().ok_or("a response without choices")?.message)?;

        let mut turn = conversation.turn(&answer)?; // toolfold: judges every call
        for call in turn.runnable() {
            turn.finish(&call.id, run_tool(call.target.as_str(), &call.arguments))?;
        }
        let calls: Vec<String> = turn.outcomes().map(line).collect();
        let answers = turn.into_messages(); // toolfold: one answer a call, in the API's shape
        messages.push(from_value(answer)?);
        for message in answers {
            messages.push(from_value(message)?);
        }

        let ended = calls.is_empty();
        let sent = serde_json::to_string(&request.tools)?;
        turns.push(Turn { tools: sent, digest: tools.digest().to_owned(), calls });
        if ended {
            return Ok(turns);
        }
    }
}

/// The outcome of a call, for the output.
fn line(outcome: &Outcome) -> String {
    let became = match outcome {
        Outcome::Reply(_) => "reply",
        Outcome::Forward(_) => "forward",
        Outcome::Confirm(_) => "confirm",
        Outcome::Refuse(_) => "refuse",
    };
    format!("{} -> {became}", outcome.name())
}

/// The API's answer: the model opens a category, calls one of its tools (and one that does not
/// exist), and ends.
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

/// The agent's own code: toolfold never runs a tool.
fn run_tool(name: &str, _arguments: &Value) -> String {
    format!("{name}: done")
}
