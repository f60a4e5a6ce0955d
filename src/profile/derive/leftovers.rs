//! Places units that share no word with enough others.

use std::collections::BTreeMap;

use super::grouping::{Group, Limits, largest, shared_nouns, size};
use super::mention;
use super::topic::NAME_WEIGHT;
use super::unit::Unit;
use crate::profile::words::stem;

/// The minimum similarity for joining two units or groups. A word that two names share counts
/// 1,500, and up to 4,000 more if it is rare. A word that a name and a sentence share counts up to
/// 1,000, one of two sentences half of that, and a topic up to 1,500.
const MIN_ALIKE: usize = 3_000;

/// The same if the rest is still too large for one category.
const MIN_ALIKE_AT_LAST: usize = 1_500;

/// The maximum total weight of words from sentences.
const MOST_BY_SENTENCES: usize = 2_000;

/// The weight of a common topic.
const BY_TOPIC: usize = 1_500;

/// The maximum number of unit comparisons; with more units the result would not be meaningful.
const MAX_COMPARED: usize = 60_000;

/// A rest that is a smaller fraction of its server stays unchanged, up to a full category: pairs of
/// unrelated units read worse than a short `other`. Source: manual review of the lists in
/// `tests/it/derive`.
const OTHER_PART: usize = 8;

/// The maximum number of parts that are paired.
const MAX_PAIRED: usize = 60;

/// Puts every remaining unit into a group: with units of the same topic, with the most similar
/// group, or with the rest.
pub(super) fn place_leftovers(units: &[Unit], mut groups: Vec<Group>, left: Vec<usize>, limits: Limits) -> Vec<Group> {
    let rarity = rarity(units);
    let mut loose: Vec<Group> = Vec::new();
    for at in left {
        let nouns = units.get(at).map(|unit| unit.nouns.clone()).unwrap_or_default();
        loose.push(Group { subjects: vec![nouns], units: vec![at], ..Group::default() });
    }
    let (ready, mut loose): (Vec<Group>, Vec<Group>) =
        loose.into_iter().partition(|group| size(units, &group.units) >= limits.least);
    groups.extend(ready);
    if loose.len() * units.len() <= MAX_COMPARED {
        join_alike(units, (&mut groups, &mut loose), &rarity, (MIN_ALIKE, limits));
    }
    by_verb(units, &mut groups, &mut loose, limits);
    by_topic(units, &mut groups, &mut loose, limits);
    if loose.len() * units.len() <= MAX_COMPARED {
        mention::join_mentioned(units, &mut groups, &mut loose, limits);
        mention::join_each_other(units, &mut groups, &mut loose, limits);
    }
    let open: usize = loose.iter().map(|group| size(units, &group.units)).sum();
    if open > limits.most && loose.len() * units.len() <= MAX_COMPARED {
        join_alike(units, (&mut [], &mut loose), &rarity, (MIN_ALIKE_AT_LAST, limits));
    }
    let (ready, rest): (Vec<Group>, Vec<Group>) =
        loose.into_iter().partition(|group| size(units, &group.units) >= limits.least);
    groups.extend(ready);
    let rest = pair_up(units, &mut groups, rest, &rarity, limits);
    let rest: Vec<usize> = rest.into_iter().flat_map(|group| group.units).collect();
    other(units, &mut groups, rest, &rarity, limits);
    groups
}

/// The rarity of each stem of names and sentences: 1,000 if two units have it, less if more do.
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

/// The similarity of two units.
fn alike(one: &Unit, two: &Unit, rarity: &BTreeMap<&str, usize>) -> usize {
    let shared: Vec<&String> = one.nouns.iter().filter(|noun| two.nouns.contains(noun)).collect();
    let names = 1_500 * shared.len() + 4 * total_rarity(shared, rarity);
    let crossed = total_rarity(one.nouns.iter().filter(|noun| two.said.contains(*noun)), rarity)
        + total_rarity(two.nouns.iter().filter(|noun| one.said.contains(*noun)), rarity);
    let said = total_rarity(one.said.intersection(&two.said), rarity) / 2;
    // A topic counts if both names indicate it.
    let in_both = one
        .topics
        .iter()
        .any(|(topic, own)| *own >= NAME_WEIGHT && two.topics.get(topic).is_some_and(|other| *other >= NAME_WEIGHT));
    names + (crossed + said).min(MOST_BY_SENTENCES) + if in_both { BY_TOPIC } else { 0 }
}

fn total_rarity<'w>(words: impl IntoIterator<Item = &'w String>, rarity: &BTreeMap<&str, usize>) -> usize {
    words.into_iter().filter_map(|word| rarity.get(word.as_str())).sum()
}

