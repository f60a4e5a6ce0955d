//! What the subset asks for as text comes back as it was meant, wherever it stands.
//!
//! A schema is generated together with arguments that it takes. A scripted model writes the
//! arguments by the schema that it was *sent*: an object as text only where the sent schema asks
//! for that. Reading back must give the arguments again.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use super::SUBSET;

/// Everything that a model may write for a value by a schema of the subset, each with the value
/// that it then means: what the schema has no room for (a property, an item) is left out of both.
/// Nothing if the schema does not take the value.
fn answers(sent: &Value, value: &Value) -> Vec<(Value, Value)> {
    if let Some(choices) = sent.get("anyOf").and_then(Value::as_array) {
        return choices.iter().flat_map(|choice| answers(choice, value)).collect();
    }
    let asks = |words: &str| sent["description"].as_str().is_some_and(|said| said.ends_with(words));
    let as_text = asks("written as text)");
    let listed = sent.get("enum").and_then(Value::as_array);
    match (sent["type"].as_str().unwrap(), value) {
        (_, Value::Null) if sent["nullable"] == true => vec![(Value::Null, Value::Null)],
        ("string", Value::Object(_) | Value::Array(_)) => {
            let text = json!(value.to_string());
            let asked = match listed {
                Some(listed) => as_text && listed.contains(&text),
                None if value.is_object() => as_text && !asks("(a JSON array, written as text)"),
                None => as_text && !asks("(a JSON object, written as text)"),
            };
            asked.then(|| (text, value.clone())).into_iter().collect()
        }
        ("string", Value::String(_)) if !as_text => {
            let taken = listed.is_none_or(|listed| listed.contains(value));
            taken.then(|| (value.clone(), value.clone())).into_iter().collect()
        }
        ("boolean", Value::Bool(_)) | ("number" | "integer", Value::Number(_)) => vec![(value.clone(), value.clone())],
        ("array", Value::Array(list)) => {
            let each: Vec<(Value, Value)> =
                list.iter().filter_map(|item| answers(&sent["items"], item).into_iter().next_back()).collect();
            let (written, meant): (Vec<Value>, Vec<Value>) = each.into_iter().unzip();
            vec![(Value::from(written), Value::from(meant))]
        }
        ("object", Value::Object(map)) => {
            let (mut written, mut meant) = (Map::new(), Map::new());
            for (name, value) in map {
                let below = sent["properties"].get(name);
                if let Some((one, other)) = below.and_then(|below| answers(below, value).into_iter().next_back()) {
                    written.insert(name.clone(), one);
                    meant.insert(name.clone(), other);
                }
            }
            let required = sent["required"].as_array().cloned().unwrap_or_default();
            let whole = required.iter().all(|name| written.contains_key(name.as_str().unwrap()));
            whole.then(|| (Value::Object(written), Value::Object(meant))).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A schema and values that it takes. Definitions are collected beside it.
#[derive(Debug, Clone)]
struct Case {
    schema: Value,
    values: Vec<Value>,
    defs: Map<String, Value>,
}

fn case(schema: Value, values: Vec<Value>) -> Case {
    Case { schema, values, defs: Map::new() }
}

/// Objects, and texts that look like them: what a wrong decision takes for one another.
fn objects() -> Vec<Value> {
    vec![json!({"a": 1}), json!({}), json!({"a": {"b": ["{\"c\":1}", null]}}), json!({"k": "text"})]
}

fn texts() -> Vec<Value> {
    vec![json!("plain"), json!("{\"a\":1}"), json!("[1]"), json!("7"), json!("null"), json!("")]
}

fn leaf() -> impl Strategy<Value = Case> {
    prop_oneof![
        4 => Just(case(json!({"type": "object"}), objects())),
        1 => Just(case(json!({"type": "object", "additionalProperties": {"type": "object"}}), vec![json!({"x": {"y": 1}})])),
        1 => Just(case(json!({"patternProperties": {"^x": {"type": "object"}}}), vec![json!({"x": {"y": 1}})])),
        1 => Just(case(json!({"type": ["object", "null"], "description": "D."}), vec![json!({"a": 1}), Value::Null])),
        3 => Just(case(json!({"type": "string"}), texts())),
        1 => Just(case(json!({"enum": ["auto", "{\"a\":1}"]}), vec![json!("auto"), json!("{\"a\":1}")])),
        1 => Just(case(json!({"enum": ["auto", "none"]}), vec![json!("auto")])),
        1 => Just(case(json!({"enum": [{"a": 1}, [2], "x", 3, true]}), vec![json!({"a": 1}), json!([2]), json!("x"), json!(3), json!(true)])),
        1 => Just(case(json!({"const": {"a": 1}}), vec![json!({"a": 1})])),
        1 => Just(case(json!({"type": "integer"}), vec![json!(3)])),
        1 => Just(case(json!({"type": "boolean"}), vec![json!(true)])),
        1 => Just(case(json!({}), texts())),
    ]
}

fn schemas() -> impl Strategy<Value = Case> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        let some = proptest::collection::vec(inner.clone(), 1..4);
        Union::new([
            (some.clone(), any::<bool>()).prop_map(|(cases, required)| with_properties(&cases, required)).boxed(),
            inner
                .clone()
                .prop_map(|one| {
                    wrapped(one, |schema| json!({"type": "array", "items": schema}), |value| json!([value, value]))
                })
                .boxed(),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| tuple(one, other)).boxed(),
            (some.clone(), prop_oneof![Just("anyOf"), Just("oneOf")])
                .prop_map(|(cases, key)| choice(cases, key))
                .boxed(),
            inner.clone().prop_map(referred).boxed(),
            inner.clone().prop_map(in_all_of).boxed(),
            // Inside an object that is written as text nothing is text again.
            inner
                .prop_map(|one| {
                    wrapped(
                        one,
                        |schema| json!({"type": "object", "additionalProperties": schema}),
                        |value| json!({"any": value}),
                    )
                })
                .boxed(),
        ])
    })
}

