//! Tests of `tree`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Runs the command with an input: its exit code, its output and its standard error.
pub(crate) fn from_stdin(args: &[&str], input: &str) -> (i32, String, String) {
    let done = toolfold_testing::command(env!("CARGO_BIN_EXE_toolfold"), &std::env::temp_dir(), args, input.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

fn in_locale(args: &[&str], input: &str, locale: &str) -> (i32, String, String) {
    let mut child = Command::new(toolfold_testing::started(env!("CARGO_BIN_EXE_toolfold")))
        .args(args)
        .env_clear()
        .env("LC_ALL", locale)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that rejects its arguments does not read its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// The cost of a list in full, as `report` states it.
pub(crate) fn report_of(tools: &Value) -> u64 {
    let (code, out, err) = from_stdin(&["report", "--tools", "-", "--arms", "full", "--json"], &tools.to_string());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str::<Value>(&out).unwrap()["arms"]["full"]["first_turn_tokens"].as_u64().unwrap()
}

fn tree(args: &[&str], input: &str) -> Value {
    let words: Vec<&str> = ["tree", "--json"].iter().chain(args).copied().collect();
    let (code, out, err) = from_stdin(&words, input);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn nodes(node: &Value) -> Vec<&Value> {
    node["nodes"].as_array().into_iter().flatten().collect()
}

fn tokens(node: &Value) -> u64 {
    node["tokens"].as_u64().unwrap()
}

#[test]
fn categories_and_tools_add_up_to_the_list() {
    for min in ["0", "1%", "3%", "500"] {
        let own = tree(&["--min", min], "");
        let less = own["less"]["tokens"].as_u64().unwrap_or(0);
        let shared = own["shared_overhead"].as_u64().unwrap();
        let sum: u64 = nodes(&own).into_iter().map(tokens).sum();
        assert_eq!(sum + less + shared, tokens(&own), "--min {min}");
        assert_eq!(tokens(&own), 8_226);
        for category in nodes(&own) {
            let sum: u64 = nodes(category).into_iter().map(tokens).sum();
            assert_eq!(sum + category["less"]["tokens"].as_u64().unwrap_or(0), tokens(category), "{min}: {category}");
        }
    }
}

#[test]
fn what_costs_less_is_not_shown_and_the_rest_is_sorted() {
    fn check(node: &Value, min: u64) -> usize {
        let costs: Vec<u64> = nodes(node).into_iter().map(tokens).collect();
        assert!(costs.is_sorted_by(|a, b| a >= b) && costs.iter().all(|own| *own >= min), "{costs:?}");
        costs.len() + nodes(node).into_iter().map(|inner| check(inner, min)).sum::<usize>()
    }
    let all = check(&tree(&["--min", "0"], ""), 0);
    let few = check(&tree(&["--min", "100"], ""), 100);
    let share = tree(&["--min", "2%"], "");
    assert_eq!(share["min_tokens"], 165);
    assert!(check(&share, 165) < few && few < all && all > 400, "{few} of {all}");
}

#[test]
fn lines_are_drawn_as_the_locale_can() {
    let tools = json!([{"name": "a", "description": "Does one thing.", "input_schema": {"type": "object", "properties":
        {"long": {"type": "string", "description": "A long text about what it is, and how it must be written."}}}},
        {"name": "b", "description": "Does it.", "input_schema": {"type": "object", "properties": {}}}])
    .to_string();
    let args = ["tree", "--tools", "-", "--profile", "off", "--min", "15"];
    let (_, boxed, _) = in_locale(&args, &tools, "en_GB.UTF-8");
    let (_, ascii, _) = in_locale(&args, &tools, "C");
    assert!(boxed.contains("├── a") && boxed.contains("│   └── long") && boxed.contains("└── 1 more"), "{boxed}");
    assert!(ascii.contains("|-- a") && ascii.contains("|   `-- long") && ascii.contains("`-- 1 more"), "{ascii}");
    assert!(ascii.lines().skip(1).take(3).all(str::is_ascii), "{ascii}");
}

#[test]
fn an_invalid_threshold_is_a_usage_error() {
    for wrong in ["x", "1.5", "101%", "-1%", "%"] {
        assert_eq!(from_stdin(&["tree", &format!("--min={wrong}")], "").0, 2, "{wrong}");
    }
}
