//! Converts a JSON Schema to Gemini's subset of OpenAPI 3.0.
//!
//! Source: `Schema` of the Gemini API reference (fields `type`, `format`, `description`,
//! `nullable`, `enum`, `items`, `properties`, `required`, `anyOf`, bounds), and the errors of the
//! API: an object must have properties, only strings may have an enum, only the string formats
//! `enum` and `date-time` are accepted, `anyOf` must be alone. Values that cannot be expressed
//! otherwise (an object without properties, a cycle of references, listed objects) are requested as
//! JSON text. The writer records each such place, and [`Subset::restore`] parses by that record
//! alone. If a string could be both a plain value and JSON text, the object is left out, so that a
//! string is always a plain value there.
//!
//! References are inlined, and cycles are cut. Losses are reported.

mod choice;
mod read_back;
mod weight;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::choice::{alternatives_key, possible};
use self::read_back::{Kinds, ReadBack, Step};
use self::weight::{weight, weight_of_all};
use crate::schema::{
    flattened, follow, is_annotation, list_member, merge, object_member, pointed, pointer_token, role, single_type,
    text_member,
};

/// The number of passes over a schema that resolve one level each. Real schemas need at most two.
const MAX_PASSES: usize = 4;

/// The maximum number of schema nodes of a tool after inlining references.
const MAX_NODES: usize = 2_000;

/// The maximum depth of a schema after inlining references.
const MAX_NESTED: usize = 48;

/// The maximum number of values that are copied for one tool; a string counts as one per 64
/// bytes. Prevents a large definition with many references from being written often.
const MAX_WORK: usize = 1_000_000;

/// Keywords that are copied unchanged.
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

/// A schema in the subset, the changes made for it, and how to read arguments written by it.
pub(in crate::wire) struct Subset {
    /// The schema; `None` if there are no properties.
    pub(in crate::wire) schema: Option<Value>,
    pub(in crate::wire) changes: Vec<Change>,
    read_back: ReadBack,
}

/// A keyword that the subset lacks or expresses differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::wire) struct Change {
    pub(in crate::wire) keyword: String,
    pub(in crate::wire) what: &'static str,
    /// Its first occurrence, as a JSON Pointer into the schema.
    pub(in crate::wire) path: String,
    pub(in crate::wire) count: usize,
}

impl Subset {
    /// Converts the parameters of a function.
    pub(in crate::wire) fn of_parameters(root: &Value) -> Self {
        let mut plain = BTreeSet::new();
        let mut passes = 0;
        loop {
            let mut writer = Writer::new(root, plain);
            let (map, read_back) = writer.top();
            let ambiguous = read_back.ambiguous();
            passes += 1;
            if ambiguous.is_subset(&writer.plain) {
                let schema = map.contains_key("properties").then_some(Value::Object(map));
                return Self { schema, changes: writer.changes, read_back };
            }
            // Writes again, without requesting JSON text where a string may be a plain value. An
            // object that loses all its properties by this would be requested as text itself, which
            // may be ambiguous one level above: after some passes, for all levels at once.
            plain = writer.plain;
            for place in ambiguous {
                let first = if passes < MAX_PASSES { place.len() } else { 0 };
                for end in first..=place.len() {
                    plain.extend(place.get(..end).map(<[Step]>::to_vec));
                }
            }
        }
    }

    /// Converts arguments written by the schema to those of the tool: JSON text is parsed where it
    /// was requested. A string that does not match the request is unchanged.
    pub(in crate::wire) fn restore(&self, arguments: Value) -> Value {
        self.read_back.restored(arguments)
    }
}

/// A written schema, and how to read values at its place.
struct Written {
    schema: Value,
    back: ReadBack,
}

struct Writer<'s> {
    root: &'s Value,
    /// The places where JSON text must not be requested.
    plain: BTreeSet<Vec<Step>>,
    changes: Vec<Change>,
    nodes: usize,
    depth: usize,
    work: usize,
    /// The schemas that are being inlined, for comparison only.
    open: Vec<*const Map<String, Value>>,
    /// The current place in the arguments.
    at: Vec<Step>,
}

impl<'s> Writer<'s> {
    fn new(root: &'s Value, plain: BTreeSet<Vec<Step>>) -> Self {
        let (changes, open, at) = (Vec::new(), Vec::new(), Vec::new());
        Self { root, plain, changes, nodes: 0, depth: 0, work: 0, open, at }
    }

    fn changed(&mut self, keyword: &str, what: &'static str, path: &str) {
        for known in &mut self.changes {
            if known.keyword == keyword && known.what == what {
                known.count += 1;
                return;
            }
        }
        self.changes.push(Change { keyword: keyword.to_owned(), what, path: path.to_owned(), count: 1 });
    }

