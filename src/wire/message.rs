//! A message of a model, given as a value or as text.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{WireCall, calls};
use super::reader::At;
use super::{Arguments, Wire, WireError, shape};

/// An assistant message in a wire's own shape: a value, or JSON text. As text, the arguments of its calls keep every digit.
#[derive(Debug, Clone)]
pub struct Message<'m> {
    read: Result<Cow<'m, Value>, String>,
    text: Option<&'m str>,
    key: Option<&'m str>,
}

impl<'m> Message<'m> {
    /// The message with its key: an id that is unique for each assistant message, such as `msg_…` or `resp_…`. An empty one
    /// is none.
    #[must_use]
    pub fn keyed(self, key: &'m str) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The key.
    pub(crate) fn key(&self) -> Option<&'m str> {
        self.key
    }
}

impl<'m> From<&'m Value> for Message<'m> {
    fn from(value: &'m Value) -> Self {
        Self { read: Ok(Cow::Borrowed(value)), text: None, key: None }
    }
}

impl<'m> From<&'m str> for Message<'m> {
    fn from(text: &'m str) -> Self {
        let read = Arguments::from_text(text).value().cloned().map(Cow::Owned).map_err(str::to_owned);
        Self { read, text: Some(text), key: None }
    }
}

impl<'m> From<&'m String> for Message<'m> {
    fn from(text: &'m String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'m> From<&'m RawValue> for Message<'m> {
    fn from(raw: &'m RawValue) -> Self {
        Self::from(raw.get())
    }
}

impl Wire {
    /// The calls of one assistant message, in order.
    ///
    /// # Errors
    /// [`WireError`] names the place where the message has not the wire's shape, or the API that it looks like. A message
    /// of another API is never one without calls. Arguments that are no JSON are no error: the gate answers them.
    pub(crate) fn calls(self, message: &Message<'_>) -> Result<Vec<WireCall>, WireError> {
        let value = message.read.as_ref().map_err(|why| WireError::NotJson { wire: self, why: why.clone() })?;
        match calls(&At::top(self, value, message.text)) {
            Ok(found) if found.is_empty() => shape::check(self, value).map(|()| found),
            Ok(found) => Ok(found),
            Err(why) => Err(shape::foreign(self, value).unwrap_or(why)),
        }
    }
}
