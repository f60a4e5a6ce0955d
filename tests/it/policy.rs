//! Layer 3 from outside: the corpus of calls, properties, the differential test against bash.
mod attacks;
mod attacks3;
mod boundaries;
mod cases;
#[cfg(feature = "shell")]
mod compare;
mod corpus;
mod dialect;
mod dialects;
#[cfg(unix)]
mod differential;
mod doors;
mod effects;
mod excel;
mod explained;
mod floor;
#[cfg(feature = "store")]
mod forged;
#[cfg(feature = "store")]
mod full;
mod generated;
mod globs;
mod hosts;
#[cfg(feature = "shell")]
mod learn;
mod links;
mod looking;
#[cfg(feature = "store")]
mod memory;
mod narrow;
mod never;
mod newcomer;
mod of_server;
mod options;
#[cfg(unix)]
mod paths;
mod programs;
mod project_tools;
mod properties;
mod pruned;
mod quiet;
mod real_work;
mod records;
mod rows;
mod script_names;
#[cfg(feature = "store")]
mod store;
mod tracked;
mod unpack;

use serde_json::{Map, Value, json};
use toolfold::policy::eval::evaluate;
use toolfold::policy::{Approval, ApprovalError, Context, Gate, History, Policy};

/// The rows of a file of the corpus; none where the corpus is not here.
fn rows_of_the_corpus(name: &str) -> Vec<Value> {
    let Some(file) = crate::corpus(&format!("policy/{name}")) else { return Vec::new() };
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Uses an approval as the engine does: the stored call is read again in its folder.
fn redeem(
    gate: &Gate,
    id: &str,
    policy: &Policy,
    context: &Context,
    schema_hash: &str,
) -> Result<Approval, ApprovalError> {
    let request = gate.get(id)?.request;
    let mut context = context.clone();
    context.cwd.clone_from(&request.cwd);
    let prepared = policy.prepare(request.call(), &context, None, History::default());
    gate.redeem(id, &prepared, schema_hash, |_, _| Ok(()))
}

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
