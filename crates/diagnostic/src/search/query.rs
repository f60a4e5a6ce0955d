//! Answering a query.

use std::collections::BTreeSet;

use super::index::{Index, Posting};
use super::lexicon::Lexicon;
use super::words::{each_word, is_query_stop_word, is_unspaced, joined_words, term};
use super::{Found, Hit};

/// The weight of a word with a related meaning.
const SYNONYM: f64 = 0.6;
/// The weight of two neighboring words of the query that are both in a name.
const NAME_PAIR: f64 = 0.5;
/// The weight of the mean score of an origin's entries.
const ORIGIN: f64 = 0.3;

/// The maximum number of different terms of a query.
const MAX_TERMS: usize = 64;
/// The maximum number of characters of an unknown word.
const MAX_UNKNOWN_CHARS: usize = 40;
/// The maximum number of characters of a query that are read.
const MAX_CHARS: usize = 8_000;

/// One word of a query: the entries are searched for the best of its terms.
#[derive(Debug, Default)]
struct Word<'w> {
    /// The term itself; `None` for a Chinese word of the lexicon.
    own: Option<String>,
    related: &'w [String],
}

/// What a query consists of.
#[derive(Debug, Default)]
struct Words {
    /// The words, without repetitions.
    words: Vec<Word<'static>>,
    /// The terms that follow each other.
    pairs: BTreeSet<(String, String)>,
    unknown: Vec<String>,
}

