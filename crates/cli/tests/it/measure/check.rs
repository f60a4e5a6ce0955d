//! Tests of `lock`, `diff` and `check`.

mod action;
mod files;
mod forms;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// An empty subfolder of the test's temporary folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    // Its own configuration ends the search in the folders above.
    std::fs::write(path.join("toolfold.toml"), "").unwrap();
    path
}

pub(super) fn toolfold(folder: &Path, args: &[&str]) -> Output {
    toolfold_testing::command(env!("CARGO_BIN_EXE_toolfold"), folder, args, b"")
}

/// Exit code, standard output, standard error.
pub(crate) fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = toolfold(folder, args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Twelve tools; `read_rows` has `more` words about its `range`.
pub(super) fn tools(more: usize) -> Value {
    let range = format!("The cells to read.{}", " Write them as a range, first cell and last.".repeat(more));
    let mut all = vec![json!({"name": "read_rows", "description": "Reads the rows of a sheet.", "input_schema": {
        "type": "object", "required": ["range"], "properties": {
            "range": {"type": "string", "description": range}, "sheet": {"type": "string"}}}})];
    for at in 0..11 {
        all.push(json!({"name": format!("tool_{at}"), "description": format!("Does the thing of number {at}, and no other. {}",
            "It says so at some length. ".repeat(8)), "input_schema": {"type": "object", "properties": {
                "file": {"type": "string", "description": "the file"}, "n": {"type": "integer"}}}}));
    }
    Value::Array(all)
}

pub(crate) fn write(folder: &Path, file: &str, value: &Value) {
    std::fs::write(folder.join(file), format!("{value:#}\n")).unwrap();
}

pub(super) fn locked(name: &str, flags: &[&str]) -> PathBuf {
    let path = folder(name);
    write(&path, "tools.json", &tools(0));
    let (code, out, err) = run(&path, &[&["lock", "--tools", "tools.json"], flags].concat());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    path
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The steps of a pull request: the lock is committed, a description grows, the check reports
/// where.
#[test]
fn a_pull_request_that_grows_a_tool_by_200_tokens_fails_and_shows_where() {
    let path = locked("pull_request", &[]);
    git(&path, &["init", "-q"]);
    git(&path, &["add", "."]);
    git(&path, &["commit", "-qm", "tools and their lock"]);
    assert_eq!(run(&path, &["check", "--tools", "tools.json"]).0, 0);

    write(&path, "tools.json", &tools(18));
    let (code, out, err) = run(&path, &["check", "--tools", "tools.json", "--json"]);
    assert_eq!(code, 1, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let grown = &report["diff"]["tools"][0];
    let growth = grown["after"].as_u64().unwrap() - grown["before"].as_u64().unwrap();
    assert!((195..=205).contains(&growth), "the test means 200 tokens, not {growth}");
    let finding = report["findings"].as_array().unwrap().iter().find(|own| own["rule"] == "max-tool-growth").unwrap();
    let place = json!({"file": "tools.json", "line": 3});
    let shown = json!({"tool": finding["tool"], "part": finding["part"], "place": finding["place"]});
    assert_eq!(shown, json!({"tool": "read_rows", "part": "/properties/range", "place": place}));
    let text = std::fs::read_to_string(path.join("tools.json")).unwrap();
    assert_eq!(text.lines().nth(2).unwrap().trim(), "\"name\": \"read_rows\",");

    let (code, out, _) = run(&path, &["check", "--tools", "tools.json"]);
    assert!(code == 1 && out.contains("`/properties/range`") && out.contains("toolfold lock"), "{out}");

    // The suggested fix: the lock is written again, and its diff is the line of that tool and the
    // totals.
    assert_eq!(run(&path, &["lock", "--tools", "tools.json"]).0, 0);
    let diff = git(&path, &["diff", "--unified=0", "--", "toolfold.lock"]);
    let lines: Vec<&str> = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
    assert_eq!(lines.iter().filter(|line| line.contains("name = \"read_rows\"")).count(), 1, "{diff}");
    assert_eq!(lines.iter().filter(|line| line.contains("name = \"tool_")).count(), 0, "{diff}");
    assert_eq!(run(&path, &["check", "--tools", "tools.json", "--frozen"]).0, 0);
}

#[test]
fn exit_codes_distinguish_the_causes() {
    let path = locked("codes", &[]);
    let check = |more: &[&str]| run(&path, &[&["check", "--tools", "tools.json"], more].concat());
    for (more, code, said) in [
        (vec![], 0, ""),
        (vec!["--frozen"], 0, ""),
        (vec!["--max-first-turn", "1"], 1, ""),
        (vec!["--max-tool", "1"], 1, ""),
        (vec!["--max-category", "1"], 1, ""),
        (vec!["--max-first-turn", "1000000"], 0, ""),
        (vec!["--max-growth", "much"], 2, "is not a growth"),
        (vec!["--max-tool", "-1"], 2, ""),
        (vec!["--max-growth", "off"], 2, "every budget is off"),
        (vec!["--report", "pdf=x"], 2, "there is no format `pdf`"),
        (vec!["--lock", "none.lock"], 2, "there is no none.lock"),
        (vec!["--lock", "none.lock", "--max-tool", "100000"], 0, ""),
        (
            vec!["--meter", "json/o200k_base"],
            3,
            "created with meter `billed:openai-chat/gpt-4.1`, not `json/o200k_base`",
        ),
        (vec!["--model", "gpt-5.4"], 3, "was created with no model, not `gpt-5.4`"),
        (vec!["--arm", "stable"], 3, "created with arm `auto`, not `stable`"),
        (vec!["--wire", "anthropic"], 3, "created with wire `openai-chat`, not `anthropic`"),
        (
            vec!["--lock", "none.lock", "--max-tool", "9999", "--model", "unheard-of"],
            3,
            "billing of tokens of `unheard-of`",
        ),
    ] {
        let (found, out, err) = check(&more);
        assert_eq!(found, code, "{more:?}\n{out}{err}");
        assert!(err.contains(said), "{more:?}: {err}");
    }
    let (_, _, err) = check(&["--lock", "none.lock"]);
    assert!(err.contains("toolfold lock"), "{err}");
}

#[test]
fn a_lock_of_another_kind_is_never_compared() {
    let path = locked("hostile", &[]);
    let lock = std::fs::read_to_string(path.join("toolfold.lock")).unwrap();
    for (name, text, said) in [
        ("newer", lock.replacen("version = 1", "version = 7", 1), "unsupported version 7"),
        (
            "conflict",
            lock.replacen("tools = [", "<<<<<<< ours\ntools = [\n=======\n>>>>>>> theirs", 1),
            "merge conflict",
        ),
        ("garbage", "\u{1}\u{2}not a lock".to_owned(), "not a lock"),
        ("empty", String::new(), "it has no `version`"),
        ("twice", lock.replace("\"tool_1\"", "\"tool_2\""), "duplicate tool `tool_2`"),
        ("huge", lock.replacen("full = ", "full = 99999999999999999999", 1), "not a lock"),
        ("large", lock.replacen("full = ", "full = 9999999999", 1), "is not a number of tokens"),
        ("arm", lock.replace("auto", "autobahn"), "arm `autobahn` cannot be measured"),
        ("meter", lock.replace("gpt-4.1", "gpt 4.1"), "names no model"),
    ] {
        std::fs::write(path.join("other.lock"), text).unwrap();
        for command in ["check", "diff"] {
            let (code, out, err) = run(&path, &[command, "--tools", "tools.json", "--lock", "other.lock"]);
            assert_eq!((code, out.as_str()), (3, ""), "{command} {name}: {err}");
            assert!(err.contains(said) && !err.contains("panicked"), "{command} {name}: {err}");
        }
    }
}

#[test]
fn flags_override_budgets_of_the_configuration() {
    let path = locked("configured", &[]);
    std::fs::write(
        path.join("toolfold.toml"),
        "[tools]\nfile = 'tools.json'\n[check]\nmax_tool = 10\nmax_growth = '1%'\n",
    )
    .unwrap();
    let (code, out, err) = run(&path, &["check"]);
    assert!(code == 1 && out.contains("max-tool"), "{out}{err}");
    assert_eq!(run(&path, &["check", "--max-tool", "10000"]).0, 0);
    assert_eq!(run(&path, &["check", "--max-tool", "off"]).0, 0);
    std::fs::write(path.join("toolfold.toml"), "[check]\nmax_tool = 'ten'\n").unwrap();
    assert_eq!(run(&path, &["check", "--tools", "tools.json"]).0, 1, "a bad file");
    std::fs::write(path.join("toolfold.toml"), "[check]\nlock = '/etc/hosts'\n").unwrap();
    let (code, _, err) = run(&path, &["lock", "--tools", "tools.json"]);
    assert!(code == 0 && err.contains("a project's lock must be in its folder"), "{err}");
}

#[test]
fn new_tools_are_within_budget_unless_they_may_not_be() {
    let path = locked("new", &[]);
    let mut more = tools(0);
    more.as_array_mut().unwrap().push(json!({"name": "zip", "input_schema": {"type": "object"}}));
    write(&path, "tools.json", &more);
    assert_eq!(run(&path, &["check", "--tools", "tools.json"]).0, 0);
    let (code, out, _) = run(&path, &["check", "--tools", "tools.json", "--no-new-tools"]);
    assert!(code == 1 && out.contains("tool `zip` is new"), "{out}");
    let (code, out, _) = run(&path, &["diff", "--tools", "tools.json", "--exit-code"]);
    assert!(code == 1 && out.contains("1 added"), "{out}");
}

#[test]
fn a_diff_against_another_list_names_what_differs() {
    let path = locked("against", &[]);
    write(&path, "new.json", &tools(5));
    let (code, out, err) = run(&path, &["diff", "--tools", "new.json", "--against", "tools.json", "--json"]);
    assert_eq!(code, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let changed = &answer["diff"]["tools"][0];
    assert_eq!(changed["pointers"], json!(["/parameters/properties/range/description"]));
    assert_eq!(changed["parts"][0]["part"], "/properties/range");
    assert_eq!(answer["diff"]["unchanged"], 11);
    let (code, out, _) = run(&path, &["diff", "--tools", "new.json", "--against", "tools.json", "--markdown"]);
    assert!(code == 0 && out.contains("| `read_rows` | changed |"), "{out}");
}

#[test]
fn totals_are_those_of_the_report() {
    let path = locked("totals", &["--arms", "stable,lean", "--arm", "signature"]);
    let lock = std::fs::read_to_string(path.join("toolfold.lock")).unwrap();
    let arms = "full,stable,lean,signature";
    let (code, out, err) = run(&path, &["report", "--tools", "tools.json", "--arms", arms, "--json"]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    for arm in arms.split(',') {
        let tokens = &report["arms"][arm]["first_turn_tokens"];
        assert!(lock.contains(&format!("\"{arm}\" = {{ tokens = {tokens} }}")), "{arm} {tokens}\n{lock}");
    }
    for tool in report["per_tool"].as_array().unwrap() {
        let [name, full, signature] = ["name", "full", "signature"].map(|key| &tool[key]);
        assert!(lock.contains(&format!("name = {name}, full = {full}, shown = {signature},")), "{tool}\n{lock}");
    }
}
