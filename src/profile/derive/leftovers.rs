//! Places units that share no word with enough others.

use std::collections::{BTreeMap, BTreeSet};

use super::grouping::{Group, Limits, largest, members, shared_nouns, size, total_size};
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
    groups.extend(loose.extract_if(.., |group| size(units, &group.units) >= limits.least));
    if loose.len() * units.len() <= MAX_COMPARED {
        join_alike(units, (&mut groups, &mut loose), &rarity, (MIN_ALIKE, limits));
    }
    by_verb(units, &mut groups, &mut loose, limits);
    by_topic(units, &mut groups, &mut loose, limits);
    if loose.len() * units.len() <= MAX_COMPARED {
        mention::join_mentioned(units, &mut groups, &mut loose, limits);
        mention::join_each_other(units, &mut groups, &mut loose, limits);
    }
    if total_size(units, &loose) > limits.most && loose.len() * units.len() <= MAX_COMPARED {
        join_alike(units, (&mut [], &mut loose), &rarity, (MIN_ALIKE_AT_LAST, limits));
    }
    groups.extend(loose.extract_if(.., |group| size(units, &group.units) >= limits.least));
    let rest = pair_up(units, &mut groups, loose, &rarity, limits);
    let rest = units_of(rest);
    other(units, &mut groups, rest, &rarity, limits);
    groups
}

/// The rarity of each stem of names and sentences: 1,000 if two units have it, less if more do.
fn rarity(units: &[Unit]) -> BTreeMap<&str, usize> {
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in units {
        let mut words = BTreeSet::from_iter(&unit.nouns);
        words.extend(&unit.said);
        for word in words {
            *having.entry(word).or_default() += 1;
        }
    }
    for count in having.values_mut() {
        *count = 2_000 / (*count).max(2);
    }
    having
}

/// The similarity of two units.
fn alike(one: &Unit, two: &Unit, rarity: &BTreeMap<&str, usize>) -> usize {
    let (mut names, mut crossed) = (0, 0);
    for noun in &one.nouns {
        let rare = rarity.get(noun.as_str()).copied().unwrap_or_default();
        if two.nouns.contains(noun) {
            names += 1_500 + 4 * rare;
        }
        if two.said.contains(noun) {
            crossed += rare;
        }
    }
    crossed += total_rarity(two.nouns.iter().filter(|noun| one.said.contains(*noun)), rarity);
    let said = total_rarity(one.said.intersection(&two.said), rarity) / 2;
    // A topic counts if both names indicate it.
    let in_both = one.topics.keys().any(|topic| name_indicates(one, topic) && name_indicates(two, topic));
    names + (crossed + said).min(MOST_BY_SENTENCES) + if in_both { BY_TOPIC } else { 0 }
}

fn name_indicates(unit: &Unit, topic: &str) -> bool {
    unit.topics.get(topic).is_some_and(|weight| *weight >= NAME_WEIGHT)
}

fn total_rarity<'w>(words: impl IntoIterator<Item = &'w String>, rarity: &BTreeMap<&str, usize>) -> usize {
    let mut total = 0;
    for word in words {
        total += rarity.get(word.as_str()).copied().unwrap_or_default();
    }
    total
}

/// The similarity of two groups: the mean over their units.
fn alike_groups(units: &[Unit], one: &Group, two: &Group, rarity: &BTreeMap<&str, usize>) -> usize {
    let (sum, count) = alike_sum(units, one, two, rarity);
    sum / count.max(1)
}

