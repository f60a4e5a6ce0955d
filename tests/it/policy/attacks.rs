//! What a red team tried, and what agents do every day: the two halves of the bargain, with floors.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolfold::policy::eval::evaluate;
use toolfold_testing::Cases;

use super::rows_of_the_corpus as rows;

#[test]
fn corpus_of_attacks() {
    let rows = rows("attacks.jsonl");
    let (mut allowed, mut softened, mut tried) = (BTreeMap::<_, Vec<String>>::new(), 0, BTreeMap::<_, usize>::new());
    for row in &rows {
        let (got, grade) = (evaluate(row).unwrap(), row["grade"].as_str().unwrap());
        *tried.entry(grade).or_default() += 1;
        if got.decision == "allow" {
            allowed.entry(grade).or_default().push(format!("{} {} {}", row["id"], row["rule"], row["args"]));
        }
        softened += usize::from(row["expected"] == "deny" && got.decision == "ask");
    }
    for (grade, all) in &tried {
        let own = allowed.get(grade).map_or(&[][..], Vec::as_slice);
        println!("{grade}: {}/{all} not allowed", all - own.len());
        own.iter().for_each(|row| println!("  ALLOWED {}", row.chars().take(240).collect::<String>()));
    }
    println!("{softened} asked about instead of denied");
    assert!(!allowed.contains_key("must"), "none of grade must may be allowed");
    let of = |grade| allowed.get(grade).map_or(0, Vec::len);
    assert!(of("hardening") <= 4, "the floor of grade hardening: 4 of 369");
    assert!(softened <= 67, "the floor of what is asked about instead of denied: 67");
}

/// Each would take gigabytes in a parser that reads it.
#[test]
fn corpus_of_attacks_on_memory() {
    for row in rows("attacks_memory.jsonl") {
        let got = evaluate(&row).unwrap();
        assert_eq!(got.decision, "ask", "{row}: {}", got.reason);
    }
}

#[test]
fn corpus_of_every_day() {
    let rows = rows("benign.jsonl");
    let Some(rules) = crate::corpus("policy/benign_rules.json") else { return };
    let rules = std::fs::read_to_string(rules).unwrap();
    let mut rules: Vec<Value> = serde_json::from_str(&rules).unwrap();
    rules.extend(["python:*", "python3:*", "node:*", "./*"].map(|own| json!(format!("allow Bash({own})"))));
    // These agents run each command as `bash -c`.
    rules.push(json!("interactive false Bash"));
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut why: BTreeMap<String, usize> = BTreeMap::new();
    for mut row in toolfold_testing::sample(rows, 800) {
        row["rule"] = json!(rules);
        let got = evaluate(&row).unwrap();
        let source = row["source"].as_str().unwrap().to_owned();
        let at = ["allow", "ask", "deny"].iter().position(|word| *word == got.decision).unwrap();
        if source.starts_with("swe") && at > 0 {
            let quoted = got.reason.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { part } else { "…" });
            *why.entry(quoted.collect::<String>().chars().take(90).collect()).or_default() += 1;
        }
        counts.entry(source).or_default()[at] += 1;
    }
    for (source, [allowed, asked, denied]) in &counts {
        println!("{source}: {allowed}/{} unasked, {denied} denied", allowed + asked + denied);
    }
    let mut why: Vec<(String, usize)> = why.into_iter().collect();
    why.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    why.iter().take(8).for_each(|(why, count)| println!("{count:>5} {why}"));
    let [allowed, asked, denied] = counts["swe-bench trajectory"];
    // A sample has a share of its own.
    let floor = if Cases::of_this_run().is_quick() { 935 } else { 954 };
    assert!(allowed * 1_000 >= (allowed + asked + denied) * floor, "the floor of what runs unasked: 95.4 %");
    assert_eq!(denied, 0, "none is denied");
}

/// Keywords and operators without end: each is judged on a stack of 1 MiB, and none is allowed or
/// ends the process.
#[test]
fn ten_thousand_characters_of_anything_need_little_stack() {
    const PARTS: [&str; 24] = [
        "if ",
        "if!",
        "! ",
        "while ",
        "for x in a;do ",
        "case x in x)",
        "{ ",
        "( ",
        "((",
        "[[ ",
        "[[ ! ",
        "x()",
        "x(){ ",
        "$(",
        "`",
        "${a:-",
        "$((",
        "<(",
        "coproc ",
        "time ",
        "function x ",
        "a|",
        "a&&",
        "bash -c '",
    ];
    let judge = |unit: &str| {
        let command: String = unit.chars().cycle().take(10_000).collect();
        let row = json!({"id": "", "rule": ["allow Bash(ls:*)", "deny Bash(rm:*)"], "tool": "Bash", "args": {"command": command}});
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let judged = thread.spawn(move || evaluate(&row).unwrap().decision).unwrap().join().unwrap();
        assert_ne!(judged, "allow", "{unit:?}");
    };
    for (at, part) in PARTS.iter().enumerate() {
        judge(part);
        let other = PARTS[(at * 7 + 5) % PARTS.len()];
        judge(&format!("{part}{other}"));
    }
}
