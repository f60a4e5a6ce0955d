//! `expand_tools` and `call_tool`: their declarations, and the answers of `expand_tools`.

mod bridge;
mod definitions;
mod listing;
mod query;
mod reply;
mod request;

pub use bridge::Bridge;
pub(crate) use bridge::{bridges, joined_names};
pub(crate) use definitions::definition_for_retry;
pub use definitions::{definition, definitions};
pub use reply::{Expansion, expand};
pub use request::ExpandRequest;

use serde_json::{Value, json};

use self::listing::{counted, lines_with_names};
use super::{Arm, Assignment, Delivery, Detail, Naming};
use crate::catalog::{Catalog, Tool};
use crate::name::CategoryName;

/// The name of the meta-tool that opens categories.
pub const EXPAND_TOOLS: &str = "expand_tools";
/// The name of the meta-tool that calls a tool outside the array.
pub const CALL_TOOL: &str = "call_tool";

/// A category with folded tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deferred {
    /// The category.
    pub category: CategoryName,
    /// A short description of its tools; may be empty.
    pub description: String,
    /// The indices of its folded tools in the catalog.
    pub tools: Vec<usize>,
}

/// The categories with folded tools, in profile order. Independent of what is open, so everything
/// derived from it is constant for the session.
pub(super) fn deferred(assignment: &Assignment, folded: impl Fn(usize) -> bool) -> Vec<Deferred> {
    let empty = |(category, description): (&CategoryName, &str)| Deferred {
        category: category.clone(),
        description: description.to_owned(),
        tools: Vec::new(),
    };
    let mut categories: Vec<Deferred> = assignment.categories().map(empty).collect();
    for tool in (0..assignment.tools.iter().len()).filter(|tool| folded(*tool)) {
        if let Some(entry) = assignment.category_index(tool).and_then(|at| categories.get_mut(at)) {
            entry.tools.push(tool);
        }
    }
    categories.retain(|entry| !entry.tools.is_empty());
    categories
}

/// The declaration of `expand_tools` under an arm, with the names that the model sees; `None` if
/// nothing is folded.
pub(super) fn expand_tools(catalog: &Catalog, categories: &[Deferred], arm: Arm, naming: &dyn Naming) -> Option<Tool> {
    if categories.is_empty() {
        return None;
    }
    let purpose = match (arm.delivery(), arm.extended()) {
        (Delivery::InPlace, _) => "Show the full parameters of one category of tools, from the next turn on. Call it \
             before a tool whose parameters are not shown."
            .to_owned(),
        (Delivery::Bridge, detail) => {
            let folded = categories.iter().flat_map(|own| own.tools.iter().copied());
            let get = if detail == Detail::Search { "Search and get" } else { "Get" };
            let bridges = joined_names(&bridges(catalog, folded, naming), naming);
            format!("{get} the parameters of tools that are not listed here, then run them with {bridges}.")
        }
        (Delivery::Append, Detail::Search) => {
            "Search and load tools that are not loaded yet, before calling them.".to_owned()
        }
        (Delivery::Native | Delivery::Append, _) => {
            "Load tools that are not loaded yet, before calling them.".to_owned()
        }
        (Delivery::None | Delivery::InResult, Detail::Signature) => {
            "Get the full documentation of tools, when names and types are not enough.".to_owned()
        }
        (Delivery::None | Delivery::InResult, _) => {
            "Get full parameters of tools shown in brief before calling them.".to_owned()
        }
    };
    let names: Vec<&str> = categories.iter().map(|entry| naming.category(entry.category.as_str())).collect();
    let list = match arm.extended() {
        Detail::Index => lines_with_names(catalog, categories, naming),
        Detail::Search => counted(catalog, categories, naming),
        _ => described_lines(categories, &names),
    };
    Tool::new(naming.expand_tools(), &format!("{purpose} {list}"), expand_parameters(arm, &names)).ok()
}

/// The categories, a line each, with their descriptions.
fn described_lines(categories: &[Deferred], names: &[&str]) -> String {
    let mut text = "Categories:".to_owned();
    for (entry, name) in categories.iter().zip(names) {
        text.push_str(&format!("\n- {name} ({})", entry.tools.len()));
        if !entry.description.is_empty() {
            text.push_str(": ");
            text.push_str(&entry.description);
        }
    }
    text
}

/// What the model reads about `query`.
const QUERY_HINT: &str = "one step, verb and object (`write file`); one query per step";

/// Arm `seed` declares the original design's single `category`; the others accept a query, several
/// categories and single tools. If the tools are not in the array, the categories are only in the
/// description.
fn expand_parameters(arm: Arm, names: &[&str]) -> Value {
    if arm == Arm::Seed {
        return json!({
            "type": "object",
            "properties": {"category": {"type": "string", "enum": names}},
            "required": ["category"]
        });
    }
    let mut category = json!({"type": "string"});
    if arm.extended().is_in_array() {
        category = json!({"type": "string", "enum": names});
    }
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": QUERY_HINT},
            "categories": {"type": "array", "items": category},
            "tools": {"type": "array", "items": {"type": "string"}}
        },
        "additionalProperties": false
    })
}
