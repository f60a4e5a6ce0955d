//! A JSON Schema as Gemini's subset of OpenAPI 3.0 can say it.
//!
//! Source: `Schema` of the Gemini API reference (fields `type`, `format`, `description`, `nullable`, `enum`, `items`,
//! `properties`, `required`, `anyOf`, bounds), and the errors the API gives: an object must have properties, only strings
//! may have an enum, of string formats only `enum` and `date-time` pass, `anyOf` stands alone. An object without
//! properties is therefore asked for as text, which [`restore`] reads again. References are inlined, at most
//! [`MAX_NODES`] nodes of them, and cut where they run in circles. What is lost is said, and only ever widens.

mod merge;
mod text;

pub(in crate::wire) use text::restore;

use serde_json::{Map, Value, json};

use self::merge::{flatten, open_union};
use crate::schema::{Target, is_annotation, reference, resolve};

/// The most schema nodes one tool may have once its references are inlined.
const MAX_NODES: usize = 2_000;

/// How many references are inlined inside one another.
const MAX_INLINED: usize = 24;

/// How deep a schema may be once its references are inlined.
const MAX_NESTED: usize = 48;

/// What the description of an object asked for as text ends with.
pub(in crate::wire) const AS_TEXT: &str = "(a JSON object, written as text)";

/// Keywords that pass as they are.
const KEPT: [&str; 11] = [
    "description",
    "nullable",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
];

/// A schema in the subset, and what was changed for it.
pub(in crate::wire) struct Subset {
    /// The schema; nothing if there are no properties.
    pub(in crate::wire) schema: Option<Value>,
    pub(in crate::wire) changes: Vec<Change>,
}

/// A keyword that the subset cannot say, or says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::wire) struct Change {
    pub(in crate::wire) keyword: String,
    pub(in crate::wire) what: &'static str,
    /// Where it first stands, as a JSON Pointer into the schema.
    pub(in crate::wire) path: String,
    pub(in crate::wire) count: usize,
}

/// The parameters of a function.
pub(in crate::wire) fn parameters(root: &Value) -> Subset {
    let mut writer = Writer { root, changes: Vec::new(), nodes: 0, depth: 0, open: Vec::new() };
    let top = writer.inlined(root, "");
    let top = open_union(top, root, &mut |keyword| writer.changed(keyword, "is opened to all its properties", ""));
    let map = writer.object(&top, "");
    let empty = map.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    Subset { schema: (!empty).then_some(Value::Object(map)), changes: writer.changes }
}

struct Writer<'s> {
    root: &'s Value,
    changes: Vec<Change>,
    nodes: usize,
    depth: usize,
    /// The references being inlined.
    open: Vec<String>,
}

