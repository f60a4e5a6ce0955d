//! Applies a profile to a catalog: a tier, at most one category and at most one summary per tool.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use wildmatch::WildMatch;

use super::sentence::{first_sentence, sentences};
use super::{Pattern, Tier, ToolProfile};
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Loaded};
use crate::name::{CategoryName, nearest};

/// The category of core tools without a category in the profile.
pub const CORE: &str = "core";
/// The category of extended tools without a category in the profile.
pub const OTHER: &str = "other";

/// The maximum number of profile/catalog mismatches reported individually.
const MAX_DIAGNOSTICS: usize = 50;

/// A profile's settings for one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Assigned {
    /// The tool's tier.
    pub tier: Tier,
    /// The category that the tool expands with.
    pub category: CategoryName,
    /// The sentence sent instead of the first sentence of the description, if any: the profile's
    /// summary or, if the first sentence does not describe the tool, another sentence, its title or
    /// its name in words.
    pub summary: Option<String>,
    /// Whether the tool stays complete in every arm because it is the agent's own.
    pub verbatim: bool,
    /// Words of the profile that a query finds the tool by: the tool's, then its category's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

impl Assigned {
    /// The sentence that represents the tool where its parameters are not shown.
    #[must_use]
    pub fn sentence(&self, tool: &Tool) -> String {
        self.summary.clone().unwrap_or_else(|| first_sentence(tool.description()))
    }
}

/// A profile applied to a catalog: one [`Assigned`] per tool, in catalog order, and the categories
/// that have tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    pub(crate) profile: String,
    /// Whether the profile was derived from a catalog.
    pub derived: bool,
    /// The settings of every tool, in catalog order.
    pub tools: Vec<Assigned>,
    /// For each tool, the index of its category in `categories`.
    category_of: Vec<usize>,
    /// Maps each category to its description, in profile order, with [`CORE`] and [`OTHER`] last.
    pub(crate) categories: IndexMap<CategoryName, String>,
}

impl Assignment {
    /// Returns an assignment with only the tools whose index in `kept` is true.
    #[must_use]
    pub fn filtered(&self, kept: &[bool]) -> Self {
        let mut tools = Vec::new();
        for (tool, kept) in self.tools.iter().zip(kept) {
            if *kept {
                tools.push(tool.clone());
            }
        }
        let mut categories = self.categories.clone();
        categories.retain(|name, _| is_used(name, &tools));
        Self::new(self.profile.clone(), self.derived, tools, categories)
    }

    fn new(profile: String, derived: bool, tools: Vec<Assigned>, categories: IndexMap<CategoryName, String>) -> Self {
        let mut category_of = Vec::with_capacity(tools.len());
        for tool in &tools {
            // A hidden tool's category may have no index; it is never looked up.
            category_of.push(categories.get_index_of(&tool.category).unwrap_or(usize::MAX));
        }
        Self { profile, derived, tools, category_of, categories }
    }

    /// The index of a tool's category in [`categories`](Self::categories).
    pub(crate) fn category_index(&self, tool: usize) -> Option<usize> {
        self.category_of.get(tool).copied()
    }

    /// The settings of the tool at the given index.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Assigned> {
        self.tools.get(index)
    }

    /// The categories that have tools, each with its description, in profile order.
    pub fn categories(&self) -> impl Iterator<Item = (&CategoryName, &str)> {
        self.categories.iter().map(|(name, description)| (name, description.as_str()))
    }
}

