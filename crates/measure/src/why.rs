//! `why`: what the parts of one tool cost, and what each detail drops.
//!
//! A figure here is of one tool. What folding the whole list saves is for `report`; what a detail
//! takes from the model is said here, parameter by parameter, because a call that leaves out a
//! hidden parameter is valid and wrong.

mod guess;

pub use guess::{Guess, Hidden};

use serde::Serialize;

use toolfold::catalog::Tool;
use toolfold::profile::{Detail, Folded};
use toolfold::tokens::CountError;

use crate::parts::{Measurer, Part, chat_value};

/// The name of the contract, in every answer.
pub const CONTRACT: &str = "toolfold.why/1";

/// What one tool costs, part by part and detail by detail. Every figure is in tokens of the meter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Why {
    /// Always `toolfold.why/1`.
    pub schema: &'static str,
    /// The tool.
    pub tool: String,
    /// The tier that the profile gives it; absent where the profile is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<&'static str>,
    /// The category that it expands with; absent where the profile is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What the figures measure.
    pub meter: String,
    /// The whole tool: the block with it minus the block without it.
    pub tokens: usize,
    /// Its parts, most expensive first. They do not add up: what is left is the tool's shape.
    pub parts: Vec<Part>,
    /// What the tool came with and no provider sends to a model.
    pub not_billed: Vec<NotBilled>,
    /// Every detail, richest first. Detail `index` has no form of its own: it is a name in a line
    /// of `expand_tools`.
    pub details: Vec<DetailCost>,
}

/// A member of the tool that costs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotBilled {
    /// Its key.
    pub name: String,
    /// How large it is, in bytes of compact JSON.
    pub bytes: usize,
}

/// What a tool costs at a detail, and what a model must guess there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DetailCost {
    /// The detail asked for.
    pub detail: &'static str,
    /// The detail it really is in: folding that saves nothing, or less than it hides, is not done.
    pub shown_as: &'static str,
    /// What the tool costs in it.
    pub tokens: usize,
    /// The description in it.
    pub description: String,
    /// The parameters of which it hides something, in the order of the schema.
    pub guesses: Vec<Guess>,
}

/// Measures one tool. `summary` is its one sentence where the profile gives it one.
///
/// # Errors
/// [`CountError`] if the meter cannot count it.
pub fn why(measurer: &Measurer<'_>, tool: &Tool, summary: Option<&str>) -> Result<Why, CountError> {
    let whole = Folded::new(tool, Detail::Full, None);
    let mut details = Vec::new();
    for detail in [Detail::Full, Detail::Signature, Detail::Outline, Detail::Required, Detail::Summary] {
        let folded = Folded::new(tool, detail, summary);
        details.push(DetailCost {
            detail: detail.name(),
            shown_as: folded.detail().name(),
            tokens: measurer.one(&chat_value(&folded))?,
            description: folded.description().to_owned(),
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

/// What the tool came with that only clients read. Source: `docs/wires.md`; no provider shows it to
/// a model.
fn not_billed(tool: &Tool) -> Vec<NotBilled> {
    let own = |name: &str, bytes: usize| NotBilled { name: name.to_owned(), bytes };
    let title = tool.title().map(|title| own("title", title.len() + 2));
    let hints = tool.annotations().map(|hints| {
        let bytes = serde_json::to_string(hints).map_or(0, |text| text.len());
        own("annotations", bytes)
    });
    title.into_iter().chain(hints).chain(tool.extra().map(|(name, text)| own(name, text.len()))).collect()
}
