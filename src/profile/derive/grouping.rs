//! Groups units that share a subject.

use std::collections::{BTreeMap, BTreeSet};

use super::leftovers::place_leftovers;
use super::topic::is_generic;
use super::unit::Unit;

/// The usual maximum number of tools in a category. Reason: the model opens a category to call one
/// of its tools.
const MOST: usize = 12;

/// The target number of categories; each costs a line in `expand_tools` in every request.
const MOST_CATEGORIES: usize = 48;

/// Size limits of groups, in tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) least: usize,
    pub(super) most: usize,
    /// Whether only the first noun of a name is its subject.
    pub(super) hierarchical: bool,
}

impl Limits {
    /// The limits for a number of tools.
    pub(super) fn for_tools(tools: usize) -> Self {
        let most = MOST.max(tools.div_ceil(MOST_CATEGORIES));
        Self { least: 3.max(most / 4), most, hierarchical: false }
    }

    pub(super) fn allows_size(self, tools: usize) -> bool {
        (self.least..=self.most).contains(&tools)
    }
}

/// Units that form a category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// The stems that the units share, or the stems of each part if several subjects were merged.
    pub(super) subjects: Vec<Vec<String>>,
    /// A general word for the group that does not occur in the names.
    pub(super) topic: Option<&'static str>,
    /// Whether the group covers details of a subject that has its own category.
    pub(super) details: bool,
    /// Indices of the server's units.
    pub(super) units: Vec<usize>,
}

impl Group {
    /// Whether the units have nothing in common.
    pub(super) fn is_rest(&self) -> bool {
        self.subjects.is_empty() && self.topic.is_none()
    }
}

/// The units of a group.
pub(super) fn members<'u>(units: &'u [Unit], of: &[usize]) -> Vec<&'u Unit> {
    of.iter().filter_map(|at| units.get(*at)).collect()
}

/// The number of tools of some units.
pub(super) fn size(units: &[Unit], of: &[usize]) -> usize {
    members(units, of).iter().map(|unit| unit.tools.len()).sum()
}

/// The number of tools of some groups.
pub(super) fn total_size<'g>(units: &[Unit], groups: impl IntoIterator<Item = &'g Group>) -> usize {
    groups.into_iter().map(|group| size(units, &group.units)).sum()
}

/// All units as one group.
pub(super) fn group_of_all(units: &[Unit]) -> Group {
    let all: Vec<usize> = (0..units.len()).collect();
    let shared = shared_nouns(units, &all);
    let single = units.iter().all(|unit| unit.tools.len() == 1);
    let subjects = match shared.is_empty() {
        false => vec![shared],
        // Two of many unrelated subjects do not make a name.
        true if single && units.len() > 2 => Vec::new(),
        true => {
            let mut subjects = largest(units, &all);
            // A subject that covers most of the group needs no second one.
            if let [one, two] = &subjects[..]
                && tools_about(units, one) >= tools_about(units, two) * 3
            {
                subjects.truncate(1);
            }
            subjects
        }
    };
    Group { subjects, units: all, ..Group::default() }
}

/// The number of tools of the unit of a subject.
fn tools_about(units: &[Unit], subject: &[String]) -> usize {
    units.iter().find(|unit| unit.nouns == subject).map_or(0, |unit| unit.tools.len())
}

/// The groups of a server's units. Every unit is in one of them.
pub(super) fn group(units: &[Unit], limits: Limits) -> Vec<Group> {
    let all: Vec<usize> = (0..units.len()).collect();
    let (groups, left) = split(units, &all, &BTreeSet::new(), limits);
    let groups = place_leftovers(units, groups, left, limits);
    // A small server with many unrelated units is one category.
    let loose = total_size(units, groups.iter().filter(|group| group.is_rest()));
    if loose * 3 > size(units, &all) && size(units, &all) <= limits.most + limits.least {
        vec![group_of_all(units)]
    } else {
        groups
    }
}

/// The groups formed by words, and the units that are in none.
fn split(units: &[Unit], of: &[usize], aside: &BTreeSet<String>, limits: Limits) -> (Vec<Group>, Vec<usize>) {
    let mut groups = Vec::new();
    let all = size(units, of);
    let mut left: BTreeSet<usize> = of.iter().copied().collect();
    let index = Index::new(units, of, aside);
    let mut words: Vec<(&str, usize)> = index.words.keys().map(|word| (*word, index.score(word))).collect();
    // Subjects of several names first, generic ones last. Ties are in alphabetical order.
    words.sort_by_cached_key(|(word, score)| (is_generic(word), std::cmp::Reverse(*score)));
    for (word, _) in &words {
        let members = index.members(units, word, &left, limits);
        let tools = size(units, &members);
        if limits.allows_size(tools) && tools < all {
            remove_members(&mut left, &members);
            groups.push(subject_group(units, members));
        }
    }
    // The rest of the large subjects, each split by a second word if it is still too large.
    words.retain(|(word, _)| size(units, &index.units_with(word)) > limits.most);
    for (word, _) in words {
        let members = index.members(units, word, &left, limits);
        let tools = size(units, &members);
        if tools < limits.least || tools == all && tools <= limits.most {
            continue;
        }
        if tools <= limits.most {
            remove_members(&mut left, &members);
            groups.push(subject_group(units, members));
            continue;
        }
        let mut inner = aside.clone();
        inner.insert(word.to_owned());
        remove_members(&mut left, &members);
        let (sub, rest) = split(units, &members, &inner, limits);
        groups.extend(sub);
        if size(units, &rest) < limits.least {
            left.extend(rest);
        } else {
            groups.extend(remainder(units, rest, &inner, limits));
        }
    }
    (groups, left.into_iter().collect())
}

