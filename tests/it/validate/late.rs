//! Schemas are compiled with the first call: what the engine accepted without compiling compiles.

use std::fs;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::engine::validate::Validator;

use crate::tool_lists::tool_lists;

/// The tools whose schemas the engine refuses, and those whose schemas do not compile.
fn refused(catalog: Catalog) -> (Vec<String>, Vec<String>) {
    let compiled = catalog.iter().filter(|tool| Validator::compile(tool.parameters()).is_err());
    let compiled = compiled.map(|tool| format!("tool `{}`:", tool.name())).collect();
    let engine = Engine::builder(catalog).build().unwrap();
    let found = engine.diagnostics().iter().filter(|one| one.code == "bad-schema");
    let found = found.map(|one| one.message.split_inclusive(':').next().unwrap().to_owned()).collect();
    (found, compiled)
}

/// Lists with what an import may have to repair.
fn hostile() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpora/cases/catalogue");
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "json"));
    let mut lists: Vec<(String, String)> =
        files.map(|file| (file.path().display().to_string(), fs::read_to_string(file.path()).unwrap())).collect();
    lists.sort();
    let broken: [Value; 14] = [
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "other.json"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/schema.json#/a"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#anchor"}}}),
        json!({"type": "object", "properties": {"a": {"$dynamicRef": "#anchor"}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "(?<=a+)b"}}}),
        json!({"type": "object", "patternProperties": {"[": {}}}),
        json!({"type": "objekt"}),
        json!({"type": "object", "required": "a"}),
        json!({"type": "object", "properties": {"a": {"minimum": "1"}}}),
        json!({"type": "object", "properties": {"a": {"multipleOf": 0}}}),
        json!({"type": "object", "properties": {"a": {"enum": 3}}}),
        json!({"$schema": "https://example.com/none", "type": "object", "properties": {"a": {"minItems": -1}}}),
    ];
    let tools: Vec<Value> = broken
        .iter()
        .enumerate()
        .map(|(at, schema)| json!({"name": format!("t{at}"), "inputSchema": schema}))
        .collect();
    // Each definition uses the next one twice, and a reference to a value.
    let mut definitions = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        definitions.insert(format!("d{at}"), json!({"allOf": [next, {"not": next}]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let doubled = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let value =
        json!({"type": "object", "properties": {"a": {"const": {"b": {}}}, "c": {"$ref": "#/properties/a/const/b"}}});
    let refused = json!([{"name": "doubled", "inputSchema": doubled}, {"name": "value", "inputSchema": value}]);
    lists.push(("refused".to_owned(), refused.to_string()));
    lists.push(("broken".to_owned(), Value::from(tools).to_string()));
    lists
}

#[test]
fn corpus_what_the_engine_accepts_compiles() {
    let lists = tool_lists().into_iter().map(|list| (list.name, list.text)).chain(hostile());
    let (mut tools, mut named) = (0, 0);
    for (name, text) in lists {
        let loaded = Catalog::import(&text, &name, None);
        tools += loaded.value.len();
        let (refused, fails) = refused(loaded.value);
        assert_eq!(refused, fails, "{name}");
        named += refused.len();
    }
    println!("{tools} tools, {named} refused before a call, and no other one fails to compile");
    assert_eq!(named, 2);
}
