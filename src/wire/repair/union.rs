//! Alternatives at the top of a schema, merged into one object for an API that refuses them.
//!
//! The result names every parameter of every branch, and accepts whatever the schema accepts, with
//! one exception: a parameter that one branch describes and another leaves open is sent with its
//! description. What the result accepts beyond the schema, the check of a call's arguments refuses.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::schema::{Target, follow, list_member, object_member, reference, resolve, walk};

/// The maximum nesting of alternatives that are merged.
const MAX_NESTED: usize = 8;

/// The maximum number of branches of one tool, each counted where it is used: references let a few
/// lines use millions. The largest real union has 26.
const MAX_BRANCHES: usize = 1_000;

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
/// alternatives of which none is an object. `None` if there are too many branches, or if a
/// reference would lead into what is left out.
pub(super) fn merged(root: &Value, refused: &[&'static str]) -> Option<(Map<String, Value>, Option<&'static str>)> {
    let map = root.as_object()?;
    let mut branches = Branches { root, left: MAX_BRANCHES };
    let all = branches.parameters(root, MAX_NESTED)?;
    let lost = refused.iter().copied().find(|key| {
        let is_merged = matches!(*key, "anyOf" | "oneOf" | "allOf")
            && list_member(map, key).iter().any(|branch| branches.is_object(branch));
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
    let merged = Value::Object(merged);
    if is_broken(&merged) {
        return None;
    }
    let Value::Object(merged) = merged else { return None };
    Some((merged, lost))
}

/// Whether a reference has no target.
fn is_broken(root: &Value) -> bool {
    let mut is_broken = false;
    walk(root, &mut |node| {
        is_broken = is_broken || reference(node).is_some_and(|to| resolve(root, to) == Target::Missing);
    });
    is_broken
}

/// The branches of a schema.
struct Branches<'r> {
    root: &'r Value,
    /// How many more are merged.
    left: usize,
}

impl Branches<'_> {
    /// Whether a branch can accept an object. Arguments are one, so that no other branch applies.
    fn is_object(&self, branch: &Value) -> bool {
        for layer in follow(self.root, branch).layers {
            let accepts = match layer.get("type") {
                Some(Value::String(kind)) => kind == "object",
                Some(Value::Array(kinds)) => kinds.contains(&json!("object")),
                _ => true,
            };
            if !accepts {
                return false;
            }
        }
        branch != &Value::Bool(false)
    }

    /// The parameters of a schema with its references and alternatives; `None` if those are too
    /// many.
    fn parameters(&mut self, node: &Value, depth: usize) -> Option<Parameters> {
        let mut all = Parameters::default();
        for layer in follow(self.root, node).layers {
            all = both(all, self.own_parameters(layer, depth)?);
        }
        Some(all)
    }

    /// The parameters of a schema and its alternatives, without what it refers to.
    fn own_parameters(&mut self, map: &Map<String, Value>, depth: usize) -> Option<Parameters> {
        self.left = self.left.checked_sub(1)?;
        let mut all = Parameters {
            is_closed: map.get("additionalProperties") == Some(&Value::Bool(false))
                && !map.contains_key("patternProperties"),
            ..Parameters::default()
        };
        for (name, schema) in object_member(map, "properties").into_iter().flatten() {
            all.properties.insert(name.clone(), schema.clone());
        }
        for name in list_member(map, "required") {
            all.required.extend(name.as_str().map(str::to_owned));
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(all) };
        for branch in list_member(map, "allOf") {
            if self.is_object(branch) {
                all = both(all, self.parameters(branch, depth)?);
            }
        }
        for key in ["anyOf", "oneOf"] {
            let mut branches = Vec::new();
            for branch in list_member(map, key) {
                if self.is_object(branch) {
                    branches.push(self.parameters(branch, depth)?);
                }
            }
            if !branches.is_empty() {
                all = both(all, either(branches));
            }
        }
        Some(all)
    }
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
    // Closed, although it names the parameters of both: one of the two excludes all others.
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
