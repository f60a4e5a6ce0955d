//! Searches skills by words: BM25 over names, descriptions, tags and headings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::document::one_line;
use super::library::Skill;
use super::listing::row;
use super::view::SkillView;

/// The usual constants of BM25 (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The weight of a word in the name relative to one in a heading.
const NAME_WEIGHT: u32 = 4;
const DESCRIPTION_WEIGHT: u32 = 2;

/// The maximum number of skills in an answer.
const PAGE: usize = 10;
/// The maximum number of characters of a description in an answer.
const SHOWN: usize = 200;

/// An index over the skills of a view, including copies: only visible skills can be found.
#[derive(Debug, Clone, Default)]
pub struct SkillIndex {
    entries: Vec<Indexed>,
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    average: f64,
}

#[derive(Debug, Clone)]
struct Indexed {
    name: String,
    skill: Arc<Skill>,
    length: f64,
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

impl Indexed {
    /// Whether the name or the description contains a text in lower case.
    fn contains(&self, wanted: &str) -> bool {
        self.name.to_lowercase().contains(wanted) || self.skill.description().to_lowercase().contains(wanted)
    }
}

impl SkillIndex {
    /// Indexes names, descriptions, tags and headings.
    #[must_use]
    pub fn new(view: &SkillView) -> Self {
        let mut index = Self::default();
        let mut all: Vec<(&str, &Arc<Skill>)> = view.all().collect();
        all.sort_by_key(|(name, _)| *name);
        for (name, skill) in all {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            count(&mut counts, name, NAME_WEIGHT);
            count(&mut counts, skill.description(), DESCRIPTION_WEIGHT);
            for tag in &skill.fields().tags {
                count(&mut counts, tag, DESCRIPTION_WEIGHT);
            }
            for heading in skill.body().lines().filter(|line| line.starts_with('#')).take(100) {
                count(&mut counts, heading, 1);
            }
            let number = index.entries.len();
            let length = f64::from(counts.values().sum::<u32>());
            for (token, count) in counts {
                index.postings.entry(token).or_default().push((number, f64::from(count)));
            }
            index.entries.push(Indexed { name: name.to_owned(), skill: Arc::clone(skill), length });
        }
        let lengths: f64 = index.entries.iter().map(|entry| entry.length).sum();
        index.average = lengths / (index.entries.len().max(1) as f64);
        index
    }

    /// Returns the best skills for a query, best first; equal scores by name. A skill whose name is
    /// the query comes first. If no skill shares a word: those whose name or description contains
    /// the query. `*` or an empty query returns all skills, by name.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        self.page(&self.ranked(query), 0, most)
    }

    fn page(&self, ranked: &[(usize, f64)], skip: usize, most: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (at, score) in ranked.iter().skip(skip).take(most) {
            if let Some(Indexed { name, skill, .. }) = self.entries.get(*at) {
                hits.push(Hit { name: name.clone(), skill: Arc::clone(skill), score: *score });
            }
        }
        hits
    }

    fn ranked(&self, query: &str) -> Vec<(usize, f64)> {
        let query = query.trim();
        if matches!(query, "" | "*") {
            return (0..self.entries.len()).map(|at| (at, 0.0)).collect();
        }
        let mut scores = self.scores(query);
        for (entry, score) in self.entries.iter().zip(&mut scores) {
            if entry.name == query || entry.skill.name() == query {
                *score = Some(f64::MAX);
            }
        }
        if scores.iter().all(Option::is_none) {
            let wanted = query.to_lowercase();
            scores = self.entries.iter().map(|entry| entry.contains(&wanted).then_some(0.0)).collect();
        }
        let mut ranked: Vec<(usize, f64)> = Vec::new();
        for (at, score) in scores.into_iter().enumerate() {
            if let Some(score) = score {
                ranked.push((at, score));
            }
        }
        // The indices are in the order of the names.
        ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| one.cmp(other)));
        ranked
    }

    /// The score of each skill; `None` if it shares no word.
    fn scores(&self, query: &str) -> Vec<Option<f64>> {
        let total = self.entries.len() as f64;
        let mut scores = vec![None; self.entries.len()];
        for token in BTreeSet::from_iter(tokens(query).into_iter().take(64)) {
            let Some(postings) = self.postings.get(&token) else { continue };
            let found = postings.len() as f64;
            let rarity = (1.0 + (total - found + 0.5) / (found + 0.5)).ln();
            for (number, count) in postings {
                let length = self.entries.get(*number).map_or(1.0, |entry| entry.length) / self.average.max(1.0);
                let score = rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                if let Some(sum) = scores.get_mut(*number) {
                    *sum = Some(sum.unwrap_or_default() + score);
                }
            }
        }
        scores
    }
}

/// The answer to a search, for the model: ten skills, and the suffix to add to the query for the
/// next ten, so that every skill is reachable.
pub(crate) fn answer(view: &SkillView, query: &str) -> String {
    let (words, from) = paged(query);
    let index = view.index();
    let ranked = index.ranked(&words);
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
    text
}

/// The words of a query without `from:N`, and N; 1 if absent.
fn paged(query: &str) -> (String, usize) {
    let mut words: Vec<&str> = query.split_whitespace().collect();
    let from = words.iter().position(|word| page_start(word).is_some());
    match from.map(|at| words.remove(at)).and_then(page_start) {
        Some(from) => (words.join(" "), from),
        None => (query.to_owned(), 1),
    }
}

/// The positive number in `from:N`.
fn page_start(word: &str) -> Option<usize> {
    let number = word.strip_prefix("from:")?.parse().ok()?;
    (number > 0).then_some(number)
}

fn count(counts: &mut BTreeMap<String, u32>, text: &str, weight: u32) {
    for token in tokens(text) {
        *counts.entry(token).or_default() += weight;
    }
}

/// Splits a text into lower-case words of letters and digits. Scripts without spaces are split into
/// single characters and pairs of neighbors, so that `格式` finds `格式化`. English plurals lose their
/// `s`.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut last: Option<char> = None;
    for c in text.chars().flat_map(char::to_lowercase) {
        if is_unspaced(c) {
            flush(&mut word, &mut out);
            out.push(c.to_string());
            if let Some(before) = last {
                out.push([before, c].iter().collect());
            }
            last = Some(c);
            continue;
        }
        last = None;
        if c.is_alphanumeric() {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
        }
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut String, out: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    let mut token = std::mem::take(word);
    if token.len() > 3 && token.ends_with('s') && !token.ends_with("ss") {
        token.pop();
    }
    out.push(token);
}

/// Whether a character is Han, kana, Hangul or Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
