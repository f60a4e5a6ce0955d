//! A check as SARIF 2.1.0, for code scanning.

use serde_json::{Map, Value, json};
use toolfold::policy::canonical::digest;

use super::budget::{Finding, Rule};
use super::form::CheckReport;

/// The location of the published schema.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const HOME: &str = "https://github.com/toolfold/toolfold";

/// The findings as a SARIF log with one run.
#[must_use]
pub fn sarif(report: &CheckReport) -> Value {
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| descriptor(*rule)).collect();
    let results: Vec<Value> = report.findings.iter().map(|finding| result(report, finding)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "toolfold", "version": report.version, "informationUri": HOME, "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn descriptor(rule: Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": {"text": rule.about()},
        "helpUri": format!("{HOME}/blob/main/docs/check.md"),
        "defaultConfiguration": {"level": "error"},
    })
}

fn result(report: &CheckReport, finding: &Finding) -> Value {
    let mut own = Map::new();
    own.insert("ruleId".to_owned(), finding.rule.name().into());
    if let Some(index) = Rule::ALL.iter().position(|rule| *rule == finding.rule) {
        own.insert("ruleIndex".to_owned(), index.into());
    }
    own.insert("level".to_owned(), "error".into());
    own.insert("message".to_owned(), json!({"text": format!("{}. {}.", finding.message, finding.help)}));
    let mut location = Map::new();
    if let Some(place) = report.place_of(finding) {
        let region = place.line.map(|line| json!({"startLine": line}));
        let mut physical = json!({"artifactLocation": {"uri": uri(&place.file)}});
        if let (Some(region), Some(map)) = (region, physical.as_object_mut()) {
            map.insert("region".to_owned(), region);
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(tool) = &finding.tool {
        let part = finding.part.as_ref().map(|part| format!("#{part}")).unwrap_or_default();
        location.insert(
            "logicalLocations".to_owned(),
            json!([{"name": tool, "fullyQualifiedName": format!("{tool}{part}"), "kind": "function"}]),
        );
    }
    own.insert("locations".to_owned(), json!([location]));
    // The parts that stay the same while figures change, so that a finding is tracked across runs.
    let identity = json!([finding.rule, finding.tool, finding.category, finding.arm]);
    own.insert("partialFingerprints".to_owned(), json!({"toolfoldFinding/v1": digest(&identity)}));
    Value::Object(own)
}

/// A path as a URI reference (RFC 3986): characters not allowed in paths are percent-encoded.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
