//! Assigns remaining tools to a category whose subject their sentences mention: `edit_block` makes
//! `edits to files`, and if a category's tools list `deals in a pipeline`, then `list_pipelines` is
//! about deals.
//!
//! Source of the weights and fractions below: manual review of their effect on the lists of 20 MCP
//! servers, BFCL and the synthetic ones in `tests/it/derive`. Mostly their order matters: words
//! before topics, names before sentences.

use std::collections::{BTreeMap, BTreeSet};

use super::grouping::{Group, Limits, size};
use super::leftovers::{join, topics};
use super::topic::{is_generic, topics_of_word};
use super::unit::Unit;

/// The weight of a subject that a sentence names.
const BY_SENTENCE: usize = 6;

/// The weight of a noun that half of the sentences of a category name; twice as much if all do.
const BY_CATEGORY: usize = 4;

/// The weight of a topic that names indicate.
const BY_TOPIC: usize = 5;

/// The weight of a topic that only the sentence indicates.
const BY_SAID_TOPIC: usize = 3;

/// If more than one in this many members of a group joined by a topic alone, the group is named
/// after the topic.
const WIDENED_PART: usize = 3;

/// A word in more than one in this many of the other sentences is not distinctive.
const COMMON_PART: usize = 2;

/// Puts loose groups into the groups whose subjects they mention, strongest first. The remainder is
/// empty, or large enough for its own category.
pub(super) fn join_mentioned(units: &[Unit], groups: &mut [Group], loose: &mut Vec<Group>, limits: Limits) {
    let all = Said::new(units, 0..units.len());
    // The subjects of the groups are computed before any group is joined.
    let about: Vec<About> = groups.iter().map(|group| About::new(units, group, &all)).collect();
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    let mut by_topic: BTreeMap<(usize, usize), &'static str> = BTreeMap::new();
    for (place, own) in loose.iter().enumerate() {
        for (at, about) in about.iter().enumerate() {
            let (score, topic) = about.score(units, own);
            found.extend((score > 0).then_some((score, place, at)));
            by_topic.extend(topic.map(|topic| ((place, at), topic)));
        }
    }
    let mut sizes: Vec<usize> = groups.iter().map(|group| size(units, &group.units)).collect();
    // Ties use the smaller group, then the first.
    found.sort_by_key(|(score, place, at)| (std::cmp::Reverse(*score), sizes.get(*at).copied(), *place, *at));
    let mut left: usize = loose.iter().map(|group| size(units, &group.units)).sum();
    let mut joins: Vec<(usize, usize)> = Vec::new();
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    for (_, place, at) in found {
        let tools = loose.get(place).map(|own| size(units, &own.units)).unwrap_or_default();
        let Some(room) = sizes.get_mut(at).filter(|size| **size + tools <= limits.most) else { continue };
        if placed.insert(place) {
            *room += tools;
            left -= tools;
            joins.push((place, at));
        }
    }
    // A remainder of one or two tools would be put where it does not belong, so the weakest stay
    // with it.
    while left > 0
        && left < limits.least
        && let Some((place, _)) = joins.pop()
    {
        left += loose.get(place).map(|own| size(units, &own.units)).unwrap_or_default();
    }
    let mut widened: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
    for (place, at) in joins {
        if let (Some(own), Some(into)) = (loose.get_mut(place), groups.get_mut(at)) {
            if let Some(topic) = by_topic.get(&(place, at)) {
                *widened.entry((at, topic)).or_default() += size(units, &own.units);
            }
            join(units, into, std::mem::take(own), false);
        }
    }
    for ((at, topic), tools) in widened {
        // After widening, the group's own subject is too specific for its name.
        let free = !groups.iter().any(|group| group.topic == Some(topic));
        if let Some(into) = groups.get_mut(at).filter(|into| free && tools * WIDENED_PART > size(units, &into.units)) {
            into.topic = Some(topic);
        }
    }
    loose.retain(|group| !group.units.is_empty());
}

/// Joins loose groups if enough of them name or mention the subject of one of them, most tools
/// first.
pub(super) fn join_each_other(units: &[Unit], groups: &mut Vec<Group>, loose: &mut Vec<Group>, limits: Limits) {
    let all = Said::new(units, 0..units.len());
    loop {
        let mut by: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for (place, own) in loose.iter().enumerate() {
            let mut members = own.units.iter().filter_map(|at| units.get(*at));
            let has = |unit: &Unit, word: &String| unit.nouns.contains(word) || unit.said.contains(word);
            let Some(first) = members.next() else { continue };
            let others: Vec<&Unit> = members.collect();
            named.extend(first.nouns.iter().chain(others.iter().flat_map(|unit| &unit.nouns)).map(String::as_str));
            for word in first.nouns.iter().chain(&first.said).filter(|word| others.iter().all(|unit| has(unit, word))) {
                by.entry(word).or_default().insert(place);
            }
        }
        let left: usize = loose.iter().map(|own| size(units, &own.units)).sum();
        let size_of = |places: &BTreeSet<usize>| -> usize {
            places.iter().filter_map(|place| loose.get(*place)).map(|own| size(units, &own.units)).sum()
        };
        let telling = |word: &str, places: &BTreeSet<usize>| {
            // Few other units use the word.
            named.contains(word) && !is_generic(word) && all.mentions_of(word) <= places.len() + 1
        };
        let best = by.into_iter().filter(|(word, places)| telling(word, places));
        let best = best.map(|(word, places)| (size_of(&places), word, places));
        let best =
            best.filter(|(tools, ..)| limits.allows_size(*tools) && (left == *tools || left - *tools >= limits.least));
        // Ties use the first in alphabetical order.
        let Some((_, word, places)) = best.rev().max_by_key(|(tools, ..)| *tools) else { return };
        let subjects = vec![vec![word.to_owned()]];
        let mut members: Vec<usize> =
            places.iter().filter_map(|place| loose.get(*place)).flat_map(|own| own.units.clone()).collect();
        members.sort_unstable();
        let mut place = 0;
        loose.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
        groups.push(Group { subjects, units: members, ..Group::default() });
    }
}

