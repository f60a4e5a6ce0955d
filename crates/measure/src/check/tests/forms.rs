//! The output formats: untrusted text is inert in each.

use indexmap::IndexMap;
use quick_junit::Report;

use super::super::*;
use super::{grown, two};

/// A parameter name that would break out of every format.
const HOSTILE: &str = "</script>|`%\n::error::\"]]><img src=x>@all\u{7}";

fn report(budgets: Budgets) -> CheckReport {
    let mut now = grown(200);
    let part = now.tools[0].parts.shift_remove("/properties/path").unwrap();
    now.tools[0].parts.insert(format!("/properties/{HOSTILE}"), part);
    let diff = Diff::between(&two(), &now);
    let findings = budgets.find_violations(&now, Some(&diff));
    let place = Some(Place { file: "a,b:c.json".to_owned(), line: None });
    let places = IndexMap::from([("read".to_owned(), Place { file: "tools 1.json".to_owned(), line: Some(7) })]);
    let lock_file = Some("toolfold.lock".to_owned());
    CheckReport { budgets, now, diff: Some(diff), findings, lock_file, places, place, version: "0.1.0" }
}

fn over() -> CheckReport {
    report(Budgets::usual())
}

fn within() -> CheckReport {
    report(Budgets { max_tool: Some(1_000), ..Budgets::default() })
}

#[test]
fn each_annotation_is_one_line() {
    let text = github(&over());
    for line in text.lines() {
        assert!(line.starts_with("::error file="), "{line}");
    }
    let line = text.lines().find(|line| line.contains("max-tool-growth")).unwrap();
    let expected = "::error file=tools 1.json,line=7,title=toolfold check%3A max-tool-growth::tool `read` grew by 200 tokens, \
                    100 -> 300, and may grow by at most 100 tokens; most in";
    assert!(line.starts_with(expected), "{line}");
    assert!(line.contains("%25") && line.matches("%0A").count() >= 2, "{line}");
    assert_eq!(github(&within()).lines().count(), 1);
    assert!(github(&within()).starts_with("::notice title="));
}

#[test]
fn github_shows_ten_annotations() {
    let mut many = over();
    let one = many.findings[0].clone();
    many.findings = vec![one; 25];
    let text = github(&many);
    assert_eq!(text.lines().count(), 10);
    assert!(text.lines().last().unwrap().contains("16 more findings"), "{text}");
}

#[test]
fn hostile_names_do_not_break_the_table() {
    let text = check_markdown(&over());
    for inert in ["<script", "</script", "<img", "@all"] {
        assert!(!text.contains(inert), "{inert} in {text}");
    }
    let columns = |line: &str| line.matches('|').count();
    let mut last = None;
    for line in text.lines() {
        match (line.starts_with('|'), last) {
            (true, Some(expected)) => assert_eq!(columns(line), expected, "{line}"),
            (true, None) => last = Some(columns(line)),
            (false, _) => last = None,
        }
    }
    assert!(text.starts_with("### ❌ toolfold check\n\nOver budget, 2 findings: "), "{text}");
    assert!(check_markdown(&within()).starts_with("### ✅ toolfold check\n\nWithin budget: "));
}

#[test]
fn junit_names_are_those_of_the_rules_whatever_is_found() {
    let cases = |report: &CheckReport| {
        let text = junit(report).unwrap();
        assert!(!text.contains("<img"), "{text}");
        let read = Report::deserialize(text.as_bytes()).unwrap();
        let names: Vec<String> = read.test_suites[0].test_cases.iter().map(|case| case.name.to_string()).collect();
        (names, read.failures)
    };
    let (over, kept) = (over(), CheckReport { findings: Vec::new(), ..over() });
    let names = vec!["max-growth".to_owned(), "max-tool-growth".to_owned()];
    assert_eq!(cases(&over), (names.clone(), 2));
    assert_eq!(cases(&kept), (names, 0));
    assert_eq!(cases(&within()), (vec!["max-tool".to_owned()], 0));
    let text = junit(&over).unwrap();
    assert!(over.findings.iter().all(|finding| text.contains(&finding.help.replace('<', "&lt;"))), "{text}");
}

#[test]
fn sarif_has_rule_location_and_tool() {
    let log = sarif(&over());
    let result = log.pointer("/runs/0/results/1").unwrap();
    let at = |pointer: &str| result.pointer(pointer).unwrap().clone();
    assert_eq!(at("/ruleId"), "max-tool-growth");
    assert_eq!(at("/locations/0/physicalLocation/artifactLocation/uri"), "tools%201.json");
    assert_eq!(at("/locations/0/physicalLocation/region/startLine"), 7);
    assert_eq!(at("/locations/0/logicalLocations/0/name"), "read");
    let index = usize::try_from(at("/ruleIndex").as_u64().unwrap()).unwrap();
    assert_eq!(log.pointer(&format!("/runs/0/tool/driver/rules/{index}/id")).unwrap(), "max-tool-growth");
    assert_eq!(sarif(&within()).pointer("/runs/0/results").unwrap(), &serde_json::json!([]));
}

#[test]
fn data_has_verdict_findings_and_changes() {
    let data = serde_json::to_value(CheckAnswer::new(&over())).unwrap();
    assert_eq!((&data["schema"], &data["ok"]), (&CHECK_CONTRACT.into(), &false.into()));
    assert_eq!(data["findings"][1]["place"]["line"], 7);
    assert_eq!(data["diff"]["tools"][0]["kind"], "changed");
    assert_eq!(data["budgets"]["max-growth"], "by at most 5%");
}
