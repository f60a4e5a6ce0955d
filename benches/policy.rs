//! The cost of a policy decision. `cargo bench --bench policy`.
//!
//! Limits: under 2 µs without a shell command, under 0.3 ms (median) with one, also with all that
//! an approval of it needs, under 10 ms at 10,000 characters.
#![allow(missing_docs, reason = "benches document themselves by name")]

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use toolfold::policy::{Context, History, LinkTable, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

const POLICY: &str = include_str!("../profiles/excel/policy.toml");

fn main() {
    divan::main();
}

fn decide(bencher: Bencher<'_, '_>, tool: &str, arguments: &Value) {
    let file =
        PolicyFile::load(POLICY, "policy.toml", PolicyScope::User).into_result().expect("our own policy is sound");
    let policy = Policy::new(vec![file]);
    let context = Context::default().with_interactive(true).with_cwd("/work/sheets");
    let call = PolicyCall::new(&ToolOrigin::Native, tool, arguments);
    bencher.bench_local(|| policy.decide(black_box(&call), black_box(&context), &[]));
}

#[divan::bench]
fn without_paths(bencher: Bencher<'_, '_>) {
    decide(bencher, "task_update", &json!({"task_index": 1, "status": "completed"}));
}

#[divan::bench]
fn with_a_path(bencher: Bencher<'_, '_>) {
    decide(bencher, "write_cells", &json!({"file_path": "reports/2026/q1.xlsx", "cell": "A1", "value": 1}));
}

#[divan::bench(args = [
    "git log --oneline",
    "cd src && grep -rn TODO . | sort -u | head -20 > ../todo.txt",
    "for f in *.csv; do wc -l \"$f\"; done; if test -f x; then cat x; else echo \"$(date) none\"; fi",
    "timeout 5 bash -c 'git status && find . -name \"*.rs\" -exec grep -l foo {} +' 2>&1 | tee out.log",
])]
fn with_a_shell_command(bencher: Bencher<'_, '_>, command: &str) {
    decide(bencher, "run_shell", &json!({ "command": command }));
}

/// What is asked about a call that a person approves: when it is judged, and when its approval is
/// used.
#[divan::bench]
fn with_approval(bencher: Bencher<'_, '_>) {
    let rules = "deny = ['Read(**/.env)']\n[tool.run_shell]\ncommand = 'command'\nlike = 'Bash'\nundo = 'snapshot'\n";
    let policy = Policy::new(vec![PolicyFile::load(rules, "p", PolicyScope::User).into_result().expect("it is sound")]);
    let context = Context::default().with_interactive(true).with_cwd("/work");
    let arguments = json!({ "command": "cd src && cp -r a/b l/c && rm -rf 'build dir' && touch a b > log.txt" });
    let call = PolicyCall::new(&ToolOrigin::Native, "run_shell", &arguments);
    let disk = LinkTable::new([("/work/src/l".to_owned(), "/elsewhere".to_owned())]);
    bencher.bench_local(|| {
        let asked = policy.prepare(black_box(call), black_box(&context), Some(&disk), History::default());
        let verdict = asked.decide(&[]);
        let shown = (asked.displayed(&verdict), asked.undo());
        let used = policy.prepare(black_box(call), black_box(&context), Some(&disk), History::default());
        (shown, used.decide(&[]), used.undo())
    });
}

#[divan::bench(args = ["words", "commands", "substitutions", "quotes", "redirects"])]
fn at_the_limit(bencher: Bencher<'_, '_>, kind: &str) {
    let unit = match kind {
        "words" => "ls a ",
        "commands" => "ls;",
        "substitutions" => "a $(ls) ",
        "quotes" => "'a' \"b\" ",
        _ => "ls >a;",
    };
    let command = format!("echo {}", unit.repeat(9_990 / unit.len()));
    decide(bencher, "run_shell", &json!({ "command": command }));
}
