//! Units that share no word with enough others: where they go.

use std::collections::BTreeMap;

use super::grouping::{Group, Limits, largest, shared_nouns, size};
use super::unit::Unit;
use crate::profile::words::stem;

/// How alike two things must be to be put together. A word that two names share counts 1,500 and up to 4,000
/// more for being rare; one that a name and a sentence share up to 1,000, two sentences half of it; a topic up to 1,500.
const MIN_ALIKE: usize = 3_000;

/// The same for what is left when the rest is still too large for one category.
const MIN_ALIKE_AT_LAST: usize = 1_500;

/// The most that words of sentences count.
const MOST_BY_SENTENCES: usize = 2_000;

/// The most parts that are compared with each other; beyond it there is nothing to be read in the result.
const MAX_COMPARED: usize = 400;

/// Puts every unit that is left into a group: with what shares a topic, with what is most alike, or with the rest.
pub(super) fn place(units: &[Unit], mut groups: Vec<Group>, left: Vec<usize>, limits: Limits) -> Vec<Group> {
    let rarity = rarity(units);
    let mut loose: Vec<Group> = Vec::new();
    for at in left {
        let nouns = units.get(at).map(|unit| unit.nouns.clone()).unwrap_or_default();
        loose.push(Group { subjects: vec![nouns], topic: None, units: vec![at] });
    }
    let (ready, mut loose): (Vec<Group>, Vec<Group>) =
        loose.into_iter().partition(|group| size(units, &group.units) >= limits.least);
    groups.extend(ready);
    if loose.len() <= MAX_COMPARED {
        join_alike(units, (&mut groups, &mut loose), &rarity, (MIN_ALIKE, limits));
    }
    by_verb(units, &mut groups, &mut loose, limits);
    by_topic(units, &mut groups, &mut loose, limits);
    let open: usize = loose.iter().map(|group| size(units, &group.units)).sum();
    if open > limits.most && loose.len() <= MAX_COMPARED {
        join_alike(units, (&mut [], &mut loose), &rarity, (MIN_ALIKE_AT_LAST, limits));
    }
    let (ready, rest): (Vec<Group>, Vec<Group>) =
        loose.into_iter().partition(|group| size(units, &group.units) >= limits.least);
    groups.extend(ready);
    let rest: Vec<usize> = rest.into_iter().flat_map(|group| group.units).collect();
    other(units, &mut groups, rest, &rarity, limits);
    groups
}

/// How rare each stem of names and sentences is: 1,000 for one that two units have, less for more.
fn rarity(units: &[Unit]) -> BTreeMap<&str, usize> {
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in units {
        let mut all: Vec<&str> = unit.nouns.iter().chain(&unit.said).map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|word| *having.entry(word).or_default() += 1);
    }
    having.into_iter().map(|(word, units)| (word, 2_000 / units.max(2))).collect()
}

/// How alike two units are.
fn alike(one: &Unit, two: &Unit, rarity: &BTreeMap<&str, usize>) -> usize {
    let rare = |word: &String| rarity.get(word.as_str()).copied().unwrap_or_default();
    let names: usize = one.nouns.iter().filter(|noun| two.nouns.contains(noun)).map(|noun| 1_500 + 4 * rare(noun)).sum();
    let crossed = one.nouns.iter().filter(|noun| two.said.contains(*noun)).map(rare).sum::<usize>()
        + two.nouns.iter().filter(|noun| one.said.contains(*noun)).map(rare).sum::<usize>();
    let said: usize = one.said.intersection(&two.said).map(rare).sum::<usize>() / 2;
    let topics = one.topics.iter().filter_map(|(topic, own)| Some(own.min(two.topics.get(topic)?)));
    names + (crossed + said).min(MOST_BY_SENTENCES) + topics.max().copied().unwrap_or_default().min(3) * 500
}

/// How alike two groups are: the mean over their units.
fn alike_groups(units: &[Unit], one: &Group, two: &Group, rarity: &BTreeMap<&str, usize>) -> usize {
    let pairs = one.units.iter().flat_map(|one| two.units.iter().map(move |two| (*one, *two)));
    let pairs = pairs.filter_map(|(one, two)| Some(alike(units.get(one)?, units.get(two)?, rarity)));
    let (sum, count) = pairs.fold((0, 0), |(sum, count), own| (sum + own, count + 1));
    sum / count.max(1)
}

