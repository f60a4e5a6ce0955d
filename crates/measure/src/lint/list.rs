//! Rules about the list as a whole.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use toolfold::catalog::{Catalog, Format, Tool};
use toolfold::profile::{Assigned, Assignment, Detail, Folded, Tier, ToolProfile, first_sentence};

use super::found::Found;
use super::rules::{BOILERPLATE, LARGE_CATEGORY, NO_HINTS, NO_TITLE, SHARED_SENTENCE, SMALL_STUBS};
use super::view::{first_names, short_line};

/// The minimum number of tools whose common beginning is not a coincidence.
const ALIKE: usize = 3;
/// The minimum number of tools with a text, and its minimum length in characters, for it to count
/// as boilerplate.
const REPEATED: usize = 5;
const REPEATED_CHARS: usize = 80;
/// The maximum number of texts reported individually.
const MOST_TEXTS: usize = 20;
/// The recommended maximum number of tools in a category. Source: OpenAI, "Tool search", recommends
/// fewer than ten functions per namespace.
const LARGE: usize = 10;

/// Facts about the other tools that rules for one tool need.
pub(super) struct Facts<'c> {
    names: BTreeSet<&'c str>,
    /// Names without their common prefix.
    tails: BTreeSet<&'c str>,
    /// The sentence that represents each tool, if it is not its first one.
    sentences: Vec<Option<String>>,
    /// The number of tools that begin with each sentence.
    firsts: HashMap<String, usize>,
}

impl<'c> Facts<'c> {
    pub(super) fn of_catalog(catalog: &'c Catalog) -> Self {
        // A profile without summaries leaves the choice of sentences to the catalog.
        let plain = ToolProfile::parse("", "").value.assign(catalog).value;
        let sentences = plain.iter().map(|assigned| assigned.summary.clone()).collect();
        let mut firsts: HashMap<String, usize> = HashMap::new();
        for tool in catalog.iter().filter(|tool| !tool.description().trim().is_empty()) {
            *firsts.entry(first_sentence(tool.description())).or_default() += 1;
        }
        let names: BTreeSet<&str> = catalog.names().map(toolfold::name::ToolName::as_str).collect();
        let tails = names.iter().filter_map(|name| Some(name.split_once('_')?.1)).collect();
        Self { names, tails, sentences, firsts }
    }

    /// The sentence that represents a tool instead of its first one.
    pub(super) fn stands_for(&self, at: usize) -> Option<&str> {
        self.sentences.get(at)?.as_deref()
    }

    /// Whether several tools begin with a sentence.
    pub(super) fn is_shared(&self, sentence: &str) -> bool {
        self.firsts.get(sentence).is_some_and(|n| *n >= ALIKE)
    }

    /// Whether a tool has this name, ignoring the server's prefix.
    pub(super) fn is_known(&self, name: &str) -> bool {
        let ends = |own: &&str| own.ends_with(name) || name.ends_with(*own);
        self.names.contains(name) || self.tails.contains(name) || self.names.iter().any(ends)
    }
}

pub(super) fn check_list(found: &mut Found<'_>, catalog: &Catalog, facts: &Facts<'_>, assignment: Option<&Assignment>) {
    found.begin_list();
    shared(found, catalog, facts);
    repeated(found, catalog);
    if let Some(assignment) = assignment {
        large_categories(found, catalog, assignment);
        stubs(found, catalog, assignment);
    }
    hints(found, catalog);
}

fn shared(found: &mut Found<'_>, catalog: &Catalog, facts: &Facts<'_>) {
    let mut groups: IndexMap<String, Vec<&str>> = IndexMap::new();
    for tool in catalog.iter() {
        let first = first_sentence(tool.description());
        if facts.is_shared(&first) {
            groups.entry(first).or_default().push(tool.name().as_str());
        }
    }
    for (sentence, tools) in groups {
        let reason = format!("{} tools begin with `{}`: {}", tools.len(), short_line(&sentence), first_names(&tools));
        found.add_finding(&SHARED_SENTENCE, "", reason);
    }
}

