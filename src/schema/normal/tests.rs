use proptest::prelude::*;
use serde_json::{Value, json};

use super::normalize;

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

fn normal(schema: &Value) -> Value {
    let mut schema = schema.clone();
    normalize(&mut schema);
    schema
}

/// Whether the meta-schema of 2020-12 accepts a schema.
fn is_valid_2020(schema: &Value) -> bool {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    }
    jsonschema::meta::is_valid(&schema)
}

/// Whether the validator accepts a value; it selects the draft by `$schema`.
fn accepts(schema: &Value, value: &Value) -> bool {
    jsonschema::options().offline().build(schema).unwrap().is_valid(value)
}

#[cfg(feature = "validate")]
fn keeps(pattern: &str) -> bool {
    let schema = json!({ "pattern": pattern });
    normal(&schema) == schema
}

#[cfg(feature = "validate")]
fn compiles(pattern: &str) -> bool {
    jsonschema::options().offline().build(&json!({ "pattern": pattern })).is_ok()
}

#[cfg(feature = "validate")]
#[test]
fn a_pattern_is_valid_if_the_validator_compiles_it() {
    for pattern in [
        "^a+$",
        "(",
        "[",
        "a{2",
        "a{2,1}",
        "\\d",
        "\\cA",
        "\\c1",
        "\\p{L}",
        "\\p{Letter}",
        "\\p{Nope}",
        "\\u0041",
        "\\u{41}",
        "(?=a)",
        "(?<=a)b",
        "(?<n>a)\\k<n>",
        "(a)\\1",
        "\\1",
        "[[a]",
        "[a&&b]",
        "[^]",
        "[]",
        "*",
        "a**",
        "\\",
        "\\Z",
        "\\z",
        "\\h",
        "(?i)a",
        "a++",
        "(?P<n>a)",
        "\\-",
        "^[\\w.-]+@x$",
        "\\/",
        "x{1000000}",
        "((a{100}){100}){100}",
    ] {
        assert_eq!(keeps(pattern), compiles(pattern), "{pattern}");
    }
}

