//! Merges schemas that apply to the same value.

use serde_json::{Map, Value};

use super::reference::follow;

/// The maximum number of members of nested `allOf` that are merged; the rest are left out and
/// reported.
const MAX_MERGED: usize = 64;

/// Merges `from` into `into`: `properties` and `required` are joined, and for any other keyword the
/// value in `into` wins. `clash` is called with each keyword whose two values differ, except
/// annotations. The result should accept at least what both schemas accept together: it is for
/// display, not for validation.
pub(crate) fn merge(into: &mut Map<String, Value>, from: Map<String, Value>, clash: &mut impl FnMut(&str)) {
    // `then` belongs to its own `if`.
    let conditional = |key: &str| matches!(key, "if" | "then" | "else");
    let has_conditional = into.keys().any(|key| conditional(key));
    for (key, value) in from {
        if has_conditional && conditional(&key) {
            if into.get(&key) != Some(&value) {
                clash(&key);
            }
            continue;
        }
        match (into.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                for (name, node) in more {
                    match known.get(&name) {
                        Some(own) if *own != node => clash("properties"),
                        Some(_) => {}
                        None => {
                            known.insert(name, node);
                        }
                    }
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
                if *known != value && !super::is_annotation(&key) {
                    clash(&key);
                }
            }
            (None, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// A schema with its chain of references merged in: its own members first, then those of the
/// targets. A `$ref` that has no target or is part of a cycle remains.
#[must_use]
pub fn dereferenced(root: &Value, node: &Value) -> Map<String, Value> {
    let chain = follow(root, node);
    let mut whole = Map::new();
    let last = chain.layers.len().saturating_sub(1);
    for (at, layer) in chain.layers.iter().enumerate() {
        let resolved = at < last;
        for (key, value) in layer.iter().filter(|(key, _)| !(resolved && *key == "$ref")) {
            if !whole.contains_key(key) {
                whole.insert(key.clone(), value.clone());
            }
        }
    }
    whole
}

/// A schema with the members of its `allOf` merged in, including nested ones, each with its
/// references followed inside `root`. `clash` is called as by [`merge`], and with `allOf` if
/// members were left out.
#[must_use]
pub(crate) fn flattened(root: &Value, mut map: Map<String, Value>, clash: &mut impl FnMut(&str)) -> Map<String, Value> {
    for _ in 0..MAX_MERGED {
        let Some(Value::Array(members)) = map.shift_remove("allOf") else { return map };
        let mut nested: Vec<Value> = Vec::new();
        for member in &members {
            let mut own = dereferenced(root, member);
            if let Some(Value::Array(more)) = own.shift_remove("allOf") {
                nested.extend(more);
            }
            merge(&mut map, own, clash);
        }
        if nested.is_empty() {
            return map;
        }
        if nested.len() > MAX_MERGED {
            nested.truncate(MAX_MERGED);
            clash("allOf");
        }
        map.insert("allOf".to_owned(), Value::Array(nested));
    }
    if map.shift_remove("allOf").is_some() {
        clash("allOf");
    }
    map
}
