//! toolfold in an agent on [rig](https://docs.rs/rig-core), with a scripted model instead of a
//! provider's. Run it: `cargo run -p toolfold-examples rig`
//!
//! The model, the tools, the request and the messages are the library's own types. They are not a
//! provider's wire format, so the agent uses the tools in neutral form and passes calls to the gate
//! one at a time. An existing agent adopts toolfold with the lines marked `toolfold`.

use std::error::Error;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rig_core::completion::message::{ToolResultContent, UserContent};
use rig_core::completion::{
    AssistantContent, CompletionError, CompletionModel, CompletionRequest, CompletionResponse, Message, ToolDefinition,
    Usage,
};
use rig_core::streaming::StreamingCompletionResponse;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::{ToolEntry, Wire};

use crate::turn::Turn;

/// Returns what each turn sent.
///
/// # Errors
/// Returns the library's error.
pub fn run() -> Result<Vec<Turn>, Box<dyn Error>> {
    block_on(talk(Scripted))
}

async fn talk(model: impl CompletionModel + Clone) -> Result<Vec<Turn>, Box<dyn Error>> {
    // toolfold, once per process. The tools are the agent's: here the built-in ones.
    let catalog = Catalog::from_openai(include_str!("../../../profiles/excel/tools.json"))?;
    let profile =
        ToolProfile::parse(include_str!("../../../profiles/excel/profile.toml"), "profile.toml").into_result()?;
    let engine = Engine::builder(catalog).profile(profile).build()?;
    // toolfold, once per conversation.
    let mut conversation = engine.conversation(Wire::OpenAiChat).arm(Arm::Stable).start()?;

    let mut history = Vec::new();
    let mut prompt = Message::user("Make column A of sales.xlsx a percentage.");
    let mut turns = Vec::new();
    loop {
        let array = conversation.tools(); // toolfold: the tools to send, in neutral form
        let tools = tools(array.entries())?;
        let sent = serde_json::to_string(&tools)?;

        let request = model.completion_request(prompt.clone()).messages(history.clone()).tools(tools);
        let response = request.send().await?;
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for content in &response.choice {
            let AssistantContent::ToolCall(call) = content else { continue };
            let name = &call.function.name;
            let outcome = conversation.call(call.id.as_str(), name, &call.function.arguments)?; // toolfold: the gate
            let (became, content) = match &outcome {
                Outcome::Forward(forward) => {
                    let result = run_tool(forward.target.as_str(), &forward.arguments);
                    conversation.report_result(&forward.id, true); // toolfold
                    ("forward", result)
                }
                // With a policy, show a `Confirm` to the user first, as in `examples/agent.rs`.
                other => ("reply", other.content().unwrap_or_default().into_owned()),
            };
            calls.push(format!("{name} -> {became}"));
            let content = vec![ToolResultContent::text(content)];
            results.push(UserContent::tool_result_for(call.id.clone(), call.provider.clone(), name, content));
        }
        turns.push(Turn { tools: sent, digest: array.digest().to_owned(), calls });
        if results.is_empty() {
            return Ok(turns);
        }
        history.push(prompt);
        history.push(Message::Assistant { id: response.message_id, content: response.choice });
        prompt = results.into();
    }
}

/// The tools as the library's type.
fn tools(entries: Vec<ToolEntry>) -> serde_json::Result<Vec<ToolDefinition>> {
    let tool = |entry: ToolEntry| {
        let parameters = serde_json::from_str(&entry.parameters)?;
        Ok(ToolDefinition { name: entry.name, description: entry.description, parameters })
    };
    entries.into_iter().map(tool).collect()
}

/// A script instead of a provider's model: it opens a category, calls one of its tools (and one
/// that does not exist), and ends.
#[derive(Clone)]
struct Scripted;

impl CompletionModel for Scripted {
    async fn completion(&self, request: CompletionRequest) -> Result<CompletionResponse, CompletionError> {
        let format = json!({"file_path": "sales.xlsx", "cell_range": "A2:A99", "number_format": "0.0%"});
        let call = |id: &str, name: &str, arguments| AssistantContent::tool_call(id, name, arguments);
        // The number of earlier answers.
        let turn = request.chat_history.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let choice = match turn {
            0 => vec![call("c1", "expand_tools", json!({"categories": ["format"]}))],
            1 => vec![call("c2", "format_cells", format), call("c3", "format_column", json!({"column": "A"}))],
            _ => vec![AssistantContent::text("Column A shows percentages now.")],
        };
        Ok(CompletionResponse::new(choice, Usage::new(), "scripted"))
    }

    async fn stream(&self, _: CompletionRequest) -> Result<StreamingCompletionResponse, CompletionError> {
        Err(CompletionError::ProviderError("the script does not stream".to_owned()))
    }
}

/// The agent's own code: toolfold never runs a tool.
fn run_tool(name: &str, _arguments: &Value) -> String {
    format!("{name}: done")
}

/// A minimal executor: the script never waits. An agent with a real provider runs on tokio.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
