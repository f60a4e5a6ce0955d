//! Logs and snapshots of format 2, which has no numbered messages, are read and continued in the
//! current format.
//!
//! The fixtures were written by `toolfold session --arm stable --policy excel --id c-42` of the
//! previous version: one message that expanded a category and listed sheets, and one whose first
//! call is at the host and whose second waits as `ap-1`.

use super::*;
use toolfold::conversation::{LOG_VERSION, RestoreError, Snapshot};
use toolfold::profile::Arm;

use crate::project;

fn excel() -> (Engine, Approver) {
    let store = Arc::new(MemoryStore::default());
    let file = PolicyFile::load(&project("profiles/excel/policy.toml"), "policy.toml", PolicyScope::User);
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![file.into_result().unwrap()]), store, || 1_000);
    let policy = policy.context(Context::default().with_cwd("/work").with_interactive(true));
    let profile = toolfold::profile::ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml");
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let builder = Engine::builder(catalog).profile(profile.into_result().unwrap()).arm(Arm::Stable).policy(policy);
    let engine = builder.build().unwrap();
    // The store of the fixture: one approval, requested by the same call.
    let mut asking = engine.conversation(Wire::OpenAiChat).id("c-42").start().unwrap();
    let delete = json!({"file_path": "old.xlsx", "confirm": true});
    assert_eq!(approval(&asking.call("c4", "delete_file", &delete).unwrap()), "ap-1");
    (engine, approver)
}

fn form_2() -> Vec<LogRecord> {
    project("tests/fixtures/session/form-2.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The second message of the fixtures.
fn second() -> Value {
    Wire::OpenAiChat.assistant_message(&[
        ("c3", "list_sheets", json!({"file_path": "b.xlsx"})),
        ("c4", "delete_file", json!({"file_path": "old.xlsx", "confirm": true})),
    ])
}

fn carries_on(mut talk: Conversation, approver: &Approver) {
    assert_eq!(talk.opened(), ["create_chart", "create_excel_chart"]);
    let again = judge(&mut talk, &second());
    assert!(is_forward(&again[0]) && approval(&again[1]) == "ap-1", "the message was open: {again:?}");
    assert_eq!(talk.pending().count(), 1);
    approver.approve("ap-1", 1_000).unwrap();
    assert!(matches!(talk.resume(&"ap-1".into()), Ok(Resumed::Run(_))));
    talk.report_result(&"c3".into(), true);
    talk.report_result(&"c4".into(), true);
    let anew = judge(&mut talk, &second());
    assert!(is_forward(&anew[0]) && approval(&anew[1]) == "ap-2", "closed: the next message is new: {anew:?}");
    let written = talk.take_log(0);
    assert!(!written.is_empty() && written.iter().all(|record| record.v == LOG_VERSION));
}

#[test]
fn a_log_of_format_2_is_continued() {
    let (engine, approver) = excel();
    let log = form_2();
    assert!(log.iter().all(|record| record.v == 2));
    carries_on(engine.replay(&log).unwrap(), &approver);
    // New records are in the current format, after the old ones.
    let (engine, _approver) = excel();
    let mut log = log;
    let mut talk = engine.replay(&log).unwrap();
    judge(&mut talk, &second());
    judge(&mut talk, &Wire::OpenAiChat.assistant_message(&[("c3", "list_sheets", json!({"file_path": "c.xlsx"}))]));
    log.extend(talk.take_log(0));
    assert_eq!(engine.replay(&log).unwrap(), talk);
}

#[test]
fn a_snapshot_of_format_2_is_continued() {
    let (engine, approver) = excel();
    let snapshot: Snapshot = serde_json::from_str(&project("tests/fixtures/session/form-2.snapshot.json")).unwrap();
    assert_eq!(snapshot.version, 2);
    carries_on(engine.restore(snapshot).unwrap(), &approver);
}

#[test]
fn unsupported_formats_are_rejected() {
    let (engine, _approver) = excel();
    for form in [0, 1, LOG_VERSION + 1] {
        let mut log = form_2();
        log[0].v = form;
        assert_eq!(engine.replay(&log), Err(RestoreError::Version(form)));
    }
}

/// Answers and forwarded calls with every field, and with none that may be omitted.
const LINES: [&str; 4] = [
    r#"{"v":3,"conversation":"c","seq":1,"at_ms":0,"event":"answered","id":"c1","kind":"loop","content":"","failed":false}"#,
    r#"{"v":3,"conversation":"c","seq":2,"at_ms":0,"event":"answered","id":"c1","kind":"expanded","content":"t","failed":true,"notes":"n","opened":["a"],"mentioned":["a","b"]}"#,
    r#"{"v":3,"conversation":"c","seq":3,"at_ms":0,"event":"forwarded","id":"c2"}"#,
    r#"{"v":3,"conversation":"c","seq":4,"at_ms":0,"event":"forwarded","id":"c2","unchecked":"u","note":"n","blind":true,"policy":"allow_audited","reason":"r","undo":{"class":"irreversible","why":"w"}}"#,
];

#[test]
fn records_are_written_as_they_were_read() {
    for line in LINES {
        let record: LogRecord = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
    for (line, record) in project("tests/fixtures/session/form-2.jsonl").lines().zip(form_2()) {
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
}
