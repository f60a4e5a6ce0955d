//! Gemini: plain JSON Schema by default, and the OpenAPI subset with everything read back that it
//! asks for as text.
#![allow(clippy::needless_pass_by_value, reason = "a table of `json!` values reads best without borrows")]

use serde_json::{Value, json};
use toolfold::conversation::Outcome;
use toolfold::diagnostic::Diagnostic;
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::{GeminiParameters, RenderOptions, Wire};

use super::{arms, engine, excel, notes, sent};

mod read_back;

const SUBSET: GeminiParameters = GeminiParameters::OpenApiSubset;

fn one(schema: Value) -> Engine {
    engine(&json!([{"name": "t", "inputSchema": schema}]), "", Arm::Full)
}

/// What is sent in the subset, and what is said of it.
struct Rendered {
    text: String,
    diagnostics: Vec<Diagnostic>,
}

/// An arm's first array in the subset.
fn in_subset(engine: &Engine, arm: Arm) -> Rendered {
    let mut options = RenderOptions::default();
    options.gemini_parameters = SUBSET;
    let mut conversation = engine.conversation(Wire::Gemini).arm(arm).options(options).start().unwrap();
    let text = conversation.tools().json().to_owned();
    let mut diagnostics = conversation.diagnostics();
    diagnostics.drain(..engine.diagnostics().len());
    diagnostics.retain(|diagnostic| diagnostic.code.starts_with("gemini"));
    Rendered { text, diagnostics }
}

fn functions(rendered: &Rendered) -> Value {
    serde_json::from_str::<Value>(&rendered.text).unwrap()[0]["functionDeclarations"].take()
}

/// What a property's schema becomes in the subset, and what is said of it.
#[track_caller]
fn check(property: Value, expected: Value, said: &[&str]) {
    check_in(property, json!({}), expected, said);
}

#[track_caller]
fn check_in(property: Value, defs: Value, expected: Value, said: &[&str]) {
    let engine = one(json!({"type": "object", "properties": {"p": property}, "$defs": defs}));
    let rendered = in_subset(&engine, Arm::Full);
    assert_eq!(functions(&rendered)[0]["parameters"]["properties"]["p"], expected);
    let notes: Vec<String> = rendered
        .diagnostics
        .iter()
        .map(|note| {
            assert!(note.message.starts_with("tool `t`: "), "{note}");
            format!("{} {}", note.place, note.message.trim_start_matches("tool `t`: "))
        })
        .collect();
    assert_eq!(notes, said);
}

const AS_TEXT: &str = "(a JSON object, written as text)";

#[test]
fn subset_schemas_are_unchanged() {
    let plain = json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}, "minItems": 1});
    check(plain.clone(), plain, &[]);
    let text = json!({"type": "string", "description": "D.", "enum": ["a", "b"], "pattern": "^a"});
    check(text.clone(), text, &[]);
    check(json!({"type": "string", "format": "date-time"}), json!({"type": "string", "format": "date-time"}), &[]);
}

