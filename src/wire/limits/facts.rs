//! What limits are about, read from an array as it is sent.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::wire::Wire;

/// What limits are about in one array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedFacts {
    /// Entries that count: those of the array, or Gemini's function declarations.
    pub entries: usize,
    /// The tools, those inside namespaces among them. Entries of other kinds are only counted.
    pub tools: Vec<ToolFacts>,
    /// The namespaces, each with its number of functions.
    pub namespaces: Vec<(String, usize)>,
}

/// What limits are about in one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFacts {
    /// The name as it is sent.
    pub name: String,
    /// The length of the description, in characters.
    pub description: usize,
    /// The parameters at the top of the schema.
    pub keys: Vec<String>,
    /// Whether it is `strict`.
    pub strict: bool,
}

impl RenderedFacts {
    /// Reads an array as a conversation writes it. Schemas are passed over but for the names of their parameters. An entry
    /// of another shape is only counted.
    ///
    /// # Errors
    /// The text is not a JSON array.
    pub fn read(wire: Wire, array: &str) -> Result<Self, serde_json::Error> {
        let mut facts = Self::default();
        for raw in serde_json::from_str::<Vec<&RawValue>>(array)? {
            let Some(entry) = entry(raw) else {
                facts.entries += 1;
                continue;
            };
            let inside = list(entry.tools).chain(list(entry.declarations)).filter_map(|raw| tool(self::entry(raw)?));
            let inside: Vec<ToolFacts> = inside.collect();
            facts.entries += if wire == Wire::Gemini { list(entry.declarations).count() } else { 1 };
            if text(entry.kind).as_deref() == Some("namespace") {
                facts.namespaces.extend(text(entry.name).map(|name| (name, inside.len())));
            }
            facts.tools.extend(inside);
            facts.tools.extend(tool(entry));
        }
        Ok(facts)
    }
}

/// The keys of an entry that matter, whatever they hold.
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

/// The keys of a schema that matter.
#[derive(Deserialize)]
struct Schema<'t> {
    #[serde(borrow)]
    properties: Option<&'t RawValue>,
}

/// The entry that a value holds; `None` if it is no object.
fn entry(raw: &RawValue) -> Option<Entry<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// What an entry says as a tool; `None` where it has no name or is of a kind that the provider runs.
fn tool(entry: Entry<'_>) -> Option<ToolFacts> {
    if !matches!(text(entry.kind).as_deref(), None | Some("function" | "custom")) {
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
        name: text(own.name)?,
        description: text(own.description).map_or(0, |text| text.chars().count()),
        keys: keys.into_iter().flatten().map(|(key, _)| key).collect(),
        strict: own.strict.is_some_and(|raw| raw.get() == "true"),
    })
}

/// The text that a value holds; `None` if it is another value.
fn text(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// The elements that a value holds; none if it is no array.
fn list(raw: Option<&RawValue>) -> impl Iterator<Item = &RawValue> {
    raw.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()).into_iter().flatten()
}
