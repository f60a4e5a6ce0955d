//! A check and a diff as data.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::budget::Finding;
use super::diff::Diff;
use super::form::{CheckReport, Place};
use super::lock::{ArmTotal, Lock};

/// The name of the contract of `toolfold check --json`.
pub const CHECK_CONTRACT: &str = "toolfold.check/1";
/// The name of the contract of `toolfold diff --json`.
pub const DIFF_CONTRACT: &str = "toolfold.diff/1";

/// The result of a check. Figures are tokens of the meter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.check/1")]
pub struct CheckAnswer<'r> {
    /// Always `toolfold.check/1`.
    schema: &'static str,
    /// Whether everything is within its budget.
    ok: bool,
    /// The result in one sentence.
    verdict: String,
    /// What the figures measure.
    meter: &'r str,
    /// The wire whose rules apply.
    wire: &'r str,
    /// The model; empty if none was named.
    model: &'r str,
    /// The arm that the figures of tools refer to.
    arm: &'r str,
    /// The lock's file, if there is one.
    lock: Option<&'r str>,
    /// The budget of every rule, as text.
    budgets: IndexMap<&'static str, String>,
    /// The first turn of every arm.
    arms: &'r IndexMap<String, ArmTotal>,
    /// The number of tools.
    tools: usize,
    /// The violations.
    findings: Vec<PlacedFinding<'r>>,
    /// The differences to the lock, if there is one.
    diff: Option<&'r Diff>,
}

/// A violated budget and its place.
#[derive(Debug, Serialize, JsonSchema)]
struct PlacedFinding<'r> {
    #[serde(flatten)]
    finding: &'r Finding,
    /// Where the tool is defined, else the tool list or the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'r Place>,
}

impl<'r> CheckAnswer<'r> {
    /// The result of a check as data.
    #[must_use]
    pub fn new(report: &'r CheckReport) -> Self {
        let now = &report.now;
        let finding = |own| PlacedFinding { finding: own, place: report.place_of(own) };
        Self {
            schema: CHECK_CONTRACT,
            ok: report.is_ok(),
            verdict: report.verdict(),
            meter: &now.meter,
            wire: &now.wire,
            model: &now.model,
            arm: &now.arm,
            lock: report.lock_file.as_deref(),
            budgets: report.budgets.rules().into_iter().map(|(rule, budget)| (rule.name(), budget)).collect(),
            arms: &now.arms,
            tools: now.tools.len(),
            findings: report.findings.iter().map(finding).collect(),
            diff: report.diff.as_ref(),
        }
    }
}

/// The differences between two locks. Figures are tokens of the newer one's meter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.diff/1")]
pub struct DiffAnswer<'r> {
    /// Always `toolfold.diff/1`.
    schema: &'static str,
    /// What the figures measure.
    meter: &'r str,
    /// The wire whose rules apply.
    wire: &'r str,
    /// The model; empty if none was named.
    model: &'r str,
    /// The arm that the figures of tools refer to.
    arm: &'r str,
    /// Whether nothing differs.
    same: bool,
    /// What differs.
    diff: &'r Diff,
}

impl<'r> DiffAnswer<'r> {
    /// The differences as data.
    #[must_use]
    pub fn new(now: &'r Lock, diff: &'r Diff) -> Self {
        let Lock { meter, wire, model, arm, .. } = now;
        Self { schema: DIFF_CONTRACT, meter, wire, model, arm, same: diff.is_empty(), diff }
    }
}
