//! What a folded schema hides of each parameter.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use toolfold::schema::{dereferenced, properties, required};

/// The maximum depth of nested objects that are compared.
const MAX_DEPTH: usize = 6;

/// A parameter that is hidden at least partly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Guess {
    /// The parameter.
    pub parameter: String,
    /// Whether a call requires it.
    pub required: bool,
    /// What is hidden.
    pub hides: Vec<Hidden>,
    /// The hint that remains of its description, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A property of a parameter that can be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hidden {
    /// Its existence.
    Name,
    /// Its listed values.
    Enum,
    /// The form of a string: `format`, `pattern`, or bounds.
    Format,
    /// Its default.
    Default,
    /// The properties of an object, or the items of a list.
    Shape,
    /// Its description, or most of it.
    Description,
}

impl Hidden {
    /// The name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Enum => "enum",
            Self::Format => "format",
            Self::Default => "default",
            Self::Shape => "shape",
            Self::Description => "description",
        }
    }
}

/// Keywords that constrain the form of a value.
const FORMATS: [&str; 10] = [
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

pub(super) fn guesses(whole: &Value, shown: &Value) -> Vec<Guess> {
    let needed: Vec<&str> = required(whole).collect();
    let none = Map::new();
    let (all, kept) = (properties(whole).unwrap_or(&none), properties(shown).unwrap_or(&none));
    let mut guesses = Vec::new();
    for (name, node) in all {
        let own = dereferenced(whole, node);
        let folded = kept.get(name).map(|node| dereferenced(shown, node));
        let hides = match &folded {
            None => vec![Hidden::Name],
            Some(folded) => hidden((whole, &own), (shown, folded)),
        };
        let hint = match &folded {
            Some(map) if hides.contains(&Hidden::Description) => description_of(map).map(str::to_owned),
            _ => None,
        };
        let required = needed.contains(&name.as_str());
        if !hides.is_empty() {
            guesses.push(Guess { parameter: name.clone(), required, hides, hint });
        }
    }
    guesses
}

fn description_of(map: &Map<String, Value>) -> Option<&str> {
    map.get("description")?.as_str().filter(|text| !text.is_empty())
}

/// What the second of two forms of a schema hides of the first. Each is paired with its document.
fn hidden((whole, own): (&Value, &Map<String, Value>), (shown, folded): (&Value, &Map<String, Value>)) -> Vec<Hidden> {
    let lost = |key: &str| own.contains_key(key) && !folded.contains_key(key);
    let (before, after) = (shape(whole, own, MAX_DEPTH), shape(shown, folded, MAX_DEPTH));
    let mut hides = Vec::new();
    if before.enums > after.enums || lost("const") {
        hides.push(Hidden::Enum);
    }
    if FORMATS.iter().any(|key| lost(key)) {
        hides.push(Hidden::Format);
    }
    if lost("default") && own.get("default") != Some(&Value::Null) {
        hides.push(Hidden::Default);
    }
    if before.names > after.names {
        hides.push(Hidden::Shape);
    }
    if description_of(own) != description_of(folded) {
        hides.push(Hidden::Description);
    }
    hides
}

#[derive(Default)]
struct Shape {
    names: usize,
    enums: usize,
}

/// Counts nested properties and lists of values, down to a limited depth.
fn shape(root: &Value, map: &Map<String, Value>, depth: usize) -> Shape {
    let mut all = Shape { names: 0, enums: usize::from(map.contains_key("enum")) };
    if depth == 0 {
        return all;
    }
    let mut nodes: Vec<&Value> = ["items", "additionalProperties"].iter().filter_map(|key| map.get(*key)).collect();
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(list)) = map.get(key) {
            nodes.extend(list);
        }
    }
    if let Some(Value::Object(named)) = map.get("properties") {
        all.names += named.len();
        nodes.extend(named.values());
    }
    for node in nodes {
        let inner = shape(root, &dereferenced(root, node), depth - 1);
        all.names += inner.names;
        all.enums += inner.enums;
    }
    all
}
