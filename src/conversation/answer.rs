//! Tool results, wrapped for the wire.

use std::borrow::Cow;
use std::fmt::Display;

use serde_json::Value;

use super::gate::accepted_name;
use super::state::{Became, CallRecord};
use super::{CallError, CallId, Conversation, Forward, ForwardNotes};
use crate::wire::Answered;

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The text for the model.
    pub content: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A result with its text for the model.
    #[must_use]
    pub fn new(content: impl Into<String>, is_error: bool) -> Self {
        Self { content: content.into(), is_error }
    }
}

impl From<String> for ToolResult {
    fn from(content: String) -> Self {
        Self { content, is_error: false }
    }
}

impl From<&str> for ToolResult {
    fn from(content: &str) -> Self {
        Self::from(content.to_owned())
    }
}

impl From<&Value> for ToolResult {
    /// Strings unchanged, anything else as compact JSON.
    fn from(value: &Value) -> Self {
        Self::from(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

impl<T: Display, E: Display> From<Result<T, E>> for ToolResult {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(content) => Self { content: content.to_string(), is_error: false },
            Err(why) => Self { content: why.to_string(), is_error: true },
        }
    }
}

impl Conversation {
    /// Accepts the result of a forwarded call and returns the messages of the wire to append to the
    /// conversation.
    ///
    /// # Errors
    /// [`CallError::NotAtHost`] if no call with this id is at the host: it was never forwarded, or
    /// already has its result.
    pub fn answer(&mut self, id: &CallId, result: impl Into<ToolResult>) -> Result<Vec<Value>, CallError> {
        let own = self.state.at_host(id).ok_or_else(|| CallError::NotAtHost(id.clone()))?;
        let answer = self.answer_part(&own, &result.into())?;
        Ok(self.wire().wrapped(vec![answer]))
    }

    /// Like [`answer`](Self::answer), for exactly this call: a call of a later message may have the
    /// same id.
    ///
    /// # Errors
    /// [`CallError::NotAtHost`] if the call already has its result, or is no longer remembered.
    pub fn answer_forward(&mut self, call: &Forward, result: impl Into<ToolResult>) -> Result<Vec<Value>, CallError> {
        let answer = self.answer_part(&call.own, &result.into())?;
        Ok(self.wire().wrapped(vec![answer]))
    }

    /// Like [`answer`](Self::answer), for the call remembered under `own`. Returns the answer
    /// without the message around it.
    pub(super) fn answer_part(&mut self, own: &CallId, result: &ToolResult) -> Result<Value, CallError> {
        let Some(CallRecord { name, became, identity, .. }) =
            self.state.calls.get(own).filter(|_| self.state.is_at_host(own))
        else {
            return Err(CallError::NotAtHost(own.clone()));
        };
        let content = match became {
            Became::Forwarded { notes: ForwardNotes { note: Some(note), .. }, .. } => {
                Cow::Owned(format!("{note}\n{}", result.content))
            }
            _ => Cow::Borrowed(result.content.as_str()),
        };
        let name = accepted_name(self, name);
        let answered = Answered { id: identity.label(own).as_str(), name: &name };
        let answer = self.wire().answer_message(answered, &content, result.is_error);
        // Including the note, as the model reads it.
        let stored = ToolResult { content: content.into_owned(), is_error: result.is_error };
        self.finished(own, (!stored.is_error).into(), Some(&stored));
        Ok(answer)
    }
}
