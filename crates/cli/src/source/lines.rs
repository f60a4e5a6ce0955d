//! Forms of tool lists that are no single JSON list: JSON lines, the lines of a server's answers, events of a stream, and one
//! tool alone.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::super::output::Failure;
use toolfold::diagnostic::{Diagnostic, Place};

/// Where objects hold a list of tools.
const LISTS: [&str; 5] = ["tools", "functions", "result", "functionDeclarations", "function_declarations"];

/// The text as one JSON document that a catalogue is read from. What is one already stays as it is.
pub(super) fn one_list(text: String, file: &str) -> Result<String, Failure> {
    let text = of_events(text);
    let mut values: Vec<&RawValue> = Vec::new();
    for value in serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter::<&RawValue>() {
        match value {
            Ok(value) => values.push(value),
            // One document: the reader of catalogues says what is wrong with it.
            Err(_) if values.is_empty() => return Ok(text),
            Err(why) => {
                let place = Place::file(file).line_column(why.line(), why.column().max(1));
                let bad = Diagnostic::error("bad-json", place, "this line is no JSON");
                return Err(Failure::bad(vec![bad.help("JSON lines have one tool or one list a line")]));
            }
        }
    }
    match values.as_slice() {
        [] => Ok(text),
        [only] if !is_tool(only) => Ok(text),
        _ => Ok(format!("[{}]", values.iter().flat_map(|value| tools_of_line(value)).collect::<Vec<_>>().join(",\n"))),
    }
}

/// The data of a stream of events, as streamable HTTP answers `tools/list`; any other text as it is.
fn of_events(text: String) -> String {
    let begins = |name| text.trim_start().starts_with(name);
    if !["event:", "data:", "id:", "retry:"].into_iter().any(begins) {
        return text;
    }
    text.lines().filter_map(|line| line.strip_prefix("data:")).collect::<Vec<_>>().join("\n")
}

fn members(value: &RawValue) -> BTreeMap<String, &RawValue> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

/// Whether a document is one tool, or one entry of Gemini's that lists declarations.
fn is_tool(value: &RawValue) -> bool {
    if !value.get().starts_with('{') {
        return false;
    }
    let own = members(value);
    let declares = own.contains_key("functionDeclarations") || own.contains_key("function_declarations");
    let named = own.contains_key("name") || own.contains_key("function");
    !own.contains_key("tools") && !own.contains_key("functions") && (declares || named)
}

/// The tools of a line, each as it was written. A message of JSON-RPC that lists none has none.
fn tools_of_line(value: &RawValue) -> Vec<&str> {
    if value.get().starts_with('[') {
        let own: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        return own.into_iter().map(RawValue::get).collect();
    }
    let own = members(value);
    let holds = |key: &&str| own.get(*key).is_some_and(|inner| inner.get().starts_with(['[', '{']));
    match LISTS.iter().find(|key| holds(key)) {
        // An entry of Gemini's stays whole.
        Some(&("functionDeclarations" | "function_declarations")) => vec![value.get()],
        Some(key) => own.get(*key).map(|inner| tools_of_line(inner)).unwrap_or_default(),
        None if own.contains_key("jsonrpc") || own.contains_key("protocolVersion") => Vec::new(),
        None => vec![value.get()],
    }
}

#[cfg(test)]
mod tests {
    use super::one_list;

    #[test]
    fn every_form_becomes_one_list() {
        let (a, b) = (r#"{"name":"a","inputSchema":{}}"#, r#"{"name":"b","inputSchema":{}}"#);
        let both = format!("[{a},\n{b}]");
        let answer = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{a},{b}]}}}}"#);
        let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
        for (text, list) in [
            (format!("[{a},{b}]"), format!("[{a},{b}]")),
            (answer.clone(), answer.clone()),
            (format!("{a}\n{b}\n"), both.clone()),
            (format!("[{a}]\n[{b}]"), both.clone()),
            (format!("{{\"tools\":[{a}]}}\n{b}\n"), both.clone()),
            (format!("{hello}\n{answer}\n"), both),
            (a.to_owned(), format!("[{a}]")),
            (format!("event: message\ndata: {answer}\n\n"), format!(" {answer}")),
            (
                r#"{"functionDeclarations":[{"name":"a"}]}"#.to_owned(),
                r#"[{"functionDeclarations":[{"name":"a"}]}]"#.to_owned(),
            ),
            (
                r#"{"tools":[{"functionDeclarations":[{"name":"a"}]}],"contents":[]}"#.to_owned(),
                r#"{"tools":[{"functionDeclarations":[{"name":"a"}]}],"contents":[]}"#.to_owned(),
            ),
        ] {
            assert_eq!(one_list(text.clone(), "f").unwrap(), list, "{text}");
        }
        assert!(one_list(format!("{a}\nnoise"), "f").unwrap_err().to_string().contains("no JSON"));
        assert_eq!(one_list("{".to_owned(), "f").unwrap(), "{");
    }
}
