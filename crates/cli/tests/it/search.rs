//! Tests of `toolfold search`.

use serde_json::{Value, json};

use crate::commands::{run, run_with};

const QUERIES: &str = "\
{\"query\":\"draw a chart\",\"tools\":[[\"create_chart\",\"create_excel_chart\"]]}

{\"query\":\"xyzzy\",\"tools\":[\"create_chart\"]}
";

fn search_json(args: &[&str], input: &str) -> (i32, Value) {
    let words: Vec<&str> = ["search", "--json"].iter().chain(args).copied().collect();
    let ran = run_with(&words, input.as_bytes());
    assert_eq!(ran.err, "", "{args:?}");
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

fn names(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_query_finds_tools() {
    let (code, answer) = search_json(&["plot the turnover", "-k", "3"], "");
    assert_eq!((code, &answer["unknown_words"]), (0, &json!(["turnover"])));
    assert_eq!(names(&answer)[..2], ["create_chart", "create_excel_chart"]);
    assert_eq!(names(&answer).len(), 3);
    let scores: Vec<f64> =
        answer["results"].as_array().unwrap().iter().filter_map(|tool| tool["score"].as_f64()).collect();
    assert!(scores.is_sorted_by(|one, next| one >= next) && scores[2] > 0.0, "{scores:?}");
    assert!(!answer["results"][0]["sentence"].as_str().unwrap().is_empty());
    let text = run(&["search", "plot the turnover", "-k", "3"]).out;
    assert!(text.contains("create_chart") && text.ends_with("no tool mentions: turnover\n"), "{text}");
    let (_, named) = search_json(&["merge cells"], "");
    assert_eq!(names(&named)[0], "merge_cells");
}

#[test]
fn tools_are_read_from_standard_input() {
    let tools = json!([
        {"name": "mail__send", "description": "Sends a message.", "input_schema": {"type": "object"}},
        {"name": "disk__list", "description": "Lists a folder.", "input_schema": {"type": "object"}},
    ])
    .to_string();
    let (code, answer) = search_json(&["send an email", "--tools", "-"], &tools);
    assert_eq!((code, names(&answer)), (0, vec!["mail__send"]));
    assert_eq!(answer["results"][0]["sentence"], "Sends a message.");
    let (code, answer) = search_json(&["xyzzy", "--tools", "-"], &tools);
    assert_eq!((code, answer["results"].as_array().unwrap().len()), (1, 0));
    let ran = run_with(&["search", "xyzzy", "--tools", "-"], tools.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (1, "no tool found\nno tool mentions: xyzzy\n"));
    let profile = std::env::temp_dir().join(format!("toolfold-search-{}.toml", std::process::id()));
    std::fs::write(&profile, "unlisted = \"hidden\"\ncore = [\"disk__list\"]\n").unwrap();
    let (code, answer) = search_json(&["send", "--tools", "-", "--profile", profile.to_str().unwrap()], &tools);
    std::fs::remove_file(profile).unwrap();
    assert_eq!((code, names(&answer).len()), (1, 0), "hidden tools are not found");
}

#[test]
fn recall_of_recorded_queries() {
    let (code, answer) = search_json(&["--queries", "-"], QUERIES);
    assert_eq!((code, &answer["recall"]["queries"]), (0, &json!(2)));
    assert_eq!(answer["recall"]["at"][1], json!({"results": 5, "recall": 0.5}));
    let text = run_with(&["search", "--queries", "-"], QUERIES.as_bytes()).out;
    assert!(text.starts_with("2 queries\nresults  recall\n") && text.contains("5  0.500\n"), "{text}");
    for (line, why) in [
        ("{\"query\":\"a\"", "-:1: the line is not JSON"),
        ("\n{\"query\":\"a\"}", ":2: the line is not JSON: missing field `tools`"),
        ("{\"query\":\"a\",\"tools\":[]}", "`tools` is empty"),
        ("\n", "contains no queries"),
    ] {
        let ran = run_with(&["search", "--queries", "-"], line.as_bytes());
        assert!(ran.code == 1 && ran.err.contains(why), "{line}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn usage_and_the_published_schema() {
    assert_eq!(run(&["search"]).code, 2);
    assert_eq!(run(&["search", "a", "--queries", "q.jsonl"]).code, 2);
    assert_eq!(run(&["search", "a", "--tools", "nowhere.json"]).code, 1);
    let printed: Value = serde_json::from_str(&run(&["search", "--schema"]).out).unwrap();
    let published: Value = serde_json::from_str(&crate::project("crates/cli/src/search/search.schema.json")).unwrap();
    assert_eq!(
        published, printed,
        "write it anew: toolfold search --schema > crates/cli/src/search/search.schema.json"
    );
}
