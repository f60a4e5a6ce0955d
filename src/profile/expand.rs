//! `expand_tools` and `call_tool`: how they are declared, and what `expand_tools` answers.

mod bridge;
mod reply;

pub use bridge::Bridge;
pub(crate) use bridge::{bridges, named};
pub use reply::{ExpandError, ExpandRequest, Expansion, definition, definitions, expand};

use serde_json::{Value, json};

use super::{Arm, Assignment, Delivery, Detail, Naming};
use crate::catalog::{Catalog, Tool};
use crate::name::CategoryName;

/// The name of the meta-tool that opens categories.
pub const EXPAND_TOOLS: &str = "expand_tools";
/// The name of the meta-tool that calls a tool which is not in the array.
pub const CALL_TOOL: &str = "call_tool";

/// A category that has something to open.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deferred {
    /// The category.
    pub category: CategoryName,
    /// What its tools have in common; empty if nobody said.
    pub description: String,
    /// Its folded tools, as places in the catalogue counted from 0.
    pub tools: Vec<usize>,
}

/// The categories that have something to open, in profile order. Does not depend on what is open, so that whatever is
/// made from it is the same for the whole session.
pub(super) fn deferred(assignment: &Assignment, folded: impl Fn(usize) -> bool) -> Vec<Deferred> {
    let empty = |(category, description): (&CategoryName, &str)| Deferred {
        category: category.clone(),
        description: description.to_owned(),
        tools: Vec::new(),
    };
    let mut categories: Vec<Deferred> = assignment.categories().map(empty).collect();
    for tool in (0..assignment.iter().len()).filter(|tool| folded(*tool)) {
        if let Some(entry) = assignment.category_index(tool).and_then(|at| categories.get_mut(at)) {
            entry.tools.push(tool);
        }
    }
    categories.retain(|entry| !entry.tools.is_empty());
    categories
}

/// The declaration of `expand_tools` under an arm, in the names that the model sees; `None` if nothing is folded.
pub(super) fn expand_tools(catalog: &Catalog, categories: &[Deferred], arm: Arm, naming: &dyn Naming) -> Option<Tool> {
    if categories.is_empty() {
        return None;
    }
    let mut description = match arm.delivery() {
        Delivery::InPlace => {
            "Show the full parameters of one category of tools, from the next turn on. Call it before \
             a tool whose parameters are not shown. Categories:"
                .to_owned()
        }
        Delivery::Bridge => format!(
            "Get the parameters of tools that are not listed here, by category or tool name, then run \
             them with {}. Categories:",
            named(&bridges(catalog, categories.iter().flat_map(|own| own.tools.iter().copied()), naming), naming)
        ),
        Delivery::Native | Delivery::Append => {
            "Load tools that are not loaded yet, by category or tool name, before calling them. Categories:".to_owned()
        }
        Delivery::None | Delivery::InResult => match arm.extended() {
            Detail::Signature => "Get the full documentation of tools, by category or tool name, when names and types \
                 are not enough. Categories:"
                .to_owned(),
            _ => {
                "Get the full parameters of tools shown only in brief, by category or tool name, before calling them. \
                 Categories:"
                    .to_owned()
            }
        },
    };
    let names: Vec<&str> = categories.iter().map(|entry| naming.category(entry.category.as_str())).collect();
    for (entry, name) in categories.iter().zip(&names) {
        description.push_str(&format!("\n- {name} ({})", entry.tools.len()));
        if !entry.description.is_empty() {
            description.push_str(": ");
            description.push_str(&entry.description);
        }
        if arm.extended() == Detail::Index {
            let shown = |at: &usize| Some(naming.tool(*at, catalog.at(*at)?.name().as_str()));
            let tools: Vec<&str> = entry.tools.iter().filter_map(shown).collect();
            description.push_str(": ");
            description.push_str(&tools.join(", "));
        }
    }
    Tool::new(naming.expand_tools(), &description, arguments(arm, &names)).ok()
}

/// Arm `seed` declares the original's single `category`; the others take several categories and single tools.
fn arguments(arm: Arm, names: &[&str]) -> Value {
    if arm == Arm::Seed {
        return json!({
            "type": "object",
            "properties": {"category": {"type": "string", "enum": names}},
            "required": ["category"]
        });
    }
    json!({
        "type": "object",
        "properties": {
            "categories": {"type": "array", "items": {"type": "string", "enum": names}},
            "tools": {"type": "array", "items": {"type": "string"}}
        },
        "additionalProperties": false
    })
}
