//! Front matter as JSON, exactly as written: for hosts that compare it with the file field by
//! field.

use serde_json::{Map, Number, Value};

use super::document::{MAX_FILE, MAX_FRONT_MATTER};
use super::split::split;
use super::strict;
use super::yaml::{self, Node};
use crate::diagnostic::Place;

/// Every field of a `SKILL.md`'s front matter, with the types of YAML 1.2's core schema.
///
/// `None` if readers would disagree on it: it is not a map, required a guess, has an alias or a
/// duplicate key, or is larger than 64 KiB.
#[must_use]
pub fn front_matter(bytes: &[u8]) -> Option<Map<String, Value>> {
    if bytes.len() > MAX_FILE {
        return None;
    }
    let text = strict::decode(bytes).ok()?;
    let (cut, rescued) = split(&text, &Place::file("SKILL.md"), &mut Vec::new());
    let front = cut.front.filter(|front| !rescued && front.len() <= MAX_FRONT_MATTER)?;
    let reading = yaml::read(front);
    if reading.broken.is_some() || reading.repeats {
        return None;
    }
    match json(&reading.root?)? {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn json(node: &Node) -> Option<Value> {
    Some(match node {
        Node::Text { text, plain: true } => plain(text),
        Node::Text { text, plain: false } => Value::String(text.clone()),
        Node::List(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        Node::Map(entries) => {
            let mut fields = Map::new();
            for entry in entries {
                fields.insert(entry.key.clone(), json(&entry.value)?);
            }
            Value::Object(fields)
        }
        Node::Alias => return None,
    })
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        other => number(other).map_or_else(|| Value::String(other.to_owned()), Value::Number),
    }
}

/// A decimal number as JSON.
fn number(text: &str) -> Option<Number> {
    let digits = text.trim_start_matches(['-', '+']);
    if text.len() - digits.len() > 1 || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if !text.contains(['.', 'e', 'E']) {
        return text.parse::<i64>().ok().map(Number::from);
    }
    // A lone `.`, and forms that only Rust parses as numbers, are strings.
    let shaped = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    if shaped { text.parse::<f64>().ok().and_then(Number::from_f64) } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_keeps_its_type() {
        let text = "---\nname: a\ndescription: 'true'\nversion: 1.5\nn: -7\nmetadata:\n  x: yes\n  y: true\n  z: ~\nlist:\n- 1e3\n- 1.2.3\n---\nBody";
        let expected = json!({"name": "a", "description": "true", "version": 1.5, "n": -7,
            "metadata": {"x": "yes", "y": true, "z": null}, "list": [1000.0, "1.2.3"]});
        assert_eq!(Value::Object(front_matter(text.as_bytes()).unwrap()), expected);
    }

    #[test]
    fn what_readers_would_not_agree_on_is_none() {
        for front in ["a: &x 1\nb: *x", "a: 1\na: 2", "- a", "m:\n  a: 1\n  a: 2"] {
            assert_eq!(front_matter(format!("---\n{front}\n---\n").as_bytes()), None, "{front}");
        }
        assert_eq!(front_matter(b"no front matter"), None);
        assert_eq!(front_matter(b"---\nname: a\n"), None);
    }
}