/// For each word, the number of some units that use it.
struct Said<'u> {
    having: BTreeMap<&'u str, usize>,
    units: usize,
}

impl<'u> Said<'u> {
    fn new(units: &'u [Unit], of: impl Iterator<Item = usize>) -> Self {
        let (mut having, mut count) = (BTreeMap::new(), 0);
        for unit in of.filter_map(|at| units.get(at)) {
            count += 1;
            unit.said.iter().for_each(|word| *having.entry(word.as_str()).or_default() += 1);
        }
        Self { having, units: count }
    }

    fn mentions_of(&self, word: &str) -> usize {
        self.having.get(word).copied().unwrap_or_default()
    }
}

/// The subject of a group.
struct About<'u> {
    /// The stems of its only subject.
    subject: Vec<&'u str>,
    /// The nouns that several of its units share.
    nouns: BTreeSet<&'u str>,
    topics: Vec<&'static str>,
    /// Whether the group's only subject is a topic.
    general: bool,
    said: Said<'u>,
    all: &'u Said<'u>,
}

impl<'u> About<'u> {
    fn new(units: &'u [Unit], group: &'u Group, all: &'u Said<'u>) -> Self {
        let said = Said::new(units, group.units.iter().copied());
        let subject: Vec<&str> = match group.subjects.as_slice() {
            [only] if group.topic.is_none() && !only.iter().all(|word| is_generic(word)) => {
                only.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        };
        let by_subject = subject.iter().flat_map(|word| topics_of_word(word)).copied();
        let topics = group.topic.into_iter().chain(by_subject).collect();
        let members = group.units.iter().filter_map(|at| units.get(*at));
        let nouns = members.filter(|unit| unit.tools.len() > 1).filter_map(|unit| unit.nouns.last());
        let nouns = nouns.map(String::as_str).collect();
        Self { subject, nouns, topics, general: group.topic.is_some(), said, all }
    }

    /// Whether few of the other units use a word: a word that most use is not distinctive.
    fn is_rare_elsewhere(&self, word: &str) -> bool {
        (self.all.mentions_of(word) - self.said.mentions_of(word)) * COMMON_PART <= self.all.units - self.said.units
    }

    /// How strongly a loose group matches the subject, and the topic if only that matches.
    fn score(&self, units: &[Unit], own: &Group) -> (usize, Option<&'static str>) {
        let members = || own.units.iter().filter_map(|at| units.get(*at));
        let names = |unit: &Unit, word: &str| {
            unit.nouns.iter().any(|noun| noun == word) || unit.said.contains(word) && self.is_rare_elsewhere(word)
        };
        let named = !self.subject.is_empty() && members().all(|unit| self.subject.iter().all(|word| names(unit, word)));
        // `list_labels` belongs here because `add_mail_label` is about mail.
        let kin = |noun: &String| !is_generic(noun) && self.nouns.contains(noun.as_str());
        let named = named || members().all(|unit| unit.nouns.iter().all(kin));
        let by_sentence = if named { BY_SENTENCE } else { 0 };
        let by_topic = if topics(units, own).iter().any(|topic| self.topics.contains(topic)) {
            BY_TOPIC + usize::from(self.general)
        } else if members().all(|unit| self.only_topic(unit)) {
            BY_SAID_TOPIC + usize::from(self.general)
        } else {
            0
        };
        let by_words = by_sentence + self.by_category(members().next());
        let topic = members().flat_map(|unit| unit.topics.keys()).find(|topic| self.topics.contains(topic));
        (by_words + by_topic, topic.copied().filter(|_| by_words == 0 && by_topic > 0))
    }

    /// The number of the category's own sentences that mention everything a name is about.
    fn by_category(&self, unit: Option<&Unit>) -> usize {
        let nouns = unit.map(|unit| unit.nouns.as_slice()).unwrap_or_default();
        let telling = |noun: &&String| !is_generic(noun) && self.is_rare_elsewhere(noun);
        let known = nouns.iter().filter(telling).count() == nouns.len();
        let most = nouns.iter().map(|noun| self.said.mentions_of(noun)).min().filter(|_| known).unwrap_or_default();
        if most >= 2 && most * 2 >= self.said.units { BY_CATEGORY * 2 * most / self.said.units.max(1) } else { 0 }
    }

    /// Whether the unit's sentence indicates only a topic of the group.
    fn only_topic(&self, unit: &Unit) -> bool {
        !unit.topics.is_empty() && unit.topics.keys().all(|topic| self.topics.contains(topic))
    }
}
