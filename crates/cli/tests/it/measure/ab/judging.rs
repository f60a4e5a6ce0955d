//! What counts as right: one small task for each way in which calls can differ from the true ones.

#![allow(clippy::needless_pass_by_value, reason = "a call is written with its arguments in place")]

use serde_json::{Value, json};

use super::server::{Request, Server};
use super::{Scratch, json_of, ran};

/// A call: a tool, and its arguments.
fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn post(arguments: Value) -> Value {
    call("post", arguments)
}

/// A task: its id, its true calls, and the calls that the model makes, one request each. Then
/// whether the task is right, and the numbers of right, at once, silent, missed, stray calls, of
/// stray calls that may write, and of wrong siblings.
type Case = (&'static str, Value, Vec<Value>, bool, [u64; 7]);

fn cases() -> Vec<Case> {
    let drop_whole = || call("drop", json!({"id": "1", "why": "old"}));
    let tags = |tags: Value| post(json!({"text": "x", "tags": tags}));
    let x = || post(json!({"text": "x"}));
    let loose = |more: Value| {
        let mut truth = tags(json!(["a", "b"]));
        truth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([truth])
    };
    vec![
        ("order", json!([tags(json!(["a", "b"]))]), vec![tags(json!(["b", "a"]))], false, [0, 0, 1, 0, 0, 0, 0]),
        (
            "default_given",
            json!([x()]),
            vec![post(json!({"text": "x", "n": 1.0, "pin": false}))],
            true,
            [1, 1, 0, 0, 0, 0, 0],
        ),
        ("null", json!([x()]), vec![post(json!({"text": "x", "note": null}))], true, [1, 1, 0, 0, 0, 0, 0]),
        // The gate reads "5" as a number, because the schema declares one.
        (
            "text_number",
            json!([post(json!({"text": "x", "n": 5}))]),
            vec![post(json!({"text": "x", "n": "5"}))],
            true,
            [1, 1, 0, 0, 0, 0, 0],
        ),
        (
            "float",
            json!([post(json!({"text": "x", "n": 5}))]),
            vec![post(json!({"text": "x", "n": 5.0}))],
            true,
            [1, 1, 0, 0, 0, 0, 0],
        ),
        (
            "wrong_then_right",
            json!([drop_whole()]),
            vec![call("drop", json!({"id": "1"})), drop_whole()],
            true,
            [1, 0, 0, 0, 0, 0, 0],
        ),
        // The second call lacks a required argument, so it does not run.
        ("right_then_invalid", json!([x()]), vec![x(), call("drop", json!({"id": "9"}))], true, [1, 1, 0, 0, 0, 0, 0]),
        ("twice", json!([x()]), vec![x(), x()], false, [1, 1, 0, 0, 1, 1, 0]),
        ("one_of_two", json!([x(), x()]), vec![x()], false, [1, 1, 0, 1, 0, 0, 0]),
        (
            "cross",
            json!([post(json!({"text": "a"})), post(json!({"text": "b"}))]),
            vec![post(json!({"text": "b"})), post(json!({"text": "c"}))],
            false,
            [1, 1, 1, 0, 0, 0, 0],
        ),
        (
            "case",
            json!([post(json!({"text": "Hello."}))]),
            vec![post(json!({"text": "Hello"}))],
            false,
            [0, 0, 1, 0, 0, 0, 0],
        ),
        ("empty_list", json!([x()]), vec![post(json!({"text": "x", "tags": []}))], true, [1, 1, 0, 0, 0, 0, 0]),
        ("empty_text", json!([x()]), vec![post(json!({"text": "x", "note": ""}))], true, [1, 1, 0, 0, 0, 0, 0]),
        ("unknown", json!([x()]), vec![post(json!({"text": "x", "zzz": 1}))], false, [0, 0, 1, 0, 0, 0, 0]),
        // The task's form: lists without an order, arguments that do not matter, other right calls.
        (
            "unordered",
            loose(json!({"unordered": ["tags"]})),
            vec![tags(json!(["b", "a"]))],
            true,
            [1, 1, 0, 0, 0, 0, 0],
        ),
        (
            "unordered_but_other",
            loose(json!({"unordered": ["tags"]})),
            vec![tags(json!(["b", "c"]))],
            false,
            [0, 0, 1, 0, 0, 0, 0],
        ),
        ("ignored", loose(json!({"ignore": ["tags"]})), vec![x()], true, [1, 1, 0, 0, 0, 0, 0]),
        ("alternative", loose(json!({"or": [drop_whole()]})), vec![drop_whole()], true, [1, 1, 0, 0, 0, 0, 0]),
        (
            "alternative_first",
            json!([{"name": "post", "arguments": {"text": "x"}, "or": [drop_whole()]}, x()]),
            vec![x(), drop_whole()],
            true,
            [2, 2, 0, 0, 0, 0, 0],
        ),
        // A stray call that only reads does no harm; one of an unknown kind may write.
        ("read_too", json!([x()]), vec![call("look", json!({})), x()], true, [1, 1, 0, 0, 1, 0, 0]),
        ("sibling", json!([x()]), vec![drop_whole()], false, [0, 0, 0, 1, 1, 1, 1]),
    ]
}

fn tools() -> Value {
    let text = json!({"type": "string"});
    json!({"tools": [
        {"name": "post", "description": "Post a message.", "inputSchema": {"type": "object", "required": ["text"],
            "properties": {"text": text, "tags": {"type": "array", "items": text}, "n": {"type": "number", "default": 1},
                "pin": {"type": "boolean", "default": false}, "note": text}}},
        {"name": "drop", "description": "Drop a thing for good.", "inputSchema": {"type": "object",
            "properties": {"id": text, "why": text}, "required": ["id", "why"]}},
        {"name": "look", "description": "Look at everything.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": {}}},
    ]})
}

