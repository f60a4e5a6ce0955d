//! A check as annotations of GitHub Actions: one for each finding.

use super::form::CheckReport;
use crate::github::{Annotation, commands};

/// The findings as `::error …::message` lines, with their number if some are hidden; without one,
/// the verdict.
#[must_use]
pub fn github(report: &CheckReport) -> String {
    let mut annotations = Vec::new();
    for finding in &report.findings {
        annotations.push(Annotation {
            kind: "error",
            place: report.place_of(finding).map(|place| (place.file.as_str(), place.line)),
            title: format!("toolfold check: {}", finding.rule.name()),
            message: format!("{}\n{}", finding.message, finding.help),
        });
    }
    if report.is_ok() {
        let (title, message) = ("toolfold check".to_owned(), report.verdict());
        annotations.push(Annotation { kind: "notice", place: None, title, message });
    }
    commands(&annotations, "toolfold check", "in the step's log and summary")
}
