//! Reads members of a request; errors have a JSON Pointer.

use std::borrow::Cow;

use serde_json::Value;

use crate::tokens::meter::shown_name;
use crate::tokens::request::CountError;

/// A required string.
pub(super) fn text_at<'a>(holder: &'a Value, key: &str, path: &str, what: &'static str) -> Result<&'a str, CountError> {
    let text = holder.get(key).and_then(Value::as_str);
    text.ok_or_else(|| expected(&format!("{path}/{key}"), what))
}

/// A list; empty if the member is absent or `null`.
pub(super) fn list_at<'a>(holder: &'a Value, key: &str, path: &str) -> Result<&'a [Value], CountError> {
    match holder.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(expected(&format!("{path}/{key}"), "a list")),
    }
}

/// A member that is present and not `null`.
pub(super) fn given<'a>(holder: &'a Value, key: &str) -> Option<&'a Value> {
    holder.get(key).filter(|value| !value.is_null())
}

/// The first of these members that is present and not `null`: APIs that accept camel case accept
/// snake case too.
pub(super) fn either<'a>(holder: &'a Value, keys: [&'static str; 2]) -> Option<(&'static str, &'a Value)> {
    keys.into_iter().find_map(|key| Some((key, given(holder, key)?)))
}

/// The `type` of a part, an item or a tool.
pub(super) fn kind_of<'a>(holder: &'a Value, path: &str) -> Result<Option<&'a str>, CountError> {
    match given(holder, "type") {
        None => Ok(None),
        Some(Value::String(kind)) => Ok(Some(kind)),
        Some(_) => Err(expected(&format!("{path}/type"), "the type as a text")),
    }
}

/// A string, or a list of parts of which only text can be counted: the model reads them as one text
/// without separators.
pub(super) fn content<'a>(content: &'a Value, path: &str) -> Result<Cow<'a, str>, CountError> {
    match content {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Null => Ok(Cow::Borrowed("")),
        Value::Array(parts) => match parts.as_slice() {
            [only] => Ok(Cow::Borrowed(part(only, &format!("{path}/0"))?)),
            parts => {
                let texts = parts.iter().enumerate().map(|(i, p)| part(p, &format!("{path}/{i}")));
                Ok(Cow::Owned(texts.collect::<Result<Vec<_>, _>>()?.concat()))
            }
        },
        _ => Err(expected(path, "a text or a list of parts")),
    }
}

fn part<'a>(part: &'a Value, path: &str) -> Result<&'a str, CountError> {
    match kind_of(part, path)? {
        None | Some("text" | "input_text" | "output_text") => text_at(part, "text", path, "a text part"),
        Some("refusal") => text_at(part, "refusal", path, "a refusal"),
        Some(kind) => Err(unmeasurable(path, format!("a part of type `{}`", shown_name(kind)))),
    }
}

/// A call's arguments as sent: a string, or JSON that is printed as one.
pub(super) fn arguments_text<'a>(value: Option<&'a Value>) -> Cow<'a, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(crate::tokens::json::Style::COMPACT.print(other)),
    }
}

/// The error for a value of an unexpected kind.
pub(super) fn expected(path: &str, expected: &'static str) -> CountError {
    CountError::Expected { path: path.to_owned(), expected }
}

/// The error for content whose tokens cannot be derived from the request.
pub(super) fn unmeasurable(path: &str, what: String) -> CountError {
    CountError::Unmeasurable { path: path.to_owned(), what }
}
