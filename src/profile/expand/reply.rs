//! The effect of an `expand_tools` call, and the text of its answer.

use std::collections::BTreeSet;

use super::listing::counts_that_fit;
use super::{ExpandRequest, bridges, definitions};
use crate::catalog::{Catalog, Tool};
use crate::name::{CategoryName, ToolName, nearest};
use crate::profile::naming::named_by;
use crate::profile::search::server_or_other;
use crate::profile::{Assignment, Deferred, Delivery, Expanded, Naming, Presentation, Tier};

/// The maximum number of unknown names with suggestions; the rest are counted.
const MAX_UNKNOWN_EXPLAINED: usize = 5;

/// The maximum number of suggestions for an unknown name.
const MAX_NEAR: usize = 5;

/// The effect of an `expand_tools` call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expansion {
    /// Categories that this call opens.
    pub categories: Vec<CategoryName>,
    /// Tools that this call opens by name.
    pub tools: Vec<ToolName>,
    /// Every tool whose schema is in the answer or, in place, in the next turn.
    pub opened: Vec<ToolName>,
    /// Every folded tool that the request names, whether it was open before or not, in catalog
    /// order, and then those that its query finds, best first.
    pub mentioned: Vec<ToolName>,
    /// Names that open nothing, as given.
    pub unknown: Vec<String>,
    /// The answer for the model, with the names that it sees.
    pub reply: String,
    /// The part of the answer without definitions: what a query finds, unknown names and
    /// suggestions.
    pub notes: String,
}

impl Expansion {
    fn open_category(&mut self, entry: &Deferred, expanded: &Expanded) {
        if !expanded.opens_category(&entry.category) && !self.categories.contains(&entry.category) {
            self.categories.push(entry.category.clone());
        }
    }

    fn open_tool(&mut self, tool: Option<&Tool>, expanded: &Expanded) {
        let Some(tool) = tool else { return };
        if !expanded.tools().any(|open| open == tool.name()) && !self.tools.contains(tool.name()) {
            self.tools.push(tool.name().clone());
        }
    }

    /// Marks everything that this call opens as open.
    pub fn apply(&self, expanded: &mut Expanded) {
        for name in &self.categories {
            expanded.open_category(name.clone());
        }
        for name in &self.tools {
            expanded.open_tool(name.clone());
        }
    }
}

/// Answers an `expand_tools` call. A pure function: `expanded` is what is open before the call;
/// [`Expansion::apply`] opens.
///
/// The request and the answer use the names that the model sees. A tool's name given as a category,
/// or the other way round, is accepted. Tools that are already open are named, not repeated.
#[must_use]
pub fn expand(
    catalog: &Catalog,
    assignment: &Assignment,
    presentation: &Presentation,
    expanded: &Expanded,
    request: &ExpandRequest,
    naming: &dyn Naming,
) -> Expansion {
    if presentation.deferred.is_empty() {
        let reply = "No tool is folded. Call any of them directly.".to_owned();
        return Expansion { reply, ..Expansion::default() };
    }
    let answer = Reply { catalog, assignment, presentation, expanded, naming };
    let mut found = Expansion::default();
    let Named { fresh, already, whole, servers, unknown } = answer.open_named(request, &mut found);
    let mut mentioned: Vec<usize> = fresh.union(&already).copied().collect();
    let (mut fresh, mut already) = (Vec::from_iter(fresh), Vec::from_iter(already));
    if let Some(query) = &request.query {
        let mut searched = answer.search(query);
        searched.opens.retain(|at| !mentioned.contains(at));
        searched.already.retain(|at| !mentioned.contains(at));
        for at in &searched.opens {
            found.open_tool(catalog.at(*at), expanded);
        }
        mentioned.extend(searched.opens.iter().chain(&searched.already));
        fresh.extend(searched.opens);
        already.extend(searched.already);
        found.notes = searched.text;
    }
    found.notes = joined_lines(&found.notes, &servers);
    found.mentioned = answer.tool_names(&mentioned);
    found.opened = answer.tool_names(&fresh);
    found.reply = joined_lines(&found.notes, &answer.opened_text(&fresh, &already, &whole));
    if !unknown.is_empty() {
        let unknown_text = answer.unknown_text(&unknown);
        found.reply = joined_lines(&found.reply, &unknown_text);
        found.notes = joined_lines(&found.notes, &unknown_text);
        found.unknown = unknown.into_iter().map(|unknown| unknown.name.to_owned()).collect();
    }
    found
}

