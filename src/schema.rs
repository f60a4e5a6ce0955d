//! Walking JSON Schemas: which keys hold schemas, and where a `$ref` leads.
//!
//! Nothing here fetches, loops or recurses without bound: a reference is followed inside its own document only, and
//! a schema's depth is limited where it enters ([`MAX_DEPTH`]).

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// The deepest nesting of a schema: the recursion limit of `serde_json` (128) less what stands around a schema in a tool
/// array, so that whatever is written can be read back.
pub const MAX_DEPTH: usize = 120;

/// How often a chain of references is followed from one place before it counts as a cycle.
const MAX_REF_HOPS: usize = 16;

/// What a key of a schema object holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A schema, or (for `items` of older drafts) a list of them.
    Schema,
    /// A list of schemas.
    Schemas,
    /// An object whose values are schemas and whose keys are names.
    Named,
    /// Words for people or tools, without effect on what is valid.
    Annotation,
    /// Anything else: part of what is valid.
    Assertion,
}

/// What a keyword holds. Source: JSON Schema 2020-12, core and validation vocabularies, and draft 7's older names.
#[must_use]
pub fn holds(keyword: &str) -> Holds {
    match keyword {
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "not"
        | "if"
        | "then"
        | "else" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Holds::Named,
        "title" | "description" | "default" | "examples" | "example" | "$schema" | "$comment" | "deprecated"
        | "readOnly" | "writeOnly" => Holds::Annotation,
        other if other.starts_with("x-") => Holds::Annotation,
        _ => Holds::Assertion,
    }
}

/// Calls `visit` with every schema directly below `node`, in order.
pub fn children<'a>(node: &'a Value, mut visit: impl FnMut(&'a Value)) {
    let Some(map) = node.as_object() else { return };
    for (key, value) in map {
        match (holds(key), value) {
            (Holds::Schema | Holds::Schemas, Value::Array(list)) => list.iter().for_each(&mut visit),
            (Holds::Schema, _) => visit(value),
            (Holds::Named, Value::Object(named)) => named.values().for_each(&mut visit),
            _ => {}
        }
    }
}

/// Calls `visit` with `node` and every schema below it, outermost first.
pub fn walk<'a>(node: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    visit(node);
    children(node, |child| walk(child, visit));
}

/// Where a `$ref` leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target<'a> {
    /// To this part of the same document.
    Found(&'a Value),
    /// Into another document. It is never fetched.
    Remote,
    /// Nowhere.
    Missing,
}

/// Follows one reference inside the document `root`: `#`, `#/a/b` (RFC 6901 after percent-decoding) or `#anchor`.
#[must_use]
pub fn resolve<'a>(root: &'a Value, reference: &str) -> Target<'a> {
    let Some(fragment) = reference.strip_prefix('#') else { return Target::Remote };
    let fragment = percent_decode_str(fragment).decode_utf8_lossy();
    if fragment.is_empty() {
        return Target::Found(root);
    }
    if fragment.starts_with('/') {
        return root.pointer(&fragment).map_or(Target::Missing, Target::Found);
    }
    let mut found = Target::Missing;
    walk(root, &mut |node| {
        let anchor = node.get("$anchor").or_else(|| node.get("$dynamicAnchor")).and_then(Value::as_str);
        if found == Target::Missing && anchor == Some(&*fragment) {
            found = Target::Found(node);
        }
    });
    found
}

/// The reference of a schema object, if it has one.
#[must_use]
pub fn reference(node: &Value) -> Option<&str> {
    node.get("$ref").and_then(Value::as_str)
}

/// The object a schema stands for once a chain of bare references at its top is followed. A cycle or a reference that
/// leads nowhere ends the chain where it is.
#[must_use]
pub fn top(root: &Value) -> &Value {
    let mut node = root;
    for _ in 0..MAX_REF_HOPS {
        let bare = node.get("properties").is_none();
        match reference(node).filter(|_| bare).map(|reference| resolve(root, reference)) {
            Some(Target::Found(next)) if !std::ptr::eq(next, node) => node = next,
            _ => break,
        }
    }
    node
}

/// The properties of the arguments object, and the names it requires, as far as its top level says.
#[must_use]
pub fn properties(root: &Value) -> Option<&Map<String, Value>> {
    top(root).get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
}

/// The names that the arguments object requires at its top level.
pub fn required(root: &Value) -> impl Iterator<Item = &str> {
    top(root).get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a schema says that there are no arguments: no parameters, and nothing that would bring some in.
#[must_use]
pub fn takes_no_parameters(root: &Value) -> bool {
    let Some(map) = top(root).as_object() else { return false };
    map.iter().all(|(key, value)| match key.as_str() {
        "properties" | "required" => {
            value.as_object().is_none_or(Map::is_empty) && value.as_array().is_none_or(Vec::is_empty)
        }
        "type" => true,
        "additionalProperties" => value == &Value::Bool(false) || value == &Value::Bool(true),
        other => holds(other) == Holds::Annotation,
    })
}

/// The kind of a JSON value, for messages.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Whether a value is nested more than `limit` levels deep. Looks no deeper than that.
#[must_use]
pub fn deeper_than(value: &Value, limit: usize) -> bool {
    let deeper = |inner: &Value| limit == 0 || deeper_than(inner, limit - 1);
    match value {
        Value::Array(list) => list.iter().any(deeper),
        Value::Object(map) => map.values().any(deeper),
        _ => false,
    }
}
