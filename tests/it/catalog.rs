//! Import and export: what comes in goes out, and what is wrong is named.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolfold::catalog::{Catalog, Format, Tool};
use toolfold::diagnostic::Severity;

/// What import says of a text: `severity[code] path`, one a diagnostic.
#[track_caller]
fn check(input: &str, expected: &[&str]) {
    let loaded = Catalog::import(input, "t.json", None);
    let found: Vec<String> = loaded
        .diagnostics
        .iter()
        .map(|d| format!("{}[{}] {}", d.severity, d.code, d.place.path.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(found, expected, "{:#?}", loaded.diagnostics);
    for diagnostic in &loaded.diagnostics {
        assert_eq!(diagnostic.place.file.as_deref(), Some("t.json"), "names its file");
        assert!(diagnostic.severity == Severity::Note || diagnostic.help.is_some(), "says what to do: {diagnostic}");
    }
}

#[test]
fn every_list_format_is_detected() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let chat = format!(r#"[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}]"#);
    let responses = format!(r#"[{{"type":"function","name":"f","parameters":{schema},"strict":false}}]"#);
    let anthropic = format!(r#"[{{"name":"f","input_schema":{schema}}}]"#);
    let mcp = format!(r#"[{{"name":"f","inputSchema":{schema}}}]"#);
    let gemini = format!(r#"[{{"functionDeclarations":[{{"name":"f","parametersJsonSchema":{schema}}}]}}]"#);
    for (text, format) in [
        (&chat, Format::OpenAiChat),
        (&responses, Format::OpenAiResponses),
        (&anthropic, Format::Anthropic),
        (&mcp, Format::Mcp),
        (&gemini, Format::Gemini),
    ] {
        let wrapped = [
            text.clone(),
            format!(r#"{{"tools":{text},"nextCursor":null}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{text}}}}}"#),
        ];
        for document in wrapped {
            let loaded = Catalog::import(&document, "t", None);
            assert_eq!(loaded.diagnostics, vec![], "{document}");
            assert_eq!(&loaded.value.to_json(format), text, "goes out as it came");
            assert_eq!(loaded.value.at(0).unwrap().parameters_text(), schema);
        }
    }
    // From any shape to any other: name and schema arrive.
    for from in [&chat, &responses, &anthropic, &mcp, &gemini] {
        let catalog = Catalog::import(from, "t", None).value;
        for to in Format::ALL {
            let again = Catalog::import(&catalog.to_json(to), "t", Some(to));
            assert_eq!(again.diagnostics, vec![]);
            assert_eq!(again.value.at(0).unwrap().parameters_text(), schema);
        }
    }
}

/// A list without any tool has a format too, where one of its entries decides it.
#[test]
fn a_list_of_other_entries_has_a_format() {
    for (text, format) in [
        (r#"[{"googleSearch":{}}]"#, Format::Gemini),
        (r#"[{"url_context":{}},{"made_up":{}}]"#, Format::Gemini),
        (r#"[{"type":"made_up"},{"type":"bash_20250124","name":"bash"}]"#, Format::Anthropic),
        (r#"[{"type":"web_search_preview"},{"type":"mcp"}]"#, Format::OpenAiResponses),
        (r#"[{"type":"web_search_preview_2025_03_11"}]"#, Format::OpenAiResponses),
        (r#"[{"type":"namespace","name":"n","description":"D.","tools":[]}]"#, Format::OpenAiResponses),
        (r#"[{"type":"custom","custom":{}},{"type":"function","function":{"name":"f"}}]"#, Format::OpenAiChat),
    ] {
        let loaded = Catalog::import(text, "t", None);
        assert_eq!(loaded.diagnostics, vec![], "{text}");
        assert_eq!(loaded.value.to_json(format), text);
        assert!(loaded.value.foreign().count() > 0);
    }
    let labels = |text: &str| -> Vec<(String, Option<String>)> {
        let catalog = Catalog::import(text, "t", None).value;
        catalog.foreign().map(|entry| (entry.label.to_string(), entry.name.as_ref().map(ToString::to_string))).collect()
    };
    assert_eq!(labels(r#"[{"googleSearch":{}}]"#), [("googleSearch".to_owned(), None)]);
    assert_eq!(labels(r#"[{"type":"custom","name":"x"}]"#), [("custom".to_owned(), Some("x".to_owned()))]);
}

/// A schema and its text are shared, not copied.
#[test]
fn what_is_shared_is_not_copied() {
    let text = r#"[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]"#;
    let catalog = Catalog::from_openai(text).unwrap();
    let tool = catalog.at(0).unwrap();
    assert!(std::ptr::eq(tool.parameters(), tool.clone().parameters()));
    let (whole, part) =
        (tool.source(Format::OpenAiChat).unwrap().as_ptr() as usize, tool.parameters_text().as_ptr() as usize);
    assert_eq!(
        part - whole,
        text.find(r#"{"type":"object""#).unwrap() - 1,
        "the schema's text is a part of the tool's"
    );
}

#[test]
fn text_is_unchanged() {
    let text = r#"[{"type":"function","function":{"strict":true,"name":"f","description":"caf\u00e9 \/","parameters":{"properties":{"n":{"default":1e3,"maximum":10.50,"x-vendor":[1,{"k":null}]}},"type":"object"},"vendor":{"b":1,"a":2}},"cache":"y"}]"#;
    assert_eq!(Catalog::from_openai(text).unwrap().to_json(Format::OpenAiChat), text);
    let spaced = text.replace(",\"", " ,\n\t\"").replace("\":", "\" : ");
    assert_eq!(
        Catalog::from_openai(&spaced).unwrap().to_json(Format::OpenAiChat),
        text,
        "white space goes, nothing else"
    );
    let tool = Catalog::from_openai(text).unwrap();
    let extra: Vec<(&str, &str)> = tool.at(0).unwrap().extra().collect();
    assert_eq!(extra, [("vendor", r#"{"b":1,"a":2}"#), ("cache", r#""y""#)]);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let ok = r#"{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}"#;
    check("", &["error[bad-json] -"]);
    check("[{]", &["error[bad-json] -"]);
    check("[1", &["error[bad-json] -"]);
    check("7", &["error[no-tools] "]);
    check("{}", &["error[no-tools] "]);
    check(r#"{"error":{"code":-32601,"message":"no"}}"#, &["error[no-tools] "]);
    check(&format!("[{ok},3]"), &["error[bad-tool] /1"]);
    check(&format!("[{ok},{ok}]"), &["note[duplicate-tool] /1"]);
    let other = ok.replace('{', r#"{"description":"Another.","#);
    check(&format!("[{ok},{other}]"), &["error[duplicate-tool] /1"]);
    check(&format!("{{\"tools\":[{ok},{{\"function\":{{}}}}]}}"), &["error[no-name] /tools/1"]);
    check(&format!(r#"[{ok},{{"name":"b","inputSchema":{{}}}}]"#), &["error[mixed-formats] /1"]);
    check(r#"[{"type":7,"name":"a"}]"#, &["error[bad-tool] /0"]);
    check(
        r#"[{"type":"namespace","name":"n","tools":[{"type":"function","name":"a","parameters":{}},{"type":"function"},3]}]"#,
        &["error[no-name] /0/tools/1", "error[bad-tool] /0/tools/2"],
    );
    check(
        r#"[{"functionDeclarations":[{"name":"a"},{"parametersJsonSchema":{}}]}]"#,
        &["error[no-name] /0/functionDeclarations/1"],
    );
    check(r#"[{"name":"a","input_schema":{}},{"name":"b"}]"#, &["warning[no-schema] /1"]);
    check(r#"[{"name":"a b","inputSchema":{}}]"#, &[]);
    check(r#"[{"name":" ","inputSchema":{}}]"#, &["error[bad-name] /0"]);
    check("[{\"name\":\"a\u{202e}b\",\"inputSchema\":{}}]", &["error[bad-name] /0"]);
    check(r#"[{"name":"a\u0000b","inputSchema":{}}]"#, &["error[bad-name] /0"]);
    check(r#"[{"name":"","inputSchema":{}}]"#, &["error[bad-name] /0"]);
    check(r#"[{"name":"a","inputSchema":[]}]"#, &["note[repaired-schema] /0/inputSchema"]);
    check(r#"[{"name":"a","name":"b","inputSchema":{}}]"#, &["error[bad-tool] /0"]);
    check(r#"[{"name":7,"inputSchema":{}}]"#, &["error[bad-tool] /0"]);
    check(r#"[{"name":"a","inputSchema":{"type":"array"}}]"#, &["note[not-an-object] /0/inputSchema"]);
    let properties = r#"{"type":"array","properties":{"a":{}}}"#;
    check(&format!(r#"[{{"name":"a","inputSchema":{properties}}}]"#), &["warning[not-an-object] /0/inputSchema"]);
    check(
        r##"[{"name":"a","inputSchema":{"$ref":"#/$defs/A"}}]"##,
        &["warning[missing-ref] /0/inputSchema", "note[repaired-schema] /0/inputSchema"],
    );
    check(
        r##"[{"name":"a","inputSchema":{"$ref":"http://x/y"}}]"##,
        &["warning[remote-ref] /0/inputSchema", "note[repaired-schema] /0/inputSchema"],
    );
    check(r##"[{"name":"a","inputSchema":{"properties":{"x":{"$ref":"#"}}}}]"##, &[]);
}

#[test]
fn valid_tools_are_used_beside_invalid_ones() {
    let text = r#"[{"name":"a","inputSchema":{}},{"name":"","inputSchema":{}},{"name":"b","inputSchema":{}}]"#;
    let loaded = Catalog::import(text, "t.json", None);
    assert_eq!(loaded.value.names().map(ToString::to_string).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(loaded.diagnostics[0].place.to_string(), "t.json:1:32 at /1");
    assert!(loaded.into_result().is_err(), "but whole it is not");
    assert_eq!(Catalog::from_mcp(text).unwrap_err().kind, toolfold::error::ErrorKind::Catalog);
}

#[test]
fn hostile_sizes_are_rejected_in_bounded_time() {
    let deep = format!(r#"[{{"name":"a","inputSchema":{}1{}}}]"#, r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    check(&deep, &["error[bad-schema] /0/inputSchema"]);
    check(&"[".repeat(10_000), &["error[bad-json] -"]);
    let huge = format!("[{}]", r#"{"name":"a","inputSchema":{}},"#.repeat(1_700_000));
    assert!(huge.len() > 50_000_000);
    check(&huge, &["error[too-large] -"]);
    let twice = r#"{"name":"a","inputSchema":{}},"#.repeat(100_000);
    let loaded = Catalog::import(&format!("[{}]", twice.trim_end_matches(',')), "t", None);
    assert_eq!(loaded.diagnostics.len(), 51, "fifty one by one, the rest counted");
    assert!(loaded.diagnostics[50].message.contains("99949 more"));
}

#[test]
fn a_rust_type_is_a_tool() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Args {
        /// A city.
        city: String,
        unit: Option<Unit>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Unit {
        Celsius,
        Fahrenheit,
    }
    let tool = Tool::of::<Args>("weather", "The weather now.").unwrap();
    let parameters = tool.parameters();
    assert_eq!(parameters["required"], json!(["city"]));
    assert_eq!(parameters["properties"]["city"], json!({"description": "A city.", "type": "string"}));
    assert!(parameters.get("title").is_none() && parameters.get("$schema").is_none());
    assert!(parameters["$defs"]["Unit"].is_object(), "definitions survive");
    let nothing = Tool::of::<()>("ping", "Say hello.");
    assert!(nothing.is_ok() || nothing.unwrap_err().to_string().contains("JSON Schema"));
}

#[test]
fn a_created_tool_is_checked() {
    assert!(Tool::new("a\tb", "", json!({})).unwrap_err().to_string().contains("`a\\u{9}b`"));
    assert!(Tool::new("a", "", json!([])).unwrap_err().to_string().contains("not an array"));
    let deep = (0..200).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    assert!(Tool::new("a", "", deep).is_err());
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(|v| json!(v)),
        any::<f64>().prop_map(|v| json!(v)),
        ".{0,12}".prop_map(|v| json!(v)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| json!(v)),
            prop::collection::btree_map(".{0,8}", inner, 0..4).prop_map(|v| json!(v)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    #[test]
    fn compact_input_is_unchanged(
        schemas in prop::collection::vec(prop::collection::btree_map("[a-z$]{1,8}", json_value(), 0..5), 0..6),
        description in ".{0,40}",
        vendor in json_value(),
    ) {
        for (key, format) in [("parameters", Format::OpenAiChat), ("parameters", Format::OpenAiResponses),
                              ("input_schema", Format::Anthropic), ("inputSchema", Format::Mcp),
                              ("parametersJsonSchema", Format::Gemini)] {
            let tools: Vec<_> = schemas.iter().enumerate().map(|(at, schema)| {
                let inner = json!({"name": format!("t{at}"), "description": description, key: schema, "vendor": vendor});
                match format {
                    Format::OpenAiChat => json!({"type": "function", "function": inner}),
                    Format::OpenAiResponses => {
                        let mut flat = inner;
                        flat["type"] = json!("function");
                        flat
                    }
                    _ => inner,
                }
            }).collect();
            let grouped = format == Format::Gemini && !tools.is_empty();
            let list = if grouped { json!([{"functionDeclarations": tools}]) } else { json!(tools) };
            let text = serde_json::to_string(&list).unwrap();
            let loaded = Catalog::import(&text, "t", Some(format));
            prop_assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
            prop_assert_eq!(loaded.value.to_json(format), text);
        }
    }
}

#[test]
fn half_a_character_is_read_as_a_replacement() {
    for (escaped, read) in [
        (r"cut \ud83d", "cut \u{fffd}"),
        (r"\udc4d\ud83d\udc4d\uD83D", "\u{fffd}\u{1f44d}\u{fffd}"),
        (r"\\ud83d \u0041", r"\ud83d A"),
        (r"\ud83d\n\\", "\u{fffd}\n\\"),
    ] {
        let text = format!(r#"[{{"name":"a","description":"{escaped}","inputSchema":{{}}}}]"#);
        let loaded = Catalog::import(&text, "t.json", None);
        let tool = loaded.value.get("a").unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        assert_eq!(tool.description(), read, "{escaped}");
        let is_noted = loaded.diagnostics.iter().any(|one| one.code == "lone-surrogate");
        assert_eq!(is_noted, read.contains('\u{fffd}'), "{:?}", loaded.diagnostics);
    }
}
