//! Folding over generated schemas, judged by the crate `jsonschema`.
//!
//! What the generator must be able to make: `required` in a branch, conditions, unreachable, nested
//! and cyclic definitions, references into properties, a reference at the top, a property that is
//! named like a keyword.

use std::cell::Cell;
use std::collections::BTreeSet;

use jsonschema::Validator;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};
use toolfold::catalog::Tool;
use toolfold::profile::{Detail, Folded};
use toolfold_testing::Cases;

/// Names of parameters. One is a keyword whose value folding drops elsewhere, two need escapes in a
/// pointer.
const NAMES: [&str; 7] = ["a", "b", "c", "d", "description", "x/y", "$defs"];

const WORDS: &str = "Words that say what the parameter is for, long enough that it pays to leave them out.";

fn name() -> impl Strategy<Value = String> {
    select(NAMES.to_vec()).prop_map(str::to_owned)
}

fn names() -> impl Strategy<Value = Vec<String>> {
    btree_set(name(), 1..3).prop_map(|names| names.into_iter().collect())
}

/// A reference: to a definition (there or not), into a parameter, to the root, spelt in several
/// ways.
fn reference() -> impl Strategy<Value = Value> {
    let plain = select(vec![
        "#/$defs/D0",
        "#/$defs/D1",
        "#/$defs/D2",
        "#/%24defs/D1",
        "#/$defs/D2/$defs/Inner",
        "#/definitions/Old",
        "#/$defs/Gone",
        "#",
        "#anchor",
        "#/properties/a",
        "#/properties/x~1y",
        "#/properties/b/items",
        "#/x-shared/S",
        "https://example.com/other.json",
    ]);
    plain.prop_map(|text| json!({"$ref": text, "description": WORDS}))
}

/// The schema of a parameter.
fn node() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => Just(json!({"type": "string", "description": WORDS})),
        2 => Just(json!({"type": "integer", "minimum": 0, "title": "N", "default": 1})),
        1 => Just(json!({"enum": ["x", "y", 1], "examples": ["x"], "description": WORDS})),
        1 => Just(json!(true)),
        3 => reference(),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "description": WORDS})),
            (name(), inner.clone(), any::<bool>(), any::<bool>()).prop_map(|(name, inner, needed, closed)| {
                let mut object = json!({"type": "object", "properties": {&name: inner}, "title": "T"});
                if needed {
                    object["required"] = json!([name]);
                }
                if closed {
                    object["additionalProperties"] = json!(false);
                }
                object
            }),
            inner.prop_map(|inner| json!({"anyOf": [inner, {"type": "null", "description": WORDS}]})),
        ]
    })
}

/// A branch: requires, constrains a parameter, or refers.
fn branch() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => names().prop_map(|names| json!({"required": names, "description": WORDS})),
        2 => (name(), names()).prop_map(|(name, names)| json!({"properties": {name: {"type": "string"}}, "required": names})),
        1 => name().prop_map(|name| json!({"properties": {name: {"const": "x"}}})),
        1 => Just(json!({"$ref": "#/$defs/Needs"})),
        1 => names().prop_map(|names| json!({"anyOf": [{"required": names}, {"minProperties": 1}]})),
    ]
}

/// One condition at the top: keyword and value.
fn condition() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let one = |keyword: &'static str, value: Value| vec![(keyword, value)];
    prop_oneof![
        (select(vec!["oneOf", "anyOf", "allOf"]), vec(branch(), 1..3)).prop_map(move |(k, list)| one(k, json!(list))),
        branch().prop_map(move |branch| one("not", branch)),
        (branch(), branch(), branch()).prop_map(|(a, b, c)| vec![("if", a), ("then", b), ("else", c)]),
        (name(), names()).prop_map(move |(name, names)| one("dependentRequired", json!({name: names}))),
        (name(), branch()).prop_map(move |(name, branch)| one("dependentSchemas", json!({name: branch}))),
        (name(), names()).prop_map(move |(name, names)| one("dependencies", json!({name: names}))),
        (name(), branch()).prop_map(move |(name, branch)| one("dependencies", json!({name: branch}))),
        Just(one("propertyNames", json!({"maxLength": 11}))),
        node().prop_map(move |node| one("patternProperties", json!({"^x": node}))),
        Just(one("enum", json!([{"a": "x"}, {"b": "x"}]))),
    ]
}

