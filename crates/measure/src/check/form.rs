//! A check with its result, from which every output format is written.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::budget::{Budgets, Finding};
use super::diff::Diff;
use super::lock::Lock;
use crate::figures::grouped;

/// The place where a tool is defined or its figure is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Place {
    /// A place in a file. The line starts at 1.
    #[must_use]
    pub fn new(file: impl Into<String>, line: Option<usize>) -> Self {
        Self { file: file.into(), line }
    }
}

/// The result of a check.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckReport {
    /// What holds.
    pub budgets: Budgets,
    /// The new measurement.
    pub now: Lock,
    /// The differences to the lock, if there is one.
    pub diff: Option<Diff>,
    /// The violations; empty if there are none.
    pub findings: Vec<Finding>,
    /// The lock's file as the user named it, if there is one.
    pub lock_file: Option<String>,
    /// The places of the tools in findings, by name.
    pub places: IndexMap<String, Place>,
    /// The place of everything else: the tool list or the lock, if either is a file.
    pub place: Option<Place>,
    /// The version of toolfold.
    pub version: &'static str,
}

impl CheckReport {
    /// A report without files. `diff`: the comparison with the lock file, if there is one.
    #[must_use]
    pub fn new(budgets: Budgets, now: Lock, diff: Option<Diff>, findings: Vec<Finding>, version: &'static str) -> Self {
        let (lock_file, places, place) = (None, IndexMap::new(), None);
        Self { budgets, now, diff, findings, lock_file, places, place, version }
    }

    /// The place of a finding.
    #[must_use]
    pub fn place_of(&self, finding: &Finding) -> Option<&Place> {
        finding.tool.as_ref().and_then(|tool| self.places.get(tool)).or(self.place.as_ref())
    }

    /// Whether everything is within its budget.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.is_empty()
    }

    /// The result in one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let tools = self.now.tools.len();
        let tokens = self.now.arms.get(&self.now.arm).map_or(0, |arm| arm.tokens);
        let what = format!(
            "{} {} and {} tokens on the first turn of arm {}",
            grouped(tools),
            if tools == 1 { "tool" } else { "tools" },
            grouped(tokens),
            self.now.arm
        );
        match self.findings.len() {
            0 => format!("Within budget: {what}."),
            1 => format!("Over budget, 1 finding: {what}."),
            n => format!("Over budget, {} findings: {what}.", grouped(n)),
        }
    }
}

/// The line, counted from 1, on which a JSON tool list names a tool: where its name is the value of
/// `"name"`.
#[must_use]
pub fn line_of_name(text: &str, name: &str) -> Option<usize> {
    let value = serde_json::Value::from(name).to_string();
    let named = |(at, _): &(usize, &str)| {
        let before = text.get(..*at).unwrap_or_default().trim_end();
        before.strip_suffix(':').is_some_and(|before| before.trim_end().ends_with("\"name\""))
    };
    let (at, _) = text.match_indices(&value).find(named)?;
    Some(text.get(..at)?.matches('\n').count() + 1)
}
