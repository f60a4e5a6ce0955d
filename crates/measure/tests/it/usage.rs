//! Usage: the calls in logs and transcripts of every kind, grouped by conversation.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Place;
use toolfold_measure::usage::{MAX_UNKNOWN_NAMES, Usage, UsageReader};

fn catalog() -> Catalog {
    let tool = |name: &str| {
        json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}, "tail": {"type": "boolean"}}}})
    };
    let tools = ["read_file", "write_file", "list_dir", "git.status"].map(tool);
    Catalog::from_mcp(&json!(tools).to_string()).unwrap()
}

fn read(values: &[Value]) -> Usage {
    let catalog = catalog();
    let mut reader = UsageReader::new(&catalog);
    reader.begin_file();
    for value in values {
        let diagnostics = reader.read_value(value, &Place::default());
        assert!(diagnostics.is_empty(), "{value}: {diagnostics:?}");
    }
    reader.into_usage()
}

/// The tools of every conversation in order, by index.
#[track_caller]
fn check(values: &[Value], expect: &[&[usize]]) {
    let usage = read(values);
    let found: Vec<Vec<usize>> =
        usage.sessions.iter().map(|session| session.calls.iter().map(|call| call.tool).collect()).collect();
    assert_eq!(found, expect, "{values:#?}");
}

#[test]
fn calls_are_read_with_the_key_names_of_common_logs() {
    for call in [
        json!({"conversation": "a", "tool": "read_file"}),
        json!({"session_id": 7, "tool_name": "read_file", "args": {}}),
        json!({"sessionId": "a", "name": "read_file"}),
        json!({"name": "read_file", "arguments": "{\"path\": \"x\"}"}),
        json!({"thread_id": "a", "function": {"name": "read_file", "arguments": "{}"}}),
        json!({"metadata": {"session": "a"}, "tool": "read_file", "input": {"path": "x"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_file"}}),
        json!({"type": "tool_use", "id": "t", "name": "read_file", "input": {}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "read_file", "arguments": "{}",
            "call_id": "c"}}),
        json!({"type": "assistant", "sessionId": "a", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}]}}),
        json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]}}]}),
        json!([{"conversation": "a", "tool": "read_file"}]),
    ] {
        check(&[call], &[&[0]]);
    }
}

#[test]
fn transcripts_of_every_wire_are_read() {
    let chat = json!([{"role": "system", "content": "x"}, {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "x"}]);
    let responses = json!({"model": "gpt-5.4", "input": [{"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "1", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "x"},
        {"type": "function_call", "call_id": "2", "name": "list_dir", "arguments": "{}"}]});
    let claude = json!({"model": "claude-opus-5.5", "system": "x", "messages": [{"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "1", "name": "read_file", "input": {}},
            {"type": "tool_use", "id": "2", "name": "list_dir", "input": {}}]}]});
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [
        {"functionCall": {"name": "read_file", "args": {}}}, {"functionCall": {"name": "list_dir", "args": {}}}]}]});
    let mcp = json!([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_file"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_dir"}}]);
    for transcript in [chat.clone(), json!({"messages": chat}), responses, claude, gemini, mcp] {
        check(std::slice::from_ref(&transcript), &[&[0, 2]]);
        check(&[json!({"request": transcript})], &[&[0, 2]]);
    }
    check(&[json!([{"messages": chat}, {"messages": []}])], &[&[0, 2], &[]]);
}

