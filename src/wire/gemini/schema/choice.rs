//! Alternatives: between schemas, types or listed values.

use serde_json::{Map, Value, json};

use super::read_back::{Kinds, ReadBack};
use super::{Writer, Written, say};

/// The maximum number of listed values in a description; the others are counted.
const MAX_SAID: usize = 40;

/// The alternatives of a schema.
pub(super) struct Choices {
    between: Vec<Value>,
    /// The members beside each alternative.
    base: Map<String, Value>,
}

impl Writer<'_> {
    /// The alternatives of a schema; `None` if it has none.
    pub(super) fn choices(&mut self, map: &Map<String, Value>, path: &str) -> Option<Choices> {
        let key = ["anyOf", "oneOf"].into_iter().find(|key| map.get(*key).is_some_and(Value::is_array));
        let mut base = map.clone();
        let Some(key) = key else {
            let types = map.get("type").and_then(Value::as_array)?;
            base.shift_remove("type");
            return Some(Choices { between: types.iter().map(|own| json!({"type": own})).collect(), base });
        };
        let between = base.shift_remove(key)?;
        if map.contains_key("properties") || map.contains_key("enum") {
            self.changed(key, "beside properties or an enum is left out", path);
            return Some(Choices { between: Vec::new(), base });
        }
        if key == "oneOf" {
            self.changed("oneOf", "is written as `anyOf`", path);
        }
        Some(Choices { between: between.as_array().cloned().unwrap_or_default(), base })
    }

    /// Writes alternatives. `None` if there are some but no value can satisfy any of them.
    pub(super) fn union(&mut self, choices: Choices, path: &str) -> Option<Written> {
        let Choices { between, mut base } = choices;
        if between.is_empty() {
            return self.shallow(&base, path);
        }
        let (nulls, between): (Vec<Value>, Vec<Value>) = between.into_iter().partition(is_null);
        if !nulls.is_empty() {
            base.insert("nullable".to_owned(), Value::Bool(true));
        }
        if between.is_empty() {
            let words = super::text_schema(&base, "");
            return Some(Written { schema: Value::Object(words), back: ReadBack::any_string() });
        }
        let (mut written, mut back): (Vec<Value>, ReadBack) = (Vec::new(), ReadBack::default());
        // Writes each alternative with the members beside it, because `anyOf` must be alone.
        for choice in between.iter().filter(|choice| **choice != Value::Bool(false)) {
            let Some(one) = self.node(choice, &base, path) else { continue };
            back.or(one.back);
            let flat = one.schema.get("anyOf").and_then(Value::as_array).cloned();
            for one in flat.unwrap_or_else(|| vec![one.schema]) {
                if !written.contains(&one) {
                    written.push(one);
                }
            }
        }
        let schema = match written.len() {
            0 | 1 => written.pop()?,
            _ => json!({"anyOf": written}),
        };
        Some(Written { schema, back })
    }

    /// Writes listed values by kind: strings as an enum, numbers and booleans in the description,
    /// objects and arrays as an enum of their JSON text.
    pub(super) fn listed_values(&mut self, map: &Map<String, Value>, path: &str) -> Option<Written> {
        let listed: Vec<Value> = match map.get("enum").and_then(Value::as_array) {
            Some(listed) => listed.clone(),
            None => {
                self.changed("const", "is written as an enum with one value", path);
                map.get("const").cloned().into_iter().collect()
            }
        };
        let said = map.get("type").and_then(Value::as_str);
        let allowed = said.map_or(Kinds::ALL, Kinds::of_type);
        let fits = |value: &&Value| !allowed.both(Kinds::of_value(value)).is_empty();
        let mut words = Map::new();
        self.rest(map, &mut words, path, &["type", "enum", "const"]);
        if listed.iter().any(Value::is_null) {
            words.insert("nullable".to_owned(), Value::Bool(true));
        }
        let (mut written, mut back) = (Vec::new(), ReadBack::default());
        let mut add = |kind: &str, more: Vec<(&str, Value)>, own: ReadBack| {
            let mut out = words.clone();
            out.insert("type".to_owned(), json!(kind));
            out.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
            written.push(out);
            back.or(own);
        };
        let texts: Vec<&str> =
            listed.iter().filter(fits).filter_map(Value::as_str).filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            add("string", vec![("enum", json!(texts))], ReadBack::strings(texts.iter().copied()));
        }
        let shapes: Vec<&Value> =
            listed.iter().filter(fits).filter(|value| value.is_object() || value.is_array()).collect();
        let kinds = shapes.iter().map(|value| Kinds::of_value(value)).fold(Kinds::NONE, Kinds::and);
        let asked = !shapes.is_empty() && !self.plain.contains(&self.at);
        if asked {
            let texts: Vec<String> = shapes.iter().map(ToString::to_string).collect();
            let description = super::text_schema(map, "(JSON, written as text)").shift_remove("description");
            let more = description.map(|words| ("description", words));
            let more = more.into_iter().chain([("enum", json!(texts))]).collect();
            add("string", more, ReadBack::requested_as_text(kinds));
        }
        let typed = |kinds: [&str; 2]| said.is_none_or(|said| kinds.contains(&said));
        let numeric = typed(["number", "integer"]);
        let numbers: Vec<&Value> = listed.iter().filter(|value| numeric && value.is_number()).collect();
        if !numbers.is_empty() {
            let kind = if said == Some("integer") { "integer" } else { "number" };
            add(kind, Vec::new(), ReadBack::default());
        }
        let boolean = typed(["boolean", "boolean"]);
        let truths: Vec<&Value> = listed.iter().filter(|value| boolean && value.is_boolean()).collect();
        if !truths.is_empty() {
            add("boolean", Vec::new(), ReadBack::default());
        }
        for out in &mut written {
            let values = match out.get("type").and_then(Value::as_str) {
                Some("boolean") => &truths,
                Some("string") => continue,
                _ => &numbers,
            };
            say(out, &one_of(values));
        }
        if listed.iter().any(|value| value.as_str() == Some("")) {
            self.changed("enum", "loses the empty text", path);
        }
        if asked {
            self.changed("enum", "lists objects or arrays, which are asked for as text", path);
        } else if !shapes.is_empty() {
            self.changed("enum", "loses objects or arrays: they are indistinguishable from its strings", path);
        }
        if !numbers.is_empty() || !truths.is_empty() {
            self.changed("enum", "is written in the description: only strings may have one", path);
        }
        match written.len() {
            0 if !shapes.is_empty() => None,
            0 => {
                words.insert("type".to_owned(), json!("string"));
                Some(Written { schema: Value::Object(words), back: ReadBack::any_string() })
            }
            1 => Some(Written { schema: Value::Object(written.pop()?), back }),
            _ => Some(Written { schema: json!({"anyOf": written}), back }),
        }
    }

    pub(super) fn scalar(&mut self, map: &Map<String, Value>, kind: &str, path: &str) -> Written {
        let mut out = Map::from_iter([("type".to_owned(), json!(kind))]);
        self.rest(map, &mut out, path, &["type", "format"]);
        if let Some(format) = map.get("format").and_then(Value::as_str) {
            let passes = matches!(
                (kind, format),
                ("string", "date-time") | ("number", "float" | "double") | ("integer", "int32" | "int64")
            );
            if passes {
                out.insert("format".to_owned(), json!(format));
            } else {
                self.changed("format", "is left out where Gemini does not know it", path);
            }
        }
        let back = if kind == "string" { ReadBack::any_string() } else { ReadBack::default() };
        Written { schema: Value::Object(out), back }
    }

    /// Writes an unrestricted value.
    pub(super) fn any(&mut self, map: &Map<String, Value>, path: &str) -> Written {
        self.changed("type", "is missing: narrowed to string, number or boolean", path);
        let with = |kind: &str| {
            let mut own = super::text_schema(map, "");
            own.insert("type".to_owned(), json!(kind));
            own
        };
        let schema = json!({"anyOf": [with("string"), with("number"), with("boolean")]});
        Written { schema, back: ReadBack::any_string() }
    }
}

fn is_null(choice: &Value) -> bool {
    choice.get("type").and_then(Value::as_str) == Some("null") || choice.get("const").is_some_and(Value::is_null)
}

/// Listed values in words.
fn one_of(values: &[&Value]) -> String {
    let said: Vec<String> = values.iter().take(MAX_SAID).map(ToString::to_string).collect();
    let more = values.len().saturating_sub(MAX_SAID);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("One of: {}{more}.", said.join(", "))
}
