//! Reading the calls of an assistant message.

use serde_json::Value;

use super::names::Names;
use super::reader::At;
use super::{GeminiParameters, Wire, WireError};
use crate::engine::{Arguments, Call, Engine};
use crate::profile::{CALL_TOOL, EXPAND_TOOLS};

/// How often a `call_tool` inside a `call_tool` has its name mangled back; the gate takes no more.
pub(super) const MAX_WRAPPING: usize = 4;

impl Wire {
    /// The calls of one assistant message, in order, their names the catalogue's again.
    ///
    /// Understood are, for `openai-chat`, the message or the whole response; for `openai-responses` the output items, one
    /// item, or the response; for `anthropic` the message or its content blocks; for `gemini` the content, its parts, or the
    /// response; for `mcp` a `tools/call` request, its params, or a batch. What is no call of a client's tool (text,
    /// reasoning, tools that the provider runs) is passed over. A call without an id gets `call-1`, `call-2` … by its place
    /// in the message. A `tool_search_call` is a call of `expand_tools`.
    ///
    /// # Errors
    /// [`WireError::Shape`] names the place where the message has not the wire's shape. Arguments that are no JSON are no
    /// error: the gate answers them.
    pub fn parse_calls(self, engine: &Engine, message: &Value) -> Result<Vec<Call>, WireError> {
        calls(engine, &At::top(self, message))
    }
}

/// A call as it came.
struct Raw {
    id: Option<String>,
    name: String,
    arguments: Arguments,
}

pub(super) fn calls(engine: &Engine, at: &At<'_>) -> Result<Vec<Call>, WireError> {
    let raw = match at.wire {
        Wire::OpenAiChat => chat(at),
        Wire::OpenAiResponses => responses(at),
        Wire::Anthropic => anthropic(at),
        Wire::Gemini => gemini(at),
        Wire::Mcp => mcp(at),
    }?;
    let finish = |(place, raw): (usize, Raw)| {
        let name = at.wire.name_of(engine, &raw.name);
        let arguments = match raw.arguments {
            Arguments::Json(value) => Arguments::Json(arguments_back(at.wire, engine, &name, value)),
            malformed @ Arguments::Malformed { .. } => malformed,
        };
        Call { id: raw.id.unwrap_or_else(|| format!("call-{}", place + 1)), name, arguments }
    };
    Ok(raw.into_iter().enumerate().map(finish).collect())
}

/// Arguments that are text, or (some servers) an object already.
fn text_or_object(at: Option<At<'_>>) -> Arguments {
    match at.map(|at| at.value) {
        None => Arguments::from_text(""),
        Some(Value::String(text)) => Arguments::from_text(text),
        Some(other) => Arguments::Json(other.clone()),
    }
}

fn json_or_nothing(at: Option<At<'_>>) -> Arguments {
    at.map_or_else(|| Arguments::from_text(""), |at| Arguments::Json(at.value.clone()))
}

fn id(at: &At<'_>, key: &str) -> Result<Option<String>, WireError> {
    at.get(key).map(|id| id.text().map(str::to_owned)).transpose()
}

fn name(at: &At<'_>) -> Result<String, WireError> {
    Ok(at.need("name", "a string")?.text()?.to_owned())
}

fn chat(at: &At<'_>) -> Result<Vec<Raw>, WireError> {
    let at = at.clone().object()?;
    if let Some(choices) = at.get("choices") {
        let Some(first) = choices.list()?.into_iter().next() else { return Ok(Vec::new()) };
        return chat(&first.need("message", "an object")?);
    }
    let mut found = Vec::new();
    if let Some(list) = at.get("tool_calls") {
        for call in list.list()? {
            // A `custom` tool has no schema, so that toolfold never declared it.
            if call.get("type").is_none() || call.is("type", "function") {
                let function = call.need("function", "an object")?;
                let (name, arguments) = (name(&function)?, text_or_object(function.get("arguments")));
                found.push(Raw { id: id(&call, "id")?, name, arguments });
            }
        }
    } else if let Some(function) = at.get("function_call") {
        // The form before `tool_calls`, which some servers still give.
        found.push(Raw { id: None, name: name(&function)?, arguments: text_or_object(function.get("arguments")) });
    }
    Ok(found)
}

fn responses(at: &At<'_>) -> Result<Vec<Raw>, WireError> {
    let items = match (at.value, at.get("output")) {
        (Value::Array(_), _) => at.list()?,
        (_, Some(output)) if at.get("type").is_none() => output.list()?,
        _ => vec![at.clone().object()?],
    };
    let mut found = Vec::new();
    for item in items {
        if item.is("type", "function_call") {
            let arguments = text_or_object(item.get("arguments"));
            found.push(Raw { id: id(&item, "call_id")?, name: name(&item)?, arguments });
        } else if item.is("type", "tool_search_call") && !item.is("execution", "server") {
            let arguments = text_or_object(item.get("arguments"));
            found.push(Raw { id: id(&item, "call_id")?, name: EXPAND_TOOLS.to_owned(), arguments });
        }
    }
    Ok(found)
}

