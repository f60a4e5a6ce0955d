//! The facts about a sent array that limits refer to.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::wire::Wire;

/// The facts about an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedFacts {
    /// The number of counted entries: those of the array, or Gemini's function declarations.
    pub entries: usize,
    /// The tools, including those inside namespaces. Entries of other kinds are only counted.
    pub tools: Vec<ToolFacts>,
    /// The namespaces, each with its number of functions.
    pub namespaces: Vec<(String, usize)>,
}

/// The facts about a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFacts {
    /// The name as sent.
    pub name: String,
    /// The length of the description, in characters.
    pub description: usize,
    /// The top-level parameters of the schema.
    pub keys: Vec<String>,
    /// Whether the tool is `strict`.
    pub strict: bool,
}

impl RenderedFacts {
    /// Reads an array as a conversation writes it. Of the schemas only the names of their
    /// parameters are read. An entry of another format is only counted.
    ///
    /// # Errors
    /// Fails if the text is not a JSON array.
    pub fn read_array(wire: Wire, array: &str) -> Result<Self, serde_json::Error> {
        let mut facts = Self::default();
        for raw in serde_json::from_str::<Vec<&RawValue>>(array)? {
            let Some(entry) = entry(raw) else {
                facts.entries += 1;
                continue;
            };
            let inside = array_elements(entry.tools)
                .chain(array_elements(entry.declarations))
                .filter_map(|raw| tool_facts(self::entry(raw)?));
            let inside: Vec<ToolFacts> = inside.collect();
            facts.entries += if wire == Wire::Gemini { array_elements(entry.declarations).count() } else { 1 };
            if string_value(entry.kind).as_deref() == Some("namespace") {
                facts.namespaces.extend(string_value(entry.name).map(|name| (name, inside.len())));
            }
            facts.tools.extend(inside);
            facts.tools.extend(tool_facts(entry));
        }
        Ok(facts)
    }
}

/// The relevant keys of an entry, with any values.
#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'t RawValue>,
    #[serde(borrow)]
    name: Option<&'t RawValue>,
    #[serde(borrow)]
    description: Option<&'t RawValue>,
    #[serde(borrow)]
    strict: Option<&'t RawValue>,
    #[serde(borrow)]
    function: Option<&'t RawValue>,
    #[serde(borrow, alias = "parametersJsonSchema", alias = "input_schema", alias = "inputSchema")]
    parameters: Option<&'t RawValue>,
    #[serde(borrow)]
    tools: Option<&'t RawValue>,
    #[serde(borrow, rename = "functionDeclarations")]
    declarations: Option<&'t RawValue>,
}

/// The relevant keys of a schema.
#[derive(Deserialize)]
struct Schema<'t> {
    #[serde(borrow)]
    properties: Option<&'t RawValue>,
}

/// Reads an entry; `None` if the value is not an object.
fn entry(raw: &RawValue) -> Option<Entry<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// The facts of an entry as a tool; `None` if it has no name or is a tool that the provider runs.
fn tool_facts(entry: Entry<'_>) -> Option<ToolFacts> {
    if !matches!(string_value(entry.kind).as_deref(), None | Some("function" | "custom")) {
        return None;
    }
    let own = match entry.function {
        Some(function) => self::entry(function)?,
        None => entry,
    };
    let schema = own.parameters.and_then(|raw| serde_json::from_str::<Schema<'_>>(raw.get()).ok());
    let properties = schema.and_then(|schema| schema.properties);
    let keys = properties.and_then(|raw| serde_json::from_str::<IndexMap<String, IgnoredAny>>(raw.get()).ok());
    Some(ToolFacts {
        name: string_value(own.name)?,
        description: string_value(own.description).map_or(0, |text| text.chars().count()),
        keys: keys.into_iter().flatten().map(|(key, _)| key).collect(),
        strict: own.strict.is_some_and(|raw| raw.get() == "true"),
    })
}

/// Reads a string; `None` for any other value.
fn string_value(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// Reads the elements of an array; none for any other value.
fn array_elements(raw: Option<&RawValue>) -> impl Iterator<Item = &RawValue> {
    raw.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()).into_iter().flatten()
}