/// Lines of descriptions that occur in many tools.
fn repeated(found: &mut Found<'_>, catalog: &Catalog) {
    let mut lines: HashMap<&str, (usize, usize, &str)> = HashMap::new();
    for (at, tool) in catalog.iter().enumerate() {
        let own = tool.description().lines().map(str::trim);
        for line in own.filter(|line| line.chars().count() >= REPEATED_CHARS) {
            let (tools, last, _) = lines.entry(line).or_insert((0, usize::MAX, tool.name().as_str()));
            if *last != at {
                *tools += 1;
                *last = at;
            }
        }
    }
    let mut often: Vec<(&str, usize, &str)> = lines
        .into_iter()
        .filter(|(_, (tools, ..))| *tools >= REPEATED)
        .map(|(line, (tools, _, first))| (line, tools, first))
        .collect();
    often.sort_by(|a, b| (b.1 * b.0.len(), a.0).cmp(&(a.1 * a.0.len(), b.0)));
    for (line, tools, first) in often.into_iter().take(MOST_TEXTS) {
        let reason = format!("{tools} tools say `{}`, `{}` first", short_line(line), short_line(first));
        if let Some(one) = found.add_finding(&BOILERPLATE, "", reason) {
            one.about_text(line, tools);
        }
    }
}

/// Written categories that are large. Derived ones are generated by toolfold.
fn large_categories(found: &mut Found<'_>, catalog: &Catalog, assignment: &Assignment) {
    if assignment.is_derived() {
        return;
    }
    let mut sizes: IndexMap<&str, usize> = IndexMap::new();
    for assigned in assignment.iter().take(catalog.len()).filter(|assigned| assigned.tier == Tier::Extended) {
        *sizes.entry(assigned.category.as_str()).or_default() += 1;
    }
    for (name, tools) in sizes.into_iter().filter(|(_, tools)| *tools > LARGE) {
        found.add_finding(&LARGE_CATEGORY, "", format!("category `{}` has {tools} tools", short_line(name)));
    }
}

/// Tools that folding leaves full.
fn stubs(found: &mut Found<'_>, catalog: &Catalog, assignment: &Assignment) {
    let whole = |(tool, assigned): (&'_ Tool, &Assigned)| {
        let folded = Folded::new(tool, Detail::Summary, assigned.summary.as_deref());
        assigned.tier == Tier::Extended && folded.detail() == Detail::Full
    };
    let small: Vec<&str> = catalog
        .iter()
        .zip(assignment.iter())
        .filter(|(tool, assigned)| whole((tool, assigned)))
        .map(|(tool, _)| tool.name().as_str())
        .collect();
    if !small.is_empty() {
        let cost = if small.len() == 1 { "costs" } else { "cost" };
        found.add_finding(&SMALL_STUBS, "", format!("{} {cost} no less as one sentence", first_names(&small)));
    }
}

/// Annotations that an MCP list lacks for clients. They are not billed.
fn hints(found: &mut Found<'_>, catalog: &Catalog) {
    let own: Vec<&Tool> = catalog.iter().filter(|tool| tool.origin() == Some(Format::Mcp)).collect();
    let names = |lacks: &dyn Fn(&Tool) -> bool| -> Vec<&str> {
        own.iter().filter(|tool| lacks(tool)).map(|tool| tool.name().as_str()).collect()
    };
    let unhinted = names(&|tool| tool.annotations().is_none_or(|hints| hints.read_only_hint.is_none()));
    if !unhinted.is_empty() {
        let many = format!("{} of {} tools do not say whether they only read", unhinted.len(), own.len());
        found.add_finding(&NO_HINTS, "", format!("{many}: {}", first_names(&unhinted)));
    }
    let titled = |tool: &Tool| {
        let inside = tool.source(Format::Mcp).is_some_and(|text| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            value.pointer("/annotations/title").is_some()
        });
        tool.title().is_some() || inside
    };
    let untitled = names(&|tool| !titled(tool));
    if !untitled.is_empty() {
        let many = format!("{} of {} tools have no title", untitled.len(), own.len());
        found.add_finding(&NO_TITLE, "", format!("{many}: {}", first_names(&untitled)));
    }
}
