//! Folding, case by case.
#![allow(clippy::needless_pass_by_value, reason = "a table of `json!` values reads best without borrows")]

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Tool};
use toolfold::profile::{Arm, Detail, Expanded, Folded, Presentation, ToolProfile};

const WORDS: &str = "Words that say what the parameter is for, long enough that it pays to leave them out.";

fn text(extra: &[(&str, Value)]) -> Value {
    let mut node = json!({"type": "string", "description": WORDS});
    for (key, value) in extra {
        node[key] = value.clone();
    }
    node
}

/// The detail and the schema that come of folding `schema`.
fn folded(schema: &Value, detail: Detail) -> (Detail, Value) {
    let tool = Tool::new("f", "Do it. And more of it, which nobody needs to know at first.", schema.clone()).unwrap();
    let folded = Folded::new(&tool, detail, None);
    (folded.detail, folded.parameters().into_owned())
}

/// Which of the parameters a, b, c and d are shown at `required`, with the keys of `extra` beside
/// them and `a` required.
#[track_caller]
fn check_shown(extra: Value, expected: &str) {
    let long =
        |name: &str| text(&[("enum", json!([format!("{name}-one of several"), format!("{name}-two of several")]))]);
    let mut schema = json!({"type": "object", "required": ["a"],
        "properties": {"a": long("a"), "b": long("b"), "c": long("c"), "d": long("d")}});
    schema.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let (detail, own) = folded(&schema, Detail::Required);
    let names: String = own["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, expected, "{detail:?} {own}");
    assert_eq!(detail, if expected == "abcd" { Detail::Signature } else { Detail::Required }, "{own}");
}

#[test]
fn required_parameters_are_always_shown() {
    check_shown(json!({}), "a");
    check_shown(json!({"oneOf": [{"required": ["b"]}, {"required": ["c"]}]}), "abc");
    check_shown(json!({"anyOf": [{"required": ["b"]}]}), "ab");
    check_shown(json!({"allOf": [{"anyOf": [{"required": ["d"]}]}]}), "ad");
    check_shown(json!({"not": {"required": ["b", "c"]}}), "abc");
    check_shown(json!({"if": {"properties": {"b": {"const": 1}}}, "then": {"required": ["c"]}}), "abc");
    check_shown(json!({"else": {"required": ["d"]}}), "ad");
    check_shown(json!({"dependentRequired": {"b": ["c"]}}), "abc");
    check_shown(json!({"dependentSchemas": {"b": {"required": ["d"]}}}), "abd");
    check_shown(json!({"dependencies": {"b": ["c"]}}), "abc");
    check_shown(json!({"dependencies": {"b": {"required": ["d"]}}}), "abd");
    check_shown(json!({"anyOf": [{"$ref": "#/$defs/N"}], "$defs": {"N": {"required": ["c"]}}}), "ac");
    check_shown(json!({"discriminator": {"propertyName": "d"}}), "ad");
    check_shown(json!({"patternProperties": {"^x": {"$ref": "#/properties/c"}}}), "ac");
    // What cannot be decided keeps everything.
    check_shown(json!({"$ref": "#/$defs/N", "$defs": {"N": {"required": ["c"]}}}), "abcd");
    check_shown(json!({"patternProperties": {"^x": {"$dynamicRef": "#here"}}}), "a");
    check_shown(
        json!({"patternProperties": {"^x": {"$dynamicRef": "#here"}}, "$defs": {"h": {"$dynamicAnchor": "here"}}}),
        "abcd",
    );
    // A reference without a target is left out when the tool is read.
    check_shown(json!({"patternProperties": {"^x": {"$ref": "#here"}}}), "a");
    check_shown(json!({"anyOf": [{"$ref": "https://example.com/n.json"}]}), "a");
    check_shown(json!({"anyOf": [{"$ref": "#/$defs/Gone"}]}), "a");
    check_shown(json!({"anyOf": [{"$dynamicRef": "#n"}]}), "a");
    check_shown(json!({"anyOf": [{"$dynamicRef": "#n"}], "$defs": {"n": {"$dynamicAnchor": "n"}}}), "abcd");
    check_shown(json!({"anyOf": [{"$id": "other", "required": ["b"]}]}), "ab");
    check_shown(json!({"anyOf": [{"enum": [{"a": "x"}]}]}), "abcd");
    check_shown(json!({"patternProperties": {"^x": {"$ref": "#"}}}), "abcd");
    check_shown(
        json!({"patternProperties": {"^x": {"$ref": "#/additionalProperties"}}, "additionalProperties": {}}),
        "abcd",
    );
    // Required and never declared: there is nothing to show.
    check_shown(json!({"oneOf": [{"required": ["z"]}, {"required": ["a"]}]}), "a");
}

/// The names under `$defs` of the signature of a schema with one parameter and these definitions.
#[track_caller]
fn check_definitions(parameter: Value, definitions: Value, expected: &[&str]) {
    let schema = json!({"type": "object", "properties": {"p": parameter}, "description": WORDS, "$defs": definitions});
    for detail in [Detail::Signature, Detail::Required] {
        let (_, own) = folded(&schema, detail);
        let names: Vec<&str> = own["$defs"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        if detail == Detail::Signature {
            assert_eq!(names, expected, "{own}");
        }
        assert!(own.get("$defs") != Some(&json!({})), "an empty map is not written");
    }
}

#[test]
fn unused_definitions_are_dropped() {
    let refer = |to: &str| json!({"$ref": to});
    let loops = json!({"properties": {"l": {"$ref": "#/$defs/L"}}, "title": WORDS});
    let all = json!({"A": text(&[]), "B": refer("#/$defs/C"), "C": text(&[]), "L": loops, "a/b": text(&[])});
    check_definitions(text(&[]), all.clone(), &[]);
    check_definitions(refer("#/$defs/A"), all.clone(), &["A"]);
    check_definitions(refer("#/$defs/B"), all.clone(), &["B", "C"]);
    check_definitions(refer("#/$defs/L"), all.clone(), &["L"]);
    check_definitions(refer("#/%24defs/A"), all.clone(), &["A"]);
    check_definitions(refer("#/$defs/a~1b"), all.clone(), &["a/b"]);
    check_definitions(refer("#/$defs/L/properties/l"), all.clone(), &["L"]);
    check_definitions(
        json!({"items": {"anyOf": [refer("#/$defs/A"), refer("#/$defs/B")]}}),
        all.clone(),
        &["A", "B", "C"],
    );
    let mapping =
        json!({"oneOf": [{}], "discriminator": {"propertyName": "k", "mapping": {"a": "#/$defs/A", "z": "Z"}}});
    check_definitions(mapping, all.clone(), &["A"]);
    // A reference without a target is left out when the tool is read.
    for gone in [refer("other.json"), refer("#name"), refer("#/$defs/Gone"), json!({"$dynamicRef": "#A"})] {
        check_definitions(gone, all.clone(), &[]);
    }
    // Forms that are not followed keep them all.
    let every = ["A", "B", "C", "L", "a/b"];
    for kept in [json!({"$dynamicRef": "#/$defs/A"}), refer("#/$defs")] {
        check_definitions(kept, all.clone(), &every);
    }
}

#[test]
fn a_schema_whose_references_need_dropped_parts_is_unchanged() {
    let reference = json!({"$ref": "#/x-shared/S", "description": WORDS});
    let shared = json!({"type": "object", "required": ["p"], "properties": {"p": reference}, "x-shared": {"S": {"type": "string"}}});
    let based = json!({"type": "object", "required": ["p"], "properties": {"p": {"$id": "p.json", "$defs": {"I": {"title": WORDS}},
        "properties": {"i": {"$ref": "#/$defs/I"}}}}});
    for schema in [shared, based] {
        for detail in [Detail::Signature, Detail::Required] {
            assert_eq!(folded(&schema, detail).1, schema, "{detail:?}");
        }
    }
}

#[test]
fn a_reference_through_an_unknown_keyword_is_followed() {
    let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/components/schemas/P", "description": WORDS}},
        "components": {"schemas": {"P": {"properties": {"q": {"$ref": "#/$defs/Q"}}}}},
        "$defs": {"Q": {"type": "string"}, "R": {"type": "string", "title": WORDS}}});
    let (_, own) = folded(&schema, Detail::Signature);
    assert_eq!(own["$defs"], json!({"Q": {"type": "string"}}));
    assert_eq!(own["components"], schema["components"], "written as it is");
}

