//! The properties that a schema declares, and arguments that it does not.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::name::nearest;
use crate::schema::{self, list_member, object_member, text_member};
use crate::search::{Entry, Index};

/// The maximum depth at which the properties of a schema are searched in `allOf`, `anyOf`, `$ref`
/// and the like.
const MAX_NESTED: usize = 4;

/// The maximum number of examined branches of one keyword.
const MAX_BESIDE: usize = 64;

/// The maximum number of unknown arguments of a call that are reported.
const MAX_UNKNOWN: usize = 20;

/// The maximum number of declared names among which a near one is searched: each is compared with
/// each unknown argument.
const MAX_COMPARED: usize = 1_000;

/// The maximum number of declared names that are searched by meaning: an index is built for it.
const MAX_SEARCHED: usize = 100;

/// How many times the score of the second-best parameter the best must have, to be the one that a
/// search by meaning finds.
const CLEAR: f64 = 1.5;

/// An argument whose name the tool's schema does not declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown<'v> {
    pub(crate) name: &'v str,
    /// The declared name that was probably intended, if only one is close.
    pub(crate) near: Option<String>,
    /// Whether only the type of the value fits: the name and the listed values do not.
    pub(crate) by_type: bool,
}

/// The arguments that a tool's schema does not declare, if it declares properties and no rule for
/// other names (`patternProperties`, a schema as `additionalProperties`). A schema that forbids
/// other names is included.
pub(crate) fn unknown_arguments<'v>(root: &Value, arguments: &'v Value) -> Vec<Unknown<'v>> {
    let Some(given) = arguments.as_object() else { return Vec::new() };
    // Most calls: there is no need to know what else the schema declares.
    let properties = object_member(root, "properties");
    let is_declared = |name: &String| properties.is_some_and(|own| own.get(name).is_some_and(is_possible));
    if given.keys().all(is_declared) {
        return Vec::new();
    }
    let mut declared = BTreeSet::new();
    property_names(root, root, &mut declared);
    if declared.is_empty() || takes_others(root, root, MAX_NESTED) {
        return Vec::new();
    }
    let mut free = Vec::from_iter(declared.iter().copied());
    free.retain(|name| !given.contains_key(*name));
    let mut unknown: Vec<Unknown<'v>> = Vec::new();
    for (name, value) in given {
        if declared.contains(name.as_str()) {
            continue;
        }
        if unknown.len() == MAX_UNKNOWN {
            break;
        }
        let mut own = Unknown { name, near: None, by_type: false };
        if declared.len() <= MAX_COMPARED
            && let Some((near, by_type)) = intended(root, name, value, &free)
        {
            own.by_type = by_type;
            // Two arguments cannot both be the same parameter.
            if !unknown.iter().any(|other| other.near.as_deref() == Some(near)) {
                own.near = Some(near.to_owned());
            }
        }
        unknown.push(own);
    }
    unknown
}

/// The members of the only argument, if the tool has no parameter of that name and all of them are
/// parameters that it has: a model put its arguments in an object (`{"task": {"title": …}}`).
pub(crate) fn wrapped<'v>(root: &Value, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let given = arguments.as_object()?;
    let (name, inner) = given.iter().next()?;
    let mut declared = BTreeSet::new();
    property_names(root, root, &mut declared);
    if given.len() > 1 || declared.contains(name.as_str()) {
        return None;
    }
    for key in inner.as_object()?.keys() {
        if declared.contains(key.as_str()) {
            return Some((name, inner));
        }
    }
    None
}

