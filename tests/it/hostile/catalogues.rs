//! Tool lists that are truncated, malformed, huge, deep or deceptive.

use toolfold::catalog::{Catalog, Format};
use toolfold::diagnostic::{Diagnostic, Severity};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Detail, Folded, ToolProfile};
use toolfold::wire::Wire;
use toolfold_testing::with;

use super::{found, sound};
use crate::talk::Talk;

/// Reads a tool list and checks that it ends with a bounded number of valid diagnostics.
#[track_caller]
fn import(text: &str) -> (Catalog, Vec<Diagnostic>) {
    let loaded = Catalog::import(text, "tools.json", None);
    assert!(loaded.diagnostics.len() <= 51, "{} diagnostics", loaded.diagnostics.len());
    loaded.diagnostics.iter().for_each(sound);
    (loaded.value, loaded.diagnostics)
}

/// Checks a text for a diagnostic: its code, its severity, and a part of the printed line.
#[track_caller]
fn check(text: &str, code: &str, severity: Severity, part: &str) -> Catalog {
    let (catalog, diagnostics) = import(text);
    let diagnostic = found(&diagnostics, code);
    assert_eq!(diagnostic.severity, severity, "{diagnostic}");
    assert!(diagnostic.to_string().contains(part), "`{part}` is not in: {diagnostic}");
    catalog
}

#[track_caller]
fn refused(text: &str, code: &str, part: &str) {
    let catalog = check(text, code, Severity::Error, part);
    assert!(catalog.is_empty(), "nothing of it may be used");
}

fn with_schema(schema: &str) -> String {
    format!(r#"[{{"name":"t","inputSchema":{schema}}}]"#)
}

/// Renders a catalog with every arm as valid JSON.
fn render_all(catalog: &Catalog) {
    for arm in Arm::EVERYWHERE {
        let engine = Engine::builder(catalog.clone()).profile(ToolProfile::derive(catalog)).arm(arm).build().unwrap();
        let array = engine.talk_on(Wire::OpenAiChat).tools();
        serde_json::from_str::<Vec<&serde_json::value::RawValue>>(array.json()).unwrap();
    }
}

#[test]
fn invalid_json_is_rejected_with_its_place() {
    refused("", "bad-json", "tools.json:1:1");
    refused("[\n  {\"name\": \"a\"", "bad-json", "tools.json:2:14");
    refused("[{\"name\":\"a\"}", "bad-json", "was it cut off?");
    refused("nonsense", "bad-json", "tools.json:1:");
    refused("[{\"name\":\"a\"}] and more", "bad-json", "trailing characters");
    refused("[{\"name\":\"a\",}]", "bad-json", "tools.json:1:14");
    refused("\u{feff}[", "bad-json", "cut off");
    refused("\0\0\0", "bad-json", "tools.json:1:1");
}

#[test]
fn every_truncated_list_is_rejected() {
    let text = r#"{"jsonrpc":"2.0","result":{"tools":[{"name":"é","inputSchema":{"type":"object"}}]}}"#;
    assert!(import(text).1.iter().all(|diagnostic| !diagnostic.is_error()));
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        refused(&text[..end], "bad-json", "tools.json:1:");
    }
}

