//! Searches skills by words in names, descriptions, tags and headings.

use std::fmt::Write as _;
use std::sync::Arc;

use toolfold_diagnostic::search::{Entry, Found, Index};

use super::document::one_line;
use super::library::Skill;
use super::listing::row;
use super::view::SkillView;

/// The maximum number of skills in an answer.
const PAGE: usize = 10;
/// The maximum number of characters of a description in an answer.
const SHOWN: usize = 200;

/// The maximum number of unknown words in an answer.
const UNKNOWN: usize = 5;
/// The maximum number of headings of a skill that are searched.
const HEADINGS: usize = 100;

/// An index over the skills of a view, including copies: only visible skills can be found.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkillIndex {
    /// The skills by the names that select them.
    entries: Vec<(String, Arc<Skill>)>,
    index: Index,
}

/// The skills that a query finds, as indices with their scores, best first.
#[derive(Debug, Default)]
struct Ranked {
    places: Vec<(usize, f64)>,
    /// Words that no skill contains.
    unknown: Vec<String>,
}

/// A search result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hit {
    /// The name that selects the skill, or `name@scope` for a copy whose name another skill has.
    pub name: String,
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its score; only the order is meaningful.
    pub score: f64,
}

impl SkillIndex {
    /// Indexes names, descriptions, tags and headings.
    #[must_use]
    pub(crate) fn new(view: &SkillView) -> Self {
        let mut entries: Vec<(String, Arc<Skill>)> =
            view.all().map(|(name, skill)| (name.to_owned(), Arc::clone(skill))).collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        let index = Index::new(entries.iter().map(|(name, skill)| entry(name, skill)));
        Self { entries, index }
    }

    /// As [`SkillView::search`].
    pub(crate) fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        self.page(&self.ranked(query).places, 0, most)
    }

    /// A page of ranked results.
    fn page(&self, ranked: &[(usize, f64)], skip: usize, most: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (at, score) in ranked.iter().skip(skip).take(most) {
            if let Some((name, skill)) = self.entries.get(*at) {
                hits.push(Hit { name: name.clone(), skill: Arc::clone(skill), score: *score });
            }
        }
        hits
    }

    fn ranked(&self, query: &str) -> Ranked {
        let query = query.trim();
        if matches!(query, "" | "*") {
            return Ranked { places: (0..self.entries.len()).map(|at| (at, 0.0)).collect(), ..Ranked::default() };
        }
        let Found { hits, unknown, .. } = self.index.search(query);
        if !hits.is_empty() {
            return Ranked { places: hits.iter().map(|hit| (hit.at, hit.score)).collect(), unknown };
        }
        let wanted = query.to_lowercase();
        let mut found = Ranked::default();
        for (at, (name, skill)) in self.entries.iter().enumerate() {
            if name.to_lowercase().contains(&wanted) || skill.description().to_lowercase().contains(&wanted) {
                found.places.push((at, 0.0));
            }
        }
        found
    }
}

/// What is searched of a skill.
fn entry<'s>(name: &'s str, skill: &'s Skill) -> Entry<'s> {
    let mut entry = Entry::new(name, skill.description());
    entry.short = Some(skill.name());
    for tag in &skill.fields().tags {
        entry.labels.push(tag);
    }
    for line in skill.body().lines() {
        if entry.details.len() == HEADINGS {
            break;
        }
        if line.starts_with('#') {
            entry.details.push(line);
        }
    }
    entry
}

/// The answer to a search, for the model: ten skills, and the suffix to add to the query for the
/// next ten, so that every skill is reachable.
pub(crate) fn answer(view: &SkillView, query: &str) -> String {
    let (words, from) = paged(query);
    let index = view.index();
    let Ranked { places: ranked, unknown } = index.ranked(&words);
    if ranked.is_empty() {
        return "No skill matches these words. Try others, or the names in the tool's description.".to_owned();
    }
    let page = index.page(&ranked, from - 1, PAGE);
    if page.is_empty() {
        return format!("Only {} skills match these words. Search without `from:{from}`.", ranked.len());
    }
    let mut text = String::from("Matching skills, best first; activate one by its name:");
    for hit in &page {
        let (_, description) = row(&hit.skill);
        let cut = if description.chars().nth(SHOWN).is_some() { "…" } else { "" };
        let shown: String = description.chars().take(SHOWN).collect();
        let _ = write!(text, "\n- {}: {shown}{cut}", one_line(&hit.name));
    }
    let last = from - 1 + page.len();
    if from > 1 || last < ranked.len() {
        let _ = write!(text, "\n({from} to {last} of {}", ranked.len());
        if last < ranked.len() {
            let _ = write!(text, "; add `from:{}` for more", last + 1);
        }
        text.push(')');
    }
    if !unknown.is_empty() {
        let shown = unknown.get(..UNKNOWN).unwrap_or(&unknown);
        let _ = write!(text, "\nNo skill mentions: {}", shown.join(", "));
    }
    text
}

/// The words of a query without `from:N`, and N; 1 if absent.
fn paged(query: &str) -> (String, usize) {
    let mut words: Vec<&str> = query.split_whitespace().collect();
    for at in 0..words.len() {
        if let Some(from) = words.get(at).copied().and_then(page_start) {
            words.remove(at);
            return (words.join(" "), from);
        }
    }
    (query.to_owned(), 1)
}

/// The positive number in `from:N`.
fn page_start(word: &str) -> Option<usize> {
    let number = word.strip_prefix("from:")?.parse().ok()?;
    if number > 0 { Some(number) } else { None }
}
