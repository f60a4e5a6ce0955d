//! A check as JUnit XML, which most CI systems show.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::form::CheckReport;

/// Why a report cannot be written as JUnit XML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write JUnit XML: {0}")]
pub struct JunitError(String);

/// Returns one test suite: a case for each budget that is kept, and one for each finding.
///
/// # Errors
/// Returns a [`JunitError`] if it cannot be written.
pub fn junit(report: &CheckReport) -> Result<String, JunitError> {
    let mut suite = TestSuite::new("toolfold check");
    for (rule, budget) in report.budgets.rules() {
        let findings: Vec<_> = report.findings.iter().filter(|finding| finding.rule == rule).collect();
        if findings.is_empty() {
            let mut case = TestCase::new(budget, TestCaseStatus::success());
            case.set_classname(format!("toolfold.check.{}", rule.name()));
            suite.add_test_case(case);
        }
        for finding in findings {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let place = report.place_of(finding).map(|place| match place.line {
                Some(line) => format!("\n{}:{line}", place.file),
                None => format!("\n{}", place.file),
            });
            status.set_type(rule.name()).set_message(finding.message.as_str()).set_description(format!(
                "{}\n{}{}",
                finding.message,
                finding.help,
                place.unwrap_or_default()
            ));
            let subject = [&finding.tool, &finding.category, &finding.arm].into_iter().flatten().next();
            let mut case = TestCase::new(subject.map_or(rule.name(), String::as_str), status);
            case.set_classname(format!("toolfold.check.{}", rule.name()));
            suite.add_test_case(case);
        }
    }
    let mut all = Report::new("toolfold check");
    all.add_test_suite(suite);
    all.to_string().map_err(|why| JunitError(why.to_string()))
}
