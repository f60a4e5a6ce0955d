//! Every list of the cases, in every arm on every wire: what is sent obeys the written rules of the
//! provider, every schema is valid in 2020-12, and no parameter is lost.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::schema::{Target, resolve, walk};
use toolfold::wire::Wire;

use super::arms;
use super::corpora::shape;
use crate::corpus;
use crate::talk::Talk;

/// What a provider's errors and documentation say about a tool array. Sources: `docs/wires.md`.
struct Rules {
    wire: Wire,
    max_name: usize,
    /// Characters of names beside ASCII letters and digits.
    joints: &'static str,
    /// Keywords that must not be at the top of a schema.
    refused: &'static [&'static str],
    /// Whether `properties` is required at the top, and `items` in every array.
    complete: bool,
    /// Whether names of top-level parameters are restricted.
    parameters: bool,
}

const ALTERNATIVES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

const RULES: [Rules; 6] = [
    Rules {
        wire: Wire::OpenAiChat,
        max_name: 64,
        joints: "_-",
        refused: &ALTERNATIVES,
        complete: true,
        parameters: false,
    },
    Rules {
        wire: Wire::OpenAiResponses,
        max_name: 64,
        joints: "_-",
        refused: &ALTERNATIVES,
        complete: true,
        parameters: false,
    },
    Rules {
        wire: Wire::Anthropic,
        max_name: 128,
        joints: "_-",
        refused: &["oneOf", "anyOf", "allOf"],
        complete: false,
        parameters: true,
    },
    Rules { wire: Wire::Gemini, max_name: 64, joints: "_-.:", refused: &[], complete: false, parameters: false },
    Rules { wire: Wire::Mcp, max_name: 128, joints: "_-.", refused: &[], complete: false, parameters: false },
    Rules {
        wire: Wire::BedrockConverse,
        max_name: 64,
        joints: "_-",
        refused: &["oneOf", "anyOf", "allOf"],
        complete: false,
        parameters: false,
    },
];

/// The functions of an array: name and schema.
fn functions(wire: Wire, array: &Value) -> Vec<(String, Option<Value>)> {
    let mut found = Vec::new();
    for entry in array.as_array().unwrap() {
        let (own, key): (Vec<&Value>, &str) = match wire {
            Wire::OpenAiChat => (vec![&entry["function"]], "parameters"),
            Wire::OpenAiResponses if entry["type"] == "namespace" => {
                (entry["tools"].as_array().unwrap().iter().collect(), "parameters")
            }
            Wire::OpenAiResponses => (vec![entry], "parameters"),
            Wire::Anthropic => (vec![entry], "input_schema"),
            Wire::Gemini => {
                (entry["functionDeclarations"].as_array().unwrap().iter().collect(), "parametersJsonSchema")
            }
            Wire::BedrockConverse => (vec![&entry["toolSpec"]], "inputSchema"),
            _ => (vec![entry], "inputSchema"),
        };
        for function in own {
            let is_function = function.get(key).is_some() || function["type"] == "function" || wire == Wire::Gemini;
            if is_function && let Some(name) = function["name"].as_str() {
                let schema = function.get(key);
                let schema = if wire == Wire::BedrockConverse { schema.map(|own| &own["json"]) } else { schema };
                found.push((name.to_owned(), schema.cloned()));
            }
        }
    }
    found
}

/// The parameters that a schema names, in alternatives and definitions too.
fn named(root: &Value) -> BTreeSet<String> {
    fn add(root: &Value, node: &Value, depth: usize, found: &mut BTreeSet<String>) {
        let Some(map) = node.as_object().filter(|_| depth < 8) else { return };
        found.extend(map.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned());
        for key in ["oneOf", "anyOf", "allOf"] {
            map.get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .for_each(|one| add(root, one, depth + 1, found));
        }
        if let Some(Target::Found(target)) = map.get("$ref").and_then(Value::as_str).map(|to| resolve(root, to)) {
            add(root, target, depth + 1, found);
        }
    }
    let mut found = BTreeSet::new();
    add(root, root, 0, &mut found);
    found
}

fn check_schema(rules: &Rules, schema: &Value, faults: &mut Vec<String>) {
    if schema["type"] != "object" {
        faults.push(format!("type {}", schema["type"]));
    }
    faults.extend(
        rules.refused.iter().filter(|key| schema.get(**key).is_some()).map(|key| format!("`{key}` at the top")),
    );
    if rules.complete && schema.get("properties").is_none() {
        faults.push("no properties".to_owned());
    }
    walk(schema, &mut |node| {
        let is_array =
            node["type"] == "array" || node["type"].as_array().is_some_and(|all| all.contains(&"array".into()));
        if rules.complete && is_array && node.get("items").is_none() {
            faults.push(format!("an array without items: {node:.80}"));
        }
        if let Some(to) = node.get("$ref").and_then(Value::as_str)
            && resolve(schema, to) == Target::Missing
        {
            faults.push(format!("`{to}` leads nowhere"));
        }
    });
    for name in schema["properties"].as_object().into_iter().flat_map(Map::keys).filter(|_| rules.parameters) {
        let fits = (1..=64).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
        faults.extend((!fits).then(|| format!("parameter `{name}`")));
    }
    let mut plain = schema.clone();
    plain.as_object_mut().unwrap().shift_remove("$schema");
    if let Err(why) = jsonschema::draft202012::meta::validate(&plain) {
        faults.push(format!("not 2020-12: {why:.120}"));
    }
}

