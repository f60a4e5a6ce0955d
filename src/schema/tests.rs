//! The schema kit: keywords against the official meta-schemas, references, walks, merging.

use super::keyword::KEYWORDS;
use super::reference::MAX_CHAIN;
use super::{
    Broken, Document, Holds, Role, Target, children, dereferenced, every_object, flattened, follow, holds, identifier,
    is_annotation, is_dynamic, keyword, merge, pointed, pointer_token, resolve, role, route, single_type,
    takes_no_parameters, top, walk, walk_mut,
};
use serde_json::{Map, Value, json};

/// The dialects whose meta-schemas the crate `jsonschema` has.
const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Whether some dialect's meta-schema takes `good` as the value of a keyword and not `bad`.
fn tells_apart(keyword: &str, good: &Value, bad: &Value) -> bool {
    DRAFTS.iter().any(|draft| {
        let valid = |value: &Value| jsonschema::meta::is_valid(&json!({"$schema": draft, keyword: value}));
        valid(good) && !valid(bad)
    })
}

#[test]
fn keyword_kinds_match_the_meta_schemas() {
    let (good, bad) = (json!({"type": "string"}), json!({"type": 12}));
    for keyword in KEYWORDS {
        let schema = tells_apart(keyword.name, &good, &bad);
        let list = tells_apart(keyword.name, &json!([good]), &json!([bad]));
        let named = tells_apart(keyword.name, &json!({"n": good}), &json!({"n": bad}));
        let names = named && tells_apart(keyword.name, &json!({"n": ["a"]}), &json!({"n": [1]}));
        let expected = match (schema, list, named, names) {
            (true, true, false, _) => Holds::SchemaOrSchemas,
            (true, false, false, _) => Holds::Schema,
            (false, true, false, _) => Holds::Schemas,
            (false, false, true, true) => Holds::NamedOrNames,
            (false, false, true, false) => Holds::Named,
            (false, false, false, _) => Holds::Value,
            other => panic!("{}: {other:?}", keyword.name),
        };
        assert_eq!(keyword.holds, expected, "{}", keyword.name);
    }
}

#[test]
fn bounds_are_the_keywords_that_take_numbers_only() {
    for keyword in KEYWORDS {
        let number =
            tells_apart(keyword.name, &json!(1), &json!("1")) && tells_apart(keyword.name, &json!(1), &json!([]));
        assert_eq!(keyword.role == Role::Bound, number, "{}", keyword.name);
    }
}

/// A keyword is an annotation if no value of it makes a validator of any dialect refuse an
/// instance.
#[test]
fn annotations_accept_everything_unlike_applicators() {
    let refuses = |name: &str, value: &Value, beside: &Value| {
        DRAFTS.iter().any(|draft| {
            let mut schema = json!({"$schema": draft, name: value});
            schema.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
            let Ok(validator) = jsonschema::options().offline().build(&schema) else { return false };
            [json!({"a": "1"}), json!(["x"]), json!(["x", "x"]), json!("x"), json!(1.5)]
                .iter()
                .any(|instance| !validator.is_valid(instance))
        })
    };
    let never = json!({"not": {}});
    let values = [
        never.clone(),
        json!([never]),
        json!({"a": never}),
        json!({"a": ["b"]}),
        json!({"^a": never}),
        json!(["b"]),
        json!(0),
        json!(100),
        json!(false),
        json!(true),
        json!("null"),
        json!("y"),
        json!("date"),
        json!("base64"),
        json!("application/json"),
        json!("#/definitions/n"),
    ];
    let beside = [
        json!({}),
        json!({"definitions": {"n": never}}),
        json!({"if": {}}),
        json!({"if": false}),
        json!({"items": [{}]}),
        json!({"contains": {}}),
        json!({"then": never, "else": never}),
    ];
    for keyword in KEYWORDS {
        let any = values.iter().any(|value| {
            beside.iter().any(|beside| {
                !beside.as_object().unwrap().contains_key(keyword.name)
                    && refuses(keyword.name, value, beside)
                    && !refuses("x-nothing", value, beside)
            })
        });
        match keyword.role {
            Role::Annotation | Role::Identity | Role::Definitions => assert!(!any, "{}", keyword.name),
            // OpenAPI's two, one that needs an anchor, and one that validators do not look into.
            _ if matches!(
                keyword.name,
                "nullable" | "discriminator" | "$recursiveRef" | "$dynamicRef" | "contentSchema"
            ) => {}
            _ => assert!(any, "{} refuses nothing", keyword.name),
        }
    }
}

