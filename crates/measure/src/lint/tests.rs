//! For each rule a list with a finding and a similar one without; `--fix`; the real servers.

mod against;
mod cases;
mod corpus;
mod fixing;
mod lines;

use std::collections::BTreeSet;

use toolfold::catalog::Catalog;
use toolfold::diagnostic::Severity;
use toolfold::profile::ToolProfile;
use toolfold::tokens::Meter;
use toolfold::wire::Wire;

use super::{Lint, Options, RULES, findings, lint, rule};
use crate::parts::Measurer;

fn of(id: &str, text: &str, options: &Options<'_>) -> Vec<super::Finding> {
    let read = Catalog::import(text, "tools", None);
    let options = Options { noticed: &read.diagnostics, ..*options };
    findings(&read.value, &options).into_iter().filter(|one| one.rule == id).collect()
}

fn measured(text: &str, meter: &Meter, options: &Options<'_>) -> Lint {
    let read = Catalog::import(text, "tools", None);
    lint(&Measurer::new(meter), &read.value, &Options { noticed: &read.diagnostics, ..*options }).unwrap()
}

#[test]
fn every_rule_has_a_case_and_a_near_miss() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in cases::CASES {
        let base = case.tools.map(|tools| cases::whole(tools).replace('\n', " "));
        seen.insert(case.rule);
        assert!(rule(case.rule).is_some(), "{}", case.rule);
        let before = case.before.map(|text| Catalog::import(text, "before", None).value);
        let profile = case.profile.map(|text| ToolProfile::parse(text, "profile").value);
        for (text, expected) in base.iter().zip([true, false]) {
            let catalog = Catalog::import(text, "tools", None).value;
            let assignment = profile.as_ref().map(|profile| profile.assign(&catalog).value);
            let options = Options {
                before: before.as_ref(),
                assignment: assignment.as_ref(),
                wire: case.wire,
                model: case.model,
                pairs: true,
                ..Options::new()
            };
            let found = of(case.rule, text, &options);
            if found.is_empty() == expected {
                let shown: String = text.chars().take(500).collect();
                wrong.push(format!("{} on {shown}: {found:?}", case.rule));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| !seen.contains(id)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "rules without a case");
}

#[test]
fn ids_are_unique_and_kebab_case() {
    let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    assert!(RULES.len() >= 60, "{}", RULES.len());
    for rule in RULES {
        assert!(rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", rule.id);
        assert!(!rule.finds.ends_with('.') && !rule.fix.ends_with('.'), "{}", rule.id);
    }
}

const SECRET: &str = r#"[{"name":"a","description":"Uses the key ghp_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX. See https://anna:Hunter22x@db.local/x.",
    "inputSchema":{"type":"object","properties":{}}}]"#;

#[test]
fn a_secret_is_never_repeated() {
    let answer = measured(SECRET, &Meter::default(), &Options::new());
    let text = serde_json::to_string(&answer).unwrap();
    assert!(answer.findings.iter().any(|one| one.rule == "secret-in-text"));
    assert!(answer.findings.iter().any(|one| one.rule == "password-in-url"));
    for part in ["cD2eF3gH4iJ5", "Hunter22x", "anna"] {
        assert!(!text.contains(part), "{part} in {text}");
    }
}

