//! What a second red team tried, scored by class: how many rows are allowed that must not be, with
//! a ceiling for each.

use std::collections::BTreeMap;

use toolfold::policy::eval::evaluate;

use super::rows_of_the_corpus as rows;

#[derive(Default)]
struct Score {
    /// Rows, those that are allowed, and those that are asked about though they must be denied.
    rows: usize,
    allowed: usize,
    asked: usize,
}

/// The most rows of a class that may be allowed, of grade must and of grade hardening.
const CEILINGS: &[(&str, usize, usize)] = &[
    ("awk-regex", 0, 0),
    ("deny-alias", 0, 0),
    ("deny-rm", 0, 0),
    ("env-prefix", 0, 0),
    ("floor-self-approval", 0, 0),
    ("host-allow-v6", 0, 0),
    ("host-deny", 0, 0),
    ("host-deny-command", 0, 1),
    ("host-deny-userinfo", 0, 0),
    ("option-git", 0, 0),
    ("outside-read", 0, 0),
    ("outside-write", 0, 0),
    ("own-settings", 0, 0),
    ("parse-history", 0, 0),
    ("parse-printf-n", 0, 0),
    ("parse-var-redirect", 0, 0),
    ("path-form", 0, 0),
    ("read-deny", 0, 1),
    ("readonly-table", 0, 0),
    ("wrapper-deny", 0, 1),
    ("zsh", 0, 0),
];

#[test]
fn corpus_of_attacks_by_class() {
    let rows = rows("attacks3.jsonl");
    if rows.is_empty() {
        println!("skipped: ../shared/corpora/policy/attacks3.jsonl is not here");
        return;
    }
    let mut scores: BTreeMap<(String, String), Score> = BTreeMap::new();
    for row in &rows {
        let got = evaluate(row).unwrap();
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let score = scores.entry((text("cls"), text("grade"))).or_default();
        score.rows += 1;
        let (allowed, asked) = (got.decision == "allow", got.decision == "ask" && row["expected"] == "deny");
        score.allowed += usize::from(allowed);
        score.asked += usize::from(asked);
        let bounded = CEILINGS.iter().any(|(class, ..)| row["cls"] == *class);
        if bounded && (allowed || asked) {
            println!("{} {} {} {}", if allowed { "ALLOWED" } else { "ASKED" }, row["id"], row["args"], got.reason);
        }
    }
    for ((class, grade), score) in &scores {
        let Score { rows, allowed, asked } = score;
        println!(
            "{class:<22}{grade:<11}{:>4}/{rows} not allowed, {asked} asked about instead of denied",
            rows - allowed
        );
    }
    for (class, must, hardening) in CEILINGS {
        let allowed =
            |grade: &str| scores.get(&((*class).to_owned(), grade.to_owned())).map_or(0, |score| score.allowed);
        assert!(allowed("must") <= *must && allowed("hardening") <= *hardening, "{class}");
    }
}
