//! The facts about a sent array that limits refer to.

use serde_json::{Map, Value};

use crate::catalog::Foreign;
use crate::schema::{object_member, text_member};
use crate::wire::out::OutTool;

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

impl ToolFacts {
    /// The facts about a tool of an array. `strict`: the API has strict tools.
    pub(in crate::wire) fn of(tool: &OutTool<'_>, strict: bool) -> Self {
        let parameters = tool.folded.parameters();
        let properties = object_member(&*parameters, "properties");
        Self {
            name: tool.name.to_owned(),
            description: tool.description().chars().count(),
            keys: properties.into_iter().flat_map(Map::keys).cloned().collect(),
            strict: strict && tool.strict,
        }
    }

    /// The facts about an entry that is not folded; `None` if it has no name or is a tool that the
    /// provider runs.
    pub(in crate::wire) fn of_foreign(foreign: &Foreign) -> Option<Self> {
        if !matches!(&*foreign.label, "function" | "custom") {
            return None;
        }
        let entry: Value = serde_json::from_str(&foreign.text).ok()?;
        let description = text_member(&entry, "description").unwrap_or_default();
        Some(Self {
            name: foreign.name.as_deref()?.to_owned(),
            description: description.chars().count(),
            ..Self::default()
        })
    }
}
