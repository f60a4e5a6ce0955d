//! `toolfold policy eval` with one policy, and the ways to name a policy.

use std::path::PathBuf;

use serde_json::Value;

use crate::commands::run;

const POLICY: &str =
    "allow = [\"Bash(git log:*)\"]\ndeny = [\"Read(**/.env)\"]\n[tool.note]\ntier = \"b\"\nwrites = []\n";

/// A test's own file, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolfold-eval-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn rows_are_evaluated_under_one_policy() {
    let policy = Scratch::new("p.toml", POLICY);
    let rows = Scratch::new(
        "rows.jsonl",
        r#"{"id": "log", "tool": "Bash", "args": {"command": "git log -1"}}
{"id": "rm", "tool": "Bash", "args": {"command": "git log; rm x"}}
{"id": "env", "tool": "Read", "args": {"file_path": "a/.env"}}
{"id": "own", "rule": ["allow Bash(rm:*)"], "tool": "Bash", "args": {"command": "rm x"}}
{"id": "none", "rule": [], "tool": "note", "args": {}}
{"id": "alone", "tool": "other", "args": {}, "ctx": {"interactive": false}}
"#,
    );
    let ran = run(&["policy", "eval", rows.name(), "--policy", policy.name(), "--json"]);
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let short: Vec<(&str, &str)> =
        answers.iter().map(|row| (row["id"].as_str().unwrap(), row["decision"].as_str().unwrap())).collect();
    assert_eq!(short, [("log", "allow"), ("rm", "ask"), ("env", "deny"), ("none", "allow"), ("alone", "deny")]);
    assert_eq!(ran.code, 1, "a row with its own rules is not evaluated");
    assert!(ran.err.contains("rows.jsonl:4:1: error[eval-row]: the row has its own rules"), "{}", ran.err);
    assert!(ran.err.contains("omit `rule` or --policy"), "{}", ran.err);
    // Without the policy, rows without rules require approval; a policy that does not load fails
    // before any row.
    let ran = run(&["policy", "eval", rows.name()]);
    assert!(ran.code == 0 && ran.out.starts_with("log\task\t"), "{}", ran.out);
    let ran = run(&["policy", "eval", rows.name(), "--policy", "/nowhere/p.toml"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_eq!(run(&["policy", "eval", "-", "--policy", "-"]).code, 2);
    // A broken policy is reported, and everything requires approval.
    let broken = Scratch::new("broken.toml", "allow = [\"Bash(*)\"]\nask = [\"Bash(\"]\n");
    let ran = run(&["policy", "eval", rows.name(), "--policy", broken.name()]);
    assert!(ran.err.contains("broken.toml:2") && ran.out.starts_with("log\task\t"), "{}{}", ran.err, ran.out);
}

#[test]
fn a_policy_is_named_by_an_argument_or_a_flag() {
    let policy = Scratch::new("words.toml", POLICY);
    let file = policy.name();
    let expected = run(&["policy", "explain", file, "Bash", "--command", "git log -1"]);
    assert!(expected.code == 0 && expected.out.starts_with("allow"), "{}{}", expected.out, expected.err);
    for words in [
        &["explain", file, "Bash", "git log -1"][..],
        &["explain", "--policy", file, "Bash", "git log -1"],
        &["explain", "Bash", "git log -1", "--policy", file],
        &["explain", "--policy", file, "Bash", "--command", "git log -1"],
    ] {
        let ran = run(&[&["policy"], words].concat());
        assert_eq!((ran.code, &ran.out), (0, &expected.out), "{words:?}: {}", ran.err);
    }
    for command in ["check", "lint"] {
        let by_word = run(&["policy", command, file]);
        let by_flag = run(&["policy", command, "--policy", file]);
        assert_eq!((by_word.code, &by_word.out, by_word.err), (by_flag.code, &by_flag.out, by_flag.err));
        assert_eq!(run(&["policy", command]).code, 2);
        assert_eq!(run(&["policy", command, file, "--policy", file]).code, 2);
    }
    for (words, code, message) in [
        (&["explain", file][..], 2, "which tool"),
        (&["explain"], 2, "which tool"),
        (&["explain", "--policy", file], 2, "which tool"),
        (&["explain", "--policy", file, "Bash", "ls", "more"], 2, "too many arguments"),
        (&["explain", file, "Bash", "ls", "--args", "{}"], 2, "is given as an argument and with"),
        (&["explain", file, "note", "ls"], 2, "has no shell command argument"),
        (&["explain", "Bash", "git log"], 1, "--policy policy.toml Bash 'git log'"),
    ] {
        let ran = run(&[&["policy"], words].concat());
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{words:?}: {}", ran.err);
        assert!(code == 1 || message.starts_with("has no") || ran.err.contains("--policy policy.toml"), "{}", ran.err);
    }
}
