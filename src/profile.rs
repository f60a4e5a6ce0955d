//! Layer 1, presentation: how much of each tool the model sees, and how it expands the rest.
//!
//! A [`ToolProfile`] lists the `core` tools and groups the others in categories. An [`Arm`] defines
//! the [`Detail`] that each tier is sent in and how further detail is delivered. A [`Presentation`]
//! combines the two once. Together with what a session has [`Expanded`], it returns the [`Plan`]:
//! what is sent now for each tool. Everything here is a pure function of its arguments and
//! independent of skills, policy, wires and sessions.
//!
//! ```
//! use toolfold::catalog::Catalog;
//! use toolfold::profile::{Arm, Detail, Expanded, Presentation, ToolProfile};
//!
//! let words = "The workbook: a path below the working folder. ".repeat(20);
//! let tools = r#"[{"name":"list_sheets","input_schema":{"type":"object","properties":{"file":{"type":"string"}}}},
//!                 {"name":"format_cells","description":"Set fonts. Fills too.","input_schema":{"type":"object",
//!                  "properties":{"file":{"type":"string","description":"WORDS"}}}}]"#;
//! let catalog = Catalog::from_anthropic(&tools.replace("WORDS", &words))?;
//! let profile = ToolProfile::parse("core = ['list_*']\n[category.format]\ntools = ['format_*']", "profile.toml");
//! let assignment = profile.value.assign(&catalog).value;
//! let presentation = Presentation::new(&catalog, &assignment, Arm::Stable);
//! let plan = presentation.plan(&catalog, &assignment, &Expanded::default());
//! assert_eq!(plan.tools[0].detail, Detail::Full);
//! assert_eq!(plan.tools[1].detail, Detail::Summary);
//! assert!(presentation.meta_tools.iter().any(|tool| *tool.name() == "expand_tools"));
//! # Ok::<(), toolfold::error::Error>(())
//! ```

mod arm;
mod assign;
mod choose;
mod client;
mod cost;
mod derive;
mod expand;
mod file;
mod fold;
pub(crate) mod naming;
mod parts;
mod plan;
mod search;
mod sentence;
mod session_bill;
mod words;
mod workload;
mod write;

pub(crate) use arm::serialize_whole;
pub use arm::{Arm, CustomArm, Delivery, Detail};
pub use assign::{Assigned, Assignment, CORE, OTHER};
pub use choose::Choice;
pub(crate) use choose::{AutoContext, BUDGET_TOKENS, choose_auto_arm};
pub(crate) use client::already_defers;
pub use client::{ClientProfile, own_tools};
pub use cost::TokenFactors;
pub(crate) use expand::definition_for_retry;
pub use expand::{
    Bridge, CALL_TOOL, Deferred, EXPAND_TOOLS, ExpandRequest, Expansion, definition, definitions, expand,
};
pub use file::{MAX_PROFILE_BYTES, profile_schema};
pub use fold::Folded;
pub use naming::{CatalogNames, Naming};
pub use parts::{ProfilePart, ProfileSource};
pub use plan::{Expanded, Plan, Planned, Presentation};
pub(crate) use search::ToolSearch;
pub use search::tool_index;
pub use sentence::first_sentence;
pub use session_bill::{
    CacheLoss, CacheRules, PromptPart, RequestBill, SessionBill, SessionRequest, TokenPrices, bill_session,
};
pub use workload::{LookupRates, Workload};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::name::{CategoryName, ToolName};

/// How visible a tool is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Tier {
    /// Sent in the richest detail of the arm.
    Core,
    /// Folded, and expanded by category or by name.
    Extended,
    /// Not shown, because the profile sets `unlisted = "hidden"`. Still callable.
    Hidden,
}

impl Tier {
    /// The name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Extended => "extended",
            Self::Hidden => "hidden",
        }
    }
}

/// A named group of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// A short description of what the tools have in common; may be empty.
    pub description: String,
    /// Words that its tools are found by in addition to their own.
    pub(crate) words: Vec<String>,
    /// Names or globs of the category's tools, each with its place in the file.
    pub(crate) tools: Vec<Pattern>,
}

/// A tool name, or a glob over names (`*` matches any run, `?` one character), with its place in
/// the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Pattern {
    pub(crate) fn new(text: &str, place: Place) -> Self {
        Self { text: text.to_owned(), place }
    }

    pub(crate) fn is_glob(&self) -> bool {
        self.text.contains(['*', '?'])
    }
}

/// Tiers, categories and summaries, written by a person or derived from a catalog.
///
/// A profile is independent of any catalog until [`assign`](Self::assign) applies it to one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolProfile {
    /// The profile's name.
    pub name: String,
    /// Whether the profile was derived from a catalog.
    pub derived: bool,
    pub(crate) core: Vec<Pattern>,
    /// Whether core tools stay complete in every arm, as the agent's own tools do.
    pub(crate) verbatim: bool,
    pub(crate) unlisted: Tier,
    pub(crate) categories: IndexMap<CategoryName, Category>,
    pub(crate) summaries: IndexMap<ToolName, (String, Place)>,
    /// Words that a tool is found by in addition to its own.
    pub(crate) words: IndexMap<ToolName, (Vec<String>, Place)>,
    pub(crate) place: Place,
}

impl ToolProfile {
    /// Reads a profile file (TOML). `file` names it in diagnostics. Invalid parts are left out and
    /// reported.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        file::parse_profile(text, file)
    }

    /// Derives a profile for a catalog. An agent's [own tools](own_tools) are core and never
    /// folded; the others are in categories by server and subject, named by words of their names.
    /// The same tools always give the same profile, in any order.
    #[must_use]
    pub fn derive(catalog: &Catalog) -> Self {
        derive::derive(catalog)
    }

    /// Applies the profile to a catalog's tools. Mismatches between the two are reported as
    /// diagnostics.
    pub fn assign(&self, catalog: &Catalog) -> Loaded<Assignment> {
        assign::assign(self, catalog)
    }

    /// The written summaries by tool, in the order of the file.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.summaries.iter().map(|(name, (text, _))| (name.as_str(), text.as_str()))
    }

    /// The categories, in order.
    pub fn categories(&self) -> impl Iterator<Item = (&CategoryName, &Category)> {
        self.categories.iter()
    }

    pub(crate) fn profile_note(&self, code: &'static str, message: String) -> Diagnostic {
        Diagnostic::note(code, self.place.clone(), message)
    }
}
