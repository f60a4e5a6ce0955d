//! `toolfold undo` after a real session. The test plays the host: it runs the writes itself when a
//! call is forwarded.
#![cfg(unix)]

mod hostile;
mod limits;
mod shell;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Place, Session, call};
use crate::commands::{Ran, person, run};

const TOOLS: &str = r#"[
  {"type":"function","function":{"name":"Write","description":"Writes a file.","parameters":{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path"]}}},
  {"type":"function","function":{"name":"Edit","description":"Edits a file.","parameters":{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}}},
  {"type":"function","function":{"name":"Delete","description":"Deletes a file or folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},
  {"type":"function","function":{"name":"Bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}
]"#;

const POLICY: &str = "
[tool.Write]
tier = 'a'
undo = 'snapshot'
[tool.Edit]
tier = 'b'
undo = 'snapshot'
[tool.Delete]
tier = 'a'
writes = ['path']
undo = 'snapshot'
[tool.Bash]
tier = 'a'
undo = 'snapshot'
";

/// A folder that an agent works in, with a store outside it.
struct World {
    place: Place,
}

impl World {
    fn new(name: &str) -> Self {
        let place = Place::new(&format!("undo-{name}"));
        place.put("tools.json", TOOLS);
        place.put("policy.toml", POLICY);
        std::fs::create_dir(place.0.join("work")).unwrap();
        std::fs::create_dir(place.0.join("state")).unwrap();
        Self { place }
    }

    fn store(&self) -> String {
        self.place.file("state/store.sqlite")
    }

    /// The path of a file in the agent's folder.
    fn file(&self, name: &str) -> String {
        self.place.file(&format!("work/{name}"))
    }

    fn put(&self, name: &str, text: &str) -> String {
        self.place.put(&format!("work/{name}"), text)
    }

    fn read(&self, name: &str) -> String {
        self.place.read(&format!("work/{name}"))
    }

    fn exists(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.file(name)).is_ok()
    }

    fn session(&self, more: &[&str]) -> Session {
        let (tools, policy, store) = (self.place.file("tools.json"), self.place.file("policy.toml"), self.store());
        let mut args = vec!["--tools", &tools, "--profile", "off", "--policy", &policy, "--store", &store];
        args.extend(more);
        Session::start_in(&self.place.0.join("work"), &args)
    }

    fn undo(&self, args: &[&str]) -> Ran {
        let store = self.store();
        let all: Vec<&str> = ["undo"].into_iter().chain(args.iter().copied()).collect();
        // Reading needs no key.
        if args.contains(&"--list") || args.contains(&"--dry-run") {
            return run(&[&all[..], &["--store", &store]].concat());
        }
        person(&store, &all)
    }

    fn state(&self, id: &str) -> String {
        let ran = self.undo(&["--list", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let all: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
        let found = all.iter().find(|row| row["id"] == id);
        found.map_or_else(String::new, |row| row["state"].as_str().unwrap().to_owned())
    }

    /// Checks that the audit trail is intact; returns its number of undo records.
    fn audited(&self) -> usize {
        let store = self.store();
        let ran = run(&["audit", "verify", "--store", &store]);
        assert!(ran.code == 0 && ran.out.starts_with("ok "), "{}{}", ran.out, ran.err);
        let all = run(&["audit", "export", "--store", &store]).out;
        all.lines().filter(|line| line.contains(r#""toolfold.kind":"undone""#)).count()
    }
}

/// A call that is approved: its outcome when it is forwarded.
fn approved(session: &mut Session, asked: &Value) -> Value {
    let confirm = session.say(asked);
    assert_eq!(confirm["outcome"], "confirm", "{confirm}");
    assert_eq!((&confirm["shown"]["undo"], &confirm["undo"]), (&json!("snapshot"), &Value::Null), "{confirm}");
    let forward = session.say(json!({ "accept": confirm["approval"] }));
    assert_eq!(forward["outcome"], "forward", "{forward}");
    forward
}

fn finished(session: &mut Session, id: &str) {
    let answer = session.say(json!({"finished": {"id": id, "ok": true}}));
    assert_eq!(answer["finished"], true, "{answer}");
}

fn write_call(id: &str, file: &str) -> Value {
    call(id, "Write", json!({"file_path": file, "content": "new"}))
}

#[test]
fn a_file_that_a_confirmed_call_overwrote_comes_back() {
    let world = World::new("overwritten");
    world.put("notes.md", "old");
    std::fs::set_permissions(world.file("notes.md"), PermissionsExt::from_mode(0o640)).unwrap();
    let mut session = world.session(&["--id", "s-1"]);
    let confirm = session.say(write_call("c1", "notes.md"));
    assert_eq!(world.undo(&["--list"]).out, "no call has a snapshot\n", "nothing is copied before the yes");
    // A change between the request and the approval is part of the state before the call.
    world.put("notes.md", "older, then edited by hand");
    let forward = session.say(json!({ "accept": confirm["approval"] }));
    assert_eq!((&forward["undo"]["class"], &forward["undo"]["snapshot"]["id"]), (&json!("snapshot"), &json!("un-1")));
    assert_eq!(forward["undo"]["snapshot"]["files"], 1);
    assert_eq!(world.state("un-1"), "as_before");
    let again = session.say(write_call("c1", "notes.md"));
    assert_eq!(again["undo"], forward["undo"], "the same id gives the same outcome again");
    world.put("notes.md", "new");
    std::fs::set_permissions(world.file("notes.md"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(world.state("un-1"), "running");
    let early = world.undo(&["c1"]);
    assert!(early.code == 1 && early.err.contains("`c1` has not ended"), "{}", early.err);
    finished(&mut session, "c1");
    assert_eq!(world.state("un-1"), "ready");
    let dry = world.undo(&["un-1", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.out.contains(&format!("restore       {}", world.file("notes.md"))), "{}", dry.out);
    assert_eq!((world.read("notes.md").as_str(), world.audited()), ("new", 0), "a dry run changes nothing");
    let undone = world.undo(&["c1", "--session", "s-1"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(world.read("notes.md"), "older, then edited by hand");
    let mode = std::fs::metadata(world.file("notes.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640, "the mode is what it was");
    assert_eq!((world.state("un-1").as_str(), world.audited()), ("undone", 2));
    let twice = world.undo(&["un-1"]);
    assert!(twice.code == 1 && twice.err.contains("it was undone at "), "{}", twice.err);
    assert_eq!((world.read("notes.md").as_str(), world.audited()), ("older, then edited by hand", 2));
    let records = run(&["audit", "export", "--store", &world.store()]).out;
    let digest = forward["undo"]["snapshot"]["digest"].as_str().unwrap();
    let consumed = records.lines().find(|line| line.contains(r#""toolfold.kind":"consumed""#)).unwrap();
    assert!(consumed.contains(digest), "the record of the call names its snapshot: {consumed}");
    assert_eq!(session.end().0, 0);
}

#[test]
fn what_was_created_goes_and_what_was_deleted_comes_back() {
    let world = World::new("created");
    std::fs::create_dir(world.file("gone")).unwrap();
    world.put("gone/a.txt", "a");
    std::fs::create_dir(world.file("gone/deep")).unwrap();
    world.put("gone/deep/b.txt", "b");
    std::os::unix::fs::symlink("a.txt", world.file("gone/link")).unwrap();
    let mut session = world.session(&[]);
    let created = approved(&mut session, &write_call("c1", "made/on/the/way/new.md"));
    assert_eq!(created["undo"]["snapshot"]["files"], 0);
    std::fs::create_dir_all(world.file("made/on/the/way")).unwrap();
    world.put("made/on/the/way/new.md", "new");
    finished(&mut session, "c1");
    let deleted = approved(&mut session, &call("c2", "Delete", json!({"path": "gone"})));
    assert_eq!(deleted["undo"]["snapshot"]["files"], 2);
    std::fs::remove_dir_all(world.file("gone")).unwrap();
    finished(&mut session, "c2");
    world.put("made/mine.md", "a person's own");
    for id in ["un-1", "un-2"] {
        let ran = world.undo(&[id, "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let said: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&said["undone"], &said["dry_run"]), (&json!(id), &json!(false)));
    }
    assert!(!world.exists("made/on"), "folders that the call made are gone");
    assert_eq!(world.read("made/mine.md"), "a person's own", "but for those that something else is in");
    assert_eq!((world.read("gone/a.txt").as_str(), world.read("gone/deep/b.txt").as_str()), ("a", "b"));
    assert_eq!(std::fs::read_link(world.file("gone/link")).unwrap().to_str(), Some("a.txt"));
    assert_eq!(world.audited(), 4);
}

#[test]
fn a_call_of_tier_b_is_copied_too_and_later_calls_are_undone_first() {
    let world = World::new("order");
    world.put("a.md", "1");
    let mut session = world.session(&["--id", "s"]);
    for (id, text) in [("c1", "2"), ("c2", "3")] {
        let forward = session.say(call(id, "Edit", json!({"file_path": "a.md"})));
        assert_eq!((&forward["outcome"], &forward["undo"]["class"]), (&json!("forward"), &json!("snapshot")));
        world.put("a.md", text);
        finished(&mut session, id);
    }
    let refused = world.undo(&["c1"]);
    assert_eq!((refused.code, world.read("a.md").as_str()), (1, "3"));
    assert!(refused.err.contains("has changed since the call: call `c2` (un-2) wrote it, too"), "{}", refused.err);
    assert_eq!(world.undo(&["c2"]).code, 0);
    assert_eq!(world.read("a.md"), "2");
    assert_eq!(world.undo(&["c1"]).code, 0);
    assert_eq!(world.read("a.md"), "1");
    let list = world.undo(&["--list"]).out;
    let ids: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids, ["un-2", "un-1"], "newest first: {list}");
}

#[test]
fn two_calls_at_once_are_undone_together() {
    let world = World::new("together");
    world.put("a.md", "1");
    let mut session = world.session(&["--id", "s"]);
    let first = session.say(call("c1", "Edit", json!({"file_path": "a.md"})));
    assert_eq!(first["undo"]["class"], "snapshot");
    let second = session.say(call("c2", "Edit", json!({"file_path": "a.md"})));
    assert_eq!((&second["outcome"], &second["undo"]["class"]), (&json!("forward"), &json!("irreversible")));
    assert!(second["undo"]["why"].as_str().unwrap().contains("call `c1`, which writes the same files"), "{second}");
    world.put("a.md", "2");
    finished(&mut session, "c1");
    world.put("a.md", "3");
    assert_eq!(world.state("un-1"), "running", "the second call may still write");
    finished(&mut session, "c2");
    assert_eq!(world.undo(&["c1"]).code, 0);
    assert_eq!(world.read("a.md"), "1", "what was there before both");
}

#[test]
fn a_call_that_was_shown_as_undoable_waits_for_the_one_before() {
    let world = World::new("waits");
    world.put("a.md", "1");
    let mut session = world.session(&["--id", "s"]);
    let first = session.say(write_call("c1", "a.md"));
    let second = session.say(call("c2", "Write", json!({"file_path": "a.md", "content": "3"})));
    assert_eq!(session.say(json!({ "accept": first["approval"] }))["outcome"], "forward");
    let waits = session.say(json!({ "accept": second["approval"] }));
    assert_eq!((&waits["outcome"], &waits["state"]), (&json!("confirm"), &json!("approved")), "{waits}");
    assert!(waits["reason"].as_str().unwrap().contains("call `c1`, which writes the same files"), "{waits}");
    world.put("a.md", "2");
    finished(&mut session, "c1");
    let forward = session.say(json!({ "resume": second["approval"] }));
    assert_eq!((&forward["outcome"], &forward["undo"]["class"]), (&json!("forward"), &json!("snapshot")), "{forward}");
    world.put("a.md", "3");
    finished(&mut session, "c2");
    assert_eq!(world.undo(&["c2"]).code, 0);
    assert_eq!(world.read("a.md"), "2");
}

#[test]
fn two_sessions_at_once_are_independent() {
    let world = World::new("sessions");
    world.put("a.md", "1");
    world.put("b.md", "1");
    let (mut one, mut two) = (world.session(&["--id", "one"]), world.session(&["--id", "two"]));
    assert_eq!(one.say(call("c", "Edit", json!({"file_path": "a.md"})))["undo"]["snapshot"]["id"], "un-1");
    let other = two.say(call("c", "Edit", json!({"file_path": "a.md"})));
    assert_eq!(other["undo"]["class"], "irreversible", "the other session's call is still writing: {other}");
    assert_eq!(two.say(call("d", "Edit", json!({"file_path": "b.md"})))["undo"]["snapshot"]["id"], "un-2");
    // The end of the other session's call with the same id is not the end of this one.
    finished(&mut two, "c");
    assert_eq!(world.undo(&["--list", "--json"]).out.matches(r#""state":"as_before""#).count(), 2);
    world.put("a.md", "2");
    assert_eq!(world.state("un-1"), "running");
    one.kill();
    assert_eq!(world.state("un-1"), "unreported", "its session is gone");
    assert_eq!(two.say(call("e", "Edit", json!({"file_path": "a.md"})))["undo"]["class"], "snapshot");
    let refused = world.undo(&["un-1"]);
    assert!(refused.code == 1 && refused.err.contains("the state after the call is unknown"), "{}", refused.err);
    assert_eq!(world.undo(&["un-1", "--force"]).code, 0);
    assert_eq!((world.read("a.md").as_str(), world.audited()), ("1", 2));
}

#[test]
fn a_resumed_session_reports_the_calls_of_the_earlier_one() {
    let world = World::new("resumed");
    world.put("a.md", "1");
    let log = world.place.file("log.jsonl");
    let mut session = world.session(&["--id", "s", "--log", &log]);
    let forward = session.say(call("c1", "Edit", json!({"file_path": "a.md"})));
    session.kill();
    world.put("a.md", "2");
    let mut session = world.session(&["--id", "s", "--log", &log]);
    let again = session.say(call("c1", "Edit", json!({"file_path": "a.md"})));
    assert_eq!(again["undo"], forward["undo"], "the log has it");
    finished(&mut session, "c1");
    assert_eq!(world.state("un-1"), "ready");
    assert_eq!(world.undo(&["c1"]).code, 0);
    assert_eq!(world.read("a.md"), "1");
}
