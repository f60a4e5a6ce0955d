//! `--fix`: valid, complete, and limited to the findings.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;

use crate::lint::{Options, fix};

fn fixed(text: &str) -> String {
    fix(text, "tools", None, &Options::new()).text
}

#[test]
fn unchanged_parts_keep_every_byte() {
    let text = "{ \"tools\" : [\n  {\"name\": \"a\",\"x\":1.50, \"description\": \"Reads.\",\n   \"inputSchema\": {\"type\":\"object\",\n     \"properties\": {\n       \"p\": {\"title\": \"P\", \"type\": \"string\", \"vendor\": [1e2,\t2]},\n       \"q\": { \"type\" : \"array\" }\n     }\n   }, \"\\u0061b\":null}\n ] ,\"more\":0.10}\n";
    let expected = text
        .replace("\"title\": \"P\", ", "")
        .replace("{ \"type\" : \"array\" }", "{ \"type\" : \"array\", \"items\": {} }");
    assert_eq!(fixed(text), expected);
    assert_eq!(fixed(&format!("\u{feff}{text}")), format!("\u{feff}{expected}"), "with a byte order mark");
}

#[test]
fn every_member_of_an_object_can_be_removed() {
    let tool = |inner: &str| {
        format!(r#"[{{"name":"a","description":"Reads.","inputSchema":{{"type":"object","properties":{inner}}}}}]"#)
    };
    for (before, after) in [
        (r#"{"p":{"title":"P"}}"#, r#"{"p":{}}"#),
        (r#"{"p":{"title":"P","description":""}}"#, r#"{"p":{}}"#),
        (r#"{"p":{"title":"P","description":"","type":"string"}}"#, r#"{"p":{"type":"string"}}"#),
        (r#"{"p":{"type":"string","title":"P","description":""}}"#, r#"{"p":{"type":"string"}}"#),
        (r#"{"p":{"title":"P","type":"string","description":""}}"#, r#"{"p":{"type":"string"}}"#),
        (r#"{"p":{"type":"array","title":"P"}}"#, r#"{"p":{"type":"array","items":{}}}"#),
        (r#"{"p":{"type":"string","description":" a string "}}"#, r#"{"p":{"type":"string"}}"#),
    ] {
        assert_eq!(fixed(&tool(before)), tool(after));
    }
}

#[test]
fn tools_are_found_in_every_form_of_a_list() {
    let schema = r#"{"type":"object","properties":{"p":{"type":"string","title":"P"}}}"#;
    let clean = r#"{"type":"object","properties":{"p":{"type":"string"}}}"#;
    for form in [
        r#"[{"name":"a","input_schema":SCHEMA}]"#,
        r#"{"tools":[{"name":"a","inputSchema":SCHEMA}]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":SCHEMA}]}}"#,
        r#"[{"type":"function","function":{"name":"a","parameters":SCHEMA}}]"#,
        r#"[{"type":"function","name":"a","parameters":SCHEMA}]"#,
        r#"[{"functionDeclarations":[{"name":"a","parametersJsonSchema":SCHEMA}]}]"#,
        r#"[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"a","parameters":SCHEMA}]}]"#,
        r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"a","parameters":SCHEMA}}]}"#,
    ] {
        assert_eq!(fixed(&form.replace("SCHEMA", schema)), form.replace("SCHEMA", clean), "{form}");
    }
}

#[test]
fn other_texts_stay_unchanged() {
    for text in ["", "[", "{}", "[1]", "null", "{\"tools\":3}", "\u{feff}[]"] {
        assert_eq!(fixed(text), text);
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["path", "file_path", "n", "$ref", "a/b", "~x", "title", "description"])
        .prop_map(str::to_owned)
}

/// A schema with many fixable parts, and many that must stay.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string", "description": "A string."})),
        Just(json!({"type": "string", "title": "Path", "description": ""})),
        Just(json!({"type": "array"})),
        Just(json!({"type": ["array", "null"], "title": "N"})),
        Just(json!({"enum": ["a", "b", "a"], "description": "  Which.\n\n\n\n    And.  "})),
        Just(json!({"$ref": "#/$defs/One"})),
        Just(json!({"type": "number", "default": 1.5, "vendor": {"x": [1, 2]}})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let named = prop::collection::vec((word(), inner.clone()), 0..4);
        prop_oneof![
            named.prop_map(|all| {
                let required: Vec<&String> = all.iter().map(|(name, _)| name).collect();
                let properties: Value = Value::Object(all.iter().cloned().collect());
                json!({"type": "object", "properties": properties, "required": required, "title": "File Path"})
            }),
            inner.clone().prop_map(|one| json!({"type": "array", "items": one})),
            inner.prop_map(|one| json!({"anyOf": [one, {"type": "null"}]})),
        ]
    })
}

fn list() -> impl Strategy<Value = (String, bool)> {
    let tool = (schema(), any::<bool>(), prop::sample::select(vec!["Reads.", "", " Reads.\n\n\n\n   It is slow.\n"]));
    (prop::collection::vec(tool, 1..4), any::<bool>()).prop_map(|(tools, pretty)| {
        let tools: Vec<Value> = tools
            .into_iter()
            .enumerate()
            .map(|(at, (schema, defs, description))| {
                let mut top = json!({"type": "object", "title": "Arguments", "properties": {"path": schema}});
                if defs {
                    top["$defs"] = json!({"One": {"type": "string", "title": "One"}, "Two": {"$ref": "#/$defs/One"}});
                }
                json!({"name": format!("t{at}"), "description": description, "inputSchema": top, "odd": {"x": 1}})
            })
            .collect();
        let list = Value::Array(tools);
        (if pretty { format!("{list:#}") } else { list.to_string() }, pretty)
    })
}

/// The parts of a schema that change its meaning.
fn meaning(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, inner)| {
                (!matches!(key.as_str(), "title" | "description") || !inner.is_string())
                    && *key != "$defs"
                    && (*key != "items" || **inner != json!({}))
            });
            Value::Object(kept.map(|(key, inner)| (key.clone(), meaning(inner))).collect())
        }
        Value::Array(all) => {
            let mut once: Vec<Value> = Vec::new();
            all.iter().map(meaning).for_each(|one| {
                if !once.contains(&one) {
                    once.push(one);
                }
            });
            Value::Array(once)
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(48), ..ProptestConfig::default() })]

    #[test]
    fn a_fixed_list_is_valid_equivalent_and_final((text, pretty) in list()) {
        let once = fixed(&text);
        let again = fix(&once, "tools", None, &Options::new());
        prop_assert_eq!(&again.text, &once);
        prop_assert!(again.done.is_empty(), "{:?}", again.done);
        let (before, after): (Value, Value) =
            (serde_json::from_str(&text).unwrap(), serde_json::from_str(&once).unwrap());
        let (was, is) = (Catalog::import(&text, "", None), Catalog::import(&once, "", None));
        prop_assert_eq!(was.value.names().collect::<Vec<_>>(), is.value.names().collect::<Vec<_>>());
        prop_assert_eq!(meaning(&before), meaning(&after));
        // Only the findings change the text.
        if !pretty {
            prop_assert_eq!(after.to_string(), once);
        }
    }
}
