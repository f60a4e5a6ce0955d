//! Alternatives: between schemas, types or listed values.

use serde_json::{Map, Value, json};

use super::read_back::{Kinds, ReadBack};
use super::{Writer, Written, say};
use crate::schema::{list_member, pointed, single_type, text_member};

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
        let mut base = map.clone();
        let Some(key) = alternatives_key(map) else {
            let Some(Value::Array(types)) = map.get("type") else { return None };
            base.shift_remove("type");
            let mut between = Vec::with_capacity(types.len());
            for own in types {
                between.push(json!({"type": own}));
            }
            return Some(Choices { between, base });
        };
        let Some(Value::Array(between)) = base.shift_remove(key) else { return None };
        if map.contains_key("properties") || map.contains_key("enum") {
            self.changed(key, "beside properties or an enum is left out", path);
            return Some(Choices { between: Vec::new(), base });
        }
        if key == "oneOf" {
            self.changed("oneOf", "is written as `anyOf`", path);
        }
        Some(Choices { between, base })
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
        for choice in &between {
            if choice == &Value::Bool(false) {
                continue;
            }
            let Some(one) = self.node(choice, &base, path) else { continue };
            back.or(one.back);
            let flat = match one.schema.get("anyOf") {
                Some(Value::Array(flat)) => flat.clone(),
                _ => vec![one.schema],
            };
            for one in flat {
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
        let listed: Vec<Value> = match map.get("enum") {
            Some(Value::Array(listed)) => listed.clone(),
            _ => {
                self.changed("const", "is written as an enum with one value", path);
                Vec::from_iter(map.get("const").cloned())
            }
        };
        let said = text_member(map, "type");
        let is_number = matches!(said, None | Some("number" | "integer"));
        let is_boolean = matches!(said, None | Some("boolean"));
        let allowed = said.map_or(Kinds::ALL, Kinds::of_type);
        let (mut texts, mut shapes, mut numbers, mut truths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for value in &listed {
            let fits = !allowed.both(Kinds::of_value(value)).is_empty();
            match value {
                Value::String(text) if fits && !text.is_empty() => texts.push(text.as_str()),
                Value::Object(_) | Value::Array(_) if fits => shapes.push(value),
                Value::Number(_) if is_number => numbers.push(value),
                Value::Bool(_) if is_boolean => truths.push(value),
                _ => {}
            }
        }
        let mut words = Map::new();
        self.rest(map, &mut words, path, &["type", "enum", "const"]);
        if listed.contains(&Value::Null) {
            words.insert("nullable".to_owned(), Value::Bool(true));
        }
        let (mut written, mut back) = (Vec::new(), ReadBack::default());
        let of_kind = |kind: &str| {
            let mut out = words.clone();
            out.insert("type".to_owned(), json!(kind));
            out
        };
        if !texts.is_empty() {
            let mut out = of_kind("string");
            out.insert("enum".to_owned(), json!(texts));
            written.push(out);
            back.or(ReadBack::strings(texts.iter().copied()));
        }
        let asked = !shapes.is_empty() && !self.plain.contains(&self.at);
        if asked {
            let (mut texts, mut kinds) = (Vec::new(), Kinds::NONE);
            for value in &shapes {
                texts.push(value.to_string());
                kinds = kinds.and(Kinds::of_value(value));
            }
            let mut out = of_kind("string");
            let description = super::text_schema(map, "(JSON, written as text)").shift_remove("description");
            out.extend(description.map(|words| ("description".to_owned(), words)));
            out.insert("enum".to_owned(), json!(texts));
            written.push(out);
            back.or(ReadBack::requested_as_text(kinds));
        }
        if !numbers.is_empty() {
            let mut out = of_kind(if said == Some("integer") { "integer" } else { "number" });
            say(&mut out, &one_of(&numbers));
            written.push(out);
        }
        if !truths.is_empty() {
            let mut out = of_kind("boolean");
            say(&mut out, &one_of(&truths));
            written.push(out);
        }
        if listed.contains(&json!("")) {
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
        if let Some(format) = text_member(map, "format") {
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

/// The keyword whose alternatives are written.
pub(super) fn alternatives_key(map: &Map<String, Value>) -> Option<&'static str> {
    ["anyOf", "oneOf"].into_iter().find(|key| matches!(map.get(*key), Some(Value::Array(_))))
}

fn is_null(choice: &Value) -> bool {
    choice.get("type") == Some(&json!("null")) || choice.get("const") == Some(&Value::Null)
}

/// Listed values in words.
fn one_of(values: &[&Value]) -> String {
    let said: Vec<String> = values.iter().take(MAX_SAID).map(ToString::to_string).collect();
    let more = values.len().saturating_sub(MAX_SAID);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("One of: {}{more}.", said.join(", "))
}

/// The kinds of values that a schema can accept, following alternatives up to `depth` levels; all
/// kinds if that does not determine them.
pub(super) fn possible(root: &Value, node: &Value, depth: usize) -> Kinds {
    let Some(map) = pointed(root, node).as_object() else { return Kinds::ALL };
    let mut kinds = match map.get("type") {
        Some(Value::Array(types)) => any_of(types, |name| name.as_str().map(Kinds::of_type)),
        _ => single_type(map).map_or(Kinds::ALL, Kinds::of_type),
    };
    kinds = kinds.both(any_of(list_member(map, "enum"), |value| Some(Kinds::of_value(value))));
    let Some(below) = depth.checked_sub(1) else { return kinds };
    if let Some(key) = alternatives_key(map) {
        let mut either = Kinds::NONE;
        for one in list_member(map, key) {
            either = either.and(possible(root, one, below));
        }
        kinds = kinds.both(either);
    }
    for member in list_member(map, "allOf") {
        kinds = kinds.both(possible(root, member, below));
    }
    kinds
}

/// The kinds of the elements that have one; all kinds if none has.
fn any_of(list: &[Value], kind: impl Fn(&Value) -> Option<Kinds>) -> Kinds {
    list.iter().filter_map(kind).reduce(Kinds::and).unwrap_or(Kinds::ALL)
}
