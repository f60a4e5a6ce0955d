//! Which parts of a schema the recorded requests cover, and which are extrapolated.
//!
//! Source: the recorded requests that have tools and were billed without error, except those
//! of 2023. Their schemas contain only `type` (lists included), `properties`, `required`, `title`,
//! `description`, `enum` of strings and integers, `default` of string, boolean and `null`, `items`
//! as a schema, `anyOf`, `$ref`, `$defs`, `strict`, `additionalProperties: false`, and `format`
//! inside unions. Further requests showed that `$schema` and any boolean `additionalProperties`
//! cost nothing.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::python::truthy;
use super::reason::Reason;
use super::refs::Root;
use super::render::Function;
use crate::schema::{self, Target};

/// The maximum number of tools in a recorded row.
const MOST_TOOLS: usize = 34;

/// The constructs in these definitions that no recorded row covers, except those that rendering
/// cuts.
pub(super) fn uncovered(functions: &[Function<'_>]) -> BTreeSet<Reason> {
    let mut reasons = BTreeSet::new();
    if functions.len() > MOST_TOOLS {
        reasons.insert(Reason::ManyTools);
    }
    for parameters in functions.iter().filter_map(|f| f.parameters) {
        Walk::new(parameters, &mut reasons).find_reasons(parameters);
    }
    reasons
}

/// A walk over the schemas of one tool that visits each once: linear for any references.
struct Walk<'a, 'r> {
    root: Root<'a>,
    /// Schemas still to visit, and whether each is a variant of a union.
    waiting: Vec<(&'a Map<String, Value>, bool)>,
    seen: HashSet<*const Map<String, Value>>,
    reasons: &'r mut BTreeSet<Reason>,
}

impl<'a, 'r> Walk<'a, 'r> {
    fn new(parameters: &'a Value, reasons: &'r mut BTreeSet<Reason>) -> Self {
        Self { root: Root::new(Some(parameters)), waiting: Vec::new(), seen: HashSet::new(), reasons }
    }

    fn find_reasons(mut self, parameters: &'a Value) {
        if !parameters.get("properties").is_some_and(truthy)
            && ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|k| parameters.get(k).is_some())
        {
            self.reasons.insert(Reason::RootRef);
        }
        self.later(parameters, false);
        while let Some((map, in_union)) = self.waiting.pop() {
            if self.seen.insert(std::ptr::from_ref(map)) {
                for (key, value) in map {
                    self.keyword(key, value, in_union);
                }
                if map.contains_key("default") && map.get("type").is_some_and(|kind| kind == "object") {
                    self.add_reason(Reason::ObjectDefault);
                }
            }
        }
        for definition in self.root.definitions().into_iter().flat_map(Map::values) {
            if let Value::Object(map) = definition
                && !self.seen.contains(&std::ptr::from_ref(map))
            {
                self.reasons.insert(Reason::UnusedDefinitions);
            }
        }
    }

    fn add_reason(&mut self, reason: Reason) {
        self.reasons.insert(reason);
    }

    fn demand(&mut self, holds: bool, reason: Reason) {
        if !holds {
            self.add_reason(reason);
        }
    }

    fn later(&mut self, schema: &'a Value, in_union: bool) {
        match schema {
            Value::Object(map) => self.waiting.push((map, in_union)),
            _ => self.add_reason(Reason::Malformed),
        }
    }

    fn keyword(&mut self, key: &str, value: &'a Value, in_union: bool) {
        match key {
            "title" | "description" => self.demand(value.is_string(), Reason::Malformed),
            "type" => self.demand(is_type(value), Reason::Malformed),
            "required" => self.demand(is_list_of_texts(value), Reason::Malformed),
            "strict" => self.demand(value.is_boolean(), Reason::Malformed),
            "$schema" => self.demand(value.is_string(), Reason::Malformed),
            "format" => {
                self.demand(value.is_string(), Reason::Malformed);
            }
            "enum" => match value {
                Value::Array(values) if !values.is_empty() => {
                    // The only recorded row with this was billed two tokens less.
                    self.demand(!in_union, Reason::EnumInUnion);
                    self.demand(values.iter().all(|v| v.is_string() || is_integer(v)), Reason::EnumValue);
                }
                _ => self.add_reason(Reason::Malformed),
            },
            "default" => {
                self.demand(value.is_string() || value.is_boolean() || value.is_null(), Reason::DefaultValue);
            }
            "properties" => match value {
                Value::Object(members) => {
                    for member in members.values() {
                        self.later(member, false);
                    }
                }
                _ => self.add_reason(Reason::Malformed),
            },
            "items" => self.later(value, false),
            "anyOf" => self.variants(value),
            "oneOf" | "allOf" => {
                self.unseen(key);
                self.variants(value);
            }
            "$ref" => match value.as_str().map(|reference| self.root.resolve(reference)) {
                Some(Target::Found(target)) => self.later(target, in_union),
                _ => self.add_reason(Reason::MissingRef),
            },
            "$defs" => self.demand(value.is_object(), Reason::Malformed),
            "additionalProperties" => {
                self.demand(value.is_boolean(), Reason::Keyword("additionalProperties"));
            }
            _ => self.unseen(key),
        }
    }

    fn variants(&mut self, value: &'a Value) {
        match value {
            Value::Array(variants) => {
                for variant in variants {
                    self.later(variant, true);
                }
            }
            _ => self.add_reason(Reason::Malformed),
        }
    }

    fn unseen(&mut self, key: &str) {
        self.add_reason(match schema::keyword(key) {
            Some(known) => Reason::Keyword(known.name),
            None => Reason::UnknownKeyword,
        });
    }
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::Array(types) => !types.is_empty() && types.iter().all(is_type_name),
        _ => is_type_name(value),
    }
}

fn is_type_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| schema::TYPES.contains(&name))
}

fn is_list_of_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|keys| keys.iter().all(Value::is_string))
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}
