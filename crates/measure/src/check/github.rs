//! A check as workflow commands of GitHub Actions: one annotation per finding.

use super::form::CheckReport;

/// The maximum number of annotations of a kind that GitHub shows for a step.
/// Source: GitHub's "Workflow commands" and "Checks API" (10 annotations a step).
const MOST: usize = 10;

/// The findings as `::error …::message` lines, with their number if some are hidden.
#[must_use]
pub fn github(report: &CheckReport) -> String {
    let mut out = String::new();
    let all = report.findings.len();
    let shown = if all > MOST { MOST - 1 } else { all };
    for finding in report.findings.iter().take(shown) {
        let mut properties = Vec::new();
        if let Some(place) = report.place_of(finding) {
            properties.push(format!("file={}", property(&place.file)));
            properties.extend(place.line.map(|line| format!("line={line}")));
        }
        properties.push(format!("title={}", property(&format!("toolfold check: {}", finding.rule.name()))));
        let message = format!("{}\n{}", finding.message, finding.help);
        out.push_str(&format!("::error {}::{}\n", properties.join(","), data(&message)));
    }
    if shown < all {
        let more = format!("{} more findings are in the step's log and summary", all - shown);
        out.push_str(&format!("::error title={}::{}\n", property("toolfold check"), data(&more)));
    }
    if report.is_ok() {
        out.push_str(&format!("::notice title={}::{}\n", property("toolfold check"), data(&report.verdict())));
    }
    out
}

/// Escapes a message as the runner's toolkit does: a line break would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, which also ends at a colon or a comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