#[test]
fn unsupported_parts_are_dropped_and_reported_once() {
    check(
        json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri", "title": "A", "default": "x"}},
               "required": ["a", "b"], "additionalProperties": false, "patternProperties": {}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        &[
            "/properties/p/properties/a `default` is left out",
            "/properties/p/properties/a `format` is left out where Gemini does not know it",
            "/properties/p `additionalProperties` is left out",
            "/properties/p `patternProperties` is left out",
        ],
    );
    check(
        json!({"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "number"}}),
        &["/properties/p `uniqueItems` is left out", "/properties/p/items `exclusiveMinimum` is left out"],
    );
}

#[test]
fn types_and_choices() {
    check(json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true}), &[]);
    check(
        json!({"type": ["string", "number"], "description": "D."}),
        json!({"anyOf": [{"type": "string", "description": "D."}, {"type": "number", "description": "D."}]}),
        &[],
    );
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "P"}),
        json!({"nullable": true, "type": "string"}),
        &["/properties/p `default` is left out"],
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
        &["/properties/p `oneOf` is written as `anyOf`"],
    );
    check(
        json!({"const": "a"}),
        json!({"type": "string", "enum": ["a"]}),
        &["/properties/p `const` is written as an enum with one value"],
    );
    check(
        json!({"enum": [1, 2], "description": "Which."}),
        json!({"type": "number", "description": "Which. One of: 1, 2."}),
        &["/properties/p `enum` is written in the description: only strings may have one"],
    );
    check(
        json!({"enum": ["a", null, ""]}),
        json!({"type": "string", "nullable": true, "enum": ["a"]}),
        &["/properties/p `enum` loses the empty text"],
    );
    check(
        json!({"enum": ["auto", 1, true, {"k": 1}], "description": "D."}),
        json!({"anyOf": [
            {"type": "string", "description": "D.", "enum": ["auto"]},
            {"type": "string", "description": "D. (JSON, written as text)", "enum": ["{\"k\":1}"]},
            {"type": "number", "description": "D. One of: 1."},
            {"type": "boolean", "description": "D. One of: true."}]}),
        &[
            "/properties/p `enum` lists objects or arrays, which are asked for as text",
            "/properties/p `enum` is written in the description: only strings may have one",
        ],
    );
    check(
        json!({"description": "Any."}),
        json!({"anyOf": [{"type": "string", "description": "Any."}, {"type": "number", "description": "Any."}, {"type": "boolean", "description": "Any."}]}),
        &["/properties/p `type` is missing: narrowed to string, number or boolean"],
    );
}

#[test]
fn references_are_inlined_and_cycles_cut() {
    check_in(
        json!({"$ref": "#/$defs/Row", "description": "Mine."}),
        json!({"Row": {"type": "object", "description": "Row.", "properties": {"k": {"$ref": "#/$defs/Key"}}}, "Key": {"type": "string"}}),
        json!({"type": "object", "description": "Mine.", "properties": {"k": {"type": "string"}}}),
        &[],
    );
    check_in(
        json!({"$ref": "#/$defs/Node"}),
        json!({"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}),
        json!({"type": "object", "properties": {"next": {"type": "string", "description": AS_TEXT}}}),
        &["/properties/p/properties/next `$ref` runs in a circle or too far, and is cut to any object"],
    );
    check(
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                         {"properties": {"b": {"type": "number"}}, "required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a", "b"]}),
        &[],
    );
    check(json!({"$ref": "#/nowhere", "type": "string"}), json!({"type": "string"}), &[]);
}

#[test]
fn without_properties_there_are_no_parameters() {
    for schema in [json!({"type": "object", "properties": {}}), json!({"type": "object"}), json!({})] {
        assert_eq!(functions(&in_subset(&one(schema), Arm::Full))[0], json!({"name": "t"}));
    }
}

#[test]
fn an_object_ambiguous_with_text_is_dropped() {
    let text = json!({"type": "string"});
    let left_out = "`object` is indistinguishable from the string allowed there, and is left out";
    let asked = "`object` without properties is asked for as text";
    check(
        json!({"anyOf": [text, {"type": "object"}]}),
        text.clone(),
        &[&format!("/properties/p {asked}"), &format!("/properties/p {left_out}")],
    );
    check(
        json!({"type": ["string", "object"]}),
        text,
        &[&format!("/properties/p {asked}"), &format!("/properties/p {left_out}")],
    );
    // Listed texts that are no JSON can be told from it.
    check(
        json!({"anyOf": [{"enum": ["auto"]}, {"type": "object"}]}),
        json!({"anyOf": [{"type": "string", "enum": ["auto"]}, {"type": "string", "description": AS_TEXT}]}),
        &[&format!("/properties/p {asked}")],
    );
    // Two shapes of one object, which say different things of `x`: it can be sent by the one where
    // it is a text.
    check(
        json!({"anyOf": [
            {"type": "object", "properties": {"x": {"type": "object"}, "y": {"type": "number"}}, "required": ["x"]},
            {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}]}),
        json!({"anyOf": [
            {"type": "object", "properties": {"y": {"type": "number"}}},
            {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}]}),
        &[&format!("/properties/p/properties/x {asked}"), &format!("/properties/p/properties/x {left_out}")],
    );
}

