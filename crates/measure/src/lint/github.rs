//! Findings as annotations of GitHub Actions.

use toolfold::diagnostic::Severity;

use super::Lint;
use crate::github::{Annotation, commands};

/// The findings as `::error`, `::warning` and `::notice` lines, each at its line in `file`.
#[must_use]
pub fn lint_github(lint: &Lint, file: Option<&str>) -> String {
    let mut annotations = Vec::new();
    for finding in &lint.findings {
        let kind = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let about = finding.tool.as_ref().map_or_else(String::new, |tool| format!("`{tool}`: "));
        annotations.push(Annotation {
            kind,
            place: file.map(|file| (file, finding.line)),
            title: format!("toolfold lint: {}", finding.rule),
            message: format!("{about}{}\n{}", finding.reason, finding.fix),
        });
    }
    commands(&annotations, "toolfold lint", "printed without --output github")
}
