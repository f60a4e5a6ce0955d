//! Reduces parts of a shown parameter to their bare type: in the objects it consists of, the
//! optional properties that no rule depends on.
//!
//! Names stay at every level. Restrictions on values go: `enum`, `pattern`, bounds. A call that
//! violates one fails and is answered with the full definition.
//!
//! A wider part makes the whole wider only if no keyword inverts it. With `not`, `oneOf`, `if` or
//! `contains` anywhere in the schema nothing is loosened, nor if a reference leads anywhere but to
//! a definition.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::Kept;
use super::bare::bare_text;
use super::schema::mentioned;
use super::write::write_schema;
use crate::schema::{self, Role, Target, object_member, role};

/// Keywords under which a wider schema accepts less, or whose effect depends on what other schemas
/// accept.
const TURNING: [&str; 6] = ["not", "oneOf", "if", "contains", "unevaluatedItems", "unevaluatedProperties"];

/// Keywords that define which properties an object has, or what they accept.
const NAMING: [&str; 8] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

/// The maximum number of schemas of a property that are searched for names. A larger property is
/// assumed to have some.
const MOST_READ: usize = 64;

/// The bare types of the optional properties in these parameters, by the address of the property in
/// the document.
pub(super) fn loosened<'s>(
    root: &'s Value,
    parameters: impl Iterator<Item = &'s Value>,
) -> HashMap<*const Value, String> {
    let mut found = HashMap::new();
    let Some(barred) = barred(root) else { return found };
    let mut waiting: Vec<&Value> = parameters.collect();
    let mut seen: HashSet<*const Value> = HashSet::new();
    while let Some(node) = waiting.pop() {
        let Some(map) = node.as_object() else { continue };
        if !seen.insert(std::ptr::from_ref(node)) {
            continue;
        }
        waiting.extend(reference_target(root, map));
        for (key, value) in map {
            if role(key) == Role::Child && key != "properties" {
                schema::held(key, value, |child| waiting.push(child));
            }
        }
        let needed = if barred.contains(&std::ptr::from_ref(node)) { None } else { mentioned(root, node) };
        for (name, property) in object_member(map, "properties").into_iter().flatten() {
            if let Some(needed) = &needed
                && !needed.contains(name.as_str())
                && let Some(text) = looser(root, property)
            {
                found.insert(std::ptr::from_ref(property), text);
            } else {
                waiting.push(property);
            }
        }
    }
    found
}

/// The schemas that belong to a branch: their content distinguishes the branches. `None` if nothing
/// may be loosened.
fn barred(root: &Value) -> Option<HashSet<*const Value>> {
    let mut branches = Vec::new();
    let mut plain = true;
    schema::walk(root, &mut |node| {
        let Some(map) = node.as_object() else { return };
        plain &= !schema::is_dynamic(node) && (std::ptr::eq(node, root) || schema::identifier(node).is_none());
        plain &= !map.keys().any(|key| TURNING.contains(&key.as_str()));
        plain &= schema::reference(node).is_none_or(|reference| leads_to_definition(root, reference));
        for (key, value) in map {
            if role(key) == Role::InPlace {
                schema::held(key, value, |branch| branches.push(branch));
            }
        }
    });
    let mut barred = HashSet::new();
    while let Some(node) = branches.pop() {
        if barred.insert(std::ptr::from_ref(node)) {
            branches.extend(node.as_object().and_then(|map| reference_target(root, map)));
            schema::children(node, |child| branches.push(child));
        }
    }
    if plain { Some(barred) } else { None }
}

fn leads_to_definition(root: &Value, reference: &str) -> bool {
    let Some(steps) = schema::route(root, reference) else { return false };
    matches!(&steps[..], [step] if role(step.keyword) == Role::Definitions)
}

/// The schema that a schema refers to.
fn reference_target<'s>(root: &'s Value, map: &'s Map<String, Value>) -> Option<&'s Value> {
    match schema::resolve(root, map.get("$ref")?.as_str()?) {
        Target::Found(target) => Some(target),
        _ => None,
    }
}

/// The bare type of a property that names nothing, if it is shorter than the property's schema.
fn looser(root: &Value, property: &Value) -> Option<String> {
    if names_something(root, property) {
        return None;
    }
    let bare = typed_text(root, property);
    let mut shape = String::new();
    write_schema(&mut shape, property, &Kept::default());
    (bare.len() < shape.len()).then_some(bare)
}

/// The bare type, with the bare type of the items for a list.
fn typed_text(root: &Value, node: &Value) -> String {
    let bare = bare_text(root, node);
    match (bare.as_str(), node.get("items")) {
        (r#"{"type":"array","items":{}}"#, Some(items)) if items.is_object() => {
            format!(r#"{{"type":"array","items":{}}}"#, typed_text(root, items))
        }
        _ => bare,
    }
}

/// Whether a schema, or one it refers to, has property names.
fn names_something(root: &Value, node: &Value) -> bool {
    let mut waiting = vec![node];
    let mut seen: HashSet<*const Value> = HashSet::new();
    while let Some(node) = waiting.pop() {
        if !seen.insert(std::ptr::from_ref(node)) {
            continue;
        }
        let Some(map) = node.as_object() else { continue };
        if seen.len() > MOST_READ || map.keys().any(|key| NAMING.contains(&key.as_str())) {
            return true;
        }
        waiting.extend(reference_target(root, map));
        schema::children(node, |child| waiting.push(child));
    }
    false
}
