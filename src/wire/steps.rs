//! Reads the calls and results in a provider's message array.

use serde_json::Value;

use super::append::{ToolChange, anthropic_changes, responses_changes};
use super::calls::{WireCall, calls, request_id};
use super::reader::At;
use super::{Arguments, Wire, WireError};

/// A call in a message array, for readers of transcripts.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCall {
    /// The provider's id; `None` if it gave none.
    pub id: Option<String>,
    /// The name, as the model wrote it; `None` for a `tool_search_call`, which has none.
    pub name: Option<String>,
    /// The arguments of the call.
    pub arguments: Arguments,
}

/// An event in a message array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// The model made a call.
    Call(WireCall),
    /// A call was answered.
    Result(StepResult),
    /// A message changed the tools.
    Changed(ToolChange),
}

/// An answer in a message array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepResult {
    /// The call's id, if the provider has ids.
    pub(crate) id: Option<String>,
    /// The name of the call, as the model wrote it, if only the name identifies the call.
    pub(crate) name: Option<String>,
    pub(crate) ok: bool,
    /// Every text in the answer.
    pub(crate) text: String,
}

impl Wire {
    /// Returns the calls in a message array, or in the request that contains one, in order. Nothing
    /// is checked or mapped: names are as the model wrote them.
    ///
    /// # Errors
    /// Returns [`WireError::Shape`] with the place where the array deviates from the wire's format.
    pub fn past_calls(self, messages: &Value) -> Result<Vec<PastCall>, WireError> {
        let calls = self.steps(messages)?.into_iter().filter_map(|step| match step {
            Step::Call(WireCall { id, name, arguments, .. }) => Some(PastCall { id, name, arguments }),
            Step::Result(_) | Step::Changed(_) => None,
        });
        Ok(calls.collect())
    }

    /// Returns all events in a message array, or in the request that contains one, in order.
    ///
    /// # Errors
    /// Returns [`WireError::Shape`] with the place where the array deviates from the wire's format.
    pub(crate) fn steps(self, messages: &Value) -> Result<Vec<Step>, WireError> {
        let top = At::top(self, messages, None);
        let inside = match self {
            Self::OpenAiChat | Self::Anthropic | Self::Mcp => "messages",
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
        };
        let list = match top.get(inside) {
            // Responses accepts a bare string as a user's message.
            Some(inner) if self == Self::OpenAiResponses && inner.value.is_string() => return Ok(Vec::new()),
            Some(inner) => inner,
            None => top,
        };
        let mut found = Vec::new();
        for message in list.elements()? {
            let message = message.object()?;
            match self {
                Self::OpenAiChat => chat(&message, &mut found)?,
                Self::OpenAiResponses => responses(&message, &mut found)?,
                Self::Anthropic => anthropic(&message, &mut found)?,
                Self::Gemini => gemini(&message, &mut found)?,
                Self::Mcp => mcp(&message, &mut found)?,
            }
        }
        Ok(found)
    }
}

fn called(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    found.extend(calls(at)?.into_iter().map(Step::Call));
    Ok(())
}

fn answer_step(id: Option<String>, ok: bool, answer: Option<At<'_>>) -> Step {
    let mut text = String::new();
    if let Some(answer) = answer {
        add_texts(&mut text, answer.value);
    }
    Step::Result(StepResult { id, name: None, ok, text })
}

/// Adds every string below a value. The recursion is bounded by the depth of parsed JSON.
fn add_texts(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(list) => list.iter().for_each(|value| add_texts(out, value)),
        Value::Object(map) => map.values().for_each(|value| add_texts(out, value)),
        _ => {}
    }
}

fn chat(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("role", "assistant") {
        return called(at, found);
    }
    if at.is("role", "tool") {
        let id = Some(at.need("tool_call_id", "a string")?.text()?.to_owned());
        // Chat Completions does not state whether a tool failed.
        found.push(answer_step(id, true, at.get("content")));
    }
    Ok(())
}

fn responses(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("type", "function_call_output") {
        let id = Some(at.need("call_id", "a string")?.text()?.to_owned());
        found.push(answer_step(id, true, at.get("output")));
    } else if at.is("type", "tool_search_output") {
        let id = at.get("call_id").map(|id| id.text().map(str::to_owned)).transpose()?;
        found.push(answer_step(id, true, at.get("tools")));
    } else if at.is("type", "function_call") || at.is("type", "tool_search_call") {
        // An item that is not a call is skipped; the `output` or `content` of a message contains
        // none.
        called(at, found)?;
    } else if at.is("type", "additional_tools") {
        found.extend(responses_changes(at)?.into_iter().map(Step::Changed));
    }
    Ok(())
}

fn anthropic(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    found.extend(anthropic_changes(at)?.into_iter().map(Step::Changed));
    if at.is("role", "assistant") {
        return called(at, found);
    }
    let Some(content) = at.get("content").filter(|content| content.value.is_array()) else { return Ok(()) };
    for block in content.elements()?.iter().filter(|block| block.is("type", "tool_result")) {
        let id = Some(block.need("tool_use_id", "a string")?.text()?.to_owned());
        let ok = block.get("is_error").is_none_or(|failed| failed.value != &Value::Bool(true));
        found.push(answer_step(id, ok, block.get("content")));
    }
    Ok(())
}

fn gemini(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("role", "model") {
        return called(at, found);
    }
    let Some(parts) = at.get("parts") else { return Ok(()) };
    for part in parts.elements()? {
        let Some(answer) = part.get("functionResponse").or_else(|| part.get("function_response")) else { continue };
        let name = answer.need("name", "a string")?.text()?.to_owned();
        let id = answer.get("id").map(|id| id.text().map(str::to_owned)).transpose()?;
        let response = answer.get("response");
        let ok = response.as_ref().is_none_or(|response| response.get("error").is_none());
        if let Step::Result(result) = answer_step(id, ok, response) {
            found.push(Step::Result(StepResult { name: Some(name), ..result }));
        }
    }
    Ok(())
}

fn mcp(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.get("method").is_some() {
        return called(at, found);
    }
    let (result, error) = (at.get("result"), at.get("error"));
    if let Some(id) = at.get("id").filter(|_| result.is_some() || error.is_some()) {
        let failed = |result: &At<'_>| result.get("isError").is_some_and(|flag| flag.value == &Value::Bool(true));
        let ok = error.is_none() && !result.as_ref().is_some_and(failed);
        found.push(answer_step(Some(request_id(&id)?), ok, result.or(error)));
    }
    Ok(())
}
