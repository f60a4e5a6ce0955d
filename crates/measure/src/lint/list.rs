//! Rules about the list as a whole.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use toolfold::catalog::{Catalog, Format};
use toolfold::profile::{Assignment, Detail, Folded, Tier, ToolProfile, first_sentence};

use super::found::Found;
use super::rules::{BOILERPLATE, LARGE_CATEGORY, NO_HINTS, NO_TITLE, SHARED_SENTENCE, SMALL_STUBS};
use super::view::{first_names, short_line};

/// The minimum number of tools whose common beginning is not a coincidence.
const ALIKE: usize = 3;
/// The minimum number of tools with a text, and its minimum length, for boilerplate.
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
        let (mut names, mut tails) = (BTreeSet::new(), BTreeSet::new());
        for tool in catalog.iter() {
            if !tool.description().trim().is_empty() {
                *firsts.entry(first_sentence(tool.description())).or_default() += 1;
            }
            let name = tool.name().as_str();
            names.insert(name);
            if let Some((_, tail)) = name.split_once('_') {
                tails.insert(tail);
            }
        }
        Self { names, tails, sentences, firsts }
    }

    /// The sentence that represents a tool instead of its first one.
    pub(super) fn representative(&self, at: usize) -> Option<&str> {
        self.sentences.get(at)?.as_deref()
    }

    /// Whether several tools begin with a sentence.
    pub(super) fn is_shared(&self, sentence: &str) -> bool {
        self.firsts.get(sentence).is_some_and(|n| *n >= ALIKE)
    }

    /// Whether a tool has this name, ignoring the server's prefix.
    pub(super) fn is_known(&self, name: &str) -> bool {
        let mut names = self.names.iter();
        self.tails.contains(name) || names.any(|own| own.ends_with(name) || name.ends_with(*own))
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
        for line in tool.description().lines() {
            let line = line.trim();
            if line.chars().count() < REPEATED_CHARS {
                continue;
            }
            let (tools, last, _) = lines.entry(line).or_insert((0, usize::MAX, tool.name().as_str()));
            if *last != at {
                *tools += 1;
                *last = at;
            }
        }
    }
    lines.retain(|_, (tools, ..)| *tools >= REPEATED);
    let mut often: Vec<(&str, (usize, usize, &str))> = lines.into_iter().collect();
    often.sort_by_key(|(line, (tools, ..))| (std::cmp::Reverse(tools * line.len()), *line));
    for (line, (tools, _, first)) in often.into_iter().take(MOST_TEXTS) {
        let reason = format!("{tools} tools contain `{}`, first `{}`", short_line(line), short_line(first));
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
    for assigned in assignment.iter().take(catalog.len()) {
        if assigned.tier == Tier::Extended {
            *sizes.entry(assigned.category.as_str()).or_default() += 1;
        }
    }
    for (name, tools) in sizes {
        if tools > LARGE {
            found.add_finding(&LARGE_CATEGORY, "", format!("category `{}` has {tools} tools", short_line(name)));
        }
    }
}

/// Tools that folding leaves full.
fn stubs(found: &mut Found<'_>, catalog: &Catalog, assignment: &Assignment) {
    let mut small = Vec::new();
    for (tool, assigned) in catalog.iter().zip(assignment.iter()) {
        let folded = Folded::new(tool, Detail::Summary, assigned.summary.as_deref());
        if assigned.tier == Tier::Extended && folded.detail() == Detail::Full {
            small.push(tool.name().as_str());
        }
    }
    if !small.is_empty() {
        let cost = if small.len() == 1 { "costs" } else { "cost" };
        found.add_finding(&SMALL_STUBS, "", format!("{} {cost} no less as one sentence", first_names(&small)));
    }
}

/// Annotations that an MCP list lacks for clients. They are not billed.
fn hints(found: &mut Found<'_>, catalog: &Catalog) {
    let (mut all, mut unhinted, mut untitled) = (0, Vec::new(), Vec::new());
    for tool in catalog.iter().filter(|tool| tool.origin() == Some(Format::Mcp)) {
        all += 1;
        if tool.annotations().is_none_or(|hints| hints.read_only_hint.is_none()) {
            unhinted.push(tool.name().as_str());
        }
        let source: serde_json::Value =
            serde_json::from_str(tool.source(Format::Mcp).unwrap_or_default()).unwrap_or_default();
        if tool.title().is_none() && source.pointer("/annotations/title").is_none() {
            untitled.push(tool.name().as_str());
        }
    }
    for (rule, tools, lack) in
        [(&NO_HINTS, unhinted, "do not declare whether they are read-only"), (&NO_TITLE, untitled, "have no title")]
    {
        if !tools.is_empty() {
            found.add_finding(rule, "", format!("{} of {all} tools {lack}: {}", tools.len(), first_names(&tools)));
        }
    }
}
