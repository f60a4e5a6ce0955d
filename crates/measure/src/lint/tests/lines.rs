//! The line of a finding in the text of the list, whatever its form.

use super::*;

/// The line of the narrowed parameter, where `<-` marks it.
fn expected(marked: &str) -> usize {
    1 + marked.lines().position(|line| line.ends_with("<-")).unwrap()
}

#[test]
fn a_nested_change_is_found_at_its_line_in_every_format() {
    let lists = [
        r#"[
 {"name": "read", "inputSchema": {}},
 {"name": "order", "inputSchema": {
   "type": "object", "properties": {
    "lines": {"type": "array", "items": {"type": "object", "properties": {
      "count": {"type": "integer"} <-
 }}}}}}
]"#,
        r#"{"tools": [{"type": "function", "function": {
  "name": "order",
  "parameters": {"type": "object", "properties": {"lines": {"type": "array", "items": {"type": "object",
    "properties": {
      "count":
        {"type": "integer"} <-
    }}}}}
}}]}"#,
        r#"[{"functionDeclarations": [{"name": "order", "parametersJsonSchema": {"type": "object",
  "properties": {"lines": {"type": "array", "items": {"type": "object", "properties": {
    "count": {"type": "integer"}}}}}}}]}] <-"#,
        r#"[{"name": "order", "description": "Orders.",
  "input_schema": {"type": "object", "properties": {"lines": {"type": "array", "items": {"type": "object", "properties": {

     "count": {"type": "integer"} }}}}}}] <-"#,
    ];
    for marked in lists {
        let old = marked.replace(" <-", "");
        let new = old.replace(r#""count""#, r#""count" "#).replace("integer", "string");
        let before = Catalog::import(&old, "old", None).value;
        assert!(!before.is_empty(), "{old}");
        let mut options = Options::new();
        options.before = Some(&before);
        let mut lint = measured(&new, &Meter::default(), &options);
        lint.find_lines(&new);
        let found: Vec<_> = lint.findings.iter().filter(|one| one.rule == "type-changed").map(|one| one.line).collect();
        assert_eq!(found, [Some(expected(marked))], "{new}");
        // Editors of Windows write a byte order mark and carriage returns.
        lint.findings.iter_mut().for_each(|one| one.line = None);
        lint.find_lines(&format!("\u{feff}{}", new.replace('\n', "\r\n")));
        let again: Vec<_> = lint.findings.iter().filter(|one| one.rule == "type-changed").map(|one| one.line).collect();
        assert_eq!(again, found, "{new}");
        // Findings about the list have no line.
        assert!(lint.findings.iter().all(|one| one.tool.is_some() || one.line.is_none()));
    }
}

#[test]
fn a_text_that_is_not_the_list_gives_no_line() {
    let text = r#"[{"name": "order", "description": ""}]"#;
    let mut lint = measured(text, &Meter::default(), &Options::new());
    assert!(!lint.findings.is_empty());
    for other in ["", "{", "[]", r#"[{"name": "others"}]"#] {
        lint.find_lines(other);
        assert!(lint.findings.iter().all(|one| one.line.is_none()), "{other}");
    }
}

#[test]
fn hostile_names_are_inert_in_annotations_and_the_rest_is_counted() {
    let bad = r#"{"type": "object", "properties": {"p": {"type": "integer", "minimum": 3, "maximum": 1}}}"#;
    let tools: Vec<String> = (0..12)
        .map(|at| format!(r#"{{"name": "a::b,{at}", "description": "%0A\n::warning ::x", "inputSchema": {bad}}}"#))
        .collect();
    let text = format!("[{}]", tools.join(",\n"));
    let mut lint = measured(&text, &Meter::default(), &Options::new());
    lint.find_lines(&text);
    lint.findings.retain(|own| own.severity == Severity::Error);
    let out = super::super::lint_github(&lint, Some("a,b:c.json"));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 10, "{out}");
    assert!(lines.iter().all(|line| line.starts_with("::error ")), "{out}");
    assert!(
        lines[8]
            .starts_with("::error file=a%2Cb%3Ac.json,line=9,title=toolfold lint%3A contradictory-bounds::`a::b,8`")
    );
    assert_eq!(lines[9], "::error title=toolfold lint::3 more findings are printed without --output github");
}