#[test]
fn unknown_keywords_are_treated_as_schemas_if_possible() {
    assert_eq!((keyword("x-order"), holds("x-order"), role("x-order")), (None, Holds::Value, Role::Annotation));
    assert_eq!((keyword("ordering"), holds("ordering"), role("ordering")), (None, Holds::Value, Role::Assertion));
    assert!(is_annotation("title") && !is_annotation("type"));
    let mut names: Vec<&str> = KEYWORDS.iter().map(|keyword| keyword.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KEYWORDS.len(), "each stands once");
    assert!(KEYWORDS.iter().all(|own| keyword(own.name) == Some(*own)));
}

fn document() -> Value {
    json!({
        "properties": {"a/b": {"$ref": "#/$defs/A"}, "c~d": {"type": "null"}, "e f": true},
        "items": [{"const": 1}],
        "unknown": {"deep": [{"type": "string"}]},
        "$defs": {
            "A": {"$ref": "#/$defs/B", "title": "A"},
            "B": {"$anchor": "here", "type": "integer"},
            "L": {"$ref": "#/$defs/M"},
            "M": {"$ref": "#/$defs/L"},
            "Old": {"$id": "#old"},
            "Older": {"id": "#older"}
        }
    })
}

#[test]
fn references_are_followed_inside_their_document() {
    let root = document();
    let at = |pointer: &str| Target::Found(root.pointer(pointer).unwrap());
    for (reference, expected) in [
        ("#", Target::Found(&root)),
        ("#/$defs/B", at("/$defs/B")),
        ("#/%24defs/B", at("/$defs/B")),
        ("#/properties/a~1b", at("/properties/a~1b")),
        ("#/properties/c~0d", at("/properties/c~0d")),
        ("#/properties/e%20f", at("/properties/e f")),
        ("#/items/0", at("/items/0")),
        ("#/unknown/deep/0", at("/unknown/deep/0")),
        ("#here", at("/$defs/B")),
        ("#old", at("/$defs/Old")),
        ("#older", at("/$defs/Older")),
        ("#nowhere", Target::Missing),
        ("#/$defs/Z", Target::Missing),
        ("#/items/7", Target::Missing),
        ("other.json", Target::Remote),
        ("https://example.com/s#/$defs/B", Target::Remote),
    ] {
        assert_eq!(resolve(&root, reference), expected, "{reference}");
    }
}

#[test]
fn chains_end_or_report_why_not() {
    let root = document();
    let node = |text: &str| json!({"$ref": text});
    let broken = |text: &str| {
        let node = node(text);
        follow(&root, &node).broken
    };
    assert_eq!(broken("#/$defs/B"), None);
    assert_eq!(broken("#/$defs/L"), Some(Broken::Cycle));
    assert_eq!(broken("#/$defs/Z"), Some(Broken::Missing));
    assert_eq!(broken("#/properties/e f"), Some(Broken::Missing), "`true` is no schema object");
    assert_eq!(broken("a.json"), Some(Broken::Remote));
    let start = node("#/$defs/A");
    let chain = follow(&root, &start);
    assert_eq!(chain.layers.len(), 3);
    assert_eq!(chain.end().unwrap()["type"], "integer");
    assert_eq!(*pointed(&root, &start), root["$defs"]["B"]);
    assert!(std::ptr::eq(pointed(&root, &node("#/$defs/L")), &raw const root["$defs"]["M"]), "before it repeats");
    assert_eq!(*pointed(&root, &node("#/properties/e f")), json!(true));
    let own = json!({"$ref": "#/$defs/A", "title": "own"});
    assert_eq!(Value::Object(dereferenced(&root, &own)), json!({"title": "own", "$anchor": "here", "type": "integer"}));
    let lost = json!({"$ref": "#/$defs/Z"});
    assert_eq!(Value::Object(dereferenced(&root, &lost)), lost);
    // A chain longer than is followed.
    let long: Map<String, Value> = (0..70).map(|n| (format!("N{n}"), node(&format!("#/$defs/N{}", n + 1)))).collect();
    let long = json!({"$ref": "#/$defs/N0", "$defs": long});
    assert_eq!(follow(&long, &long).broken, Some(Broken::Cycle));
    assert_eq!(*pointed(&long, &long), long["$defs"][format!("N{}", MAX_CHAIN - 1)]);
}