fn wrapped(one: Case, schema: impl Fn(Value) -> Value, value: impl Fn(Value) -> Value) -> Case {
    Case { schema: schema(one.schema), values: one.values.into_iter().map(value).collect(), defs: one.defs }
}

fn with_properties(cases: &[Case], required: bool) -> Case {
    let names: Vec<String> = (0..cases.len()).map(|n| ["x", "y", "z"][n].to_owned()).collect();
    let properties: Map<String, Value> =
        names.iter().cloned().zip(cases.iter().map(|one| one.schema.clone())).collect();
    let most = cases.iter().map(|one| one.values.len()).max().unwrap();
    let value = |at: usize| {
        let each = names.iter().cloned().zip(cases.iter().map(|one| one.values[at % one.values.len()].clone()));
        Value::Object(each.collect())
    };
    let mut schema = json!({"type": "object", "properties": properties});
    if required {
        schema["required"] = json!(names);
    }
    let defs = cases.iter().flat_map(|one| one.defs.clone()).collect();
    Case { schema, values: (0..most).map(value).collect(), defs }
}

fn tuple(one: Case, other: Case) -> Case {
    let pairs = one.values.iter().zip(other.values.iter().cycle()).map(|(one, other)| json!([one, other])).collect();
    let defs = one.defs.into_iter().chain(other.defs).collect();
    Case { schema: json!({"type": "array", "prefixItems": [one.schema, other.schema]}), values: pairs, defs }
}

fn choice(cases: Vec<Case>, key: &str) -> Case {
    let schemas: Vec<&Value> = cases.iter().map(|one| &one.schema).collect();
    let schema = json!({key: schemas});
    let values = cases.iter().flat_map(|one| one.values.clone()).collect();
    Case { schema, values, defs: cases.into_iter().flat_map(|one| one.defs).collect() }
}

/// The name of a definition depends on its schema, so that cases with different definitions can be
/// joined.
fn referred(mut one: Case) -> Case {
    let mut hasher = DefaultHasher::new();
    one.schema.to_string().hash(&mut hasher);
    let name = format!("d{:x}", hasher.finish());
    let schema = json!({"$ref": format!("#/$defs/{name}"), "description": "Mine."});
    one.defs.insert(name, one.schema);
    Case { schema, ..one }
}

fn in_all_of(one: Case) -> Case {
    let mut one = referred(one);
    one.schema = json!({"allOf": [one.schema]});
    one
}

