//! The corpus of (rules, call) pairs from public test-suites, scored by profile, with floors.

use std::collections::BTreeMap;

use super::dialect::{evaluate, is_no_rule_of_the_engine};
use super::rows_of_the_corpus;

#[derive(Default)]
struct Score {
    /// must rows, expected ask or deny: allowed all the same.
    allowed: Vec<String>,
    /// must rows, expected ask or deny.
    guarded: usize,
    /// must rows, expected allow: not allowed.
    refused: Vec<String>,
    permitted: usize,
    /// deny rows: asked about instead.
    not_denied: Vec<String>,
    denied: usize,
    disputed: usize,
    disputed_as_expected: usize,
}

#[test]
fn corpus() {
    let rows = rows_of_the_corpus("calls.jsonl");
    if rows.is_empty() {
        return;
    }
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for row in &rows {
        let start = std::time::Instant::now();
        let got = evaluate(row).unwrap();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let id = row["id"].as_str().unwrap_or_default();
        // Figures for a release build; a busy machine fails no test.
        if let Some(most) = row["ctx"]["max_ms"].as_f64() {
            println!("{id}: {ms:.1} ms, in a release build at most {most}");
        }
        let (expected, profile) = (row["expected"].as_str().unwrap(), row["profile"].as_str().unwrap().to_owned());
        let show = format!("{id} {} -> {} {}", row["args"], got.decision, got.reason);
        for score in [&profile, "all"].map(str::to_owned) {
            let score = scores.entry(score).or_default();
            if row["grade"] != "must" {
                score.disputed += 1;
                score.disputed_as_expected += usize::from(got.decision == expected);
                continue;
            }
            match expected {
                "allow" => {
                    score.permitted += 1;
                    if got.decision != "allow" {
                        score.refused.push(show.clone());
                    }
                }
                _ => {
                    score.guarded += 1;
                    if got.decision == "allow" {
                        score.allowed.push(show.clone());
                    }
                }
            }
            if expected == "deny" {
                score.denied += 1;
                if got.decision != "deny" {
                    score.not_denied.push(show.clone());
                }
            }
        }
    }
    println!(
        "{:<14}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}",
        "profile", "guarded", "allowed", "to allow", "refused", "to deny", "not den.", "disputed"
    );
    for (profile, s) in &scores {
        let disputed = format!("{}/{}", s.disputed_as_expected, s.disputed);
        println!(
            "{profile:<14}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{disputed:>10}",
            s.guarded,
            s.allowed.len(),
            s.permitted,
            s.refused.len(),
            s.denied,
            s.not_denied.len()
        );
    }
    let foreign = rows.iter().filter(|row| is_no_rule_of_the_engine(row)).count();
    println!("{foreign} rows have a line that is no rule of the engine: it allows nothing");
    let all = &scores["all"];
    for (what, rows) in [("ALLOWED", &all.allowed), ("REFUSED", &all.refused), ("NOT DENIED", &all.not_denied)] {
        rows.iter().for_each(|r| println!("{what} {}", r.chars().take(330).collect::<String>()));
    }
    assert!(all.allowed.is_empty(), "none that must be asked or denied may be allowed");
    assert!(all.refused.len() * 100 <= all.permitted * 3, "at most 3 % of those to allow may be refused");
    assert!(all.not_denied.len() * 100 <= all.denied * 5, "at least 95 % of those to deny must be denied");
}