#[test]
fn rules_are_allowed_by_list_or_caller_and_denied_by_caller() {
    let tool = |meta: &str| format!(r#"[{{"name":"a","inputSchema":{{"type":"object","properties":{{}}}}{meta}}}]"#);
    let id = "no-description";
    assert_eq!(of(id, &tool(""), &Options::new()).len(), 1);
    assert!(of(id, &tool(r#","_meta":{"toolfold/allow":["no-description"]}"#), &Options::new()).is_empty());
    assert_eq!(of(id, &tool(r#","_meta":{"toolfold/allow":["no-title"]}"#), &Options::new()).len(), 1);
    let ids = [id.to_owned()];
    assert!(of(id, &tool(""), &Options { allow: &ids, ..Options::new() }).is_empty());
    let denied = of(id, &tool(""), &Options { deny: &ids, ..Options::new() });
    assert_eq!(denied.first().map(|one| one.severity), Some(Severity::Error));
}

#[test]
fn pointers_match_the_format_of_the_list() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":9,"maximum":3}}}"#;
    for (text, expected) in [
        (format!(r#"[{{"name":"a","inputSchema":{schema}}}]"#), "/inputSchema/properties/n/minimum"),
        (format!(r#"[{{"name":"a","input_schema":{schema}}}]"#), "/input_schema/properties/n/minimum"),
        (
            format!(r#"[{{"type":"function","function":{{"name":"a","parameters":{schema}}}}}]"#),
            "/function/parameters/properties/n/minimum",
        ),
        (format!(r#"[{{"type":"function","name":"a","parameters":{schema}}}]"#), "/parameters/properties/n/minimum"),
    ] {
        let found = of("contradictory-bounds", &text, &Options::new());
        assert_eq!(found.first().map(|one| one.pointer.as_str()), Some(expected));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value.pointer(&format!("/0{expected}")).is_some(), "{expected}");
    }
}

/// The reported saving equals the difference in cost between the list and the fixed list.
#[test]
fn the_reported_saving_is_the_actual_saving() {
    let text = r#"[{"name":"a","description":"Reads the rows of a sheet.   \n\n\n\n    It is slow.\n","inputSchema":{"type":"object",
        "title":"aArguments","properties":{"file_path":{"title":"File Path","type":"string","description":"string"}},
        "$defs":{"Unused":{"type":"object","title":"Unused","properties":{"x":{"type":"string"}}}}}},
        {"name":"b","description":"Writes them.","inputSchema":{"type":"object","properties":{}}}]"#;
    for meter in ["billed:openai-chat/gpt-4.1", "json/o200k_base"] {
        let meter: Meter = meter.parse().unwrap();
        let before = measured(text, &meter, &Options::new());
        let fixed = super::fix(text, "tools", None, &Options::new());
        let after = measured(&fixed.text, &meter, &Options::new());
        assert!(before.fix_saves > 0);
        assert_eq!(before.tokens - before.fix_saves, after.tokens, "{meter}: {}", fixed.text);
        assert_eq!(after.fix_saves, 0);
    }
}

/// A tool that one API rejects is an error if that wire is configured, else a warning.
#[test]
fn restrictions_are_errors_on_the_requested_wire() {
    let text = r#"[{"name":"a","description":"Reads.","inputSchema":{"type":"object"}}]"#;
    let severity =
        |wire| of("repaired-schema", text, &Options { wire, ..Options::new() }).first().map(|one| one.severity);
    assert_eq!(severity(None), Some(Severity::Warning));
    assert_eq!(severity(Some(Wire::OpenAiChat)), Some(Severity::Error));
    assert_eq!(severity(Some(Wire::Mcp)), None);
}

/// Comparisons are not quadratic: twice the tools take about twice as long, and this many well
/// under a second when built for release.
#[test]
fn many_tools_take_linear_time() {
    let tool = |at: usize| {
        format!(
            r#"{{"name":"tool_{at}","description":"Reads thing {at} of the server. It is slow.","inputSchema":{{"type":"object",
            "required":["path"],"properties":{{"path":{{"type":"string","description":"Where it is."}},
            "n":{{"type":"integer","description":"How many, between 1 and {at}."}}}}}}}}"#
        )
    };
    let text = format!("[{}]", (0..1_000).map(tool).collect::<Vec<_>>().join(","));
    let found = of("range-in-words", &text, &Options::new());
    assert_eq!(found.len(), 1_000);
}

/// The page has every rule as in the code. On failure, the message has the expected table.
#[test]
fn the_page_has_the_table_of_rules() {
    #[allow(clippy::disallowed_methods, reason = "the test reads the page that it judges")]
    let page =
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lint.md")).unwrap();
    let expected = super::markdown();
    assert!(page.contains(&expected), "docs/lint.md lacks the table of rules:\n{expected}");
}
