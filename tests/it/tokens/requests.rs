//! Whole requests: the meter of a body, the rules beyond first turns, and bodies of every API as
//! they are sent.

use serde_json::{Value, json};
use toolfold::tokens::{Encoding, Reason, RequestContext, Tiktoken, TokenCounter, count_request_with};

use super::count_request;
use toolfold_testing::with;

fn n(text: &str) -> usize {
    Tiktoken::new(Encoding::O200kBase).count(text)
}

fn tokens(row: &Value) -> usize {
    count_request(row).unwrap_or_else(|e| panic!("{e}: {row}")).tokens
}

fn chat(model: &str, more: &Value) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "hi"})];
    messages.extend(more.as_array().unwrap().clone());
    json!({"model": model, "messages": messages})
}

fn call(name: &str, arguments: &str) -> Value {
    json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn a_body_selects_the_meter_of_its_api() {
    let user = json!([{"role": "user", "content": "hi"}]);
    for (row, meter) in [
        (json!({"model": "gpt-4.1", "messages": user}), "billed:openai-chat/gpt-4.1"),
        (json!({"model": "gpt-5.4", "input": "hi"}), "billed:openai-responses/gpt-5.4"),
        (json!({"model": "gpt-4o", "api": "responses", "messages": user}), "billed:openai-responses/gpt-4o"),
        (json!({"model": "claude-sonnet-4-6", "messages": user}), "estimate:anthropic/claude-sonnet-4-6"),
        (
            json!({"model": "anthropic/claude-sonnet-4.6", "messages": [{"role": "system", "content": "x"}]}),
            "estimate:anthropic/anthropic/claude-sonnet-4.6",
        ),
        (
            json!({"model": "gemini-2.5-flash", "contents": [{"parts": [{"text": "hi"}]}]}),
            "estimate:gemini/gemini-2.5-flash",
        ),
        (
            json!({"model": "publishers/google/models/gemini-2.5-flash", "contents": []}),
            "estimate:vertex/publishers/google/models/gemini-2.5-flash",
        ),
        (
            json!({"custom_id": "1", "url": "/v1/responses", "body": {"model": "gpt-5", "input": "hi"}}),
            "billed:openai-responses/gpt-5",
        ),
        (
            json!({"custom_id": "1", "params": {"model": "claude-opus-4-5", "messages": user}}),
            "estimate:anthropic/claude-opus-4-5",
        ),
    ] {
        assert_eq!(count_request(&row).unwrap().meter.to_string(), meter);
    }
}

#[test]
fn a_body_without_a_model_takes_it_from_its_context() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    assert_eq!(
        count_request(&body).unwrap_err().to_string(),
        "a Gemini request has no model at `/model`, on which tokens depend"
    );
    let context =
        |host: &str| with!(RequestContext::default(), model = Some("gemini-2.5-pro".into()), host = Some(host.into()));
    for (host, meter) in [("vertex", "estimate:vertex/gemini-2.5-pro"), ("ai-studio", "estimate:gemini/gemini-2.5-pro")]
    {
        let counted = count_request_with(&body, &context(host), Tiktoken::new).unwrap();
        assert_eq!(counted.meter.to_string(), meter);
    }
}