/// A request repeats the conversation: three requests are one, with and without id.
#[test]
fn continued_requests_are_one_conversation() {
    let call = |id: &str, name: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": {}}]});
    let result = |id: &str, cached: bool| {
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        if cached {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        json!({"role": "user", "content": [block]})
    };
    let user = json!({"role": "user", "content": "hi"});
    let first = json!({"messages": [user]});
    let second = json!({"messages": [user, call("1", "read_file"), result("1", true)]});
    let third = json!({"messages":
        [user, call("1", "read_file"), result("1", false), call("2", "read_file"), result("2", true)]});
    let other = json!({"messages": [user, call("9", "list_dir"), result("9", false)]});
    check(&[first.clone(), second.clone(), third.clone(), other.clone()], &[&[0, 0], &[2]]);
    // Another conversation with the same beginning, in between.
    check(&[first.clone(), second.clone(), first.clone(), other.clone(), third.clone()], &[&[0, 0], &[2]]);
    let of = |id: &str, body: &Value| json!({"conversation_id": id, "request": body});
    check(&[of("a", &second), of("b", &second), of("a", &third)], &[&[0, 0], &[0]]);
    // A compaction removes the earlier calls from the request, but they are still counted.
    let compacted = json!({"messages": [user, call("3", "list_dir"), result("3", false)]});
    check(&[of("a", &third), of("a", &compacted)], &[&[0, 0, 2]]);
}

#[test]
fn calls_without_ids_are_distinguished_by_their_count() {
    let model = |names: &[&str]| {
        let parts: Vec<Value> = names.iter().map(|name| json!({"functionCall": {"name": name, "args": {}}})).collect();
        json!({"session": "s", "contents": [{"role": "model", "parts": parts}]})
    };
    check(&[model(&["read_file"]), model(&["read_file", "read_file", "list_dir"])], &[&[0, 0, 2]]);
}

#[test]
fn the_own_event_log_is_read() {
    let record = |id: &str, seq: u64, event: Value| {
        let mut record = json!({"v": 2, "conversation": id, "seq": seq, "at_ms": 0});
        record.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        record
    };
    let called =
        |id: &str, target: &str| json!({"event": "called", "id": id, "name": "x", "target": target, "digest": ""});
    let started = json!({"event": "started", "wire": "openai-chat", "arm": "stable", "reason": ""});
    let mut expand = called("0", "expand_tools");
    expand["meta"] = json!(true);
    let mut unknown = called("3", "raed_file");
    unknown["unknown"] = json!(true);
    let log = [
        record("c", 0, started.clone()),
        record("c", 1, expand),
        record("c", 2, called("1", "read_file")),
        record("c", 3, json!({"event": "forwarded", "id": "1"})),
        record("c", 4, unknown),
        record("", 0, started.clone()),
        record("", 1, called("1", "list_dir")),
        record("", 0, started),
        record("", 1, called("1", "list_dir")),
    ];
    check(&log, &[&[0], &[2], &[2]]);
    let usage = read(&log);
    assert_eq!((usage.meta_calls, usage.unknown_calls()), (1, 1));
    assert_eq!(usage.unknown["raed_file"].near.as_deref(), Some("read_file"));
    let catalog = catalog();
    let mut reader = UsageReader::new(&catalog);
    let diagnostics = reader.read_value(&json!({"v": 1, "event": "called"}), &Place::file("l").line_column(3, 1));
    assert_eq!(diagnostics[0].message, "unsupported record version 1; expected 2 to 3");
    assert_eq!(diagnostics[0].place.to_string(), "l:3:1");
}

#[test]
fn other_spellings_of_names_are_found_and_unknown_names_counted() {
    let call = |name: &str| json!({"conversation": "a", "tool": name});
    let usage = read(&["mcp__fs__read_file", "functions.read_file", "Read-File", "git_status", "read_file"].map(call));
    assert_eq!(usage.calls(), 5);
    assert_eq!(usage.loose.len(), 4);
    assert_eq!(usage.sessions[0].tools().into_iter().collect::<Vec<_>>(), [0, 3]);
    let wrapped = json!({"session": "a", "tool": "call_tool", "arguments":
        {"name": "read_file", "arguments": {"tail": true, "path": null}}});
    let usage = read(&[wrapped]);
    assert_eq!(usage.sessions[0].calls[0].parameters.as_deref(), Some([2].as_slice()));
    let usage = read(&["nope", "read_files", "nope"].map(call));
    let unknown: Vec<(&str, usize, Option<&str>)> =
        usage.unknown.iter().map(|(name, own)| (name.as_str(), own.calls, own.near.as_deref())).collect();
    assert_eq!(unknown, [("nope", 2, None), ("read_files", 1, Some("read_file"))]);
    let many: Vec<Value> = (0..MAX_UNKNOWN_NAMES + 5).map(|at| call(&format!("tool-{at}"))).collect();
    let usage = read(&many);
    assert_eq!((usage.unknown.len(), usage.more_unknown), (MAX_UNKNOWN_NAMES, 5));
    assert_eq!(usage.unknown_calls(), MAX_UNKNOWN_NAMES + 5);
}

#[test]
fn invalid_values_are_reported_or_counted_without_loss() {
    let catalog = catalog();
    let mut reader = UsageReader::new(&catalog);
    for value in [
        json!(null),
        json!("read_file"),
        json!([1, 2]),
        json!([[["x"]]]),
        json!({"level": "info"}),
        json!({"name": "read_file"}),
        json!({"tool": {"name": 3}}),
        json!({"body": {"body": {"body": {"body": {"body": {"tool": "read_file"}}}}}}),
    ] {
        assert!(reader.read_value(&value, &Place::default()).is_empty(), "{value}");
    }
    let broken = json!({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": 1}}]}]});
    let diagnostics = reader.read_value(&broken, &Place::default());
    assert!(
        diagnostics[0].message.contains("`/messages/0/tool_calls/0/function/name` must be a string"),
        "{diagnostics:?}"
    );
    let _ = reader.read_value(&json!({"tool": "read_file", "arguments": "{not json"}), &Place::default());
    let usage = reader.into_usage();
    assert_eq!(usage.calls(), 1);
    assert!(usage.silent >= 8, "{}", usage.silent);
}

/// The documentation of [`UsageReader`] shows this example, line by line. A documentation test
/// would cost a start of rustdoc and a link in every run.
#[test]
#[rustfmt::skip]
fn example() -> Result<(), toolfold::error::Error> {
    use toolfold::catalog::Catalog;
    use toolfold::diagnostic::Place;
    use toolfold_measure::usage::UsageReader;

    let list = r#"[{"name": "read_file", "inputSchema": {"type": "object"}}]"#;
    let catalog = Catalog::from_mcp(list)?;
    let mut reader = UsageReader::new(&catalog);
    reader.begin_file();
    let call = serde_json::json!({"conversation": "c-1", "tool": "read_file"});
    assert!(reader.read_value(&call, &Place::file("calls.jsonl").line_column(1, 1)).is_empty());
    assert_eq!(reader.into_usage().calls(), 1);
    let shown = toolfold_testing::doc_example(include_str!("../../src/usage/reader.rs"), "///");
    let own: Vec<&str> = include_str!("usage.rs").lines().map(str::trim).collect();
    assert!(!shown.is_empty() && own.windows(shown.len()).any(|lines| lines == shown), "{shown:#?}");
    Ok(())
}
