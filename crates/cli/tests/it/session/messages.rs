//! Keys of messages, and ids that repeat.

use super::{Place, Session};
use crate::commands::run;
use serde_json::json;

#[test]
fn a_line_may_have_the_key_of_its_message() {
    let mut session = Session::start(&["--arm", "stable"]);
    let one = json!({"id": "x:0", "name": "list_sheets", "arguments": {"file_path": "a.xlsx"}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "x:0", "type": "function", "function": {"name": "list_sheets", "arguments": "{\"file_path\":\"a.xlsx\"}"}}]});
    let first = session.say(json!({"message": message, "key": "msg_1"}));
    session.say(json!({"result": {"id": "x:0", "content": "Sheet1"}}));
    for line in [
        json!({"message": message, "key": "msg_1"}),
        json!({"calls": [one], "key": "msg_1"}),
        json!({"key": "msg_1", "call": one}),
    ] {
        let again = session.say(&line);
        let again = again.get("outcomes").map_or(&again, |outcomes| &outcomes[0]);
        assert_eq!((&again["outcome"], &again["reason"]), (&json!("reply"), &json!("finished")), "{line}: {again}");
    }
    let new = session.say(json!({"calls": [one], "key": "msg_2"}));
    assert_eq!(new["outcomes"][0]["outcome"], "forward", "the same id in another message: {new}");
    assert_eq!(session.say(json!({"pause": "x:0"})), json!({"paused": "x:0"}));
    assert_eq!(session.say(json!({"calls": [one], "key": "msg_2"}))["outcomes"], json!([first["outcomes"][0]]));
    let other = session.say(json!({"calls": [], "key": "msg_2"}));
    assert_eq!(other["outcomes"], json!([]));
    let other = session.say(json!({"calls": [{"id": "y", "name": "list_sheets"}], "key": "msg_2"}));
    assert_eq!(other["diagnostics"][0]["code"], "message-key-reused", "{other}");
    for (line, says) in [
        (json!({"tools": true, "key": "msg_1"}), "`key` is not supported for `tools`"),
        (json!({"calls": [], "key": 1}), "`key`: expected a string"),
        (json!({"calls": [], "kye": "msg_1"}), "unknown key `kye`; did you mean `key`?"),
        (json!({"pause": "z"}), "call `z` is not waiting for a result"),
    ] {
        let error = session.say(&line);
        assert!(error["error"]["message"].as_str().unwrap().contains(says), "{line}: {error}");
    }
    assert_eq!(session.end().0, 0);
}

/// A model that restarts the numbering of calls in each message: each call requires approval, and
/// both runs are recorded.
#[test]
fn a_call_with_a_repeated_id_is_approved_and_recorded_each_time() {
    let place = Place::new("repeated");
    let (store, log) = (place.file("store.sqlite"), place.file("log.jsonl"));
    let args = ["--arm", "stable", "--policy", "excel", "--store", &store, "--log", &log, "--id", "c"];
    let message = json!({"message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "delete_file:0", "type": "function", "function":
            {"name": "delete_file", "arguments": "{\"file_path\":\"old.xlsx\",\"confirm\":true}"}}]}});
    let mut approvals = Vec::new();
    for _ in 0..3 {
        // Each round in a separate process, with the same secret.
        let mut session = Session::start_with(&crate::root(), &args, &[("TOOLFOLD_SESSION_SECRET", "repeated-ids")]);
        let asked = session.say(&message);
        assert_eq!(asked["outcomes"][0]["outcome"], "confirm", "{asked}");
        let approval = asked["outcomes"][0]["approval"].clone();
        let run = session.say(json!({"accept": approval}));
        assert_eq!((&run["outcome"], &run["id"]), (&json!("forward"), &json!("delete_file:0")), "{run}");
        let answer = session.say(json!({"result": {"id": "delete_file:0", "content": "deleted"}}));
        assert_eq!(answer["messages"][0]["tool_call_id"], "delete_file:0", "{answer}");
        approvals.push(approval);
        assert_eq!(session.end().0, 0);
    }
    assert_eq!(approvals, ["ap-1", "ap-2", "ap-3"]);
    let audit = run(&["audit", "export", "--store", &store]).out;
    let of = |kind: &str| audit.lines().filter(|line| line.contains(&format!("\"{kind}\""))).count();
    assert_eq!((of("asked"), of("accepted"), of("consumed")), (3, 3, 3), "{audit}");
}

/// A conversation restored from a snapshot returns stored results, with and without a log.
#[test]
fn a_snapshot_brings_its_results_into_a_log() {
    let place = Place::new("restored-results");
    let calls = json!({"key": "msg_1", "calls": [
        {"id": "a", "name": "list_sheets", "arguments": {"file_path": "a.xlsx"}},
        {"id": "b", "name": "list_sheets", "arguments": {"file_path": "b.xlsx"}}]});
    let mut session = Session::start(&["--arm", "stable", "--id", "c"]);
    session.say(&calls);
    session.say(json!({"result": {"id": "a", "content": "Sheet1"}}));
    let snapshot = session.say(json!({"snapshot": true}))["snapshot"].clone();
    assert_eq!(session.end().0, 0);
    let log = place.file("log.jsonl");
    for flags in [&[][..], &["--log", &log]] {
        let mut session = Session::start(&[&["--arm", "stable", "--id", "c"], flags].concat());
        let restored = session.say(json!({"restore": snapshot}));
        assert_eq!(restored["restored"], true, "{restored}");
        let again = session.say(&calls);
        assert_eq!(again["outcomes"][0]["content"], "Sheet1", "{flags:?}: {again}");
        assert_eq!(again["outcomes"][1]["outcome"], "forward", "{flags:?}: {again}");
        session.say(json!({"result": {"id": "b", "content": "Sheet2"}}));
        assert_eq!(session.end().0, 0);
    }
    let mut session = Session::start(&["--arm", "stable", "--id", "c", "--log", &log]);
    let again = session.say(&calls);
    assert_eq!(again["outcomes"][1]["reason"], "finished", "the log continues from the snapshot: {again}");
    assert_eq!(session.end().0, 0);
}

/// The library and the Python package are tested with the same file.
#[test]
fn a_message_is_answered_with_the_message_for_the_history() {
    let place = Place::new("histories");
    let tool = json!({"name": "put", "description": "Put it.", "inputSchema": {"type": "object", "properties": {
        "path": {"type": "string"}}}});
    let tools = place.put("tools.json", json!([tool]).to_string());
    for line in crate::project("tests/fixtures/conversation/histories.jsonl").lines() {
        // As text, because a value does not hold every digit.
        let case: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(line).unwrap();
        let wire: String = serde_json::from_str(case["wire"].get()).unwrap();
        let mut session = Session::start(&["--arm", "full", "--wire", &wire, "--tools", &tools]);
        let answer = session.say_text(&format!("{{\"message\":{}}}", case["message"]));
        let begin = format!("{{\"message\":{},\"outcomes\":[", case["history"]);
        assert!(answer.starts_with(&begin), "{line}\n{answer}");
        assert_eq!(session.end().0, 0);
    }
}