#[test]
fn a_fragment_is_no_identifier() {
    for (schema, expected) in [
        (json!({"$id": "https://example.com/a"}), Some("https://example.com/a")),
        (json!({"id": "a.json"}), Some("a.json")),
        (json!({"$id": "#anchor"}), None),
        (json!({"id": {"type": "string"}}), None),
    ] {
        assert_eq!(identifier(&schema), expected, "{schema}");
    }
    assert!(is_dynamic(&json!({"$recursiveRef": "#"})) && is_dynamic(&json!({"$dynamicRef": "#n"})));
    assert!(!is_dynamic(&json!({"$ref": "#"})));
}

#[test]
fn routes_name_every_schema_they_pass() {
    let root = json!({"properties": {"a/b": {"items": {"anyOf": [{}, {"$defs": {"X": {"type": "null"}}}]}}},
        "custom": {"deep": [{"type": "string"}]}});
    let steps = route(&root, "#/properties/a~1b/items/anyOf/1/%24defs/X").unwrap();
    let said: Vec<String> = steps.iter().map(|step| format!("{} {}", step.keyword, step.name)).collect();
    assert_eq!(said, ["properties a/b", "items ", "anyOf ", "$defs X"]);
    assert_eq!(*steps.last().unwrap().to, json!({"type": "null"}));
    assert!(std::ptr::eq(steps[0].from, &root) && std::ptr::eq(steps[1].from, steps[0].to));
    let custom = route(&root, "#/custom/deep/0").unwrap();
    assert_eq!((custom.len(), custom[0].keyword, custom[0].to), (1, "custom", &root["custom"]["deep"][0]));
    assert_eq!(route(&root, "#"), Some(vec![]));
    for none in ["#/properties", "#/properties/z", "#/properties/a~1b/items/anyOf", "#/custom/z", "#a", "b.json", "#/"]
    {
        assert_eq!(route(&root, none), None, "{none}");
    }
    assert_eq!(pointer_token("a/b~c"), "a~1b~0c");
}

#[test]
fn walks_visit_schemas_and_nothing_else() {
    let root = json!({
        "properties": {"type": {"const": {"properties": {"no": {}}}}, "enum": {"default": {"items": {}}}},
        "items": [{"title": "1"}, {"title": "2"}], "not": {"title": "3"},
        "dependencies": {"a": ["b"], "c": {"title": "4"}}, "x-y": {"items": {}}, "anyOf": {"no": {}}
    });
    let mut seen = Vec::new();
    walk(&root, &mut |node| seen.push(node.clone()));
    let expected = [
        root.clone(),
        root["properties"]["type"].clone(),
        root["properties"]["enum"].clone(),
        json!({"title": "1"}),
        json!({"title": "2"}),
        json!({"title": "3"}),
        json!({"title": "4"}),
    ];
    assert_eq!(seen, expected);
    let mut below = 0;
    children(&root, |_| below += 1);
    assert_eq!(below, 6);
    let mut copy = root.clone();
    walk_mut(&mut copy, &mut |node| {
        node["$comment"] = json!("seen");
    });
    assert_eq!(copy.to_string().matches("\"$comment\"").count(), 7);
    let mut objects = 0;
    every_object(&root, &mut |_| objects += 1);
    assert_eq!(objects, root.to_string().matches('{').count());
    // Nested far deeper than a stack would bear.
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({"not": deep});
    }
    let mut count = 0;
    walk(&deep, &mut |_| count += 1);
    assert_eq!(count, 101);
}

