//! `toolfold log` as its users run it, on a log whose content and times are known.

use serde_json::{Value, json};

use crate::commands::{run, run_with};

/// 2023-11-14T22:13:20Z.
const BEGUN: i64 = 1_700_000_000_000;

/// A log of two conversations of an experiment, and of one without an id that was started twice.
fn log() -> String {
    let mut out = String::new();
    let mut seq = std::collections::BTreeMap::new();
    let mut add = |conversation: &str, variant: Option<&str>, event: Value| {
        let begins = event["event"] == "started";
        let seq = seq.entry(conversation.to_owned()).and_modify(|at| *at += 1).or_insert(0_u64);
        if begins {
            *seq = 0;
        }
        let at = BEGUN + i64::try_from(*seq).unwrap() * 1_000;
        let mut record = json!({"v": 2, "conversation": conversation, "seq": *seq, "at_ms": at});
        let own = record.as_object_mut().unwrap();
        if let Some(variant) = variant {
            own.insert("variant".to_owned(), json!(variant));
        }
        own.extend(event.as_object().unwrap().clone());
        out.push_str(&format!("{record}\n"));
    };
    let started =
        |arm: &str| json!({"event": "started", "wire": "openai-chat", "model": "gpt-4.1", "arm": arm, "reason": "r"});
    let called = |id: &str, target: &str, meta: bool| json!({"event": "called", "id": id, "name": target, "target": target, "digest": "d", "meta": meta});
    let answered = |id: &str, kind: &str| json!({"event": "answered", "id": id, "kind": kind, "content": "c", "failed": kind != "expanded"});
    let treated = Some("treatment");
    add("a", treated, started("stable"));
    add("a", treated, json!({"event": "presented", "digest": "x"}));
    add("a", treated, called("1", "expand_tools", true));
    add("a", treated, json!({"event": "expanded", "by": "1", "categories": ["chart"]}));
    add("a", treated, answered("1", "expanded"));
    add("a", treated, called("2", "create_chart", false));
    add("a", treated, answered("2", "invalid"));
    add("a", treated, called("3", "create_chart", false));
    add("a", treated, json!({"event": "forwarded", "id": "3"}));
    add("a", treated, json!({"event": "finished", "id": "3", "ok": true}));
    add("a", treated, called("4", "list_sheets", false));
    add("a", treated, json!({"event": "forwarded", "id": "4", "blind": true}));
    add("a", treated, json!({"event": "finished", "id": "4", "ok": false}));
    add("a", treated, called("5", "nope", false));
    add("a", treated, answered("5", "unknown_tool"));
    add("a", treated, called("6", "nope", false));
    add("a", treated, answered("6", "loop"));
    let control = Some("control");
    add("b", control, started("full"));
    add("b", control, called("1", "delete_file", false));
    add("b", control, json!({"event": "asked", "id": "1", "approval": "ap-1", "reason": "r"}));
    add("b", control, json!({"event": "resumed", "id": "1", "approval": "ap-1"}));
    add("b", control, called("2", "delete_file", false));
    add("b", control, json!({"event": "asked", "id": "2", "approval": "ap-2", "reason": "r"}));
    add("b", control, json!({"event": "rejected", "approval": "ap-2", "content": "c", "reason": "r"}));
    add("b", control, called("3", "delete_file", false));
    add("b", control, json!({"event": "asked", "id": "3", "approval": "ap-3", "reason": "r"}));
    add("b", control, called("4", "delete_file", false));
    add("b", control, json!({"event": "asked", "id": "4", "approval": "ap-3", "reason": "r"}));
    add("b", control, called("5", "run_shell", false));
    add("b", control, json!({"event": "presented", "digest": "d1"}));
    for _ in 0..2 {
        add("b", control, json!({"event": "counted", "meter": "billed:openai-chat/gpt-4.1", "tokens": 1_200}));
    }
    add("b", control, json!({"event": "presented", "digest": "d2"}));
    add("b", control, json!({"event": "counted", "meter": "billed:openai-chat/gpt-4.1", "tokens": 34}));
    add("b", control, json!({"event": "refused", "id": "5", "content": "c", "reason": "r"}));
    add("", None, started("stable"));
    add("", None, called("1", "list_sheets", false));
    add("", None, json!({"event": "forwarded", "id": "1"}));
    add("", None, started("stable"));
    add("", None, called("1", "list_sheets", false));
    add("", None, json!({"event": "forwarded", "id": "1"}));
    out
}

fn shows(name: &str, description: &str, printed: &str) {
    insta::with_settings!({ description => description, omit_expression => true }, {
        insta::assert_snapshot!(name, printed);
    });
}

