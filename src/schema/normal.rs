//! The normal form of schemas: valid JSON Schema 2020-12, with the meaning of the original.
//!
//! Half of the tools of real servers declare draft 7, and many contain what no draft allows.
//! Providers and clients expect 2020-12, so every schema is brought into that form when it is read,
//! and folding, wires, validation and lint see nothing else. A schema that is in normal form is not
//! changed. What no draft allows costs one keyword: it is left out, and the rest still counts.
//!
//! Sources: the migration notes "draft-07 to 2019-09" and "2019-09 to 2020-12" of json-schema.org;
//! draft-wright-json-schema-validation-00 (draft 4) for boolean exclusive bounds; OpenAPI 3.0 for
//! `nullable`; draft-zyp-json-schema-03 for `required` in a property.

mod identifiers;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value, json};

use self::values::Fit;
use super::document::Document;
use super::keyword::{Holds, Role, holds, keyword, role};
use super::reference::reference;
use super::text_member;
use super::walk::{walk, walk_mut};

/// The maximum number of look-ups of references, each from every identifier of a document. Beyond
/// it, references stay as they are: only a hostile schema has that many.
const MAX_LOOKUPS: usize = 100_000;

/// What was changed in a schema: for each kind of change the number of places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repairs(BTreeMap<&'static str, usize>);

impl Repairs {
    /// Whether the schema was in normal form.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

/// The changes as a list: "`items` with a list as `prefixItems`, `null` left out (3 times)".
impl fmt::Display for Repairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (what, count)) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            f.write_str(what)?;
            if *count > 1 {
                write!(f, " ({count} times)")?;
            }
        }
        Ok(())
    }
}

/// Brings a schema into normal form. The stack use grows with the depth of the schema: check that
/// first ([`MAX_DEPTH`](super::MAX_DEPTH)).
pub(crate) fn normalize(root: &mut Value) -> Repairs {
    let mut repairs = Repairs::default();
    let is_old = names_old_draft(root);
    Pass { is_old, repairs: &mut repairs }.schema(root);
    // Later, so that the pointers lead to where the parts are now.
    identifiers::drop_identifiers(root, &mut repairs);
    if drop_broken_references(root, &mut repairs) {
        // An identifier may have been there only for a reference that is left out now.
        identifiers::drop_identifiers(root, &mut repairs);
    }
    let dialect = text_member(root, "$schema").map(is_known_draft);
    // The result is not what an older dialect would mean by it.
    if dialect == Some(false) || (dialect == Some(true) && !repairs.is_empty()) {
        root.as_object_mut().map(|map| map.shift_remove("$schema"));
        if dialect == Some(false) {
            repairs.count("an unknown `$schema` left out");
        }
    }
    repairs
}

/// Whether `$schema` names a draft in which the keywords beside a `$ref` have no effect: 7 and
/// older.
fn names_old_draft(root: &Value) -> bool {
    let named = text_member(root, "$schema").unwrap_or_default();
    ["/draft-07/", "/draft-06/", "/draft-05/", "/draft-04/", "/draft-03/"].iter().any(|draft| named.contains(draft))
}

fn is_known_draft(named: &str) -> bool {
    named.contains("://json-schema.org/")
}

/// Leaves out references that lead nowhere, which no validator accepts. A reference to a place
/// that moved is changed instead. Whether there was any.
fn drop_broken_references(root: &mut Value, repairs: &mut Repairs) -> bool {
    let mut references: BTreeSet<&str> = BTreeSet::new();
    walk(root, &mut |node| {
        references.extend(reference(node));
        references.extend(text_member(node, "$dynamicRef"));
    });
    let document = Document::new(root);
    if references.len().saturating_mul(document.base_count()) > MAX_LOOKUPS {
        return false;
    }
    let is_found = |reference: &str| reference.contains('#') && !document.targets(reference).is_empty();
    let mut changed: BTreeMap<String, Option<String>> = BTreeMap::new();
    for reference in references {
        if !is_found(reference) {
            let moved = moved_reference(reference);
            changed.insert(reference.to_owned(), is_found(&moved).then_some(moved));
        }
    }
    if changed.is_empty() {
        return false;
    }
    walk_mut(root, &mut |node| {
        let Some(map) = node.as_object_mut() else { return };
        for (keyword, repair) in [
            ("$ref", "a `$ref` without a target left out"),
            ("$dynamicRef", "a `$dynamicRef` without a target left out"),
        ] {
            match text_member(map, keyword).and_then(|reference| changed.get(reference)) {
                None => {}
                Some(Some(moved)) => {
                    map.insert(keyword.to_owned(), json!(moved));
                }
                Some(None) => {
                    map.shift_remove(keyword);
                    repairs.count(repair);
                }
            }
        }
    });
    true
}

