//! Billed tokens: rendering against its rules, counts against recorded requests, and bounds on
//! hostile input.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolfold::tokens::{
    CountError, Counted, Function, Meter, Reason, RequestContext, Tiktoken, count_request_with, render, unverified,
};

mod corpus;
mod estimates;
mod hostile;
mod meters;
mod requests;
mod vocabulary;

/// Counts a request whose body names its model, with OpenAI's vocabularies.
fn count_request(row: &Value) -> Result<Counted, CountError> {
    count_request_with(row, &RequestContext::default(), Tiktoken::new)
}

/// A path under the shared folder if it exists; otherwise reports that the test was skipped.
fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")).join(path);
    if !full.exists() {
        println!("skipped: {} is absent", full.display());
        return None;
    }
    Some(full)
}

fn read(path: &str) -> Option<String> {
    let path = shared(path)?;
    Some(std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

#[track_caller]
fn check_type(properties: &Value, required: &Value, expect: &str) {
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    check_parameters(&parameters, &format!("(_: {expect})"));
}

#[track_caller]
fn check_parameters(parameters: &Value, expect: &str) {
    let text = render(&[Function::new("f", None, Some(parameters))]);
    assert_eq!(text, format!("namespace functions {{\n\ntype f = {expect} => any;\n\n}} // namespace functions"));
}

#[test]
fn the_block_surrounds_the_tools_with_blank_lines() {
    assert_eq!(render(&[]), "namespace functions {\n\n} // namespace functions");
    let parameters = json!({"type": "object", "properties": {}});
    let described = Function::new("a", Some("\n One. \n\n  Two.\n"), Some(&parameters));
    let bare = Function::new("b", Some(" \u{1f}\u{3000}"), None);
    assert_eq!(
        render(&[described, bare]),
        "namespace functions {\n\n// One.\n//\n// Two.\ntype a = () => any;\n\ntype b = () => any;\n\n} // namespace functions"
    );
}

#[test]
fn objects_without_comments_are_on_one_line() {
    check_type(&json!({"a": {"type": "string"}, "b": {"type": "integer"}}), &json!(["a"]), "{ a: string, b?: number }");
    check_type(&json!({"a": {"type": "boolean"}, "n": {"type": "null"}}), &json!(null), "{ a?: boolean, n?: null }");
    check_type(&json!({"o": {"type": "object"}, "x": {}, "y": true}), &json!([]), "{ o?: object, x?: any, y?: any }");
    check_type(&json!({"e": {"enum": ["x", 1, null, 1.0]}}), &json!(["e"]), r#"{ e: "x" | 1 | null | 1.0 }"#);
    check_type(
        &json!({"l": {"type": "array", "items": {"type": "number"}}, "m": {"type": "array"}}),
        &json!(["l", "m"]),
        "{ l: number[], m: any[] }",
    );
    check_type(&json!({"u": {"type": ["string", "null"]}}), &json!(["u"]), "{ u: string | null }");
    check_type(
        &json!({"u": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
        &json!(["u"]),
        "{ u: string | number }",
    );
    check_type(&json!({"u": {"allOf": [{"type": "string"}]}}), &json!(["u"]), "{ u: string }");
    check_type(
        &json!({"p": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}}),
        &json!([]),
        "{ p?: { q: string } }",
    );
}

#[test]
fn objects_with_comments_are_on_many_lines() {
    check_type(&json!({"a": {"type": "string", "description": "An a."}}), &json!(["a"]), "{\n// An a.\na: string,\n}");
    check_type(
        &json!({"a": {"title": "A", "description": "An\n a.", "type": "string"}}),
        &json!(["a"]),
        "{\n// A\n//\n// An\n// a.\na: string,\n}",
    );
    check_type(&json!({"a": {"type": "integer", "default": null}}), &json!([]), "{\na?: number, // default: null\n}");
    check_type(
        &json!({"a": {"enum": ["x"], "default": "x"}, "b": {"type": "string", "default": "x"}}),
        &json!([]),
        "{\na?: \"x\", // default: x\nb?: string, // default: \"x\"\n}",
    );
    check_type(
        &json!({"u": {"anyOf": [{"type": "string", "format": "date", "description": "Day"}, {"type": "null"}], "title": "U"}}),
        &json!(["u"]),
        "{\n// U\nu:\n | string // Day format: date\n | null\n,\n}",
    );
    check_type(
        &json!({"l": {"type": "array", "items": {"type": "object", "description": "Item", "properties": {
            "k": {"type": "string", "description": "Key"}}}}}),
        &json!(["l"]),
        "{\nl: Array<\n// Item\n{\n// Key\nk?: string,\n}\n>,\n}",
    );
    check_parameters(
        &json!({"title": "Input", "properties": {"a": {"type": "string"}}}),
        "(_: // Input\n{ a?: string })",
    );
}

#[test]
fn references_are_inlined_and_cycles_are_cut() {
    let with = |reference: &str| {
        json!({"properties": {"p": {"$ref": reference}}, "required": ["p"], "$defs": {
            "T": {"type": "string"}, "a/b": {"type": "integer"}, "a b": {"type": "boolean"},
            "N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}, "S": {"$ref": "#/$defs/S"}}})
    };
    for (reference, expect) in [
        ("#/$defs/T", "string"),
        ("#/elsewhere/T", "string"),
        ("#/$defs/a~1b", "number"),
        ("#/$defs/a%20b", "boolean"),
        ("#/$defs/N", "{ next?: any }"),
        ("#", "any"),
        ("#/$defs/S", "any"),
        ("#/$defs/missing", "any"),
        ("https://example.com/schema#/$defs/T", "any"),
    ] {
        check_parameters(&with(reference), &format!("(_: {{ p: {expect} }})"));
    }
}

#[test]
fn malformed_schemas_render() {
    check_parameters(&json!("text"), "()");
    check_parameters(&json!({"properties": ["a"]}), "()");
    check_parameters(&json!({"properties": {"a": null}, "required": "xay"}), "(_: { a: any })");
    check_parameters(&json!({"properties": {"a": {"type": []}}}), "(_: { a?:  })");
    check_parameters(&json!({"properties": {"a": {"type": "array", "items": [1]}}}), "(_: { a?: any[] })");
    check_parameters(&json!({"properties": {"a": {"description": true}}}), "(_: {\n// True\na?: any,\n})");
    check_parameters(&json!({"properties": {"a": {"enum": [{"k": [1, "é"]}]}}}), "(_: { a?: {\"k\": [1, \"é\"]} })");
}

#[track_caller]
fn check_reasons(parameters: &Value, expect: &[Reason]) {
    assert_eq!(unverified(&[Function::new("f", None, Some(parameters))]), expect);
}

#[test]
fn uncovered_constructs_are_reported() {
    check_reasons(&json!({"type": "object", "properties": {"pattern": {"type": "string"}}, "required": []}), &[]);
    check_reasons(
        &json!({"properties": {"a": {"pattern": "x", "minimum": 1}}}),
        &[Reason::Keyword("minimum"), Reason::Keyword("pattern")],
    );
    check_reasons(&json!({"properties": {"a": {"enum": ["pattern"], "default": "minimum"}}}), &[]);
    check_reasons(
        &json!({"properties": {"a": {"additionalProperties": {}}}}),
        &[Reason::Keyword("additionalProperties")],
    );
    check_reasons(&json!({"properties": {"a": {"type": "string", "format": "uri"}}}), &[]);
    check_reasons(
        &json!({"properties": {"a": {"type": ["string", "null"], "description": "A."}}}),
        &[Reason::TypeList],
    );
    check_reasons(
        &json!({"properties": {"a": {"anyOf": [{"enum": ["x"]}, {"type": "null"}]}}}),
        &[Reason::EnumInUnion],
    );
    check_reasons(&json!({"properties": {"a": {"anyOf": [{"items": {"enum": ["x"]}, "type": "array"}]}}}), &[]);
    check_reasons(&json!({"properties": {"a": {"type": "object", "default": null}}}), &[Reason::ObjectDefault]);
    check_reasons(&json!({"properties": {"a": {"x-note": 1}}}), &[Reason::UnknownKeyword]);
    check_reasons(&json!({"properties": {"a": {"type": "string"}}, "$defs": {"B": {}}}), &[Reason::UnusedDefinitions]);
    check_reasons(&json!({"properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"type": "string"}}}), &[]);
    check_reasons(
        &json!({"properties": {"a": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"items": {"$ref": "#/$defs/B"}, "type": "array"}}}),
        &[Reason::CyclicRef],
    );
    let many = [Function::new("f", None, None); 35];
    assert_eq!(unverified(&many), [Reason::ManyTools]);
    assert_eq!(unverified(&many[..34]), []);
}

#[test]
fn uncountable_requests_are_errors() {
    for (row, expect) in [
        (json!([]), "expected a request: a JSON object with `messages`, `input` or `contents` at `/`"),
        (
            json!({"model": "gpt-4o"}),
            "expected `messages` (Chat, Anthropic), `input` (Responses) or `contents` (Gemini) at `/`",
        ),
        (json!({"model": "gpt-4o", "messages": {}}), "expected a list of messages at `/messages`"),
        (json!({"messages": []}), "an OpenAI Chat request has no model at `/model`, on which tokens depend"),
        (
            json!({"custom_id": "1", "body": {"model": "gpt-4o", "messages": [1]}}),
            "expected a message at `/body/messages/0`",
        ),
        (
            json!({"model": "llama-4", "messages": []}),
            "an OpenAI Chat request to `llama-4` cannot be counted: there is no tokenizer and no recorded request for this vendor",
        ),
        (
            json!({"model": "my-deployment", "messages": []}),
            "an OpenAI Chat request to `my-deployment` cannot be counted: the vendor of the model is unknown",
        ),
        (
            json!({"model": "gpt-4o", "system": "x", "messages": []}),
            "an Anthropic request to `gpt-4o` cannot be counted: OpenAI's models do not accept this request form",
        ),
        (json!({"model": "gpt-4o", "messages": [{"content": "x"}]}), "expected a role at `/messages/0/role`"),
        (
            json!({"model": "gpt-4o", "messages": [{"role": "user"}]}),
            "expected a text or a list of parts at `/messages/0/content`",
        ),
        (
            json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
            "a part of type `image_url` at `/messages/0/content/0` cannot be counted offline: only text and function tools can",
        ),
        (
            json!({"model": "gpt-4o", "messages": [], "tools": [{"type": "web_search"}]}),
            "a tool of type `web_search` at `/tools/0` cannot be counted offline: only text and function tools can",
        ),
        (
            json!({"model": "gpt-4o", "messages": [], "tools": [{"function": {}}]}),
            "expected a function's name at `/tools/0/function/name`",
        ),
        (json!({"model": "gpt-4o", "api": "batch", "messages": []}), "expected `chat` or `responses` at `/api`"),
    ] {
        let error: CountError = count_request(&row).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
}

#[test]
fn both_shapes_of_a_tool_cost_the_same() {
    let function =
        json!({"name": "f", "description": "Does f.", "parameters": {"properties": {"a": {"type": "string"}}}});
    let mut flat = function.clone();
    flat["type"] = json!("function");
    let row =
        |tool: Value| json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]});
    let chat = count_request(&row(json!({"type": "function", "function": function}))).unwrap();
    assert_eq!(chat, count_request(&row(flat)).unwrap());
    assert_eq!(chat.meter, Meter::default());
    assert!(chat.verified);
}

#[test]
fn assumed_counts_are_not_verified() {
    let row = |extra: Value| {
        let mut row = json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]});
        row.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        count_request(&row).unwrap().reasons
    };
    assert_eq!(row(json!({})), []);
    assert_eq!(row(json!({"model": "gpt-6"})), [Reason::AssumedEncoding]);
    assert_eq!(row(json!({"model": "o1-preview"})), [Reason::UnseenModel]);
    assert_eq!(
        row(json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}})),
        [Reason::ResponseFormat]
    );
    assert_eq!(
        row(json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "content": "x", "tool_call_id": "1"}, {"role": "critic", "content": "x", "mood": "bad"}]})),
        [Reason::UnknownRole, Reason::UnknownMember]
    );
}