fn anthropic(at: &At<'_>) -> Result<Vec<Raw>, WireError> {
    let blocks = match (at.value, at.get("content")) {
        (Value::Array(_), _) => at.list()?,
        (_, Some(content)) if content.value.is_string() => return Ok(Vec::new()),
        (_, Some(content)) => content.list()?,
        _ => vec![at.clone().object()?],
    };
    let mut found = Vec::new();
    for block in blocks.iter().filter(|block| block.is("type", "tool_use")) {
        found.push(Raw { id: id(block, "id")?, name: name(block)?, arguments: json_or_nothing(block.get("input")) });
    }
    Ok(found)
}

fn gemini(at: &At<'_>) -> Result<Vec<Raw>, WireError> {
    let at = at.clone();
    let parts = if at.value.is_array() {
        at.list()?
    } else if let Some(candidates) = at.get("candidates") {
        let first = candidates.list()?.into_iter().next().and_then(|first| first.get("content"));
        return first.map_or_else(|| Ok(Vec::new()), |content| gemini(&content.object()?));
    } else if let Some(parts) = at.get("parts") {
        parts.list()?
    } else {
        vec![at.object()?]
    };
    let mut found = Vec::new();
    for call in parts.iter().filter_map(|part| part.get("functionCall").or_else(|| part.get("function_call"))) {
        found.push(Raw { id: id(&call, "id")?, name: name(&call)?, arguments: json_or_nothing(call.get("args")) });
    }
    Ok(found)
}

fn mcp(at: &At<'_>) -> Result<Vec<Raw>, WireError> {
    if at.value.is_array() {
        let each = at.list()?.iter().map(mcp).collect::<Result<Vec<_>, _>>()?;
        return Ok(each.into_iter().flatten().collect());
    }
    let at = at.clone().object()?;
    let params = match at.get("method") {
        Some(method) if method.text()? == "tools/call" => at.need("params", "an object")?.object()?,
        Some(_) => return Ok(Vec::new()),
        None => at.clone(),
    };
    let id = at.get("id").map(|id| request_id(&id)).transpose()?;
    Ok(vec![Raw { id, name: name(&params)?, arguments: json_or_nothing(params.get("arguments")) }])
}

/// The id of a JSON-RPC request, a string or a number, as text.
pub(super) fn request_id(at: &At<'_>) -> Result<String, WireError> {
    match at.value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(at.not("a string or a number")),
    }
}

/// Arguments with the names in those of meta-tools, and what Gemini was asked to write as text, put back.
fn arguments_back(wire: Wire, engine: &Engine, name: &str, arguments: Value) -> Value {
    if let Some(tool) = engine.catalog().get(name) {
        let form = GeminiParameters::default();
        return if wire == Wire::Gemini { form.restore(tool.parameters(), arguments) } else { arguments };
    }
    let spaces = (wire == Wire::OpenAiResponses).then(|| Names::namespaces(engine));
    let is_category = |own: &str| engine.assignment().categories().any(|(known, _)| *known == own);
    let tool = |sent: &str| wire.name_of(engine, sent);
    let category = |sent: &str| match &spaces {
        _ if is_category(sent) => sent.to_owned(),
        Some(spaces) if spaces.original(sent) != sent => spaces.original(sent).to_owned(),
        _ => wire.name_of(engine, sent),
    };
    renamed(name, arguments, &tool, &category, MAX_WRAPPING)
}

/// The arguments of a meta-tool with other names in them; any other tool's as they are.
pub(super) fn renamed(
    name: &str,
    mut arguments: Value,
    tool: &dyn Fn(&str) -> String,
    category: &dyn Fn(&str) -> String,
    wrapping: usize,
) -> Value {
    let Some(map) = arguments.as_object_mut() else { return arguments };
    if name == EXPAND_TOOLS {
        for (key, new) in [("tools", tool), ("categories", category), ("category", category)] {
            match map.get_mut(key) {
                Some(Value::String(own)) => *own = new(own),
                Some(Value::Array(list)) => list.iter_mut().for_each(|own| {
                    if let Value::String(text) = own {
                        *text = new(text);
                    }
                }),
                _ => {}
            }
        }
    } else if name == CALL_TOOL && wrapping > 0 {
        let Some(Value::String(inner)) = map.get_mut("name") else { return arguments };
        *inner = tool(inner);
        let inner = inner.clone();
        if let Some(own) = map.get_mut("arguments") {
            *own = renamed(&inner, own.take(), tool, category, wrapping - 1);
        }
    }
    arguments
}
