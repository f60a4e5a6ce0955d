//! The cost of a policy decision. `cargo bench --bench policy`.
//!
//! Limits: under 2 µs without a shell command, under 0.3 ms (median) with one, also with all that
//! an approval of it needs; 15 µs for a plain command under 200 rules; 2 ms at 10,000 characters; 5
//! µs more for a rule over 1,000 earlier calls than for the same call without the rule.
#![allow(missing_docs, reason = "benches document themselves by name")]

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{
    ApprovalStore, Context, History, LinkTable, MemoryStore, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin,
};

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

/// A plain command under 200 rules: a hundred allows, fifty asks and fifty denies.
#[divan::bench(args = ["git log --oneline", "run-fd sub x"])]
fn with_200_rules(bencher: Bencher<'_, '_>, command: &str) {
    // Letters: digits at the end of a name are its version.
    let letter = |number: u32| char::from_digit(10 + number, 36).unwrap_or_default();
    let name = |at: u32| format!("run-{}{}", letter(at / 26), letter(at % 26));
    let list = |numbers: std::ops::Range<u32>| {
        let rules: Vec<String> = numbers.map(|at| format!("'Bash({} sub:*)'", name(at))).collect();
        rules.join(", ")
    };
    let (allow, ask, deny) = (list(101..200), list(50..100), list(0..50));
    let text = format!("allow = ['Bash(git log:*)', {allow}]\nask = [{ask}]\ndeny = [{deny}]\n");
    let policy = Policy::new(vec![PolicyFile::load(&text, "p", PolicyScope::User).into_result().expect("it is sound")]);
    let context = Context::default().with_interactive(true).with_cwd("/work");
    let arguments = json!({ "command": command });
    let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
    bencher.bench_local(|| policy.decide(black_box(&call), black_box(&context), &[]));
}

/// The conditions on earlier calls, and a call without one to compare with.
const CONDITIONS: [&str; 6] = [
    "",
    "over = { count = 5000, within = \"1h\", per = \"tenant\" }",
    "over = { count = 5000, count_distinct = \"to\", within = \"1h\" }",
    "over = { sum = { arg = \"amount\", max = 5000 }, within = \"1h\" }",
    "once = true",
    "unless_after = \"send\"\nmatch_args = [\"amount\"]",
];

/// The decision on a call after 1,000 others: what the store sums up, and the decision.
#[divan::bench(args = CONDITIONS)]
fn after_1000_calls(bencher: Bencher<'_, '_>, condition: &str) {
    let mut text = "[policy]\ndefault = \"allow\"\n".to_owned();
    if !condition.is_empty() {
        text += &format!("[[rule]]\ndecide = \"ask\"\ntool = \"send\"\n{condition}\n");
    }
    let policy = Policy::new(vec![PolicyFile::load(&text, "p", PolicyScope::User).into_result().expect("it is sound")]);
    let (store, origin) = (MemoryStore::default(), ToolOrigin::Native);
    for at in 0..1_000 {
        let arguments = json!({ "to": format!("a{at}@example.com"), "amount": 1 });
        let context = Context::default().with_now_ms(at);
        let call = policy.prepare(PolicyCall::new(&origin, "send", &arguments), &context, None, History::default());
        let mut entry = Entry::new(Kind::Decision, at);
        (entry.decision, entry.call, entry.counted) = (Some("allow".to_owned()), at.to_string(), call.counted());
        entry.counted.iter_mut().for_each(|event| event.seen = None);
        store.record(&entry).expect("it is in memory");
    }
    let context = Context::default().with_now_ms(2_000);
    let arguments = json!({ "to": "a7@example.com", "amount": 1 });
    let call = PolicyCall::new(&origin, "send", &arguments);
    bencher.bench_local(|| {
        let prepared = policy.prepare(black_box(call), black_box(&context), None, History::default());
        let history = store.history(&prepared.series(), None).expect("it is in memory");
        let prepared = prepared.with_history(history);
        (prepared.decide(&[]), prepared.counted())
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
