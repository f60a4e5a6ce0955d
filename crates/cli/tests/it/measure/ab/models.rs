//! Models that are servers or programs.

use serde_json::{Value, json};

use super::server::{Request, Server};
use super::{Scratch, cell, given, json_of, ran, tasks, toolfold};

const KEY: &str = "sk-very-secret-0123456789";

/// The calls of each task without optional arguments, by the user's message.
fn truth(user: &str, at: usize) -> Option<(String, Value)> {
    let text = tasks();
    let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let task = all.find(|task| task["turns"][0] == user).unwrap();
    let call = task["ground_truth"][0].as_array().unwrap().get(at)?.clone();
    let text = match &call {
        Value::String(text) => text.clone(),
        object => return Some(("move_file".to_owned(), object["arguments"].clone())),
    };
    let (name, rest) = text.split_once('(').unwrap();
    let path = rest.split('\'').nth(1).unwrap();
    Some((name.to_owned(), json!({"path": path})))
}

/// A chat model that omits every optional argument and repeats itself when it is corrected.
fn omits(request: &Request) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let user = messages.iter().rfind(|message| message["role"] == "user").unwrap();
    // The result of a call that ran ends with the stub; other answers request the same call again.
    let done = messages.iter().filter(|own| own["role"] == "tool");
    let done = done.filter(|own| own["content"].as_str().unwrap().lines().last() == Some("ok")).count();
    let message = match truth(user["content"].as_str().unwrap(), done) {
        None => json!({"role": "assistant", "content": "Done."}),
        Some((name, arguments)) => json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": format!("c{}", messages.len()), "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}}]}),
    };
    json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 100, "completion_tokens": 5}}).to_string()
}

#[test]
fn a_model_that_omits_optional_arguments_is_detected_and_its_key_is_nowhere() {
    let scratch = Scratch::new("server");
    let (tasks, tools) = given(&scratch);
    let mut at = 0;
    let server = Server::start(move |request| {
        at += 1;
        match at {
            1 => (429, "retry-after: 0\r\n", "{\"error\":\"slow down\"}".to_owned()),
            2 => (500, "retry-after: 0\r\n", format!("you sent {KEY}")),
            _ => (200, "", omits(request)),
        }
    });
    let out = scratch.path("rows.jsonl");
    let arms = "full,signature,lean,stable";
    let base = format!("{}/v1", server.url);
    let args = [
        "ab",
        "--tasks",
        &tasks,
        "--tools",
        &tools,
        "--arms",
        arms,
        "--base-url",
        &base,
        "--model",
        "m",
        "--key-env",
        "AB_TEST_KEY",
        "--out",
        &out,
        "--json",
        "--body",
        "{\"temperature\":0}",
    ];
    let output = toolfold(&args).env("AB_TEST_KEY", KEY).output().unwrap();
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    for arm in arms.split(',') {
        let own = cell(&report, "model", arm);
        let counts = ["truths", "right", "silent", "missed"].map(|key| own[key].as_u64().unwrap());
        assert_eq!(counts, [8, 4, 4, 0], "{arm}");
        assert!(own["reported_input"].as_u64() >= Some(200), "{own}");
    }
    let requests = server.requests();
    assert!(requests.iter().all(|own| own.headers.contains(&format!("authorization: Bearer {KEY}"))));
    assert!(requests.iter().all(|own| own.path == "/v1/chat/completions" && own.body["temperature"] == 0));
    let rows = std::fs::read_to_string(&out).unwrap();
    for text in [&said, &printed, &std::borrow::Cow::Owned(rows)] {
        assert!(!text.contains(KEY), "{text}");
    }
}

#[test]
fn a_server_that_refuses_the_key_stops_the_run_without_naming_it() {
    let scratch = Scratch::new("refuses");
    let (tasks, tools) = given(&scratch);
    let server = Server::start(|_| (401, "", format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}")));
    let args = [
        "ab",
        "--tasks",
        &tasks,
        "--tools",
        &tools,
        "--base-url",
        &server.url,
        "--model",
        "m",
        "--key-env",
        "AB_TEST_KEY",
    ];
    let output = toolfold(&args).env("AB_TEST_KEY", KEY).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("bad key [key]") && !said.contains(KEY), "{said}");
    assert_eq!(server.requests().len(), 1, "a request without an answer is not repeated");
    let unset = toolfold(&args).env_remove("AB_TEST_KEY").output().unwrap();
    assert!(String::from_utf8_lossy(&unset.stderr).contains("`AB_TEST_KEY`"));
    let url = format!("{}?key={KEY}", server.url);
    let refused = ran(&["ab", "--tasks", &tasks, "--tools", &tools, "--base-url", &url, "--model", "m"]);
    assert!(refused.status.code() == Some(2) && !String::from_utf8_lossy(&refused.stderr).contains(KEY));
}

