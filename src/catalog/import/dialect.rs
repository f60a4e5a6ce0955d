//! Converts Gemini's OpenAPI subset to JSON Schema.

use crate::schema::text_member;
use serde_json::{Map, Value, json};

/// Keywords with a count, which the JSON form of a 64-bit integer writes as a string
/// (`"minItems":"1"`).
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Converts the schema in `parameters` to plain JSON Schema. Returns whether anything changed.
///
/// In the subset, types are upper case, `nullable` marks an optional null, counts may be strings,
/// and `propertyOrdering` gives the order of properties, which JSON Schema cannot express. Source:
/// the Gemini API's `Schema`.
pub(super) fn from_gemini(schema: &mut Value) -> bool {
    let Some(map) = schema.as_object_mut() else { return false };
    let mut changed = map.shift_remove("propertyOrdering").is_some();
    changed |= map.shift_remove("property_ordering").is_some();
    changed |= convert_type(map);
    for key in COUNTS {
        let count = text_member(map, key).and_then(|text| text.parse::<u64>().ok());
        if let Some(count) = count {
            map.insert(key.to_owned(), json!(count));
            changed = true;
        }
    }
    for (key, value) in map.iter_mut() {
        changed |= match (key.as_str(), value) {
            ("items", inner) => from_gemini(inner),
            ("anyOf" | "any_of", Value::Array(list)) => {
                list.iter_mut().fold(false, |any, inner| from_gemini(inner) | any)
            }
            ("properties" | "$defs" | "defs", Value::Object(named)) => {
                named.values_mut().fold(false, |any, inner| from_gemini(inner) | any)
            }
            _ => false,
        };
    }
    changed
}

/// Converts the type to lower case and adds `null` if the schema is nullable.
fn convert_type(map: &mut Map<String, Value>) -> bool {
    let own = text_member(map, "type").map(str::to_owned);
    let nullable = map.get("nullable").and_then(Value::as_bool);
    let Some(own) = own else { return false };
    let plain = own.to_ascii_lowercase();
    if plain == "type_unspecified" {
        map.shift_remove("type");
        return true;
    }
    if nullable.is_some() {
        map.shift_remove("nullable");
    }
    if nullable == Some(true) {
        if let Some(Value::Array(choices)) = map.get_mut("enum")
            && !choices.contains(&Value::Null)
        {
            choices.push(Value::Null);
        }
        map.insert("type".to_owned(), json!([plain, "null"]));
        return true;
    }
    let changed = plain != own || nullable.is_some();
    if changed {
        map.insert("type".to_owned(), json!(plain));
    }
    changed
}