#[test]
fn older_drafts_become_2020_12() {
    for (old, new) in [
        (
            json!({"$schema": DRAFT_7, "type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": false}),
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false}),
        ),
        (json!({"items": [], "minItems": 1}), json!({"minItems": 1})),
        (json!({"items": {"type": "string"}, "additionalItems": false}), json!({"items": {"type": "string"}})),
        (
            json!({"minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}),
            json!({"exclusiveMinimum": 0, "maximum": 9}),
        ),
        (json!({"exclusiveMinimum": true}), json!({})),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}, "e": "f"}}),
            json!({"dependentRequired": {"a": ["b"], "e": ["f"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
        ),
        // A property may be named by the old keyword and by the new one.
        (
            json!({"dependentSchemas": {"a": {"minProperties": 2}}, "dependentRequired": {"b": ["c"]},
                "dependencies": {"a": {"required": ["d"]}, "b": ["c", "e"]}}),
            json!({"dependentSchemas": {"a": {"allOf": [{"minProperties": 2}, {"required": ["d"]}]}},
                "dependentRequired": {"b": ["c", "e"]}}),
        ),
        (
            json!({"$schema": DRAFT_7, "properties": {"a": {"$ref": "#/definitions/A", "description": "d", "minLength": 3}},
                "definitions": {"A": {"type": "string"}}}),
            json!({"properties": {"a": {"$ref": "#/definitions/A", "description": "d"}}, "definitions": {"A": {"type": "string"}}}),
        ),
        // Without `$schema`, keywords beside a reference count.
        (
            json!({"properties": {"a": {"$ref": "#/$defs/A", "minLength": 3}}, "$defs": {"A": {"type": "string"}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/A", "minLength": 3}}, "$defs": {"A": {"type": "string"}}}),
        ),
        (
            json!({"properties": {"a": {"type": "string", "required": true}, "b": {"required": false}}}),
            json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}),
        ),
        (
            json!({"properties": {"coin": {"type": "string"}, "required": ["coin"]}}),
            json!({"properties": {"coin": {"type": "string"}}, "required": ["coin"]}),
        ),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"$ref": "#/$defs/A", "nullable": true, "$defs": {"A": {}}}),
            json!({"$defs": {"A": {}}, "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {"$recursiveRef": "#"}}, "$recursiveAnchor": true}),
            json!({"properties": {"a": {"$ref": "#"}}}),
        ),
    ] {
        assert_eq!(normal(&old), new, "{old}");
    }
}

#[test]
fn an_invalid_keyword_costs_that_keyword() {
    for (bad, good) in [
        (json!({"type": "object", "properties": []}), json!({"type": "object", "properties": {}})),
        (
            json!({"properties": {"a": [], "b": null, "c": "text", "d": true}}),
            json!({"properties": {"a": {}, "b": {}, "c": {}, "d": true}}),
        ),
        (json!({"type": "STRING"}), json!({"type": "string"})),
        (json!({"type": ["int", "None", "integer"]}), json!({"type": ["integer", "null"]})),
        (json!({"type": "any", "title": "t"}), json!({"title": "t"})),
        (json!({"type": ["string", "any"]}), json!({})),
        (json!({"minLength": "2"}), json!({"minLength": 2})),
        (
            json!({"minimum": "low", "multipleOf": 0, "maxItems": -1, "maxLength": 2.5, "uniqueItems": "true"}),
            json!({"uniqueItems": true}),
        ),
        (
            json!({"default": null, "const": null, "title": null, "description": null}),
            json!({"default": null, "const": null}),
        ),
        (
            json!({"required": ["a", "a", 3], "enum": [], "examples": "e"}),
            json!({"required": ["a"], "examples": ["e"]}),
        ),
        (json!({"anyOf": {"type": "string"}, "allOf": [], "oneOf": "x"}), json!({"anyOf": [{"type": "string"}]})),
        (json!({"not": [{"type": "string"}], "oneOf": [{}, 3], "items": [], "if": "x"}), json!({})),
        (json!({"$ref": "#/$defs/Missing", "description": "d"}), json!({"description": "d"})),
        (json!({"$ref": "https://example.com/s.json"}), json!({})),
        (json!({"$schema": "urn:made-up", "type": "object"}), json!({"type": "object"})),
    ] {
        assert_eq!(normal(&bad), good, "{bad}");
    }
}

/// Only the validator knows which patterns it can read.
#[cfg(feature = "validate")]
#[test]
fn an_unreadable_pattern_is_left_out() {
    for (bad, good) in [
        (json!({"pattern": "[unclosed", "minLength": 2}), json!({"minLength": 2})),
        (json!({"pattern": "^(?=a)[a-z]{2}$"}), json!({"pattern": "^(?=a)[a-z]{2}$"})),
        (
            json!({"patternProperties": {"(": {}, "^a": {"type": "int"}}}),
            json!({"patternProperties": {"^a": {"type": "integer"}}}),
        ),
    ] {
        assert_eq!(normal(&bad), good, "{bad}");
    }
}

#[test]
fn identifiers_become_pointers() {
    let by_id = json!({"$id": "https://example.com/root.json", "properties": {
        "a": {"$ref": "item.json"}, "b": {"$ref": "#frag"}, "c": {"$ref": "https://example.com/root.json#/definitions/i"},
        "id": {"type": "string"}},
        "definitions": {"i": {"$id": "https://example.com/item.json", "type": "string"}, "f": {"$id": "#frag", "type": "number"}}});
    assert_eq!(
        normal(&by_id),
        json!({"properties": {
            "a": {"$ref": "#/definitions/i"}, "b": {"$ref": "#/definitions/f"}, "c": {"$ref": "#/definitions/i"},
            "id": {"type": "string"}},
            "definitions": {"i": {"type": "string"}, "f": {"type": "number"}}})
    );
    // The inner reference starts at the inner identifier.
    let divided =
        json!({"definitions": {"i": {"$id": "item.json", "$ref": "#/definitions/x", "definitions": {"x": {}}}}});
    assert_eq!(normal(&divided)["definitions"]["i"]["$id"], "item.json");
}

#[test]
fn many_identifiers_and_references_take_linear_time() {
    let properties = |count: usize| -> serde_json::Map<String, Value> {
        (0..count)
            .map(|at| {
                let inner = json!({"$ref": format!("#/x{at}")});
                (format!("p{at}"), json!({"$id": format!("https://a.test/{at}"), "items": inner}))
            })
            .collect()
    };
    let mut schema = json!({ "properties": properties(20_000) });
    normalize(&mut schema);
    // Looking up each reference from each identifier took minutes.
    assert_eq!(schema["properties"]["p7"]["items"]["$ref"], "#/x7");
}

#[test]
fn a_reference_follows_what_moved() {
    let old = json!({"properties": {
        "pair": {"items": [{"type": "number"}], "additionalItems": {"type": "string"}},
        "first": {"$ref": "#/properties/pair/items/0"}, "rest": {"$ref": "#/properties/pair/additionalItems"}}});
    let new = normal(&old);
    assert_eq!(new["properties"]["first"]["$ref"], "#/properties/pair/prefixItems/0");
    assert_eq!(new["properties"]["rest"]["$ref"], "#/properties/pair/items");
}

#[test]
fn values_of_draft_7_stay_valid_and_invalid() {
    let old = json!({"$schema": DRAFT_7, "type": "object", "properties": {
        "point": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "minItems": 2, "additionalItems": false}},
        "dependencies": {"point": ["unit"], "zoom": {"required": ["point"]}}});
    let new = normal(&old);
    for value in [
        json!({}),
        json!({"point": [1, 2]}),
        json!({"point": [1, 2], "unit": "m"}),
        json!({"point": [1, 2, 3], "unit": "m"}),
        json!({"point": ["a", 2], "unit": "m"}),
        json!({"zoom": 1}),
        json!({"zoom": 1, "point": [1, 2], "unit": 0}),
    ] {
        assert_eq!(accepts(&old, &value), accepts(&new, &value), "{value}");
    }
}

