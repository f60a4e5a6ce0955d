//! Finding skills by words when there are too many to read: BM25 over names, descriptions, tags and headings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::document::one_line;
use super::library::Skill;
use super::view::SkillView;

/// BM25's usual constants (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How much more a word counts in the name than in a heading.
const NAME_WEIGHT: u32 = 4;
const DESCRIPTION_WEIGHT: u32 = 2;

/// An index over the skills of a view: only what is visible can be found.
#[derive(Debug, Clone, Default)]
pub struct SkillIndex {
    skills: Vec<Arc<Skill>>,
    lengths: Vec<f64>,
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    average: f64,
}

/// One result.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Its score; only the order means anything.
    pub score: f64,
}

impl SkillIndex {
    /// Reads names, descriptions, tags and headings.
    #[must_use]
    pub fn new(view: &SkillView) -> Self {
        let mut index = Self::default();
        for skill in view.skills() {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            let mut add = |text: &str, weight: u32| {
                for token in tokens(text) {
                    *counts.entry(token).or_default() += weight;
                }
            };
            add(skill.name(), NAME_WEIGHT);
            add(skill.description(), DESCRIPTION_WEIGHT);
            skill.fields().tags.iter().for_each(|tag| add(tag, DESCRIPTION_WEIGHT));
            skill.body().lines().filter(|l| l.starts_with('#')).take(100).for_each(|heading| add(heading, 1));
            let number = index.skills.len();
            index.lengths.push(f64::from(counts.values().sum::<u32>()));
            for (token, count) in counts {
                index.postings.entry(token).or_default().push((number, f64::from(count)));
            }
            index.skills.push(Arc::clone(skill));
        }
        index.average = index.lengths.iter().sum::<f64>() / (index.lengths.len().max(1) as f64);
        index
    }

    /// The best skills for some words, best first; equal scores by name. Nothing that shares no word.
    #[must_use]
    pub fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        let total = self.skills.len() as f64;
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for token in tokens(query).into_iter().take(64).collect::<BTreeSet<_>>() {
            let Some(postings) = self.postings.get(&token) else { continue };
            let found = postings.len() as f64;
            let rarity = (1.0 + (total - found + 0.5) / (found + 0.5)).ln();
            for (number, count) in postings {
                let length = self.lengths.get(*number).copied().unwrap_or(1.0) / self.average.max(1.0);
                let score = rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                *scores.entry(*number).or_default() += score;
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .filter_map(|(number, score)| self.skills.get(number).map(|s| Hit { skill: Arc::clone(s), score }))
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.skill.name().cmp(b.skill.name())));
        hits.truncate(most);
        hits
    }
}

/// The answer to a search, for the model.
pub(crate) fn answer(view: &SkillView, query: &str) -> String {
    let hits = SkillIndex::new(view).search(query, 10);
    if hits.is_empty() {
        return "No skill matches these words. Try others, or the names in the tool's description.".to_owned();
    }
    let mut text = String::from("Skills that match, best first; activate one by its name:");
    for hit in hits {
        let description: String = one_line(hit.skill.description()).chars().take(200).collect();
        let _ = write!(text, "\n- {}: {description}", one_line(hit.skill.name()));
    }
    text
}

/// Lower-case words of letters and digits; scripts written without spaces as single characters and pairs of
/// neighbours, so that `格式化` is found by `格式`. English plurals lose their `s`.
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

/// Han, kana, Hangul and Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