#[test]
fn a_document_finds_every_possible_target_of_a_reference() {
    let root = json!({"$defs": {"A": {"type": "string"}, "N": {"$id": "n.json", "$defs": {"A": {"type": "null"}}},
        "P": {"$anchor": "p"}, "Q": {"$id": "#q"}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
    let document = Document::new(&root);
    assert_eq!(document.references(), ["#/$defs/A"]);
    assert_eq!(document.targets("#/$defs/A"), [&root["$defs"]["A"], &root["$defs"]["N"]["$defs"]["A"]]);
    assert_eq!(document.targets("n.json#/%24defs/A").len(), 2);
    assert_eq!(document.targets("#p"), [&root["$defs"]["P"]]);
    assert_eq!(document.targets("#q"), [&root["$defs"]["Q"]]);
    assert_eq!(document.targets("#zz").len(), 0);
    assert_eq!(document.targets("n.json").len(), 3, "a whole document, whichever");
    assert_eq!(document.pointers("#/$defs/A"), ["/$defs/A", "/$defs/N/$defs/A", "/$defs/Q/$defs/A"]);
    assert!(document.pointers("#p").is_empty());
    let named = json!({"$id": "root.json", "$defs": {"A": {}}});
    assert_eq!(Document::new(&named).targets("#/$defs/A"), [&named["$defs"]["A"]], "the root is one base");
}

#[test]
fn merging_joins_properties_and_reports_conflicts() {
    let check = |into: Value, from: Value, expected: Value, clashes: &[&str]| {
        let (Value::Object(mut map), Value::Object(from)) = (into, from) else { panic!("objects") };
        let mut told = Vec::new();
        merge(&mut map, from, &mut |key| told.push(key.to_owned()));
        assert_eq!((Value::Object(map), told), (expected, clashes.iter().map(|k| (*k).to_owned()).collect()));
    };
    check(
        json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "title": "x"}),
        json!({"properties": {"a": {"type": "null"}, "b": {}}, "required": ["a", "b"], "title": "y", "type": "object"}),
        json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"], "title": "x", "type": "object"}),
        &["properties"],
    );
    check(json!({"minimum": 1}), json!({"minimum": 2}), json!({"minimum": 1}), &["minimum"]);
    check(json!({"minimum": 1}), json!({"minimum": 1}), json!({"minimum": 1}), &[]);
    check(json!({"if": {}}), json!({"then": {}, "if": {}}), json!({"if": {}}), &["then"]);
    check(json!({}), json!({"then": {}, "if": {}}), json!({"then": {}, "if": {}}), &[]);
}

#[test]
fn all_of_is_flattened_within_bounds() {
    let root = json!({"$defs": {"A": {"properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/B"}]},
        "B": {"required": ["b"]}, "L": {"allOf": [{"$ref": "#/$defs/L"}]}}});
    let mut told = Vec::new();
    let mut flat = |node: Value| {
        let Value::Object(map) = node else { panic!("an object") };
        Value::Object(flattened(&root, map, &mut |key| told.push(key.to_owned())))
    };
    let both = flat(json!({"allOf": [{"$ref": "#/$defs/A"}, {"type": "object"}], "title": "t"}));
    assert_eq!(both, json!({"title": "t", "properties": {"a": {}}, "type": "object", "required": ["b"]}));
    assert_eq!(flat(json!({"allOf": [{"$ref": "#/$defs/L"}]})), json!({}));
    assert_eq!(told, ["allOf"], "the circle is cut, and that is said");
    // Each level is twice as wide as the one above: merged whole, it would be 2^40 members.
    let levels: Map<String, Value> = (0..40)
        .map(|n| {
            (
                format!("W{n}"),
                json!({"allOf": [{"$ref": format!("#/$defs/W{}", n + 1)}, {"$ref": format!("#/$defs/W{}", n + 1)}]}),
            )
        })
        .collect();
    let wide = json!({"$defs": levels, "allOf": [{"$ref": "#/$defs/W0"}]});
    let mut told = Vec::new();
    let _ = flattened(&wide, wide.as_object().unwrap().clone(), &mut |key| told.push(key.to_owned()));
    assert!(told.iter().any(|key| key == "allOf"), "what is left out is said");
}

#[test]
fn the_arguments_of_a_tool() {
    let behind = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"properties": {"a": {}}}}});
    assert_eq!(*top(&behind), behind["$defs"]["B"]);
    let circle = json!({"$ref": "#"});
    assert_eq!(*top(&circle), circle);
    for (schema, expected) in [
        (json!({"type": "object"}), true),
        (json!({"properties": {}, "required": [], "additionalProperties": false, "title": "t"}), true),
        (json!({"properties": {"a": {}}}), false),
        (json!({"additionalProperties": {"type": "string"}}), false),
        (json!({"anyOf": [{"required": ["a"]}]}), false),
    ] {
        assert_eq!(takes_no_parameters(&schema), expected, "{schema}");
    }
    for (schema, expected) in [
        (json!({"type": "string"}), Some("string")),
        (json!({"type": ["integer", "null"]}), Some("integer")),
        (json!({"type": ["integer", "string"]}), None),
        (json!({"type": "text"}), None),
        (json!({"type": "null", "enum": ["a"]}), Some("string")),
        (json!({"enum": [null, 1]}), Some("number")),
        (json!({"const": true}), Some("boolean")),
        (json!({"const": null}), None),
        (json!({"properties": {}}), Some("object")),
        (json!({"prefixItems": []}), Some("array")),
        (json!({"pattern": "a"}), Some("string")),
        (json!({"minimum": 1}), Some("number")),
        (json!({"title": "t"}), None),
    ] {
        assert_eq!(single_type(schema.as_object().unwrap()), expected, "{schema}");
    }
}