/// The schema of an arguments object.
fn schema() -> impl Strategy<Value = Value> {
    let properties = vec((name(), node(), prop::bool::weighted(0.4)), 1..6);
    let definitions = (node(), node(), node(), names());
    let closing = select(vec![None, Some(("additionalProperties", false)), Some(("unevaluatedProperties", false))]);
    let draft = select(vec![None, Some("http://json-schema.org/draft-07/schema#")]);
    (properties, vec(condition(), 0..3), definitions, closing, any::<[bool; 3]>(), draft).prop_map(
        |(properties, conditions, (d0, d1, d2, needs), closing, [defined, behind, dynamic], draft)| {
            let mut object = json!({"type": "object", "description": WORDS});
            let required: BTreeSet<&String> =
                properties.iter().filter(|(.., needed)| *needed).map(|(name, ..)| name).collect();
            if !required.is_empty() {
                object["required"] = json!(required);
            }
            object["properties"] =
                Value::Object(properties.iter().map(|(name, node, _)| (name.clone(), node.clone())).collect());
            for (keyword, value) in conditions.into_iter().flatten() {
                object[keyword] = value;
            }
            if let Some((keyword, open)) = closing {
                object[keyword] = json!(open);
            }
            if dynamic && !defined {
                object["properties"]["c"] = json!({"$dynamicRef": "#node"});
            }
            let mut root = if behind { json!({"$ref": "#/$defs/Args"}) } else { object.clone() };
            if dynamic && behind {
                root["required"] = json!(["b"]);
            } else if dynamic && defined {
                root["$ref"] = json!("#/$defs/Needs");
            }
            if let Some(draft) = draft {
                root["$schema"] = json!(draft);
            }
            if defined || behind {
                // D0 and Unused lead to themselves; Unused is reached from nowhere.
                root["$defs"] = json!({
                    "D0": {"type": "object", "title": "D0", "properties": {"next": {"$ref": "#/$defs/D0"}, "own": d0}},
                    "Unused": {"type": "array", "items": {"$ref": "#/$defs/Unused"}, "description": WORDS},
                    "D1": d1,
                    "D2": {"anyOf": [d2, true], "$anchor": "anchor",
                           "$defs": {"Inner": {"type": "string", "description": WORDS}, "Spare": {"const": 1}}},
                    "Needs": {"required": needs}
                });
                root["definitions"] = json!({"Old": {"$ref": "#/$defs/D1"}, "Other": {"title": WORDS}});
            }
            if behind {
                root["$defs"]["Args"] = object;
            } else {
                root["x-shared"] = json!({"S": {"type": "string"}});
            }
            root
        },
    )
}

fn instances() -> impl Strategy<Value = Vec<Value>> {
    let value = select(vec![
        json!("x"),
        json!("x"),
        json!("x"),
        json!(1),
        json!(1),
        json!(null),
        json!([]),
        json!(["x"]),
        json!({}),
        json!({"a": "x"}),
        json!({"next": {"own": "x"}}),
    ]);
    vec(vec((name(), value), 0..5).prop_map(|members| Value::Object(Map::from_iter(members))), 12)
}

/// Judges under the dialect of the whole schema, which folding does not repeat.
fn compiled(schema: &Value, whole: &Value) -> Option<Validator> {
    let draft = jsonschema::Draft::default().detect(whole);
    jsonschema::options().offline().with_draft(draft).build(schema).ok()
}

fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&reference.strip_prefix('#')?.replace("%24", "$"))
}

/// The names that a branch of the arguments object requires or constrains, found without the
/// library.
fn mentioned(root: &Value, node: &Value, is_top: bool, depth: usize, into: &mut BTreeSet<String>) {
    let (Some(map), true) = (node.as_object(), depth > 0) else { return };
    let list = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for (key, value) in map {
        match key.as_str() {
            "required" => into.extend(list(value)),
            "properties" if !is_top => into.extend(value.as_object().unwrap().keys().cloned()),
            "oneOf" | "anyOf" | "allOf" => {
                value.as_array().unwrap().iter().for_each(|branch| mentioned(root, branch, false, depth - 1, into));
            }
            "not" | "if" | "then" | "else" => mentioned(root, value, false, depth - 1, into),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                for (name, own) in value.as_object().unwrap() {
                    into.insert(name.clone());
                    into.extend(list(own));
                    mentioned(root, own, false, depth - 1, into);
                }
            }
            "$ref" => {
                let target = target(root, value.as_str().unwrap());
                target.into_iter().for_each(|target| mentioned(root, target, is_top, depth - 1, into));
            }
            _ => {}
        }
    }
}

/// Every reference of a schema that led somewhere in the whole one leads to the same thing, words
/// apart.
fn references_hold(whole: &Value, folded: &Value, node: &Value) -> Result<(), TestCaseError> {
    match node {
        Value::Object(map) => {
            if let Some(text) = map.get("$ref").and_then(Value::as_str) {
                let before = target(whole, text);
                prop_assert!(before.is_none() || target(folded, text).is_some(), "`{text}` dangles in {folded}");
                let anchored = |root: &Value| root.to_string().contains("\"$anchor\":\"anchor\"");
                prop_assert!(text != "#anchor" || !anchored(whole) || anchored(folded), "{folded}");
            }
            map.values().try_for_each(|value| references_hold(whole, folded, value))
        }
        Value::Array(list) => list.iter().try_for_each(|value| references_hold(whole, folded, value)),
        _ => Ok(()),
    }
}

fn top(root: &Value) -> &Value {
    root.get("$ref")
        .filter(|_| root.get("properties").is_none())
        .map_or(root, |text| target(root, text.as_str().unwrap()).unwrap_or(root))
}

