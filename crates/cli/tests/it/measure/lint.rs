//! Tests of `lint`.

use serde_json::{Value, json};

use crate::measure::tree::from_stdin;

const BAD: &str = r#"[{"name":"read_rows","description":"Reads the rows of a sheet.","inputSchema":{"type":"object",
  "properties":{"n":{"type":"integer","title":"N","minimum":9,"maximum":3},"list":{"type":"array","description":"Which."}}}}]"#;

fn lint(args: &[&str], input: &str) -> (i32, String, String) {
    let words: Vec<&str> = ["lint", "--tools", "-"].iter().chain(args).copied().collect();
    from_stdin(&words, input)
}

fn good() -> String {
    json!([{"type": "function", "function": {"name": "read_rows",
        "description": "Reads the rows of a sheet, at most a thousand of them, and gives them back as a table.",
        "parameters": {"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
            "path": {"type": "string", "description": "Where the workbook is, from the working folder."}}}}}])
    .to_string()
}

#[test]
fn a_valid_list_has_no_findings_and_a_bad_one_fails() {
    let (code, out, err) = lint(&["--profile", "off"], &good());
    assert_eq!((code, out.starts_with("no findings in 1 tools")), (0, true), "{out}{err}");
    let (code, out, err) = lint(&[], BAD);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("error[contradictory-bounds]") && out.contains("/inputSchema/properties/n/minimum"), "{out}");
    assert!(out.lines().last().unwrap().starts_with("1 error, "), "{out}");
}

#[test]
fn an_empty_list_is_an_error_with_a_sentence() {
    let (code, out, err) = lint(&[], "[]");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("error[no-tools]") && err.contains("the tool list is empty"), "{err}");
}

#[test]
fn severities_decide_the_exit_code() {
    let warned = r#"[{"name":"a","inputSchema":{"type":"object","properties":{}}}]"#;
    assert_eq!(lint(&[], warned).0, 0);
    assert_eq!(lint(&["--strict"], warned).0, 1);
    assert_eq!(lint(&["--deny", "no-description"], warned).0, 1);
    assert_eq!(lint(&["--strict", "--allow", "no-description"], warned).0, 0);
    let (_, out, _) = lint(&["--min-severity", "warning"], warned);
    assert!(out.contains("no-description") && !out.contains("no-title"), "{out}");
}

#[test]
fn what_the_given_api_rejects_is_an_error() {
    let tools = r#"[{"name":"a","description":"Reads rows.","inputSchema":{"type":"object"}}]"#;
    assert_eq!(lint(&[], tools).0, 0);
    assert_eq!(lint(&["--wire", "anthropic"], tools).0, 0);
    let (code, out, _) = lint(&["--wire", "openai-chat"], tools);
    assert!(code == 1 && out.contains("error[repaired-schema]"), "{out}");
}

#[test]
fn json_has_findings_and_their_costs() {
    let (code, out, err) = lint(&["--json"], BAD);
    assert_eq!(code, 1, "{err}");
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema"], "toolfold.lint/1");
    assert_eq!(value["total"]["errors"], 1);
    let title = value["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "title-restates-name").unwrap();
    assert_eq!((&title["tool"], &title["fixable"]), (&json!("read_rows"), &json!(true)));
    assert!(title["saves"].as_u64().unwrap() > 0 && value["fix_saves"].as_u64() >= title["saves"].as_u64());
}

#[test]
fn the_fixed_list_goes_to_the_given_file_and_fixes_are_reported() {
    let fixed = BAD.replace(r#""title":"N","#, "");
    let fixed = fixed.replace(r#""description":"Which."}"#, r#""description":"Which.","items":{}}"#);
    let (code, out, err) = lint(&["--fix"], BAD);
    assert_eq!((code, out.as_str()), (0, fixed.as_str()), "{err}");
    assert!(err.contains("[title-restates-name]") && err.contains("fixed 2 things"), "{err}");
    let folder = std::env::temp_dir().join(format!("toolfold-lint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, other) = (folder.join("tools.json"), folder.join("out.json"));
    std::fs::write(&file, BAD).unwrap();
    let name = file.to_str().unwrap();
    let (code, out, err) = from_stdin(&["lint", "--tools", name, "--fix", "--out", other.to_str().unwrap()], "");
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), fixed);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), BAD);
    let (code, _, err) = from_stdin(&["lint", "--tools", name, "--fix", "--write"], "");
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), fixed);
    let (_, _, err) = from_stdin(&["lint", "--tools", name, "--fix", "--write"], "");
    assert!(err.contains("nothing to fix"), "{err}");
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(lint(&["--fix", "--write"], BAD).0, 2);
    assert_eq!(lint(&["--write"], BAD).0, 2);
}

#[test]
fn an_earlier_list_shows_what_breaks() {
    let folder = std::env::temp_dir().join(format!("toolfold-lint-against-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let old = folder.join("old.json");
    std::fs::write(&old, r#"[{"name":"gone","inputSchema":{"type":"object","properties":{}}}]"#).unwrap();
    let (code, out, err) = lint(&["--against", old.to_str().unwrap()], &good());
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("error[tool-removed]: `gone`") && out.contains("note[tool-added]"), "{out}");
    let _ = std::fs::remove_dir_all(&folder);
}

/// What a pull request shows that breaks a nested schema: the sentence, at its line.
#[test]
fn a_breaking_change_is_annotated_at_its_line() {
    let folder = std::env::temp_dir().join(format!("toolfold-lint-github-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("agent")).unwrap();
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let list = |kind: &str| {
        format!(
            "[{{\"name\": \"order\", \"inputSchema\": {{\"type\": \"object\", \"properties\": {{\n\"lines\": {{\"type\": \"array\", \
             \"items\": {{\"type\": \"object\", \"properties\": {{\n\"count\": {{\"type\": \"{kind}\"}}}}}}}}}}}}}}]"
        )
    };
    std::fs::write(folder.join("agent/old.json"), list("integer")).unwrap();
    std::fs::write(folder.join("agent/tools.json"), list("string")).unwrap();
    let args =
        ["lint", "--tools", "tools.json", "--against", "old.json", "--output", "github", "--min-severity", "error"];
    let (code, out, err) = super::check::run(&folder.join("agent"), &args);
    assert_eq!(code, 1, "{err}");
    let known = "::error file=agent/tools.json,line=3,title=toolfold lint%3A type-changed::`order`: `lines[].count` no longer \
                 accepts integer%0Aaccept the old types, too\n";
    assert_eq!(out, known);
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn rules_are_listed_and_unknown_ones_rejected() {
    let (code, out, _) = from_stdin(&["lint", "--rules"], "");
    assert!(code == 0 && out.contains("secret-in-text") && out.contains("newly-required"), "{out}");
    let (code, _, err) = lint(&["--allow", "no-descriptio"], BAD);
    assert!(code == 2 && err.contains("did you mean `no-description`"), "{err}");
    assert_eq!(lint(&[], "[]").0, 1);
}

/// A list with an entry that cannot be read is still checked.
#[test]
fn an_entry_that_is_not_a_tool_is_a_finding() {
    let (code, out, err) =
        lint(&[], r#"[{"name":"a","inputSchema":{"type":"object"}},{"inputSchema":{"type":"object"}}]"#);
    assert!(code == 1 && out.contains("error[unreadable-tool]"), "{out}{err}");
}