#[test]
fn a_property_named_like_a_keyword_is_a_property() {
    let schema = json!({"type": "object", "properties": {
        "description": text(&[]), "$defs": {"type": "object", "properties": {"definitions": text(&[])}}}});
    let (_, own) = folded(&schema, Detail::Signature);
    assert_eq!(
        own,
        json!({"type": "object", "properties": {"description": {"type": "string"},
        "$defs": {"type": "object", "properties": {"definitions": {"type": "string"}}}}})
    );
}

#[test]
fn siblings_of_a_top_level_reference_count() {
    let args =
        json!({"type": "object", "properties": {"a": text(&[]), "b": text(&[]), "c": text(&[])}, "required": ["a"]});
    let shown = |beside: Value| {
        let mut schema = json!({"$ref": "#/$defs/Args", "$defs": {"Args": args}});
        schema.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        let (detail, own) = folded(&schema, Detail::Required);
        (detail, own["properties"].as_object().map(|own| own.keys().cloned().collect::<String>()))
    };
    assert_eq!(shown(json!({"title": "T"})), (Detail::Required, Some("a".to_owned())));
    assert_eq!(shown(json!({"required": ["b"]})), (Detail::Signature, None));
    assert_eq!(shown(json!({"anyOf": [{"required": ["b"]}]})), (Detail::Signature, None));
}

