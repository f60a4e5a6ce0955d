//! Writes calls and their answers in a wire's format.

use serde_json::{Map, Value, json};

use super::Wire;

/// The prefix of ids that toolfold assigns to calls without one. They are never sent to a provider.
pub(crate) const NUMBERED: &str = "toolfold-call-";

/// An answered call: its id, and the name that the model used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'c> {
    pub(crate) id: &'c str,
    pub(crate) name: &'c str,
}

impl Wire {
    /// Returns the answer to a call as text: a message (`openai-chat`), an input item
    /// (`openai-responses`), a block of a user message (`anthropic`), a part of a content
    /// (`gemini`), or a result (`mcp`).
    pub(crate) fn answer_message(self, call: Answered<'_>, text: &str, is_error: bool) -> Value {
        let id = call.id;
        match self {
            Self::OpenAiChat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Self::OpenAiResponses => json!({"type": "function_call_output", "call_id": id, "output": text}),
            Self::Anthropic if is_error => {
                json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true})
            }
            Self::Anthropic => json!({"type": "tool_result", "tool_use_id": id, "content": text}),
            Self::Gemini => {
                let mut response = Map::new();
                if !id.starts_with(NUMBERED) {
                    response.insert("id".to_owned(), json!(id));
                }
                response.insert("name".to_owned(), json!(call.name));
                // The keys documented for an output and an error of Gemini's FunctionResponse.
                response.insert("response".to_owned(), json!({ if is_error { "error" } else { "output" }: text }));
                json!({"functionResponse": response})
            }
            Self::Mcp => json!({"content": [{"type": "text", "text": text}], "isError": is_error}),
        }
    }

    /// Wraps answers as the messages to append to a conversation, in order.
    pub(crate) fn wrapped(self, answers: Vec<Value>) -> Vec<Value> {
        match self {
            _ if answers.is_empty() => answers,
            Self::Anthropic => vec![json!({"role": "user", "content": answers})],
            Self::Gemini => vec![json!({"role": "user", "parts": answers})],
            Self::OpenAiChat | Self::OpenAiResponses | Self::Mcp => answers,
        }
    }

    /// Returns the assistant message in which a model makes these calls, each
    /// `(id, name, arguments)`: for scripted models and tests. Names are those shown to the model.
    /// The result is a message (`openai-chat`, `anthropic`, `gemini`), a list of items
    /// (`openai-responses`) or of requests (`mcp`).
    #[must_use]
    pub fn assistant_message(self, calls: &[(&str, &str, Value)]) -> Value {
        let each = calls.iter().map(|(id, name, arguments)| self.call_item(id, name, arguments)).collect::<Vec<_>>();
        match self {
            Self::OpenAiChat => json!({"role": "assistant", "content": null, "tool_calls": each}),
            Self::OpenAiResponses | Self::Mcp => Value::Array(each),
            Self::Anthropic => json!({"role": "assistant", "content": each}),
            Self::Gemini => json!({"role": "model", "parts": each}),
        }
    }

    fn call_item(self, id: &str, name: &str, arguments: &Value) -> Value {
        let text = || match arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self {
            Self::OpenAiChat => json!({"id": id, "type": "function", "function": {"name": name, "arguments": text()}}),
            Self::OpenAiResponses => {
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": text()})
            }
            Self::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
            Self::Gemini if id.is_empty() => json!({"functionCall": {"name": name, "args": arguments}}),
            Self::Gemini => json!({"functionCall": {"id": id, "name": name, "args": arguments}}),
            Self::Mcp => json!({
                "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}
            }),
        }
    }
}
