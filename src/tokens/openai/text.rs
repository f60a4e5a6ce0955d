//! The texts that OpenAI's models read for arguments, results and response formats.

use serde_json::Value;

use crate::tokens::json::{Member, Style};
use crate::tokens::prompt::Format;

/// Parses a text as JSON, or returns it as a string.
pub(super) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Arguments as compact JSON. Text that is not JSON, or only a quoted string, is unchanged.
pub(super) fn compact_arguments(text: &str) -> String {
    match parsed(text) {
        Value::String(_) => text.to_owned(),
        value => Style::COMPACT.print(&value),
    }
}

/// Schema keywords that the model does not see in a response format.
const UNSENT: [&str; 15] = [
    "$schema",
    "additionalProperties",
    "default",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
];

/// A response format as the model reads it: a heading, its description, and its schema without the
/// omitted keywords.
pub(super) fn format_text(format: &Format<'_>) -> String {
    let shown = Style::choosing(|key, _| if UNSENT.contains(&key) { Member::Left } else { Member::Kept });
    let description = format.description.map(|text| format!("// {text}\n")).unwrap_or_default();
    let schema = format.schema.map_or_else(|| "{}".to_owned(), |schema| shown.print(schema));
    format!("# Response Formats\n\n## {}\n\n{description}{schema}", format.name)
}