/// The indices of the tools that a pattern matches. Adds a diagnostic if it matches none.
fn matched(pattern: &Pattern, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Vec<usize> {
    let mut found = Vec::new();
    if pattern.is_glob() {
        let glob = WildMatch::new(&pattern.text);
        for (at, name) in catalog.names().enumerate() {
            if glob.matches(name.as_str()) {
                found.push(at);
            }
        }
    } else {
        found.extend(catalog.position(&pattern.text));
    }
    if found.is_empty() && diagnostics.len() >= MAX_DIAGNOSTICS {
        let diagnostic =
            Diagnostic::error("more", pattern.place.clone(), "more names that match nothing are not shown");
        if diagnostics.last().is_none_or(|last| last.code != diagnostic.code) {
            diagnostics.push(diagnostic.help("fix the ones shown first"));
        }
    } else if found.is_empty() {
        let (code, message) = if pattern.is_glob() {
            ("empty-glob", format!("the glob `{}` matches no tool", pattern.text))
        } else {
            ("unknown-tool", format!("unknown tool `{}`", pattern.text))
        };
        let place = pattern.place.clone();
        let diagnostic =
            match nearest(&pattern.text.replace(['*', '?'], ""), catalog.names().map(AsRef::as_ref), 1).first() {
                _ if pattern.is_glob() => Diagnostic::warning(code, place, message).help("fix or remove it"),
                Some(near) => Diagnostic::error(code, place, message).help(format!("did you mean `{near}`?")),
                None => Diagnostic::error(code, place, message).help("fix the name or remove it"),
            };
        diagnostics.push(diagnostic);
    }
    found
}

pub(super) fn assign(profile: &ToolProfile, catalog: &Catalog) -> Loaded<Assignment> {
    let mut diagnostics = Vec::new();
    let mut core = vec![false; catalog.len()];
    for pattern in &profile.core {
        for at in matched(pattern, catalog, &mut diagnostics) {
            if let Some(flag) = core.get_mut(at) {
                *flag = true;
            }
        }
    }
    let chosen = choose_categories(profile, catalog, &mut diagnostics);
    check_tools(profile, catalog, &mut diagnostics);

    let mut unlisted = Vec::new();
    let mut tools = Vec::with_capacity(catalog.len());
    for (((tool, is_core), category), sentence) in catalog.iter().zip(core).zip(chosen).zip(sentences(catalog)) {
        let name = tool.name();
        let tier = match (is_core, &category) {
            (true, _) => Tier::Core,
            (false, Some(_)) => Tier::Extended,
            (false, None) => {
                unlisted.push(name.as_str());
                profile.unlisted
            }
        };
        let fallback = if tier == Tier::Core { CORE } else { OTHER };
        // The two fallback names are valid. A category of that name in the profile receives these
        // tools too.
        let Some(category) = category.or_else(|| CategoryName::new(fallback).ok()) else { continue };
        let mut words = match profile.words.get(name.as_str()) {
            Some((words, _)) => words.clone(),
            None => Vec::new(),
        };
        if let Some(definition) = profile.categories.get(&category) {
            words.extend_from_slice(&definition.words);
        }
        let summary = match profile.summaries.get(name.as_str()) {
            Some((text, _)) => Some(text.clone()),
            None if sentence.is_first => None,
            None => Some(sentence.text),
        };
        let verbatim = profile.verbatim && tier == Tier::Core;
        tools.push(Assigned { tier, category, summary, verbatim, words });
    }
    if !unlisted.is_empty() && !profile.derived {
        diagnostics.push(unlisted_note(profile, &unlisted));
    }
    let categories = used_categories(profile, &tools);
    let assignment = Assignment::new(profile.name.clone(), profile.derived, tools, categories);
    Loaded { value: assignment, diagnostics }
}

fn unlisted_note(profile: &ToolProfile, unlisted: &[&str]) -> Diagnostic {
    let (count, tier) = (unlisted.len(), profile.unlisted.name());
    let mut names = unlisted.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    if count > 8 {
        names.push_str(", …");
    }
    let noun = if count == 1 { "tool is" } else { "tools are" };
    let message = format!("{count} {noun} in no category and not core, and so {tier}: {names}");
    if profile.unlisted == Tier::Hidden {
        Diagnostic::warning("unlisted-tools", profile.place.clone(), message)
            .help("list them, or set `unlisted = \"extended\"`")
    } else {
        profile.profile_note("unlisted-tools", message)
    }
}

/// The category of each tool. An exact name takes precedence over a glob; if two categories claim a
/// tool in the same way, that is an error and the first category gets it.
fn choose_categories(
    profile: &ToolProfile,
    catalog: &Catalog,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Option<CategoryName>> {
    let mut chosen: Vec<Option<(CategoryName, bool)>> = vec![None; catalog.len()];
    for (category, definition) in &profile.categories {
        for pattern in &definition.tools {
            let exact = !pattern.is_glob();
            for at in matched(pattern, catalog, diagnostics) {
                let Some(slot) = chosen.get_mut(at) else { continue };
                match slot {
                    Some((owner, _)) if owner == category => {}
                    Some((owner, owner_exact)) if *owner_exact == exact => {
                        let name = catalog.at(at).map(|tool| tool.name().to_string()).unwrap_or_default();
                        let message = format!("tool `{name}` is in two categories, `{owner}` and `{category}`");
                        let help = format!("take it out of one; until then it is in `{owner}`");
                        diagnostics
                            .push(Diagnostic::error("two-categories", pattern.place.clone(), message).help(help));
                    }
                    Some((_, true)) => {}
                    _ => *slot = Some((category.clone(), exact)),
                }
            }
        }
    }
    chosen.into_iter().map(|slot| Some(slot?.0)).collect()
}

/// Reports the names in `summary` and `words` that no tool has.
fn check_tools(profile: &ToolProfile, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) {
    let summaries = profile.summaries.iter().map(|(name, (_, place))| ("summary", name, place));
    let words = profile.words.iter().map(|(name, (_, place))| ("words", name, place));
    for (section, name, place) in summaries.chain(words) {
        if catalog.get(name.as_str()).is_none() {
            let message = format!("unknown tool `{name}` in `{section}`");
            let help = match nearest(name.as_str(), catalog.names().map(AsRef::as_ref), 1).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "fix the name or remove the line".to_owned(),
            };
            diagnostics.push(Diagnostic::warning("unknown-tool", place.clone(), message).help(help));
        }
    }
}

/// Whether a category has a visible tool.
fn is_used(name: &CategoryName, tools: &[Assigned]) -> bool {
    tools.iter().any(|tool| tool.category == *name && tool.tier != Tier::Hidden)
}

fn used_categories(profile: &ToolProfile, tools: &[Assigned]) -> IndexMap<CategoryName, String> {
    let mut categories = IndexMap::new();
    for (name, category) in &profile.categories {
        if is_used(name, tools) {
            categories.insert(name.clone(), category.description.clone());
        }
    }
    for (name, description) in [(CORE, "the tools used most"), (OTHER, "everything else")] {
        if let Ok(name) = CategoryName::new(name)
            && is_used(&name, tools)
            && !categories.contains_key(&name)
        {
            categories.insert(name, description.to_owned());
        }
    }
    categories
}