impl Writer<'_> {
    fn changed(&mut self, keyword: &str, what: &'static str, path: &str) {
        if let Some(known) = self.changes.iter_mut().find(|own| own.keyword == keyword && own.what == what) {
            known.count += 1;
            return;
        }
        self.changes.push(Change { keyword: keyword.to_owned(), what, path: path.to_owned(), count: 1 });
    }

    /// A node with its reference put in place and its `allOf` merged. Leaves the reference in where it runs in a circle.
    fn inlined(&mut self, node: &Value, path: &str) -> Map<String, Value> {
        let Some(map) = node.as_object() else { return Map::new() };
        let mut map = map.clone();
        for _ in 0..MAX_INLINED {
            let Some(target) = map.get("$ref").and_then(Value::as_str).map(str::to_owned) else { break };
            let Target::Found(found) = resolve(self.root, &target) else {
                self.changed("$ref", "leads nowhere and is left out", path);
                map.shift_remove("$ref");
                break;
            };
            if self.open.contains(&target) || self.nodes > MAX_NODES {
                break;
            }
            map.shift_remove("$ref");
            for (key, value) in found.as_object().into_iter().flatten() {
                map.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        let root = self.root;
        flatten(map, root, &mut |keyword, what| self.changed(keyword, what, path))
    }

    /// Writes a node below the top.
    fn node(&mut self, node: &Value, path: &str) -> Value {
        self.nodes += 1;
        let opened = reference(node).map(str::to_owned);
        let circle = opened.as_ref().is_some_and(|own| self.open.contains(own)) || self.nodes > MAX_NODES;
        if circle || self.open.len() > MAX_INLINED {
            self.changed("$ref", "runs in a circle or too far, and is cut to any object", path);
            return as_text(node.get("description"));
        }
        let map = self.inlined(node, path);
        let depth = self.open.len();
        self.open.extend(opened);
        let written = self.written(&map, path);
        self.open.truncate(depth);
        written
    }

    fn written(&mut self, map: &Map<String, Value>, path: &str) -> Value {
        if self.depth > MAX_NESTED {
            self.changed("type", "is nested too deeply, and is cut to any object", path);
            return as_text(map.get("description"));
        }
        self.depth += 1;
        let written = self.shallow(map, path);
        self.depth -= 1;
        written
    }

    fn shallow(&mut self, map: &Map<String, Value>, path: &str) -> Value {
        if let Some(union) = self.union(map, path) {
            return union;
        }
        match kind(map) {
            Some("object") => {
                let written = self.object(map, path);
                if written.contains_key("properties") {
                    return Value::Object(written);
                }
                self.changed("object", "without properties is asked for as text", path);
                as_text(map.get("description"))
            }
            Some("array") => self.array(map, path),
            Some(kind) => self.scalar(map, kind, path),
            None => {
                self.changed("type", "is not said: narrowed to text, number or boolean", path);
                self.branches(map, vec![json!({"type":"string"}), json!({"type":"number"}), json!({"type":"boolean"})])
            }
        }
    }

    /// A choice between schemas or types; nothing if there is none.
    fn union(&mut self, map: &Map<String, Value>, path: &str) -> Option<Value> {
        let key = ["anyOf", "oneOf"].into_iter().find(|key| map.get(*key).is_some_and(Value::is_array));
        let types = map.get("type").and_then(Value::as_array);
        let mut base = map.clone();
        let choices: Vec<Value> = match (key, types) {
            (Some(key), _) if !map.contains_key("properties") && !map.contains_key("enum") => {
                if key == "oneOf" {
                    self.changed("oneOf", "is said as `anyOf`", path);
                }
                base.shift_remove(key);
                map.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
            }
            (Some(key), _) => {
                self.changed(key, "beside properties or an enum is left out", path);
                base.shift_remove(key);
                return Some(self.written(&base, path));
            }
            (None, Some(types)) => {
                base.shift_remove("type");
                types.iter().map(|own| json!({"type": own})).collect()
            }
            (None, None) => return None,
        };
        let (nulls, choices): (Vec<Value>, Vec<Value>) = choices.into_iter().partition(is_null);
        if !nulls.is_empty() {
            base.insert("nullable".to_owned(), Value::Bool(true));
        }
        // Each choice with what stands beside it: `anyOf` must stand alone.
        let mut written: Vec<Value> = Vec::new();
        for choice in &choices {
            let mut own = self.inlined(choice, path);
            for (key, value) in &base {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
            let opened = reference(choice).map(str::to_owned);
            if opened.as_ref().is_some_and(|own| self.open.contains(own)) {
                own = Map::from_iter([("type".to_owned(), json!("object"))]);
            }
            self.nodes += 1;
            let depth = self.open.len();
            self.open.extend(opened);
            let one = if self.nodes > MAX_NODES { as_text(None) } else { self.written(&own, path) };
            self.open.truncate(depth);
            let flat = one.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![one]);
            for one in flat {
                if !written.contains(&one) {
                    written.push(one);
                }
            }
        }
        match written.len() {
            0 => {
                let nullable = base.contains_key("nullable");
                Some(if nullable { json!({"type": "string", "nullable": true}) } else { self.written(&base, path) })
            }
            1 => written.pop(),
            _ => Some(json!({"anyOf": written})),
        }
    }

    /// A choice made here, each branch with the words and the nullability of the whole.
    fn branches(&mut self, map: &Map<String, Value>, choices: Vec<Value>) -> Value {
        let with = |mut choice: Value| {
            for key in ["description", "nullable"] {
                if let (Some(own), Some(value)) = (choice.as_object_mut(), map.get(key)) {
                    own.insert(key.to_owned(), value.clone());
                }
            }
            choice
        };
        json!({"anyOf": choices.into_iter().map(with).collect::<Vec<_>>()})
    }

    fn object(&mut self, map: &Map<String, Value>, path: &str) -> Map<String, Value> {
        let mut out = Map::from_iter([("type".to_owned(), json!("object"))]);
        let mut properties = Map::new();
        for (name, node) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if node == &Value::Bool(false) {
                continue;
            }
            let written = self.node(node, &format!("{path}/properties/{}", escaped(name)));
            properties.insert(name.clone(), written);
        }
        let required: Vec<&Value> = map.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let known = |name: &&Value| name.as_str().is_some_and(|name| properties.contains_key(name));
        let required: Vec<Value> = required.into_iter().filter(known).cloned().collect();
        self.rest(map, &mut out, path, &["properties", "required", "type"]);
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
            if !required.is_empty() {
                out.insert("required".to_owned(), Value::Array(required));
            }
        }
        out
    }

    fn array(&mut self, map: &Map<String, Value>, path: &str) -> Value {
        let mut out = Map::from_iter([("type".to_owned(), json!("array"))]);
        self.rest(map, &mut out, path, &["items", "prefixItems", "type"]);
        let below = format!("{path}/items");
        let tuple = map.get("prefixItems").or_else(|| map.get("items")).and_then(Value::as_array);
        let items = if let Some(places) = tuple {
            self.changed("prefixItems", "is said as any of its items", path);
            self.node(&json!({"anyOf": places}), &below)
        } else {
            self.node(map.get("items").unwrap_or(&Value::Bool(true)), &below)
        };
        out.insert("items".to_owned(), items);
        Value::Object(out)
    }

    fn scalar(&mut self, map: &Map<String, Value>, kind: &str, path: &str) -> Value {
        let mut out = Map::from_iter([("type".to_owned(), json!(kind))]);
        self.rest(map, &mut out, path, &["type", "enum", "const", "format"]);
        if map.contains_key("const") {
            self.changed("const", "is said as an enum of one", path);
        }
        let listed = map.get("enum").and_then(Value::as_array).cloned();
        let listed = listed.or_else(|| map.get("const").map(|only| vec![only.clone()])).unwrap_or_default();
        let texts: Vec<&Value> =
            listed.iter().filter(|value| value.as_str().is_some_and(|text| !text.is_empty())).collect();
        if listed.iter().any(Value::is_null) {
            out.insert("nullable".to_owned(), Value::Bool(true));
        }
        if kind == "string" && !texts.is_empty() {
            if texts.len() + listed.iter().filter(|value| value.is_null()).count() < listed.len() {
                self.changed("enum", "loses what is no text, or empty", path);
            }
            out.insert("enum".to_owned(), json!(texts));
        } else if !listed.is_empty() {
            self.changed("enum", "is said in the description: only texts may have one", path);
            let values: Vec<String> = listed.iter().take(40).map(Value::to_string).collect();
            say(&mut out, &format!("One of: {}.", values.join(", ")));
        }
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
        Value::Object(out)
    }

    /// What passes as it is; what does not is noted, unless it is only words, or definitions already put in place.
    fn rest(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &str, handled: &[&str]) {
        for (key, value) in map {
            let key = key.as_str();
            if handled.contains(&key) {
                continue;
            }
            let bound = key.starts_with("min") || key.starts_with("max");
            if KEPT.contains(&key) && (!bound || value.is_number()) {
                out.insert(key.to_owned(), value.clone());
            } else if key == "default" || !is_annotation(key) && !is_definition(key) {
                self.changed(key, "is left out", path);
            }
        }
    }
}

