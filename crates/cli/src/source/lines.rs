//! Tool lists other than a JSON list: JSON lines, responses, event streams, a single tool.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolfold::diagnostic::{Diagnostic, Place};

/// The keys under which objects contain a list of tools.
const LISTS: [&str; 5] = ["tools", "functions", "result", "functionDeclarations", "function_declarations"];

pub(super) fn one_list(text: String, file: &str) -> Result<String, Diagnostic> {
    let text = of_events(text);
    let mut values: Vec<&RawValue> = Vec::new();
    for value in serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter::<&RawValue>() {
        match value {
            Ok(value) => values.push(value),
            // One document: the catalog's parser reports what is wrong.
            Err(_) if values.is_empty() => return Ok(text),
            Err(why) => {
                let place = Place::file(file).line_column(why.line(), why.column().max(1));
                let bad = Diagnostic::error("bad-json", place, "this line is not JSON");
                return Err(bad.help("JSON lines have one tool or one list per line"));
            }
        }
    }
    match values.as_slice() {
        [] => Ok(text),
        [only] if !is_tool(only) => Ok(text),
        _ => Ok(format!("[{}]", values.iter().flat_map(|value| tools_of_line(value)).collect::<Vec<_>>().join(",\n"))),
    }
}

/// The data of an event stream, as streamable HTTP answers `tools/list`; other text unchanged.
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

/// Whether a document is a single tool, or a single entry of Gemini with declarations.
fn is_tool(value: &RawValue) -> bool {
    if !value.get().starts_with('{') {
        return false;
    }
    let own = members(value);
    let declares = own.contains_key("functionDeclarations") || own.contains_key("function_declarations");
    let named = own.contains_key("name") || own.contains_key("function");
    !own.contains_key("tools") && !own.contains_key("functions") && (declares || named)
}

/// The tools of a line, each as written. A JSON-RPC message without a list has none.
fn tools_of_line(value: &RawValue) -> Vec<&str> {
    if value.get().starts_with('[') {
        let own: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        return own.into_iter().map(RawValue::get).collect();
    }
    let own = members(value);
    let holds = |key: &&str| own.get(*key).is_some_and(|inner| inner.get().starts_with(['[', '{']));
    match LISTS.iter().find(|key| holds(key)) {
        // An entry of Gemini stays whole.
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
        assert!(one_list(format!("{a}\nnoise"), "f").unwrap_err().to_string().contains("not JSON"));
        assert_eq!(one_list("{".to_owned(), "f").unwrap(), "{");
    }
}
