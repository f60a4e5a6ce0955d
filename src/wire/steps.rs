//! Reads the calls and results in a provider's message array.

use serde_json::Value;

use super::append::ToolChange;
use super::calls::WireCall;
use super::reader::At;
use super::{Arguments, Wire, WireError};

/// A call in a message array, for readers of transcripts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
        let list = match top.get(self.facts().messages) {
            // Responses accepts a bare string as a user's message.
            Some(inner) if inner.value.is_string() && self.facts().takes_text => return Ok(Vec::new()),
            Some(inner) => inner,
            None => top,
        };
        let mut found = Vec::new();
        for message in list.elements()? {
            self.api().steps(&message.object()?, &mut found)?;
        }
        Ok(found)
    }
}

pub(super) fn called(at: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
    found.extend(at.wire.api().calls(at)?.into_iter().map(Step::Call));
    Ok(())
}

pub(super) fn answer_step(id: Option<String>, ok: bool, answer: Option<At<'_>>) -> Step {
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