/// The similarity of two groups: the mean over their units.
fn alike_groups(units: &[Unit], one: &Group, two: &Group, rarity: &BTreeMap<&str, usize>) -> usize {
    let (sum, count) = alike_sum(units, one, two, rarity);
    sum / count.max(1)
}

/// The sum of the similarities of the units of two groups, and the number of pairs.
fn alike_sum(units: &[Unit], one: &Group, two: &Group, rarity: &BTreeMap<&str, usize>) -> (usize, usize) {
    let (mut sum, mut count) = (0, 0);
    for one in one.units.iter().filter_map(|at| units.get(*at)) {
        for two in two.units.iter().filter_map(|at| units.get(*at)) {
            sum += alike(one, two, rarity);
            count += 1;
        }
    }
    (sum, count)
}

/// Joins the two most similar groups, one of them too small, until none are similar enough.
fn join_alike(
    units: &[Unit],
    (groups, loose): (&mut [Group], &mut Vec<Group>),
    rarity: &BTreeMap<&str, usize>,
    (least, limits): (usize, Limits),
) {
    let parts: Vec<&Group> = loose.iter().chain(groups.iter()).collect();
    let mut table = Table::new(units, &parts, loose.len(), rarity);
    while let Some((own, into)) = table.best(least, limits) {
        table.join(own, into);
        let Some(joined) = loose.get_mut(own).map(std::mem::take) else { return };
        let is_loose = into < loose.len();
        let target = if is_loose { loose.get_mut(into) } else { groups.get_mut(into - loose.len()) };
        if let Some(target) = target {
            join(units, target, joined, is_loose);
        }
    }
    loose.retain(|group| !group.units.is_empty());
}

/// The similarities of the loose groups to all groups, updated as groups are joined.
struct Table {
    /// For each loose group, the sum over its units and those of each group, loose groups first.
    sums: Vec<Vec<usize>>,
    /// The number of units and of tools of each group; zero for one that was joined to another.
    sizes: Vec<(usize, usize)>,
}

impl Table {
    fn new(units: &[Unit], parts: &[&Group], loose: usize, rarity: &BTreeMap<&str, usize>) -> Self {
        let mut sums = Vec::new();
        for one in parts.iter().take(loose) {
            sums.push(parts.iter().map(|two| alike_sum(units, one, two, rarity).0).collect());
        }
        let sizes = parts.iter().map(|group| (group.units.len(), size(units, &group.units))).collect();
        Self { sums, sizes }
    }

    /// The most similar pair of a loose group and any group that may be joined. Ties use the first.
    fn best(&self, least: usize, limits: Limits) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize, usize)> = None;
        for (own, (row, (units, tools))) in self.sums.iter().zip(&self.sizes).enumerate() {
            if *units == 0 || *tools >= limits.least {
                continue;
            }
            for (other, (sum, (others, more))) in row.iter().zip(&self.sizes).enumerate() {
                let mean = sum / (units * others).max(1);
                let fits = other != own && *others > 0 && tools + more <= limits.most;
                if fits && mean >= least && best.is_none_or(|(most, ..)| mean > most) {
                    best = Some((mean, own, other));
                }
            }
        }
        best.map(|(_, own, other)| (own, other))
    }

    fn join(&mut self, own: usize, into: usize) {
        let gone = self.sums.get_mut(own).map(std::mem::take).unwrap_or_default();
        for row in &mut self.sums {
            let more = row.get(own).copied().unwrap_or_default();
            row.get_mut(into).into_iter().for_each(|sum| *sum += more);
        }
        if let Some(row) = self.sums.get_mut(into) {
            row.iter_mut().zip(gone).for_each(|(sum, more)| *sum += more);
        }
        let (units, tools) = self.sizes.get_mut(own).map(std::mem::take).unwrap_or_default();
        if let Some(size) = self.sizes.get_mut(into) {
            *size = (size.0 + units, size.1 + tools);
        }
    }
}

/// Moves a group's units into another. Two loose groups get a subject from both.
pub(super) fn join(units: &[Unit], into: &mut Group, own: Group, both: bool) {
    into.units.extend(own.units);
    into.units.sort_unstable();
    if both {
        let shared = shared_nouns(units, &into.units);
        into.subjects = if shared.is_empty() { largest(units, &into.units) } else { vec![shared] };
    }
}

