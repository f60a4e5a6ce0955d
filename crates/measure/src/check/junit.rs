//! A check as JUnit XML, which most CI systems show.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::budget::Finding;
use super::form::CheckReport;

/// Why a report cannot be written as JUnit XML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write JUnit XML: {0}")]
pub struct JunitError(String);

/// Returns one test suite with a case for each budget, named by its rule: CI systems compare the
/// cases of two runs by name. A case that fails contains all findings of the rule.
///
/// # Errors
/// Returns a [`JunitError`] if it cannot be written.
pub fn junit(report: &CheckReport) -> Result<String, JunitError> {
    let mut suite = TestSuite::new("toolfold check");
    for (rule, budget) in report.budgets.rules() {
        let findings: Vec<_> = report.findings.iter().filter(|finding| finding.rule == rule).collect();
        let status = match findings.split_first() {
            None => TestCaseStatus::success(),
            Some((first, others)) => {
                let message = match others.len() {
                    0 => first.message.clone(),
                    more => format!("{}; and {more} more", first.message),
                };
                let text: Vec<String> = findings.iter().map(|finding| with_place(report, finding)).collect();
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(rule.name()).set_message(message).set_description(text.join("\n\n"));
                status
            }
        };
        let mut case = TestCase::new(rule.name(), status);
        case.set_classname("toolfold.check").add_property(("budget", budget.as_str()));
        suite.add_test_case(case);
    }
    let mut all = Report::new("toolfold check");
    all.add_test_suite(suite);
    all.to_string().map_err(|why| JunitError(why.to_string()))
}

fn with_place(report: &CheckReport, finding: &Finding) -> String {
    let mut text = format!("{}\n{}", finding.message, finding.help);
    if let Some(place) = report.place_of(finding) {
        text.push_str(&format!("\n{}", place.file));
        if let Some(line) = place.line {
            text.push_str(&format!(":{line}"));
        }
    }
    text
}