#[test]
fn other_json_is_rejected() {
    refused("3", "no-tools", "must be an array, not a number");
    refused("null", "no-tools", "not null");
    refused("{}", "no-tools", "no tool list in this object");
    refused("{\"tools\":3}", "no-tools", "tools.json at /tools");
    refused("{\"result\":{\"prompts\":[]}}", "no-tools", "at /result");
    refused(r#"{"jsonrpc":"2.0","error":{"code":-32601}}"#, "no-tools", "JSON-RPC error");
    let nested = format!("{}{}", "{\"tools\":".repeat(50), "}".repeat(50));
    refused(&nested.replace("{\"tools\":}", "{\"tools\":[]}"), "no-tools", "no tool list");
}

#[test]
fn invalid_entries_are_skipped_and_reported() {
    refused("[3]", "bad-tool", "tools.json:1:2 at /0");
    refused("[[]]", "bad-tool", "must be an object, not an array");
    refused(r#"[{"inputSchema":{}}]"#, "no-name", "a tool must have a `name`");
    refused(r#"[{"name":3}]"#, "bad-tool", "`name`");
    refused(r#"[{"name":"\u2028"}]"#, "bad-name", "must not be empty");
    refused(r#"[{"name":"a","name":"b"}]"#, "bad-tool", "is there twice");
    refused(r#"[{"name":"a","description":["x"]}]"#, "bad-tool", "`description` must be");
    refused(&with_schema("3"), "bad-schema", "not a number");
    refused(&with_schema("[1]"), "bad-schema", "not an array");
    refused(r#"[{"name":"t","inputSchema":{},"annotations":3}]"#, "bad-annotations", "tool `t`");
    let mixed = r#"[{"name":"a","inputSchema":{}},{"type":"function","function":{"name":"b"}}]"#;
    let catalog = check(mixed, "mixed-formats", Severity::Error, "/1");
    assert_eq!(catalog.len(), 1, "the sound tool stays");
}

#[test]
fn deceptive_names_are_rejected_and_shown() {
    let tool = |name: &str| serde_json::json!([{"name": name, "inputSchema": {}}]).to_string();
    refused(&tool("a\0b"), "bad-name", "U+0000");
    refused(&tool("safe\u{202e}evil"), "bad-name", "U+202E");
    refused(&tool("a\u{200b}b"), "bad-name", "U+200B");
    refused(&tool(" "), "bad-name", "must not be empty");
    refused(&tool("\x1b[31mred"), "bad-name", "U+001B");
    refused(&tool(""), "bad-name", "must not be empty");
    refused(&tool(&"a".repeat(129)), "bad-name", "129");
    refused(&tool(&"a".repeat(1_000_000)), "bad-name", "1000000");
    refused(&tool("a\tb"), "bad-name", "U+0009");
}

#[test]
fn deceptive_descriptions_are_escaped() {
    let text = serde_json::json!([
        {"name": "a", "description": "x\0y\u{202e}z", "inputSchema": {"type": "array", "\u{202e}": 1}},
        {"name": "b", "inputSchema": {"$ref": "#/\u{202e}"}},
    ]);
    let (catalog, diagnostics) = import(&text.to_string());
    found(&diagnostics, "not-an-object");
    found(&diagnostics, "missing-ref");
    render_all(&catalog);
}

#[test]
fn the_first_tool_of_a_name_is_kept() {
    let text = r#"[{"name":"a","description":"1","inputSchema":{}},{"name":"a","description":"2","inputSchema":{}}]"#;
    let catalog = check(text, "duplicate-tool", Severity::Error, "tools.json:1:50 at /1");
    assert_eq!(catalog.get("a").unwrap().description(), "1");
    assert_eq!(Catalog::from_mcp(text).unwrap_err().kind, toolfold::error::ErrorKind::Catalog);
}

#[test]
fn unresolvable_references_are_reported() {
    for (schema, code) in [
        (r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}"#, "remote-ref"),
        (r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#, "remote-ref"),
        (r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/Nope"}}}"##, "missing-ref"),
        (r##"{"$ref":"#nope"}"##, "missing-ref"),
        (r##"{"$ref":"#/%zz/~"}"##, "missing-ref"),
    ] {
        let catalog =
            check(&with_schema(schema), code, Severity::Warning, "tools.json:1:2 at /0/inputSchema: tool `t`");
        render_all(&catalog);
    }
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}"##,
        r##"{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/properties/a"}}}"##,
        r##"{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/T"}},"$defs":{"T":{"anyOf":[{"$ref":"#/$defs/T"}]}}}"##,
    ] {
        let (catalog, diagnostics) = import(&with_schema(schema));
        assert!(!diagnostics.iter().any(Diagnostic::is_error));
        render_all(&catalog);
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    refused(&deep("[", "]"), "bad-tool", "/0");
    import(&deep("{\"tools\":", "}"));
    let schema = deep("{\"items\":", "}");
    refused(&with_schema(&schema), "bad-schema", "tool `t`");
    refused(&with_schema(&deep("{\"x\":[", "]}")), "bad-schema", "tool `t`");
    let extra = format!(r#"[{{"name":"t","inputSchema":{{}},"_meta":{schema}}}]"#);
    let (catalog, _) = import(&extra);
    assert!(catalog.to_json(Format::Mcp).len() > 10_000);
    let edge = format!("{}{{}}{}", "{\"items\":".repeat(126), "}".repeat(126));
    render_all(&import(&with_schema(&edge)).0);
}

#[test]
fn size_is_bounded() {
    let element = "{\"name\":\"a\"},";
    let huge = format!("[{}0]", element.repeat(50_000_000_usize.div_ceil(element.len())));
    refused(&huge, "too-large", "50 MB");
    for element in ["0,", "{},", "{\"name\":\"a\",\"inputSchema\":{}},", "{\"name\":\" \",\"inputSchema\":{}},\n"] {
        let list = format!("[{}0]", element.repeat(1_000_000 / element.len()));
        let (_, diagnostics) = import(&list);
        assert_eq!(diagnostics.len(), 51, "the rest is counted");
        found(&diagnostics, "more");
    }
}

#[test]
fn many_parts_in_one_tool_cost_no_more_than_their_size() {
    let many = |part: &dyn Fn(usize) -> String| (0..5_000).map(part).collect::<Vec<_>>().join(",");
    let properties = many(&|at| format!(r##""p{at}":{{"$ref":"#a{at}","description":"words and words"}}"##));
    let names = many(&|at| format!("\"p{at}\""));
    let definitions = many(&|at| format!(r##""D{at}":{{"$ref":"#/$defs/D{}"}}"##, at + 1));
    for schema in [
        format!(r#"{{"type":"object","required":[{names}],"properties":{{{properties}}}}}"#),
        format!(r##"{{"$ref":"#/$defs/D0","$defs":{{{definitions}}}}}"##),
        format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{names}]}}}}}}"#),
    ] {
        render_all(&import(&with_schema(&schema)).0);
    }
}

/// Two sources of the same tool, one without a schema: the folded tool must not be larger than the
/// full one.
#[test]
fn a_tool_without_a_schema_is_not_made_longer_by_folding() {
    for words in 1..50 {
        let text = serde_json::json!([{"type": "function", "function": {"name": "ping", "description": "word ".repeat(words)}}]);
        let catalog = Catalog::from_openai(&text.to_string()).unwrap();
        let length = |arm: Arm| {
            let profile = ToolProfile::derive(&catalog);
            let engine = Engine::builder(catalog.clone()).profile(profile).arm(arm).build().unwrap();
            let array: Vec<serde_json::Value> = engine.talk_on(Wire::OpenAiChat).tools().to().unwrap();
            array[0].to_string().len()
        };
        for arm in [Arm::Stable, Arm::Signature, Arm::Lean] {
            assert!(length(arm) <= length(Arm::Full), "{words} words, {arm}: {} > {}", length(arm), length(Arm::Full));
        }
    }
}

/// A summary may contain characters that JSON escapes; its length counts as it is sent.
#[test]
fn a_summary_full_of_quotes_does_not_outgrow_the_description() {
    let schema = serde_json::json!({"type": "object", "properties": {}});
    let tool = toolfold::catalog::Tool::new("t", &"a".repeat(200), schema).unwrap();
    let summary = "\"".repeat(170);
    let folded = Folded::new(&tool, Detail::Summary, Some(&summary));
    let length = serde_json::to_string(&folded.description).unwrap().len();
    assert!(length <= 202, "{length} bytes instead of 202");
}

/// `required` beside a reference at the top applies as well.
#[test]
fn the_required_detail_keeps_siblings_of_a_reference() {
    let schema = serde_json::json!({
        "$ref": "#/$defs/Args", "required": ["b"], "type": "object",
        "$defs": {"Args": {"type": "object", "description": "words ".repeat(30), "required": ["a"],
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "number"}}}},
    });
    let tool = toolfold::catalog::Tool::new("t", "One. Two.", schema).unwrap();
    let own = Folded::new(&tool, Detail::Required, None).parameters().to_string();
    assert!(own.contains("\"b\""), "`b` is required, but: {own}");
}

/// A tool may have the name of a category; requested as a tool, the tool opens.
#[test]
fn a_tool_named_like_a_category_opens_by_its_name() {
    let long = crate::LONG;
    let text = serde_json::json!([
        {"name": "read", "description": long, "inputSchema": {"type": "object", "properties": {"a": {"description": long}}}},
        {"name": "scan", "description": long, "inputSchema": {"type": "object", "properties": {"a": {"description": long}}}},
    ]);
    let catalog = Catalog::from_mcp(&text.to_string()).unwrap();
    let profile =
        ToolProfile::parse("[category.read]\ntools=['scan']\n[category.x]\ntools=['read']", "p").into_result();
    let engine = Engine::builder(catalog).profile(profile.unwrap()).arm(Arm::Stable).build().unwrap();
    let request = with!(toolfold::profile::ExpandRequest::default(), tools = vec!["read".to_owned()]);
    let opened = engine.talk().expand(&request).opened;
    assert!(opened.iter().any(|tool| *tool == "read"), "opened {opened:?}");
}

/// The deepest schema that is accepted must still be readable in the array, three levels deeper.
#[test]
fn a_rendered_array_can_be_read_again() {
    let edge = format!("{}{{}}{}", "{\"items\":".repeat(126), "}".repeat(126));
    let (catalog, _) = import(&with_schema(&edge));
    assert!(serde_json::from_str::<serde_json::Value>(&catalog.to_json(Format::OpenAiChat)).is_ok());
}
