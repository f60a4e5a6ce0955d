//! Putting several schemas into one.

use serde_json::{Map, Value};

use crate::schema::{Target, reference, resolve};

/// How many members of nested `allOf` are merged into one schema; the rest is left out.
const MAX_MERGED: usize = 64;

/// A schema with the members of its `allOf` merged in: properties and required names are joined, of anything else said
/// twice the first stays.
pub(super) fn flatten(
    mut map: Map<String, Value>,
    root: &Value,
    changed: &mut impl FnMut(&str, &'static str),
) -> Map<String, Value> {
    for _ in 0..MAX_MERGED {
        let Some(Value::Array(members)) = map.shift_remove("allOf") else { return map };
        let mut nested: Vec<Value> = Vec::new();
        for member in &members {
            let mut own = pointed(root, member).as_object().cloned().unwrap_or_default();
            for (key, value) in member.as_object().into_iter().flatten().filter(|(key, _)| *key != "$ref") {
                own.insert(key.clone(), value.clone());
            }
            if let Some(Value::Array(more)) = own.shift_remove("allOf") {
                nested.extend(more);
            }
            merge(&mut map, own, changed);
        }
        if nested.is_empty() {
            return map;
        }
        nested.truncate(MAX_MERGED);
        map.insert("allOf".to_owned(), Value::Array(nested));
    }
    map.shift_remove("allOf");
    map
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>, changed: &mut impl FnMut(&str, &'static str)) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                for (name, node) in more {
                    known.entry(name).or_insert(node);
                }
            }
            (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                for name in more {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            (Some(known), value) => {
                if *known != value && key != "description" && key != "title" {
                    changed(&key, "is said twice in an `allOf`: the first stays");
                }
            }
            (None, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// The arguments' object where only its choices have properties: it takes all of them, and requires none.
pub(super) fn open_union(
    mut map: Map<String, Value>,
    root: &Value,
    changed: &mut impl FnMut(&str),
) -> Map<String, Value> {
    let known = map.get("properties").and_then(Value::as_object).is_some_and(|own| !own.is_empty());
    let key = ["anyOf", "oneOf"].into_iter().find(|key| map.get(*key).is_some_and(Value::is_array));
    let Some(key) = key.filter(|_| !known) else { return map };
    let mut all = Map::new();
    if let Some(Value::Array(choices)) = map.shift_remove(key) {
        for choice in &choices {
            let own = flatten(pointed(root, choice).as_object().cloned().unwrap_or_default(), root, &mut |_, _| {});
            for (name, node) in own.get("properties").and_then(Value::as_object).into_iter().flatten() {
                all.entry(name.clone()).or_insert_with(|| node.clone());
            }
        }
        changed(key);
    }
    map.insert("properties".to_owned(), Value::Object(all));
    map
}

/// How often a chain of references is followed from one place.
const MAX_HOPS: usize = 16;

/// What a schema stands for once a chain of references is followed inside the document.
pub(super) fn pointed<'v>(root: &'v Value, mut node: &'v Value) -> &'v Value {
    for _ in 0..MAX_HOPS {
        match reference(node).map(|target| resolve(root, target)) {
            Some(Target::Found(next)) => node = next,
            _ => break,
        }
    }
    node
}
