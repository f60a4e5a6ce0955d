//! Schemas and arguments that mean harm.

use serde_json::{Value, json};
use toolfold::engine::validate::{Checked, Validator};
use toolfold_testing::Cases;

use super::compile;

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("x"), |inner, _| json!({"a": inner}))
}

/// Thirty definitions, each of which uses all others.
fn of_each_other(how: &str) -> Value {
    let all: Vec<Value> = (0..30).map(|n| json!({"$ref": format!("#/$defs/d{n}")})).collect();
    let each: serde_json::Map<String, Value> = (0..30).map(|n| (format!("d{n}"), json!({(how): all}))).collect();
    json!({"$ref": "#/$defs/d0", "$defs": each})
}

/// References that lead to references, 3,000 of them before the next property.
fn bare(draft: &str) -> Value {
    let mut chain: serde_json::Map<String, Value> =
        (0..3_000).map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}))).collect();
    chain.insert("d3000".to_owned(), json!({"properties": {"a": {"$ref": "#/$defs/d0"}}}));
    json!({"$schema": draft, "allOf": [{"$ref": "#/$defs/d0"}], "$defs": chain})
}

/// Schemas that mean harm. Each is compiled and asked on a thread with the usual stack.
fn hostile() -> Vec<(&'static str, Value, Value)> {
    let mut bomb = serde_json::Map::new();
    let mut chain = serde_json::Map::new();
    for n in 0..40 {
        let next = format!("#/$defs/d{}", n + 1);
        bomb.insert(format!("d{n}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
    }
    bomb.insert("d40".to_owned(), json!({"type": "object"}));
    for n in 0..3_000 {
        chain.insert(format!("d{n}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}]}));
    }
    chain.insert("d3000".to_owned(), json!({"properties": {"a": {"$ref": "#/$defs/d0"}}}));
    let twice = json!({"oneOf": [
        {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"properties": {"a": {"$ref": "#"}}, "required": ["a"], "maxProperties": 9}
    ]});
    let mut elsewhere = twice.clone();
    elsewhere = json!({"$ref": "#/x y/0", "x y": [{"oneOf": [
        {"properties": {"a": {"$ref": "#/x%20y/0"}}}, {"properties": {"a": {"$ref": "#/x%20y/0"}}}, elsewhere
    ]}]});
    let mut unevaluated = json!({"properties": {"a": {}}});
    for _ in 0..40 {
        unevaluated = json!({"allOf": [unevaluated], "unevaluatedProperties": false});
    }
    let deep = (0..62).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"a": inner}}));
    let mut shorter = json!({"$defs": {"end": {"properties": {"a": {"$ref": "#"}}}}, "$ref": "#/$defs/end"});
    for _ in 0..50 {
        let inner = shorter.as_object_mut().and_then(|map| map.remove("$ref")).map(|to| json!({"$ref": to}));
        let inner = inner.unwrap_or_else(|| shorter["allOf"].take());
        let inner = if inner.is_array() { inner } else { json!([inner]) };
        shorter["allOf"] = json!([{"allOf": inner}]);
    }
    let mut fails = json!({"$defs": {"d16": false}, "$ref": "#/$defs/d0"});
    for n in 0..16 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        fails["$defs"][format!("d{n}")] = json!({"if": next, "else": next});
    }
    let below = json!({"anyOf": [
        {"properties": {"a": {"$ref": "#"}}, "required": ["a", "b"]}, {"properties": {"a": {"$ref": "#"}}, "required": ["c"]},
        {"if": {"properties": {"a": {"$ref": "#"}}}, "then": {"properties": {"a": {"$ref": "#"}}}, "else": {"properties": {"a": {"$ref": "#"}}}, "required": ["d"]}
    ]});
    let text = "a".repeat(5_000) + "!";
    let backtracking = json!({"properties": {"p": {"items": {"pattern": "^(?=(a|aa)+$)((a|a)+)+\\1$"}}}});
    let names: Vec<String> = (0..100_000).map(|n| format!("v{n}")).collect();
    vec![
        ("a reference to itself", json!({"$ref": "#"}), json!({})),
        (
            "two that wait for each other",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({}),
        ),
        ("twice below", twice, nested(60)),
        (
            "twice below, in a strange place",
            elsewhere
                .as_object()
                .map(|_| {
                    let mut moved = elsewhere.clone();
                    moved["$ref"] = json!("#/x%20y/0");
                    moved
                })
                .unwrap_or_default(),
            nested(60),
        ),
        ("each uses the next twice", json!({"$ref": "#/$defs/d0", "$defs": bomb}), json!({})),
        ("a long chain", json!({"$ref": "#/$defs/d0", "$defs": chain}), nested(100)),
        ("a shorter chain", shorter, nested(100)),
        ("all need all", of_each_other("allOf"), json!({})),
        ("all need one of all", of_each_other("anyOf"), nested(60)),
        ("conditions of what fails", fails, json!({})),
        ("missing keys at each level", below, nested(40)),
        ("a bare chain", bare("https://json-schema.org/draft/2020-12/schema"), nested(100)),
        ("a bare chain of draft 7", bare("http://json-schema.org/draft-07/schema"), nested(100)),
        ("unevaluated in unevaluated", unevaluated, json!({"a": 1})),
        ("nested as deep as it goes", deep, nested(120)),
        ("a slow pattern", json!({"properties": {"p": {"pattern": "^(a+)+$"}}}), json!({"p": text})),
        ("a pattern that backtracks", backtracking.clone(), json!({"p": [text]})),
        ("and many of it", backtracking, json!({"p": vec!["a".repeat(60) + "!"; 20_000]})),
        (
            "a pattern that is too large",
            json!({"properties": {"p": {"pattern": "((a{1000}){1000}){1000}"}}}),
            json!({"p": "a"}),
        ),
        ("many values", json!({"enum": names}), json!({})),
        ("many values, many times", json!({"items": {"enum": names}}), json!(vec!["none"; 20_000])),
        ("many errors", json!({"items": {"not": {"enum": names}}}), json!(vec!["v99999"; 300])),
        (
            "all different",
            json!({"uniqueItems": true}),
            json!((0..5_000).map(|n| json!([{"a": n}])).collect::<Vec<_>>()),
        ),
        (
            "a name of ours",
            json!({"x-toolfold-step": 3, "properties": {"a": {"x-toolfold-step": {"$ref": "#"}}}}),
            nested(3),
        ),
    ]
}