#[test]
fn the_default_sends_plain_json_schema() {
    let schema = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}, "n": {"type": ["integer", "null"]}},
        "additionalProperties": false, "$defs": {"P": {"oneOf": [{"type": "object"}, {"const": 1}]}}});
    let function = sent(&one(schema.clone()), Wire::Gemini)[0]["functionDeclarations"][0].clone();
    assert_eq!(function, json!({"name": "t", "parametersJsonSchema": schema}));
    assert_eq!(notes(&one(schema), Wire::Gemini, Arm::Full), [], "nothing is translated");
    let untyped = sent(&one(json!({"properties": {"p": {}}})), Wire::Gemini)[0]["functionDeclarations"][0].clone();
    assert_eq!(untyped["parametersJsonSchema"], json!({"type": "object", "properties": {"p": {}}}));
    // Text that looks like JSON stays text where one fits; where only an object does, the gate says
    // what it took it for.
    let engine = one(json!({"type": "object", "properties": {"o": {"type": "object"}}}));
    let message = json!({"role": "model", "parts": [{"functionCall": {"name": "t", "args": {"o": "{\"a\":1}"}}}]});
    let mut conversation = engine.conversation(Wire::Gemini).start().unwrap();
    let turn = conversation.turn(&message).unwrap();
    match turn.outcomes().next().unwrap() {
        Outcome::Forward(forward) if cfg!(feature = "validate") => {
            assert_eq!(forward.arguments, json!({"o": {"a": 1}}));
            assert_eq!(forward.context.coerced, ["`o`: JSON text was parsed as an object"]);
        }
        Outcome::Forward(forward) if !cfg!(feature = "validate") => {
            assert_eq!(forward.arguments, json!({"o": "{\"a\":1}"}), "nothing reads it back");
        }
        other => panic!("{other:?}"),
    }
    // Where the subset asked for it as text, it is read back before it is judged.
    let mut options = RenderOptions::default();
    options.gemini_parameters = SUBSET;
    let mut conversation = engine.conversation(Wire::Gemini).options(options).start().unwrap();
    let turn = conversation.turn(&message).unwrap();
    let Some(Outcome::Forward(forward)) = turn.outcomes().next() else { panic!("it is valid") };
    assert_eq!(forward.arguments, json!({"o": {"a": 1}}));
    assert_eq!(forward.arguments_json, "{\"o\":{\"a\":1}}");
    let again = engine.replay(&conversation.take_log(0)).unwrap();
    assert_eq!(again.snapshot(), conversation.snapshot(), "the choice is in the log");
}

