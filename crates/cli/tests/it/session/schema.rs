//! The published schema accepts exactly the lines of the protocol.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_testing::Cases;

use super::{Place, Session, call};
use crate::commands::run;

const FILE: &str = "crates/cli/src/session/session.schema.json";

fn validator(part: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&run(&["session", "--schema"]).out).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let mut only = schema.as_object().unwrap().clone();
    only.remove("anyOf");
    only.insert("$ref".to_owned(), json!(format!("#/$defs/{part}")));
    jsonschema::validator_for(&Value::Object(only)).unwrap()
}

#[test]
fn the_committed_file_is_the_schema() {
    let printed = run(&["session", "--schema"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let kept = crate::project(FILE);
    assert!(printed.out == kept, "{FILE} is out of date: toolfold session --schema > {FILE}");
}

/// Lines of a whole conversation, each answered without an error.
fn lines() -> Vec<Value> {
    vec![
        json!({"tools": true}),
        json!({"tools": {"count": true, "entries": true}}),
        call("1", "format_cells", json!({})),
        json!({"calls": [{"id": "2", "name": "nope"}, {"id": "3", "name": "list_sheets", "arguments": "{\"file_path\":\"a\"}"},
            {"id": "1", "name": "another"}]}),
        json!({"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "4", "type": "function",
            "function": {"name": "expand_tools", "arguments": "{\"categories\":[\"chart\"]}"}}]}}),
        json!({"result": {"id": "3", "content": "one", "is_error": true}}),
        call("5", "delete_file", json!({"file_path": "a.xlsx", "confirm": true})),
        json!({"answered": "ap-1"}),
        json!({"accept": "ap-1"}),
        json!({"finished": {"id": "5", "ok": true}}),
        json!({"finished": {"id": "5", "ok": false, "not_run": true}}),
        call("6", "delete_file", json!({"file_path": "b.xlsx", "confirm": true})),
        json!({"explain": true}),
        json!({"reject": {"id": "ap-2", "reason": null}}),
        call("7", "activate_skill", json!({"name": "format-basic"})),
        json!({"activate": {"name": "format-basic", "arguments": "the header"}}),
        json!({"activate": {"name": "format-basic", "arguments": null}}),
        json!({"approve_skill": "format-basic"}),
        json!({"redeliver": true}),
        json!({"seen": [{"role": "user", "content": "x"}]}),
        json!({"seen_calls": ["4"]}),
        json!({"snapshot": true}),
        json!({"log": true}),
    ]
}

#[test]
fn real_lines_fit_the_schema() {
    let (requests, told) = (validator("Request"), validator("Answer"));
    let place = Place::new("schema");
    let store = place.file("store.sqlite");
    let args = ["--policy", "excel", "--skills", "skillpacks/excel", "--store", &store, "--arm", "stable"];
    let mut session = Session::start(&args);
    let mut all = lines();
    let snapshot = {
        let mut other = Session::start(&["--arm", "stable"]);
        let snapshot = other.say(r#"{"snapshot":true}"#);
        other.end();
        snapshot["snapshot"].clone()
    };
    all.push(json!({"restore": snapshot}));
    for line in all {
        assert!(requests.is_valid(&line), "{line}");
        let answer = session.say(&line);
        assert!(answer.get("error").is_none(), "{line}: {answer}");
        let problems: Vec<String> = told.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{line}\n{answer}\n{problems:?}");
    }
    for line in ["nope", "{\"x\":1}", "{\"accept\":\"ap-7\"}"] {
        assert!(told.is_valid(&session.say(line)), "{line}");
    }
    assert_eq!(session.end().0, 0);
}

#[test]
fn the_schema_is_closed() {
    let (requests, told) = (validator("Request"), validator("Answer"));
    for wrong in
        [json!({}), json!({"tools": false}), json!({"call": {"id": "1"}}), json!({"log": true, "explain": true})]
    {
        assert!(!requests.is_valid(&wrong), "{wrong}");
    }
    for wrong in [json!({}), json!({"id": "1"}), json!({"outcome": "reply"}), json!({"error": "x"})] {
        assert!(!told.is_valid(&wrong), "{wrong}");
    }
}

fn line() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(Value::Null),
        Just(json!(7)),
        Just(json!("ap-1")),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["c1"])),
        Just(json!([7])),
        Just(json!({"id": "c1"})),
        Just(json!({"id": "c1", "name": "f"})),
        Just(json!({"id": 7, "name": "f"})),
        Just(json!({"id": "c1", "name": "f", "arguments": [1]})),
        Just(json!({"id": "c1", "name": "f", "more": 1})),
        Just(json!({"id": "c1", "ok": true})),
        Just(json!({"id": "c1", "ok": 1})),
        Just(json!({"id": "c1", "content": {"a": 1}, "is_error": true})),
        Just(json!({"id": "c1", "content": "", "is_error": 0})),
        Just(json!({"id": "ap-1", "reason": null})),
        Just(json!({"id": "ap-1", "reason": 7})),
        Just(json!({"count": true})),
        Just(json!({"count": 1})),
        Just(json!({"entries": false, "count": true})),
        Just(json!({"x": true})),
        Just(json!([{"id": "c1", "name": "f"}])),
        Just(json!([{"id": "c1"}])),
        Just(json!([{"id": "c1", "name": "f"}, 7])),
    ];
    let key = prop::sample::select(vec![
        "tools",
        "call",
        "calls",
        "message",
        "result",
        "finished",
        "accept",
        "reject",
        "resume",
        "answered",
        "activate",
        "approve_skill",
        "seen",
        "seen_calls",
        "redeliver",
        "snapshot",
        "explain",
        "log",
        "tool",
    ]);
    let any = prop::collection::vec((key, leaf), 0..3)
        .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
    prop_oneof![any, prop::sample::select(lines())]
}

/// Whether a line is rejected before its content is looked up.
fn is_malformed(answer: &Value) -> bool {
    let message = answer["error"]["message"].as_str().unwrap_or("");
    ["expected", "unknown key", "a line is one request", "is missing"].iter().any(|word| message.contains(word))
        // The schema does not know the wire, so it accepts a message of another one; the same for
        // messages that were seen.
        && !message.starts_with("openai-chat")
}

#[test]
fn a_line_fits_the_schema_exactly_if_it_is_read() {
    let requests = validator("Request");
    let mut session = Session::start(&["--arm", "full", "--profile", "off"]);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: toolfold_testing::cases(600),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let session = std::cell::RefCell::new(&mut session);
    let (mut read, mut refused) = (0, 0);
    let counted = std::cell::RefCell::new((&mut read, &mut refused));
    runner
        .run(&line(), |line| {
            let answer = session.borrow_mut().say(&line);
            let valid = requests.is_valid(&line);
            let mut counted = counted.borrow_mut();
            *(if valid { &mut *counted.0 } else { &mut *counted.1 }) += 1;
            prop_assert_eq!(valid, !is_malformed(&answer), "{}: {}", line, answer);
            Ok(())
        })
        .unwrap();
    let least = if Cases::of_this_run().is_quick() { 10 } else { 100 };
    assert!(read > least && refused > least, "{read} read, {refused} refused: both are tried");
}