    /// Writes the arguments object. If only its alternatives have properties, it accepts all of
    /// them and requires none.
    fn top(&mut self) -> (Map<String, Value>, ReadBack) {
        let mut map = self.inlined_schema(self.root, "");
        let is_named = object_member(&map, "properties").is_some_and(|own| !own.is_empty());
        if let Some(key) = alternatives_key(&map)
            && !is_named
        {
            let mut all: Map<String, Value> = Map::new();
            let Some(Value::Array(choices)) = map.shift_remove(key) else { return self.object(&map, "") };
            for choice in &choices {
                let Some(Value::Object(own)) = self.inlined_schema(choice, "").shift_remove("properties") else {
                    continue;
                };
                for (name, node) in own {
                    // Different schemas of the alternatives for one property become alternatives of
                    // that property.
                    match all.get_mut(&name) {
                        None => drop(all.insert(name, node)),
                        Some(known) if *known == node => {}
                        Some(known) => *known = json!({"anyOf": [known.take(), node]}),
                    }
                }
            }
            self.changed(key, "is opened to all its properties", "");
            map.insert("properties".to_owned(), Value::Object(all));
        }
        self.object(&map, "")
    }

    /// A schema with its references inlined and its `allOf` merged.
    fn inlined_schema(&mut self, node: &Value, path: &str) -> Map<String, Value> {
        let chain = follow(self.root, node);
        let mut clashes = Vec::new();
        let mut map = Map::new();
        for layer in &chain.layers {
            self.work += weight_of_all(layer);
            let mut layer: Map<String, Value> = (*layer).clone();
            layer.shift_remove("$ref");
            // Siblings of a reference apply too.
            merge(&mut map, layer, &mut |keyword| clashes.push(keyword.to_owned()));
        }
        if chain.broken.is_some() {
            self.changed("$ref", "leads nowhere and is left out", path);
        }
        for member in list_member(&map, "allOf") {
            for layer in follow(self.root, member).layers {
                self.work += weight_of_all(layer);
            }
        }
        if self.work > MAX_WORK {
            return Map::new();
        }
        let map = flattened(self.root, map, &mut |keyword| clashes.push(keyword.to_owned()));
        for keyword in clashes {
            self.changed(&keyword, "is given twice: the first one is used", path);
        }
        map
    }

    /// Writes a schema below the top, with the members in `beside` where it has none. `None` if no
    /// value can satisfy it.
    fn node(&mut self, node: &Value, beside: &Map<String, Value>, path: &str) -> Option<Written> {
        self.nodes += 1;
        let targets = self.targets(node);
        let circle = targets.iter().any(|target| self.open.contains(target));
        if circle || self.nodes > MAX_NODES || self.work > MAX_WORK || self.depth > MAX_NESTED {
            return self.cut_schema(node, beside, path);
        }
        let mut map = self.inlined_schema(node, path);
        for (key, value) in beside {
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
        let opened = self.open.len();
        self.open.extend(targets);
        self.depth += 1;
        let written = self.shallow(&map, path);
        self.depth -= 1;
        self.open.truncate(opened);
        written
    }

    /// The schemas that a schema refers to, directly or in its `allOf`.
    fn targets(&self, node: &Value) -> Vec<*const Map<String, Value>> {
        let chain = follow(self.root, node);
        let mut layers = Vec::new();
        for member in chain.end().map_or(&[][..], |map| list_member(map, "allOf")) {
            layers.extend(follow(self.root, member).layers.into_iter().skip(1));
        }
        layers.extend(chain.layers.into_iter().skip(1));
        layers.into_iter().map(std::ptr::from_ref).collect()
    }

    /// Writes a schema that is not followed further: JSON text of the accepted kinds, or a plain
    /// string if it accepts strings.
    fn cut_schema(&mut self, node: &Value, beside: &Map<String, Value>, path: &str) -> Option<Written> {
        let kinds = possible(self.root, node, 4);
        let takes_text = !kinds.both(Kinds::STRING).is_empty();
        let what = match kinds {
            Kinds::OBJECT => "runs in a circle or too far, and is cut to any object",
            _ if takes_text => "runs in a circle or too far, and is cut to a text",
            _ => "runs in a circle or too far, and is cut to JSON written as text",
        };
        self.changed("$ref", what, path);
        let mut words = beside.clone();
        let target = pointed(self.root, node);
        if self.work <= MAX_WORK
            && let Some(text) = node.get("description").or_else(|| target.get("description"))
        {
            self.work += weight(text);
            words.insert("description".to_owned(), text.clone());
        }
        if takes_text {
            return Some(Written { schema: Value::Object(text_schema(&words, "")), back: ReadBack::any_string() });
        }
        self.as_text(kinds, &words, path)
    }

    fn shallow(&mut self, map: &Map<String, Value>, path: &str) -> Option<Written> {
        if let Some(choices) = self.choices(map, path) {
            return self.union(choices, path);
        }
        let kind = single_type(map);
        let shaped = kind == Some("object") && map.contains_key("properties");
        if (map.contains_key("enum") || map.contains_key("const")) && !shaped {
            return self.listed_values(map, path);
        }
        match kind {
            Some("object") => {
                let (written, back) = self.object(map, path);
                if written.contains_key("properties") {
                    return Some(Written { schema: Value::Object(written), back });
                }
                self.changed("object", "without properties is asked for as text", path);
                self.as_text(Kinds::OBJECT, map, path)
            }
            Some("array") => self.array_schema(map, path),
            Some(kind) => Some(self.scalar(map, kind, path)),
            None => Some(self.any(map, path)),
        }
    }

    /// Requests JSON as text, unless a string there could be a plain value.
    fn as_text(&mut self, kinds: Kinds, words: &Map<String, Value>, path: &str) -> Option<Written> {
        if self.plain.contains(&self.at) {
            self.changed("object", "is indistinguishable from the string allowed there, and is left out", path);
            return None;
        }
        let ask = match kinds {
            Kinds::OBJECT => AS_TEXT,
            Kinds::ARRAY => "(a JSON array, written as text)",
            _ => "(JSON, written as text)",
        };
        Some(Written { schema: Value::Object(text_schema(words, ask)), back: ReadBack::requested_as_text(kinds) })
    }

    fn object(&mut self, map: &Map<String, Value>, path: &str) -> (Map<String, Value>, ReadBack) {
        let mut out = Map::from_iter([("type".to_owned(), json!("object"))]);
        let (mut properties, mut back) = (Map::new(), ReadBack::default());
        for (name, node) in object_member(map, "properties").into_iter().flatten() {
            if node == &Value::Bool(false) {
                continue;
            }
            self.at.push(Step::Property(name.clone()));
            let below = format!("{path}/properties/{}", pointer_token(name));
            let written = self.node(node, &Map::new(), &below);
            self.at.pop();
            if let Some(written) = written {
                properties.insert(name.clone(), written.schema);
                back.properties.insert(name.clone(), written.back);
            }
        }
        let mut required = list_member(map, "required").to_vec();
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
        self.rest(map, &mut out, path, &["properties", "required", "type"]);
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
            if !required.is_empty() {
                out.insert("required".to_owned(), Value::Array(required));
            }
        }
        (out, back)
    }

