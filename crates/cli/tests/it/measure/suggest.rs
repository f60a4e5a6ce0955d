//! `toolfold suggest`: from a log to a profile file that loads cleanly.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("suggest-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        toolfold_testing::command(env!("CARGO_BIN_EXE_toolfold"), &self.0, args, b"")
    }
}

fn command(folder: &PathBuf, args: &[&str]) -> Command {
    let mut command = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")));
    command.args(args).current_dir(folder).env_clear().env("XDG_CONFIG_HOME", folder).env("NO_COLOR", "1");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The built-in tools, used in `sessions` sessions: every one reads and writes cells, every third
/// one formats.
fn log(sessions: usize) -> String {
    let call = |session: usize, tool: &str, arguments: &Value| {
        json!({"conversation": format!("s{session}"), "tool": tool, "arguments": arguments}).to_string() + "\n"
    };
    let lines = (0..sessions).map(|session| {
        let read = call(session, "read_excel", &json!({"file_path": "a.xlsx", "sheet_name": "S"}));
        let list = call(session, "list_sheets", &json!({"file_path": "a.xlsx"}));
        let format = if session % 3 == 0 {
            call(session, "format_cells", &json!({"file_path": "a.xlsx"}))
        } else {
            String::new()
        };
        // One tool, often, in one session.
        let often = if session == 0 { call(0, "write_cells", &json!({})).repeat(60) } else { String::new() };
        list + &read + &read + &format + &often
    });
    lines.collect()
}

#[test]
fn a_log_gives_a_profile_that_loads_cleanly() {
    let folder = Folder::new("log");
    folder.write("calls.jsonl", &log(30));
    let output = folder.run(&["suggest", "calls.jsonl", "--arm", "stable", "--out", "p.toml", "--explain"]);
    let message = said(&output);
    assert!(output.status.success() && output.stdout.is_empty(), "{message}");
    let check = folder.run(&["profile", "check", "p.toml", "--tools", &excel()]);
    let checked = String::from_utf8(check.stdout).unwrap();
    assert!(
        check.status.success() && checked.starts_with("ok suggested: ") && checked.lines().count() == 1,
        "{checked}"
    );
    let profile = folder.read("p.toml");
    let core = &profile[profile.find("core = [").unwrap()..profile.find("unlisted").unwrap()];
    assert!(core.contains("\"read_excel\"") && core.contains("\"list_sheets\""), "{core}");
    assert!(!core.contains("write_cells"), "60 calls in one session are one session: {core}");
    for part in
        ["take it", "for arm stable: asked for", "everything full", "Core", "were never used", "Coverage", "Categories"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    // A repetition gives the same bytes.
    let again = folder.run(&["suggest", "calls.jsonl", "--arm", "stable"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), profile);
    let refused = folder.run(&["suggest", "calls.jsonl", "--out", "p.toml"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("`p.toml` already exists"), "{}", said(&refused));
    assert!(folder.run(&["suggest", "calls.jsonl", "--arm", "stable", "--out", "p.toml", "--force"]).status.success());
}

fn excel() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/excel/tools.json").to_owned()
}

#[test]
fn without_usage_it_reports_that() {
    let folder = Folder::new("none");
    let output = folder.run(&["suggest", "--profile", "derived"]);
    let (message, profile) = (said(&output), String::from_utf8(output.stdout.clone()).unwrap());
    assert!(output.status.success(), "{message}");
    assert!(message.starts_with("no usage was given: core is empty because usage is unknown; "), "{message}");
    assert!(profile.contains("\ncore = []\n") && profile.contains("# Core is empty because there is no usage data."));
}

#[test]
fn json_has_the_documented_shape() {
    let folder = Folder::new("json");
    folder.write("calls.jsonl", &(log(12) + "{\"conversation\": \"x\", \"tool\": \"raed_excel\"}\n"));
    let output = folder.run(&["suggest", "calls.jsonl", "--arm", "lean", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["schema"], "toolfold.suggest/1");
    assert_eq!((&answer["sessions"], &answer["unknown_calls"]), (&json!(13), &json!(1)));
    assert_eq!(answer["unknown"][0], json!({"name": "raed_excel", "calls": 1, "near": "read_excel"}));
    assert!(answer["profile"].as_str().unwrap().contains("name = \"suggested\""));
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    let expected = [
        "schema",
        "arm_reason",
        "unknown_calls",
        "unknown",
        "bad_lines",
        "profile",
        "arm",
        "meter",
        "sessions",
        "calls",
        "core",
        "categories",
        "coverage",
        "unused",
        "unused_tokens",
        "hidden_parameters",
        "costs",
        "held_out",
    ];
    assert_eq!(keys, expected);
    for cost in ["today", "full", "no_core", "suggested"] {
        assert!(answer["costs"][cost]["milli_tokens"].as_u64().unwrap() > 0, "{cost}");
    }
    assert!(said(&output).contains("`raed_excel` was called once and is not one of the 49 tools"), "{}", said(&output));
}

/// Each with the exit code and the message.
#[test]
fn hostile_files_are_reported_by_line() {
    let good = "{\"conversation\": \"a\", \"tool\": \"read_excel\"}\n";
    let document = json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "read_excel", "arguments": "{}"}}]}]});
    let document = format!("{document:#}");
    let cases: Vec<(&str, Vec<u8>, i32, &str)> = vec![
        (
            "torn",
            format!("{good}{{\"conversation\": \"a\", \"to").into_bytes(),
            0,
            "calls.jsonl:2:1: warning[torn-log]: the last line is cut off",
        ),
        (
            "not json",
            format!("{good}nonsense\n{good}").into_bytes(),
            0,
            "calls.jsonl:2:1: error[bad-line]: the line is not JSON",
        ),
        (
            "open in the middle",
            format!("{good}{{\"a\": \n{good}").into_bytes(),
            0,
            "calls.jsonl:2:1: error[bad-line]: the line is not JSON: it ends in the middle",
        ),
        (
            "not utf-8",
            b"{\"tool\": \"read_excel\"}\n\xff\xfe\n".to_vec(),
            0,
            "calls.jsonl:2:1: error[bad-line]: the line is not UTF-8",
        ),
        ("deep", [b"[".repeat(100_000), b"\n".to_vec(), good.as_bytes().to_vec()].concat(), 0, "nested too deeply"),
        ("a document", document.as_bytes().to_vec(), 0, "from 1 call in 1 session"),
        ("a document cut off", document.as_bytes()[..document.len() - 9].to_vec(), 1, "the input contains no call"),
        ("empty", vec![], 1, "the input contains no call of these tools"),
        ("blank", b"\n\n \n".to_vec(), 1, "the input contains no call"),
        ("other tools", b"{\"tool\": \"launch_rocket\", \"session\": 1}\n".to_vec(), 1, "check --tools"),
        ("nothing", b"{\"level\": \"info\"}\n[]\n3\n".to_vec(), 1, "3 values contain no calls"),
    ];
    let folder = Folder::new("hostile");
    for (name, bytes, code, expected) in cases {
        std::fs::write(folder.0.join("calls.jsonl"), bytes).unwrap();
        let output = folder.run(&["suggest", "calls.jsonl", "--arm", "stable"]);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {message}");
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn usage_errors_have_help() {
    let folder = Folder::new("usage");
    folder.write("calls.jsonl", &log(3));
    for (args, code, expected) in [
        (["calls.jsonl", "--arm", "full"].as_slice(), 2, "arm full does not use a profile"),
        (&["calls.jsonl", "--arm", "stabel"], 2, "stabel"),
        (&["calls.jsonl", "--profile", "off"], 2, "the profile is off"),
        (&["-", "-"], 2, "standard input can be read only once"),
        (&["nowhere.jsonl"], 1, "nowhere.jsonl: error[unreadable]"),
        (&["."], 1, "is a folder, not a file"),
        (&["calls.jsonl", "--requests", "0"], 2, "--requests"),
    ] {
        let output = folder.run(&[&["suggest"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{args:?}: {}", said(&output));
    }
}

#[test]
fn a_limit_of_core_applies_and_standard_input_is_read() {
    let folder = Folder::new("bound");
    let mut child = command(
        &folder.0,
        &["suggest", "-", "--arm", "stable", "--max-core-tokens", "1", "--model", "claude-sonnet-4.6"],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), log(30).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = said(&output);
    assert!(output.status.success(), "{message}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("\ncore = []\n"));
    assert!(message.contains("tokens by estimate:anthropic/claude-sonnet-4.6"), "{message}");
}
