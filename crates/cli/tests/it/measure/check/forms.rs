//! Every output format, as a program parses it.

use serde_json::Value;

use super::{locked, run, tools, write};

/// The schema that OASIS publishes for SARIF 2.1.0, reduced to the members that toolfold writes.
/// Other members are rejected: the schema allows none.
const SARIF_SCHEMA: &str = include_str!("sarif.schema.json");

#[test]
fn sarif_is_what_its_published_schema_allows() {
    let path = locked("sarif", &[]);
    let schema: Value = serde_json::from_str(SARIF_SCHEMA).unwrap();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    let check = |more: &[&str]| -> Value {
        let (_, out, err) = run(&path, &[&["check", "--tools", "tools.json", "--output", "sarif"], more].concat());
        serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {err}"))
    };
    let valid = |log: &Value| {
        validator.iter_errors(log).map(|why| format!("{} {why}", why.instance_path())).collect::<Vec<_>>()
    };
    assert_eq!(valid(&check(&[])), Vec::<String>::new());
    write(&path, "tools.json", &tools(20));
    for more in [vec![], vec!["--frozen"], vec!["--max-category", "1", "--max-first-turn", "1", "--max-tool", "1"]] {
        let log = check(&more);
        assert!(log["runs"][0]["results"].as_array().is_some_and(|all| !all.is_empty()));
        assert_eq!(valid(&log), Vec::<String>::new(), "{more:?}");
    }
    // The schema can fail.
    let mut wrong = check(&[]);
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    wrong["runs"][0]["results"][0]["surprise"] = 1.into();
    assert_eq!(valid(&wrong).len(), 2);
}

#[test]
fn several_forms_are_written_at_once() {
    let path = locked("several", &[]);
    std::fs::create_dir(path.join(".git")).unwrap();
    write(&path, "tools.json", &tools(20));
    let reports = ["text", "json", "markdown", "github", "sarif", "junit"].map(|form| format!("{form}=out.{form}"));
    let mut args = vec!["check", "--tools", "tools.json", "--output", "github", "--color", "always"];
    args.extend(reports.iter().flat_map(|report| ["--report", report]));
    let (code, out, err) = run(&path, &args);
    assert_eq!(code, 1, "{err}");
    assert!(out.lines().all(|line| line.starts_with("::error file=tools.json,line=")), "{out}");
    let read = |form: &str| std::fs::read_to_string(path.join(format!("out.{form}"))).unwrap();
    assert_eq!(read("github"), out);
    assert!(read("text").contains("Over budget") && !read("text").contains('\u{1b}'));
    assert!(read("markdown").starts_with("### ❌ toolfold check"));
    assert!(read("junit").starts_with("<?xml"));
    let data: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!((&data["schema"], &data["ok"]), (&"toolfold.check/1".into(), &false.into()));
    assert_eq!(run(&path, &["check", "--tools", "tools.json", "--json"]).1, read("json"));
}

#[test]
fn the_verdict_is_the_last_thing_that_a_person_reads() {
    let path = locked("verdict", &[]);
    let (_, out, _) = run(&path, &["check", "--tools", "tools.json"]);
    assert!(out.starts_with("Within budget: 12 tools and "), "{out}");
    write(&path, "tools.json", &tools(20));
    let (_, out, _) = run(&path, &["check", "--tools", "tools.json"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[lines.len() - 2].starts_with("Over budget, "), "{out}");
    assert!(lines[lines.len() - 1].contains("tokens by billed:openai-chat/gpt-4.1"), "{out}");
}
