//! Tests of `why`.

use serde_json::{Value, json};

use crate::measure::tree::{from_stdin, report_of};

fn tools() -> Value {
    json!([
        {"name": "read_rows", "title": "Read rows", "description": "Reads the rows of a sheet. Slow on large files.",
         "inputSchema": {"type": "object", "required": ["range"], "properties": {
             "range": {"type": "string", "description": "The cells to read, e.g. 'A1:C9'."},
             "order": {"type": "string", "enum": ["up", "down"], "default": "up", "description": "Which way to sort."},
             "style": {"type": "object", "description": "How.", "properties": {"bold": {"type": "boolean"}}}}},
         "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
        {"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}}])
}

fn why(args: &[&str]) -> (i32, String, String) {
    let words: Vec<&str> = ["why"].iter().chain(args).copied().collect();
    from_stdin(&words, &tools().to_string())
}

fn answer(args: &[&str]) -> Value {
    let (code, out, err) = why(args);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// The oracle is `report`, which has no parts: a list with the part minus a list without it.
#[test]
fn a_part_costs_what_the_report_of_a_list_without_it_is_less() {
    let own = answer(&["read_rows", "--tools", "-", "--json"]);
    let full = report_of(&tools());
    let cost = |edit: &dyn Fn(&mut Value)| {
        let mut without = tools();
        edit(&mut without);
        full - report_of(&without)
    };
    let part = |path: &[&str]| {
        let mut parts = own["parts"].as_array().unwrap();
        let mut found = 0;
        for name in path {
            let part = parts.iter().find(|part| part["name"] == *name).unwrap_or_else(|| panic!("{path:?}: {own}"));
            found = part["tokens"].as_u64().unwrap();
            parts = part["parts"].as_array().unwrap_or(parts);
        }
        found
    };
    let property = |tools: &mut Value, name: &str| {
        tools[0]["inputSchema"]["properties"].as_object_mut().unwrap().shift_remove(name).unwrap();
    };
    assert_eq!(part(&["description"]), cost(&|tools| tools[0]["description"] = json!("")));
    assert_eq!(part(&["order"]), cost(&|tools| property(tools, "order")));
    assert_eq!(
        part(&["range"]),
        cost(&|tools| {
            property(tools, "range");
            tools[0]["inputSchema"]["required"] = json!([]);
        })
    );
    assert_eq!(
        part(&["order", "enum"]),
        cost(&|tools| {
            tools[0]["inputSchema"]["properties"]["order"].as_object_mut().unwrap().shift_remove("enum");
        })
    );
    assert_eq!(
        part(&["style", "bold"]),
        cost(&|tools| {
            tools[0]["inputSchema"]["properties"]["style"]["properties"].as_object_mut().unwrap().shift_remove("bold");
        })
    );
}

#[test]
fn what_clients_alone_read_is_not_billed() {
    let own = answer(&["read_rows", "--tools", "-", "--json"]);
    let names: Vec<&str> =
        own["not_billed"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["title", "annotations", "outputSchema"]);
    assert!(why(&["read_rows", "--tools", "-"]).1.contains("not billed"));
}

#[test]
fn every_detail_states_what_it_hides() {
    let own = answer(&["read_rows", "--tools", "-", "--json"]);
    let hides = |detail: &str| -> Vec<String> {
        let found = own["details"].as_array().unwrap().iter().find(|one| one["detail"] == detail).unwrap();
        let guess = |one: &Value| {
            let hint = one["hint"].as_str().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{}: {}{hint}", one["parameter"].as_str().unwrap(), one["hides"])
        };
        found["guesses"].as_array().unwrap().iter().map(guess).collect()
    };
    assert!(hides("full").is_empty());
    assert_eq!(
        hides("signature"),
        [r#"range: ["description"] (e.g. A1:C9)"#, r#"order: ["default","description"]"#, r#"style: ["description"]"#]
    );
    assert_eq!(
        hides("outline"),
        [
            r#"range: ["description"] (e.g. A1:C9)"#,
            r#"order: ["enum","default","description"]"#,
            r#"style: ["shape","description"]"#
        ]
    );
    assert_eq!(
        hides("required"),
        [r#"range: ["description"] (e.g. A1:C9)"#, r#"order: ["name"]"#, r#"style: ["name"]"#]
    );
    assert_eq!(hides("summary"), [r#"range: ["name"]"#, r#"order: ["name"]"#, r#"style: ["name"]"#]);
}

#[test]
fn another_wire_has_another_bill() {
    let tokens = |args: &[&str]| answer(args)["tokens"].as_u64().unwrap();
    let openai = tokens(&["read_rows", "--tools", "-", "--json"]);
    let anthropic = answer(&["read_rows", "--tools", "-", "--json", "--wire", "anthropic"]);
    assert_eq!(anthropic["meter"], "estimate:anthropic/claude-sonnet-4.6");
    assert!(anthropic["tokens"].as_u64().unwrap() > openai);
    assert_eq!(tokens(&["read_rows", "--tools", "-", "--json", "--meter", "billed:openai-chat/gpt-4.1"]), openai);
    let (code, _, err) = why(&["read_rows", "--tools", "-", "--model", "qwen3-max"]);
    assert_eq!(code, 3, "{err}");
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest() {
    let (code, out, err) = why(&["read_row", "--tools", "-"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("did you mean `read_rows`"), "{err}");
    let (code, _, err) = why(&["zzz", "--tools", "-"]);
    assert!(code == 1 && err.contains("unknown tool `zzz`, not among 2"), "{err}");
    assert_eq!(why(&[]).0, 2);
}
