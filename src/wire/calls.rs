//! A call of an assistant message, and how its parts are read.

use serde_json::Value;

use super::reader::At;
use super::{Arguments, WireError};

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
    pub(super) fn new(id: Option<String>, name: String, arguments: Arguments) -> Self {
        Self { id, request: None, name: Some(name), arguments }
    }
}

pub(super) fn arguments_of(at: Option<At<'_>>) -> Arguments {
    at.map_or_else(|| Arguments::from_text(""), |at| at.arguments())
}

/// The id under a key. An empty id, as sent by some servers, counts as absent.
pub(super) fn id_under(at: &At<'_>, key: &str) -> Result<Option<String>, WireError> {
    let id = at.get(key).map(|id| id.text().map(str::to_owned)).transpose()?;
    Ok(id.filter(|id| !id.is_empty()))
}

pub(super) fn called_name(at: &At<'_>) -> Result<String, WireError> {
    Ok(at.need("name", "a string")?.text()?.to_owned())
}

/// The id of a JSON-RPC request, a string or a number, as text.
pub(super) fn request_id(at: &At<'_>) -> Result<String, WireError> {
    match at.value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(at.not("a string or a number")),
    }
}