/// Joins the two that are most alike, one of them too small, until none is alike enough.
fn join_alike(
    units: &[Unit],
    (groups, loose): (&mut [Group], &mut Vec<Group>),
    rarity: &BTreeMap<&str, usize>,
    (least, limits): (usize, Limits),
) {
    loop {
        let mut best: Option<(usize, usize, Target)> = None;
        for (at, own) in loose.iter().enumerate() {
            let small = size(units, &own.units);
            if small >= limits.least {
                continue;
            }
            let others = loose.iter().enumerate().filter(|(other, _)| *other != at).map(|(other, group)| (Target::Loose(other), group));
            let others = others.chain(groups.iter().enumerate().map(|(other, group)| (Target::Group(other), group)));
            for (target, group) in others.filter(|(_, group)| small + size(units, &group.units) <= limits.most) {
                let score = alike_groups(units, own, group, rarity);
                if score >= least && best.is_none_or(|(most, ..)| score > most) {
                    best = Some((score, at, target));
                }
            }
        }
        let Some((_, at, target)) = best else { return };
        let own = loose.remove(at);
        let into = match target {
            Target::Loose(other) => loose.get_mut(if other > at { other - 1 } else { other }),
            Target::Group(other) => groups.get_mut(other),
        };
        if let Some(into) = into {
            join(units, into, own, matches!(target, Target::Loose(_)));
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Loose(usize),
    Group(usize),
}

/// Puts a group's units into another. Two loose ones get a subject from both.
fn join(units: &[Unit], into: &mut Group, own: Group, both: bool) {
    into.units.extend(own.units);
    into.units.sort_unstable();
    if both {
        let shared = shared_nouns(units, &into.units);
        into.subjects = if shared.is_empty() { largest(units, &into.units) } else { vec![shared] };
    }
}

/// Puts loose groups together that do the same: what is verified, what is converted.
fn by_verb(units: &[Unit], groups: &mut Vec<Group>, loose: &mut Vec<Group>, limits: Limits) {
    for group in groups.iter_mut() {
        let Some(verb) = verbs(units, group).first().map(|verb| (*verb).to_owned()) else { continue };
        let (own, rest): (Vec<Group>, Vec<Group>) =
            loose.drain(..).partition(|loose| verbs(units, loose).contains(&verb.as_str()));
        let tools: usize = own.iter().map(|own| size(units, &own.units)).sum();
        *loose = rest;
        if tools == 0 || tools + size(units, &group.units) > limits.most {
            loose.extend(own);
        } else {
            own.into_iter().for_each(|own| group.units.extend(own.units));
            group.subjects = vec![vec![verb]];
        }
    }
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for group in loose.iter() {
        for verb in verbs(units, group) {
            *tools.entry(verb).or_default() += size(units, &group.units);
        }
    }
    let mut shared: Vec<(&str, usize)> = tools.into_iter().filter(|(_, tools)| (limits.least..=limits.most).contains(tools)).collect();
    shared.sort_by_key(|(_, tools)| std::cmp::Reverse(*tools));
    for (verb, _) in shared {
        let (own, rest): (Vec<Group>, Vec<Group>) = loose.drain(..).partition(|group| verbs(units, group).contains(&verb));
        let members: Vec<usize> = own.iter().flat_map(|group| group.units.iter().copied()).collect();
        *loose = rest;
        if size(units, &members) >= limits.least {
            groups.push(Group { subjects: vec![vec![verb.to_owned()]], topic: None, units: members });
        } else {
            loose.extend(own);
        }
    }
}

/// The verbs that all units of a group have.
fn verbs<'u>(units: &'u [Unit], group: &Group) -> Vec<&'u str> {
    let mut members = group.units.iter().filter_map(|at| units.get(*at));
    let Some(first) = members.next() else { return Vec::new() };
    let others: Vec<&Unit> = members.collect();
    first.verbs.iter().filter(|verb| others.iter().all(|unit| unit.verbs.contains(*verb))).map(String::as_str).collect()
}

/// Puts loose groups of one topic together, the topic with most tools first.
fn by_topic(units: &[Unit], groups: &mut Vec<Group>, loose: &mut Vec<Group>, limits: Limits) {
    loop {
        let mut tools: BTreeMap<&'static str, usize> = BTreeMap::new();
        for group in loose.iter().filter(|group| group.topic.is_none()) {
            for topic in topics(units, group) {
                *tools.entry(topic).or_default() += size(units, &group.units);
            }
        }
        let best = tools.into_iter().filter(|(_, tools)| *tools >= limits.least).rev().max_by_key(|(_, tools)| *tools);
        let Some((topic, _)) = best else { return };
        let mut made = Group { topic: Some(topic), ..Group::default() };
        let mut rest = Vec::new();
        for group in loose.drain(..) {
            let room = size(units, &made.units) + size(units, &group.units) <= limits.most;
            if room && group.topic.is_none() && topics(units, &group).contains(&topic) {
                made.units.extend(group.units);
            } else {
                rest.push(group);
            }
        }
        *loose = rest;
        made.units.sort_unstable();
        // A subject of that name takes them, if it has room.
        let stem = vec![vec![stem(topic)]];
        let tools = size(units, &made.units);
        let same = groups.iter_mut().find(|group| group.subjects == stem || group.topic == made.topic);
        match same.filter(|same| size(units, &same.units) + tools <= limits.most) {
            Some(same) => same.units.extend(made.units),
            None => groups.push(made),
        }
    }
}

/// The topics of a group that its names speak for.
fn topics(units: &[Unit], group: &Group) -> Vec<&'static str> {
    let mut sums: BTreeMap<&'static str, usize> = BTreeMap::new();
    for unit in group.units.iter().filter_map(|at| units.get(*at)) {
        unit.topics.iter().for_each(|(topic, weight)| *sums.entry(topic).or_default() += weight);
    }
    sums.into_iter().filter(|(_, weight)| *weight >= 3).map(|(topic, _)| topic).collect()
}

/// The rest: a group of its own without a subject, or, where that would be a tool or two, with what is most alike.
fn other(units: &[Unit], groups: &mut Vec<Group>, rest: Vec<usize>, rarity: &BTreeMap<&str, usize>, limits: Limits) {
    if rest.is_empty() {
        return;
    }
    if size(units, &rest) >= limits.least || groups.is_empty() {
        // Two subjects can be named; of more a name would say too little.
        let subjects = if rest.len() <= 2 { largest(units, &rest) } else { Vec::new() };
        groups.push(Group { subjects, topic: None, units: rest });
        return;
    }
    for at in rest {
        let own = Group { subjects: Vec::new(), topic: None, units: vec![at] };
        let tools = size(units, &own.units);
        let room = |group: &&mut Group| size(units, &group.units) + tools <= limits.most;
        let best = groups.iter_mut().filter(room).rev().max_by_key(|group| {
            (alike_groups(units, &own, group, rarity), std::cmp::Reverse(size(units, &group.units)))
        });
        match best {
            Some(into) => join(units, into, own, false),
            None => groups.push(own),
        }
    }
}