/// What the names in a request refer to.
#[derive(Debug, Default)]
struct Named<'n> {
    /// Folded tools that this call opens.
    fresh: BTreeSet<usize>,
    /// Folded tools that were open before.
    already: BTreeSet<usize>,
    /// Tools that are not folded.
    whole: Vec<usize>,
    /// The categories of the servers that are given as categories.
    servers: String,
    unknown: Vec<Unknown<'n>>,
}

/// A name that opens nothing.
#[derive(Debug)]
struct Unknown<'n> {
    name: &'n str,
    as_category: bool,
    /// The tools that a short name can refer to.
    candidates: Vec<usize>,
}

/// Builds the text of an answer.
pub(super) struct Reply<'r> {
    pub(super) catalog: &'r Catalog,
    pub(super) assignment: &'r Assignment,
    pub(super) presentation: &'r Presentation,
    /// What is open before the call.
    pub(super) expanded: &'r Expanded,
    pub(super) naming: &'r dyn Naming,
}

impl<'r> Reply<'r> {
    /// Opens the categories and tools that a request names.
    fn open_named<'n>(&self, request: &'n ExpandRequest, found: &mut Expansion) -> Named<'n> {
        let mut named = Named::default();
        for name in &request.categories {
            self.open_name(name.trim(), true, &mut named, found);
        }
        for name in &request.tools {
            self.open_name(name.trim(), false, &mut named, found);
        }
        named
    }

    fn open_name<'n>(&self, name: &'n str, as_category: bool, named: &mut Named<'n>, found: &mut Expansion) {
        let category = self.naming.find_category(name);
        let entry = self.presentation.deferred.iter().find(|entry| entry.category == category);
        let mut candidates = named_by(self.catalog, self.naming, name);
        candidates.retain(|at| self.is_shown(*at));
        let tool = if let [only] = candidates[..] { Some(only) } else { None };
        let folded = tool.filter(|at| self.presentation.is_folded(*at));
        // A name of both kinds has the kind it was requested as.
        match (entry, folded, tool) {
            (Some(entry), folded, _) if as_category || folded.is_none() => {
                found.open_category(entry, self.expanded);
                self.open_tools(&entry.tools, named);
            }
            (_, Some(at), _) => {
                found.open_tool(self.catalog.at(at), self.expanded);
                self.open_tools(&[at], named);
            }
            (_, None, Some(at)) if named.whole.contains(&at) => {}
            (_, None, Some(at)) => named.whole.push(at),
            (_, None, None) => match self.server_text(name) {
                Some(text) => named.servers = joined_lines(&named.servers, &text),
                None if named.unknown.iter().any(|seen| seen.name == name) => {}
                None => named.unknown.push(Unknown { name, as_category, candidates }),
            },
        }
    }

    fn open_tools(&self, tools: &[usize], named: &mut Named<'_>) {
        for at in tools {
            if self.is_open(*at) {
                named.already.insert(*at)
            } else {
                named.fresh.insert(*at)
            };
        }
    }

    /// The categories of a server; `None` if it has no folded tools.
    fn server_text(&self, wanted: &str) -> Option<String> {
        let mut categories = Vec::new();
        for entry in &self.presentation.deferred {
            let mut tools = 0;
            for tool in entry.tools.iter().filter_map(|at| self.catalog.at(*at)) {
                tools += usize::from(server_or_other(tool) == wanted);
            }
            if tools > 0 {
                categories.push((self.naming.category(entry.category.as_str()), tools));
            }
        }
        let (list, left_out) = counts_that_fit(&categories);
        let more = if left_out == 0 { String::new() } else { format!(" and {left_out} more") };
        (!categories.is_empty()).then(|| format!("Categories of {wanted}: {list}{more}"))
    }

    pub(super) fn is_open(&self, at: usize) -> bool {
        let (Some(tool), Some(assigned)) = (self.catalog.at(at), self.assignment.at(at)) else { return false };
        self.expanded.opens_tool(tool.name().as_str(), assigned.category.as_str())
    }

    pub(super) fn is_shown(&self, at: usize) -> bool {
        self.assignment.at(at).is_some_and(|assigned| assigned.tier != Tier::Hidden)
    }

    fn tool_names(&self, tools: &[usize]) -> Vec<ToolName> {
        tools.iter().filter_map(|at| Some(self.catalog.at(*at)?.name().clone())).collect()
    }

    fn opened_text(&self, fresh: &[usize], already: &[usize], whole: &[usize]) -> String {
        let arm = self.presentation.arm();
        let mut text = String::new();
        if arm.delivery() == Delivery::Append {
            self.add_line(&mut text, "Loaded, call it directly", fresh);
        } else if !fresh.is_empty() {
            text = definitions(self.catalog, arm, fresh.iter().copied(), self.naming);
        }
        if arm.delivery() == Delivery::Bridge {
            for bridge in bridges(self.catalog, already.iter().copied(), self.naming) {
                let mut own = already.to_vec();
                own.retain(|at| self.catalog.at(*at).is_some_and(|tool| bridge.is_for(tool)));
                let words = format!("Already open, run it with {}", self.naming.bridge(bridge));
                self.add_line(&mut text, &words, &own);
            }
        } else {
            self.add_line(&mut text, "Already open, call it directly", already);
        }
        self.add_line(&mut text, "Already shown in full, call it directly", whole);
        text
    }

    /// Adds a line with the names of tools, if there are any.
    fn add_line(&self, text: &mut String, words: &str, tools: &[usize]) {
        if !tools.is_empty() {
            let names: Vec<&str> = tools.iter().map(|at| self.name_of(*at)).collect();
            break_line(text);
            text.push_str(&format!("{words}: {}", names.join(", ")));
        }
    }

    /// The names of the categories with folded tools.
    pub(super) fn category_names(&self) -> Vec<&'r str> {
        let categories = self.presentation.deferred.iter();
        categories.map(|entry| self.naming.category(entry.category.as_str())).collect()
    }

    /// The text about names that open nothing.
    fn unknown_text(&self, unknown: &[Unknown<'_>]) -> String {
        let categories = self.category_names();
        let mut names = categories.clone();
        for at in 0..self.catalog.len() {
            if self.is_shown(at) {
                names.push(self.name_of(at));
            }
        }
        let mut text = String::new();
        for (at, Unknown { name, as_category, candidates }) in unknown.iter().enumerate() {
            break_line(&mut text);
            if at == MAX_UNKNOWN_EXPLAINED {
                text.push_str(&format!("{} more names are unknown.", unknown.len() - at));
                break;
            }
            let short: String = crate::diagnostic::visible(name).chars().take(80).collect();
            if !candidates.is_empty() {
                let near: Vec<&str> = candidates.iter().take(MAX_NEAR).map(|at| self.name_of(*at)).collect();
                text.push_str(&format!("`{short}` is ambiguous.{}", did_you_mean(&near)));
                continue;
            }
            let near = nearest(name, names.iter().copied(), MAX_NEAR);
            let kind = if *as_category { "category" } else { "tool" };
            text.push_str(&format!("Unknown {kind} `{short}`."));
            if near.is_empty() {
                text.push_str(&format!(" Categories: {}.", categories.join(", ")));
            } else {
                text.push_str(&did_you_mean(&near));
            }
        }
        text
    }
}

/// A question with alternatives, after a sentence.
fn did_you_mean(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" Did you mean {only}?"),
        Some((last, rest)) => format!(" Did you mean {} or {last}?", rest.join(", ")),
    }
}

/// Two texts, on separate lines.
fn joined_lines(one: &str, other: &str) -> String {
    let separator = if one.is_empty() || other.is_empty() { "" } else { "\n" };
    format!("{one}{separator}{other}")
}

pub(super) fn break_line(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}