fn shown(schema: &Value) -> BTreeSet<String> {
    top(schema)["properties"].as_object().map(|own| own.keys().cloned().collect()).unwrap_or_default()
}

fn bytes(tool: &Folded<'_>) -> usize {
    serde_json::to_string(&tool.description).unwrap().len() + tool.parameters_text().len()
}

/// How often the interesting cases came up.
#[derive(Default)]
struct Seen {
    valid: Cell<u32>,
    hidden: Cell<u32>,
    pruned: Cell<u32>,
    branched: Cell<u32>,
    loosened: Cell<u32>,
}

fn count(cell: &Cell<u32>, happened: bool) {
    cell.set(cell.get() + u32::from(happened));
}

fn folds_soundly(given: &Value, instances: &[Value], seen: &Seen) -> Result<(), TestCaseError> {
    let tool = Tool::new("any_tool", "Do it. And more of it.", given.clone()).unwrap().with_strict(true);
    let whole = tool.parameters();
    if let (Some(before), Some(after)) = (compiled(given, given), compiled(whole, whole)) {
        for instance in instances {
            let (before, after) = (before.is_valid(instance), after.is_valid(instance));
            prop_assert_eq!(before, after, "{} in normal form: {}", instance, whole);
        }
    }
    let at = |detail| Folded::new(&tool, detail, None);
    let (full, signature, required) = (at(Detail::Full), at(Detail::Signature), at(Detail::Required));
    let outline = at(Detail::Outline);
    prop_assert!(bytes(&outline) <= bytes(&signature), "outline: {}", outline.parameters_text());
    prop_assert_eq!(shown(&outline.parameters()), shown(whole), "an outline names every parameter");
    prop_assert!(bytes(&required) <= bytes(&signature), "required: {}", required.parameters_text());
    prop_assert!(bytes(&signature) <= bytes(&full), "signature: {}", signature.parameters_text());
    prop_assert!(full.is_strict());
    let own = compiled(whole, whole);
    for folded in [&signature, &outline, &required, &at(Detail::Summary)] {
        prop_assert!(!folded.is_strict() || folded.detail == Detail::Full);
        let schema = folded.parameters();
        references_hold(whole, &schema, &schema)?;
        let Some(own) = &own else { continue };
        let Some(judge) = compiled(&schema, whole) else {
            return Err(TestCaseError::fail(format!("does not compile: {schema}")));
        };
        for instance in instances {
            let (before, after) = (own.is_valid(instance), judge.is_valid(instance));
            count(&seen.valid, before);
            prop_assert!(!before || after, "{instance} looks impossible at {:?}: {schema}", folded.detail);
            count(&seen.loosened, folded.detail == Detail::Outline && after && !before);
            if folded.detail == Detail::Signature {
                prop_assert_eq!(before, after, "{} at signature: {}", instance, schema);
            }
        }
    }
    let (before, after) = (shown(whole), shown(&required.parameters()));
    let mut needed = BTreeSet::new();
    mentioned(whole, top(whole), true, 8, &mut needed);
    if required.detail == Detail::Required {
        let lost: Vec<&String> = needed.intersection(&before).filter(|name| !after.contains(*name)).collect();
        prop_assert!(lost.is_empty(), "{lost:?} are named and not shown: {}", required.parameters_text());
        prop_assert_eq!(&required.parameters()["additionalProperties"], &json!(true), "open for what is hidden");
        count(&seen.hidden, after.len() < before.len());
        let at_top: BTreeSet<String> = serde_json::from_value(top(whole)["required"].clone()).unwrap_or_default();
        count(&seen.branched, after.iter().any(|name| !at_top.contains(name)));
    } else {
        prop_assert_eq!(after, before, "nothing is hidden at {:?}", required.detail);
    }
    let has_unused = |schema: &Value| schema.pointer("/$defs/Unused").is_some();
    count(&seen.pruned, has_unused(whole) && !has_unused(&signature.parameters()));
    Ok(())
}

#[test]
fn folding_allows_every_valid_call() {
    let config = Config { cases: toolfold_testing::cases(1_500), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let seen = Seen::default();
    let outcome = runner.run(&(schema(), instances()), |(whole, instances)| folds_soundly(&whole, &instances, &seen));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (whole, _))) => panic!("{why}\nthe whole schema: {whole}"),
        Err(why) => panic!("{why}"),
    }
    let Seen { valid, hidden, pruned, branched, loosened } = seen;
    println!("valid {valid:?}, hidden {hidden:?}, pruned {pruned:?}, branched {branched:?}, loosened {loosened:?}");
    // The generator makes the cases that this is about: usually some 4,500, 430, 600, 55 and 16 of
    // them.
    assert!(valid.get() > 100 && hidden.get() > 5 && pruned.get() > 5);
    if Cases::of_this_run().is_quick() {
        return;
    }
    assert!(valid.get() > 1_500 && hidden.get() > 100 && pruned.get() > 100 && branched.get() > 15);
    assert!(loosened.get() > 3);
}