#[test]
fn a_tool_with_all_parameters_shown_is_not_opened() {
    let rest =
        json!({"type": "string", "pattern": "^[a-z]{1,20}(-[a-z]{1,20}){0,5}$", "minLength": 3, "maxLength": 99});
    let schema =
        json!({"type": "object", "required": ["a"], "properties": {"a": text(&[])}, "additionalProperties": rest});
    let (detail, own) = folded(&schema, Detail::Required);
    assert_eq!((detail, &own["additionalProperties"]), (Detail::Signature, &rest));
}

#[test]
fn a_parameter_cheaper_than_its_marker_is_shown() {
    let schema = json!({"type": "object", "properties": {"a": text(&[]), "n": {"type": "integer"}}, "required": ["a"]});
    let (detail, own) = folded(&schema, Detail::Required);
    assert_eq!(detail, Detail::Signature);
    assert_eq!(own["properties"]["n"], json!({"type": "integer"}));
}

/// The parameters of an outline of a schema whose one parameter is required.
#[track_caller]
fn check_loose(parameter: Value, definitions: Value, expected: (Value, Value)) {
    let schema = json!({"type": "object", "required": ["p"], "properties": {"p": parameter}, "$defs": definitions});
    let (detail, own) = folded(&schema, Detail::Outline);
    assert_eq!((&own["properties"]["p"], &own["$defs"]), (&expected.0, &expected.1), "{detail:?}");
}

