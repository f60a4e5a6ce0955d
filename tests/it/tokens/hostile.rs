//! For any input, rendering and counting end soon, in bounded space, without a panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::tokens::{Encoding, Function, Reason, Tiktoken, TokenCounter, render, unverified};

use super::count_request;

#[test]
fn runs_of_one_character_are_counted() {
    let runs =
        ["a", "A", " ", "\n", "\t", "汉", "\u{301}", "a\u{301}", "!", "/", "'", "1", "\0", "\r\n", "😀", "\u{3000}"];
    for run in toolfold_testing::sample(runs, 6) {
        for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
            let size = if cfg!(debug_assertions) { 1 << 17 } else { 1 << 20 };
            let text = run.repeat(size / run.len());
            let tokens = Tiktoken::new(encoding).count(&text);
            assert!((1..=text.len()).contains(&tokens), "{encoding} {run:?}: {tokens} tokens");
        }
    }
}

#[test]
fn long_ordinary_text_counts_as_the_sum_of_its_parts() {
    let part = "Reads \"one\" sheet, 12 rows: 表格。\n";
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let counter = Tiktoken::new(encoding);
        // Between two and 3,000 repetitions of the part: cuts fall anywhere in it, and every part
        // costs the same.
        let one = counter.count(&part.repeat(3)) - counter.count(&part.repeat(2));
        let first = counter.count(&part.repeat(2));
        assert_eq!(counter.count(&part.repeat(3_000)), first + 2_998 * one);
    }
}

/// Not a unit test of the module, because those are compiled without optimisation: the limit for
/// all tools is 16 MiB of text.
#[test]
fn doubling_references_are_cut() {
    let mut definitions = Map::new();
    for i in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        definitions.insert(format!("d{i}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    let parameters = json!({"properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let function = Function::new("f", None, Some(&parameters));
    assert!(render(&[function]).len() < 2 << 20);
    let copies = if toolfold_testing::Cases::of_this_run().is_quick() { 2 } else { 20 };
    assert!(render(&vec![function; copies]).len() < 32 << 20);
    assert!(unverified(&[function]).contains(&Reason::TooLarge));
}

#[test]
fn doubling_type_lists_are_cut() {
    let mut schema = json!({"type": "string"});
    for _ in 0..40 {
        schema = json!({"type": ["object", "object"], "description": "x", "properties": {"a": schema}});
    }
    let parameters = json!({"properties": {"p": schema}});
    let function = Function::new("f", None, Some(&parameters));
    assert!(render(&[function]).len() < 16 << 20);
    assert!(unverified(&[function]).contains(&Reason::TooLarge));
}

#[test]
fn a_repeated_long_description_is_cut() {
    let properties: Map<_, _> = (0..2_000).map(|i| (format!("p{i}"), json!({"$ref": "#/$defs/d"}))).collect();
    let parameters =
        json!({"properties": properties, "$defs": {"d": {"type": "string", "description": "x".repeat(100_000)}}});
    let function = Function::new("f", None, Some(&parameters));
    assert!(render(&[function]).len() < 8 << 20);
}

#[test]
fn deep_nesting_is_cut() {
    let mut schema = json!({"type": "string"});
    for _ in 0..1_000 {
        schema = json!({"type": "array", "items": schema});
    }
    let mut value = json!(1);
    for _ in 0..1_000 {
        value = json!([value]);
    }
    let parameters = json!({"properties": {"p": schema, "q": {"enum": [value], "default": value}}});
    let function = Function::new("f", None, Some(&parameters));
    assert!(unverified(&[function]).contains(&Reason::TooDeep));
}

/// Any JSON, with keywords of schemas and requests as probable keys, and references among its
/// strings.
fn anything() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "string",
            "object",
            "array",
            "null",
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "#/properties/a",
            "a",
            "b",
            "user",
            "system",
            "function",
            "gpt-4o",
            "gpt-5",
            "claude-sonnet-4-6",
            "gemini-2.5-flash",
            "tool_use",
            "tool_result",
            "function_call",
            "function_call_output",
            "json_schema",
            "chat",
            "text",
            "none",
            "auto",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "format",
        "a",
        "b",
        "pattern",
        "additionalProperties",
        "name",
        "role",
        "content",
        "text",
        "function",
        "parameters",
        "tool_calls",
        "arguments",
        "model",
        "messages",
        "tools",
        "functions",
        "tool_choice",
        "function_call",
        "response_format",
        "api",
        "input",
        "instructions",
        "contents",
        "parts",
        "functionCall",
        "functionResponse",
        "systemInstruction",
        "functionDeclarations",
        "input_schema",
        "system",
        "call_status",
        "output",
    ]);
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|m| Value::Object(m.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(1_000), ..ProptestConfig::default() })]

    #[test]
    fn any_value_renders(schema in anything(), properties in anything(), definitions in anything(), description in "\\PC{0,6}") {
        let within = json!({"properties": {"a": schema, "b": properties}, "$defs": {"a": definitions, "b": schema}});
        let outright = json!({"properties": properties, "$defs": definitions, "required": schema});
        for parameters in [&schema, &within, &outright] {
            let function = Function::new("f", Some(&description), Some(parameters));
            let text = render(&[function, function]);
            prop_assert!(text.len() < 64 << 20);
            let closed = text.ends_with("} // namespace functions");
            prop_assert!(closed);
            let reasons = unverified(&[function]);
            prop_assert!(reasons.is_sorted());
            prop_assert_eq!(&reasons, &unverified(&[function]));
        }
    }

    #[test]
    fn any_request_is_counted_or_rejected(row in anything(), message in anything(), tool in anything(), choice in anything()) {
        let _ = count_request(&row);
        let row = json!({"model": "gpt-4o", "messages": [message], "tools": [tool], "tool_choice": choice});
        let gemini = json!({"model": "gemini-2.5-flash", "contents": [message], "tools": [tool], "toolConfig": choice});
        let responses = json!({"model": "gpt-5", "input": [message, tool], "instructions": choice, "tools": tool});
        let claude = json!({"model": "claude-opus-4-5", "system": choice, "messages": [message, tool], "tools": [tool]});
        for row in [row, gemini, responses, claude] {
            match count_request(&row) {
                Ok(counted) => {
                    prop_assert!(counted.tokens > 0, "unknown is never 0");
                    prop_assert!(counted.band.is_none_or(|band| band.holds(counted.tokens)));
                    prop_assert_eq!(counted.verified, counted.reasons.is_empty() && counted.band.is_none());
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
