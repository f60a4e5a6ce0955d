//! Applying a profile to a catalogue: one tier, at most one category and one summary a tool.

use indexmap::IndexMap;
use serde::Serialize;
use wildmatch::WildMatch;

use super::sentence::sentences;
use super::{Pattern, Tier, ToolProfile};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Loaded};
use crate::name::{CategoryName, nearest};

/// The category of core tools that the profile puts in none.
pub const CORE: &str = "core";
/// The category of extended tools that the profile puts in none.
pub const OTHER: &str = "other";

/// How many mistakes between a profile and a catalogue are told one by one.
const MAX_DIAGNOSTICS: usize = 50;

/// What a profile makes of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Assigned {
    /// Whether the tool is core.
    pub tier: Tier,
    /// The category it expands with.
    pub category: CategoryName,
    /// What is sent as its one sentence instead of its description's first: the profile's own words, else, where that
    /// does not say what the tool does, another sentence, its title or its name in words.
    pub summary: Option<String>,
    /// Whether it stays whole in every arm: it is the agent's own.
    pub verbatim: bool,
}

/// What a profile makes of a catalogue: one [`Assigned`] a tool, in catalogue order, and the categories that have tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    pub(crate) profile: String,
    pub(crate) derived: bool,
    pub(crate) tools: Vec<Assigned>,
    /// For each tool, the place of its category in `categories`.
    category_of: Vec<usize>,
    /// Category to description, in profile order, [`CORE`] and [`OTHER`] last.
    pub(crate) categories: IndexMap<CategoryName, String>,
}

impl Assignment {
    /// The name of the profile.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Whether the profile was derived rather than written.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.derived
    }

    /// The same for some of the tools only: those whose place in the catalogue is kept.
    #[must_use]
    pub fn filtered(&self, kept: &[bool]) -> Self {
        let tools = self.tools.iter().zip(kept).filter(|(_, kept)| **kept).map(|(tool, _)| tool.clone());
        let tools: Vec<Assigned> = tools.collect();
        let used = |name: &CategoryName| tools.iter().any(|tool| tool.category == *name && tool.tier != Tier::Hidden);
        let categories =
            self.categories.iter().filter(|(name, _)| used(name)).map(|(n, d)| (n.clone(), d.clone())).collect();
        Self::new(self.profile.clone(), self.derived, tools, categories)
    }

    fn new(profile: String, derived: bool, tools: Vec<Assigned>, categories: IndexMap<CategoryName, String>) -> Self {
        // A hidden tool's category may have no place of its own; it is never looked up.
        let place = |tool: &Assigned| categories.get_index_of(&tool.category).unwrap_or(usize::MAX);
        let category_of = tools.iter().map(place).collect();
        Self { profile, derived, tools, category_of, categories }
    }

    /// The place of a tool's category among [`categories`](Self::categories).
    pub(crate) fn category_index(&self, tool: usize) -> Option<usize> {
        self.category_of.get(tool).copied()
    }

    /// What became of the tool at that place in the catalogue.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Assigned> {
        self.tools.get(index)
    }

    /// What became of every tool, in catalogue order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Assigned> {
        self.tools.iter()
    }

    /// The categories that have tools, each with its description, in profile order.
    pub fn categories(&self) -> impl Iterator<Item = (&CategoryName, &str)> {
        self.categories.iter().map(|(name, description)| (name, description.as_str()))
    }
}

/// One pattern applied to a catalogue.
struct Matcher {
    glob: Option<WildMatch>,
}

impl Matcher {
    fn new(pattern: &Pattern) -> Self {
        Self { glob: pattern.is_glob().then(|| WildMatch::new(&pattern.text)) }
    }

    fn matches(&self, pattern: &Pattern, name: &str) -> bool {
        self.glob.as_ref().map_or(pattern.text == name, |glob| glob.matches(name))
    }
}

/// The places in the catalogue that a pattern matches, or a diagnostic that it matches none.
fn matched(pattern: &Pattern, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) -> Vec<usize> {
    let matcher = Matcher::new(pattern);
    if !pattern.is_glob()
        && let Some(at) = catalog.position(&pattern.text)
    {
        return vec![at];
    }
    let found: Vec<usize> = catalog
        .names()
        .enumerate()
        .filter(|(_, name)| matcher.matches(pattern, name.as_str()))
        .map(|(at, _)| at)
        .collect();
    if found.is_empty() && diagnostics.len() >= MAX_DIAGNOSTICS {
        let diagnostic =
            Diagnostic::error("more", pattern.place.clone(), "more names that match nothing are not shown");
        if diagnostics.last().is_none_or(|last| last.code != diagnostic.code) {
            diagnostics.push(diagnostic.help("mend the ones shown first"));
        }
    } else if found.is_empty() {
        let (code, message) = if pattern.is_glob() {
            ("empty-glob", format!("the glob `{}` matches no tool", pattern.text))
        } else {
            ("unknown-tool", format!("there is no tool named `{}`", pattern.text))
        };
        let place = pattern.place.clone();
        let diagnostic =
            match nearest(&pattern.text.replace(['*', '?'], ""), catalog.names().map(AsRef::as_ref), 1).first() {
                _ if pattern.is_glob() => Diagnostic::warning(code, place, message).help("mend it, or take it out"),
                Some(near) => Diagnostic::error(code, place, message).help(format!("did you mean `{near}`?")),
                None => Diagnostic::error(code, place, message).help("mend the name, or take it out"),
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
    check_summaries(profile, catalog, &mut diagnostics);

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
        // The two fallbacks are sound names; a profile's own category of that name simply takes these tools too.
        let Some(category) = category.or_else(|| CategoryName::new(fallback).ok()) else { continue };
        let own = profile.summaries.get(name.as_str()).map(|(text, _)| text.clone());
        let summary = own.or_else(|| (!sentence.is_first).then_some(sentence.text));
        let verbatim = profile.verbatim && tier == Tier::Core;
        tools.push(Assigned { tier, category, summary, verbatim });
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
        profile.note("unlisted-tools", message)
    }
}

/// The category of each tool. An exact name beats a glob; two categories that claim a tool alike are an error, and the
/// first keeps it.
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
    chosen.into_iter().map(|slot| slot.map(|(category, _)| category)).collect()
}

fn check_summaries(profile: &ToolProfile, catalog: &Catalog, diagnostics: &mut Vec<Diagnostic>) {
    for (name, (_, place)) in &profile.summaries {
        if catalog.get(name.as_str()).is_none() {
            let message = format!("there is no tool named `{name}` to summarise");
            let near = nearest(name.as_str(), catalog.names().map(AsRef::as_ref), 1).first().copied();
            let help =
                near.map_or("mend the name, or take the line out".to_owned(), |near| format!("did you mean `{near}`?"));
            diagnostics.push(Diagnostic::warning("unknown-tool", place.clone(), message).help(help));
        }
    }
}

fn used_categories(profile: &ToolProfile, tools: &[Assigned]) -> IndexMap<CategoryName, String> {
    let used = |name: &CategoryName| tools.iter().any(|tool| tool.category == *name && tool.tier != Tier::Hidden);
    let mut categories: IndexMap<CategoryName, String> = profile
        .categories
        .iter()
        .filter(|(name, _)| used(name))
        .map(|(name, category)| (name.clone(), category.description.clone()))
        .collect();
    for (name, description) in [(CORE, "the tools used most"), (OTHER, "everything else")] {
        if let Ok(name) = CategoryName::new(name)
            && used(&name)
            && !categories.contains_key(&name)
        {
            categories.insert(name, description.to_owned());
        }
    }
    categories
}
