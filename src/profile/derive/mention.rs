//! Assigns remaining tools to a category whose subject their sentences mention: `edit_block` makes
//! `edits to files`, and if a category's tools list `deals in a pipeline`, then `list_pipelines` is
//! about deals.
//!
//! Source of the weights and fractions below: manual review of their effect on the lists of 20 MCP
//! servers, BFCL and the synthetic ones in `tests/it/derive`. Mostly their order matters: words
//! before topics, names before sentences.

use std::collections::{BTreeMap, BTreeSet};

use super::grouping::{Group, Limits, members, size, total_size};
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
    let (mut about, mut sizes) = (Vec::new(), Vec::new());
    for group in groups.iter() {
        about.push(About::new(units, group, &all));
        sizes.push(size(units, &group.units));
    }
    let mut found: Vec<(usize, usize, usize, usize)> = Vec::new();
    let mut by_topic: BTreeMap<(usize, usize), &'static str> = BTreeMap::new();
    for (place, own) in loose.iter().enumerate() {
        let tools = size(units, &own.units);
        for (at, about) in about.iter().enumerate() {
            let (score, topic) = about.score(units, own);
            if score > 0 {
                found.push((score, place, at, tools));
            }
            if let Some(topic) = topic {
                by_topic.insert((place, at), topic);
            }
        }
    }
    // Ties use the smaller group, then the first.
    found.sort_by_cached_key(|(score, place, at, _)| (std::cmp::Reverse(*score), sizes.get(*at).copied(), *place, *at));
    let mut left = total_size(units, loose.iter());
    let mut joins: Vec<(usize, usize, usize)> = Vec::new();
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    for (_, place, at, tools) in found {
        let Some(size) = sizes.get_mut(at) else { continue };
        if *size + tools <= limits.most && placed.insert(place) {
            *size += tools;
            left -= tools;
            joins.push((place, at, tools));
        }
    }
    // A remainder of one or two tools would be put where it does not belong, so the weakest stay
    // with it.
    while left > 0
        && left < limits.least
        && let Some((_, _, tools)) = joins.pop()
    {
        left += tools;
    }
    let mut widened: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
    for (place, at, tools) in joins {
        if let (Some(own), Some(into)) = (loose.get_mut(place), groups.get_mut(at)) {
            if let Some(topic) = by_topic.get(&(place, at)) {
                *widened.entry((at, topic)).or_default() += tools;
            }
            join(units, into, std::mem::take(own), false);
        }
    }
    for ((at, topic), tools) in widened {
        // After widening, the group's own subject is too specific for its name.
        let free = !groups.iter().any(|group| group.topic == Some(topic));
        if let Some(into) = groups.get_mut(at)
            && free
            && tools * WIDENED_PART > size(units, &into.units)
        {
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
            let members = members(units, &own.units);
            let Some((first, others)) = members.split_first() else { continue };
            for unit in &members {
                for noun in &unit.nouns {
                    named.insert(noun);
                }
            }
            for word in first.nouns.iter().chain(&first.said) {
                if others.iter().all(|unit| unit.nouns.contains(word) || unit.said.contains(word)) {
                    by.entry(word).or_default().insert(place);
                }
            }
        }
        let left = total_size(units, loose.iter());
        let mut best: Option<(usize, &str, BTreeSet<usize>)> = None;
        for (word, places) in by {
            let used_elsewhere = all.mentions_of(word) > places.len() + 1;
            if !named.contains(word) || is_generic(word) || used_elsewhere {
                continue;
            }
            let tools = total_size(units, places.iter().filter_map(|place| loose.get(*place)));
            let fits = limits.allows_size(tools) && (left == tools || left - tools >= limits.least);
            // Ties use the first in alphabetical order.
            if fits && best.as_ref().is_none_or(|(most, ..)| tools > *most) {
                best = Some((tools, word, places));
            }
        }
        let Some((_, word, places)) = best else { return };
        let subjects = vec![vec![word.to_owned()]];
        let mut members = Vec::new();
        let mut place = 0;
        loose.retain(|own| {
            let joins = places.contains(&place);
            if joins {
                members.extend(&own.units);
            }
            place += 1;
            !joins
        });
        members.sort_unstable();
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
        for at in of {
            let Some(unit) = units.get(at) else { continue };
            count += 1;
            for word in &unit.said {
                *having.entry(word.as_str()).or_default() += 1;
            }
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
        let mut subject: Vec<&str> = Vec::new();
        if let ([only], None) = (&group.subjects[..], group.topic)
            && !only.iter().all(|word| is_generic(word))
        {
            subject.extend(only.iter().map(String::as_str));
        }
        let mut topics = Vec::from_iter(group.topic);
        for word in &subject {
            topics.extend(topics_of_word(word));
        }
        let mut nouns = BTreeSet::new();
        for unit in members(units, &group.units) {
            if unit.tools.len() > 1
                && let Some(noun) = unit.nouns.last()
            {
                nouns.insert(noun.as_str());
            }
        }
        Self { subject, nouns, topics, general: group.topic.is_some(), said, all }
    }

    /// Whether few of the other units use a word: a word that most use is not distinctive.
    fn is_rare_elsewhere(&self, word: &str) -> bool {
        (self.all.mentions_of(word) - self.said.mentions_of(word)) * COMMON_PART <= self.all.units - self.said.units
    }

    /// How strongly a loose group matches the subject, and the topic if only that matches.
    fn score(&self, units: &[Unit], own: &Group) -> (usize, Option<&'static str>) {
        let members = members(units, &own.units);
        let about_subject = !self.subject.is_empty() && members.iter().all(|unit| self.names_subject(unit));
        // `list_labels` belongs here because `add_mail_label` is about mail.
        let named = about_subject || members.iter().all(|unit| self.has_only_own_nouns(unit));
        let by_sentence = if named { BY_SENTENCE } else { 0 };
        let by_topic = if topics(units, own).iter().any(|topic| self.topics.contains(topic)) {
            BY_TOPIC + usize::from(self.general)
        } else if members.iter().all(|unit| self.only_topic(unit)) {
            BY_SAID_TOPIC + usize::from(self.general)
        } else {
            0
        };
        let by_words = by_sentence + members.first().map_or(0, |unit| self.by_category(unit));
        if by_words > 0 || by_topic == 0 {
            return (by_words + by_topic, None);
        }
        for unit in &members {
            for topic in unit.topics.keys() {
                if self.topics.contains(topic) {
                    return (by_topic, Some(topic));
                }
            }
        }
        (by_topic, None)
    }

    /// Whether a unit's name or sentence has every word of the subject.
    fn names_subject(&self, unit: &Unit) -> bool {
        for word in &self.subject {
            let in_name = unit.nouns.iter().any(|noun| noun == word);
            let in_sentence = unit.said.contains(*word) && self.is_rare_elsewhere(word);
            if !in_name && !in_sentence {
                return false;
            }
        }
        true
    }

    fn has_only_own_nouns(&self, unit: &Unit) -> bool {
        unit.nouns.iter().all(|noun| !is_generic(noun) && self.nouns.contains(noun.as_str()))
    }

    /// The number of the category's own sentences that mention everything a name is about.
    fn by_category(&self, unit: &Unit) -> usize {
        let mut most = usize::MAX;
        for noun in &unit.nouns {
            if is_generic(noun) || !self.is_rare_elsewhere(noun) {
                return 0;
            }
            most = most.min(self.said.mentions_of(noun));
        }
        let often = !unit.nouns.is_empty() && most >= 2 && most * 2 >= self.said.units;
        if often { BY_CATEGORY * 2 * most / self.said.units.max(1) } else { 0 }
    }

    /// Whether the unit's sentence indicates only a topic of the group.
    fn only_topic(&self, unit: &Unit) -> bool {
        !unit.topics.is_empty() && unit.topics.keys().all(|topic| self.topics.contains(topic))
    }
}
