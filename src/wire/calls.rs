//! Reads the calls of an assistant message.

use serde_json::Value;

use super::reader::At;
use super::{Arguments, Wire, WireError};

/// A call as received.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WireCall {
    /// The provider's id; `None` if it gave none.
    pub(crate) id: Option<String>,
    /// The id of a JSON-RPC request, which may be a number.
    pub(crate) request: Option<Value>,
    /// The name, as the model wrote it. `None` for a `tool_search_call`, which has no name and
    /// represents `expand_tools`.
    pub(crate) name: Option<String>,
    pub(crate) arguments: Arguments,
}

impl WireCall {
    fn new(id: Option<String>, name: String, arguments: Arguments) -> Self {
        Self { id, request: None, name: Some(name), arguments }
    }
}

/// The calls of one assistant message, in order. Other content is skipped: text, reasoning, and
/// tools that the provider runs.
pub(super) fn calls(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    match at.wire {
        Wire::OpenAiChat => chat(at),
        Wire::OpenAiResponses => responses(at),
        Wire::Anthropic => anthropic(at),
        Wire::Gemini => gemini(at),
        Wire::Mcp => mcp(at),
    }
}

fn arguments_of(at: Option<At<'_>>) -> Arguments {
    at.map_or_else(|| Arguments::from_text(""), |at| at.arguments())
}

/// The id under a key. An empty id, as sent by some servers, counts as absent.
fn id_under(at: &At<'_>, key: &str) -> Result<Option<String>, WireError> {
    let id = at.get(key).map(|id| id.text().map(str::to_owned)).transpose()?;
    Ok(id.filter(|id| !id.is_empty()))
}

fn called_name(at: &At<'_>) -> Result<String, WireError> {
    Ok(at.need("name", "a string")?.text()?.to_owned())
}

fn chat(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    let at = at.clone().object()?;
    let mut found = Vec::new();
    if let Some(list) = at.get("tool_calls") {
        for call in list.elements()? {
            // A `custom` tool has no schema, so toolfold never declared it.
            if call.get("type").is_none() || call.is("type", "function") {
                let function = call.need("function", "an object")?;
                found.push(WireCall::new(
                    id_under(&call, "id")?,
                    called_name(&function)?,
                    arguments_of(function.get("arguments")),
                ));
            }
        }
    } else if let Some(function) = at.get("function_call") {
        // The form before `tool_calls`, which some servers still send.
        found.push(WireCall::new(None, called_name(&function)?, arguments_of(function.get("arguments"))));
    }
    Ok(found)
}

fn responses(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    let items = if at.value.is_array() { at.elements()? } else { vec![at.clone().object()?] };
    let mut found = Vec::new();
    for item in items {
        let arguments = || arguments_of(item.get("arguments"));
        if item.is("type", "function_call") {
            found.push(WireCall::new(id_under(&item, "call_id")?, called_name(&item)?, arguments()));
        } else if item.is("type", "tool_search_call") && !item.is("execution", "server") {
            found.push(WireCall { id: id_under(&item, "call_id")?, request: None, name: None, arguments: arguments() });
        }
    }
    Ok(found)
}

fn anthropic(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    let blocks = match (at.value, at.get("content")) {
        (Value::Array(_), _) => at.elements()?,
        (_, Some(content)) if content.value.is_string() => return Ok(Vec::new()),
        (_, Some(content)) => content.elements()?,
        _ => vec![at.clone().object()?],
    };
    let calls = blocks.iter().filter(|block| block.is("type", "tool_use"));
    calls
        .map(|block| Ok(WireCall::new(id_under(block, "id")?, called_name(block)?, arguments_of(block.get("input")))))
        .collect()
}

fn gemini(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    let parts = if at.value.is_array() {
        at.elements()?
    } else if let Some(parts) = at.get("parts") {
        parts.elements()?
    } else {
        vec![at.clone().object()?]
    };
    let calls = parts.iter().filter_map(|part| part.get("functionCall").or_else(|| part.get("function_call")));
    calls
        .map(|call| Ok(WireCall::new(id_under(&call, "id")?, called_name(&call)?, arguments_of(call.get("args")))))
        .collect()
}

fn mcp(at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
    if at.value.is_array() {
        let each = at.elements()?.iter().map(mcp).collect::<Result<Vec<_>, _>>()?;
        return Ok(each.into_iter().flatten().collect());
    }
    let at = at.clone().object()?;
    let params = match at.get("method") {
        Some(method) if method.text()? == "tools/call" => at.need("params", "an object")?.object()?,
        Some(_) => return Ok(Vec::new()),
        // Bare parameters. A value with a type or a role is a message of another API.
        None if at.get("type").is_some() || at.get("role").is_some() => at.need("method", "a string")?,
        None => at.clone(),
    };
    let request = at.get("id");
    let id = request.as_ref().map(request_id).transpose()?;
    let call = WireCall::new(id, called_name(&params)?, arguments_of(params.get("arguments")));
    Ok(vec![WireCall { request: request.map(|id| id.value.clone()), ..call }])
}

/// The id of a JSON-RPC request, a string or a number, as text.
pub(super) fn request_id(at: &At<'_>) -> Result<String, WireError> {
    match at.value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(at.not("a string or a number")),
    }
}