/// A chat model that makes the planned calls of the task that the user names.
fn planned(request: &Request) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let of = |role: &str| messages.iter().filter(|own| own["role"] == role).count();
    let user = messages.iter().find(|own| own["role"] == "user").unwrap()["content"].as_str().unwrap();
    let plan = cases().into_iter().find(|case| case.0 == user).unwrap().2;
    let message = match plan.get(of("assistant")) {
        None => json!({"role": "assistant", "content": "Done."}),
        Some(call) => json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": format!("c{}", of("assistant")), "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"].to_string()}}]}),
    };
    json!({"choices": [{"message": message}]}).to_string()
}

#[test]
fn a_task_is_right_with_all_true_calls_and_no_other_that_writes() {
    let scratch = Scratch::new("judging");
    let server = Server::start(|request| (200, "", planned(request)));
    let task = |(id, truth, ..): &Case| {
        let results: Vec<&str> = truth.as_array().unwrap().iter().map(|_| "RECORDED").collect();
        json!({"id": id, "turns": [id], "ground_truth": [truth], "results": [results]}).to_string()
    };
    let tasks: Vec<String> = cases().iter().map(task).collect();
    let (tasks, tools) =
        (scratch.write("tasks.jsonl", &tasks.join("\n")), scratch.write("tools.json", &tools().to_string()));
    let (rows, seen) = (scratch.path("rows.jsonl"), scratch.path("seen"));
    let report = json_of(&[
        "ab",
        "--tasks",
        &tasks,
        "--tools",
        &tools,
        "--arms",
        "full",
        "--base-url",
        &server.url,
        "--model",
        "tiny",
        "--meter",
        "json/o200k_base",
        "--out",
        &rows,
        "--transcripts",
        &seen,
        "--json",
    ]);
    let written = std::fs::read_to_string(&rows).unwrap();
    let all: Vec<Value> = written.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wrong = Vec::new();
    for (id, _, _, right, counts) in cases() {
        let row = all.iter().find(|row| row["task"] == id).unwrap();
        let keys = ["right", "at_once", "silent", "missed", "stray", "writes", "siblings"];
        let found = keys.map(|key| row[key].as_u64().unwrap());
        let shown = json_of(&["ab", "show", id, "full", "--transcripts", &seen, "--json"]);
        if found != counts || shown["right"] != right {
            wrong.push(format!("{id}: {keys:?} {found:?}, expected {counts:?}; right: {}", shown["right"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let share = cases().iter().filter(|case| case.3).count() as f64 / cases().len() as f64;
    assert!((report["cells"][0]["task_share"]["value"].as_f64().unwrap() - share).abs() < 1e-9, "{report}");
    // A repeated call gets the recorded result again.
    let shown = String::from_utf8(ran(&["ab", "show", "twice", "full", "--transcripts", &seen]).stdout).unwrap();
    assert!(shown.contains("twice in arm full") && shown.contains("post({\"text\":\"x\"})"), "{shown}");
    assert_eq!(shown.matches("RECORDED").count(), 2, "{shown}");
    assert_eq!(ran(&["ab", "show", "twice", "lean", "--transcripts", &seen]).status.code(), Some(1));
}
