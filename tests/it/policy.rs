//! Layer 3 from outside: the corpus of calls, properties, the differential test against bash.
mod attacks;
mod cases;
mod corpus;
#[cfg(unix)]
mod differential;
mod doors;
mod effects;
mod excel;
mod floor;
#[cfg(feature = "store")]
mod full;
mod globs;
mod hosts;
mod links;
mod paths;
mod programs;
mod properties;
mod rows;
#[cfg(feature = "store")]
mod store;
mod unpack;

use serde_json::{Map, json};
use toolfold::policy::eval::evaluate;

/// Judges a tool with one argument under rules, for each value of it.
#[track_caller]
fn check(rules: &[&str], (tool, argument): (&str, &str), cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (value, expected) in cases {
        let args = Map::from_iter([(argument.to_owned(), json!(value))]);
        let row = json!({"id": "", "rule": rules, "tool": tool, "args": args});
        let got = evaluate(&row).unwrap();
        if got.decision != *expected {
            wrong.push(format!("{value:?}: {} instead of {expected}: {}", got.decision, got.reason));
        }
    }
    assert!(wrong.is_empty(), "{rules:?}\n{}", wrong.join("\n"));
}
