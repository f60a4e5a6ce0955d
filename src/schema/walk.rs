//! Walks the direct subschemas of a schema, or all of them.

use serde_json::Value;

use super::keyword::{Holds, holds};

/// Calls `visit` with every direct subschema of `node`, in order, including definitions.
pub(crate) fn children<'a>(node: &'a Value, mut visit: impl FnMut(&'a Value)) {
    let Some(map) = node.as_object() else { return };
    for (key, value) in map {
        held(key, value, &mut visit);
    }
}

/// Calls `visit` with every schema that the member `key` of a schema object holds, in order.
pub(crate) fn held<'a>(key: &str, value: &'a Value, mut visit: impl FnMut(&'a Value)) {
    match (holds(key), value) {
        (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => list.iter().for_each(visit),
        (Holds::Schema | Holds::SchemaOrSchemas, _) => visit(value),
        (Holds::Named, Value::Object(named)) => named.values().for_each(visit),
        (Holds::NamedOrNames, Value::Object(named)) => named.values().filter(|one| !one.is_array()).for_each(visit),
        _ => {}
    }
}

/// Like [`children`], with mutable access.
pub(crate) fn children_mut<'a>(node: &'a mut Value, mut visit: impl FnMut(&'a mut Value)) {
    let Some(map) = node.as_object_mut() else { return };
    for (key, value) in map {
        match (holds(key), value) {
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => list.iter_mut().for_each(&mut visit),
            (Holds::Schema | Holds::SchemaOrSchemas, value) => visit(value),
            (Holds::Named, Value::Object(named)) => named.values_mut().for_each(&mut visit),
            (Holds::NamedOrNames, Value::Object(named)) => {
                named.values_mut().filter(|one| !one.is_array()).for_each(&mut visit);
            }
            _ => {}
        }
    }
}

/// Calls `visit` with `node` and every schema below it, outermost first, in order. References are
/// not followed.
pub fn walk<'a>(node: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        visit(node);
        let first = waiting.len();
        children(node, |child| waiting.push(child));
        if let Some(added) = waiting.get_mut(first..) {
            added.reverse();
        }
    }
}

/// Calls `visit` with mutable access to `node` and every schema below it. Schemas that `visit` adds
/// are walked too.
pub(crate) fn walk_mut(node: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        visit(node);
        children_mut(node, |child| waiting.push(child));
    }
}

/// Calls `visit` with every object of a document, even where no keyword expects a schema: a
/// reference may lead to any of them.
pub(crate) fn every_object<'a>(root: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        let first = waiting.len();
        match node {
            Value::Object(map) => {
                visit(node);
                waiting.extend(map.values());
            }
            Value::Array(list) => waiting.extend(list),
            _ => {}
        }
        if let Some(added) = waiting.get_mut(first..) {
            added.reverse();
        }
    }
}
