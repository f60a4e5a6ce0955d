//! A check with its result: what every form of it is written from.

use indexmap::IndexMap;
use serde::Serialize;

use super::budget::{Budgets, Finding};
use super::diff::Diff;
use super::lock::Lock;

/// Where a tool is defined, or a figure of it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// What holds.
    pub budgets: Budgets,
    /// What was measured.
    pub now: Lock,
    /// What changed since the lock, if there is one.
    pub diff: Option<Diff>,
    /// What is not kept; empty if all is well.
    pub findings: Vec<Finding>,
    /// The lock's file, as the user named it, if there is one.
    pub lock_file: Option<String>,
    /// Where the tools of the findings are, by name.
    pub places: IndexMap<String, Place>,
    /// Where everything else is: the tool list or the lock, if either is a file.
    pub place: Option<Place>,
    /// The version of toolfold.
    pub version: &'static str,
}

impl CheckReport {
    /// Where a finding is.
    #[must_use]
    pub fn place_of(&self, finding: &Finding) -> Option<&Place> {
        finding.tool.as_ref().and_then(|tool| self.places.get(tool)).or(self.place.as_ref())
    }

    /// Whether everything is within its budget.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.is_empty()
    }

    /// The result in one sentence, for people.
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

/// A number with its thousands set apart.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The line, counted from 1, on which a list of tools in JSON names a tool: where its name is the value of `"name"`.
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
