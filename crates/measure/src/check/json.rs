//! A check and a diff as data.

use serde_json::{Map, Value, json};

use super::diff::Diff;
use super::form::CheckReport;
use super::lock::Lock;

/// The name of the contract of `toolfold check --json`.
pub const CHECK_CONTRACT: &str = "toolfold.check/1";
/// The name of the contract of `toolfold diff --json`.
pub const DIFF_CONTRACT: &str = "toolfold.diff/1";

/// The result of a check. Figures are tokens of the meter.
#[must_use]
pub fn check_json(report: &CheckReport) -> Value {
    let now = &report.now;
    let finding = |own| {
        let mut finding = json!(own);
        if let (Some(place), Some(map)) = (report.place_of(own), finding.as_object_mut()) {
            map.insert("place".to_owned(), json!(place));
        }
        finding
    };
    let rules = report.budgets.rules();
    json!({
        "schema": CHECK_CONTRACT,
        "ok": report.is_ok(),
        "verdict": report.verdict(),
        "meter": now.meter, "wire": now.wire, "model": now.model, "arm": now.arm,
        "lock": report.lock_file,
        "budgets": rules.iter().map(|(rule, budget)| (rule.name().to_owned(), json!(budget))).collect::<Map<_, _>>(),
        "arms": now.arms,
        "tools": now.tools.len(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "diff": report.diff,
    })
}

/// The differences between two locks. Figures are tokens of the newer one's meter.
#[must_use]
pub fn diff_json(now: &Lock, diff: &Diff) -> Value {
    json!({
        "schema": DIFF_CONTRACT,
        "meter": now.meter, "wire": now.wire, "model": now.model, "arm": now.arm,
        "same": diff.is_empty(),
        "diff": diff,
    })
}