#[test]
fn the_changes_are_reported_once_each() {
    let mut schema = json!({"properties": {"a": {"items": [{}]}, "b": {"items": [{}]}, "c": {"title": null}}});
    let repairs = normalize(&mut schema);
    assert_eq!(repairs.to_string(), "`items` with a list as `prefixItems` (2 times), `null` left out");
}

/// JSON that is often a schema, and often not quite.
fn nearly_a_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..5).prop_map(Value::from),
        Just(json!(1.5)),
        prop::sample::select(vec![
            "a",
            "string",
            "int",
            "array",
            "3",
            "(",
            "#",
            "#/$defs/a",
            "#a",
            "x.json",
            "true",
            DRAFT_7
        ])
        .prop_map(Value::from),
    ];
    let any = leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from), object(inner)]
    });
    object(any.boxed())
}

fn object(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let keys: Vec<&'static str> =
        super::super::keyword_names().chain(["a", "b", "required", "properties", "x-own"]).collect();
    let pairs = prop::collection::vec((prop::sample::select(keys), inner), 0..5);
    pairs.prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(4_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_schema_becomes_valid_and_stays_as_it_is(value in nearly_a_schema()) {
        let once = normal(&value);
        prop_assert!(is_valid_2020(&once), "{value}\n{once}");
        let mut twice = once.clone();
        prop_assert!(normalize(&mut twice).is_empty(), "{value}\n{once}\n{twice}");
        prop_assert_eq!(&twice, &once);
    }

    #[cfg(feature = "validate")]
    #[test]
    fn any_pattern_is_valid_if_the_validator_compiles_it(pattern in "[\\[\\](){}*+?|^$\\\\a-c0-2,.:<>=!&wdspukPL-]{1,8}") {
        prop_assert_eq!(keeps(&pattern), compiles(&pattern), "{}", pattern);
    }
}
