//! Every output of `--json` fits the schema that `--schema` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use clap::Command;
use jsonschema::Validator;
use serde_json::{Value, json};
use toolfold_cli::{command, derived_schemas, published_commands};

use crate::commands::{Ran, key_of, run, run_with};
use crate::store::State;

static VALIDATORS: LazyLock<Mutex<BTreeMap<&str, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// The schema with every object closed, so that a member that it does not describe is an error.
fn closed(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(closed),
        Value::Object(members) => {
            members.values_mut().for_each(closed);
            if members.get("properties").is_some_and(Value::is_object) && !members.contains_key("additionalProperties")
            {
                members.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        _ => {}
    }
}

fn validator(command: &'static str) -> Arc<Validator> {
    let mut known = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let made = known.entry(command).or_insert_with(|| {
        let args: Vec<&str> = command.split(' ').chain(["--schema"]).collect();
        let printed = run(&args);
        assert_eq!(printed.code, 0, "{command}: {}", printed.err);
        let mut schema: Value = serde_json::from_str(&printed.out).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{command}");
        jsonschema::meta::validate(&schema).unwrap();
        closed(&mut schema);
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    });
    Arc::clone(made)
}

/// Validates what a command with `--json` wrote. Returns the command.
pub(crate) fn check_output(args: &[&str], out: &str) -> Option<&'static str> {
    let is_of = |command: &&str| command.split(' ').enumerate().all(|(at, word)| args.get(at) == Some(&word));
    if !args.contains(&"--json") || out.is_empty() {
        return None;
    }
    let of = published_commands().filter(|(command, _)| is_of(command)).max_by_key(|(command, _)| command.len());
    let (command, lines) = of?;
    let validator = validator(command);
    for text in if lines { out.lines().collect() } else { vec![out] } {
        let value = serde_json::from_str(text).unwrap_or_else(|why| panic!("{args:?}: {why}: {text}"));
        if let Some(why) = validator.iter_errors(&value).next() {
            panic!("{args:?}: at {}: {why} in {text}", why.instance_path());
        }
    }
    Some(command)
}

/// The commands whose output needs more than a list: a model, a browser, a server that is logged in
/// to, a sandbox. Their own tests validate it.
const ELSEWHERE: [&str; 5] = ["gateway login", "gateway logout", "probe", "session", "skills run"];

