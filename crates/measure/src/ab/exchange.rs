//! Requests and responses of the wires with models: what a host sends, and what it reads from the
//! answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolfold::wire::Wire;

/// The maximum number of output tokens, which Anthropic's API requires in every request.
const MAX_TOKENS: usize = 4_096;

/// The parts of a request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ask<'a> {
    /// The model; empty if the driver needs none.
    pub model: &'a str,
    /// The system text, if there is one.
    pub system: Option<&'a str>,
    /// All messages so far, in the wire's format.
    pub messages: &'a [Value],
    /// The tool array as JSON text; left out if empty.
    pub tools: &'a str,
    /// Further keys of the body, such as `temperature`; they take precedence.
    pub more: &'a Map<String, Value>,
}

/// The provider's counts, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// All input, cached or not.
    pub input: usize,
    /// The output.
    pub output: usize,
    /// The input that was read from a cache.
    pub cached: usize,
}

impl Usage {
    /// Adds the counts of another request.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The assistant message in the wire's format, as
    /// [`Conversation::turn`](toolfold::conversation::Conversation::turn) accepts it.
    pub message: Value,
    /// The provider's counts, if it reports them.
    pub usage: Option<Usage>,
}

/// Why a response is not an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The wire has no models.
    #[error("a model is not reached over {0}: use openai-chat, openai-responses, anthropic or gemini")]
    Wire(Wire),
    /// The provider returned an error.
    #[error("the provider answered with an error: {0}")]
    Provider(String),
    /// The response does not have the wire's format.
    #[error("not a {wire} response: {missing} is missing")]
    Shape {
        /// The wire.
        wire: Wire,
        /// What is missing.
        missing: &'static str,
    },
}

/// Returns the body of a request, in the wire's format.
///
/// # Errors
/// Returns [`ExchangeError::Wire`] for MCP, which has no models.
pub fn body_of(wire: Wire, ask: &Ask<'_>) -> Result<Value, ExchangeError> {
    let Ask { model, system, messages, tools, more } = *ask;
    let tools: Value = serde_json::from_str(tools).unwrap_or(Value::Null);
    let tools = tools.as_array().filter(|all| !all.is_empty()).map(|all| json!(all));
    let mut body = match wire {
        Wire::OpenAiChat => {
            let head = system.map(|text| json!({"role": "system", "content": text}));
            json!({"model": model, "messages": head.iter().chain(messages).collect::<Vec<_>>()})
        }
        Wire::OpenAiResponses => {
            // The items of one answer are separate in the input.
            let items: Vec<&Value> = messages.iter().flat_map(each_item).collect();
            json!({"model": model, "instructions": system, "input": items})
        }
        Wire::Anthropic => json!({"model": model, "max_tokens": MAX_TOKENS, "system": system, "messages": messages}),
        Wire::Gemini => {
            let system = system.map(|text| json!({"parts": [{"text": text}]}));
            json!({"systemInstruction": system, "contents": messages})
        }
        _ => return Err(ExchangeError::Wire(wire)),
    };
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| !value.is_null());
        body.extend(tools.map(|tools| ("tools".to_owned(), tools)));
        body.extend(more.clone());
    }
    Ok(body)
}

fn each_item(message: &Value) -> Vec<&Value> {
    message.as_array().map_or_else(|| vec![message], |items| items.iter().collect())
}

/// A user's message in the wire's format.
pub(crate) fn user_message(wire: Wire, text: &str) -> Value {
    match wire {
        Wire::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        _ => json!({"role": "user", "content": text}),
    }
}

/// A message with which a model ends its turn.
pub(super) fn closing_message(wire: Wire, text: &str) -> Value {
    match wire {
        Wire::OpenAiResponses => {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            json!([{"type": "message", "role": "assistant", "content": content}])
        }
        Wire::Anthropic => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        Wire::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    }
}

