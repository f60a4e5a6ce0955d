//! The committed types of the protocol for TypeScript and Python, written from its schema.

use serde_json::{Map, Value, json};

/// Compares a committed file with its new text, or writes it, as tests do with snapshots.
fn assert_committed(file: &str, text: &str) {
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(crate::root().join(file), text).unwrap();
    }
    let help = "INSTA_UPDATE=always cargo test -p toolfold-cli --test it session::types";
    assert!(crate::project(file) == text, "{file} is out of date: {help}");
}

fn definitions() -> Map<String, Value> {
    let schema: Value = serde_json::from_str(&crate::commands::run(&["session", "--schema"]).out).unwrap();
    schema["$defs"].as_object().unwrap().clone()
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()
}

fn is_required(schema: &Value, key: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == key))
}

fn words(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The types of a schema, one for each of its alternatives.
fn types(schema: &Value, one: &impl Fn(&Value, &str) -> String) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return vec![name.rsplit('/').next().unwrap().to_owned()];
    }
    if let Some(all) = alternatives(schema) {
        return all.iter().flat_map(|schema| types(schema, one)).collect();
    }
    if let Some(literals) = schema["enum"].as_array() {
        return literals.iter().map(|literal| one(literal, "literal")).collect();
    }
    match schema.get("const") {
        Some(literal) => vec![one(literal, "literal")],
        None => match &schema["type"] {
            Value::Array(all) => all.iter().map(|kind| one(schema, kind.as_str().unwrap())).collect(),
            kind => vec![one(schema, kind.as_str().unwrap_or("any"))],
        },
    }
}

fn typescript(schema: &Value, depth: usize) -> String {
    let alternatives = types(schema, &|schema, kind| match kind {
        "literal" => schema.to_string(),
        "integer" | "number" => "number".to_owned(),
        "any" => "unknown".to_owned(),
        "array" => format!("Array<{}>", typescript(&schema["items"], depth)),
        "object" if schema.get("properties").is_some() => members(schema, depth),
        "object" => "{ [key: string]: unknown }".to_owned(),
        simple => simple.to_owned(),
    });
    // `unknown` contains all others.
    if alternatives.iter().any(|one| one == "unknown") { "unknown".to_owned() } else { alternatives.join(" | ") }
}

fn members(schema: &Value, depth: usize) -> String {
    let (mut text, indent) = ("{\n".to_owned(), "  ".repeat(depth + 1));
    for (key, member) in schema["properties"].as_object().unwrap() {
        if !words(member).is_empty() {
            text += &format!("{indent}/** {} */\n", words(member));
        }
        let mark = if is_required(schema, key) { "" } else { "?" };
        text += &format!("{indent}{key}{mark}: {};\n", typescript(member, depth + 1));
    }
    text + &"  ".repeat(depth) + "}"
}

/// The members that all alternatives have, which are removed from them.
fn shared_members(schema: &mut Value) -> Option<Value> {
    let all = alternatives(schema)?;
    let Some(shared) = all.iter().map(|one| one["properties"].get("conversation")).collect::<Option<Vec<_>>>() else {
        return schema.get("properties").map(|_| schema.clone());
    };
    let shared = json!({ "properties": { "conversation": shared[0] } });
    for one in schema["oneOf"].as_array_mut().unwrap() {
        one["properties"].as_object_mut().unwrap().remove("conversation");
    }
    Some(shared)
}

#[test]
fn the_types_for_typescript_are_those_of_the_schema() {
    let mut text = "// The lines of `toolfold session`: types of requests and answers. Written by a test from `toolfold session --schema`.\n".to_owned();
    for (name, mut schema) in definitions() {
        if !words(&schema).is_empty() {
            text += &format!("\n/** {} */", words(&schema));
        }
        text += &format!("\nexport type {name} =");
        let shared = shared_members(&mut schema);
        let Some(all) = alternatives(&schema) else {
            text += &format!(" {};\n", typescript(&schema, 0));
            continue;
        };
        let mut union = String::new();
        for one in all {
            if !words(one).is_empty() {
                union += &format!("\n  /** {} */", words(one));
            }
            union += &format!("\n  | {}", typescript(one, 1));
        }
        text += &match shared {
            Some(shared) => format!(" {} & ({union}\n);\n", members(&shared, 0)),
            None => union + ";\n",
        };
    }
    assert_committed("examples/node/session.d.ts", &text);
}

fn python(schema: &Value) -> String {
    let alternatives = types(schema, &|schema, kind| match kind {
        "literal" => format!("Literal[{}]", if *schema == true { "True".to_owned() } else { schema.to_string() }),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "string" => "str".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => format!("list[{}]", python(&schema["items"])),
        "object" => "dict[str, Any]".to_owned(),
        _ => "Any".to_owned(),
    });
    if alternatives.iter().any(|one| one == "Any") { "Any".to_owned() } else { alternatives.join(" | ") }
}

/// A class of Python for an object.
fn class(name: &str, schema: &Value, shared: &[(&String, &Value)]) -> String {
    let doc = if words(schema).is_empty() { String::new() } else { format!("    \"\"\"{}\"\"\"\n\n", words(schema)) };
    let mut text = format!("\n\nclass {name}(TypedDict):\n{doc}");
    for (key, member) in shared.iter().copied().chain(schema["properties"].as_object().unwrap()) {
        let of = python(member);
        let of = if is_required(schema, key) { of } else { format!("NotRequired[{of}]") };
        text += &format!("    {key}: {of}\n");
    }
    text
}

fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[test]
fn the_types_for_python_are_those_of_the_schema() {
    let mut text = "\"\"\"The lines of `toolfold session`: types of requests and answers.\n\n\
                    Written by a test from `toolfold session --schema`. Needs Python 3.11.\n\"\"\"\n\n\
                    from __future__ import annotations\n\n\
                    from typing import Any, Literal, NotRequired, TypedDict, Union\n"
        .to_owned();
    let definitions = definitions();
    // The key that every answer may have.
    let shared: Vec<(&String, &Value)> = definitions["Answer"]["properties"].as_object().unwrap().iter().collect();
    let answers = python(&definitions["Answer"]);
    let mut unions = String::new();
    for (name, schema) in &definitions {
        if let Some(all) = alternatives(schema) {
            let mut names = Vec::new();
            for one in all {
                let name = match one["required"][0].as_str() {
                    Some(key) => camel(key) + "Request",
                    None => python(one),
                };
                if one.get("properties").is_some() {
                    text += &class(&name, one, &[]);
                }
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            unions += &format!("\n{name} = Union[{}]\n", names.join(", "));
        } else {
            let is_answer = answers.split(" | ").any(|answer| answer == name);
            text += &class(name, schema, if is_answer { &shared } else { &[] });
        }
    }
    assert_committed("examples/python/session_types.py", &(text + "\n" + &unions));
}
