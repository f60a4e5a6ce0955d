//! toolfold in an agent on [genai](https://docs.rs/genai), with a script instead of a provider. Run
//! it: `cargo run -p toolfold-examples genai`
//!
//! The tools, the request, the response and the messages are the library's own types. They are not
//! a provider's wire format, so the agent uses the tools in neutral form and passes calls to the
//! gate one at a time. An existing agent adopts toolfold with the lines marked `toolfold`.

use std::error::Error;

use genai::ModelIden;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ChatResponse, MessageContent, Tool, ToolCall, ToolResponse};
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
    // toolfold, once per process. The tools are the agent's: here the built-in ones.
    let catalog = Catalog::from_openai(include_str!("../../../profiles/excel/tools.json"))?;
    let profile =
        ToolProfile::parse(include_str!("../../../profiles/excel/profile.toml"), "profile.toml").into_result()?;
    let engine = Engine::builder(catalog).profile(profile).build()?;
    // toolfold, once per conversation.
    let mut conversation = engine.conversation(Wire::OpenAiChat).arm(Arm::Stable).start()?;

    let mut messages = vec![ChatMessage::user("Make column A of sales.xlsx a percentage.")];
    let mut turns = Vec::new();
    loop {
        let array = conversation.tools(); // toolfold: the tools to send, in neutral form
        let request = ChatRequest::from_messages(messages.clone()).with_tools(tools(array.entries())?);
        let sent = serde_json::to_string(&request.tools)?;

        let response = scripted(&request, turns.len()); // client.exec_chat(model, request, None).await?
        let made: Vec<ToolCall> = response.tool_calls().into_iter().cloned().collect();
        messages.push(ChatMessage::assistant(response.content));
        let mut calls = Vec::new();
        for call in &made {
            let outcome = conversation.call(&call.call_id, &call.fn_name, &call.fn_arguments)?; // toolfold: the gate
            let (became, content) = match &outcome {
                Outcome::Forward(forward) => {
                    let result = run_tool(forward.target.as_str(), &forward.arguments);
                    conversation.report_result(&forward.id, true); // toolfold
                    ("forward", result)
                }
                // With a policy, show a `Confirm` to the user first, as in `examples/agent.rs`.
                other => ("reply", other.content().unwrap_or_default().into_owned()),
            };
            calls.push(format!("{} -> {became}", call.fn_name));
            messages.push(ToolResponse::new(call.call_id.as_str(), content).into());
        }
        turns.push(Turn { tools: sent, digest: array.digest().to_owned(), calls });
        if made.is_empty() {
            return Ok(turns);
        }
    }
}

/// The tools as the library's type.
fn tools(entries: Vec<ToolEntry>) -> serde_json::Result<Vec<Tool>> {
    let tool = |entry: ToolEntry| {
        let own = Tool::new(entry.name).with_schema(serde_json::from_str(&entry.parameters)?);
        Ok(Tool { description: Some(entry.description).filter(|text| !text.is_empty()), ..own })
    };
    entries.into_iter().map(tool).collect()
}

/// The model's answer: it opens a category, calls one of its tools (and one that does not exist),
/// and ends.
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

/// The agent's own code: toolfold never runs a tool.
fn run_tool(name: &str, _arguments: &Value) -> String {
    format!("{name}: done")
}
