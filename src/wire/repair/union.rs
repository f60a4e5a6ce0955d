//! Alternatives at the top of a schema, merged into one object for an API that refuses them.
//!
//! The result accepts whatever the schema accepts, and names every parameter of every branch. What
//! it accepts beyond that, the check of a call's arguments still refuses.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::schema::dereferenced;

/// The maximum nesting of alternatives that are merged.
const MAX_NESTED: usize = 8;

/// The parameters of an object, without other conditions.
#[derive(Debug, Default)]
struct Parameters {
    properties: IndexMap<String, Value>,
    required: Vec<String>,
    /// Whether other parameters are excluded.
    is_closed: bool,
}

/// The schema without the refused keywords at its top: the branches are merged into `properties`
/// and `required`. Also returned is a keyword whose condition is lost: `not`, `enum`, and
/// alternatives of which none is an object. `None` if a reference leads into a branch.
pub(super) fn merged(root: &Value, refused: &[&'static str]) -> Option<(Map<String, Value>, Option<&'static str>)> {
    let map = root.as_object()?;
    if refers_into(root, refused) {
        return None;
    }
    let all = parameters_of(root, root, MAX_NESTED);
    let lost = refused.iter().copied().find(|key| {
        let branches = map.get(*key).and_then(Value::as_array);
        let is_merged = matches!(*key, "anyOf" | "oneOf" | "allOf")
            && branches.is_some_and(|list| list.iter().any(|branch| is_object(root, branch)));
        map.contains_key(*key) && !is_merged
    });
    let mut merged = Map::new();
    for (key, value) in map {
        if !refused.contains(&key.as_str()) && key != "unevaluatedProperties" {
            merged.insert(key.clone(), value.clone());
        }
    }
    // A keyword that was there keeps its place.
    merged.insert("properties".to_owned(), all.properties.into_iter().collect());
    if !all.required.is_empty() {
        merged.insert("required".to_owned(), json!(all.required));
    }
    if all.is_closed {
        merged.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Some((merged, lost))
}

/// Whether a reference leads into one of the refused keywords.
fn refers_into(root: &Value, refused: &[&str]) -> bool {
    let mut is_inside = false;
    crate::schema::walk(root, &mut |node| {
        let reference = node.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let first = reference.strip_prefix("#/").and_then(|pointer| pointer.split('/').next());
        is_inside |= first.is_some_and(|first| refused.contains(&first));
    });
    is_inside
}

/// Whether a branch accepts an object. Arguments are one, so that no other branch can apply.
fn is_object(root: &Value, branch: &Value) -> bool {
    branch.is_object()
        && match dereferenced(root, branch).get("type") {
            Some(Value::String(kind)) => kind == "object",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            _ => true,
        }
}

fn parameters_of(root: &Value, node: &Value, depth: usize) -> Parameters {
    let map = dereferenced(root, node);
    let is_false = |key: &str| map.get(key) == Some(&Value::Bool(false));
    let list = |key: &str| map.get(key).and_then(Value::as_array).into_iter().flatten();
    let properties = map.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut all = Parameters {
        properties: properties.map(|(name, schema)| (name.clone(), schema.clone())).collect(),
        required: list("required").filter_map(Value::as_str).map(str::to_owned).collect(),
        is_closed: is_false("additionalProperties") || is_false("unevaluatedProperties"),
    };
    let Some(depth) = depth.checked_sub(1) else { return all };
    for branch in list("allOf").filter(|branch| is_object(root, branch)) {
        all = both(all, parameters_of(root, branch, depth));
    }
    for key in ["anyOf", "oneOf"] {
        let branches = list(key).filter(|branch| is_object(root, branch));
        let branches: Vec<Parameters> = branches.map(|branch| parameters_of(root, branch, depth)).collect();
        if !branches.is_empty() {
            all = both(all, either(branches));
        }
    }
    all
}

/// The parameters of an object that meets two schemas.
fn both(mut one: Parameters, other: Parameters) -> Parameters {
    for (name, schema) in other.properties {
        match one.properties.get_mut(&name) {
            Some(own) if *own != schema => *own = json!({"allOf": [own, schema]}),
            Some(_) => {}
            None => drop(one.properties.insert(name, schema)),
        }
    }
    for name in other.required {
        if !one.required.contains(&name) {
            one.required.push(name);
        }
    }
    // A closed schema beside alternatives would exclude their parameters, which nobody means.
    one.is_closed |= other.is_closed;
    one
}

/// The parameters of an object that meets one of several schemas.
fn either(branches: Vec<Parameters>) -> Parameters {
    let mut variants: IndexMap<String, Vec<Value>> = IndexMap::new();
    let mut required: Option<Vec<String>> = None;
    let mut is_closed = true;
    for branch in branches {
        for (name, schema) in branch.properties {
            let own = variants.entry(name).or_default();
            if !own.contains(&schema) {
                own.push(schema);
            }
        }
        is_closed &= branch.is_closed;
        match &mut required {
            Some(common) => common.retain(|name| branch.required.contains(name)),
            None => required = Some(branch.required),
        }
    }
    let properties = variants.into_iter().map(|(name, schemas)| (name, one_of(schemas))).collect();
    Parameters { properties, required: required.unwrap_or_default(), is_closed }
}

/// A schema that accepts what one of several accepts: values that are listed become one list.
fn one_of(mut schemas: Vec<Value>) -> Value {
    if schemas.len() < 2 {
        return schemas.pop().unwrap_or_default();
    }
    one_list(&schemas).unwrap_or_else(|| json!({ "anyOf": schemas }))
}

/// `const` and `enum` of several schemas in one `enum`; `None` if one of them has other conditions.
fn one_list(schemas: &[Value]) -> Option<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut merged = Map::new();
    for (at, schema) in schemas.iter().enumerate() {
        let own = schema.as_object()?;
        let listed = match (own.get("const"), own.get("enum")) {
            (Some(one), None) => vec![one.clone()],
            (None, Some(Value::Array(list))) => list.clone(),
            _ => return None,
        };
        for value in listed {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        for (key, value) in own {
            match key.as_str() {
                "const" | "enum" => {}
                "type" if at == 0 || merged.get("type") == Some(value) => {
                    merged.insert(key.clone(), value.clone());
                }
                "title" | "description" => {
                    merged.entry(key.clone()).or_insert_with(|| value.clone());
                }
                _ => return None,
            }
        }
    }
    merged.insert("enum".to_owned(), Value::Array(values));
    Some(Value::Object(merged))
}
