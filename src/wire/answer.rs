//! Writing calls and their answers in a wire's shape.

use serde_json::{Map, Value, json};

use super::names::Names;
use super::parse::{MAX_WRAPPING, renamed};
use super::{Wire, adapter};
use crate::engine::{Arguments, Call, Engine, Refusal, Reply};
use crate::profile::{Arm, EXPAND_TOOLS, Words};

impl Wire {
    /// What to append to the conversation for an answer that the session gave by itself.
    ///
    /// `call` is the call that was judged, as [`Wire::parse_calls`] gave it. Under [`Arm::Native`] an expansion is answered
    /// as the provider wants it: with references to the deferred tools (Anthropic), or with their whole definitions as the
    /// result of the search (OpenAI Responses). Anthropic's result then holds the references alone.
    #[must_use]
    pub fn format_reply(self, engine: &Engine, call: &Call, reply: &Reply) -> Value {
        let expands = reply.context.arm == Arm::Native && reply.target.as_deref() == Some(EXPAND_TOOLS);
        match self {
            Self::OpenAiResponses if expands && call.name == EXPAND_TOOLS => {
                adapter::search_output(engine, &call.id, &reply.mentioned)
            }
            Self::Anthropic if expands && !reply.mentioned.is_empty() => {
                let names = Names::of(self, engine);
                let reference = |name: &crate::name::ToolName| json!({"type": "tool_reference", "tool_name": names.sent(name.as_str())});
                let content: Vec<Value> = reply.mentioned.iter().map(reference).collect();
                json!({"type": "tool_result", "tool_use_id": call.id, "content": content})
            }
            _ => self.format_words(engine, call, &reply.content, reply.is_error),
        }
    }

    /// What to append to the conversation for a call that may not run.
    #[must_use]
    pub fn format_refusal(self, engine: &Engine, call: &Call, refusal: &Refusal) -> Value {
        self.format_words(engine, call, &refusal.content, true)
    }

    /// A text with every tool under the name that the model sees.
    fn format_words(self, engine: &Engine, call: &Call, words: &Words, is_error: bool) -> Value {
        let names = Names::of(self, engine);
        let content = words.shown(|name| names.sent(name).to_owned());
        self.format_result(engine, call, &content, is_error)
    }

    /// What to append to the conversation for a call that has run: a message (`openai-chat`), an input item
    /// (`openai-responses`), a block of the next user message (`anthropic`), a part of the next content (`gemini`), or the
    /// result of the request (`mcp`).
    #[must_use]
    pub fn format_result(self, engine: &Engine, call: &Call, text: &str, is_error: bool) -> Value {
        match self {
            Self::OpenAiChat => json!({"role": "tool", "tool_call_id": call.id, "content": text}),
            Self::OpenAiResponses => json!({"type": "function_call_output", "call_id": call.id, "output": text}),
            Self::Anthropic if is_error => {
                json!({"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": true})
            }
            Self::Anthropic => json!({"type": "tool_result", "tool_use_id": call.id, "content": text}),
            Self::Gemini => {
                let mut response = Map::new();
                if !is_numbered(&call.id) {
                    response.insert("id".to_owned(), json!(call.id));
                }
                response.insert("name".to_owned(), json!(self.sent_name(engine, &call.name)));
                // The keys that Gemini's FunctionResponse documents for an output and an error.
                response.insert("response".to_owned(), json!({ if is_error { "error" } else { "output" }: text }));
                json!({"functionResponse": response})
            }
            Self::Mcp => json!({"content": [{"type": "text", "text": text}], "isError": is_error}),
        }
    }

    /// The assistant message that makes these calls: what [`Wire::parse_calls`] reads. For scripted models and tests.
    #[must_use]
    pub fn format_calls(self, engine: &Engine, arm: Arm, calls: &[Call]) -> Value {
        let each = calls.iter().map(|call| self.format_call(engine, arm, call)).collect::<Vec<_>>();
        match self {
            Self::OpenAiChat => json!({"role": "assistant", "content": null, "tool_calls": each}),
            Self::OpenAiResponses | Self::Mcp => Value::Array(each),
            Self::Anthropic => json!({"role": "assistant", "content": each}),
            Self::Gemini => json!({"role": "model", "parts": each}),
        }
    }

    fn format_call(self, engine: &Engine, arm: Arm, call: &Call) -> Value {
        let searched = self == Self::OpenAiResponses && arm == Arm::Native;
        let spaces = if searched { Names::namespaces(engine) } else { Names::default() };
        let tool = |name: &str| self.sent_name(engine, name);
        let category = |name: &str| spaces.sent(name).to_owned();
        let arguments = match &call.arguments {
            Arguments::Json(value) if engine.catalog().get(&call.name).is_none() => {
                renamed(&call.name, value.clone(), &tool, &category, MAX_WRAPPING)
            }
            Arguments::Json(value) => value.clone(),
            Arguments::Malformed { text, .. } => Value::String(text.clone()),
        };
        let text = || match &call.arguments {
            Arguments::Json(_) => arguments.to_string(),
            Arguments::Malformed { text, .. } => text.clone(),
        };
        let name = self.sent_name(engine, &call.name);
        match self {
            Self::OpenAiChat => {
                json!({"id": call.id, "type": "function", "function": {"name": name, "arguments": text()}})
            }
            Self::OpenAiResponses if searched && call.name == EXPAND_TOOLS => json!({
                "type": "tool_search_call", "id": format!("ts_{}", call.id), "call_id": call.id, "execution": "client",
                "arguments": arguments
            }),
            Self::OpenAiResponses => {
                let mut item = json!({"type": "function_call", "call_id": call.id, "name": name, "arguments": text()});
                let known = if searched { engine.presentation(arm).deferred() } else { &[] };
                let place = engine.catalog().position(&call.name);
                let space = known.iter().find(|entry| place.is_some_and(|at| entry.tools.contains(&at)));
                if let (Some(map), Some(entry)) = (item.as_object_mut(), space) {
                    map.insert("namespace".to_owned(), json!(spaces.sent(entry.category.as_str())));
                }
                item
            }
            Self::Anthropic => json!({"type": "tool_use", "id": call.id, "name": name, "input": arguments}),
            Self::Gemini if is_numbered(&call.id) => json!({"functionCall": {"name": name, "args": arguments}}),
            Self::Gemini => json!({"functionCall": {"id": call.id, "name": name, "args": arguments}}),
            Self::Mcp => json!({
                "jsonrpc": "2.0", "id": call.id, "method": "tools/call",
                "params": {"name": name, "arguments": arguments}
            }),
        }
    }
}

/// Whether an id is one that [`Wire::parse_calls`] gave because the provider gave none.
fn is_numbered(id: &str) -> bool {
    id.strip_prefix("call-").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
