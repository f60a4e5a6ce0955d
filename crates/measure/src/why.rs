//! `why`: the cost of one tool's parts, and what each detail hides.
//!
//! The figures are for one tool; `report` measures the saving over the whole list. This command
//! shows parameter by parameter what a detail hides from the model, because a call that omits a
//! hidden parameter is valid but wrong.

mod guess;

pub use guess::{Guess, Hidden};

use schemars::JsonSchema;
use serde::Serialize;

use toolfold::catalog::Tool;
use toolfold::profile::{Detail, Folded};
use toolfold::tokens::CountError;

use crate::parts::{Measurer, Part, chat_value};

/// The name of the contract, in every answer.
pub const CONTRACT: &str = "toolfold.why/1";

/// The cost of one tool by part and by detail. Every figure is in tokens of the meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "toolfold.why/1")]
#[non_exhaustive]
pub struct Why {
    /// Always `toolfold.why/1`.
    pub schema: &'static str,
    /// The tool.
    pub tool: String,
    /// The tier in the profile; absent if the profile is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<&'static str>,
    /// The category that it expands with; absent if the profile is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The meter.
    pub meter: String,
    /// The full tool: the block with it minus the block without it.
    pub tokens: usize,
    /// Its parts, most expensive first. They do not add up: the remainder is the tool's structure.
    pub parts: Vec<Part>,
    /// Members of the tool that no provider sends to a model.
    pub not_billed: Vec<NotBilled>,
    /// Every detail, richest first. Detail `index` is omitted: it is only a name in a line of
    /// `expand_tools`.
    pub details: Vec<DetailCost>,
}

/// A member of the tool that costs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct NotBilled {
    /// Its key.
    pub name: String,
    /// Its size in bytes of compact JSON.
    pub bytes: usize,
}

/// The cost of a tool at a detail, and what a model must guess.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DetailCost {
    /// The requested detail.
    pub detail: &'static str,
    /// The actual detail: folding that saves nothing, or less than it hides, is not done.
    pub shown_as: &'static str,
    /// The cost of the tool.
    pub tokens: usize,
    /// The description at this detail.
    pub description: String,
    /// The parameters that are hidden at least partly, in the order of the schema.
    pub guesses: Vec<Guess>,
}

/// Measures one tool. `summary` is its sentence in the profile, if any.
///
/// # Errors
/// Returns a [`CountError`] if the meter cannot count it.
pub fn why(measurer: &Measurer<'_>, tool: &Tool, summary: Option<&str>) -> Result<Why, CountError> {
    let whole = Folded::new(tool, Detail::Full, None);
    let mut details = Vec::new();
    for detail in [Detail::Full, Detail::Signature, Detail::Outline, Detail::Required, Detail::Summary] {
        let folded = Folded::new(tool, detail, summary);
        details.push(DetailCost {
            detail: detail.name(),
            shown_as: folded.detail.name(),
            tokens: measurer.one(&chat_value(&folded))?,
            description: folded.description.clone().into_owned(),
            guesses: guess::guesses(tool.parameters(), &folded.parameters()),
        });
    }
    Ok(Why {
        schema: CONTRACT,
        tool: tool.name().to_string(),
        tier: None,
        category: None,
        meter: measurer.meter().to_string(),
        tokens: measurer.one(&chat_value(&whole))?,
        parts: measurer.parts(tool, 1)?,
        not_billed: not_billed(tool),
        details,
    })
}

/// Members of the tool that only clients read. Source: `docs/wires.md`.
fn not_billed(tool: &Tool) -> Vec<NotBilled> {
    let mut members = Vec::new();
    if let Some(title) = tool.title() {
        members.push(NotBilled { name: "title".to_owned(), bytes: title.len() + 2 });
    }
    if let Some(hints) = tool.annotations() {
        let bytes = serde_json::to_string(hints).unwrap_or_default().len();
        members.push(NotBilled { name: "annotations".to_owned(), bytes });
    }
    for (name, text) in tool.extra() {
        members.push(NotBilled { name: name.to_owned(), bytes: text.len() });
    }
    members
}
