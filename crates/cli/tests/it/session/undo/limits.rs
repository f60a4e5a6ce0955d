//! What cannot be copied is shown as irreversible, and snapshots are limited.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{World, approved, call, finished, write_call};

/// What the approver is shown about a call, and its outcome when it is forwarded.
fn irreversible(world: &World, more: &[&str], asked: &Value) -> String {
    let mut session = world.session(more);
    let confirm = session.say(asked);
    assert_eq!(confirm["shown"]["undo"], "irreversible", "{confirm}");
    let why = confirm["shown"]["undo_why"].as_str().unwrap().to_owned();
    let forward = session.say(json!({ "accept": confirm["approval"] }));
    assert_eq!((&forward["outcome"], &forward["undo"]["class"]), (&json!("forward"), &json!("irreversible")));
    assert_eq!(forward["undo"]["why"], json!(why));
    assert_eq!(world.undo(&["--list"]).out, "no call has a snapshot\n");
    why
}

#[test]
fn what_cannot_be_copied_is_shown_as_irreversible() {
    let world = World::new("cannot");
    world.put("large.md", "0123456789A");
    let why = irreversible(&world, &["--undo-limit", "10B"], &write_call("c1", "large.md"));
    assert_eq!(why, format!("a copy would exceed 10 B (`{}`)", world.file("large.md")));
    let why = irreversible(&world, &["--undo-limit", "0"], &write_call("c1", "large.md"));
    assert_eq!(why, "snapshots are turned off (undo.limit is 0)");
    let fifo = world.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let why = irreversible(&world, &[], &write_call("c1", "pipe"));
    assert_eq!(why, format!("`{fifo}` is neither a file nor a folder"));
    std::fs::create_dir(world.file("many")).unwrap();
    // Names of one file are made faster than files.
    for name in 0..=10_000 {
        std::fs::hard_link(world.file("large.md"), world.file(&format!("many/{name}"))).unwrap();
    }
    let why = irreversible(&world, &[], &call("c1", "Delete", json!({"path": "many"})));
    assert!(why.starts_with("there are more than 10000 files below"), "{why}");
}

#[test]
fn exactly_the_limit_is_copied() {
    let world = World::new("limit");
    world.put("a.md", "0123456789");
    let forward = approved(&mut world.session(&["--undo-limit", "10B"]), &write_call("c1", "a.md"));
    assert_eq!(forward["undo"]["snapshot"]["bytes"], 10);
}

#[test]
fn a_call_shown_as_undoable_does_not_run_without_a_copy() {
    let world = World::new("grew");
    world.put("a.md", "small");
    let mut session = world.session(&["--undo-limit", "10B"]);
    let confirm = session.say(write_call("c1", "a.md"));
    assert_eq!(confirm["shown"]["undo"], "snapshot");
    world.put("a.md", "grown beyond the limit");
    let refused = session.say(json!({ "accept": confirm["approval"] }));
    assert_eq!(refused["outcome"], "refuse", "{refused}");
    let reason = refused["reason"].as_str().unwrap();
    assert!(
        reason.contains("showed that the call can be undone, and no snapshot can be made: a copy would"),
        "{reason}"
    );
    let anew = session.say(write_call("c2", "a.md"));
    assert_eq!(anew["shown"]["undo"], "irreversible", "asked again, a person is told: {anew}");
}

#[test]
fn a_store_whose_folder_is_not_writable_is_reported() {
    let world = World::new("readonly");
    world.put("a.md", "1");
    drop(world.session(&[]).end());
    // Not even root can create a file below a file.
    std::fs::remove_dir_all(world.place.0.join("state/store.sqlite.undo")).unwrap();
    world.place.put("state/store.sqlite.undo", "");
    let why = irreversible(&world, &[], &write_call("c1", "a.md"));
    assert!(why.starts_with("snapshots cannot be stored: "), "{why}");
    let (code, err) = world.session(&[]).end();
    assert!(code == 0 && err.contains("warning[no-snapshots]: snapshots cannot be stored: "), "{err}");
}

#[test]
fn snapshots_are_private() {
    let world = World::new("private");
    world.put("a.md", "secret");
    std::fs::set_permissions(world.file("a.md"), PermissionsExt::from_mode(0o644)).unwrap();
    approved(&mut world.session(&[]), &write_call("c1", "a.md"));
    let mut todo = vec![world.place.0.join("state/store.sqlite.undo")];
    let mut files = 0;
    while let Some(path) = todo.pop() {
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.permissions().mode() & 0o077, 0, "{}", path.display());
        if found.is_dir() {
            todo.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert!(files >= 3);
}

#[test]
fn expired_and_excess_snapshots_are_removed() {
    let world = World::new("retention");
    let objects = || std::fs::read_dir(world.place.0.join("state/store.sqlite.undo/objects")).unwrap().count();
    let config = |text: &str| world.place.put("own.toml", format!("[undo]\n{text}\n"));
    let edit = |more: &[&str], id: &str, text: &str| {
        world.put("a.md", text);
        let mut session = world.session(more);
        let forward = session.say(call(id, "Edit", json!({"file_path": "a.md"})));
        assert_eq!(forward["undo"]["class"], "snapshot", "{forward}");
        world.put("a.md", &format!("{text}, then changed"));
        finished(&mut session, id);
        assert_eq!(session.end().0, 0);
    };
    edit(&[], "c1", "first");
    edit(&[], "c2", "second");
    assert_eq!((objects(), world.state("un-1").as_str()), (2, "changed"));
    // There is room for ten bytes: the oldest is removed.
    edit(&["--config", &config("total = '14B'")], "c3", "third");
    assert_eq!((world.state("un-1"), world.state("un-3").as_str()), (String::new(), "ready"));
    assert_eq!((world.state("un-2").as_str(), objects()), ("changed", 2));
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let kept = config("keep = '1s'");
    assert_eq!(world.session(&["--config", &kept]).end(), (0, String::new()));
    assert_eq!((world.undo(&["--list"]).out.as_str(), objects()), ("no call has a snapshot\n", 0));
    edit(&[], "c4", "fourth");
    assert_eq!(world.state("un-4"), "ready", "an id is never used again");
    let gone = world.undo(&["un-1"]);
    assert!(gone.code == 1 && gone.err.contains("no snapshot belongs to a call `un-1`"), "{}", gone.err);
}

#[test]
fn a_project_cannot_change_the_limits_of_snapshots() {
    let world = World::new("project");
    world.put("a.md", "1");
    world.put("toolfold.toml", "[undo]\nlimit = '0'\n");
    let mut session = world.session(&[]);
    assert_eq!(session.say(call("c1", "Edit", json!({"file_path": "a.md"})))["undo"]["class"], "snapshot");
    let (_, err) = session.end();
    assert!(err.contains("a project cannot change the limits of snapshots"), "{err}");
}