/// Joins loose groups that perform the same action, such as verifying or converting.
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
    let mut shared: Vec<(&str, usize)> =
        tools.into_iter().filter(|(_, tools)| (limits.least..=limits.most).contains(tools)).collect();
    shared.sort_by_key(|(_, tools)| std::cmp::Reverse(*tools));
    for (verb, _) in shared {
        let (own, rest): (Vec<Group>, Vec<Group>) =
            loose.drain(..).partition(|group| verbs(units, group).contains(&verb));
        let members: Vec<usize> = own.iter().flat_map(|group| group.units.iter().copied()).collect();
        *loose = rest;
        if size(units, &members) >= limits.least {
            groups.push(Group { subjects: vec![vec![verb.to_owned()]], units: members, ..Group::default() });
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

/// Joins loose groups of the same topic, starting with the topic with the most tools.
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
        // A subject of that name takes them if it has room.
        let stem = vec![vec![stem(topic)]];
        let tools = size(units, &made.units);
        let same = groups.iter_mut().find(|group| group.subjects == stem || group.topic == made.topic);
        match same.filter(|same| size(units, &same.units) + tools <= limits.most) {
            Some(same) => same.units.extend(made.units),
            None => groups.push(made),
        }
    }
}

/// The topics of a group that its names indicate.
pub(super) fn topics(units: &[Unit], group: &Group) -> Vec<&'static str> {
    let mut sums: BTreeMap<&'static str, usize> = BTreeMap::new();
    for unit in group.units.iter().filter_map(|at| units.get(*at)) {
        unit.topics.iter().for_each(|(topic, weight)| *sums.entry(topic).or_default() += weight);
    }
    // A name is not about a topic that it indicates less than another: a `database_container` is
    // not a container.
    let most = sums.values().copied().max().unwrap_or_default();
    sums.into_iter().filter(|(_, weight)| *weight >= 3 && *weight * 4 >= most * 3).map(|(topic, _)| topic).collect()
}

/// If the rest is large, joins its parts of several tools in pairs, most similar first, named after
/// both.
fn pair_up(
    units: &[Unit],
    groups: &mut Vec<Group>,
    mut rest: Vec<Group>,
    rarity: &BTreeMap<&str, usize>,
    limits: Limits,
) -> Vec<Group> {
    let all = size(units, &(0..units.len()).collect::<Vec<_>>());
    while rest.len() <= MAX_PAIRED {
        let tools: usize = rest.iter().map(|group| size(units, &group.units)).sum();
        if tools <= limits.most && (tools <= limits.most / 2 || tools * OTHER_PART <= all) {
            break;
        }
        let several: Vec<(usize, &Group)> =
            rest.iter().enumerate().filter(|(_, own)| size(units, &own.units) > 1).collect();
        let pairs =
            several.iter().enumerate().flat_map(|(at, one)| several.iter().skip(at + 1).map(move |two| (one, two)));
        let scored = pairs.map(|(one, two)| (alike_groups(units, one.1, two.1, rarity), one.0, two.0));
        // Ties use the first.
        let best = scored.max_by_key(|(score, one, two)| (*score, std::cmp::Reverse((*one, *two))));
        let Some((_, first, second)) = best else { break };
        let (second, first) = (rest.remove(second), rest.remove(first));
        let mut subjects = vec![subject_of(units, &first), subject_of(units, &second)];
        if limits.hierarchical {
            // The field is sufficient as a name if another one follows.
            subjects.iter_mut().for_each(|subject| subject.truncate(1));
        }
        groups.push(Group {
            subjects,
            units: first.units.into_iter().chain(second.units).collect(),
            ..Group::default()
        });
    }
    rest
}

/// The nouns of all units of a group, or the subject of its largest unit.
fn subject_of(units: &[Unit], group: &Group) -> Vec<String> {
    let shared = shared_nouns(units, &group.units);
    if shared.is_empty() { largest(units, &group.units).into_iter().next().unwrap_or_default() } else { shared }
}

/// The rest: its own group without a subject or, if it has only one or two tools, part of the most
/// similar group.
fn other(units: &[Unit], groups: &mut Vec<Group>, rest: Vec<usize>, rarity: &BTreeMap<&str, usize>, limits: Limits) {
    if rest.is_empty() {
        return;
    }
    if size(units, &rest) >= limits.least || groups.is_empty() {
        // Two subjects can be named; a name for more would be vague.
        let subjects = if rest.len() <= 2 { largest(units, &rest) } else { Vec::new() };
        groups.push(Group { subjects, units: rest, ..Group::default() });
        return;
    }
    for at in rest {
        let own = Group { units: vec![at], ..Group::default() };
        let tools = size(units, &own.units);
        let with_room = groups.iter_mut().filter(|group| size(units, &group.units) + tools <= limits.most);
        let best = with_room.rev().max_by_key(|group| {
            (alike_groups(units, &own, group, rarity), std::cmp::Reverse(size(units, &group.units)))
        });
        match best {
            Some(into) if alike_groups(units, &own, into, rarity) >= MIN_ALIKE_AT_LAST => join(units, into, own, false),
            // The group's name mentions it.
            Some(into) => {
                if into.topic.is_none() && into.subjects.len() == 1 {
                    into.subjects.push(units.get(at).map(|unit| unit.nouns.clone()).unwrap_or_default());
                }
                join(units, into, own, false);
            }
            None => groups.push(own),
        }
    }
}
