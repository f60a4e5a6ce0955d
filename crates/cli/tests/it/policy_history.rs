//! `toolfold policy explain --history` and `eval --history`: the records of earlier calls.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{ApprovalStore, Context, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};
use toolfold::store::SqliteStore;

use crate::commands::run;

const POLICY: &str = "[policy]\ndefault = \"allow\"\n[[rule]]\ndecide = \"ask\"\ntool = \"send\"\n\
    over = { count = 2, within = \"1h\", per = \"tenant\" }\n[[rule]]\ndecide = \"deny\"\ntool = \"refund\"\n\
    unless_after = \"look\"\nmatch_args = [\"order\"]\n";

/// A folder with a policy and the exported records of four calls, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = Self(std::env::temp_dir().join(format!("toolfold-history-{name}-{}", std::process::id())));
        let _ = std::fs::remove_dir_all(&place.0);
        std::fs::create_dir_all(&place.0).unwrap();
        std::fs::write(place.0.join("policy.toml"), POLICY).unwrap();
        let policy = Policy::new(vec![PolicyFile::load(POLICY, "p", PolicyScope::User).into_result().unwrap()]);
        let store = SqliteStore::open(&place.0.join("store.sqlite")).unwrap();
        let calls = [
            ("s-1", "send", json!({"to": "a"}), 1_000, "ok"),
            ("s-2", "send", json!({"to": "b"}), 2_000, "failed"),
            ("s-2", "look", json!({"order": "7"}), 3_000, "ok"),
            ("s-2", "look", json!({"order": "8"}), 4_000, ""),
        ];
        for (at, (session, tool, arguments, time_ms, outcome)) in calls.into_iter().enumerate() {
            let context = Context::default().with_session(session).with_now_ms(time_ms);
            let call = PolicyCall::new(&ToolOrigin::Native, tool, &arguments);
            let prepared = policy.prepare(call, &context, None, History::default());
            let history = store.history(&prepared.series(), None).unwrap();
            let id = format!("c{at}");
            let mut entry = Entry::new(Kind::Decision, time_ms);
            (entry.session, entry.tool, entry.call_id) = (session.to_owned(), tool.to_owned(), id.clone());
            entry.counted = prepared.with_history(history).counted();
            (entry.arguments, entry.decision, entry.call) = (arguments, Some("allow".to_owned()), id.clone());
            store.record(&entry).unwrap();
            if !outcome.is_empty() {
                let mut entry = Entry::new(Kind::Outcome, time_ms + 1);
                (entry.session, entry.call_id) = (session.to_owned(), id.clone());
                (entry.call, entry.outcome) = (id, Some(outcome.to_owned()));
                store.record(&entry).unwrap();
            }
        }
        let exported = run(&["audit", "export", "--store", &place.file("store.sqlite")]);
        assert_eq!(exported.code, 0, "{}", exported.err);
        std::fs::write(place.0.join("records.jsonl"), exported.out).unwrap();
        place
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The explanation of a call after the records of a file.
    fn explained(&self, tool: &str, arguments: &Value, records: &str) -> Value {
        let (policy, records) = (self.file("policy.toml"), self.file(records));
        let arguments = arguments.to_string();
        let ran = run(&["policy", "explain", &policy, tool, "--args", &arguments, "--history", &records, "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn ids(condition: &Value) -> Vec<&str> {
    condition["calls"].as_array().unwrap().iter().map(|call| call["call_id"].as_str().unwrap()).collect()
}

#[test]
fn an_explanation_has_the_calls_that_decided() {
    let place = Place::new("explain");
    let explained = place.explained("send", &json!({"to": "c"}), "records.jsonl");
    assert_eq!(explained["verdict"]["decision"], "confirm", "{explained}");
    let limit = &explained["earlier"][0];
    assert_eq!(ids(limit), ["c0", "c1"]);
    assert_eq!(limit["calls"][1]["state"], "failed");
    assert!(limit["why"].as_str().unwrap().starts_with("2 calls ran within 3600 s"), "{limit}");
    let explained = place.explained("refund", &json!({"order": "7"}), "records.jsonl");
    assert_eq!(explained["verdict"]["decision"], "allow_audited", "{explained}");
    assert_eq!((ids(&explained["earlier"][0]), &explained["earlier"][0]["why"]), (vec!["c2"], &Value::Null));
    // The call whose outcome is unknown does not count, and is shown.
    let explained = place.explained("refund", &json!({"order": "8"}), "records.jsonl");
    assert_eq!(explained["verdict"]["decision"], "deny", "{explained}");
    assert_eq!(explained["earlier"][0]["calls"][0]["state"], "forwarded");
    let page = run(&[
        "policy",
        "explain",
        &place.file("policy.toml"),
        "send",
        "--args",
        "{}",
        "--history",
        &place.file("records.jsonl"),
    ]);
    assert!(page.out.contains("1970-01-01T00:00:02Z  s-2  c1  send  failed"), "{}", page.out);
}

/// Records of a time when no rule counted the calls count by what they state.
#[test]
fn a_new_rule_counts_old_records() {
    let place = Place::new("old");
    let text = std::fs::read_to_string(place.file("records.jsonl")).unwrap();
    let mut old = String::new();
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let members = record.as_object_mut().unwrap();
        members.remove("toolfold.counted");
        members.remove("toolfold.call");
        old += &format!("{record}\n");
    }
    std::fs::write(place.file("old.jsonl"), old).unwrap();
    for (tool, arguments) in [("send", json!({"to": "c"})), ("refund", json!({"order": "7"}))] {
        let (new, old) =
            (place.explained(tool, &arguments, "records.jsonl"), place.explained(tool, &arguments, "old.jsonl"));
        assert_eq!(new, old);
    }
}

#[test]
fn rows_are_evaluated_after_the_records() {
    let place = Place::new("eval");
    let rows = r#"{"id": "last", "tool": "refund", "args": {"order": "7"}}
{"id": "other", "tool": "refund", "args": {"order": "7"}, "ctx": {"session": "s-1"}}
{"id": "tenant", "tool": "send", "args": {}, "ctx": {"tenant": "t"}}
{"id": "over", "tool": "send", "args": {}}
"#;
    std::fs::write(place.file("rows.jsonl"), rows).unwrap();
    let (rows, policy, records) = (place.file("rows.jsonl"), place.file("policy.toml"), place.file("records.jsonl"));
    let ran = run(&["policy", "eval", &rows, "--policy", &policy, "--history", &records, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decisions: Vec<&str> = answers.iter().map(|row| row["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["allow", "deny", "allow", "ask"]);
    assert_eq!(ids(&answers[3]["earlier"][0]), ["c0", "c1"]);
    assert_eq!(run(&["policy", "eval", &rows, "--history", &records]).code, 2, "rows with their own rules");
}

#[test]
fn a_file_that_is_no_trail_is_refused() {
    let place = Place::new("bad");
    let text = std::fs::read_to_string(place.file("records.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let swapped = [lines[1], lines[0]].join("\n");
    for (bad, place_and_why) in [
        (swapped.as_str(), ":2:1: error[history]: record 1 follows record 2"),
        ("{}", ":1:1: error[history]: the line is not an audit record"),
        (&lines[0][..40], ":1:1: error[history]: the line is not JSON"),
    ] {
        std::fs::write(place.file("bad.jsonl"), bad).unwrap();
        let file = place.file("bad.jsonl");
        let ran = run(&["policy", "explain", &place.file("policy.toml"), "send", "--history", &file]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        let file = Path::new(&file).file_name().unwrap().to_str().unwrap();
        assert!(ran.err.contains(&format!("{file}{place_and_why}")), "{}", ran.err);
    }
}