#[test]
fn every_json_fits_its_schema() {
    let mut seen = BTreeSet::from(ELSEWHERE);
    let mut check = |args: &[&str], input: &str| {
        let Ran { out, err, .. } = run_with(args, input.as_bytes());
        let command = check_output(args, &out);
        seen.insert(command.unwrap_or_else(|| panic!("{args:?} writes no JSON: {err}")));
    };
    let folder = std::env::temp_dir().join(format!("toolfold-schemas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (lock, rows) = (file("toolfold.lock"), file("rows.jsonl"));
    // Measuring.
    check(&["report", "--json"], "");
    check(&["report", "--json", "--model", "claude-sonnet-5.5"], "");
    check(&["report", "--json", "--model", "gemini-2.5-flash", "--skills", "skillpacks/excel"], "");
    check(&["report", "--json", "--arms", "full,lean", "--meter", "json/cl100k_base"], "");
    check(&["tree", "--json", "--min", "0"], "");
    check(&["why", "format_cells", "--json"], "");
    check(&["lint", "--json"], "");
    check(&["sim", "--json", "--model", "gpt-5.4"], "");
    check(&["suggest", "--json"], "");
    check(&["suggest", "-", "--json"], r#"{"session":"a","tool":"format_cells","arguments":{"file_path":"a"}}"#);
    assert_eq!(run(&["lock", "--out", &lock]).code, 0);
    check(&["diff", "--json", "--lock", &lock], "");
    check(&["check", "--json", "--lock", &lock, "--max-tool", "10"], "");
    check(&["count", "--json", "-"], r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]} {"a":1}"#);
    // Presenting.
    check(&["expand", "format", "nowhere", "--json"], "");
    check(&["search", "write file", "--json"], "");
    check(&["search", "--queries", "-", "--json"], r#"{"query":"chart","tools":["create_chart"]}"#);
    check(&["profile", "check", "excel", "--json"], "");
    check(&["profile", "check", "-", "--json"], "core = 1");
    check(&["config", "--json"], "");
    // Policies and skills.
    check(&["policy", "check", "excel", "--json"], "");
    check(&["policy", "check", "-", "--json"], "version = 'x'");
    check(&["policy", "lint", "excel", "--json"], "");
    check(&["policy", "explain", "excel", "run_shell", "git log; rm -rf x | tee a > b", "--json"], "");
    check(&["policy", "explain", "excel", "write_cells", "--args", r#"{"file_path":"a.xlsx"}"#, "--json"], "");
    check(&["policy", "learn", "-", "--policy", "excel", "--tool", "run_shell", "--json"], "tsc\n$X\nls\n");
    check(&["policy", "diff", "-", "excel", "--json"], "deny = [\"Bash(ls:*)\"]");
    check(
        &["policy", "eval", "-", "--json"],
        r#"{"id":"1","rule":["allow Bash(ls:*)"],"tool":"Bash","args":{"command":"ls"}}"#,
    );
    for command in ["list", "doctor", "lint"] {
        check(&["skills", command, "--root", "skillpacks/excel", "--json"], "");
    }
    check(&["skills", "validate", "skillpacks/excel/format-basic", "crates", "--json"], "");
    check(&["skills", "activate", "format-basic", "--root", "skillpacks/excel", "--json"], "");
    check(&["skills", "instructions", "--json"], "");
    // Serving and evidence.
    check(&["gateway", "doctor", "--json", "--", "/nonexistent/server"], "");
    check(&["pins", "list", "--json"], "");
    let log = file("events.jsonl");
    assert_eq!(run_with(&["session", "--log", &log], b"{\"tools\":true}\n").code, 0);
    check(&["log", &log, "--json"], "");
    check(&["ab", "report", &log, "--json"], "");
    let tasks = file("tasks.jsonl");
    let truth = json!({"name": "list_sheets", "arguments": {"file_path": "a.xlsx"}});
    let task = json!({"id": "t", "turns": ["List the sheets."], "ground_truth": [[truth]]});
    std::fs::write(&tasks, task.to_string()).unwrap();
    check(&["ab", "--tasks", &tasks, "--arms", "full,lean", "--out", &rows, "--json"], "");
    check(&["ab", "report", &rows, "--json"], "");
    let transcripts = file("transcripts");
    assert_eq!(run(&["ab", "--tasks", &tasks, "--arms", "full", "--transcripts", &transcripts]).code, 0);
    check(&["ab", "show", "t", "full", "--transcripts", &transcripts, "--json"], "");
    std::fs::remove_dir_all(&folder).ok();
    check_stores(&mut check);
    let all: BTreeSet<&str> = published_commands().map(|(command, _)| command).collect();
    assert_eq!(seen, all);
}

/// The commands that read a store with pending approvals.
fn check_stores(check: &mut impl FnMut(&[&str], &str)) {
    let state = State::new("schemas");
    let store = state.store();
    let store = store.to_str().unwrap();
    let key = key_of(store);
    let (of, by) = (["--json", "--store", store], ["--key-file", key.as_str()]);
    check(&[&["approvals", "init"][..], &by, &of].concat(), "");
    check(&[&["approvals", "list"][..], &of].concat(), "");
    check(&[&["approvals", "why", "ap-1"][..], &of].concat(), "");
    check(&[&["approvals", "approve", "ap-1", "--for", "1h"][..], &by, &of].concat(), "");
    check(&[&["approvals", "reject", "ap-2", "no"][..], &by, &of].concat(), "");
    check(&[&["approvals", "purge"][..], &of].concat(), "");
    check(&[&["grants", "list"][..], &of].concat(), "");
    check(&[&["grants", "revoke", "gr-1"][..], &of].concat(), "");
    check(&[&["audit", "tail"][..], &of].concat(), "");
    check(&[&["audit", "verify"][..], &of].concat(), "");
    check(&[&["audit", "checkpoint"][..], &of].concat(), "");
    check(&[&["undo", "--list"][..], &of].concat(), "");
}

/// The lists of the corpora, in the arms that are quick to count.
#[test]
fn lists_of_the_corpora_fit_the_schemas() {
    for name in toolfold_testing::sample(["devops.json", "gaia.json", "auto_flip.json", "refund.json"], 2) {
        let Some(list) = crate::corpus(&format!("cases/measure/{name}")) else { continue };
        let list = list.to_str().unwrap();
        let models = [&[][..], &["--model", "claude-sonnet-5.5"], &["--wire", "mcp"], &["--meter", "json/cl100k_base"]];
        for more in models {
            let args = [&["report", "--json", "--arms", "full,stable,auto", "--tools", list], more].concat();
            assert_eq!(check_output(&args, &run(&args).out), Some("report"), "{args:?}");
        }
        for command in ["lint", "tree", "suggest"] {
            let args = [command, "--json", "--tools", list];
            assert_eq!(check_output(&args, &run(&args).out), Some(command), "{args:?}");
        }
    }
}

/// `TOOLFOLD_PACK=1 cargo test -p toolfold-cli --test it packed` writes what the command prints.
#[test]
fn packed_schemas_are_those_of_the_types() {
    let text = serde_json::to_vec(&derived_schemas()).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/published.deflate.bin");
    toolfold_testing::check_packed(path, &text, "cargo test -p toolfold-cli --test it packed");
}

/// A text that is larger than the limit of unpacking would print none.
#[test]
fn a_printed_schema_is_the_derived_one() {
    let printed: Value = serde_json::from_str(&run(&["session", "--schema"]).out).unwrap();
    assert_eq!(printed, derived_schemas()["session"]);
}

#[test]
fn every_command_with_json_has_a_schema() {
    fn add(path: &str, command: &Command, with_json: &mut BTreeSet<String>) {
        if command.get_arguments().any(|arg| arg.get_long() == Some("json")) {
            assert!(with_json.insert(path.to_owned()));
        }
        for inner in command.get_subcommands() {
            add(format!("{path} {}", inner.get_name()).trim_start(), inner, with_json);
        }
    }
    let mut with_json = BTreeSet::from(["session".to_owned()]);
    add("", &command(), &mut with_json);
    let listed: Vec<String> = published_commands().map(|(command, _)| command.to_owned()).collect();
    assert_eq!(BTreeSet::from_iter(listed.iter().cloned()), with_json);
    assert_eq!(listed.len(), with_json.len(), "each command is listed once");
}
