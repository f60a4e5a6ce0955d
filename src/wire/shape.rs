//! Detects the API of a message, so that a message of another API is rejected rather than treated
//! as one without calls.

use serde_json::Value;

use super::{Wire, WireError};
use crate::schema::text_member;

/// The detected kind of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An assistant message with only text, which does not identify an API.
    PlainMessage,
    ChatMessage,
    ChatResponse,
    ResponsesItems,
    ResponsesResponse,
    AnthropicMessage,
    GeminiContent,
    GeminiResponse,
    McpRequest,
    ConverseMessage,
    /// A block or part with only text, as Gemini and Bedrock write it.
    TextBlock,
    ConverseResponse,
    Request,
    Unknown,
}

impl Shape {
    fn describe(self) -> &'static str {
        match self {
            Self::PlainMessage => "an assistant message of text",
            Self::ChatMessage => "a Chat Completions message (`tool_calls`)",
            Self::ChatResponse => "a whole Chat Completions response: pass its `choices[0].message`",
            Self::ResponsesItems => "output items of OpenAI Responses (`function_call`)",
            Self::ResponsesResponse => "a whole response of OpenAI Responses: pass its `output`",
            Self::AnthropicMessage => "an Anthropic message (`tool_use` blocks)",
            Self::GeminiContent => "a Gemini content (`parts`)",
            Self::GeminiResponse => "a whole Gemini response: pass its `candidates[0].content`",
            Self::McpRequest => "an MCP request (`method`)",
            Self::ConverseMessage => "a message of Bedrock Converse (`toolUse` blocks)",
            Self::ConverseResponse => "a whole response of Bedrock Converse: pass its `output.message`",
            Self::TextBlock => "a part of text",
            Self::Request => "a request to a model, not its answer",
            Self::Unknown => "nothing that a model answers",
        }
    }
}

/// Rejects a message without calls unless it has the wire's format.
///
/// # Errors
/// Returns [`WireError::Foreign`] with both formats.
pub(super) fn check_shape(wire: Wire, message: &Value) -> Result<(), WireError> {
    // An array may be empty: a turn without output.
    let empty = message.as_array().is_some_and(Vec::is_empty) && wire.facts().parts;
    let shape = shape_of(message);
    if empty || wire.facts().shapes.contains(&shape) { Ok(()) } else { Err(error(wire, shape)) }
}

/// The error for a message that clearly belongs to another API; `None` if the API is unclear.
pub(super) fn foreign(wire: Wire, message: &Value) -> Option<WireError> {
    let shape = shape_of(message);
    let known = shape != Shape::Unknown && !wire.facts().shapes.contains(&shape);
    known.then(|| error(wire, shape))
}

fn error(wire: Wire, found: Shape) -> WireError {
    WireError::Foreign { wire, expected: wire.facts().message, found: found.describe() }
}

fn shape_of(value: &Value) -> Shape {
    match value {
        Value::Object(_) => object_shape(value),
        Value::Array(list) => {
            let shapes = list.iter().map(object_shape);
            shapes.into_iter().find(|shape| *shape != Shape::Unknown).map_or(Shape::Unknown, |shape| match shape {
                // A list of these belongs elsewhere: a request's messages, a response's choices.
                Shape::PlainMessage | Shape::ChatMessage => Shape::Request,
                other => other,
            })
        }
        _ => Shape::Unknown,
    }
}

fn object_shape(value: &Value) -> Shape {
    let kind = text_member(value, "type").unwrap_or("");
    if has_list(value, "choices") {
        return Shape::ChatResponse;
    }
    if has_list(value, "candidates") {
        return Shape::GeminiResponse;
    }
    if has_list(value, "output") && kind != "function_call_output" {
        return Shape::ResponsesResponse;
    }
    if value.pointer("/output/message").is_some() {
        return Shape::ConverseResponse;
    }
    if has(value, "jsonrpc") || has(value, "method") {
        return Shape::McpRequest;
    }
    if has_list(value, "messages") || has(value, "input") && has(value, "model") || has_list(value, "contents") {
        return Shape::Request;
    }
    if has_list(value, "parts")
        || has(value, "functionCall")
        || has(value, "function_call") && has(value, "thoughtSignature")
    {
        return Shape::GeminiContent;
    }
    if has(value, "toolUse") || has(value, "toolResult") {
        return Shape::ConverseMessage;
    }
    if has_list(value, "tool_calls") || value.get("function_call").is_some_and(Value::is_object) {
        return Shape::ChatMessage;
    }
    if RESPONSES_ITEMS.contains(&kind) || kind == "message" && has(value, "role") && has(value, "status") {
        return Shape::ResponsesItems;
    }
    if ANTHROPIC_BLOCKS.contains(&kind) {
        return Shape::AnthropicMessage;
    }
    let Some(content) = value.get("content") else {
        return match (kind, text_member(value, "role")) {
            ("text", _) if has(value, "text") => Shape::AnthropicMessage,
            ("", None) if has(value, "text") => Shape::TextBlock,
            (_, Some("model")) => Shape::GeminiContent,
            (_, Some("assistant")) => Shape::PlainMessage,
            _ => Shape::Unknown,
        };
    };
    let blocks = content.as_array().into_iter().flatten();
    if blocks.clone().any(|block| has(block, "toolUse") || has(block, "toolResult")) {
        return Shape::ConverseMessage;
    }
    let kinds = blocks.filter_map(|block| text_member(block, "type"));
    for kind in kinds {
        if ANTHROPIC_BLOCKS.contains(&kind) {
            return Shape::AnthropicMessage;
        }
        if kind == "output_text" {
            return Shape::ResponsesItems;
        }
    }
    Shape::PlainMessage
}

fn has(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

fn has_list(value: &Value, key: &str) -> bool {
    value.get(key).is_some_and(Value::is_array)
}

/// Items of a Responses output that no other API has. Source: OpenAI's reference, "Response
/// object", `output`.
const RESPONSES_ITEMS: [&str; 12] = [
    "function_call",
    "function_call_output",
    "tool_search_call",
    "tool_search_output",
    "custom_tool_call",
    "reasoning",
    "web_search_call",
    "file_search_call",
    "computer_call",
    "code_interpreter_call",
    "local_shell_call",
    "mcp_call",
];

/// Blocks of an Anthropic message that no other API has. Source: Anthropic's reference, "Messages",
/// `content`.
const ANTHROPIC_BLOCKS: [&str; 6] =
    ["tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking", "web_search_tool_result"];