/// The declared parameter that an unknown argument was probably meant for: the only one with a
/// close name, else the only one whose list of values contains it, else the one whose name and
/// description mean the same, else the only required one that takes such a value. Returns whether
/// it is the last.
fn intended<'s>(root: &'s Value, name: &str, value: &Value, free: &[&'s str]) -> Option<(&'s str, bool)> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    if let Some(one) = only(free, |own| plain(own) == plain(name)) {
        return Some((one, false));
    }
    if let [one] = nearest(name, free.iter().copied(), 2)[..] {
        return Some((one, false));
    }
    if value.is_string()
        && let Some(one) = only(free, |own| listed(root, own).is_some_and(|values| values.contains(value)))
    {
        return Some((one, false));
    }
    let mut taking = free.to_vec();
    taking.retain(|own| takes(root, own, value));
    if let Some(one) = by_meaning(root, name, &taking) {
        return Some((one, false));
    }
    let required = list_member(root, "required");
    let one = only(&taking, |own| required.iter().any(|name| name.as_str() == Some(own)))?;
    Some((one, true))
}

/// The values that a parameter lists.
fn listed<'s>(root: &'s Value, name: &str) -> Option<&'s Vec<Value>> {
    property(root, root, name)?.get("enum")?.as_array()
}

/// The listed value of a parameter that an argument was probably meant for, if the list does not
/// contain the argument: the only one that contains it or is contained in it, else the only one
/// with a close name (`activity` for `last_activity`).
pub(crate) fn nearest_value<'s>(root: &'s Value, name: &str, value: &Value) -> Option<&'s str> {
    let listed = listed(root, name)?;
    let given = value.as_str().filter(|given| !given.is_empty() && !listed.contains(value))?;
    if listed.len() > MAX_COMPARED {
        return None;
    }
    let values: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let given_plain = plain(given);
    let contains =
        |own: &str| !own.is_empty() && (plain(own).contains(&given_plain) || given_plain.contains(&plain(own)));
    only(&values, contains).or_else(|| match nearest(given, values.iter().copied(), 2)[..] {
        [one] => Some(one),
        _ => None,
    })
}

/// The only name that has a property.
fn only<'s>(names: &[&'s str], has: impl Fn(&str) -> bool) -> Option<&'s str> {
    let mut found = None;
    for name in names {
        if has(name) && found.replace(*name).is_some() {
            return None;
        }
    }
    found
}

/// Whether the schema of a parameter names the type of a value and does not exclude the value. An
/// array or object is never meant for another parameter.
fn takes(root: &Value, name: &str, value: &Value) -> bool {
    let Some(schema) = property(root, root, name) else { return false };
    let kind = match value {
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    };
    if listed(root, name).is_some_and(|values| !values.contains(value)) {
        return false;
    }
    let typed = text_member(schema, "type");
    typed == Some(kind) || (typed == Some("number") && kind == "integer")
}

/// The parameter whose name and description fit the words of an unknown name clearly best.
fn by_meaning<'s>(root: &'s Value, name: &str, free: &[&'s str]) -> Option<&'s str> {
    if free.len() > MAX_SEARCHED {
        return None;
    }
    let mut entries = Vec::new();
    for own in free {
        let described = match property(root, root, own) {
            Some(schema) => text_member(schema, "description"),
            None => None,
        };
        entries.push(Entry::new(own, described.unwrap_or_default()));
    }
    let hits = Index::new(entries).search(name).hits;
    let best = hits.first()?;
    match hits.get(1) {
        Some(second) if best.score < CLEAR * second.score => None,
        _ => free.get(best.at).copied(),
    }
}

/// Whether a schema describes properties by anything but their names.
fn takes_others(root: &Value, node: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let closed = |key: &str| node.get(key).is_none_or(|others| *others == Value::Bool(false));
    let describes = node.get("patternProperties").is_some()
        || !closed("additionalProperties")
        || !closed("unevaluatedProperties")
        || schema::is_dynamic(node);
    describes || beside(root, node).into_iter().any(|part| takes_others(root, part, depth))
}

/// The schema of a property of an object schema.
pub(super) fn property<'s>(root: &'s Value, node: &'s Value, name: &str) -> Option<&'s Value> {
    property_within(root, node, name, MAX_NESTED)
}

fn property_within<'s>(root: &'s Value, node: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    let depth = depth.checked_sub(1)?;
    let own = node.get("properties").and_then(|properties| properties.get(name));
    own.or_else(|| beside(root, node).into_iter().find_map(|part| property_within(root, part, name, depth)))
}