/// What each is answered with, by what JSON Schema says of it. That each is answered at all is the
/// point: without a budget for steps and stack most of them run for ever or end the process. How
/// long they take is for `benches`.
const ANSWERS: [(&str, &str); 24] = [
    ("a reference to itself", "valid"),
    ("two that wait for each other", "valid"),
    // The text at the bottom fits both branches, so that nothing around it fits exactly one.
    ("twice below", "invalid"),
    ("twice below, in a strange place", "invalid"),
    ("each uses the next twice", "refused"),
    ("a long chain", "refused"),
    ("a shorter chain", "unsettled"),
    ("all need all", "refused"),
    ("all need one of all", "refused"),
    ("conditions of what fails", "refused"),
    // Each branch requires a key that is not there.
    ("missing keys at each level", "invalid"),
    ("a bare chain", "refused"),
    ("a bare chain of draft 7", "refused"),
    ("unevaluated in unevaluated", "refused"),
    ("nested as deep as it goes", "refused"),
    ("a slow pattern", "invalid"),
    ("a pattern that backtracks", "unsettled"),
    ("and many of it", "unsettled"),
    ("a pattern that is too large", "refused"),
    ("many values", "invalid"),
    ("many values, many times", "invalid"),
    ("many errors", "invalid"),
    ("all different", "valid"),
    ("a name of ours", "valid"),
];

#[test]
fn hostile_schemas_are_answered() {
    // Four use up all steps that are allowed, which takes most of the time; the last of them is
    // checked by the next test, too.
    let skipped: &[&str] = if Cases::of_this_run().is_quick() {
        &["twice below", "twice below, in a strange place", "missing keys at each level", "a shorter chain"]
    } else {
        &[]
    };
    let mut answers = Vec::new();
    for (name, schema, arguments) in hostile() {
        if skipped.contains(&name) {
            continue;
        }
        let (answer, said) = match Validator::compile(&schema) {
            Err(why) => ("refused", why.to_string()),
            Ok(validator) => match validator.check_arguments(&arguments) {
                Ok(Checked::Valid) => ("valid", String::new()),
                Ok(_) => ("unsettled", String::new()),
                Err(invalid) => ("invalid", invalid[0].to_string()),
            },
        };
        assert!(said.len() < 800, "{name}: {said}");
        answers.push((name, answer));
    }
    let expected: Vec<_> = ANSWERS.into_iter().filter(|(name, _)| !skipped.contains(name)).collect();
    assert_eq!(answers, expected);
}

#[test]
fn what_cannot_be_judged_says_so() {
    let outcome = |wanted: &str| {
        let (_, schema, arguments) = hostile().into_iter().find(|(name, ..)| *name == wanted).unwrap();
        compile(&schema).check_arguments(&arguments).map_err(|invalid| invalid[0].to_string())
    };
    assert_eq!(outcome("a reference to itself"), Ok(Checked::Valid));
    assert_eq!(outcome("a pattern that backtracks"), Ok(Checked::Unsettled));
    for intricate in ["each uses the next twice", "unevaluated in unevaluated", "a long chain", "all need all"] {
        let (_, schema, _) = hostile().into_iter().find(|(name, ..)| *name == intricate).unwrap();
        assert!(Validator::compile(&schema).is_err(), "{intricate}");
    }
    assert_eq!(outcome("a shorter chain"), Ok(Checked::Unsettled));
    let deep = compile(&json!({})).check_arguments(&nested(500)).unwrap_err();
    assert_eq!(deep[0].to_string(), "arguments: expected arguments nested at most 120 levels deep, got deeper nesting");
}
