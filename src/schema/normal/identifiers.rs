//! `$id` and `id`: references by an identifier become JSON Pointers, and identifiers are left out.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Repairs;
use super::text_member;
use super::values::is_anchor;
use crate::schema::keyword::{Holds, holds};
use crate::schema::reference::pointer_token;
use crate::schema::walk::{children, walk, walk_mut};

/// By the last segment of an identifier: the first identifier with it, without an empty fragment,
/// and the JSON Pointer of its schema.
type Places = HashMap<String, (String, String)>;

/// Leaves out the identifiers of a document, unless a reference would change its meaning.
pub(super) fn drop_identifiers(root: &mut Value, repairs: &mut Repairs) {
    let mut places = Places::new();
    gather(root, &mut String::new(), &mut places);
    if places.is_empty() {
        return;
    }
    if is_divided(root) {
        return name_anchors(root, repairs);
    }
    walk_mut(root, &mut |node| {
        let Some(map) = node.as_object_mut() else { return };
        let reference = text_member(map, "$ref");
        let pointer = reference.and_then(|reference| pointer_of(reference, &places));
        if let Some(pointer) = pointer {
            map.insert("$ref".to_owned(), json!(pointer));
            repairs.count("a `$ref` to an identifier as a JSON Pointer");
        }
        for key in ["$id", "id"] {
            if map.get(key).is_some_and(Value::is_string) {
                map.shift_remove(key);
                repairs.count("an identifier left out");
            }
        }
    });
}

/// Gives identifiers the names of 2020-12: `id` of draft 4, and fragments of drafts 4 to 7.
fn name_anchors(root: &mut Value, repairs: &mut Repairs) {
    walk_mut(root, &mut |node| {
        let Some(map) = node.as_object_mut() else { return };
        for key in ["$id", "id"] {
            let Some(id) = text_member(map, key).map(str::to_owned) else { continue };
            let (name, value) = match id.split_once('#') {
                Some(("", anchor)) if is_anchor(anchor) => ("$anchor", anchor),
                Some((base, _)) => ("$id", base),
                None => ("$id", &*id),
            };
            if (name, value) != (key, &*id) {
                map.shift_remove(key);
                map.entry(name).or_insert_with(|| json!(value));
                repairs.count("an identifier by its name in 2020-12");
            }
        }
    });
}

/// Collects the identifiers in a schema, each with the JSON Pointer of its schema.
fn gather(node: &Value, at: &mut String, places: &mut Places) {
    let Some(map) = node.as_object() else { return };
    for key in ["$id", "id"] {
        if let Some(id) = text_member(map, key) {
            let id = id.strip_suffix('#').unwrap_or(id);
            places.entry(last_segment(id).to_owned()).or_insert_with(|| (id.to_owned(), at.clone()));
        }
    }
    let length = at.len();
    for (key, value) in map {
        at.push('/');
        at.push_str(&pointer_token(key));
        let keyword = at.len();
        match (holds(key), value) {
            (Holds::Value, _) => {}
            (Holds::Named | Holds::NamedOrNames, Value::Object(named)) => {
                for (name, schema) in named {
                    at.push('/');
                    at.push_str(&pointer_token(name));
                    gather(schema, at, places);
                    at.truncate(keyword);
                }
            }
            (_, Value::Array(list)) => {
                for (index, schema) in list.iter().enumerate() {
                    at.push_str(&format!("/{index}"));
                    gather(schema, at, places);
                    at.truncate(keyword);
                }
            }
            (_, schema) => gather(schema, at, places),
        }
        at.truncate(length);
    }
}

/// Whether a part of the document has an identifier of its own and references that start there:
/// without the identifier they would lead elsewhere.
fn is_divided(root: &Value) -> bool {
    let mut is_divided = false;
    children(root, |child| {
        walk(child, &mut |node| {
            let id = node.get("$id").or_else(|| node.get("id")).and_then(Value::as_str);
            if is_divided || id.is_none_or(|id| id.starts_with('#')) {
                return;
            }
            walk(node, &mut |inner| {
                is_divided |= text_member(inner, "$ref").is_some_and(|to| to.starts_with('#'));
            });
        });
    });
    is_divided
}

/// The JSON Pointer, as a URI fragment, of the schema that a reference by an identifier names.
fn pointer_of(reference: &str, places: &Places) -> Option<String> {
    if reference == "#" || reference.starts_with("#/") {
        return None;
    }
    // A fragment as an identifier is an anchor of drafts 4 to 7.
    if reference.starts_with('#') {
        return places.get(reference).map(|(_, pointer)| format!("#{pointer}"));
    }
    let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if !fragment.is_empty() && !fragment.starts_with('/') {
        return None;
    }
    let (id, pointer) = places.get(last_segment(base))?;
    // A relative reference is the end of the identifier.
    let is_meant = id.strip_suffix(base).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    is_meant.then(|| format!("#{pointer}{fragment}"))
}

/// What follows the last `/` of an identifier; of a fragment the whole.
fn last_segment(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