    fn array_schema(&mut self, map: &Map<String, Value>, path: &str) -> Option<Written> {
        let mut out = Map::from_iter([("type".to_owned(), json!("array"))]);
        self.rest(map, &mut out, path, &["items", "prefixItems", "type"]);
        let below = format!("{path}/items");
        let tuple = match map.get("prefixItems").or(map.get("items")) {
            Some(Value::Array(places)) => Some(places),
            _ => None,
        };
        self.at.push(Step::Item);
        let items = if let Some(places) = tuple {
            self.changed("prefixItems", "is written as any of its items", path);
            // After the items of a tuple, any value that `items` (or `additionalItems`) accepts may
            // follow.
            let rest = if map.contains_key("prefixItems") { map.get("items") } else { map.get("additionalItems") };
            let mut choices = Vec::from_iter(places);
            choices.extend(rest.filter(|rest| rest.is_object()));
            self.node(&json!({"anyOf": choices}), &Map::new(), &below)
        } else {
            self.node(map.get("items").unwrap_or(&Value::Bool(true)), &Map::new(), &below)
        };
        self.at.pop();
        let items = items?;
        out.insert("items".to_owned(), items.schema);
        let back = ReadBack { items: Some(Box::new(items.back)), ..ReadBack::default() };
        Some(Written { schema: Value::Object(out), back })
    }

    /// Copies supported keywords. Others are noted, except annotations and inlined definitions.
    fn rest(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>, path: &str, handled: &[&str]) {
        use crate::schema::Role::{Definitions, Identity, Reference};
        for (key, value) in map {
            let key = key.as_str();
            if handled.contains(&key) {
                continue;
            }
            let bound = key.starts_with("min") || key.starts_with("max");
            if KEPT.contains(&key) && (!bound || value.is_number()) {
                out.insert(key.to_owned(), value.clone());
            } else if key == "default"
                || !is_annotation(key) && !matches!(role(key), Definitions | Identity | Reference)
            {
                self.changed(key, "is left out", path);
            }
        }
    }
}

/// The suffix of the description of an object that is requested as text.
const AS_TEXT: &str = "(a JSON object, written as text)";

/// A string with the annotations and nullability of the value that it represents.
fn text_schema(words: &Map<String, Value>, ask: &str) -> Map<String, Value> {
    let mut out = Map::from_iter([("type".to_owned(), json!("string"))]);
    for key in ["description", "nullable"] {
        if let Some(value) = words.get(key).filter(|value| value.is_string() || value.is_boolean()) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    if !ask.is_empty() {
        say(&mut out, ask);
    }
    out
}

/// Appends to a description.
fn say(out: &mut Map<String, Value>, words: &str) {
    let before = text_member(out, "description").unwrap_or_default();
    let gap = if before.is_empty() { "" } else { " " };
    let text = format!("{before}{gap}{words}");
    out.insert("description".to_owned(), Value::String(text));
}
