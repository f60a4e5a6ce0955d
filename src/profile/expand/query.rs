//! The answer to a query of `expand_tools`: what it finds, and which definitions follow.

use std::collections::BTreeSet;

use super::reply::{Reply, break_line};
use crate::profile::cost::{definition_tokens, text_tokens};
use crate::profile::search::server;
use crate::profile::{Expanded, Presentation};
use crate::search::{Found, Hit};

/// The number of tools that are listed with a sentence.
const DESCRIBED: usize = 10;
/// The number of tools that are listed.
const LISTED: usize = 30;
/// The maximum size of the list, in estimated tokens; at most 450 tokens are intended.
const LIST_TOKENS: usize = 400;
/// The maximum size of the definitions, in estimated tokens; at most 1,200 tokens are intended.
const DEFINITION_TOKENS: usize = 1_100;
/// The maximum number of categories in an answer.
const CATEGORIES: usize = 3;
/// The maximum number of unknown words in an answer.
const UNKNOWN: usize = 8;
/// The maximum number of tools of a catalog in which a server's other tools are listed, rather than
/// the next results: in a small catalog, they complete a task more often.
const SMALL: usize = 200;

/// What a query finds.
#[derive(Debug, Default)]
pub(super) struct Searched {
    /// The list for the model.
    pub(super) text: String,
    /// Folded tools whose definitions are opened, best first.
    pub(super) opens: Vec<usize>,
    /// Folded tools that are already open, best first.
    pub(super) already: Vec<usize>,
}

impl Reply<'_> {
    /// Searches all visible tools for a query.
    pub(super) fn search(&self, presentation: &Presentation, expanded: &Expanded, query: &str) -> Searched {
        let Found { hits, unknown, .. } = presentation.search().index(self.catalog).search(query);
        let hits: Vec<Hit> = hits.into_iter().filter(|hit| self.is_shown(hit.at)).collect();
        let best: Vec<usize> = hits.iter().take(DESCRIBED).map(|hit| hit.at).collect();
        let mut searched = Searched::default();
        let mut left = DEFINITION_TOKENS;
        let is_folded = |at: usize| presentation.plan_of(at).is_some_and(|planned| planned.deferred);
        for at in best.iter().copied().filter(|at| is_folded(*at)) {
            // A tool that is open counts too, so that the same query again opens nothing more.
            let tokens = self.catalog.at(at).map_or(0, definition_tokens);
            let Some(rest) = left.checked_sub(tokens) else { continue };
            left = rest;
            if self.is_open(expanded, at) { searched.already.push(at) } else { searched.opens.push(at) }
        }
        let notes = self.query_notes(&best, &unknown, expanded);
        let mut list = List { text: String::new(), left: LIST_TOKENS.saturating_sub(text_tokens(&notes)) };
        if !best.is_empty() {
            list.add_line("Found, best first:");
        }
        for at in &best {
            let (name, sentence) = (self.name_of(*at), self.sentence_of(*at));
            if !list.add_line(&format!("- {name}: {sentence}")) {
                list.add_line(&format!("- {name}"));
            }
        }
        let others = self.others(&hits, &best);
        list.add_names("Also: ", others.map(|at| self.name_of(at)));
        searched.text = list.text;
        if !notes.is_empty() {
            break_line(&mut searched.text);
            searched.text.push_str(&notes);
        }
        searched
    }

    /// The lines after the list: unknown words and the categories that the best tools are in.
    fn query_notes(&self, best: &[usize], unknown: &[String], expanded: &Expanded) -> String {
        let mut notes = String::new();
        if !unknown.is_empty() {
            let shown = unknown.get(..UNKNOWN).unwrap_or(unknown);
            notes = format!("No tool mentions: {}", shown.join(", "));
        }
        if best.is_empty() {
            break_line(&mut notes);
            let mut list = List { text: String::new(), left: LIST_TOKENS.saturating_sub(text_tokens(&notes)) };
            let categories = self.known.iter().map(|entry| self.naming.category(entry.category.as_str()));
            list.add_names("No tool matches. Categories: ", categories);
            return notes + &list.text;
        }
        let mut categories: Vec<&str> = Vec::new();
        for at in best {
            let Some(entry) = self.known.iter().find(|entry| entry.tools.contains(at)) else { continue };
            let name = self.naming.category(entry.category.as_str());
            let is_open = expanded.categories().any(|open| *open == entry.category);
            if !is_open && !categories.contains(&name) && categories.len() < CATEGORIES {
                categories.push(name);
            }
        }
        if !categories.is_empty() {
            break_line(&mut notes);
            notes.push_str(&format!("For related tools, open the category: {}", categories.join(", ")));
        }
        notes
    }

    /// The tools that are listed without a sentence: the next results, or the tools of the first
    /// two servers.
    fn others<'h>(&self, hits: &'h [Hit], best: &'h [usize]) -> impl Iterator<Item = usize> + use<'h> {
        let next = hits.iter().take(LISTED).map(|hit| hit.at);
        // Tools without a known server count as one server's: a single server's list names none.
        let server = |at: usize| self.catalog.at(at).and_then(server);
        let mut servers: Vec<Option<&str>> = Vec::new();
        for server in next.clone().map(server) {
            if servers.len() < 2 && !servers.contains(&server) {
                servers.push(server);
            }
        }
        let of_first = next.clone().filter(|at| servers.first() == Some(&server(*at))).count();
        let by_server = self.catalog.len() <= SMALL || of_first * 2 > hits.len().min(LISTED);
        let others: Vec<usize> = if by_server {
            let is_theirs = |at: &usize| servers.contains(&server(*at)) && self.is_shown(*at);
            let ranked = hits.iter().map(|hit| hit.at).filter(is_theirs);
            let mut seen = BTreeSet::new();
            ranked.chain((0..self.catalog.len()).filter(is_theirs)).filter(|at| seen.insert(*at)).collect()
        } else {
            next.collect()
        };
        others.into_iter().filter(|at| !best.contains(at))
    }

    fn name_of(&self, at: usize) -> &str {
        self.catalog.at(at).map_or("", |tool| self.naming.tool(at, tool.name().as_str()))
    }

    fn sentence_of(&self, at: usize) -> String {
        let tool = self.catalog.at(at).zip(self.assignment.at(at));
        tool.map(|(tool, assigned)| assigned.sentence(tool)).unwrap_or_default()
    }
}

/// A text that grows line by line up to a size.
struct List {
    text: String,
    /// The remaining size, in estimated tokens.
    left: usize,
}

impl List {
    /// Adds a line. Returns whether it fits.
    fn add_line(&mut self, line: &str) -> bool {
        let tokens = text_tokens(line) + 1;
        if tokens > self.left {
            return false;
        }
        self.left -= tokens;
        break_line(&mut self.text);
        self.text.push_str(line);
        true
    }

    /// Adds a line with as many names as fit.
    fn add_names<'n>(&mut self, words: &str, names: impl Iterator<Item = &'n str>) {
        let mut line = words.to_owned();
        let mut tokens = text_tokens(words) + 1;
        let mut separator = "";
        for name in names {
            tokens += text_tokens(name) + 1;
            if tokens > self.left {
                break;
            }
            line.push_str(separator);
            line.push_str(name);
            separator = ", ";
        }
        if !separator.is_empty() {
            self.add_line(&line);
        }
    }
}
