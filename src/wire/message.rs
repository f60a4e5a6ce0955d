//! A model's message, given as a value or as text.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::WireCall;
use super::reader::At;
use super::{Arguments, Wire, WireError, shape};

/// An assistant message in a wire's format: a value, or JSON text. With text, the arguments of its
/// calls keep every digit.
#[derive(Debug, Clone)]
pub struct Message<'m> {
    read: Result<Cow<'m, Value>, String>,
    text: Option<&'m str>,
    key: Option<&'m str>,
}

impl<'m> Message<'m> {
    /// Sets the message's key: an id that is unique for each assistant message, such as `msg_…` or
    /// `resp_…`. An empty key counts as absent.
    #[must_use]
    pub fn keyed(self, key: &'m str) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The JSON text: as given, or of the value.
    pub(super) fn text(&self) -> Option<Cow<'m, str>> {
        match (self.text, &self.read) {
            (Some(text), _) => Some(Cow::Borrowed(text)),
            (None, Ok(value)) => Some(Cow::Owned(value.to_string())),
            (None, Err(_)) => None,
        }
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
    /// Returns a [`WireError`] with the place where the message deviates from the wire's format, or
    /// the API that it seems to belong to. A message of another API never counts as one without
    /// calls. Arguments that are not valid JSON are not an error: the gate answers them.
    pub(crate) fn calls(self, message: &Message<'_>) -> Result<Vec<WireCall>, WireError> {
        let value = message.read.as_ref().map_err(|why| WireError::NotJson { wire: self, why: why.clone() })?;
        match self.api().calls(&At::top(self, value, message.text)) {
            Ok(found) if found.is_empty() => shape::check_shape(self, value).map(|()| found),
            Ok(found) => Ok(found),
            Err(why) => Err(shape::foreign(self, value).unwrap_or(why)),
        }
    }
}
