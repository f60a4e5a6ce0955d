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
    /// Where the call is in its message; `None` if it did not come in one.
    pub(crate) place: Option<Box<CallPlace>>,
}

/// Where the parts of a call are in its message, as JSON Pointers without escapes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallPlace {
    /// The object with the id.
    pub(super) call: String,
    /// The key of the id; `None` if this form of a call has none.
    pub(super) id_key: Option<&'static str>,
    /// The object with name and arguments.
    pub(super) function: String,
    pub(super) arguments_key: &'static str,
}

impl WireCall {
    /// Reads the call whose id is in `call`, and whose name and arguments are in `function`.
    pub(super) fn read(
        (call, id_key): (&At<'_>, Option<&'static str>),
        (function, arguments_key): (&At<'_>, &'static str),
    ) -> Result<Self, WireError> {
        let id = id_key.map(|key| id_under(call, key)).transpose()?.flatten();
        let (name, arguments) = (Some(called_name(function)?), arguments_of(function.get(arguments_key)));
        let place =
            CallPlace { call: call.path().to_owned(), id_key, function: function.path().to_owned(), arguments_key };
        Ok(Self { id, request: None, name, arguments, place: Some(Box::new(place)) })
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

/// The blocks of a message, of a list of blocks, or a block alone. A text has none.
pub(super) fn content_blocks<'m>(at: &At<'m>) -> Result<Vec<At<'m>>, WireError> {
    match (at.value, at.get("content")) {
        (Value::Array(_), _) => at.elements(),
        (_, Some(content)) if content.value.is_string() => Ok(Vec::new()),
        (_, Some(content)) => content.elements(),
        _ => Ok(vec![at.clone().object()?]),
    }
}

fn called_name(at: &At<'_>) -> Result<String, WireError> {
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