fn remove_members(left: &mut BTreeSet<usize>, members: &[usize]) {
    for at in members {
        left.remove(at);
    }
}

/// The rest of a large subject: its plainest unit is separated from the others if together they are
/// too large.
fn remainder(units: &[Unit], rest: Vec<usize>, inner: &BTreeSet<String>, limits: Limits) -> Vec<Group> {
    if size(units, &rest) > limits.most {
        let plain = |at: &usize| units.get(*at).is_some_and(|unit| unit.nouns.iter().all(|noun| inner.contains(noun)));
        let (base, others): (Vec<usize>, Vec<usize>) = rest.iter().partition(|at| plain(at));
        if size(units, &base) >= limits.least && size(units, &others) >= limits.least {
            let base = subject_group(units, base);
            let mut more = subject_group(units, others);
            if more.subjects == base.subjects {
                more.details = true;
            }
            return vec![base, more];
        }
    }
    vec![subject_group(units, rest)]
}

fn subject_group(units: &[Unit], members: Vec<usize>) -> Group {
    Group { subjects: vec![shared_nouns(units, &members)], units: members, ..Group::default() }
}

/// The stems that all of some units have, in the order of the first unit.
pub(super) fn shared_nouns(units: &[Unit], of: &[usize]) -> Vec<String> {
    let members = members(units, of);
    let Some((first, others)) = members.split_first() else { return Vec::new() };
    let mut shared = first.nouns.clone();
    shared.retain(|noun| others.iter().all(|unit| unit.nouns.contains(noun)));
    shared
}

/// The subjects of the two largest of some units.
pub(super) fn largest(units: &[Unit], of: &[usize]) -> Vec<Vec<String>> {
    let mut members = members(units, of);
    members.sort_by_key(|unit| (std::cmp::Reverse(unit.tools.len()), unit.nouns.len(), &unit.nouns));
    members.into_iter().take(2).map(|unit| unit.nouns.clone()).collect()
}

/// An index from words to units.
struct Index<'u> {
    words: BTreeMap<&'u str, Vec<usize>>,
    /// For each word, the number of tools whose name has it as the first noun.
    first: BTreeMap<&'u str, usize>,
    tools: BTreeMap<&'u str, usize>,
}

impl<'u> Index<'u> {
    fn new(units: &'u [Unit], of: &[usize], aside: &BTreeSet<String>) -> Self {
        let (mut words, mut first, mut tools) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new(), BTreeMap::new());
        for at in of {
            let Some(unit) = units.get(*at) else { continue };
            let mut is_first = true;
            for noun in &unit.nouns {
                if aside.contains(noun) {
                    continue;
                }
                words.entry(noun.as_str()).or_default().push(*at);
                *tools.entry(noun.as_str()).or_default() += unit.tools.len();
                if is_first {
                    *first.entry(noun.as_str()).or_default() += unit.tools.len();
                    is_first = false;
                }
            }
        }
        Self { words, first, tools }
    }

    /// The units that have a word.
    fn units_with(&self, word: &str) -> Vec<usize> {
        self.words.get(word).cloned().unwrap_or_default()
    }

    fn firsts(&self, word: &str) -> usize {
        self.first.get(word).copied().unwrap_or_default()
    }

    fn tools_with(&self, word: &str) -> usize {
        self.tools.get(word).copied().unwrap_or_default()
    }

    /// How suitable a word is as a subject: the first noun of a name is its field
    /// (`issue_comments`), later ones qualify it.
    fn score(&self, word: &str) -> usize {
        3 * self.firsts(word) + self.tools_with(word)
    }

    /// The remaining units that a category of a word would take: those whose first noun it is, and
    /// those whose own first noun forms no category or one that is too large.
    fn members(&self, units: &[Unit], word: &str, left: &BTreeSet<usize>, limits: Limits) -> Vec<usize> {
        let mut members = self.units_with(word);
        members.retain(|at| left.contains(at) && self.takes(units.get(*at), word, limits));
        members
    }

    fn takes(&self, unit: Option<&Unit>, word: &str, limits: Limits) -> bool {
        let Some(unit) = unit else { return true };
        let Some(first) = unit.nouns.iter().find(|noun| self.first.contains_key(noun.as_str())) else { return true };
        let weak = is_generic(first) || !limits.allows_size(self.tools_with(first));
        first == word || !limits.hierarchical && weak
    }
}
