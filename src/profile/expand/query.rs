//! The answer to a query of `expand_tools`: what it finds, and which definitions follow.

use std::collections::BTreeSet;

use super::reply::{Reply, break_line};
use crate::profile::cost::{definition_tokens, text_tokens};
use crate::profile::search::server;
use crate::search::Found;

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

impl<'r> Reply<'r> {
    /// Searches all visible tools for a query.
    pub(super) fn search(&self, query: &str) -> Searched {
        let Found { hits, unknown, .. } = self.presentation.search().index(self.catalog, self.assignment).search(query);
        let mut found: Vec<usize> = hits.iter().map(|hit| hit.at).collect();
        found.retain(|at| self.is_shown(*at));
        let best = found.get(..DESCRIBED).unwrap_or(&found);
        let mut searched = Searched::default();
        let mut left = DEFINITION_TOKENS;
        for at in best.iter().copied() {
            // A tool that is open counts too, so that the same query again opens nothing more.
            let tokens = self.catalog.at(at).map_or(0, definition_tokens);
            if !self.presentation.is_folded(at) || tokens > left {
                continue;
            }
            left -= tokens;
            if self.is_open(at) { searched.already.push(at) } else { searched.opens.push(at) }
        }
        let notes = self.query_notes(best, &unknown);
        let mut list = List { text: String::new(), left: LIST_TOKENS.saturating_sub(text_tokens(&notes)) };
        if !best.is_empty() {
            list.add_line("Found, best first:");
        }
        for at in best {
            let (name, sentence) = (self.name_of(*at), self.sentence_of(*at));
            if !list.add_line(&format!("- {name}: {sentence}")) {
                list.add_line(&format!("- {name}"));
            }
        }
        let others: Vec<&str> = self.others(&found).into_iter().map(|at| self.name_of(at)).collect();
        list.add_names("Also: ", others);
        searched.text = list.text;
        if !notes.is_empty() {
            break_line(&mut searched.text);
            searched.text.push_str(&notes);
        }
        searched
    }

    /// The lines after the list: unknown words and the categories that the best tools are in.
    fn query_notes(&self, best: &[usize], unknown: &[String]) -> String {
        let mut notes = String::new();
        if !unknown.is_empty() {
            let shown = unknown.get(..UNKNOWN).unwrap_or(unknown);
            notes = format!("No tool mentions: {}", shown.join(", "));
        }
        if best.is_empty() {
            break_line(&mut notes);
            let mut list = List { text: String::new(), left: LIST_TOKENS.saturating_sub(text_tokens(&notes)) };
            list.add_names("No tool matches. Categories: ", self.category_names());
            return notes + &list.text;
        }
        let mut categories: Vec<&str> = Vec::new();
        for at in best {
            let mut entries = self.presentation.deferred.iter();
            let Some(entry) = entries.find(|entry| entry.tools.contains(at)) else { continue };
            let name = self.naming.category(entry.category.as_str());
            let is_open = self.expanded.opens_category(&entry.category);
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

    /// The tools that are listed without a sentence: the next results, or the other tools of the
    /// first two servers.
    fn others(&self, found: &[usize]) -> Vec<usize> {
        let listed = found.get(..LISTED).unwrap_or(found);
        // Tools without a known server count as one server's: a single server's list names none.
        let server = |at: usize| self.catalog.at(at).and_then(server);
        let mut servers: Vec<Option<&str>> = Vec::new();
        let mut of_first = 0;
        for at in listed {
            if servers.len() < 2 && !servers.contains(&server(*at)) {
                servers.push(server(*at));
            }
            of_first += usize::from(servers.first() == Some(&server(*at)));
        }
        if self.catalog.len() > SMALL && of_first * 2 <= listed.len() {
            return listed.iter().skip(DESCRIBED).copied().collect();
        }
        let mut others = Vec::new();
        let mut seen: BTreeSet<usize> = found.iter().take(DESCRIBED).copied().collect();
        for at in found.iter().copied().chain(0..self.catalog.len()) {
            if servers.contains(&server(at)) && self.is_shown(at) && seen.insert(at) {
                others.push(at);
            }
        }
        others
    }

    pub(super) fn name_of(&self, at: usize) -> &'r str {
        self.catalog.at(at).map_or("", |tool| self.naming.tool(at, tool.name().as_str()))
    }

    fn sentence_of(&self, at: usize) -> String {
        let (Some(tool), Some(assigned)) = (self.catalog.at(at), self.assignment.at(at)) else { return String::new() };
        assigned.sentence(tool)
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
    fn add_names(&mut self, words: &str, names: Vec<&str>) {
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
