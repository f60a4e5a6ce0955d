//! Single values: those that a schema lists, and whether a schema accepts one.

use serde_json::{Map, Value};

/// The values of a schema that lists all of them (`enum`, `const`).
pub(super) fn listed(map: &Map<String, Value>) -> Option<Vec<Value>> {
    match (map.get("const"), map.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Whether a schema accepts a value. `None` if it has keywords that are not tested here.
pub(super) fn accepts(map: &Map<String, Value>, value: &Value) -> Option<bool> {
    let mut is_sure = true;
    for (key, rule) in map {
        let holds = match key.as_str() {
            "const" => Some(is_equal(rule, value)),
            "enum" => rule.as_array().map(|values| values.iter().any(|own| is_equal(own, value))),
            "type" => Some(match rule {
                Value::String(name) => is_of_type(value, name),
                Value::Array(names) => names.iter().filter_map(Value::as_str).any(|name| is_of_type(value, name)),
                _ => true,
            }),
            "minimum" => compared(rule, value, |bound, own| own >= bound),
            "exclusiveMinimum" => compared(rule, value, |bound, own| own > bound),
            "maximum" => compared(rule, value, |bound, own| own <= bound),
            "exclusiveMaximum" => compared(rule, value, |bound, own| own < bound),
            "multipleOf" => compared(rule, value, |step, own| step != 0.0 && own % step == 0.0),
            "minLength" => length(rule, value, |bound, own| own >= bound),
            "maxLength" => length(rule, value, |bound, own| own <= bound),
            "pattern" | "format" if !value.is_string() => Some(true),
            "properties" | "required" | "additionalProperties" if !value.is_object() => Some(true),
            "items" | "minItems" | "maxItems" if !value.is_array() => Some(true),
            "title" | "description" | "default" | "examples" | "deprecated" | "$comment" => Some(true),
            _ => None,
        };
        match holds {
            Some(false) => return Some(false),
            Some(true) => {}
            None => is_sure = false,
        }
    }
    is_sure.then_some(true)
}

/// JSON Schema compares numbers by value: `1` is `1.0`.
fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|own| own.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn compared(rule: &Value, value: &Value, holds: impl Fn(f64, f64) -> bool) -> Option<bool> {
    match (rule.as_f64(), value.as_f64()) {
        (Some(bound), Some(own)) => Some(holds(bound, own)),
        // It concerns numbers only.
        (_, None) => Some(true),
        (None, _) => None,
    }
}

fn length(rule: &Value, value: &Value, holds: impl Fn(u64, u64) -> bool) -> Option<bool> {
    let Some(text) = value.as_str() else { return Some(true) };
    Some(holds(rule.as_u64()?, text.chars().count() as u64))
}