/// A JSON Pointer after lists in `items` became `prefixItems`, `additionalItems` became `items`,
/// and `dependencies` became `dependentSchemas`.
fn moved_reference(reference: &str) -> String {
    let tokens: Vec<&str> = reference.split('/').collect();
    let mut moved = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let is_index = tokens.get(at + 1).is_some_and(|next| next.parse::<usize>().is_ok());
        moved.push(match *token {
            "items" if is_index => "prefixItems",
            "additionalItems" => "items",
            "dependencies" => "dependentSchemas",
            other => other,
        });
    }
    moved.join("/")
}

/// One pass over a schema and everything below it.
struct Pass<'r> {
    /// Whether keywords beside a `$ref` have no effect.
    is_old: bool,
    repairs: &'r mut Repairs,
}

impl Pass<'_> {
    /// Normalises the value at a place where a schema belongs.
    fn schema(&mut self, value: &mut Value) {
        match value {
            Value::Bool(_) => {}
            Value::Object(map) => self.object(map),
            // PHP writes an empty object as a list; what anything else would restrict is unknown.
            _ => {
                *value = json!({});
                self.repairs.count("what is no schema as `{}`");
            }
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>) {
        self.nulls(map);
        if self.is_old {
            self.newer(map);
        }
        self.beside_reference(map);
        self.recursion(map);
        self.types(map);
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            self.exclusive(map, flag, bound);
        }
        self.tuple(map);
        self.dependencies(map);
        self.required_of_properties(map);
        self.nullable(map);
        self.values(map);
        for (key, value) in map.iter_mut() {
            match (holds(key), value) {
                (Holds::Schemas, Value::Array(list)) => list.iter_mut().for_each(|one| self.schema(one)),
                (Holds::Schema | Holds::SchemaOrSchemas, value) => self.schema(value),
                (Holds::Named, Value::Object(named)) => named.values_mut().for_each(|one| self.schema(one)),
                _ => {}
            }
        }
    }

    /// `null` in place of a keyword's value. For three keywords it is a value.
    fn nulls(&mut self, map: &mut Map<String, Value>) {
        let is_dropped = |key: &str, value: &Value| {
            value.is_null() && keyword(key).is_some() && !matches!(key, "default" | "const" | "example")
        };
        self.retain(map, "`null` left out", |key, value| !is_dropped(key, value));
    }

    fn retain(&mut self, map: &mut Map<String, Value>, what: &'static str, keep: impl Fn(&str, &Value) -> bool) {
        let before = map.len();
        if map.iter().all(|(key, value)| keep(key, value)) {
            return;
        }
        map.retain(|key, value| keep(key, value));
        for _ in map.len()..before {
            self.repairs.count(what);
        }
    }

    /// Keywords that an older draft does not have. They had no effect, and now they would have one.
    fn newer(&mut self, map: &mut Map<String, Value>) {
        let is_newer = |key: &str| {
            key.starts_with("unevaluated")
                || matches!(key, "dependentRequired" | "dependentSchemas" | "minContains" | "maxContains")
        };
        self.retain(map, "a keyword of a newer draft left out", |key, _| !is_newer(key));
    }

    fn beside_reference(&mut self, map: &mut Map<String, Value>) {
        if !self.is_old || !map.get("$ref").is_some_and(Value::is_string) {
            return;
        }
        self.retain(map, "a keyword beside a `$ref` of an older draft left out", |key, _| {
            matches!(role(key), Role::Annotation | Role::Definitions | Role::Identity | Role::Reference)
        });
    }

    /// `$recursiveRef` of 2019-09. In one document without `$dynamicAnchor` it is a plain
    /// reference.
    fn recursion(&mut self, map: &mut Map<String, Value>) {
        if map.shift_remove("$recursiveAnchor").is_some() {
            self.repairs.count("`$recursiveAnchor` left out");
        }
        if let Some(target) = map.shift_remove("$recursiveRef") {
            map.entry("$ref").or_insert(target);
            self.repairs.count("`$recursiveRef` as `$ref`");
        }
    }

    fn types(&mut self, map: &mut Map<String, Value>) {
        let Some(kind) = map.get("type") else { return };
        let normal = values::normal_type(kind);
        if normal.as_ref() == Some(kind) {
            return;
        }
        self.repairs.count(if normal.is_some() {
            "a type by its name in JSON Schema"
        } else {
            "an unknown type left out"
        });
        match normal {
            Some(normal) => map.insert("type".to_owned(), normal),
            None => map.shift_remove("type"),
        };
    }

    /// `"exclusiveMinimum": true` beside `minimum` (draft 4).
    fn exclusive(&mut self, map: &mut Map<String, Value>, flag: &str, bound: &str) {
        let Some(is_exclusive) = map.get(flag).and_then(Value::as_bool) else { return };
        self.repairs.count("an exclusive bound as a number");
        let limit = if is_exclusive { map.shift_remove(bound) } else { None };
        match limit {
            Some(limit) => map.insert(flag.to_owned(), limit),
            None => map.shift_remove(flag),
        };
    }

    /// A list in `items`, and `additionalItems`, of draft 7 and older.
    fn tuple(&mut self, map: &mut Map<String, Value>) {
        let is_list = map.get("items").is_some_and(Value::is_array);
        if !is_list {
            if map.shift_remove("additionalItems").is_some() {
                self.repairs.count("`additionalItems` without a list left out");
            }
            return;
        }
        self.repairs.count("`items` with a list as `prefixItems`");
        let rest = map.shift_remove("additionalItems");
        // The new keywords take the place of `items`, so that the others keep their order.
        for (key, value) in std::mem::take(map) {
            if key != "items" {
                map.entry(key).or_insert(value);
                continue;
            }
            if value.as_array().is_some_and(|list| !list.is_empty()) {
                map.insert("prefixItems".to_owned(), value);
            }
            if let Some(rest) = &rest {
                map.insert(key, rest.clone());
            }
        }
    }

    /// `dependencies` holds what 2019-09 divides by the kind of value.
    fn dependencies(&mut self, map: &mut Map<String, Value>) {
        let Some(held) = map.shift_remove("dependencies") else { return };
        self.repairs.count("`dependencies` by its two names");
        let Value::Object(held) = held else { return };
        for (name, value) in held {
            let (key, value) = match value {
                Value::Array(_) => ("dependentRequired", value),
                // Draft 3 allows one name.
                Value::String(one) => ("dependentRequired", json!([one])),
                schema => ("dependentSchemas", schema),
            };
            let Value::Object(all) = map.entry(key).or_insert_with(|| json!({})) else { continue };
            // Where both keywords name a property, both hold.
            match (all.get_mut(&name), value) {
                (None, value) => drop(all.insert(name, value)),
                (Some(Value::Array(known)), Value::Array(mut more)) => {
                    more.retain(|name| !known.contains(name));
                    known.extend(more);
                }
                (Some(own @ (Value::Object(_) | Value::Bool(_))), value) => {
                    *own = json!({"allOf": [own.take(), value]});
                }
                (Some(_), _) => {}
            }
        }
    }

    /// `required` as a flag of a property (draft 3), or as a list among the properties.
    fn required_of_properties(&mut self, map: &mut Map<String, Value>) {
        let Some(Value::Object(properties)) = map.get_mut("properties") else { return };
        let mut names: Vec<Value> = Vec::new();
        if properties.get("required").is_some_and(|list| values::are_names_of(list, properties)) {
            if let Some(Value::Array(list)) = properties.shift_remove("required") {
                names.extend(list);
            }
            self.repairs.count("`required` moved out of `properties`");
        }
        for (name, schema) in properties.iter_mut() {
            let flag = schema.get("required").and_then(Value::as_bool);
            let (Some(flag), Value::Object(schema)) = (flag, schema) else { continue };
            schema.shift_remove("required");
            self.repairs.count("`required` of a property as a list");
            if flag {
                names.push(json!(name));
            }
        }
        if names.is_empty() {
            return;
        }
        match map.get_mut("required") {
            Some(Value::Array(known)) => {
                names.retain(|name| !known.contains(name));
                known.extend(names);
            }
            _ => drop(map.insert("required".to_owned(), Value::Array(names))),
        }
    }

    /// `nullable` of OpenAPI 3.0 and Gemini: a further type, or a further alternative.
    fn nullable(&mut self, map: &mut Map<String, Value>) {
        let Some(nullable) = map.get("nullable").and_then(Value::as_bool) else { return };
        map.shift_remove("nullable");
        self.repairs.count("`nullable` as the type `null`");
        if nullable {
            values::accept_null(map);
        }
    }

    /// Values that the keyword does not allow.
    fn values(&mut self, map: &mut Map<String, Value>) {
        let mut dropped: Vec<String> = Vec::new();
        for (key, value) in map.iter_mut() {
            match values::fit(key, value) {
                Fit::Fits => {}
                Fit::Is(other) => {
                    *value = other;
                    self.repairs.count("a value in the form of its keyword");
                }
                Fit::Drops => {
                    dropped.push(key.clone());
                    self.repairs.count("a keyword with an invalid value left out");
                }
            }
        }
        for key in dropped {
            map.shift_remove(&key);
        }
    }
}

#[cfg(test)]
mod tests;