impl Index {
    /// Searches the entries for a query. Entries that it names come first, then the others by their
    /// scores; equal scores in the order of the list.
    #[must_use]
    pub fn search(&self, query: &str) -> Found {
        let query: String = without_tags(query).chars().take(MAX_CHARS).collect();
        let Words { words, pairs, unknown } = self.words_of(&query);
        let mut scores = vec![0.0; self.origins.len()];
        let mut best = vec![0.0; self.origins.len()];
        for word in &words {
            self.add_word(word, &mut scores, &mut best);
        }
        self.add_pairs(&pairs, &mut scores);
        self.add_origins(&mut scores);
        let mut hits: Vec<Hit> = Vec::new();
        for at in self.named(&query) {
            if !hits.iter().any(|hit| hit.at == at) {
                let score = scores.get_mut(at).map(std::mem::take).unwrap_or_default();
                hits.push(Hit { at, score, is_named: true });
            }
        }
        let first = hits.len();
        for (at, score) in scores.into_iter().enumerate() {
            if score > 0.0 {
                hits.push(Hit { at, score, is_named: false });
            }
        }
        if let Some(others) = hits.get_mut(first..) {
            others.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.at.cmp(&other.at)));
        }
        Found { hits, unknown }
    }

    /// The entries that a query names, the closest first; repeats an entry with several such names.
    fn named(&self, query: &str) -> impl Iterator<Item = usize> {
        let by_words = self.names.get(&joined_words(query)).map_or(&[][..], Vec::as_slice);
        let exact = self.full_names.get(query.trim()).copied();
        exact.into_iter().chain(by_words.iter().map(|(_, at)| *at))
    }

    fn words_of(&self, query: &str) -> Words {
        let lexicon = Lexicon::get();
        let mut found = Words::default();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut before: Option<String> = None;
        let chinese = lexicon.chinese_words(query);
        // A related word in a description only, such as `message` for `email`, may mean anything.
        let is_related = |term: &String| in_names(self.postings_of(term)).next().is_some();
        each_word(query, |word| {
            let Some(term) = term(word) else { return };
            if is_query_stop_word(word, &term) || seen.len() == MAX_TERMS {
                return;
            }
            if let Some(before) = before.replace(term.clone())
                && before != term
            {
                found.pairs.insert((before, term.clone()));
            }
            if !seen.insert(term.clone()) {
                return;
            }
            let related = lexicon.synonyms(&term);
            let is_translated = || chinese.iter().any(|(chinese, _)| chinese.contains(|c| word.contains(c)));
            if !self.has_term(&term) && !related.iter().any(is_related) && !is_translated() {
                add_unknown(word, &mut found.unknown);
            }
            found.words.push(Word { own: Some(term), related });
        });
        let mut translated = BTreeSet::new();
        for (word, related) in chinese {
            if found.words.len() < MAX_TERMS && translated.insert(word) {
                found.words.push(Word { own: None, related });
            }
        }
        found
    }

    /// Adds what one word gives each entry. `best` is all zeros before and after.
    fn add_word(&self, word: &Word<'_>, scores: &mut [f64], best: &mut [f64]) {
        let own = word.own.iter().map(|term| (term, 1.0));
        let terms = own.chain(word.related.iter().map(|term| (term, SYNONYM)));
        let postings = || terms.clone().flat_map(|(term, weight)| self.weighted(term, weight));
        for (at, score) in postings() {
            if let Some(best) = best.get_mut(at) {
                *best = score.max(*best);
            }
        }
        for (at, _) in postings() {
            if let (Some(best), Some(score)) = (best.get_mut(at), scores.get_mut(at)) {
                *score += std::mem::take(best);
            }
        }
    }

    fn weighted(&self, term: &str, weight: f64) -> impl Iterator<Item = (usize, f64)> {
        self.postings_of(term).iter().map(move |posting| (posting.at, posting.score * weight))
    }

    /// Adds a share for each pair of neighboring words that are both in an entry's name.
    fn add_pairs(&self, pairs: &BTreeSet<(String, String)>, scores: &mut [f64]) {
        for (one, next) in pairs {
            let mut others = in_names(self.postings_of(next)).peekable();
            for posting in in_names(self.postings_of(one)) {
                while others.next_if(|other| other.at < posting.at).is_some() {}
                if let (Some(other), Some(score)) = (others.peek(), scores.get_mut(posting.at))
                    && other.at == posting.at
                {
                    *score += NAME_PAIR * posting.score.min(other.score);
                }
            }
        }
    }

    /// Adds a share of the mean score of an origin's entries to those with a score: the entries of
    /// a server belong together.
    fn add_origins(&self, scores: &mut [f64]) {
        let mut means = vec![0.0; self.origin_sizes.len()];
        for (score, origin) in scores.iter().zip(&self.origins) {
            if let Some(mean) = origin.and_then(|origin| means.get_mut(origin)) {
                *mean += score;
            }
        }
        for (mean, size) in means.iter_mut().zip(&self.origin_sizes) {
            *mean /= *size as f64;
        }
        for (score, origin) in scores.iter_mut().zip(&self.origins) {
            if *score > 0.0
                && let Some(mean) = origin.and_then(|origin| means.get(origin))
            {
                *score += ORIGIN * mean;
            }
        }
    }
}

/// Adds an unknown word. Overlapping pairs of characters become one word again.
fn add_unknown(word: &str, unknown: &mut Vec<String>) {
    let mut characters = word.chars();
    if let (Some(last), Some(first), Some(next)) = (unknown.last_mut(), characters.next(), characters.next())
        && is_unspaced(first)
        && last.ends_with(first)
        && last.chars().count() < MAX_UNKNOWN_CHARS
    {
        last.push(next);
        return;
    }
    unknown.push(word.chars().take(MAX_UNKNOWN_CHARS).collect());
}

fn in_names(postings: &[Posting]) -> impl Iterator<Item = &Posting> {
    postings.iter().filter(|posting| posting.in_name)
}

/// A query without tags such as `<tool_assistant>`.
fn without_tags(query: &str) -> String {
    let mut text = String::with_capacity(query.len());
    let mut rest = query;
    while let Some((before, after)) = rest.split_once('<') {
        let inner = after.strip_prefix('/').unwrap_or(after);
        text.push_str(before);
        text.push(' ');
        rest = match inner.split_once('>') {
            Some((name, behind)) if is_tag_name(name) => behind,
            _ => after,
        };
    }
    text.push_str(rest);
    text
}

fn is_tag_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