/// The faults of an array.
fn check_array(rules: &Rules, engine: &Engine, arm: Arm, array: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let functions = functions(rules.wire, array);
    let mut seen = BTreeSet::new();
    let legal = |c: char| c.is_ascii_alphanumeric() || rules.joints.contains(c);
    for (name, schema) in &functions {
        if !(1..=rules.max_name).contains(&name.len()) || !name.chars().all(legal) {
            faults.push(format!("name `{name}`"));
        }
        if !seen.insert(name) && rules.wire != Wire::OpenAiResponses {
            faults.push(format!("two tools `{name}`"));
        }
        let mut own = Vec::new();
        if let Some(schema) = schema {
            // An MCP client gets a tool that is not folded as its server wrote it.
            let is_given = |tool: &toolfold::catalog::Tool| tool.given_parameters() == schema;
            if rules.wire != Wire::Mcp || !engine.catalog().iter().any(is_given) {
                check_schema(rules, schema, &mut own);
            }
        } else if matches!(rules.wire, Wire::Anthropic | Wire::Mcp | Wire::BedrockConverse) {
            own.push("no schema".to_owned());
        }
        faults.extend(own.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    if array.to_string().matches("\"cache_control\"").count() > 4 {
        faults.push("more than four breakpoints".to_owned());
    }
    if matches!(arm.name(), "full" | "signature" | "outline" | "kept") {
        // Tools are in the order of the catalog.
        let tools = engine.catalog().iter();
        for (tool, (name, schema)) in tools.zip(&functions).filter(|(tool, _)| tool.namespaced().is_none()) {
            let sent = schema.as_ref().map(named).unwrap_or_default();
            for own in named(tool.parameters()).difference(&sent) {
                faults.push(format!("{name}: `{own}` is not named"));
            }
        }
    }
    faults
}

/// Lists that hold one tool for each kind of fault.
const HARD: &str = r##"[
    {"name": "查询天气", "description": "Get the weather. More.", "inputSchema": {"type": "string"}},
    {"name": "get weather (now)", "inputSchema": {"type": "object", "properties": {"filter[name]": {"type": "array"},
        "x y": {"type": ["string", "null"]}, "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": {}}, "required": ["filter[name]"]}},
    {"name": "union", "inputSchema": {"anyOf": [{"type": "object", "properties": {"a[]": {}}}, {"$ref": "#/$defs/B"}],
        "$defs": {"B": {"type": "object", "properties": {"b[]": {"items": {"$ref": "#/$defs/B"}}}}}}},
    {"name": "mixed", "inputSchema": {"oneOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "object"}]}},
    {"name": "tuple", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"at": {"type": "array", "items": [{"type": "number"}], "additionalItems": false}}}},
    {"name": "python", "inputSchema": {"type": "OBJECT", "properties": {"n": {"type": "int", "nullable": true}}, "required": null}},
    {"name": "php", "inputSchema": []},
    {"name": "bare", "inputSchema": {"$ref": "#/definitions/Args", "definitions": {"Args": {"properties": {"q": {"type": "string"}}}}}},
    {"name": "cyclic", "inputSchema": {"type": "object", "properties": {"self": {"$ref": "#"}}, "not": {"required": ["x"]}}}
]"##;

#[test]
fn corpus_cases_are_accepted_by_every_provider() {
    let mut lists = vec![("hard".to_owned(), HARD.to_owned())];
    if let Some(folder) = corpus("cases/catalogue") {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "json") {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                lists.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    lists.sort();
    let lists = toolfold_testing::sample(lists, 6);
    let (mut arrays, mut faults) = (0, Vec::new());
    for (name, text) in &lists {
        let catalog = Catalog::import(text, name, None).value;
        assert!(!catalog.is_empty(), "{name}");
        let engine = Engine::builder(catalog).without_validation().build().unwrap();
        for rules in &RULES {
            for arm in arms(rules.wire) {
                let mut conversation = engine.talk_as(rules.wire, arm);
                let array = conversation.tools().value();
                arrays += 1;
                let mut own = check_array(rules, conversation.engine(), arm, &array);
                // The published shapes have no entries that a provider runs, and that of MCP allows
                // only what a server should have written.
                if rules.wire != Wire::Mcp && engine.catalog().foreign().next().is_none() {
                    let errors = shape(rules.wire);
                    own.extend(errors.iter_errors(&array).map(|why| format!("{}: {why:.120}", why.instance_path())));
                }
                faults.extend(own.into_iter().map(|fault| format!("{name} {} {arm}: {fault}", rules.wire)));
            }
        }
    }
    println!("{arrays} arrays of {} lists", lists.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
