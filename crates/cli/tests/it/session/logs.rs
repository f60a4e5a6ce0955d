//! The log: written before the answer, resumed by id, rejected if it does not match.

use std::io::Write;

use serde_json::{Value, json};

use super::{Place, Session, answers, call, ran};
use crate::commands::{person, run};

fn expand(id: &str) -> Value {
    call(id, "expand_tools", json!({"categories": ["chart"]}))
}

fn records(place: &Place, name: &str) -> Vec<Value> {
    place.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_answer_is_logged_before_it_is_sent() {
    let place = Place::new("first");
    let log = place.file("l.jsonl");
    for durable in [false, true] {
        let args = ["--arm", "stable", "--log", &log, "--id", if durable { "d" } else { "c" }];
        let mut session = Session::start(&if durable { [&args[..], &["--durable"]].concat() } else { args.to_vec() });
        let mut kept = 0;
        for (line, event) in [
            (json!({"tools": true}), "presented"),
            (expand("1"), "answered"),
            (call("2", "list_sheets", json!({"file_path": "a.xlsx"})), "forwarded"),
            (call("3", "nope", json!({})), "answered"),
            (json!({"result": {"id": "2", "content": "x"}}), "finished"),
            (json!({"seen": []}), "dropped"),
        ] {
            session.say(&line);
            let records = records(&place, "l.jsonl");
            assert!(records.len() > kept, "{line} is not in the log when it is answered");
            assert_eq!(records.last().unwrap()["event"], event, "{line}");
            kept = records.len();
        }
        assert_eq!(session.end().0, 0);
    }
    let all = records(&place, "l.jsonl");
    for (id, first) in [("c", true), ("d", false)] {
        let own: Vec<&Value> = all.iter().filter(|record| record["conversation"] == id).collect();
        assert_eq!(own[0]["event"], "started", "{first}");
        for (at, record) in own.iter().enumerate() {
            assert_eq!((&record["seq"], &record["v"]), (&json!(at), &json!(3)));
            assert!(record["at_ms"].as_i64().unwrap() > 1_600_000_000_000);
        }
    }
    assert_eq!(run(&["session", "--durable"]).code, 2, "--durable says how a log is kept");
}

#[test]
fn a_conversation_is_resumed_from_its_log() {
    let place = Place::new("resume");
    let log = place.file("l.jsonl");
    let begun = ["--arm", "lean", "--wire", "anthropic", "--model", "claude-sonnet-4.5", "--log", &log, "--id", "c-1"];
    let mut session = Session::start(&begun);
    let tools = session.say(r#"{"tools":true}"#);
    let opened = session.say(expand("1"));
    let forward = session.say(call("2", "list_sheets", json!({"file_path": "a.xlsx"})));
    let snapshot = session.say(r#"{"snapshot":true}"#);
    session.kill();
    // Another conversation in the same file.
    answers(&["--log", &log, "--id", "c-2"], &[json!({"tools": true})]);
    // Settings without a flag come from the log.
    let mut session = Session::start(&["--log", &log, "--id", "c-1"]);
    assert_eq!(session.say(r#"{"snapshot":true}"#), snapshot);
    let explained = session.say(r#"{"explain":true}"#);
    assert_eq!((&explained["arm"], &explained["wire"]), (&json!("lean"), &json!("anthropic")));
    assert_eq!(session.say(expand("1")), opened, "the same call again, the same answer");
    assert_eq!(session.say(call("2", "list_sheets", json!({"file_path": "a.xlsx"}))), forward);
    assert_eq!(session.say(r#"{"tools":true}"#)["tools"], tools["tools"]);
    let result = session.say(json!({"result": {"id": "2", "content": "x"}}));
    assert_eq!(result["messages"][0]["content"][0]["tool_use_id"], "2");
    let history = session.say(r#"{"log":true}"#);
    let (code, err) = session.end();
    assert_eq!(code, 0);
    assert!(err.contains("resumed `c-1` from") && err.contains("arm lean"), "{err}");
    let own: Vec<Value> = records(&place, "l.jsonl").into_iter().filter(|one| one["conversation"] == "c-1").collect();
    assert_eq!(history["log"].as_array().unwrap(), &own, "`log` has what came before, too");
    assert!(own.iter().enumerate().all(|(at, record)| record["seq"] == at), "without a gap");
}

#[test]
fn a_flag_that_contradicts_the_log_is_a_usage_error() {
    let place = Place::new("contradict");
    let log = place.file("l.jsonl");
    answers(&["--arm", "stable", "--model", "gpt-4.1", "--log", &log, "--id", "c"], &[json!({"tools": true})]);
    let before = place.read("l.jsonl");
    for (flags, says) in [
        (["--arm", "lean"], "--arm lean: the conversation `c` has arm stable, see"),
        (["--wire", "gemini"], "--wire gemini: the conversation `c` has wire openai-chat"),
        (["--model", "gpt-5"], "--model gpt-5: the conversation `c` has model gpt-4.1"),
    ] {
        let ran = run(&["session", flags[0], flags[1], "--log", &log, "--id", "c"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.contains("l.jsonl:1"), "{}", ran.err);
    }
    for flags in [["--arm", "stable"], ["--arm", "auto"], ["--wire", "openai-chat"], ["--model", "gpt-4.1"]] {
        let ran = run(&["session", flags[0], flags[1], "--log", &log, "--id", "c"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.err.contains("warning"), "{}", ran.err);
    }
    let config = place.put("toolfold.toml", "[presentation]\narm = 'index'\n");
    let (ran, told) = ran(&["--config", &config, "--log", &log, "--id", "c"], &[json!({"explain": true})]);
    assert_eq!((ran.code, &told[0]["arm"]), (0, &json!("stable")), "the log wins where no flag speaks");
    assert!(ran.err.contains("warning[log-wins]") && ran.err.contains("toolfold.toml:2:7"), "{}", ran.err);
    assert_eq!(place.read("l.jsonl"), before, "nothing was written");
}

#[test]
fn without_an_id_nothing_is_resumed() {
    let place = Place::new("anonymous");
    let log = place.file("l.jsonl");
    for _ in 0..2 {
        let told = answers(&["--arm", "stable", "--log", &log], &[expand("1")]);
        assert_eq!(told[0]["outcome"], "reply", "the same id in another session is another call");
    }
    let report: Value = serde_json::from_str(&run(&["log", &log, "--json"]).out).unwrap();
    assert_eq!(report["conversations"].as_array().unwrap().len(), 2, "each session is one");
}

#[test]
fn a_torn_end_is_dropped() {
    let place = Place::new("torn");
    let log = place.file("l.jsonl");
    let args = ["--arm", "stable", "--log", &log, "--id", "c"];
    let mut session = Session::start(&args);
    session.say(r#"{"tools":true}"#);
    session.say(call("1", "list_sheets", json!({"file_path": "a.xlsx"})));
    let before = session.say(r#"{"snapshot":true}"#);
    let kept = place.read("l.jsonl");
    session.say(expand("2"));
    session.kill();
    let whole = place.read("l.jsonl");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert_eq!(whole.len() - kept.len(), lines[lines.len() - 3..].concat().len(), "called, expanded, answered");
    // Wherever the write of the last call was cut off, the state is the one before it.
    for cut in (kept.len()..whole.len() - 1).step_by(97).chain([kept.len() + 1, whole.len() - 2]) {
        place.put("l.jsonl", &whole[..cut]);
        let (ran, told) = ran(&args, &[json!({"snapshot": true})]);
        assert_eq!((ran.code, &told[0]), (0, &before), "cut at {cut}: {}", ran.err);
        assert_eq!(place.read("l.jsonl"), kept, "cut at {cut}");
        assert_eq!(ran.err.contains("warning[torn-log]"), cut > kept.len(), "cut at {cut}: {}", ran.err);
    }
    // A record is complete even if its line has no end.
    place.put("l.jsonl", &whole[..whole.len() - 1]);
    let (ran, told) = super::ran(&args, &[expand("2"), json!({"tools": true})]);
    assert_eq!((ran.code, &told[0]["reason"]), (0, &json!("expanded")));
    assert_eq!(place.read("l.jsonl"), whole, "the end of the line is mended, and nothing is judged twice");
    // Zero bytes, as a disk may leave them after a power failure.
    place.put("l.jsonl", format!("{kept}{}", "\0".repeat(500)));
    let (ran, told) = super::ran(&args, &[json!({"snapshot": true})]);
    assert_eq!((ran.code, &told[0]), (0, &before), "{}", ran.err);
    // Another conversation also removes the torn end: its records would follow it.
    place.put("l.jsonl", &whole[..whole.len() - 30]);
    answers(&["--log", &log, "--id", "other"], &[json!({"tools": true})]);
    let (ran, told) = super::ran(&args, &[json!({"snapshot": true})]);
    assert_eq!((ran.code, &told[0]), (0, &before), "{}", ran.err);
}

#[test]
fn an_incomplete_log_is_rejected_and_unchanged() {
    let place = Place::new("refused");
    answers(
        &["--arm", "stable", "--log", &place.file("good.jsonl"), "--id", "c"],
        &[json!({"tools": true}), expand("1")],
    );
    let good = place.read("good.jsonl");
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    let old = "{\"event\":\"started\",\"arm\":\"stable\"}\n";
    for (name, text, says) in [
        ("notes", "my notes\nwithout an end".to_owned(), "notes:1:1: error[bad-record]: is not JSON"),
        ("tail", format!("{good}my notes"), "error[bad-record]: is not JSON"),
        ("json", format!("{good}{{\"a\":1}}\n"), "is not a log record"),
        (
            "old",
            old.to_owned(),
            "old:1:1: error[bad-record]: is an older event without `v`; only versions 2 to 3 are supported",
        ),
        (
            "new",
            good.replace("{\"v\":3", "{\"v\":4"),
            "new:1:1: error[bad-record]: has version 4; only versions 2 to 3 are supported",
        ),
        (
            "gap",
            [lines[0], &lines[2..].concat()].concat(),
            "gap:2:1: error[log-gap]: record 2 of `c` is out of order: expected record 1",
        ),
        (
            "headless",
            lines[1..].concat(),
            "headless:1:1: error[log-gap]: record 1 of `c` is out of order: expected record 0",
        ),
        ("twice", format!("{good}{good}"), "error[log-gap]: record 0 of `c` is out of order: expected record"),
        (
            "arm",
            good.replace("\"arm\":\"stable\"", "\"arm\":\"native\""),
            "arm:1:1: error[log-unfit]: the conversation cannot be resumed: arm native cannot be used on openai-chat",
        ),
        (
            "unknown",
            good.replace("\"event\":\"presented\"", "\"event\":\"dreamt\""),
            "unknown:2:1: error[bad-record]: is not a log record",
        ),
    ] {
        let file = place.put(name, &text);
        let ran = run(&["session", "--log", &file, "--id", "c"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{name}: {}", ran.err);
        assert!(ran.err.contains(says) && ran.err.contains("help:"), "{name} should say {says}: {}", ran.err);
        assert_eq!(place.read(name), text, "{name} is as it was");
    }
    let ran = run(&["session", "--log", place.0.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let ran = run(&["session", "--log", &place.file("no/folder")]);
    assert!(ran.code == 1 && ran.err.contains("error[unwritable]"), "{}", ran.err);
    // With the profile off, a folded conversation cannot continue.
    let ran = run(&["session", "--profile", "off", "--log", &place.file("good.jsonl"), "--id", "c"]);
    assert!(ran.code == 1 && ran.err.contains("error[log-unfit]"), "{}", ran.err);
}

#[test]
fn one_process_writes_a_log() {
    let place = Place::new("lock");
    let log = place.file("l.jsonl");
    let mut session = Session::start(&["--log", &log, "--id", "a"]);
    session.say(r#"{"explain":true}"#);
    for id in ["a", "b"] {
        let ran = run(&["session", "--log", &log, "--id", id]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert!(ran.err.contains("error[log-in-use]: another session is writing this log"), "{}", ran.err);
    }
    assert_eq!(run(&["log", &log]).code, 0, "it can be read meanwhile");
    session.kill();
    assert_eq!(run(&["session", "--log", &log, "--id", "b"]).code, 0, "a process that was killed holds nothing");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_logged_is_not_answered() {
    let (ran, told) =
        ran(&["--log", "/dev/full", "--arm", "stable"], &[json!({"tools": true}), json!({"tools": true})]);
    assert_eq!((ran.code, told.len()), (1, 1), "{}", ran.err);
    let message = told[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("the log cannot be written: ") && message.contains("No space"), "{message}");
    assert!(!ran.out.contains("function"), "nothing leaves that is not on record");
    assert!(ran.err.contains("error: the log cannot be written"), "{}", ran.err);
}

#[test]
fn a_snapshot_begins_a_log() {
    let place = Place::new("restore");
    let log = place.file("l.jsonl");
    let snapshot = answers(&["--arm", "stable", "--id", "c"], &[expand("1"), json!({"snapshot": true})]);
    let restore = json!({"restore": snapshot[1]["snapshot"]});
    let args = ["--log", &log, "--id", "c"];
    let told = answers(
        &args,
        &[restore.clone(), call("2", "list_sheets", json!({"file_path": "a"})), json!({"explain": true})],
    );
    assert_eq!((&told[0]["restored"], &told[1]["outcome"]), (&json!(true), &json!("forward")));
    assert_eq!(records(&place, "l.jsonl")[0]["event"], "forked");
    let resumed = answers(&args, &[json!({"explain": true}), expand("1"), restore.clone()]);
    assert_eq!(resumed[0], told[2]);
    assert_eq!(resumed[1]["reason"], "expanded");
    let why = resumed[2]["error"]["message"].as_str().unwrap();
    assert!(why.contains("cannot be rewound"), "{why}");
    let other = answers(&["--log", &place.file("m.jsonl"), "--id", "d"], &[restore]);
    assert_eq!(other[0]["error"]["help"], "start the session with --id c");
    let report: Value = serde_json::from_str(&run(&["log", &log, "--json"]).out).unwrap();
    assert_eq!(
        (&report["conversations"][0]["arm"], &report["conversations"][0]["calls"]),
        (&json!("stable"), &json!(1))
    );
}

#[test]
fn approvals_survive_the_process() {
    let place = Place::new("approvals");
    let (log, store) = (place.file("l.jsonl"), place.file("store.sqlite"));
    let args = ["--arm", "stable", "--policy", "excel", "--store", &store, "--log", &log, "--id", "c"];
    let mut session = Session::start(&args);
    let delete = call("1", "delete_file", json!({"file_path": "a.xlsx", "confirm": true}));
    let asked = session.say(&delete);
    session.kill();
    let (ran, _) = ran(&["--log", &log, "--id", "c"], &[json!({"explain": true})]);
    assert!(ran.err.contains("warning[no-policy]") && ran.err.contains("1 calls of `c` wait"), "{}", ran.err);
    assert_eq!(person(&store, &["approvals", "approve", asked["approval"].as_str().unwrap()]).code, 0);
    let mut session = Session::start(&args);
    assert_eq!(session.say(r#"{"explain":true}"#)["waiting"][0]["approval"], asked["approval"]);
    let run = session.say(&delete);
    assert_eq!(run["outcome"], "forward", "the call again takes up what was approved: {run}");
    session.kill();
    let mut session = Session::start(&args);
    let error = session.say(json!({"resume": asked["approval"]}));
    assert_eq!(error["error"]["help"], "no call waits", "{error}");
    let again = session.say(&delete);
    assert_eq!(again["outcome"], "refuse", "an approval is handed over once: {again}");
    assert!(again["reason"].as_str().unwrap().contains("already used; check whether the call took effect"), "{again}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn tools_that_differ_from_those_shown_are_reported() {
    let place = Place::new("changed");
    let log = place.file("l.jsonl");
    answers(&["--arm", "stable", "--log", &log, "--id", "c"], &[json!({"tools": true})]);
    assert!(!ran(&["--log", &log, "--id", "c"], &[""]).0.err.contains("warning"), "the same tools");
    let (ran, told) =
        ran(&["--tools", "examples/two_tools.json", "--log", &log, "--id", "c"], &[json!({"explain": true})]);
    assert_eq!((ran.code, &told[0]["arm"]), (0, &json!("stable")));
    assert!(ran.err.contains("warning[tools-changed]"), "{}", ran.err);
}

#[test]
fn no_call_writes_the_log_that_it_would_be_judged_by() {
    let place = Place::new("protected");
    let (log, store) = (place.file("l.jsonl"), place.file("store.sqlite"));
    let policy = "[tool.write_text_file]\ntier = 'b'\nwrites = ['file_path']\n[tool.run_shell]\ntier = 'b'\nlike = 'Bash'\ncommand = 'command'\n[[rule]]\ndecide = 'allow'\ntool = 'run_shell'\ncommand = 'tee:*'\n";
    let policy = place.put("policy.toml", policy);
    let mut session = Session::start(&["--arm", "full", "--policy", &policy, "--store", &store, "--log", &log]);
    let allowed = session.say(call("1", "run_shell", json!({"command": "tee /tmp/other.txt"})));
    let denied = session.say(call("2", "run_shell", json!({"command": format!("tee {log}")})));
    assert_eq!((&allowed["outcome"], &denied["outcome"]), (&json!("forward"), &json!("refuse")), "{allowed} {denied}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn a_log_may_be_a_pipe() {
    if !cfg!(unix) {
        return;
    }
    let place = Place::new("pipe");
    let pipe = place.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let told = answers(&["--log", &pipe, "--id", "c", "--arm", "stable"], &[expand("1")]);
    assert_eq!(told[0]["reason"], "expanded");
    let written = reader.join().unwrap();
    assert!(written.lines().count() >= 4 && written.starts_with("{\"v\":3"), "{written}");
    // None of these is a file to resume from.
    let mut open = std::fs::OpenOptions::new().append(true).create(true).open(place.file("log")).unwrap();
    open.write_all(b"").unwrap();
}