/// The arguments' object around a case.
fn check(case: &Case) {
    let root = json!({"type": "object", "properties": {"p": case.schema}, "$defs": case.defs});
    let Some(sent) = SUBSET.schema(&root) else { return };
    for value in &case.values {
        let arguments = json!({"p": value});
        for (written, meant) in answers(&sent, &arguments) {
            assert_eq!(SUBSET.restore(&root, written.clone()), meant, "{root}\nsent {sent}\nanswered {written}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(600)))]

    #[test]
    fn values_requested_as_text_are_parsed_back(case in schemas()) {
        check(&case);
    }
}

#[test]
fn an_object_that_loses_its_last_property_is_not_asked_for_as_text_beside_a_string() {
    let schema =
        json!({"anyOf": [{"type": "string"}, holder(&json!({"type": "object"})), holder(&json!({"type": "string"}))]});
    check(&case(schema, texts()));
    let nested = json!({"anyOf": [
        {"type": "string"},
        holder(&json!({"type": "string"})),
        holder(&holder(&json!({"type": "string"}))),
        holder(&holder(&json!({"type": "object"}))),
    ]});
    check(&case(nested, [texts(), texts().iter().map(|text| json!({"x": text})).collect()].concat()));
}

/// A place where a string may be text is resolved at every level, and in a bounded number of
/// passes.
#[test]
fn every_level_of_a_deep_schema_is_resolved() {
    let (mut schema, mut object) = (json!({"type": "string"}), json!({"type": "object"}));
    let (mut choices, mut value) = (vec![schema.clone()], json!("{\"a\":1}"));
    let mut values = vec![value.clone()];
    for _ in 0..12 {
        (schema, object, value) = (holder(&schema), holder(&object), json!({"x": value}));
        (schema["required"], object["required"]) = (json!(["x"]), json!(["x"]));
        choices.push(schema.clone());
        values.push(value.clone());
    }
    choices.push(object);
    check(&case(json!({"anyOf": choices}), values));
}

fn holder(x: &Value) -> Value {
    json!({"type": "object", "properties": {"x": x}})
}

/// A property's schema with a value that must reach the model's answer as this text, and come back.
#[track_caller]
fn reads(schema: &Value, value: &Value, written: &Value) {
    let root = json!({"type": "object", "properties": {"p": schema}, "$defs": {"O": {"type": "object"}}});
    let sent = SUBSET.schema(&root).unwrap();
    let arguments = json!({"p": value});
    let answers = answers(&sent, &arguments);
    assert!(answers.iter().any(|(own, meant)| own["p"] == *written && *meant == arguments), "{sent}\n{answers:?}");
    assert_eq!(SUBSET.restore(&root, json!({"p": written})), arguments, "{sent}");
}

#[test]
fn objects_without_properties_in_every_place() {
    let (object, text) = (json!({"a": 1}), json!("{\"a\":1}"));
    reads(&json!({"type": "object"}), &object, &text);
    reads(&json!({"$ref": "#/$defs/O"}), &object, &text);
    reads(&json!({"allOf": [{"$ref": "#/$defs/O"}, {"description": "D."}]}), &object, &text);
    reads(&json!({"type": "array", "items": {"$ref": "#/$defs/O"}}), &json!([object, object]), &json!([text, text]));
    reads(
        &json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "object"}]}),
        &json!([1, object]),
        &json!([1, text]),
    );
    reads(&json!({"anyOf": [{"type": "number"}, {"type": "object"}]}), &object, &text);
    reads(
        &json!({"oneOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}]}),
        &json!([object]),
        &json!([text]),
    );
    reads(&json!({"anyOf": [{"enum": ["auto"]}, {"type": "object"}]}), &object, &text);
    reads(
        &json!({"anyOf": [{"type": "object", "properties": {"x": {"type": "object"}}}, {"type": "number"}]}),
        &json!({"x": object}),
        &json!({"x": text}),
    );
    reads(
        &json!({"type": "object", "additionalProperties": {"type": "object"}}),
        &json!({"k": object}),
        &json!("{\"k\":{\"a\":1}}"),
    );
    reads(
        &json!({"type": "object", "patternProperties": {"^k": {"type": "object"}}}),
        &json!({"k": object}),
        &json!("{\"k\":{\"a\":1}}"),
    );
    reads(&json!({"enum": [{"a": 1}, {"a": 2}]}), &object, &text);
    reads(&json!({"type": ["object", "null"]}), &object, &text);
}

#[test]
fn cycles_are_read_back() {
    let root = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/Node"}, "l": {"$ref": "#/$defs/List"}}, "$defs": {
        "Node": {"type": "object", "properties": {"v": {"type": "number"}, "next": {"$ref": "#/$defs/Node"}}},
        "List": {"type": "array", "items": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/List"}]}}}});
    let sent = SUBSET.schema(&root).unwrap();
    assert_eq!(sent["properties"]["n"]["properties"]["next"]["description"], "(a JSON object, written as text)");
    let meant = json!({"n": {"v": 1, "next": {"v": 2, "next": {"v": 3}}}, "l": [1, [2, [3]]]});
    let (written, same) = answers(&sent, &meant).pop().unwrap();
    assert_eq!(written, json!({"n": {"v": 1, "next": "{\"v\":2,\"next\":{\"v\":3}}"}, "l": [1, "[2,[3]]"]}));
    assert_eq!(same, meant);
    assert_eq!(SUBSET.restore(&root, written), meant);
}

#[test]
fn strings_and_unexpected_values_are_unchanged() {
    let root = json!({"type": "object", "properties": {
        "options": {"type": "object"}, "rows": {"type": "array", "items": {"type": "object"}}, "note": {"type": "string"}}});
    let restored = SUBSET.restore(
        &root,
        json!({"options": " {\"a\":1} ", "rows": ["{\"b\":\"{}\"}", "{", "[1]", 5], "note": "{\"d\":2}", "more": "{}"}),
    );
    let expected =
        json!({"options": {"a": 1}, "rows": [{"b": "{}"}, "{", "[1]", 5], "note": "{\"d\":2}", "more": "{}"});
    assert_eq!(restored, expected);
    for odd in [json!("{}"), json!([1]), json!(null)] {
        assert_eq!(SUBSET.restore(&root, odd.clone()), odd, "the arguments themselves are never text");
    }
}
