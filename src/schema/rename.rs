//! Other names for the parameters of a tool: the properties of its arguments object, in the schema
//! itself and in every schema that applies to the same object.

use indexmap::IndexMap;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::reference::{Target, pointer_token, reference, resolve};
use super::walk::{walk, walk_mut};

/// The maximum nesting of schemas that apply to the arguments object.
const MAX_NESTED: usize = 8;

/// The maximum number of such schemas, each counted where it is used: references let a few lines
/// use millions.
const MAX_SCHEMAS: usize = 1_000;

/// The parameters of a schema and of its alternatives, each with the first schema that describes
/// it. `None` if there are too many alternatives.
pub(crate) fn parameters(root: &Value) -> Option<IndexMap<&str, &Value>> {
    let mut found = IndexMap::new();
    let mut left = MAX_SCHEMAS;
    gather(root, root, MAX_NESTED, &mut left, &mut found).then_some(found)
}

/// Adds the parameters of a schema. Returns whether all were added.
fn gather<'r>(
    root: &'r Value,
    node: &'r Value,
    depth: usize,
    left: &mut usize,
    found: &mut IndexMap<&'r str, &'r Value>,
) -> bool {
    let Some(map) = node.as_object() else { return true };
    let (Some(depth), Some(fewer)) = (depth.checked_sub(1), left.checked_sub(1)) else { return false };
    *left = fewer;
    for (key, value) in map {
        let all = match (key.as_str(), value) {
            ("properties", Value::Object(named)) => {
                for (name, schema) in named {
                    found.entry(name).or_insert(schema);
                }
                true
            }
            ("dependentSchemas", Value::Object(named)) => {
                named.values().all(|schema| gather(root, schema, depth, left, found))
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => {
                list.iter().all(|schema| gather(root, schema, depth, left, found))
            }
            ("not" | "if" | "then" | "else", schema) => gather(root, schema, depth, left, found),
            ("$ref", Value::String(to)) => match resolve(root, to) {
                Target::Found(schema) => gather(root, schema, depth, left, found),
                Target::Remote | Target::Missing => true,
            },
            _ => true,
        };
        if !all {
            return false;
        }
    }
    true
}

/// The schema with other names for some of its parameters. `None` if a reference would lead
/// nowhere.
///
/// A rule for names of properties is left out, because it is about the original ones.
pub(crate) fn renamed(root: &Value, new: &IndexMap<&str, &str>) -> Option<Value> {
    let mut renamed = Renaming { root, new }.schema(root, MAX_NESTED);
    walk_mut(&mut renamed, &mut |node| {
        let Some(Value::String(to)) = node.get_mut("$ref") else { return };
        let decoded = percent_decode_str(to).decode_utf8_lossy().into_owned();
        for (own, name) in new {
            if let Some(rest) = decoded.strip_prefix(&format!("#/properties/{}", pointer_token(own)))
                && (rest.is_empty() || rest.starts_with('/'))
            {
                *to = format!("#/properties/{name}{rest}");
                return;
            }
        }
    });
    let mut is_broken = false;
    walk(&renamed, &mut |node| {
        is_broken |= reference(node).is_some_and(|to| resolve(&renamed, to) == Target::Missing);
    });
    (!is_broken).then_some(renamed)
}

struct Renaming<'r> {
    root: &'r Value,
    /// The new names.
    new: &'r IndexMap<&'r str, &'r str>,
}

impl Renaming<'_> {
    fn name(&self, own: &str) -> String {
        self.new.get(own).copied().unwrap_or(own).to_owned()
    }

    /// A schema that applies to the arguments object.
    fn schema(&self, node: &Value, depth: usize) -> Value {
        let (Some(map), Some(depth)) = (node.as_object(), depth.checked_sub(1)) else { return node.clone() };
        let mut out = Map::new();
        let mut inlined = None;
        for (key, value) in map {
            let value = match (key.as_str(), value) {
                ("propertyNames", _) => continue,
                ("properties", Value::Object(named)) => {
                    named.iter().map(|(own, schema)| (self.name(own), schema.clone())).collect()
                }
                ("dependentRequired", Value::Object(named)) => {
                    named.iter().map(|(own, list)| (self.name(own), self.names(list))).collect()
                }
                ("dependentSchemas", Value::Object(named)) => {
                    named.iter().map(|(own, schema)| (self.name(own), self.schema(schema, depth))).collect()
                }
                ("required", list) => self.names(list),
                ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => {
                    list.iter().map(|schema| self.schema(schema, depth)).collect()
                }
                ("not" | "if" | "then" | "else", schema) => self.schema(schema, depth),
                ("$ref", Value::String(to)) => {
                    // Another place may use the definition for a value with the original names.
                    if let Target::Found(target) = resolve(self.root, to)
                        && let own = self.schema(target, depth)
                        && own != *target
                    {
                        inlined = Some(own);
                        continue;
                    }
                    value.clone()
                }
                (_, value) => value.clone(),
            };
            out.insert(key.clone(), value);
        }
        if let Some(own) = inlined {
            match out.get_mut("allOf") {
                Some(Value::Array(all)) => all.push(own),
                _ => drop(out.insert("allOf".to_owned(), Value::Array(vec![own]))),
            }
        }
        Value::Object(out)
    }

    fn names(&self, list: &Value) -> Value {
        let Some(list) = list.as_array() else { return list.clone() };
        let mut names = list.clone();
        for name in &mut names {
            if let Value::String(own) = name {
                *own = self.name(own);
            }
        }
        Value::Array(names)
    }
}
