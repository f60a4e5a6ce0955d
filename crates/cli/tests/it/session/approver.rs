//! The key of a person who decides outside of a session, and copies of the program that try without
//! it.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use super::{Place, Session, call};

const TOOLFOLD: &str = env!("CARGO_BIN_EXE_toolfold");

const POLICY: &str = "allow = ['Bash']\n[tool.delete_file]\ntier = 'a'\nwrites = ['file_path']\n";

const TOOLS: &str = r#"[
  {"type":"function","function":{"name":"Bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}},
  {"type":"function","function":{"name":"delete_file","description":"Deletes a file.","parameters":{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}}}
]"#;

/// A folder with its own configuration folder, in which a session has requested an approval.
struct Asked {
    place: Place,
    session: Session,
}

impl Asked {
    fn new(name: &str) -> Self {
        let place = Place::new(&format!("approver-{name}"));
        let (tools, policy, store) = (place.put("tools.json", TOOLS), place.put("p.toml", POLICY), place.file("s.db"));
        let args = ["--tools", &tools, "--profile", "off", "--policy", &policy, "--store", &store, "--id", "s"];
        let home = place.0.to_str().unwrap();
        let own = [("HOME", home), ("XDG_CONFIG_HOME", ""), ("XDG_STATE_HOME", "")];
        let mut session = Session::start_with(&place.0, &args, &own);
        assert_eq!(session.say(call("1", "delete_file", json!({"file_path": "x"})))["approval"], "ap-1");
        Self { place, session }
    }

    /// A command in the place, with the place as its home: exit code and output.
    fn runs(&self, program: &str, args: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
        let output = Command::new(program)
            .args(args)
            .current_dir(&self.place.0)
            .env("NO_COLOR", "1")
            .env("HOME", &self.place.0)
            .env_remove("XDG_CONFIG_HOME")
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8_lossy(&said).into_owned())
    }

    #[track_caller]
    fn refused(&self, args: &[&str], because: &str) {
        let (code, said) = self.runs(TOOLFOLD, args, &[]);
        assert!(code == 1 && said.contains(because), "{args:?}: {code}: {said}");
        assert_eq!(self.state(), "pending");
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let (code, said) = self.runs(TOOLFOLD, args, &[]);
        assert_eq!(code, 0, "{args:?}: {said}");
        said
    }

    fn state(&self) -> String {
        let why: Value =
            serde_json::from_str(&self.succeeds(&["approvals", "why", "ap-1", "--store", "s.db", "--json"])).unwrap();
        why["state"].as_str().unwrap().to_owned()
    }

    fn asks(&mut self, id: &str, command: &str) -> Value {
        self.session.say(call(id, "Bash", json!({ "command": command })))["outcome"].clone()
    }
}

const APPROVE: [&str; 5] = ["approvals", "approve", "ap-1", "--store", "s.db"];
const INIT: [&str; 4] = ["approvals", "init", "--store", "s.db"];

#[test]
fn an_approval_that_cannot_be_remembered_stays_pending() {
    let mut asked = Asked::new("once");
    let large = json!({"file_path": "y", "size": 1e20});
    assert_eq!(asked.session.say(call("2", "delete_file", large))["approval"], "ap-2");
    asked.succeeds(&INIT);
    let (code, text) = asked.runs(TOOLFOLD, &["approvals", "approve", "ap-2", "--store", "s.db", "--session"], &[]);
    assert!(code == 1 && text.contains("can only be approved once"), "{code}: {text}");
    let why = asked.succeeds(&["approvals", "why", "ap-2", "--store", "s.db"]);
    assert!(
        why.contains("remember   not possible: ") && why.contains("Next: toolfold approvals approve ap-2"),
        "{why}"
    );
}

