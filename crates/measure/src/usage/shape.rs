//! Detects the kind of a value: a call, a transcript of some wire, or a message.

use serde_json::Value;
use toolfold::wire::Wire;

use crate::json::{list_member, string_member};

/// The keys under which logs name a conversation, most reliable first.
const IDS: [&str; 13] = [
    "conversation",
    "conversation_id",
    "conversationId",
    "session",
    "session_id",
    "sessionId",
    "thread",
    "thread_id",
    "threadId",
    "chat_id",
    "trace_id",
    "traceId",
    "run_id",
];

/// The keys under which a call log names the tool.
const TOOLS: [&str; 5] = ["tool", "tool_name", "toolName", "name", "function"];

/// The keys under which a call log has the arguments.
const ARGUMENTS: [&str; 6] = ["arguments", "args", "input", "parameters", "params", "tool_input"];

/// The keys under which logs wrap a request, a message or an item.
const WRAPPERS: [&str; 7] = ["body", "request", "message", "payload", "item", "data", "response"];

/// The maximum depth of wrappers.
const MAX_WRAPPING: usize = 3;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape<'v> {
    /// A record of toolfold's own event log.
    Event,
    /// A call of that name.
    Call { name: &'v str, arguments: Option<&'v Value> },
    /// A request body or a message array of a wire.
    Transcript(Wire, &'v Value),
    /// One message or item of a wire.
    Message(Wire, &'v Value),
    /// Several values.
    Several(&'v [Value]),
    /// A value without calls.
    Nothing,
}

/// The conversation id of a value: its own, or that of the wrapped value.
pub(super) fn conversation_id(value: &Value) -> Option<String> {
    let id = own_id(value).or_else(|| own_id(value.get("metadata")?));
    id.or_else(|| WRAPPERS.iter().find_map(|key| own_id(value.get(key)?)))
}

fn own_id(value: &Value) -> Option<String> {
    IDS.iter().find_map(|key| match value.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // Responses writes `{"conversation": {"id": …}}`.
        Value::Object(map) => Some(map.get("id")?.as_str()?.to_owned()),
        _ => None,
    })
}

pub(super) fn shape(value: &Value) -> Shape<'_> {
    within(value, MAX_WRAPPING)
}

fn within(value: &Value, depth: usize) -> Shape<'_> {
    if let Value::Array(list) = value {
        return of_list(value, list);
    }
    if !value.is_object() {
        return Shape::Nothing;
    }
    if let (Some(Value::String(_)), Some(Value::Number(_))) = (value.get("event"), value.get("v")) {
        return Shape::Event;
    }
    if let Some(wire) = request_wire(value) {
        return Shape::Transcript(wire, value);
    }
    if let Some(wire) = message(value) {
        return Shape::Message(wire, value);
    }
    if let Some(call) = logged_call(value) {
        return call;
    }
    for inner in WRAPPERS.iter().filter_map(|key| value.get(key)) {
        let found = if depth == 0 { Shape::Nothing } else { within(inner, depth - 1) };
        if found != Shape::Nothing {
            return found;
        }
    }
    answer_message(value).unwrap_or(Shape::Nothing)
}

fn of_list<'v>(whole: &'v Value, list: &'v [Value]) -> Shape<'v> {
    let requests = list
        .iter()
        .any(|value| request_wire(value).is_some() || logged_call(value).is_some() && message(value).is_none());
    if requests {
        return Shape::Several(list);
    }
    match wire_of(list) {
        Some(wire) => Shape::Transcript(wire, whole),
        None if list.iter().any(Value::is_object) => Shape::Several(list),
        None => Shape::Nothing,
    }
}

/// The wire of a list of messages: text alone does not distinguish Chat from the others.
fn wire_of(messages: &[Value]) -> Option<Wire> {
    let mut found = None;
    for wire in messages.iter().filter_map(message) {
        if wire != Wire::OpenAiChat {
            return Some(wire);
        }
        found = Some(wire);
    }
    found
}

fn request_wire(value: &Value) -> Option<Wire> {
    if let Some(Value::Array(contents)) = value.get("contents")
        && contents.iter().all(|content| content.get("parts").is_some())
    {
        return Some(Wire::Gemini);
    }
    if let Some(Value::Array(messages)) = value.get("messages") {
        if value.get("toolConfig").is_some() || value.get("inferenceConfig").is_some() {
            return Some(Wire::BedrockConverse);
        }
        let of_claude = value.get("system").is_some() || value.get("anthropic_version").is_some();
        return Some(if of_claude { Wire::Anthropic } else { wire_of(messages).unwrap_or(Wire::OpenAiChat) });
    }
    let Some(Value::Array(items)) = value.get("input") else { return None };
    let are_items = items.iter().all(|item| item.get("role").is_some() || item.get("type").is_some());
    (are_items && !items.is_empty()).then_some(Wire::OpenAiResponses)
}

fn message(value: &Value) -> Option<Wire> {
    if string_member(value, "jsonrpc") == Some("2.0") {
        return Some(Wire::Mcp);
    }
    let items = ["function_call", "function_call_output", "tool_search_call", "tool_search_output", "reasoning"];
    if items.contains(&string_member(value, "type").unwrap_or_default()) {
        return Some(Wire::OpenAiResponses);
    }
    string_member(value, "role")?;
    if let Some(Value::Array(_)) = value.get("parts") {
        return Some(Wire::Gemini);
    }
    for block in list_member(value, "content") {
        let kind = string_member(block, "type").unwrap_or_default();
        if matches!(kind, "tool_use" | "tool_result" | "thinking" | "redacted_thinking") {
            return Some(Wire::Anthropic);
        }
        if block.get("toolUse").is_some() || block.get("toolResult").is_some() {
            return Some(Wire::BedrockConverse);
        }
    }
    Some(Wire::OpenAiChat)
}

fn answer_message(value: &Value) -> Option<Shape<'_>> {
    if let Some(message) = value.pointer("/choices/0/message") {
        return Some(Shape::Message(Wire::OpenAiChat, message));
    }
    if let Some(content) = value.pointer("/candidates/0/content") {
        return Some(Shape::Message(Wire::Gemini, content));
    }
    if let Some(message) = value.pointer("/output/message") {
        return Some(Shape::Message(Wire::BedrockConverse, message));
    }
    let output = value.get("output").filter(|output| output.is_array())?;
    Some(Shape::Transcript(Wire::OpenAiResponses, output))
}

fn logged_call(value: &Value) -> Option<Shape<'_>> {
    let (key, named) = TOOLS.iter().find_map(|key| Some((*key, value.get(key)?)))?;
    let arguments = logged_arguments(value);
    if let Value::String(name) = named {
        // A `name` alone can be anything; a call also has an id or arguments.
        let sure = key != "name" || arguments.is_some() || conversation_id(value).is_some();
        return sure.then_some(Shape::Call { name, arguments });
    }
    let name = named.get("name")?.as_str()?;
    Some(Shape::Call { name, arguments: logged_arguments(named).or(arguments) })
}

fn logged_arguments(value: &Value) -> Option<&Value> {
    ARGUMENTS.iter().find_map(|key| value.get(key))
}
