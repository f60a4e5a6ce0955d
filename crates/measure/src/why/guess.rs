//! What a folded schema hides of each parameter.

use serde::Serialize;
use serde_json::{Map, Value};

use toolfold::schema::{dereferenced, required, top};

/// The maximum depth of nested objects that are compared.
const MAX_DEPTH: usize = 6;

/// A parameter that is hidden at least partly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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

/// What `shown` hides of the parameters of `whole`.
pub(super) fn guesses(whole: &Value, shown: &Value) -> Vec<Guess> {
    let needed: Vec<&str> = required(whole).collect();
    let named = |root: &Value| top(root).get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let (all, kept) = (named(whole), named(shown));
    let guess = |(name, node): (&String, &Value)| {
        let own = dereferenced(whole, node);
        let folded = kept.get(name).map(|node| dereferenced(shown, node));
        let hides = match &folded {
            None => vec![Hidden::Name],
            Some(folded) => hidden((whole, &own), (shown, folded)),
        };
        let hint = folded.as_ref().and_then(|map| description_of(map)).filter(|_| hides.contains(&Hidden::Description));
        let required = needed.contains(&name.as_str());
        (!hides.is_empty()).then(|| Guess { parameter: name.clone(), required, hides, hint: hint.map(str::to_owned) })
    };
    all.iter().filter_map(guess).collect()
}

fn description_of(map: &Map<String, Value>) -> Option<&str> {
    map.get("description").and_then(Value::as_str).filter(|text| !text.is_empty())
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

/// The amount of nested structure in a schema.
#[derive(Default)]
struct Shape {
    names: usize,
    enums: usize,
}

/// Counts the names of nested properties and the lists of values, following references to a limited
/// depth.
fn shape(root: &Value, map: &Map<String, Value>, depth: usize) -> Shape {
    let mut all = Shape { names: 0, enums: usize::from(map.contains_key("enum")) };
    if depth == 0 {
        return all;
    }
    let mut add = |node: &Value| {
        let inner = shape(root, &dereferenced(root, node), depth - 1);
        all.names += inner.names;
        all.enums += inner.enums;
    };
    for key in ["anyOf", "oneOf", "allOf"] {
        map.get(key).and_then(Value::as_array).into_iter().flatten().for_each(&mut add);
    }
    for key in ["items", "additionalProperties"] {
        map.get(key).into_iter().for_each(&mut add);
    }
    let named = map.get("properties").and_then(Value::as_object);
    named.into_iter().flat_map(|named| named.values()).for_each(&mut add);
    all.names += named.map_or(0, Map::len);
    all
}
