//! Shell commands: known writes are copied, and nothing is claimed about unknown ones.

use serde_json::json;

use super::{World, approved, call, finished};

#[test]
fn what_a_command_writes_is_restored() {
    let world = World::new("shell");
    world.put("a.txt", "a");
    world.put("b.txt", "b");
    let commands = [
        "echo new > a.txt",
        "rm -f a.txt && mv b.txt c.txt",
        "sed -i s/a/z/ a.txt",
        "mkdir -p x/y && printf 1 | tee x/y/z.txt",
        "cat > a.txt <<'EOF'\nhere\nEOF\n",
        "cp a.txt b.txt && chmod 600 a.txt",
        "ln -s a.txt l && truncate -s 0 b.txt",
        "cd sub && touch t.txt",
        "mv a.txt sub",
        "cp a.txt b.txt",
        "cd sub && cp ../a.txt ../new.txt",
        "mv -f a.txt b.txt",
    ];
    std::fs::create_dir(world.file("sub")).unwrap();
    let mut session = world.session(&[]);
    for (at, command) in commands.iter().enumerate() {
        let before = listing(&world);
        let id = format!("c{at}");
        approved(&mut session, &call(&id, "Bash", json!({ "command": command })));
        let ran =
            std::process::Command::new("bash").args(["-c", command]).current_dir(world.file("")).output().unwrap();
        assert!(ran.status.success(), "{command}: {ran:?}");
        assert_ne!(listing(&world), before, "{command}");
        finished(&mut session, &id);
        let undone = world.undo(&[&id]);
        assert_eq!(undone.code, 0, "{command}: {}", undone.err);
        assert_eq!(listing(&world), before, "{command}");
    }
    assert_eq!(world.audited(), 2 * commands.len());
}

/// Every path of the agent's folder with its mode and content.
fn listing(world: &World) -> String {
    let script = "find . | sort | while read -r f; do stat -c '%n %a %F' \"$f\"; [ -f \"$f\" ] && cat \"$f\"; \
                  [ -L \"$f\" ] && readlink \"$f\"; done; true";
    let ran = std::process::Command::new("bash").args(["-c", script]).current_dir(world.file("")).output().unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn a_command_with_unknown_writes_has_no_snapshot() {
    let world = World::new("unknown");
    world.put("a.txt", "a");
    std::fs::create_dir(world.file("d")).unwrap();
    let commands = [
        "python3 x.py",
        "make",
        "./run.sh",
        "rm *.txt",
        "echo x > $F",
        "echo x > \"$(date).txt\"",
        "cp -b a.txt b.txt",
        "cp --backup a.txt b.txt",
        "sed -i.bak s/a/b/ a.txt",
        "sed -Ei.bak s/a/b/ a.txt",
        "sed -n 'w other.txt' a.txt > a.txt",
        "sed -i 's/a/touch x/e' a.txt",
        "find . -exec touch {} ;",
        "find . -name a.txt -delete",
        "ls | xargs rm",
        "echo x > a.txt; bash -c 'echo y > b.txt'",
        "eval 'echo x > a.txt'",
        "ssh host 'rm a.txt'",
        "docker exec c rm /a.txt",
        "git checkout a.txt",
        "git -C d checkout a.txt",
        "tar xf a.tar -C d",
        "cp -r d e",
        "cd d; echo x > a.txt",
        "f() { echo x > b.txt; }; f > a.txt",
        "gzip a.txt",
        "rmdir -p d/e",
        "alias rm=touch; rm a.txt",
        "PATH=. rm a.txt",
        "echo x > ~other/a.txt",
        "ls",
    ];
    for (at, command) in toolfold_testing::sample(commands, 12).into_iter().enumerate() {
        let mut session = world.session(&[]);
        let asked = call(&format!("c{at}"), "Bash", json!({ "command": command }));
        let confirm = session.say(&asked);
        if confirm["outcome"] == "refuse" {
            continue;
        }
        assert_eq!(confirm["outcome"], "confirm", "{command}: {confirm}");
        assert_eq!(confirm["shown"]["undo"], "irreversible", "{command}: {confirm}");
        assert_ne!(confirm["shown"]["undo_why"], "", "{command}");
    }
}

#[test]
fn a_tool_without_the_class_or_the_user_s_record_is_not_copied() {
    let world = World::new("record");
    world.put("a.txt", "a");
    world.place.put("policy.toml", "[tool.Edit]\ntier = 'b'\n[tool.Write]\ntier = 'b'\nundo = 'inverse'\n");
    // The project's file may not set it.
    world.put("project.toml", "[tool.Edit]\ntier = 'b'\nundo = 'snapshot'\n[tool.Bash]\nundo = 'snapshot'\n");
    world.put("toolfold.toml", "[policy]\nfile = 'project.toml'\n");
    let mut session = world.session(&[]);
    let edit = session.say(call("c1", "Edit", json!({"file_path": "a.txt"})));
    assert_eq!((&edit["outcome"], &edit["undo"]), (&json!("forward"), &json!({"class": "irreversible"})), "{edit}");
    let write = session.say(call("c2", "Write", json!({"file_path": "a.txt"})));
    assert_eq!(write["undo"], json!({"class": "inverse"}), "{write}");
    let bash = session.say(call("c3", "Bash", json!({"command": "rm a.txt"})));
    assert_eq!(bash["shown"]["undo"], "irreversible", "{bash}");
    assert!(bash["shown"].get("undo_why").is_none(), "no undo was promised: {bash}");
    assert_eq!(world.undo(&["--list"]).out, "no call has a snapshot\n");
}
