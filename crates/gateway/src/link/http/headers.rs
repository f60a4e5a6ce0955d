//! The headers of a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::Known;
use crate::object::{Object, elements};
use crate::rpc::{Answer, Message, Raw};
use crate::version::{has_sessions, in_meta};

/// The session id, up to 2025-11-25.
pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The event after which a stream is resumed.
pub(super) const LAST_EVENT: &str = "last-event-id";

/// Headers that mirror arguments: the path of the property and the header's name.
pub(super) type Mirrored = Vec<(Vec<String>, String)>;

pub(super) fn on(request: RequestBuilder, message: &Message, known: &Known) -> RequestBuilder {
    let mut request = request;
    let (method, params) = match message {
        Message::Request(own) => (Some(own.method.as_str()), own.params.as_deref()),
        Message::Notification(own) => (Some(own.method.as_str()), own.params.as_deref()),
        Message::Response(..) | Message::Fault(..) => (None, None),
    };
    let own = params.and_then(in_meta).or_else(|| known.version.clone());
    if let Some(version) = own.as_deref().filter(|_| method != Some("initialize")) {
        request = request.header(VERSION, version);
    }
    if let Some(session) = known.session.as_ref().filter(|_| method != Some("initialize")) {
        request = request.header(SESSION, session);
    }
    // From 2026-07-28 on, intermediaries route by headers (SEP-2243).
    let Some(method) = method.filter(|_| own.as_deref().is_some_and(|own| !has_sessions(own))) else { return request };
    request = request.header("mcp-method", method);
    let params = Object::from_params(params);
    let named = match method {
        "tools/call" | "prompts/get" => params.read_as::<String>("name"),
        "resources/read" => params.read_as::<String>("uri"),
        _ => None,
    };
    let Some(name) = named else { return request };
    request = request.header("mcp-name", encoded(&name));
    let Some(mirrored) = known.mirrored.get(&name).filter(|_| method == "tools/call") else { return request };
    let arguments: Value = params.read_as("arguments").unwrap_or_default();
    for (path, header) in mirrored {
        let value = path.iter().try_fold(&arguments, |value, name| value.get(name));
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => continue,
        };
        request = request.header(format!("mcp-param-{header}"), encoded(&text));
    }
    request
}

/// A header value: plain ASCII without surrounding blanks, or wrapped (SEP-2243).
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\t');
    let wrapped = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && text.trim() == text && !wrapped {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

/// Stores which arguments the tools of a list mirror in headers, and returns the answer without the
/// tools that have invalid annotations (specification 2026-07-28).
pub(super) fn remember(answer: Answer, known: &mut Known) -> Answer {
    let Ok(result) = answer else { return answer };
    if known.version.as_deref().is_none_or(has_sessions) || !result.get().contains("x-mcp-header") {
        return Ok(result);
    }
    let Some(mut list) = Object::from_json(&result) else { return Ok(result) };
    let mut kept: Vec<Raw> = Vec::new();
    for tool in elements(list.get("tools")) {
        let read: Value = serde_json::from_str(tool.get()).unwrap_or_default();
        let name = read.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut found = Mirrored::new();
        match collect(read.get("inputSchema").unwrap_or(&Value::Null), &mut Vec::new(), &mut found) {
            Ok(()) => {
                known.mirrored.insert(name, found);
                kept.push(tool);
            }
            Err(why) => tracing::warn!(tool = name, "ignored a tool with invalid x-mcp-header annotations: {why}"),
        }
    }
    list.put_value("tools", &kept);
    Ok(list.to_raw())
}

/// Collects the annotations below `properties`. Those elsewhere are errors.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Mirrored) -> Result<(), String> {
    const MAX_DEPTH: usize = 32;
    let Some(map) = schema.as_object().filter(|_| path.len() <= MAX_DEPTH) else { return Ok(()) };
    if let Some(header) = map.get("x-mcp-header") {
        let name = header.as_str().filter(|name| !path.is_empty() && is_token(name));
        let name = name.ok_or_else(|| format!("`{header}` is not a valid header name"))?;
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind, "string" | "integer" | "boolean") {
            return Err(format!("`{name}` is not of type string, integer or boolean"));
        }
        if found.iter().any(|(_, known)| known.eq_ignore_ascii_case(name)) {
            return Err(format!("duplicate header `{name}`"));
        }
        found.push((path.clone(), name.to_owned()));
    }
    for (key, below) in map {
        if key == "properties" {
            for (name, property) in below.as_object().into_iter().flatten() {
                path.push(name.clone());
                collect(property, path, found)?;
                path.pop();
            }
        } else if !matches!(key.as_str(), "enum" | "const" | "default" | "examples") && mentions(below) {
            return Err(format!("an annotation below `{key}` does not belong to an argument"));
        }
    }
    Ok(())
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("x-mcp-header") || map.values().any(mentions),
        Value::Array(list) => list.iter().any(mentions),
        _ => false,
    }
}

/// Whether a name is an HTTP token (RFC 9110, section 5.6.2).
fn is_token(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_invalid_in_headers_are_wrapped() {
        assert_eq!(encoded("us-west 1"), "us-west 1");
        assert_eq!(encoded(" padded"), "=?base64?IHBhZGRlZA==?=");
        assert_eq!(encoded("日本"), "=?base64?5pel5pys?=");
        assert_eq!(encoded("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    }

    #[test]
    fn only_valid_annotations_are_mirrored() {
        let check = |schema: Value| {
            let mut found = Mirrored::new();
            collect(&schema, &mut Vec::new(), &mut found).map(|()| found)
        };
        let one = |more: Value| json!({"type": "object", "properties": {"region": more}});
        let found = check(one(json!({"type": "string", "x-mcp-header": "Region"}))).unwrap();
        assert_eq!(found, [(vec!["region".to_owned()], "Region".to_owned())]);
        for bad in [
            one(json!({"type": "string", "x-mcp-header": ""})),
            one(json!({"type": "string", "x-mcp-header": "a b"})),
            one(json!({"type": "string", "x-mcp-header": 3})),
            one(json!({"type": "object", "x-mcp-header": "X"})),
            one(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "X"}})),
            json!({"type": "object", "properties": {
                "a": {"type": "string", "x-mcp-header": "X"}, "b": {"type": "string", "x-mcp-header": "x"}}}),
        ] {
            assert!(check(bad.clone()).is_err(), "{bad}");
        }
    }
}
