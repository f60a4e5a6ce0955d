//! The effect of an `expand_tools` call, and the text of its answer.

use std::collections::BTreeSet;

use super::listing::counts_that_fit;
use super::{ExpandRequest, bridges, definitions};
use crate::catalog::{Catalog, Tool};
use crate::name::{CategoryName, ToolName, nearest};
use crate::profile::naming::named_by;
use crate::profile::{Arm, Assignment, Deferred, Delivery, Expanded, Naming, Presentation, Tier};

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
        let open = expanded.categories().any(|open| *open == entry.category);
        if !open && !self.categories.contains(&entry.category) {
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
    let known = presentation.deferred();
    if known.is_empty() {
        let reply = "Nothing is folded: every tool is shown whole. Call it directly.".to_owned();
        return Expansion { reply, ..Expansion::default() };
    }
    let words = Reply { catalog, assignment, known, arm: presentation.arm(), naming };
    let mut found = Expansion::default();
    let Named { fresh, already, whole, servers, unknown } =
        words.open_named(presentation, expanded, request, &mut found);
    let mut mentioned: Vec<usize> = fresh.union(&already).copied().collect();
    let (mut fresh, mut already) = (Vec::from_iter(fresh), Vec::from_iter(already));
    if let Some(query) = &request.query {
        let searched = words.search(presentation, expanded, query);
        for at in searched.opens.into_iter().filter(|at| !mentioned.contains(at)) {
            found.open_tool(catalog.at(at), expanded);
            fresh.push(at);
        }
        already.extend(searched.already.into_iter().filter(|at| !mentioned.contains(at)));
        found.notes = searched.text;
    }
    found.notes = joined_lines(&found.notes, &servers);
    mentioned.extend(fresh.iter().chain(&already).filter(|at| !mentioned.contains(at)).copied().collect::<Vec<_>>());
    let name_of = |at: &usize| catalog.at(*at).map(|tool| tool.name().clone());
    found.mentioned = mentioned.iter().filter_map(name_of).collect();
    found.opened = fresh.iter().filter_map(name_of).collect();
    found.reply = joined_lines(&found.notes, &words.opened_text(&fresh, &already, &whole));
    if !unknown.is_empty() {
        let unknown_text = words.unknown_text(&unknown);
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
    pub(super) known: &'r [Deferred],
    arm: Arm,
    pub(super) naming: &'r dyn Naming,
}

impl<'r> Reply<'r> {
    /// Opens the categories and tools that a request names.
    fn open_named<'n>(
        &self,
        presentation: &Presentation,
        expanded: &Expanded,
        request: &'n ExpandRequest,
        found: &mut Expansion,
    ) -> Named<'n> {
        let (catalog, naming) = (self.catalog, self.naming);
        let mut named = Named::default();
        let categories = request.categories.iter().map(|name| (name, true));
        for (wanted, as_category) in categories.chain(request.tools.iter().map(|name| (name, false))) {
            let wanted = wanted.trim();
            let entry = self.known.iter().find(|entry| entry.category == naming.find_category(wanted));
            let mut candidates = named_by(catalog, naming, wanted);
            candidates.retain(|at| self.is_shown(*at));
            let tool = candidates.first().copied().filter(|_| candidates.len() == 1);
            let folded = tool.filter(|at| presentation.plan_of(*at).is_some_and(|planned| planned.deferred));
            // A name of both kinds has the kind it was requested as.
            let members: &[usize] = match (entry, &folded) {
                (Some(entry), at) if as_category || at.is_none() => {
                    found.open_category(entry, expanded);
                    &entry.tools
                }
                (_, Some(at)) => {
                    found.open_tool(catalog.at(*at), expanded);
                    std::slice::from_ref(at)
                }
                (_, None) => {
                    match (tool, self.server_text(presentation, wanted)) {
                        (Some(at), _) if named.whole.contains(&at) => {}
                        (Some(at), _) => named.whole.push(at),
                        (None, Some(text)) => named.servers = joined_lines(&named.servers, &text),
                        (None, None) if named.unknown.iter().any(|seen| seen.name == wanted) => {}
                        (None, None) => named.unknown.push(Unknown { name: wanted, as_category, candidates }),
                    }
                    continue;
                }
            };
            for at in members {
                match self.is_open(expanded, *at) {
                    true => named.already.insert(*at),
                    false => named.fresh.insert(*at),
                };
            }
        }
        named
    }

    /// The categories of a server; `None` if it has no folded tools.
    fn server_text(&self, presentation: &Presentation, wanted: &str) -> Option<String> {
        let mut categories = Vec::new();
        for entry in self.known {
            let mut tools = 0;
            for tool in entry.tools.iter().filter_map(|at| self.catalog.at(*at)) {
                tools += usize::from(presentation.search().server_or_other(tool) == wanted);
            }
            if tools > 0 {
                categories.push((self.naming.category(entry.category.as_str()), tools));
            }
        }
        let (list, left_out) = counts_that_fit(&categories);
        let more = if left_out == 0 { String::new() } else { format!(" and {left_out} more") };
        (!categories.is_empty()).then(|| format!("Categories of {wanted}: {list}{more}"))
    }

    pub(super) fn is_open(&self, expanded: &Expanded, at: usize) -> bool {
        let category = self.assignment.at(at).map(|assigned| assigned.category.as_str());
        let tool = self.catalog.at(at).map(|tool| tool.name().as_str());
        tool.zip(category).is_some_and(|(tool, category)| expanded.opens_tool(tool, category))
    }

    pub(super) fn is_shown(&self, at: usize) -> bool {
        self.assignment.at(at).is_some_and(|assigned| assigned.tier != Tier::Hidden)
    }

    fn opened_text(&self, fresh: &[usize], already: &[usize], whole: &[usize]) -> String {
        let mut text = String::new();
        if !fresh.is_empty() && self.arm.delivery() != Delivery::Append {
            text = definitions(self.catalog, self.arm, fresh.iter().copied(), self.naming);
        }
        let mut line = |words: &str, tools: Vec<&str>| {
            if !tools.is_empty() {
                break_line(&mut text);
                text.push_str(&format!("{words}: {}", tools.join(", ")));
            }
        };
        let name = |at: &usize| Some(self.naming.tool(*at, self.catalog.at(*at)?.name().as_str()));
        if self.arm.delivery() == Delivery::Append {
            line("Loaded, call it directly", fresh.iter().filter_map(name).collect());
        }
        if self.arm.delivery() == Delivery::Bridge {
            for bridge in bridges(self.catalog, already.iter().copied(), self.naming) {
                let own = already.iter().filter(|at| self.catalog.at(**at).is_some_and(|tool| bridge.is_for(tool)));
                let words = format!("Already open, run it with {}", self.naming.bridge(bridge));
                line(&words, own.filter_map(name).collect());
            }
        } else {
            line("Already open, call it directly", already.iter().filter_map(name).collect());
        }
        line("Shown whole from the start, call it directly", whole.iter().filter_map(name).collect());
        text
    }

    /// The text about names that open nothing.
    fn unknown_text(&self, unknown: &[Unknown<'_>]) -> String {
        let categories: Vec<&'r str> =
            self.known.iter().map(|entry| self.naming.category(entry.category.as_str())).collect();
        let tools = self.catalog.names().enumerate().filter(|(at, _)| self.is_shown(*at));
        let tools = tools.map(|(at, own)| self.naming.tool(at, own.as_str()));
        let names: Vec<&'r str> = categories.iter().copied().chain(tools).collect();
        let mut text = String::new();
        for (at, Unknown { name, as_category, candidates }) in unknown.iter().enumerate() {
            break_line(&mut text);
            if at == MAX_UNKNOWN_EXPLAINED {
                text.push_str(&format!("{} more names are unknown too.", unknown.len() - at));
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