/// The sum of the similarities of the units of two groups, and the number of pairs.
fn alike_sum(units: &[Unit], one: &Group, two: &Group, rarity: &BTreeMap<&str, usize>) -> (usize, usize) {
    let (ones, twos) = (members(units, &one.units), members(units, &two.units));
    let mut sum = 0;
    for one in &ones {
        for two in &twos {
            sum += alike(one, two, rarity);
        }
    }
    (sum, ones.len() * twos.len())
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
        let (mut sums, mut sizes) = (Vec::new(), Vec::new());
        for (at, one) in parts.iter().enumerate() {
            sizes.push((one.units.len(), size(units, &one.units)));
            if at < loose {
                sums.push(Vec::from_iter(parts.iter().map(|two| alike_sum(units, one, two, rarity).0)));
            }
        }
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
            if let Some(sum) = row.get_mut(into) {
                *sum += more;
            }
        }
        if let Some(row) = self.sums.get_mut(into) {
            for (sum, more) in row.iter_mut().zip(gone) {
                *sum += more;
            }
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
        let Some(verb) = verbs(units, group).first().copied() else { continue };
        let own: Vec<Group> = loose.extract_if(.., |loose| verbs(units, loose).contains(&verb)).collect();
        let tools = total_size(units, &own);
        if tools == 0 || tools + size(units, &group.units) > limits.most {
            loose.extend(own);
        } else {
            for own in own {
                group.units.extend(own.units);
            }
            group.subjects = vec![vec![verb.to_owned()]];
        }
    }
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for group in loose.iter() {
        for verb in verbs(units, group) {
            *tools.entry(verb).or_default() += size(units, &group.units);
        }
    }
    tools.retain(|_, tools| limits.allows_size(*tools));
    let mut shared = Vec::from_iter(tools);
    shared.sort_by_cached_key(|(_, tools)| std::cmp::Reverse(*tools));
    for (verb, _) in shared {
        let own: Vec<Group> = loose.extract_if(.., |group| verbs(units, group).contains(&verb)).collect();
        if total_size(units, &own) >= limits.least {
            groups.push(Group { subjects: vec![vec![verb.to_owned()]], units: units_of(own), ..Group::default() });
        } else {
            loose.extend(own);
        }
    }
}

/// The units of some groups.
fn units_of(groups: Vec<Group>) -> Vec<usize> {
    let mut units = Vec::new();
    for group in groups {
        units.extend(group.units);
    }
    units
}

/// The verbs that all units of a group have.
fn verbs<'u>(units: &'u [Unit], group: &Group) -> Vec<&'u str> {
    let members = members(units, &group.units);
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    let mut verbs: Vec<&str> = first.verbs.iter().map(String::as_str).collect();
    verbs.retain(|verb| others.iter().all(|unit| unit.verbs.contains(*verb)));
    verbs
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
        tools.retain(|_, tools| *tools >= limits.least);
        let Some((topic, _)) = tools.into_iter().rev().max_by_key(|(_, tools)| *tools) else { return };
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
        match groups.iter_mut().find(|group| group.subjects == stem || group.topic == made.topic) {
            Some(same) if size(units, &same.units) + tools <= limits.most => same.units.extend(made.units),
            _ => groups.push(made),
        }
    }
}

/// The topics of a group that its names indicate.
pub(super) fn topics(units: &[Unit], group: &Group) -> Vec<&'static str> {
    let mut sums: BTreeMap<&'static str, usize> = BTreeMap::new();
    for unit in members(units, &group.units) {
        for (topic, weight) in &unit.topics {
            *sums.entry(topic).or_default() += weight;
        }
    }
    // A name is not about a topic that it indicates less than another: a `database_container` is
    // not a container.
    let most = sums.values().copied().max().unwrap_or_default();
    sums.retain(|_, weight| *weight >= 3 && *weight * 4 >= most * 3);
    sums.into_keys().collect()
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
    let all: usize = units.iter().map(|unit| unit.tools.len()).sum();
    while rest.len() <= MAX_PAIRED {
        let tools = total_size(units, &rest);
        if tools <= limits.most && (tools <= limits.most / 2 || tools * OTHER_PART <= all) {
            break;
        }
        let Some((first, second)) = most_alike(units, &rest, rarity) else { break };
        let (second, first) = (rest.remove(second), rest.remove(first));
        let mut subjects = vec![subject_of(units, &first), subject_of(units, &second)];
        if limits.hierarchical {
            // The field is sufficient as a name if another one follows.
            for subject in &mut subjects {
                subject.truncate(1);
            }
        }
        groups.push(Group { subjects, units: [first.units, second.units].concat(), ..Group::default() });
    }
    rest
}

/// The two most similar groups of several tools. Ties use the first.
fn most_alike(units: &[Unit], groups: &[Group], rarity: &BTreeMap<&str, usize>) -> Option<(usize, usize)> {
    let mut best: Option<(usize, (usize, usize))> = None;
    for (first, one) in groups.iter().enumerate() {
        if size(units, &one.units) <= 1 {
            continue;
        }
        for (second, two) in groups.iter().enumerate().skip(first + 1) {
            if size(units, &two.units) <= 1 {
                continue;
            }
            let score = alike_groups(units, one, two, rarity);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, (first, second)));
            }
        }
    }
    Some(best?.1)
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
