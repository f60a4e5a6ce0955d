//! The list of skills: the richest one within a budget.
//!
//! The levels are: complete descriptions; descriptions cut evenly, longest first; every name, and
//! the complete descriptions of as many as fit; of many skills, every name and the beginnings of as
//! many descriptions as fit, or those beginnings alone, with a line that counts the rest; as many
//! names as fit, with that line. The list is in the order of the names. If descriptions or names
//! are omitted, those of the skills used most stay, then those of the nearest scope: project before
//! user before plugins.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::budget::{Budget, char_quarters, quarters};
use super::document::one_line;
use super::exposure::SEARCH_FROM;
use super::library::Skill;
use super::view::SkillView;
use crate::diagnostic::is_invisible;

/// The list of skills for the model, and what it omits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CatalogText {
    /// One `- name: description` per line. The last lines state what is omitted. The list of
    /// `activate_skill` has no lines for names alone, which are in its enum.
    pub text: String,
    /// The names of the list, sorted.
    pub listed: Vec<String>,
    /// The number of skills with their complete description.
    pub full: usize,
    /// The number of skills with a shortened description.
    pub trimmed: usize,
    /// The number of skills with only their name.
    pub names_only: usize,
    /// The number of skills that are counted but not listed.
    pub omitted: usize,
}

impl CatalogText {
    /// Whether the list has every skill with its complete description.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.trimmed + self.names_only + self.omitted == 0
    }
}

/// The minimum length of a shown description, in quarters of an estimated token. Below it only
/// names are shown.
const LEAST: usize = 24;
/// The minimum number of descriptions beside every name of many skills. With fewer, a model would
/// choose by names alone, so the descriptions of the first skills are listed, and the others are
/// found by search.
const LEAST_DESCRIBED: usize = 16;
/// The maximum number of bytes per unit of the budget: a longer list is not tried. No prose has
/// this many bytes per token.
const BYTES_PER_UNIT: usize = 24;

/// Lists the visible skills within a budget, counted without a vocabulary.
#[must_use]
pub fn catalog_text(view: &SkillView, budget: Budget) -> CatalogText {
    let rows = Rows::new(view, &BTreeMap::new(), false);
    rows.richest(budget.limit(), |list| budget.weigh(&list.text) <= budget.limit())
}

pub(super) struct Rows {
    /// Name and description on one line each, by name.
    rows: Vec<(String, String)>,
    /// Indices of `rows`, in the order in which descriptions and names are kept.
    order: Vec<usize>,
    /// How many of them, from the first, have been used.
    used: usize,
    /// Whether all listed names are in an enum, too, so that the text omits those without a
    /// description.
    beside_enum: bool,
}

/// The level of detail of a list.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// The complete descriptions of the first N, and of the others at most this many quarters of an
    /// estimated token.
    Described(usize, usize),
    /// The descriptions of the first N: of used skills complete, of the others at most this many
    /// quarters of an estimated token. And whether the other names are listed.
    First(usize, usize, bool),
    /// This many names.
    Named(usize),
}

impl Rows {
    /// The rows of a view. `uses`: how often each skill was activated, by name. `beside_enum`: the
    /// names are also in an enum.
    pub(super) fn new(view: &SkillView, uses: &BTreeMap<String, usize>, beside_enum: bool) -> Self {
        let (mut rows, mut ranks) = (Vec::new(), Vec::new());
        for (at, (name, skill)) in view.names().zip(view.skills()).enumerate() {
            rows.push((name.to_owned(), row(skill).1));
            let used = uses.get(name).copied().unwrap_or_default();
            ranks.push((Reverse(used), skill.origin.scope as u8, at));
        }
        ranks.sort_unstable();
        let used = ranks.iter().take_while(|(Reverse(used), ..)| *used > 0).count();
        Self { rows, order: ranks.into_iter().map(|(.., at)| at).collect(), used, beside_enum }
    }

    /// The richest list that fits. If none does, the list that only counts. `limit` bounds the
    /// number of attempts, so that the time does not grow with entries that cannot fit.
    pub(super) fn richest(&self, limit: usize, fits: impl Fn(&CatalogText) -> bool) -> CatalogText {
        let most_bytes = limit.saturating_mul(BYTES_PER_UNIT);
        let tried = |level: Level| {
            let list = self.list(level, most_bytes)?;
            fits(&list).then_some(list)
        };
        let widest = self.rows.iter().map(|(_, description)| quarters(description)).max().unwrap_or_default();
        if let Some(whole) = tried(Level::Described(0, widest)) {
            return whole;
        }
        // Each search finds the boundary between what fits and what does not. If the complete
        // descriptions of all used skills leave no room for the others, all are shortened.
        for used in BTreeSet::from([Reverse(self.used), Reverse(0)]) {
            let described = |cap| tried(Level::Described(used.0, cap));
            if let Some(list) = last_that_fits(LEAST, widest.min(most_bytes), described) {
                return list;
            }
        }
        let first = |least, cap, others| {
            last_that_fits(least, self.rows.len().min(limit), |count| tried(Level::First(count, cap, others)))
        };
        let least = if self.rows.len() > SEARCH_FROM { LEAST_DESCRIBED } else { 0 };
        let shortened = || first(least, LEAST, true).or_else(|| first(1, LEAST, false)).filter(|_| least > 0);
        if let Some(list) = first(least, usize::MAX, true).or_else(shortened) {
            return list;
        }
        let most = self.rows.len().saturating_sub(1).min(limit);
        let named = last_that_fits(0, most, |count| tried(Level::Named(count)));
        named.or_else(|| self.list(Level::Named(0), usize::MAX)).unwrap_or_default()
    }

