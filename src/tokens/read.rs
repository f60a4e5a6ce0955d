//! Reads requests: detects the API of a body and reads its parts.
//!
//! A body is read as it is sent. A recorded request may be wrapped as in batch files and have
//! recorded data beside it. Members that cost nothing (`temperature`, `stream` …) are ignored.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod tools;
mod value;

pub use tools::functions_of;

use serde_json::Value;

use self::value::{expected, given};
use super::prompt::Prompt;
use super::reason::Reason;
use super::request::CountError;
use crate::model::ModelId;
use crate::schema::{list_member, text_member};

/// The API of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Form {
    /// The name in messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Chat => "an OpenAI Chat request",
            Self::Responses => "an OpenAI Responses request",
            Self::Anthropic => "an Anthropic request",
            Self::Gemini => "a Gemini request",
        }
    }
}

/// A body without its wrapper, and its path.
///
/// Batch files have one request per line: OpenAI's as `{"custom_id","method","url","body"}`,
/// Anthropic's as `{"custom_id","params"}`, Gemini's as `{"key","request"}`.
pub(super) fn unwrapped(row: &Value) -> (&Value, &'static str) {
    if ["messages", "input", "contents"].iter().any(|key| row.get(key).is_some()) {
        return (row, "");
    }
    for (key, path) in [("body", "/body"), ("params", "/params"), ("request", "/request")] {
        if let Some(inner @ Value::Object(_)) = row.get(key) {
            return (inner, path);
        }
    }
    (row, "")
}

/// Detects the API of a body by its structure or, if plain text messages leave it open, by its
/// model.
pub(super) fn form_of(body: &Value, model: &ModelId) -> Result<Form, CountError> {
    if !body.is_object() {
        return Err(expected("", "a request: a JSON object with `messages`, `input` or `contents`"));
    }
    match given(body, "api") {
        None => {}
        Some(api) if api == "chat" => return Ok(Form::Chat),
        Some(api) if api == "responses" => return Ok(Form::Responses),
        Some(_) => return Err(expected("/api", "`chat` or `responses`")),
    }
    if body.get("contents").is_some() {
        return Ok(Form::Gemini);
    }
    if body.get("messages").is_none() {
        if body.get("input").is_some() {
            return Ok(Form::Responses);
        }
        if ["prompt", "previous_response_id", "conversation"].iter().any(|key| given(body, key).is_some()) {
            return Ok(Form::Responses);
        }
        return Err(expected("", "`messages` (Chat, Anthropic), `input` (Responses) or `contents` (Gemini)"));
    }
    let anthropic = anthropic_parts(body);
    let openai = openai_parts(body);
    let claude = model.vendor == Some("anthropic");
    Ok(if anthropic || (claude && !openai) { Form::Anthropic } else { Form::Chat })
}

/// Whether a body has parts that only Anthropic's API accepts.
fn anthropic_parts(body: &Value) -> bool {
    let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "image", "document"];
    body.get("provider").is_some_and(|provider| provider == "anthropic")
        || ["system", "anthropic_version", "anthropic_beta"].iter().any(|key| given(body, key).is_some())
        || list_member(body, "tools").iter().any(|tool| tool.get("input_schema").is_some())
        || list_member(body, "messages")
            .iter()
            .any(|message| list_member(message, "content").iter().any(|part| is_one_of(part, "type", &blocks)))
}

/// Whether a body has parts that only OpenAI's API accepts.
fn openai_parts(body: &Value) -> bool {
    let keys = ["functions", "function_call", "response_format", "max_completion_tokens"];
    let roles = ["system", "developer", "tool", "function"];
    keys.iter().any(|key| given(body, key).is_some())
        || list_member(body, "tools").iter().any(|tool| tool.get("function").or(tool.get("parameters")).is_some())
        || list_member(body, "messages")
            .iter()
            .any(|message| is_one_of(message, "role", &roles) || given(message, "tool_calls").is_some())
}

/// Whether a member of an object is one of these strings.
fn is_one_of(holder: &Value, key: &str, wanted: &[&str]) -> bool {
    text_member(holder, key).is_some_and(|text| wanted.contains(&text))
}

/// Reads a body of an API.
pub(super) fn read_body(body: &Value, form: Form) -> Result<Prompt<'_>, CountError> {
    match form {
        Form::Chat => chat::read_chat(body, false),
        // Some recorders record Responses requests with Chat messages.
        Form::Responses if body.get("messages").is_some() => chat::read_chat(body, true),
        Form::Responses => responses::read_responses(body),
        Form::Anthropic => anthropic::read_messages(body),
        Form::Gemini => gemini::read_contents(body),
    }
}

/// Reads an array of tools of any API, as it is sent.
pub(super) fn read_tools(tools: &[Value]) -> Result<Prompt<'_>, CountError> {
    let mut prompt = Prompt::default();
    tools::read_tools(tools, "", &mut prompt)?;
    Ok(prompt)
}

/// A member that only identifies the author, or that is false in Python, costs nothing; any other
/// one is a reason.
fn other_member(value: &Value, prompt: &mut Prompt<'_>) {
    if super::python::truthy(value) {
        prompt.reasons.insert(Reason::UnknownMember);
    }
}
