//! Requests and responses of the wires with models: what a host sends, and what it reads from the
//! answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolfold::wire::Wire;

use crate::json::string_member;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[non_exhaustive]
pub struct Answer {
    /// The assistant message in the wire's format, as
    /// [`Conversation::turn`](toolfold::conversation::Conversation::turn) accepts it.
    pub message: Value,
    /// The provider's counts, if it reports them.
    pub usage: Option<Usage>,
}

impl Answer {
    /// A message of a model, with its usage if the provider reports one.
    #[must_use]
    pub fn new(message: Value, usage: Option<Usage>) -> Self {
        Self { message, usage }
    }
}

/// Why a response is not an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The wire has no models, or signs its requests.
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

struct ApiFormat {
    /// The request without tools; absent parts are null.
    body: fn(&Ask<'_>) -> Value,
    user: fn(&str) -> Value,
    closing: fn(&str) -> Value,
    /// The JSON Pointer of the answer in a response, and its form in messages.
    answer: (&'static str, &'static str),
    message: fn(&Value) -> Value,
    usage: &'static str,
    /// The JSON Pointers of the counts, which are added.
    input: &'static [&'static str],
    output: &'static [&'static str],
    cached: &'static [&'static str],
}

impl ApiFormat {
    /// The format of a wire; `None` for MCP, which has no models, and for Bedrock, whose requests
    /// are signed.
    fn of(wire: Wire) -> Option<&'static Self> {
        match wire {
            Wire::OpenAiChat => Some(&CHAT),
            Wire::OpenAiResponses => Some(&RESPONSES),
            Wire::Anthropic => Some(&ANTHROPIC),
            Wire::Gemini => Some(&GEMINI),
            _ => None,
        }
    }
}

const CHAT: ApiFormat = ApiFormat {
    body: |ask| {
        let mut messages = ask.messages.to_vec();
        if let Some(text) = ask.system {
            messages.insert(0, json!({"role": "system", "content": text}));
        }
        json!({"model": ask.model, "messages": messages})
    },
    user: |text| json!({"role": "user", "content": text}),
    closing: |text| json!({"role": "assistant", "content": text}),
    answer: ("/choices/0/message", "choices[0].message"),
    message: Value::clone,
    usage: "usage",
    input: &["/prompt_tokens"],
    output: &["/completion_tokens"],
    cached: &["/prompt_tokens_details/cached_tokens"],
};

const RESPONSES: ApiFormat = ApiFormat {
    body: |ask| {
        // The items of one answer are separate in the input.
        let items: Vec<&Value> = ask.messages.iter().flat_map(each_item).collect();
        json!({"model": ask.model, "instructions": ask.system, "input": items})
    },
    user: |text| json!({"role": "user", "content": text}),
    closing: |text| {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        json!([{"type": "message", "role": "assistant", "content": content}])
    },
    answer: ("/output", "output"),
    message: Value::clone,
    usage: "usage",
    input: &["/input_tokens"],
    output: &["/output_tokens"],
    cached: &["/input_tokens_details/cached_tokens"],
};

const ANTHROPIC: ApiFormat = ApiFormat {
    body: |ask| json!({"model": ask.model, "max_tokens": MAX_TOKENS, "system": ask.system, "messages": ask.messages}),
    user: |text| json!({"role": "user", "content": text}),
    closing: |text| json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
    answer: ("/content", "content"),
    message: |found| json!({"role": "assistant", "content": found}),
    usage: "usage",
    // Anthropic counts cache reads and writes separately.
    input: &["/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"],
    output: &["/output_tokens"],
    cached: &["/cache_read_input_tokens"],
};

const GEMINI: ApiFormat = ApiFormat {
    body: |ask| {
        let system = ask.system.map(|text| json!({"parts": [{"text": text}]}));
        json!({"systemInstruction": system, "contents": ask.messages})
    },
    user: |text| json!({"role": "user", "parts": [{"text": text}]}),
    closing: |text| json!({"role": "model", "parts": [{"text": text}]}),
    answer: ("/candidates/0/content", "candidates[0].content"),
    message: Value::clone,
    usage: "usageMetadata",
    input: &["/promptTokenCount", "/toolUsePromptTokenCount"],
    output: &["/candidatesTokenCount", "/thoughtsTokenCount"],
    cached: &["/cachedContentTokenCount"],
};

fn each_item(message: &Value) -> Vec<&Value> {
    match message {
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    }
}

/// Returns the body of a request, in the wire's format.
///
/// # Errors
/// Returns [`ExchangeError::Wire`] for MCP and Bedrock.
pub fn body_of(wire: Wire, ask: &Ask<'_>) -> Result<Value, ExchangeError> {
    let format = ApiFormat::of(wire).ok_or(ExchangeError::Wire(wire))?;
    let tools: Value = serde_json::from_str(ask.tools).unwrap_or(Value::Null);
    let mut body = (format.body)(ask);
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| !value.is_null());
        if tools.as_array().is_some_and(|all| !all.is_empty()) {
            body.insert("tools".to_owned(), tools);
        }
        body.extend(ask.more.clone());
    }
    Ok(body)
}

pub(crate) fn user_message(wire: Wire, text: &str) -> Value {
    (ApiFormat::of(wire).unwrap_or(&CHAT).user)(text)
}

pub(super) fn closing_message(wire: Wire, text: &str) -> Value {
    (ApiFormat::of(wire).unwrap_or(&CHAT).closing)(text)
}

/// Reads the assistant's message and the reported usage from a response.
///
/// # Errors
/// Returns an [`ExchangeError`] if the response is a provider error or does not have the wire's
/// format.
pub fn answer_of(wire: Wire, response: &Value) -> Result<Answer, ExchangeError> {
    match response.get("error") {
        None | Some(Value::Null) => {}
        Some(error) => {
            let message = string_member(error, "message").map_or_else(|| error.to_string(), str::to_owned);
            return Err(ExchangeError::Provider(message));
        }
    }
    let format = ApiFormat::of(wire).ok_or(ExchangeError::Wire(wire))?;
    let (pointer, missing) = format.answer;
    let found = response.pointer(pointer).ok_or(ExchangeError::Shape { wire, missing })?;
    Ok(Answer { message: (format.message)(found), usage: usage_of(format, response) })
}

fn usage_of(format: &ApiFormat, response: &Value) -> Option<Usage> {
    let usage = response.get(format.usage).filter(|usage| usage.is_object())?;
    let sum = |pointers: &[&str]| {
        let mut sum: usize = 0;
        for tokens in pointers.iter().filter_map(|pointer| usage.pointer(pointer)?.as_u64()) {
            sum = sum.saturating_add(usize::try_from(tokens).unwrap_or(usize::MAX));
        }
        sum
    };
    Some(Usage { input: sum(format.input), output: sum(format.output), cached: sum(format.cached) })
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