/// Adds the property names of an object schema.
pub(super) fn property_names<'s>(root: &'s Value, node: &'s Value, into: &mut BTreeSet<&'s str>) {
    names_within(root, node, MAX_NESTED, into);
}

fn names_within<'s>(root: &'s Value, node: &'s Value, depth: usize, into: &mut BTreeSet<&'s str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for (name, schema) in object_member(node, "properties").into_iter().flatten() {
        if is_possible(schema) {
            into.insert(name);
        }
    }
    for part in beside(root, node) {
        names_within(root, part, depth, into);
    }
}

/// Whether a schema allows any value. A parameter with the schema `false` does not exist.
fn is_possible(schema: &Value) -> bool {
    *schema != Value::Bool(false)
}

/// The schemas that apply to the same value as `node` and constrain it; not `if` and `not`, which
/// only test it.
fn beside<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let mut parts = Vec::new();
    if let Some(to) = schema::reference(node)
        && let schema::Target::Found(target) = schema::resolve(root, to)
    {
        parts.push(target);
    }
    for (keyword, value) in node.as_object().into_iter().flatten() {
        if schema::role(keyword) == schema::Role::InPlace && !matches!(keyword.as_str(), "if" | "not") {
            let mut room = MAX_BESIDE;
            schema::held(keyword, value, |part| {
                if room > 0 {
                    room -= 1;
                    parts.push(part);
                }
            });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn read(schema: &Value, arguments: &Value) -> Vec<(String, Option<String>)> {
        let found = unknown_arguments(schema, arguments).into_iter();
        found.map(|unknown| (unknown.name.to_owned(), unknown.near)).collect()
    }

    #[test]
    fn an_unknown_argument_has_at_most_one_near_name() {
        let schema = json!({"properties": {"lifecycle_stage": {"enum": ["lead", "prospect"]}, "company_id": {},
            "sort_by": {"enum": ["name"]}}});
        let near = |name: &str| Some(name.to_owned());
        for (name, value, expected) in [
            ("status", json!("prospect"), near("lifecycle_stage")),
            ("company", json!("co_7"), near("company_id")),
            ("companyId", json!("co_7"), near("company_id")),
            ("sort_order", json!("desc"), None),
            ("tier", json!(3), None),
        ] {
            assert_eq!(read(&schema, &json!({name: value})), [(name.to_owned(), expected)]);
        }
        let both = json!({"company": 1, "companyId": 2});
        assert_eq!(read(&schema, &both)[1].1, None, "one parameter is not two arguments");
    }

    #[test]
    fn a_call_of_a_tool_with_very_many_parameters_is_read_in_bounded_time() {
        let properties: Map<String, Value> = (0..60_000).map(|at| (format!("p{at}"), json!({}))).collect();
        let arguments: Map<String, Value> = (0..3_000).map(|at| (format!("x{at}"), json!(1))).collect();
        let found = read(&json!({ "properties": properties }), &Value::Object(arguments));
        assert_eq!(found.len(), MAX_UNKNOWN);
        assert!(found.iter().all(|(_, near)| near.is_none()), "none of so many names is compared");
    }

    #[test]
    fn a_schema_with_rules_for_other_names_knows_every_argument() {
        let call = json!({"b": 1});
        for open in [
            json!({"properties": {"a": {}}, "additionalProperties": {}}),
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            json!({"properties": {"a": {}}, "patternProperties": {"^b": {}}}),
            json!({"properties": {"a": {}}, "allOf": [{"additionalProperties": {"type": "string"}}]}),
            json!({"type": "object"}),
            json!({}),
        ] {
            assert_eq!(read(&open, &call), [], "{open}");
        }
        let referred = json!({"$ref": "#/$defs/in", "$defs": {"in": {"properties": {"a": {}, "b": {}}}}});
        assert_eq!(read(&referred, &call), []);
        for closed in [
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"properties": {"a": {}, "b": false}}),
        ] {
            assert_eq!(read(&closed, &call).len(), 1, "{closed}");
        }
    }
}
