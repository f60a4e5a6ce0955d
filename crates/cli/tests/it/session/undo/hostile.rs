//! Changed files, links that are swapped in, copies that are tampered with, a killed undo.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{World, call, finished, write_call};

/// A world in which `a.md` was "old" and the call `c1` has made it "new".
fn overwritten(name: &str) -> World {
    let world = World::new(name);
    world.put("a.md", "old");
    let mut session = world.session(&["--id", "s"]);
    let forward = session.say(call("c1", "Edit", json!({"file_path": "a.md"})));
    assert_eq!(forward["undo"]["class"], "snapshot", "{forward}");
    world.put("a.md", "new");
    finished(&mut session, "c1");
    assert_eq!(session.end().0, 0);
    world
}

#[test]
fn what_has_changed_since_is_not_overwritten() {
    let world = overwritten("changed");
    world.put("a.md", "edited since");
    assert_eq!(world.state("un-1"), "changed");
    let refused = world.undo(&["un-1"]);
    assert_eq!((refused.code, world.read("a.md").as_str(), world.audited()), (1, "edited since", 0));
    assert!(refused.err.contains("a.md` has changed since the call"), "{}", refused.err);
    let forced = world.undo(&["un-1", "--force"]);
    assert_eq!((forced.code, world.read("a.md").as_str(), world.audited()), (0, "old", 2), "{}", forced.err);
}

#[test]
fn a_mode_that_has_changed_since_is_a_change() {
    use std::os::unix::fs::PermissionsExt;
    let world = overwritten("mode");
    std::fs::set_permissions(world.file("a.md"), PermissionsExt::from_mode(0o444)).unwrap();
    assert_eq!((world.state("un-1").as_str(), world.undo(&["un-1"]).code), ("changed", 1));
}

#[test]
fn nothing_is_written_through_a_link() {
    let world = overwritten("link");
    let victim = world.place.put("victim", "new");
    std::fs::remove_file(world.file("a.md")).unwrap();
    symlink(&victim, world.file("a.md")).unwrap();
    let refused = world.undo(&["un-1"]);
    assert!(refused.code == 1 && refused.err.contains("has changed since"), "{}", refused.err);
    // With --force, the link itself is replaced.
    assert_eq!(world.undo(&["un-1", "--force"]).code, 0);
    assert_eq!((world.place.read("victim").as_str(), world.read("a.md").as_str()), ("new", "old"));
    assert!(!std::fs::symlink_metadata(world.file("a.md")).unwrap().is_symlink());
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let world = World::new("folder-link");
    std::fs::create_dir(world.file("d")).unwrap();
    world.put("d/a.md", "old");
    let mut session = world.session(&["--id", "s"]);
    session.say(call("c1", "Edit", json!({"file_path": "d/a.md"})));
    world.put("d/a.md", "new");
    finished(&mut session, "c1");
    std::fs::rename(world.file("d"), world.place.file("elsewhere")).unwrap();
    symlink(world.place.file("elsewhere"), world.file("d")).unwrap();
    for args in [&["un-1"][..], &["un-1", "--force"]] {
        let refused = world.undo(args);
        assert!(refused.code == 1 && refused.err.contains("now leads through a symbolic link"), "{}", refused.err);
    }
    assert_eq!(world.place.read("elsewhere/a.md"), "new");
}