/// Reads the assistant's message and the reported usage from a response.
///
/// # Errors
/// Returns an [`ExchangeError`] if the response is a provider error or does not have the wire's
/// format.
pub fn answer_of(wire: Wire, response: &Value) -> Result<Answer, ExchangeError> {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let said = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
        return Err(ExchangeError::Provider(said));
    }
    let (pointer, missing) = match wire {
        Wire::OpenAiChat => ("/choices/0/message", "choices[0].message"),
        Wire::OpenAiResponses => ("/output", "output"),
        Wire::Anthropic => ("/content", "content"),
        Wire::Gemini => ("/candidates/0/content", "candidates[0].content"),
        _ => return Err(ExchangeError::Wire(wire)),
    };
    let found = response.pointer(pointer).ok_or(ExchangeError::Shape { wire, missing })?;
    let message = match wire {
        Wire::Anthropic => json!({"role": "assistant", "content": found}),
        _ => found.clone(),
    };
    Ok(Answer { message, usage: usage_of(wire, response) })
}

fn usage_of(wire: Wire, response: &Value) -> Option<Usage> {
    let key = if wire == Wire::Gemini { "usageMetadata" } else { "usage" };
    let usage = response.get(key).filter(|usage| usage.is_object())?;
    let read = |pointer: &str| {
        let tokens = usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        usize::try_from(tokens).unwrap_or(usize::MAX)
    };
    let sum = |pointers: &[&str]| pointers.iter().fold(0, |sum: usize, own| sum.saturating_add(read(own)));
    Some(match wire {
        Wire::OpenAiChat => Usage {
            input: read("/prompt_tokens"),
            output: read("/completion_tokens"),
            cached: read("/prompt_tokens_details/cached_tokens"),
        },
        Wire::OpenAiResponses => Usage {
            input: read("/input_tokens"),
            output: read("/output_tokens"),
            cached: read("/input_tokens_details/cached_tokens"),
        },
        // Anthropic counts cache reads and writes separately.
        Wire::Anthropic => Usage {
            input: sum(&["/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"]),
            output: read("/output_tokens"),
            cached: read("/cache_read_input_tokens"),
        },
        Wire::Gemini => Usage {
            input: sum(&["/promptTokenCount", "/toolUsePromptTokenCount"]),
            output: sum(&["/candidatesTokenCount", "/thoughtsTokenCount"]),
            cached: read("/cachedContentTokenCount"),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_the_wires_keys_and_no_nulls() {
        let messages = [user_message(Wire::OpenAiChat, "Go.")];
        let more = Map::from_iter([("temperature".to_owned(), json!(0))]);
        let ask = Ask { model: "m", system: None, messages: &messages, tools: "[]", more: &more };
        let keys = |wire| {
            let body = body_of(wire, &ask).unwrap();
            body.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(keys(Wire::OpenAiChat), "model messages temperature");
        assert_eq!(keys(Wire::OpenAiResponses), "model input temperature");
        assert_eq!(keys(Wire::Anthropic), "model max_tokens messages temperature");
        assert_eq!(keys(Wire::Gemini), "contents temperature");
        assert!(body_of(Wire::Mcp, &ask).is_err());
        let ask = Ask { system: Some("S"), tools: "[{}]", ..ask };
        assert_eq!(body_of(Wire::OpenAiChat, &ask).unwrap()["messages"][0]["role"], "system");
        assert_eq!(body_of(Wire::Gemini, &ask).unwrap()["tools"], json!([{}]));
    }

    #[test]
    fn responses_give_the_message_and_the_usage() {
        let chat = json!({"choices": [{"message": {"role": "assistant", "content": "x"}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}});
        let read = answer_of(Wire::OpenAiChat, &chat).unwrap();
        assert_eq!(read.usage, Some(Usage { input: 7, output: 2, cached: 4 }));
        let claude = json!({"content": [{"type": "text", "text": "x"}], "usage": {"input_tokens": 3,
            "cache_read_input_tokens": 5, "cache_creation_input_tokens": 1, "output_tokens": 2}});
        let read = answer_of(Wire::Anthropic, &claude).unwrap();
        assert_eq!(read.usage, Some(Usage { input: 9, output: 2, cached: 5 }));
        assert_eq!(read.message["role"], "assistant");
        let gemini = json!({"candidates": [{"content": {"role": "model", "parts": []}}]});
        assert_eq!(answer_of(Wire::Gemini, &gemini).unwrap().usage, None);
        assert_eq!(
            answer_of(Wire::Gemini, &chat).unwrap_err().to_string(),
            "not a gemini response: candidates[0].content is missing"
        );
        let error = json!({"error": {"message": "no such model", "code": 404}});
        assert_eq!(
            answer_of(Wire::OpenAiChat, &error).unwrap_err(),
            ExchangeError::Provider("no such model".to_owned())
        );
    }
}
