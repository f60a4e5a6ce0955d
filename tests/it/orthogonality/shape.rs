//! What folding a schema must preserve, checked without the library's own walk.

use serde_json::Value;

/// Keys whose value is a schema, a list of schemas, or a map to schemas. Repeated here from JSON
/// Schema 2020-12 and draft 7, to detect a mistake in the library's table.
const ONE: &[&str] = &[
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
];
const MANY: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas"];
const DEFINITIONS: &[&str] = &["$defs", "definitions"];
/// What must be preserved in any schema.
const KEPT: &[&str] = &["type", "enum", "const", "required", "$ref", "format", "pattern", "minimum", "maximum"];

/// The first part of `full` that `folded` lost, as a JSON Pointer with its value; `None` if it lost
/// nothing.
pub(crate) fn lost_of_signature(full: &Value, folded: &Value) -> Option<String> {
    lost(full, folded, "", false).or_else(|| dangling(full, folded, folded))
}

/// Like [`lost_of_signature`], for a schema at a JSON Pointer, without references. `loose`: an
/// optional property without names may have only its type.
fn lost(full: &Value, folded: &Value, at: &str, loose: bool) -> Option<String> {
    let Some(map) = full.as_object() else { return (full != folded).then(|| format!("{at}: {full} became {folded}")) };
    for (key, value) in map {
        let (key, own) = (key.as_str(), folded.get(key));
        if KEPT.contains(&key) && own != Some(value) {
            return Some(format!("{at}: `{key}` was {value} and is {own:?}"));
        }
        let found = match value {
            // `dangling` checks whether a definition is still needed.
            Value::Object(named) if DEFINITIONS.contains(&key) => named.iter().find_map(|(name, schema)| {
                let own = own.and_then(|own| own.get(name))?;
                lost(schema, own, &format!("{at}/{key}/{name}"), loose)
            }),
            Value::Object(named) if NAMED.contains(&key) => named.iter().find_map(|(name, schema)| {
                let (at, own) = (format!("{at}/{key}/{name}"), own.and_then(|own| own.get(name)));
                let optional =
                    !map.get("required").is_some_and(|list| list.as_array().unwrap().iter().any(|one| one == name));
                if loose && key == "properties" && optional && own.is_some_and(|own| is_bare_type_of(schema, own)) {
                    return None;
                }
                same(schema, own, &at, loose)
            }),
            Value::Array(list) if MANY.contains(&key) => list.iter().enumerate().find_map(|(index, schema)| {
                same(schema, own.and_then(|own| own.get(index)), &format!("{at}/{key}/{index}"), loose)
            }),
            _ if ONE.contains(&key) => same(value, own, &format!("{at}/{key}"), loose),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether `own` contains only a type, that of `full` if it has one, and `full` itself has no names
/// inside.
fn is_bare_type_of(full: &Value, own: &Value) -> bool {
    let bare = own.as_object().is_some_and(|own| own.keys().all(|key| key == "type" || key == "items"));
    bare && full.get("properties").is_none() && full.get("type").is_none_or(|kind| own.get("type") == Some(kind))
}

fn same(full: &Value, folded: Option<&Value>, at: &str, loose: bool) -> Option<String> {
    match folded {
        None => Some(format!("{at} is gone")),
        Some(folded) => lost(full, folded, at, loose),
    }
}

/// The first part that the required detail lost of what the required parameters need.
pub(crate) fn lost_of_required(full: &Value, folded: &Value) -> Option<String> {
    lost_of_parameters(full, folded, false)
}

fn lost_of_parameters(full: &Value, folded: &Value, loose: bool) -> Option<String> {
    let (top, own) = (arguments(full), arguments(folded));
    if top.get("required") != own.get("required") {
        return Some(format!("`required` was {:?} and is {:?}", top.get("required"), own.get("required")));
    }
    let names = top.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let property = |schema: &Value, name: &str| schema.get("properties")?.get(name).cloned();
    let mut missing = names.filter_map(|name| {
        let schema = property(top, name)?;
        match property(own, name) {
            None => Some(format!("required `{name}` is gone")),
            Some(own) => lost(&schema, &own, name, loose),
        }
    });
    missing.next().or_else(|| dangling(full, folded, folded))
}

/// The first part that the outline lost: a name, or what the required parameters need.
pub(crate) fn lost_of_outline(full: &Value, folded: &Value) -> Option<String> {
    let names = arguments(full).get("properties").and_then(Value::as_object).into_iter().flatten();
    let own = arguments(folded).get("properties");
    let mut gone = names.filter(|(name, _)| own.and_then(|own| own.get(name.as_str())).is_none());
    let gone = gone.next().map(|(name, _)| format!("`{name}` is not named"));
    gone.or_else(|| lost_of_parameters(full, folded, true))
}

/// The arguments object behind a bare reference at the top.
fn arguments(root: &Value) -> &Value {
    let reference = root.get("$ref").and_then(Value::as_str).filter(|_| root.get("properties").is_none());
    reference.and_then(|text| root.pointer(text.strip_prefix('#')?)).unwrap_or(root)
}

/// A reference of the folded schema that could be resolved before and no longer can.
fn dangling(full: &Value, folded: &Value, node: &Value) -> Option<String> {
    match node {
        Value::Object(map) => map.iter().find_map(|(key, value)| match value.as_str() {
            Some(text) if key == "$ref" => {
                let pointer = text.strip_prefix('#')?;
                let gone = full.pointer(pointer).is_some() && folded.pointer(pointer).is_none();
                gone.then(|| format!("`{text}` leads nowhere now"))
            }
            _ => dangling(full, folded, value),
        }),
        Value::Array(list) => list.iter().find_map(|value| dangling(full, folded, value)),
        _ => None,
    }
}