#[test]
fn a_log_is_counted_by_conversation_arm_and_variant() {
    let log = log();
    let ran = run_with(&["log", "-"], log.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    shows("log", "toolfold log of three conversations, one of them begun twice", &ran.out);
    let ran = run_with(&["log", "-", "--json"], log.as_bytes());
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&report["schema"], &report["records"], &report["bad_lines"]),
        (&json!("toolfold.log/1"), &json!(41), &json!(0))
    );
    let a = &report["conversations"][0];
    for (key, value) in [
        ("arrays", 1),
        ("calls", 6),
        ("expansions", 1),
        ("repairs", 1),
        ("unknown", 1),
        ("loops", 1),
        ("forwarded", 2),
        ("blind", 1),
        ("ok", 1),
        ("failed", 1),
        ("refused", 0),
        ("waiting", 0),
    ] {
        assert_eq!(a[key], value, "{key}: {a}");
    }
    let b = &report["conversations"][1];
    for (key, value) in [
        ("calls", 5),
        ("asked", 3),
        ("approved", 1),
        ("rejected", 1),
        ("waiting", 1),
        ("refused", 1),
        ("forwarded", 1),
        ("ok", 0),
    ] {
        assert_eq!(b[key], value, "{key}: {b}");
    }
    // An array that was counted twice was sent once.
    assert_eq!(b["array_tokens"], json!({"billed:openai-chat/gpt-4.1": 1_234}));
    assert_eq!((&a["first"], &a["last"]), (&json!("2023-11-14T22:13:20Z"), &json!("2023-11-14T22:13:36Z")));
    let totals = report["totals"].as_array().unwrap();
    assert_eq!(totals.len(), 3, "by arm and variant: {totals:?}");
    assert_eq!(
        (&totals[2]["arm"], &totals[2]["variant"], &totals[2]["conversations"]),
        (&json!("stable"), &Value::Null, &json!(2))
    );
    let one = run_with(&["log", "-", "--id", "b", "--json"], log.as_bytes());
    let one: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!((&one["conversations"][0], one["totals"].as_array().unwrap().len()), (b, 1));
    let none = run_with(&["log", "-", "--id", "c"], log.as_bytes());
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert!(none.err.contains("has no conversation `c`") && none.err.contains("help:"), "{}", none.err);
}

#[test]
fn bad_lines_are_reported_and_counted() {
    let log = log();
    let old = "{\"event\":\"called\",\"id\":\"1\",\"target\":\"t\"}\n";
    let noise = format!("{old}{log}\nnope\n{{\"v\":7,\"event\":\"x\"}}\n{}", &log[..100]);
    let ran = run_with(&["log", "-"], noise.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("4 lines cannot be read; 4 conversations, "), "{}", ran.out);
    for says in [
        "-:1:1: error[bad-record]: is an older event without `v`",
        "-:44:1: error[bad-record]: is not JSON: expected true, false or null",
        "-:45:1: error[bad-record]: has version 7",
        "-:46:1: warning[torn-log]: the last record is cut off",
    ] {
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
    let json: Value = serde_json::from_str(&run_with(&["log", "-", "--json"], noise.as_bytes()).out).unwrap();
    assert_eq!((&json["bad_lines"], &json["records"]), (&json!(4), &json!(41)));
    // A log of the older version has no readable record.
    let ran = run_with(&["log", "-"], old.repeat(100).as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("100 lines cannot be read; 0 conversations, 0 calls"), "{}", ran.out);
    assert!(ran.err.contains("80 more lines cannot be read") && ran.err.len() < 5_000, "{}", ran.err);
    // Missing records are reported.
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let ran = run_with(&["log", "-"], lines[3..].concat().as_bytes());
    assert!(ran.err.contains("-:1:1: warning[log-gap]: record 3 is out of order: expected record 0"), "{}", ran.err);
    let ran = run_with(&["log", "-"], b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok 0 conversations, 0 calls\n"));
    for (file, says) in [("nowhere.jsonl", "error[unreadable]: cannot be read"), ("src", "is a folder, not a file")] {
        let ran = run(&["log", file]);
        assert!(ran.code == 1 && ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn hostile_lines_cost_bounded_time_and_memory() {
    let mut noise = vec![b'x'; 40 << 20];
    noise.push(b'\n');
    noise.extend(b"\xff\xfe\n");
    noise.extend("[".repeat(1 << 20).as_bytes());
    noise.push(b'\n');
    let presented = |conversation: &str, seq: u64, at_ms: i64| json!({"v": 2, "conversation": conversation, "seq": seq, "at_ms": at_ms, "event": "presented", "digest": ""});
    noise.extend(format!("{}\n", presented("\u{1b}[31m", 0, i64::MAX)).as_bytes());
    noise.extend(format!("{}\n", presented("x", u64::MAX, 0)).as_bytes());
    // Counts whose sum would overflow.
    for (at, conversation) in ["y", "y", "z"].iter().enumerate() {
        let event = json!({"v": 2, "conversation": conversation, "seq": at % 2, "at_ms": 0, "event": "counted", "meter": "m", "tokens": u64::MAX});
        noise.extend(format!("{}\n{event}\n", presented(conversation, 0, 0)).as_bytes());
    }
    let ran = run_with(&["log", "-"], &noise);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("3 lines cannot be read; 4 conversations"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}') && ran.out.contains("\\u{1b}[31m"), "{}", ran.out);
}