    /// The list at a level; `None` if it has more than `most_bytes`.
    fn list(&self, level: Level, most_bytes: usize) -> Option<CatalogText> {
        let mut list = CatalogText::default();
        match level {
            Level::Described(count, cap) => {
                let first = self.first(count);
                for (at, (name, description)) in self.rows.iter().enumerate() {
                    let cap = if first.contains(&at) { usize::MAX } else { cap };
                    self.describe(&mut list, name, description, cap);
                    if list.text.len() > most_bytes {
                        return None;
                    }
                }
            }
            Level::First(count, cap, others) => {
                let (first, used) = (self.first(count), self.first(self.used));
                for (at, (name, description)) in self.rows.iter().enumerate() {
                    let cap = if used.contains(&at) { usize::MAX } else { cap };
                    match first.contains(&at) {
                        true => self.describe(&mut list, name, description, cap),
                        false if others => self.only_name(&mut list, name),
                        false => {}
                    }
                    if list.text.len() > most_bytes {
                        return None;
                    }
                }
            }
            Level::Named(count) => {
                for (name, _) in self.first(count).into_iter().filter_map(|at| self.rows.get(at)) {
                    self.only_name(&mut list, name);
                    if list.text.len() > most_bytes {
                        return None;
                    }
                }
            }
        }
        if self.beside_enum && list.names_only > 0 {
            let _ = writeln!(list.text, "- (and {} more by name: the other values of `name`)", list.names_only);
        }
        list.omitted = self.rows.len() - list.listed.len();
        if list.omitted > 0 {
            let (number, s) = (list.omitted, if list.omitted == 1 { "" } else { "s" });
            let _ = writeln!(list.text, "- (and {number} more skill{s} that are not listed here)");
        }
        Some(list)
    }

    /// The indices of the first skills of the order, sorted.
    fn first(&self, count: usize) -> BTreeSet<usize> {
        self.order.iter().copied().take(count).collect()
    }

    fn describe(&self, list: &mut CatalogText, name: &str, description: &str, cap: usize) {
        let whole = quarters(description) <= cap;
        let shown = if whole { description.to_owned() } else { cut(description, cap) };
        *(if whole { &mut list.full } else { &mut list.trimmed }) += 1;
        let _ = writeln!(list.text, "- {name}: {shown}");
        list.listed.push(name.to_owned());
    }

    fn only_name(&self, list: &mut CatalogText, name: &str) {
        list.names_only += 1;
        if !self.beside_enum {
            let _ = writeln!(list.text, "- {name}");
        }
        list.listed.push(name.to_owned());
    }
}

/// The result for the largest number in the inclusive range that returns one, by binary search.
fn last_that_fits<T>(least: usize, most: usize, fit: impl Fn(usize) -> Option<T>) -> Option<T> {
    if least > most {
        return None;
    }
    let mut best = fit(least)?;
    let (mut fitting, mut beyond) = (least, most.saturating_add(1));
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        match fit(middle) {
            Some(better) => (best, fitting) = (better, middle),
            None => beyond = middle,
        }
    }
    Some(best)
}

/// Cuts a text at a weight, at the end of a nearby word if possible, and adds an ellipsis.
fn cut(text: &str, cap: usize) -> String {
    let mut room = cap.saturating_sub(char_quarters('…'));
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let cost = char_quarters(c);
        if cost > room {
            break;
        }
        room -= cost;
        end = at + c.len_utf8();
    }
    let head = text.get(..end).unwrap_or_default();
    let at_word = head.rfind(' ').filter(|at| at * 4 > end * 3).unwrap_or(end);
    let head = head.get(..at_word).unwrap_or(head).trim_end_matches([' ', ',', ';', ':', '.']);
    format!("{head}…")
}

/// Name and description on one line each; for an untrusted root without control and bidirectional
/// characters.
pub(super) fn row(skill: &Skill) -> (String, String) {
    let characters = skill.description().chars();
    let description = if skill.origin.trusted {
        let text: String = characters.map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    } else {
        one_line(&characters.filter(|c| c.is_whitespace() || !is_invisible(*c)).collect::<String>())
    };
    (one_line(skill.name()), description)
}
