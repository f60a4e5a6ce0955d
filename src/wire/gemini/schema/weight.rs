//! The cost of copying a value: a large definition with many references must not be written often.

use serde_json::{Map, Value};

/// The number of bytes of text that count as one value.
const TEXT: usize = 64;

/// The cost of copying a value.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / TEXT,
        Value::Array(list) => {
            let mut sum = 1;
            for value in list {
                sum += weight(value);
            }
            sum
        }
        Value::Object(map) => {
            let mut sum = 1;
            for (key, value) in map {
                sum += key.len() / TEXT + weight(value);
            }
            sum
        }
        _ => 1,
    }
}

/// The cost of copying the values of an object.
pub(super) fn weight_of_all(map: &Map<String, Value>) -> usize {
    let mut sum = 0;
    for value in map.values() {
        sum += weight(value);
    }
    sum
}
