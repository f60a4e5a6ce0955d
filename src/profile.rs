//! Layer 1, presentation: how much of each tool the model sees, and how it gets to see more.
//!
//! A [`ToolProfile`] says which tools are `core` and groups the others in categories. An [`Arm`] says in what
//! [`Detail`] each tier is sent and how more of it is delivered. A [`Presentation`] puts the two together once; with
//! what a session has [`Expanded`] it gives the [`Plan`]: tool by tool, what goes out now. Everything here is a pure function of its
//! arguments; nothing here knows of skills, policy, wires or sessions.
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
//! assert_eq!(plan.detail(0), Some(Detail::Full));
//! assert_eq!(plan.detail(1), Some(Detail::Summary));
//! assert!(presentation.meta_tools().any(|tool| *tool.name() == "expand_tools"));
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
mod naming;
mod parts;
mod plan;
mod sentence;
mod session_bill;
mod words;
mod workload;
mod write;

pub(crate) use arm::serialize_whole;
pub use arm::{Arm, CustomArm, Delivery, Detail, MAX_ARM_NAME_BYTES, UnknownArm, UnsoundArm};
pub use assign::{Assigned, Assignment, CORE, OTHER};
pub use choose::{AutoContext, BUDGET_TOKENS, Choice, MIN_GAIN_TOKENS, choose};
pub use client::{ClientProfile, Deferral, already_defers, client_meta_tools, own_tools};
pub use cost::{TokenFactors, estimate};
pub use expand::{
    Bridge, CALL_TOOL, Deferred, EXPAND_TOOLS, ExpandError, ExpandRequest, Expansion, definition, definitions, expand,
};
pub use file::{MAX_PROFILE_BYTES, profile_schema};
pub use fold::Folded;
pub use naming::{CatalogNames, Naming};
pub use parts::{ProfilePart, ProfileSource};
pub use plan::{Expanded, Plan, Planned, PlannedTool, Presentation};
pub use sentence::{MAX_SENTENCE_CHARS, first_sentence};
pub use session_bill::{
    CacheLoss, CacheRules, PromptPart, RequestBill, SessionBill, SessionRequest, TokenPrices, bill_session,
};
pub use workload::Workload;

use indexmap::IndexMap;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::name::{CategoryName, ToolName};

/// Which tools a model always sees whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// In the richest detail the arm has.
    Core,
    /// Folded, and expanded by category or by name.
    Extended,
    /// Not shown at all, by the profile's `unlisted = "hidden"`. Still callable.
    Hidden,
}

impl Tier {
    /// The name used in files and reports.
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
    /// What the tools have in common, in a few words; empty if nobody said.
    pub description: String,
    /// Names or globs of its tools, each with its place in the file.
    pub(crate) tools: Vec<Pattern>,
}

/// A tool's name, or a glob over names (`*` any run, `?` one character), and where it was written.
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

/// Tiers, categories and summaries, as written by a person or derived from a catalogue.
///
/// It is independent of any catalogue until [`assign`](Self::assign) applies it to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProfile {
    pub(crate) name: String,
    pub(crate) derived: bool,
    pub(crate) core: Vec<Pattern>,
    /// Whether core tools stay whole in every arm: they are the agent's own.
    pub(crate) verbatim: bool,
    pub(crate) unlisted: Tier,
    pub(crate) categories: IndexMap<CategoryName, Category>,
    pub(crate) summaries: IndexMap<ToolName, (String, Place)>,
    pub(crate) place: Place,
}

impl ToolProfile {
    /// Reads a profile file (TOML). `file` names it in diagnostics. What is unsound is left out and diagnosed.
    pub fn parse(text: &str, file: &str) -> Loaded<Self> {
        file::parse(text, file)
    }

    /// The profile of a catalogue nobody wrote one for. An agent's [own tools](own_tools) are core and never folded; the
    /// others are in categories by server and subject, named by words of their names. The same tools always get the same
    /// profile, whatever their order.
    #[must_use]
    pub fn derive(catalog: &Catalog) -> Self {
        derive::derive(catalog)
    }

    /// What the profile makes of a catalogue's tools, with what is wrong between the two.
    pub fn assign(&self, catalog: &Catalog) -> Loaded<Assignment> {
        assign::assign(self, catalog)
    }

    /// The profile's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was derived rather than written.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.derived
    }

    /// The one-liners that somebody wrote, by tool, in the order of the file.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.summaries.iter().map(|(name, (text, _))| (name.as_str(), text.as_str()))
    }

    /// The categories in order.
    pub fn categories(&self) -> impl Iterator<Item = (&CategoryName, &Category)> {
        self.categories.iter()
    }

    pub(crate) fn note(&self, code: &'static str, message: String) -> Diagnostic {
        Diagnostic::note(code, self.place.clone(), message)
    }
}