#[test]
fn stubs_are_open_and_reported_if_closed() {
    let engine = excel(Arm::Stable);
    let array = sent(&engine, Wire::Gemini);
    let stubs: Vec<&Value> = array[0]["functionDeclarations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|own| own["parametersJsonSchema"]["additionalProperties"] == true)
        .collect();
    assert!(stubs.len() > 10, "{}", stubs.len());
    assert_eq!(notes(&engine, Wire::Gemini, Arm::Stable), []);
    for arm in arms(Wire::Gemini) {
        let closed: Vec<_> =
            in_subset(&engine, arm).diagnostics.into_iter().filter(|own| own.code == "gemini-closed-stub").collect();
        let hides = matches!(arm, Arm::Stable | Arm::Seed | Arm::Lean);
        assert_eq!(closed.len(), usize::from(hides), "{arm}: {closed:?}");
        for one in closed {
            assert!(one.message.contains(" more are folded to an open schema"), "{one}");
        }
    }
}

#[test]
fn a_gemini_tool_is_unchanged_if_the_form_allows_it() {
    let schema =
        r#"{"type":"object","properties":{"o":{"type":"object"},"n":{"type":"integer"}},"additionalProperties":false}"#;
    let plain = format!(r#"{{"name":"a","description":"A.","parametersJsonSchema":{schema}}}"#);
    let subset = r#"{"name":"b","parameters":{"type":"OBJECT","properties":{"s":{"type":"STRING","nullable":true}}}}"#;
    let list = format!(r#"[{{"functionDeclarations":[{plain},{subset}]}},{{"googleSearch":{{}}}}]"#);
    let catalog = toolfold::catalog::Catalog::import(&list, "tools.json", None).into_result().unwrap();
    let engine = Engine::builder(catalog).arm(Arm::Full).build().unwrap();
    assert_eq!(engine.conversation(Wire::Gemini).start().unwrap().tools().json(), list);
    let rendered = in_subset(&engine, Arm::Full);
    let functions = functions(&rendered);
    assert_eq!(
        functions[0],
        json!({"name": "a", "description": "A.", "parameters": {"type": "object", "properties":
        {"o": {"type": "string", "description": AS_TEXT}, "n": {"type": "integer"}}}}),
        "it knows no JSON Schema"
    );
    assert_eq!(functions[1].to_string(), subset, "as it came");
    assert!(rendered.diagnostics.iter().any(|one| one.message.contains("`additionalProperties` is left out")));
}

#[test]
fn forms_are_named_in_flags_and_files() {
    for form in [GeminiParameters::JsonSchema, GeminiParameters::OpenApiSubset] {
        assert_eq!(form.to_string().parse(), Ok(form));
    }
    let why = "openapi".parse::<GeminiParameters>().unwrap_err().to_string();
    assert_eq!(why, "unknown form of Gemini's parameters `openapi`: use json-schema or openapi-subset");
}

#[test]
fn a_hostile_schema_ends() {
    let mut defs = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}));
    }
    let engine = one(json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": defs}));
    let text = in_subset(&engine, Arm::Full).text;
    assert!(text.len() < 2_000_000, "{} bytes", text.len());
    let all = json!({"anyOf": [{"type": "string"}, {"type": "number"}], "oneOf": [{"minimum": 1}, {"minimum": 2}]});
    let deep = (0..40).fold(all.clone(), |inner, _| json!({"anyOf": [inner, all]}));
    let nested = one(json!({"type": "object", "properties": {"p": deep}}));
    assert!(in_subset(&nested, Arm::Full).text.len() < 2_000_000);
    let circle = one(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
    );
    assert!(in_subset(&circle, Arm::Full).text.len() < 2_000);
    let large =
        json!({"type": "object", "description": "x".repeat(1_000_000), "properties": {"a": {"type": "string"}}});
    let many: serde_json::Map<String, Value> =
        (0..1_500).map(|n| (format!("p{n}"), json!({"$ref": "#/$defs/l"}))).collect();
    let copied = one(json!({"type": "object", "properties": many, "$defs": {"l": large}}));
    let text = in_subset(&copied, Arm::Full).text;
    assert!(text.len() < 80_000_000, "{} bytes", text.len());
    let itself = one(json!({"type": "object", "properties": {"p": {"$ref": "#"}}}));
    assert!(in_subset(&itself, Arm::Full).text.len() < 2_000);
    let merged = one(json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/n"}}, "$defs": {
        "n": {"type": "object", "properties": {"next": {"allOf": [{"$ref": "#/$defs/n"}]}}}}}));
    assert!(in_subset(&merged, Arm::Full).text.len() < 2_000);
}

#[test]
fn corpus_every_array_in_the_subset_has_its_published_shape() {
    let shape = super::corpora::shape(Wire::Gemini);
    let mut faults = Vec::new();
    for (name, catalog, profile) in super::corpora::catalogues() {
        let engine = Engine::builder(catalog).profile(profile).without_validation().build().unwrap();
        for arm in arms(Wire::Gemini) {
            let array: Value = serde_json::from_str(&in_subset(&engine, arm).text).unwrap();
            let fault = shape.iter_errors(&array).next();
            faults.extend(fault.map(|why| format!("{name} {arm}: {} {why:.200}", why.instance_path())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