#[test]
fn optional_properties_of_a_required_parameter_have_their_bare_type_in_an_outline() {
    let choice = json!({"type": "string", "enum": ["thin", "medium", "thick"]});
    let object = |own: Value| json!({"type": "object", "properties": own, "required": ["kind"]});
    let loose = json!({"type": "string"});
    let none = Value::Null;
    check_loose(
        object(json!({"kind": choice, "line": choice, "many": {"type": "array", "items": choice, "minItems": 1}})),
        json!({}),
        (object(json!({"kind": choice, "line": loose, "many": {"type": "array", "items": loose}})), none.clone()),
    );
    // What names something is shown at every level; so are its own required properties.
    check_loose(
        object(
            json!({"inner": object(json!({"kind": choice, "line": choice})), "by_name": {"additionalProperties": choice}}),
        ),
        json!({}),
        (
            object(
                json!({"inner": object(json!({"kind": choice, "line": loose})), "by_name": {"additionalProperties": choice}}),
            ),
            none.clone(),
        ),
    );
    // Through references, and definitions that only such a property needs are dropped.
    let refer = |to: &str| json!({"$ref": format!("#/$defs/{to}")});
    let shape = object(json!({"line": refer("Line"), "next": refer("Shape")}));
    check_loose(
        refer("Shape"),
        json!({"Shape": shape, "Line": choice}),
        (refer("Shape"), json!({"Shape": object(json!({"line": loose, "next": refer("Shape")}))})),
    );
    // Branches are distinguished by their content; where a wider schema would become narrower,
    // everything stays.
    let untouched = object(json!({"line": choice}));
    let either = json!({"anyOf": [untouched, {"type": "null"}]});
    check_loose(either.clone(), json!({}), (either, none.clone()));
    for turning in ["not", "if", "contains"] {
        let mut whole = untouched.clone();
        whole[turning] = json!({"properties": {"line": choice}});
        check_loose(whole.clone(), json!({}), (whole, none.clone()));
    }
    let into = json!({"type": "object", "properties": {"a": {"type": "array", "items": choice}, "b": refer("P/properties/a/items")}});
    check_loose(refer("P"), json!({"P": into}), (refer("P"), json!({"P": into})));
}

#[test]
fn a_shorter_outline_replaces_the_required_parameters() {
    let choice = json!({"type": "string", "enum": ["one of several", "another of several", "the last of several"]});
    let p = json!({"type": "object", "properties": {"line": choice}});
    let all = json!({"type": "object", "required": ["p"], "properties": {"p": p}});
    let (detail, own) = folded(&all, Detail::Required);
    assert_eq!((detail, &own["properties"]["p"]["properties"]["line"]), (Detail::Outline, &json!({"type": "string"})));
    let mut more = all;
    for at in 0..20 {
        more["properties"][format!("an_optional_parameter_{at}")] = json!({"type": "string"});
    }
    let (detail, own) = folded(&more, Detail::Required);
    assert_eq!((detail, &own["properties"]["p"]["properties"]["line"]), (Detail::Required, &choice));
}

/// How many tools an arm folds, and how many meta-tools it adds, where each of `count` tools has a
/// description of `bytes` bytes.
#[track_caller]
fn check_paying(arm: Arm, count: usize, bytes: usize, folds: bool) {
    let description = "word ".repeat(bytes / 5);
    let mut catalog = Catalog::default();
    for at in 0..count {
        catalog.add(Tool::new(&format!("tool_{at}"), &description, json!({"type": "object"})).unwrap()).unwrap();
    }
    let profile = ToolProfile::parse("[category.all]\ndescription = 'all of them'\ntools = ['*']", "p.toml").value;
    let assignment = profile.assign(&catalog).value;
    let presentation = Presentation::new(&catalog, &assignment, arm);
    let plan = presentation.plan(&catalog, &assignment, &Expanded::default());
    let folded = plan.tools.iter().filter(|planned| planned.deferred).count();
    assert_eq!(folded, if folds { count } else { 0 }, "{arm}: {count} tools of {bytes} bytes");
    assert_eq!(!presentation.meta_tools.is_empty(), folds, "{arm}: {count} tools of {bytes} bytes");
    assert_eq!(presentation.deferred.is_empty(), !folds);
    assert!(folds || plan.tools.iter().copied().all(|planned| planned.detail == Detail::Full));
}

#[test]
fn folding_must_save_more_than_the_meta_tools_cost() {
    for arm in [Arm::Seed, Arm::Stable, Arm::Signature, Arm::Lean] {
        check_paying(arm, 1, 400, false);
        check_paying(arm, 1, 2_000, true);
        check_paying(arm, 4, 400, true);
    }
    // A bridge has a second meta-tool, and spares the whole entry.
    check_paying(Arm::Index, 1, 600, false);
    check_paying(Arm::Index, 6, 600, true);
    // The provider keeps whole tools out of the prompt.
    check_paying(Arm::Native, 1, 100, false);
    check_paying(Arm::Native, 12, 100, true);
}