#[test]
fn a_run_that_reached_its_limit_is_resumed() {
    let scratch = Scratch::new("cost");
    let (tasks, tools) = given(&scratch);
    let server = Server::start(|request| (200, "", omits(request)));
    let out = scratch.path("rows.jsonl");
    let common =
        ["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "full,lean", "--base-url", &server.url, "--model", "m"];
    let stopped = ran(&[&common[..], &["--out", &out, "--max-requests", "9"]].concat());
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(stopped.status.code() == Some(3) && said.contains("stopped after 9 requests"), "{said}");
    assert_eq!(server.requests().len(), 9);
    let resumed = json_of(&[&common[..], &["--out", &out, "--resume", "--json"]].concat());
    let once = json_of(&[&common[..], &["--json"]].concat());
    assert_eq!(resumed, once);
}

#[test]
fn every_wire_is_supported() {
    let scratch = Scratch::new("wires");
    let (tasks, tools) = given(&scratch);
    for (wire, path, header, response) in [
        (
            "anthropic",
            "/v1/messages",
            "x-api-key",
            json!({"content": [{"type": "text", "text": "Done."}],
            "usage": {"input_tokens": 50, "output_tokens": 2}}),
        ),
        (
            "gemini",
            "/models/m:generateContent",
            "x-goog-api-key",
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]}),
        ),
        (
            "openai-responses",
            "/responses",
            "authorization",
            json!({"output": [{"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Done."}]}]}),
        ),
    ] {
        let text = response.to_string();
        let server = Server::start(move |_| (200, "", text.clone()));
        let args = [
            "ab",
            "--tasks",
            &tasks,
            "--tools",
            &tools,
            "--arms",
            "full",
            "--wire",
            wire,
            "--base-url",
            &server.url,
            "--model",
            "m",
            "--key-env",
            "AB_TEST_KEY",
            "--json",
        ];
        let output = toolfold(&args).env("AB_TEST_KEY", KEY).output().unwrap();
        assert!(output.status.success(), "{wire}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(cell(&report, "model", "full")["missed"], 8, "{wire}");
        let request = &server.requests()[0];
        assert_eq!(request.path, path);
        assert!(request.headers.iter().any(|own| own.starts_with(header) && own.contains(KEY)), "{wire}");
        assert!(!request.body["tools"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_program_is_a_model_kept_open_or_started_each_time() {
    let scratch = Scratch::new("program");
    let (tasks, tools) = given(&scratch);
    let response = r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#;
    let kept = scratch.write("kept.sh", &format!("while read -r line; do echo '{response}'; done\n"));
    let once = scratch.write("once.sh", &format!("cat > /dev/null; echo '{response}'\n"));
    let none = scratch.write("none.sh", "exit 3\n");
    let common = ["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "full", "--json", "--model-cmd"];
    for (file, more) in [(&kept, None), (&once, Some("--model-once"))] {
        let command = format!("sh '{file}'");
        let mut args = common.to_vec();
        args.push(&command);
        args.extend(more);
        assert_eq!(cell(&json_of(&args), "model", "full")["missed"], 8, "{file}");
    }
    let command = format!("sh '{none}'");
    let output = ran(&[&common[..], &[&command]].concat());
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("5 consecutive tasks had no answer") && said.contains("ended without an answer"), "{said}");
    let output = ran(&[&common[..], &["/no/such/program"]].concat());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be started"));
}

#[test]
fn the_first_answer_has_its_own_time_limit() {
    let scratch = Scratch::new("first");
    let (tasks, tools) = given(&scratch);
    let response = r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#;
    let slow = scratch.write("slow.sh", &format!("while read -r line; do sleep 2; echo '{response}'; done\n"));
    let command = format!("sh '{slow}'");
    let common =
        ["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "full", "--limit", "1", "--timeout", "1", "--json"];
    let missed = |more: &[&str]| {
        let report = json_of(&[&common[..], &["--model-cmd", &command], more].concat());
        cell(&report, "model", "full")["failed"].clone()
    };
    assert_eq!(missed(&[]), 1, "no answer in time");
    assert_eq!(missed(&["--first-timeout", "60"]), 0);
}

/// How OpenAI bills says nothing about the tokens of another model.
#[test]
fn the_meter_depends_on_the_model() {
    let scratch = Scratch::new("meter");
    let (tasks, tools) = given(&scratch);
    for (model, meter) in [
        (&["--model", "qwen3-4b"][..], "json/o200k_base"),
        (&["--model", "gpt-5.4"], "billed:openai-chat/gpt-5.4"),
        (&[], "billed:openai-chat/gpt-4.1"),
    ] {
        let common = ["ab", "--tasks", &tasks, "--tools", &tools, "--arms", "full", "--driver", "blind", "--json"];
        assert_eq!(json_of(&[&common[..], model].concat())["meters"], serde_json::json!([meter]), "{model:?}");
    }
}