#[test]
fn what_a_link_leads_to_is_restored_and_the_link_too() {
    let world = World::new("through");
    world.put("real.md", "old");
    symlink("real.md", world.file("link.md")).unwrap();
    let mut session = world.session(&[]);
    let confirm = session.say(write_call("c1", "link.md"));
    session.say(json!({ "accept": confirm["approval"] }));
    // One tool writes through the link, another replaces it with a file: both are undone.
    world.put("link.md", "new");
    std::fs::remove_file(world.file("link.md")).unwrap();
    world.put("link.md", "a file");
    finished(&mut session, "c1");
    let ran = world.undo(&["c1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(world.read("real.md"), "old");
    assert_eq!(std::fs::read_link(world.file("link.md")).unwrap().to_str(), Some("real.md"));
}

#[test]
fn a_snapshot_that_was_tampered_with_is_not_used() {
    let world = overwritten("tampered");
    let folder = world.place.0.join("state/store.sqlite.undo");
    let file = folder.join("calls/un-1.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("a.md", "b.md")).unwrap();
    for args in [&["un-1"][..], &["un-1", "--force"]] {
        let refused = world.undo(args);
        assert!(refused.code == 1 && refused.err.contains("the audit trail does not contain"), "{}", refused.err);
    }
    std::fs::write(&file, text).unwrap();
    let object = std::fs::read_dir(folder.join("objects")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&object, "evil").unwrap();
    let refused = world.undo(&["un-1"]);
    assert!(refused.code == 1 && refused.err.contains("the stored copy was changed"), "{}", refused.err);
    assert!(refused.err.contains("0 of 1 paths were restored"), "{}", refused.err);
    assert_eq!(world.read("a.md"), "new");
    std::fs::remove_file(object).unwrap();
    assert_eq!(world.state("un-1"), "unusable");
}

#[test]
fn no_call_writes_the_snapshots_or_undoes_another() {
    let world = overwritten("floor");
    let folder = world.place.file("state/store.sqlite.undo");
    let mut session = world.session(&[]);
    for (at, asked) in [
        ("Edit", json!({"file_path": format!("{folder}/calls/un-1.json")})),
        ("Edit", json!({"file_path": "../state/store.sqlite.undo/next"})),
        ("Bash", json!({"command": format!("rm -rf {folder}")})),
        ("Bash", json!({"command": "toolfold undo un-1"})),
        ("Bash", json!({"command": "cargo run -q -- undo un-1 --force"})),
        ("Bash", json!({"command": "timeout 5 /usr/local/bin/toolfold undo --list"})),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (tool, arguments))| (at, call(&format!("x{at}"), tool, arguments)))
    {
        let answer = session.say(&asked);
        assert_eq!(answer["outcome"], "refuse", "{at}: {asked} {answer}");
    }
}

#[test]
fn a_killed_undo_leaves_old_or_new_files_and_can_be_completed() {
    const FILES: usize = 12;
    let world = World::new("killed");
    std::fs::create_dir(world.file("d")).unwrap();
    let name = |at: usize| format!("d/{at}");
    // Large enough to catch a write in place half done.
    let (old, new) = ("old ".repeat(250_000), "new ".repeat(250_000));
    (0..FILES).for_each(|at| drop(world.put(&name(at), &old)));
    let mut session = world.session(&["--id", "s"]);
    let confirm = session.say(call("c1", "Delete", json!({"path": "d"})));
    session.say(json!({ "accept": confirm["approval"] }));
    (0..FILES).for_each(|at| drop(world.put(&name(at), &new)));
    finished(&mut session, "c1");
    let started = std::time::Instant::now();
    assert_eq!(world.undo(&["un-1", "--dry-run"]).code, 0);
    let looking = started.elapsed();
    let key = crate::commands::key_of(&world.store());
    let mut partly = 0;
    for round in 0..6 {
        let mut undo = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
            .args(["undo", "un-1", "--store", &world.store(), "--key-file", &key])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(looking.mul_f64(0.7) + std::time::Duration::from_millis(round * 15));
        drop(undo.kill());
        drop(undo.wait());
        let back = (0..FILES).filter(|at| {
            let found = world.read(&name(*at));
            assert!(found == old || found == new, "{at} is neither the old nor the new");
            found == old
        });
        let back = back.count();
        let state = world.state("un-1");
        match back {
            0 => assert_eq!(state, "ready"),
            FILES => assert!(matches!(state.as_str(), "as_before" | "undone"), "{state}"),
            _ => assert_eq!(state, "partly"),
        }
        partly += usize::from(back > 0 && back < FILES);
    }
    println!("killed in the middle {partly} times");
    let ran = world.undo(&["un-1"]);
    assert!(ran.code == 0 || ran.err.contains("it was undone at"), "{}", ran.err);
    assert!((0..FILES).all(|at| world.read(&name(at)) == old));
    let left = std::fs::read_dir(world.file("d")).unwrap().count();
    assert_eq!(left, FILES, "nothing unfinished is left");
    world.audited();
}

#[test]
fn a_killed_session_leaves_complete_snapshots() {
    let world = World::new("killed-session");
    world.put("a.md", "old");
    // The first call is answered before its session is killed: it tells how long a call takes here,
    // and the others are killed at moments spread over that time.
    let mut taken = std::time::Duration::ZERO;
    for round in 0..20_u32 {
        let mut session = world.session(&["--id", "s"]);
        session.say(r#"{"explain":true}"#);
        let edit = call(&format!("c{round}"), "Edit", json!({"file_path": "a.md"}));
        if round == 0 {
            let started = std::time::Instant::now();
            assert_eq!(session.say(edit)["undo"]["class"], "snapshot");
            taken = started.elapsed();
        } else {
            session.send(&edit.to_string());
            std::thread::sleep(taken * round / 16);
        }
        session.kill();
    }
    let ran = world.undo(&["--list", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let all: Vec<serde_json::Value> = serde_json::from_str(&ran.out).unwrap();
    for row in &all {
        assert!(["as_before", "unaudited"].contains(&row["state"].as_str().unwrap()), "{row}");
    }
    assert!(!all.is_empty(), "the answered call has a snapshot");
    world.audited();
}
