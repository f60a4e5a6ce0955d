//! Whether two calls are equal: JSON equality with the schema's defaults filled in and without
//! empty optional arguments.

use serde_json::{Map, Value};

use crate::json::object_member;

/// The maximum depth to which a schema is followed; deeper values are compared unchanged.
const MAX_DEPTH: usize = 32;

/// Whether two argument objects are equal under a tool's schema: numbers by value (5 equals 5.0),
/// objects in any order of keys, and an omitted property as its `default`, if the schema has one.
/// An optional property without a default may be omitted or empty (`null`, `""`, `[]`, `{}`).
#[must_use]
pub fn same(schema: &Value, one: &Value, other: &Value) -> bool {
    equal(&filled(schema, one, MAX_DEPTH), &filled(schema, other, MAX_DEPTH))
}

/// The names of the top-level arguments in which two calls differ: those of the first in its order,
/// then those that only the second has.
#[must_use]
pub fn differences(schema: &Value, truth: &Value, given: &Value) -> Vec<String> {
    let (truth, given) = (filled(schema, truth, MAX_DEPTH), filled(schema, given, MAX_DEPTH));
    let none = Map::new();
    let (own, other) = (truth.as_object().unwrap_or(&none), given.as_object().unwrap_or(&none));
    let mut names = Vec::new();
    for (name, value) in own {
        if other.get(name).is_none_or(|given| !equal(value, given)) {
            names.push(name.clone());
        }
    }
    names.extend(other.keys().filter(|name| !own.contains_key(*name)).cloned());
    names
}

/// Whether two lists have equal members in any order; other values as [`equal`].
pub(super) fn same_members(one: &Value, other: &Value) -> bool {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return equal(one, other) };
    let mut left: Vec<&Value> = other.iter().collect();
    let all = one.iter().all(|own| match left.iter().position(|other| equal(own, other)) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    });
    all && left.is_empty()
}

/// The value with the schema's defaults for omitted properties.
fn filled(schema: &Value, value: &Value, depth: usize) -> Value {
    let below = |schema: Option<&Value>, value: &Value| match schema {
        Some(schema) if depth > 0 => filled(schema, value, depth - 1),
        _ => value.clone(),
    };
    match value {
        Value::Object(entries) => {
            let none = Map::new();
            let properties = object_member(schema, "properties").unwrap_or(&none);
            let required = schema.get("required").and_then(Value::as_array);
            let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own == name));
            let mut all = Map::new();
            for (name, value) in entries {
                let property = properties.get(name);
                let value = below(property, value);
                let is_optional = property.is_some_and(|own| own.get("default").is_none()) && !is_required(name);
                if !(is_optional && is_empty(&value)) {
                    all.insert(name.clone(), value);
                }
            }
            for (name, property) in properties {
                if let Some(default) = property.get("default")
                    && !all.contains_key(name)
                {
                    all.insert(name.clone(), default.clone());
                }
            }
            Value::Object(all)
        }
        Value::Array(items) => {
            let each = schema.get("items");
            Value::Array(items.iter().map(|item| below(each, item)).collect())
        }
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || is_equal_float(one.as_f64(), other.as_f64()),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let in_other = |name: &str, value: &Value| other.get(name).is_some_and(|own| equal(value, own));
            one.len() == other.len() && one.iter().all(|(name, value)| in_other(name, value))
        }
        (one, other) => one == other,
    }
}

/// Integers beyond 2^53 are equal only if written alike.
fn is_equal_float(one: Option<f64>, other: Option<f64>) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    matches!((one, other), (Some(one), Some(other)) if one == other && one.abs() < EXACT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_compared_by_value_with_defaults() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "mode": {"type": "string"},
            "style": {"type": "object", "properties": {"bold": {"type": "boolean", "default": false}}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}},
        }});
        for (one, other, expected) in [
            (json!({"path": "a"}), json!({"path": "a"}), true),
            (json!({"path": "a"}), json!({"path": "a", "limit": 10}), true),
            (json!({"path": "a", "limit": 10.0}), json!({"limit": 10, "path": "a"}), true),
            (json!({"path": "a"}), json!({"path": "a", "limit": 11}), false),
            // Without a default, omitting a property differs from giving any value.
            (json!({"path": "a"}), json!({"path": "a", "mode": "x"}), false),
            // An empty optional argument is an omitted one, but not where a default would differ.
            (json!({"path": "a", "mode": null}), json!({"path": "a"}), true),
            (json!({"path": "a", "mode": "", "rows": []}), json!({"path": "a"}), true),
            (json!({"path": "a", "limit": null}), json!({"path": "a"}), false),
            (json!({"path": ""}), json!({}), false),
            (json!({"path": "a", "other": ""}), json!({"path": "a"}), false),
            (json!({"path": "a"}), json!({"path": "A"}), false),
            (json!({"path": "1"}), json!({"path": 1}), false),
            (json!({"style": {}}), json!({"style": {"bold": false}}), true),
            (json!({"rows": [{}, {"n": 2}]}), json!({"rows": [{"n": 1}, {"n": 2}]}), true),
            (json!({"rows": [{"n": 2}, {"n": 1}]}), json!({"rows": [{"n": 1}, {"n": 2}]}), false),
            (json!({"path": 9007199254740993_i64}), json!({"path": 9007199254740992_i64}), false),
        ] {
            assert_eq!(same(&schema, &one, &other), expected, "{one} and {other}");
            assert_eq!(same(&schema, &other, &one), expected, "{other} and {one}");
            assert_eq!(differences(&schema, &one, &other).is_empty(), expected, "{one} and {other}");
        }
    }

    #[test]
    fn differences_name_every_wrong_argument() {
        let schema = json!({"properties": {"limit": {"default": 10}}});
        let truth = json!({"path": "a", "mode": "x", "limit": 5});
        assert_eq!(differences(&schema, &truth, &json!({"path": "b", "more": 1})), ["path", "mode", "limit", "more"]);
        assert_eq!(differences(&schema, &truth, &json!({"path": "a", "mode": "x"})), ["limit"]);
    }
}
