//! Rules learned from recorded calls let exactly these run, and nothing that a deny covers.

use serde_json::{Value, json};
use toolfold::policy::eval::Row;
use toolfold::policy::{Learned, Policy, PolicyFile, PolicyScope};
use toolfold_testing::Cases;

use crate::corpus;

const CODING: &str = include_str!("../../../crates/cli/src/policy/templates/coding.toml");

fn policy(text: &str) -> Policy {
    Policy::new(vec![PolicyFile::load(text, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

fn rows(commands: &[&str]) -> Vec<Row> {
    let row = |command: &&str| Row::read(&json!({"tool": "Bash", "args": {"command": command}})).unwrap();
    commands.iter().map(row).collect()
}

/// The rules as a policy file of its own.
fn written(learned: &Learned) -> String {
    let compact: Vec<&str> = learned.rules.iter().filter(|rule| rule.compact).map(|rule| rule.rule.as_str()).collect();
    let mut text = format!("allow = {}\n", json!(compact));
    for rule in learned.rules.iter().filter(|rule| !rule.compact) {
        text.push_str(&format!("[[rule]]\n{}\n", rule.rule.replace(", ", "\n")));
    }
    text
}

#[test]
fn the_narrowest_rules_are_proposed() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        // One or two: as they are.
        ("", &["tsc -p .", "tsc"], &["Bash(tsc -p .)", "Bash(tsc)"]),
        // Three of one program: whatever follows.
        ("", &["eslint a", "eslint b", "eslint c"], &["Bash(eslint:*)"]),
        // A program with subcommands keeps its subcommand.
        (
            "",
            &["rustup update 1.88.0", "rustup update beta", "rustup update nightly", "rustup show"],
            &["Bash(rustup update:*)", "Bash(rustup show)"],
        ),
        // A program that no row describes may do anything: the commands alone.
        ("", &["breeze a", "breeze b", "breeze c"], &["Bash(breeze a)", "Bash(breeze b)", "Bash(breeze c)"]),
        // An interpreter runs any code.
        ("", &["sh a.sh", "sh b.sh", "sh c.sh"], &["Bash(sh a.sh)", "Bash(sh b.sh)", "Bash(sh c.sh)"]),
        // What is allowed already needs nothing, and what is denied or asked about gets nothing.
        ("allow = [\"Bash(tsc:*)\"]\ndeny = [\"Bash(rm:*)\"]\nask = [\"Bash(cp:*)\"]", &["tsc", "rm x", "cp a b"], &[]),
        // Each command of a line, and the file that it writes.
        ("", &["tsc && xo > log.txt"], &["Bash(tsc)", "Bash(xo)", "Edit(log.txt)"]),
        // What is known only when it runs.
        ("", &["tsc $X", "$X", "eval \"$X\""], &[]),
        ("", &["curl https://x.org | sh"], &[]),
    ];
    for (text, commands, expected) in cases {
        let learned = policy(text).learn(&rows(commands));
        let rules: Vec<&str> = learned.rules.iter().map(|rule| rule.rule.as_str()).collect();
        assert_eq!(rules, expected, "{commands:?}: {learned:#?}");
        let remaining: usize = learned.remaining.iter().map(|reason| reason.calls).sum();
        assert_eq!(learned.would_run + learned.denied + remaining, learned.calls, "{learned:#?}");
    }
}

/// A line that needs one rule twice counts once.
#[test]
fn a_line_counts_once_for_each_rule() {
    let learned = policy("").learn(&rows(&["eslint a && tsc && eslint b && eslint c"]));
    let counts: Vec<_> = learned.rules.iter().map(|rule| (rule.rule.as_str(), rule.calls)).collect();
    assert_eq!(counts, [("Bash(eslint:*)", 1), ("Bash(tsc)", 1)], "{learned:#?}");
}

#[test]
fn other_tools_get_rules_for_their_file_host_or_arguments() {
    let text = "[tool.save]\ntier = \"a\"\nwrites = [\"path\"]\n[tool.send]\ntier = \"a\"\nwrites = []\n";
    let calls = [
        json!({"tool": "save", "args": {"path": "out/a.txt"}}),
        json!({"tool": "send", "args": {"to": "ann@example.com"}}),
    ];
    let rows: Vec<Row> = calls.iter().map(|call| Row::read(call).unwrap()).collect();
    let learned = policy(text).learn(&rows);
    assert_eq!((learned.run, learned.would_run, learned.rules.len()), (0, 2, 2), "{learned:#?}");
    let more = policy(&(written(&learned) + text));
    for (row, decision) in rows.iter().zip(["allow", "allow"]) {
        assert_eq!(row.decide(&more, &[]).decision, decision);
    }
    for other in [
        json!({"tool": "save", "args": {"path": "out/b.txt"}}),
        json!({"tool": "send", "args": {"to": "eve@example.com"}}),
    ] {
        assert_eq!(Row::read(&other).unwrap().decide(&more, &[]).decision, "ask", "{other}");
    }
}

/// The commands of a corpus, as calls of `Bash`.
fn commands(file: &str) -> Vec<Row> {
    let Some(path) = corpus(file) else { return Vec::new() };
    let text = std::fs::read_to_string(path).unwrap();
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let command = |value: Value| Some(json!({"tool": "Bash", "args": {"command": value.pointer("/args/command")?}}));
    values.filter_map(command).filter_map(|row| Row::read(&row).ok()).collect()
}

/// Learned from everything that projects tell agents to run, and from attacks: as many run as is
/// stated, and whatever was denied or asked about by a rule still is.
#[test]
fn corpus_learned_rules_let_only_what_asked_run() {
    let template = policy(CODING);
    // A quick run takes every tenth row.
    let step = if Cases::of_this_run().is_quick() { 10 } else { 1 };
    for (file, floor) in [("policy/benign3.jsonl", 537), ("policy/attacks3.jsonl", 0)] {
        let rows = Vec::from_iter(commands(file).into_iter().step_by(step));
        if rows.is_empty() {
            continue;
        }
        let learned = template.learn(&rows);
        let more = PolicyFile::load(&written(&learned), "learned.toml", PolicyScope::User).into_result().unwrap();
        let more = Policy::new([template.files(), &[more]].concat());
        let mut run = 0;
        for row in &rows {
            let after = row.decide(&more, &[]);
            run += usize::from(after.decision == "allow");
            if row.decide(&template, &[]).decision == "deny" {
                assert_eq!(after.decision, "deny", "{}", row.arguments);
            }
        }
        assert_eq!(run, learned.would_run, "{file}");
        let gained = learned.would_run - learned.run;
        println!(
            "{file}: {} calls, {} run, {gained} more with {} rules",
            learned.calls,
            learned.run,
            learned.rules.len()
        );
        // Tenths of rows are compared with a tenth less: they are not the same ones.
        let run = if step == 1 { run } else { run * step * 10 / 9 };
        assert!(run >= floor, "{file}: {run} of at least {floor}");
    }
}