#[test]
fn a_decision_requires_the_key_of_the_store() {
    let asked = Asked::new("key");
    let with = |args: &[&'static str], more: &[&'static str]| [args, more].concat();
    asked.refused(&APPROVE, "toolfold approvals init --store s.db");
    asked.refused(&["approvals", "reject", "ap-1", "--store", "s.db"], "toolfold approvals init --store s.db");
    let said = asked.succeeds(&INIT);
    let key = asked.place.0.join(".config/toolfold/approver.key");
    assert!(said.contains("approver.key") && said.contains("s.db has it now"), "{said}");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(asked.succeeds(&INIT).contains("already"), "to make it again changes nothing");
    let text = std::fs::read_to_string(&key).unwrap();

    // Without the key, or with another one, in every way.
    let other = ["approvals", "init", "--store", "other.db", "--key-file", "other.key"];
    asked.succeeds(&other);
    asked.refused(&with(&APPROVE, &["--key-file", "other.key"]), "is not the key of this store");
    asked.refused(&with(&APPROVE, &["--key-file", "nowhere"]), "there is no approver's key at nowhere");
    asked.refused(&with(&APPROVE, &["--key-file", "p.toml"]), "p.toml");
    let elsewhere = asked.place.file("elsewhere");
    for name in ["TOOLFOLD_APPROVER_KEY", "TOOLFOLD_KEY", "TOOLFOLD_SESSION_SECRET"] {
        let (code, said) = asked.runs(TOOLFOLD, &APPROVE, &[("XDG_CONFIG_HOME", &elsewhere), (name, text.trim())]);
        assert!(code == 1 && said.contains("there is no approver's key"), "{name}: {said}");
    }
    // A new key does not replace the old one, and no file is left.
    asked.refused(&with(&INIT, &["--key-file", "new.key"]), "already has an approver's key");
    asked.refused(&with(&INIT, &["--key-file", "new.key", "--old-key", "other.key"]), "is not the key of this store");
    asked.refused(&with(&INIT, &["--key-file", "new.key", "--old-key", "nowhere"]), "there is no key at nowhere");
    assert!(!asked.place.0.join("new.key").exists());
    // A key that others can read is not secret.
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    asked.refused(&APPROVE, "other users can read");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();

    asked.succeeds(&with(&INIT, &["--key-file", "new.key", "--old-key", ".config/toolfold/approver.key"]));
    asked.refused(&APPROVE, "is not the key of this store");
    asked.succeeds(&with(&APPROVE, &["--key-file", "new.key"]));
    assert_eq!(asked.state(), "approved");
    let audit = asked.succeeds(&["audit", "export", "--store", "s.db"]);
    assert_eq!(audit.lines().filter(|line| line.contains(r#""toolfold.kind":"approver""#)).count(), 2, "{audit}");
    assert!(!audit.contains(text.trim()), "the key is in no record");
    assert!(asked.succeeds(&["audit", "verify", "--store", "s.db"]).starts_with("ok "));
}

/// A terminal proves nothing: `script` provides one to every process.
#[test]
fn a_copy_of_the_program_cannot_approve() {
    let mut asked = Asked::new("copy");
    let copy = asked.place.0.join("tf");
    std::fs::copy(TOOLFOLD, &copy).unwrap();
    let line = r#"script -qc "./tf approvals approve ap-1" /dev/null"#;
    assert_ne!(asked.asks("2", line), "forward");
    for (at, command) in
        ["./tf session", "./tf undo call_1", "ln -s tf x; ./x session", "cd . && ./tf session"].iter().enumerate()
    {
        assert_eq!(asked.asks(&format!("c{at}"), command), "refuse", "{command}");
    }
    assert_eq!(asked.asks("3", "./tf report"), "forward", "what it does otherwise is left to the rules");
    // It still needs the key.
    let line = line.replace("ap-1", "ap-1 --store s.db");
    let elsewhere = asked.place.file("elsewhere");
    asked.succeeds(&INIT);
    let (_, said) = asked.runs("sh", &["-c", &line], &[("XDG_CONFIG_HOME", &elsewhere)]);
    println!("{said}");
    assert_eq!(asked.state(), "pending", "{said}");
    assert_eq!(asked.session.end().0, 0);
}

#[test]
fn no_call_of_a_session_reads_the_key() {
    let mut asked = Asked::new("secret");
    asked.succeeds(&INIT);
    for (at, command, outcome) in [
        (1, "cat ~/.config/toolfold/approver.key", "refuse"),
        (2, "cd .config/toolfold; cp approver.key /tmp/k", "refuse"),
        (3, "grep -r tfk_ .", "confirm"),
        (4, "cat .config/*/*", "confirm"),
        (5, "ln -s .config/toolfold/approver.key k; cat k", "refuse"),
        (6, "cat notes.md", "forward"),
    ] {
        assert_eq!(asked.asks(&format!("c{at}"), command), outcome, "{command}");
    }
    std::os::unix::fs::symlink(".config/toolfold", asked.place.0.join("innocent")).unwrap();
    assert_eq!(asked.asks("link", "cat innocent/approver.key"), "refuse");
    std::os::unix::fs::symlink("innocent/approver.key", asked.place.0.join("notes.txt")).unwrap();
    assert_eq!(asked.asks("link2", "cat notes.txt"), "refuse");
}
