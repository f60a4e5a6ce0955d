//! Reading a provider's message array: who called what, and what came of it.

use serde_json::Value;

use super::parse::{calls, request_id};
use super::reader::At;
use super::{Wire, WireError};
use crate::engine::{Call, Engine};

/// One thing that a message array tells.
pub(super) enum Step {
    /// The model called.
    Call(Call),
    /// A call was answered.
    Result {
        /// The call, if the provider has ids.
        id: Option<String>,
        /// The name it was made by, the catalogue's, where only that tells the call.
        name: Option<String>,
        ok: bool,
    },
}

/// Everything that an array tells, in order.
pub(super) fn steps(engine: &Engine, wire: Wire, messages: &Value) -> Result<Vec<Step>, WireError> {
    let top = At::top(wire, messages);
    let inside = match wire {
        Wire::OpenAiChat | Wire::Anthropic => "messages",
        Wire::OpenAiResponses => "input",
        Wire::Gemini => "contents",
        Wire::Mcp => "messages",
    };
    let list = match top.get(inside) {
        // Responses takes a bare text for a user's message.
        Some(inner) if wire == Wire::OpenAiResponses && inner.value.is_string() => return Ok(Vec::new()),
        Some(inner) => inner,
        None => top,
    };
    let mut found = Vec::new();
    for message in list.list()? {
        let message = message.object()?;
        match wire {
            Wire::OpenAiChat => chat(engine, &message, &mut found)?,
            Wire::OpenAiResponses => responses(engine, &message, &mut found)?,
            Wire::Anthropic => anthropic(engine, &message, &mut found)?,
            Wire::Gemini => gemini(engine, &message, &mut found)?,
            Wire::Mcp => mcp(engine, &message, &mut found)?,
        }
    }
    Ok(found)
}

fn called(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    found.extend(calls(engine, at)?.into_iter().map(Step::Call));
    Ok(())
}

fn chat(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("role", "assistant") {
        return called(engine, at, found);
    }
    if at.is("role", "tool") {
        let id = Some(at.need("tool_call_id", "a string")?.text()?.to_owned());
        // Chat Completions does not say whether a tool failed.
        found.push(Step::Result { id, name: None, ok: true });
    }
    Ok(())
}

fn responses(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("type", "function_call_output") {
        let id = Some(at.need("call_id", "a string")?.text()?.to_owned());
        found.push(Step::Result { id, name: None, ok: true });
        return Ok(());
    }
    // An item is passed over unless it is a call; a message's own `output` or `content` holds none.
    if at.is("type", "function_call") || at.is("type", "tool_search_call") {
        return called(engine, at, found);
    }
    Ok(())
}

fn anthropic(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("role", "assistant") {
        return called(engine, at, found);
    }
    let Some(content) = at.get("content").filter(|content| content.value.is_array()) else { return Ok(()) };
    for block in content.list()?.iter().filter(|block| block.is("type", "tool_result")) {
        let id = Some(block.need("tool_use_id", "a string")?.text()?.to_owned());
        let ok = block.get("is_error").is_none_or(|failed| failed.value != &Value::Bool(true));
        found.push(Step::Result { id, name: None, ok });
    }
    Ok(())
}

fn gemini(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.is("role", "model") {
        return called(engine, at, found);
    }
    let Some(parts) = at.get("parts") else { return Ok(()) };
    for part in parts.list()? {
        let Some(answer) = part.get("functionResponse").or_else(|| part.get("function_response")) else { continue };
        let name = answer.need("name", "a string")?.text()?;
        let id = answer.get("id").map(|id| id.text().map(str::to_owned)).transpose()?;
        let ok = answer.get("response").is_none_or(|response| response.get("error").is_none());
        found.push(Step::Result { id, name: Some(at.wire.name_of(engine, name)), ok });
    }
    Ok(())
}

fn mcp(engine: &Engine, at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    if at.get("method").is_some() {
        return called(engine, at, found);
    }
    let (result, error) = (at.get("result"), at.get("error"));
    if let Some(id) = at.get("id").filter(|_| result.is_some() || error.is_some()) {
        let failed = |result: At<'_>| result.get("isError").is_some_and(|flag| flag.value == &Value::Bool(true));
        let ok = error.is_none() && !result.is_some_and(failed);
        found.push(Step::Result { id: Some(request_id(&id)?), name: None, ok });
    }
    Ok(())
}
