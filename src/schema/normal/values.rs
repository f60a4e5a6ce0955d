//! The values of keywords: which are valid in 2020-12, and what an invalid one means.

use serde_json::{Map, Value, json};

use crate::schema::keyword::{Holds, TYPES, holds};

/// Whether a value is one that its keyword allows.
pub(super) enum Fit {
    /// It is allowed.
    Fits,
    /// It means this allowed value.
    Is(Value),
    /// It means nothing.
    Drops,
}

/// The value of a keyword by the meta-schema of 2020-12. Types, and what older drafts allowed, were
/// replaced before.
pub(super) fn fit(key: &str, value: &Value) -> Fit {
    match key {
        "$ref" | "$dynamicRef" | "$schema" | "$id" | "$comment" | "title" | "description" | "format"
        | "contentEncoding" | "contentMediaType" => fits(value.is_string()),
        "$anchor" | "$dynamicAnchor" => fits(value.as_str().is_some_and(is_anchor)),
        "$vocabulary" => all_fit(value, Value::is_boolean),
        "pattern" => fits(value.as_str().is_some_and(is_pattern)),
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => flag(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => number(value, |_| true),
        "multipleOf" => number(value, |number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains" | "minProperties"
        | "maxProperties" => number(value, |number| number >= 0.0 && number.fract() == 0.0),
        "required" => names(value),
        "dependentRequired" => all_fit(value, |list| matches!(names(list), Fit::Fits)),
        "enum" => fits(value.as_array().is_some_and(|list| !list.is_empty())),
        "examples" if !value.is_array() => Fit::Is(json!([value])),
        "patternProperties" => patterns(value),
        _ => schemas(key, value),
    }
}

fn fits(is_valid: bool) -> Fit {
    if is_valid { Fit::Fits } else { Fit::Drops }
}

/// An object whose members are all valid.
fn all_fit(value: &Value, is_valid: impl Fn(&Value) -> bool) -> Fit {
    fits(value.as_object().is_some_and(|map| map.values().all(is_valid)))
}

fn flag(value: &Value) -> Fit {
    match value {
        Value::Bool(_) => Fit::Fits,
        Value::String(text) => match text.to_ascii_lowercase().parse::<bool>() {
            Ok(flag) => Fit::Is(json!(flag)),
            Err(_) => Fit::Drops,
        },
        _ => Fit::Drops,
    }
}

/// A number, or a text of one as some generators write it.
fn number(value: &Value, is_valid: impl Fn(f64) -> bool) -> Fit {
    match value {
        Value::Number(number) => fits(number.as_f64().is_some_and(is_valid)),
        Value::String(text) => match serde_json::from_str::<Value>(text.trim()) {
            Ok(Value::Number(number)) if number.as_f64().is_some_and(is_valid) => Fit::Is(Value::Number(number)),
            _ => Fit::Drops,
        },
        _ => Fit::Drops,
    }
}

/// A list of distinct names. Repeated ones and what is not a name are left out of it.
fn names(value: &Value) -> Fit {
    let Some(list) = value.as_array() else { return Fit::Drops };
    let mut names: Vec<&Value> = Vec::with_capacity(list.len());
    let mut seen = std::collections::HashSet::new();
    for name in list {
        if name.as_str().is_some_and(|name| seen.insert(name)) {
            names.push(name);
        }
    }
    if names.len() == list.len() { Fit::Fits } else { Fit::Is(json!(names)) }
}

/// Schemas by pattern, without those whose pattern cannot be read.
fn patterns(value: &Value) -> Fit {
    let Some(map) = value.as_object() else { return schemas("patternProperties", value) };
    if map.keys().all(|pattern| is_pattern(pattern)) {
        return Fit::Fits;
    }
    let mut readable = map.clone();
    readable.retain(|pattern, _| is_pattern(pattern));
    Fit::Is(Value::Object(readable))
}

/// A keyword that holds schemas.
fn schemas(key: &str, value: &Value) -> Fit {
    match (holds(key), value) {
        (Holds::Named, Value::Object(_)) => Fit::Fits,
        (Holds::Named, Value::Array(list)) if list.is_empty() => Fit::Is(json!({})),
        (Holds::Named, _) => Fit::Drops,
        // Where every branch counts, one that cannot be read makes the keyword unreadable.
        (Holds::Schemas, Value::Array(list)) => {
            let is_branch = matches!(key, "anyOf" | "oneOf");
            fits(!list.is_empty() && (!is_branch || list.iter().all(is_schema)))
        }
        (Holds::Schemas, Value::Object(_)) => Fit::Is(json!([value])),
        (Holds::Schemas, _) => Fit::Drops,
        (Holds::Schema | Holds::SchemaOrSchemas, _) => fits(is_schema(value)),
        _ => Fit::Fits,
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Source: `anchorString` of the core meta-schema.
pub(super) fn is_anchor(name: &str) -> bool {
    let rest = name.strip_prefix(|first: char| first.is_ascii_alphabetic() || first == '_');
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')))
}

/// Whether the validator can read a regular expression. Without the validator, none is checked.
fn is_pattern(pattern: &str) -> bool {
    // Most patterns use nothing that can be wrong.
    if !pattern.contains(['\\', '(', ')', '[', ']', '{', '}', '*', '+', '?']) {
        return true;
    }
    // As the validator compiles a pattern. To build one would compile the meta-schema first, which
    // takes longer and more memory than the patterns of a list.
    #[cfg(feature = "validate")]
    return jsonschema_regex::to_rust_regex(pattern).is_ok_and(|own| fancy_regex::Regex::new(&own).is_ok());
    #[cfg(not(feature = "validate"))]
    true
}

/// The value of `type` with the names of JSON Schema; `None` if it names no type.
pub(super) fn normal_type(kind: &Value) -> Option<Value> {
    match kind {
        Value::String(name) => type_name(name).map(|name| json!(name)),
        Value::Array(several) => {
            let mut names: Vec<&'static str> = Vec::new();
            for one in several {
                // One alternative without a known type makes the list say nothing.
                let name = type_name(one.as_str()?)?;
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.is_empty() { None } else { Some(json!(names)) }
        }
        _ => None,
    }
}

/// The JSON Schema type that a word of another language names.
fn type_name(word: &str) -> Option<&'static str> {
    if let Some(name) = TYPES.into_iter().find(|name| *name == word) {
        return Some(name);
    }
    Some(match word.trim().to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "char" | "date" | "datetime" | "date-time" | "time" | "uuid" | "uri" | "url"
        | "email" => "string",
        "integer" | "int" | "int32" | "int64" | "uint" | "long" | "short" | "bigint" => "integer",
        "number" | "float" | "float32" | "float64" | "double" | "decimal" | "real" => "number",
        "boolean" | "bool" => "boolean",
        "object" | "dict" | "dictionary" | "map" | "struct" | "record" | "json" => "object",
        "array" | "list" | "tuple" | "set" | "sequence" => "array",
        "null" | "none" | "nonetype" | "nil" => "null",
        _ => return None,
    })
}

/// Whether a value is a list of names of other properties.
pub(super) fn are_names_of(list: &Value, properties: &Map<String, Value>) -> bool {
    let Some(list) = list.as_array().filter(|list| !list.is_empty()) else { return false };
    list.iter().all(|name| name.as_str().is_some_and(|name| name != "required" && properties.contains_key(name)))
}

/// Makes a schema accept `null` as well.
pub(super) fn accept_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(choices)) = map.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::String(name)) if name != "null" => {
            let both = json!([name, "null"]);
            map.insert("type".to_owned(), both);
        }
        Some(Value::Array(several)) if !several.iter().any(|one| one == "null") => several.push(json!("null")),
        _ => {}
    }
    for key in ["anyOf", "oneOf"] {
        let null = json!({"type": "null"});
        if let Some(Value::Array(branches)) = map.get_mut(key)
            && !branches.contains(&null)
        {
            branches.push(null);
        }
    }
    if let Some(target) = map.shift_remove("$ref") {
        map.entry("anyOf").or_insert_with(|| json!([{"$ref": target}, {"type": "null"}]));
    }
}
