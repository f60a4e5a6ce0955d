//! Building an index: the terms of each field, and the score that each gives an entry.

use std::collections::{BTreeMap, HashMap};

use super::Entry;
use super::words::{each_word, joined_words, term};

/// The usual constants of BM25. A higher `K1` gives repeated words more weight.
pub(super) const K1: f64 = 2.0;
const B: f64 = 0.75;

/// The fields of an entry.
const FIELDS: usize = 5;
/// The field whose words form the pairs of [`query`](super::query).
const NAME: usize = 0;
/// The weights of name, server, labels, details and description.
const WEIGHTS: [f64; FIELDS] = [8.0, 3.0, 1.0, 0.5, 1.0];

/// An index over a list of entries.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The number of each term in `postings`.
    pub(super) terms: HashMap<String, usize>,
    /// For each term the entries that contain it, in the order of the list.
    pub(super) postings: Vec<Vec<Posting>>,
    /// The number of each entry's origin in `origin_sizes`.
    pub(super) origins: Vec<Option<usize>>,
    /// The number of entries of each origin.
    pub(super) origin_sizes: Vec<usize>,
    /// The entries by their full names as written.
    pub(super) full_names: HashMap<String, usize>,
    /// The entries by the words of their names, the closest kind first.
    pub(super) names: BTreeMap<String, Vec<(NameKind, usize)>>,
}

/// One term in one entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) at: usize,
    /// What a query with this term adds to the entry's score.
    pub(super) score: f64,
    /// Whether the entry's name contains the term.
    pub(super) in_name: bool,
}

/// How a name selects an entry, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameKind {
    Full,
    WithServer,
    Short,
}

/// The counts of one term in the fields of one entry.
#[derive(Debug, Clone, Copy)]
struct Count {
    at: usize,
    fields: [f64; FIELDS],
}

/// Collects the terms of all entries, before the average lengths are known.
#[derive(Debug, Default)]
struct Collected {
    index: Index,
    /// The term of each word that has occurred, so that each is stemmed once; `None` for stop
    /// words.
    words: HashMap<String, Option<usize>>,
    counts: Vec<Vec<Count>>,
    /// The number of terms in each field of each entry.
    lengths: Vec<[f64; FIELDS]>,
}

impl Index {
    /// Indexes a list of entries.
    #[must_use]
    pub fn new<'e>(entries: impl IntoIterator<Item = Entry<'e>>) -> Self {
        let mut collected = Collected::default();
        let mut origins: HashMap<&str, usize> = HashMap::new();
        for (at, entry) in entries.into_iter().enumerate() {
            collected.add_terms(at, &entry);
            let index = &mut collected.index;
            index.add_names(at, &entry);
            if !entry.has_origin {
                index.origins.push(None);
                continue;
            }
            let next = index.origin_sizes.len();
            let origin = *origins.entry(entry.server).or_insert(next);
            match index.origin_sizes.get_mut(origin) {
                Some(size) => *size += 1,
                None => index.origin_sizes.push(1),
            }
            index.origins.push(Some(origin));
        }
        collected.into_index()
    }

    /// Whether an entry contains a term.
    pub(super) fn has_term(&self, term: &str) -> bool {
        self.terms.contains_key(term)
    }

    /// The entries that contain a term.
    pub(super) fn postings_of(&self, term: &str) -> &[Posting] {
        self.terms.get(term).and_then(|term| self.postings.get(*term)).map_or(&[], Vec::as_slice)
    }

    fn add_names(&mut self, at: usize, entry: &Entry<'_>) {
        self.full_names.entry(entry.name.to_owned()).or_insert(at);
        let own = entry.short.unwrap_or(entry.name);
        let with_server = format!("{} {own}", entry.server);
        for (kind, name) in [(NameKind::Full, entry.name), (NameKind::WithServer, &with_server), (NameKind::Short, own)]
        {
            let words = joined_words(name);
            if words.is_empty() {
                continue;
            }
            let named = self.names.entry(words).or_default();
            if !named.iter().any(|(_, other)| *other == at) {
                named.push((kind, at));
            }
        }
    }
}

impl Collected {
    fn add_terms(&mut self, at: usize, entry: &Entry<'_>) {
        let (name, server) = ([entry.short.unwrap_or(entry.name)], [entry.server]);
        let fields: [&[&str]; FIELDS] = [&name, &server, &entry.labels, &entry.details, &[entry.description]];
        let mut lengths = [0.0; FIELDS];
        for (field, length) in lengths.iter_mut().enumerate() {
            for text in fields.get(field).copied().unwrap_or_default() {
                each_word(text, |word| {
                    if let Some(term) = self.term_number(word) {
                        *length += 1.0;
                        self.count(term, at, field);
                    }
                });
            }
        }
        // They do not make the name longer, so its own words count as much as without them.
        for text in &entry.words {
            each_word(text, |word| {
                if let Some(term) = self.term_number(word) {
                    self.count(term, at, NAME);
                }
            });
        }
        self.lengths.push(lengths);
    }

    /// The number of a word's term; `None` for a stop word.
    fn term_number(&mut self, word: &str) -> Option<usize> {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let number = term(word).map(|term| {
            let next = self.index.terms.len();
            *self.index.terms.entry(term).or_insert(next)
        });
        self.words.insert(word.to_owned(), number);
        number
    }

    fn count(&mut self, term: usize, at: usize, field: usize) {
        if self.counts.len() <= term {
            self.counts.resize(term + 1, Vec::new());
        }
        let Some(counts) = self.counts.get_mut(term) else { return };
        if counts.last().is_none_or(|last| last.at != at) {
            counts.push(Count { at, fields: [0.0; FIELDS] });
        }
        if let Some(count) = counts.last_mut().and_then(|last| last.fields.get_mut(field)) {
            *count += 1.0;
        }
    }

    fn into_index(self) -> Index {
        let entries = self.lengths.len().max(1) as f64;
        let mut averages = [0.0; FIELDS];
        for lengths in &self.lengths {
            for (average, length) in averages.iter_mut().zip(lengths) {
                *average += length / entries;
            }
        }
        // The factor by which each field of an entry counts: less in a long field.
        let factors: Vec<[f64; FIELDS]> = self.lengths.iter().map(|lengths| factors(lengths, &averages)).collect();
        let mut index = self.index;
        for counts in &self.counts {
            let found = counts.len() as f64;
            let rarity = (1.0 + (entries - found + 0.5) / (found + 0.5)).ln();
            let mut postings = Vec::with_capacity(counts.len());
            for Count { at, fields } in counts {
                let factors = factors.get(*at).copied().unwrap_or_default();
                let frequency: f64 = fields.iter().zip(factors).map(|(count, factor)| count * factor).sum();
                let in_name = fields.get(NAME).is_some_and(|count| *count > 0.0);
                let score = rarity * frequency * (K1 + 1.0) / (frequency + K1);
                postings.push(Posting { at: *at, score, in_name });
            }
            index.postings.push(postings);
        }
        for named in index.names.values_mut() {
            named.sort_unstable();
        }
        index
    }
}

fn factors(lengths: &[f64; FIELDS], averages: &[f64; FIELDS]) -> [f64; FIELDS] {
    let mut factors = WEIGHTS;
    for ((factor, length), average) in factors.iter_mut().zip(lengths).zip(averages) {
        if *average > 0.0 {
            *factor /= 1.0 - B + B * length / average;
        }
    }
    factors
}