/// Whether a keyword only keeps schemas or names them.
fn is_definition(key: &str) -> bool {
    matches!(key, "$defs" | "definitions" | "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$vocabulary" | "$ref")
}

/// The type of a schema, said or implied.
fn kind(map: &Map<String, Value>) -> Option<&str> {
    let said = map.get("type").and_then(Value::as_str).filter(|own| *own != "null");
    let said = said.map(|own| match own {
        "object" | "array" | "string" | "number" | "integer" | "boolean" => own,
        _ => "string",
    });
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    let first = map.get("enum").and_then(Value::as_array).and_then(|all| all.first()).or_else(|| map.get("const"));
    said.or(match first {
        Some(Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_)) => Some("string"),
        Some(Value::Number(_)) => Some("number"),
        Some(Value::Bool(_)) => Some("boolean"),
        None if has(&["properties", "additionalProperties", "patternProperties"]) => Some("object"),
        None if has(&["items", "prefixItems"]) => Some("array"),
        None if has(&["pattern", "minLength", "maxLength", "format"]) => Some("string"),
        None if has(&["minimum", "maximum", "multipleOf"]) => Some("number"),
        None => None,
    })
}

fn is_null(choice: &Value) -> bool {
    choice.get("type").and_then(Value::as_str) == Some("null") || choice.get("const").is_some_and(Value::is_null)
}

/// An object that can be anything, asked for as text.
fn as_text(description: Option<&Value>) -> Value {
    let mut out = Map::from_iter([("type".to_owned(), json!("string"))]);
    if let Some(words) = description.filter(|words| words.is_string()) {
        out.insert("description".to_owned(), words.clone());
    }
    say(&mut out, AS_TEXT);
    Value::Object(out)
}

/// Adds to a description.
fn say(out: &mut Map<String, Value>, words: &str) {
    let before = out.get("description").and_then(Value::as_str).unwrap_or_default();
    let gap = if before.is_empty() { "" } else { " " };
    let text = format!("{before}{gap}{words}");
    out.insert("description".to_owned(), Value::String(text));
}

/// A name as a step of a JSON Pointer. Source: RFC 6901.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