#[test]
fn a_call_and_its_result_cost_their_texts_and_a_constant() {
    let pair = json!([
        {"role": "assistant", "content": null, "tool_calls": [call("add", "{ \"a\" : 1 }")]},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
    ]);
    let texts = n("add") + n("functions.add") + n("{\"a\":1}") + n("two");
    for (model, constant) in [("gpt-4o", 12), ("o3-mini", 12), ("gpt-5", 18), ("gpt-5.4", 18), ("o4-mini", 18)] {
        let more = tokens(&chat(model, &pair)) - tokens(&chat(model, &json!([])));
        assert_eq!(more, texts + constant, "{model}");
    }
    for (model, status, constant) in [
        ("gpt-4o", "", 10),
        ("gpt-4o", "completed", 13),
        ("gpt-5", "completed", 16),
        ("gpt-5.2", "", 16),
        ("gpt-5.4", "", 19),
        ("gpt-5.6-sol", "", 19),
        ("o4-mini", "", 16),
    ] {
        let with = json!({"model": model, "input": [{"role": "user", "content": "hi"},
            {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{ \"a\" : 1 }", "status": status},
            {"type": "function_call_output", "call_id": "c", "output": "two"}]});
        let more = tokens(&with) - tokens(&json!({"model": model, "input": "hi"}));
        assert_eq!(more, texts + constant, "{model} {status}");
    }
}

#[test]
fn text_beside_calls_is_a_message_before_them() {
    let row = |model: &str, said: &Value| {
        let pair = json!([
            {"role": "assistant", "content": said, "tool_calls": [call("add", "{}")]},
            {"role": "tool", "tool_call_id": "c", "content": "two"},
        ]);
        tokens(&chat(model, &pair))
    };
    for (model, channel) in [("gpt-4o", 0), ("gpt-5", 2)] {
        let silent = row(model, &Value::Null);
        assert_eq!(row(model, &json!("")), silent, "{model}");
        assert_eq!(row(model, &json!("I will add.")) - silent, 4 + n("I will add.") + channel, "{model}");
    }
}

#[test]
fn the_name_of_a_message_with_calls_costs_the_same() {
    let row = |name: &Value| {
        let pair = json!([
            {"role": "assistant", "content": null, "name": name, "tool_calls": [call("add", "{}")]},
            {"role": "tool", "tool_call_id": "c", "content": "two"},
        ]);
        count_request(&chat("gpt-4o", &pair)).unwrap()
    };
    let (named, unnamed) = (row(&json!("a_kind_helper")), row(&Value::Null));
    assert_eq!(named.tokens - unnamed.tokens, 1 + n("a_kind_helper"));
    assert_eq!((named.reasons, unnamed.reasons), (vec![Reason::MessageName], vec![]));
}

/// Whether the client or a recorder sorted the keys determines what the model read.
#[test]
fn sorted_keys_are_verified_only_if_order_is_irrelevant() {
    let text = r#"{"type": "string"}"#;
    let several = r#"{"anyOf": [{"type": "string"}, {"items": {"type": "string"}, "type": "array"}]}"#;
    let reasons = |parameters: &str| {
        let parameters: Value = serde_json::from_str(parameters).unwrap();
        let mut row = chat("gpt-4o", &json!([]));
        row["tools"] = json!([{"type": "function", "function": {"name": "ask", "parameters": parameters}}]);
        count_request(&row).unwrap().reasons
    };
    let sorted = |required: &str| {
        reasons(&format!(
            r#"{{"properties": {{"question": {text}, "repoName": {several}}}, "required": {required}, "type": "object"}}"#
        ))
    };
    assert_eq!(sorted(r#"["repoName", "question"]"#), [Reason::SortedKeys]);
    assert_eq!(sorted(r#"["question", "repoName"]"#), [], "in the order of `required`");
    assert_eq!(sorted(r#"["repoName"]"#), [], "`required` names one");
    assert_eq!(sorted(r#"["repoName", "repoName", "other"]"#), [], "and names it twice, and one that is none");
    let unsorted = format!(
        r#"{{"type": "object", "properties": {{"question": {text}, "repoName": {several}}}, "required": ["repoName", "question"]}}"#
    );
    assert_eq!(reasons(&unsorted), [], "an author's own order");
    let alike = format!(r#"{{"properties": {{"a": {text}, "b": {text}}}, "required": ["b", "a"], "type": "object"}}"#);
    assert_eq!(reasons(&alike), [], "the same tokens in both orders");
    let inside = format!(
        r#"{{"properties": {{"list": {{"items": {{"properties": {{"question": {text}, "repoName": {several}}}, "required": ["repoName", "question"], "type": "object"}}, "type": "array"}}}}, "type": "object"}}"#
    );
    assert_eq!(reasons(&inside), [Reason::SortedKeys], "at any depth");
}

#[test]
fn several_calls_of_one_message_are_one_parallel_call() {
    let row = |model: &str| {
        let calls = json!([
            {"role": "assistant", "content": null, "tool_calls": [call("a", "{\"x\": 1}"), call("b", "")]},
            {"role": "tool", "tool_call_id": "c", "content": "{\"ok\":true}"},
            {"role": "tool", "tool_call_id": "d", "content": "done"},
        ]);
        tokens(&chat(model, &calls)) - tokens(&chat(model, &json!([])))
    };
    let uses = "{\"tool_uses\":[{\"recipient_name\":\"functions.a\",\"parameters\":{\"x\":1}},{\"recipient_name\":\"functions.b\",\"parameters\":{}}]}";
    let texts = n(uses) + n("[{\"ok\": true}, \"done\"]");
    assert_eq!(row("gpt-4o"), texts + 20);
    assert_eq!(row("gpt-5-mini"), texts + 26);
}

#[test]
fn a_response_format_costs_its_shown_schema() {
    let schema = json!({"type": "object", "title": "T", "properties": {"format": {"type": "string", "format": "date",
        "minLength": 1, "description": "D"}}, "required": ["format"], "additionalProperties": false});
    let text = "# Response Formats\n\n## T\n\n// About.\n\
        {\"type\":\"object\",\"title\":\"T\",\"properties\":{\"format\":{\"type\":\"string\",\"description\":\"D\"}}}";
    let inner = json!({"name": "T", "description": "About.", "schema": schema, "strict": true});
    for (model, constant) in [("gpt-4o", 7), ("gpt-5", 4)] {
        let mut row = chat(model, &json!([]));
        let before = tokens(&row);
        row["response_format"] = json!({"type": "json_schema", "json_schema": inner});
        assert_eq!(tokens(&row) - before, n(text) + constant, "{model}");
    }
    for (model, constant) in [("gpt-4o", 1), ("gpt-5", 0)] {
        let mut row = json!({"model": model, "input": "hi"});
        let before = tokens(&row);
        let mut format = inner.clone();
        format["type"] = json!("json_schema");
        row["text"] = json!({"format": format});
        assert_eq!(tokens(&row) - before, n(text) + constant, "{model}");
    }
    let mut row = chat("gpt-4o", &json!([]));
    let before = tokens(&row);
    row["response_format"] = json!({"type": "json_object"});
    assert_eq!(tokens(&row), before, "a format without a schema is free");
}

#[test]
fn gpt_5_reads_system_text_and_tools_as_one_text() {
    let tool = json!({"type": "function", "function": {"name": "f", "description": "Does f."}});
    let block = "namespace functions {\n\n// Does f.\ntype f = () => any;\n\n} // namespace functions";
    let row = |model: &str, system: bool| {
        let mut messages = vec![json!({"role": "user", "content": "hi"})];
        if system {
            messages.insert(0, json!({"role": "developer", "content": "Be brief."}));
        }
        tokens(&json!({"model": model, "messages": messages, "tools": [tool]}))
    };
    let hi = 4 + n("hi");
    let joined = n(&format!("# Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\n{block}"));
    assert_eq!(row("gpt-5.1", true), joined + 85 + 2 + hi);
    assert_eq!(row("gpt-5.1", false), n(block) + 91 + 2 + hi);
    assert_eq!(row("gpt-4.1", true), 3 + hi + 4 + n("Be brief.\n") + n(block) + 5);
    assert_eq!(row("gpt-4.1", false), 3 + hi + n(block) + 9);
}

#[test]
fn assistant_texts_and_required_calls_cost_what_their_family_bills() {
    let said = json!([{"role": "assistant", "content": "yes"}, {"role": "user", "content": "ok"}]);
    let plain = 4 + n("yes") + 4 + n("ok");
    for (model, channel) in [("gpt-4o", 0), ("o3-mini", 0), ("gpt-5", 2), ("o4-mini", 2)] {
        assert_eq!(tokens(&chat(model, &said)) - tokens(&chat(model, &json!([]))), plain + channel, "{model}");
    }
    let required = |model: &str, system: &Value| {
        let mut row = json!({"model": model, "input": "hi", "instructions": system,
            "tools": [{"type": "function", "name": "f", "parameters": {}}]});
        let before = tokens(&row);
        row["tool_choice"] = json!("required");
        tokens(&row) - before
    };
    assert_eq!(required("gpt-4o", &Value::Null), 9);
    assert_eq!(required("gpt-4o", &json!("x")), 8);
    assert_eq!(required("gpt-5", &Value::Null), 0);
}

#[test]
fn parts_of_a_message_are_one_text() {
    let parts = json!([{"role": "user", "content": [{"type": "text", "text": "What is "}, {"type": "text", "text": "5 + 5?"}]}]);
    let whole = json!([{"role": "user", "content": "What is 5 + 5?"}]);
    assert_eq!(tokens(&chat("gpt-4o", &parts)), tokens(&chat("gpt-4o", &whole)));
}

#[test]
fn both_forms_of_a_claude_request_cost_the_same() {
    let claude = json!({"model": "claude-sonnet-4-6", "system": "Be brief.", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Add."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I will."}, {"type": "tool_use", "id": "t", "name": "add", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "two"}]}]}],
        "tools": [{"name": "add", "description": "Adds.", "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}}}]});
    let chat = json!({"model": "claude-sonnet-4-6", "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add."},
        {"role": "assistant", "content": "I will.", "tool_calls": [call("add", "{\"a\":1}")]},
        {"role": "tool", "tool_call_id": "c", "content": "two"}],
        "tools": [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}}]});
    assert_eq!(count_request(&claude).unwrap(), count_request(&chat).unwrap());
}

#[test]
fn unknown_costs_are_errors_or_reasons() {
    for (row, expect) in [
        (
            json!({"model": "gpt-5", "previous_response_id": "r", "input": "hi"}),
            "what the provider keeps of an earlier response at `/previous_response_id`",
        ),
        (
            json!({"model": "gpt-5", "input": [{"type": "item_reference", "id": "x"}]}),
            "an item of type `item_reference` at `/input/0`",
        ),
        (
            json!({"model": "gemini-2.5-pro", "cachedContent": "c", "contents": []}),
            "what the provider keeps in a cache at `/cachedContent`",
        ),
        (
            json!({"model": "gemini-2.5-pro", "contents": [], "tools": [{"googleSearch": {}}]}),
            "the tool `googleSearch` at `/tools/0`",
        ),
        (
            json!({"model": "gemini-2.5-pro", "contents": [{"parts": [{"inlineData": {}}]}]}),
            "a part with `inlineData` at `/contents/0/parts/0`",
        ),
        (
            json!({"model": "claude-opus-4-5", "messages": [{"role": "user", "content": [{"type": "image"}]}]}),
            "a block of type `image` at `/messages/0/content/0`",
        ),
        (
            json!({"model": "claude-opus-4-5", "messages": [], "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
            "a tool of type `web_search_20250305` at `/tools/0`",
        ),
    ] {
        let error = count_request(&row).unwrap_err().to_string();
        assert_eq!(error, format!("{expect} cannot be counted offline: only text and function tools can"));
    }
    let signed = json!({"model": "gemini-3-pro", "host": "generativelanguage", "contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "abc"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"ok": true}}}]}]});
    let counted = count_request(&signed).unwrap();
    assert_eq!((counted.reasons.as_slice(), counted.band.unwrap().high), ([Reason::ThoughtSignature].as_slice(), None));
    let looped = json!({"model": "gpt-5.2", "input": [{"role": "user", "content": "hi"}, {"type": "reasoning", "id": "r"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"}]});
    assert!(count_request(&looped).unwrap().reasons.contains(&Reason::ReasoningItem));
}
