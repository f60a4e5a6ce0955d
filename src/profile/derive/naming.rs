//! Names and descriptions of categories.

use std::collections::{BTreeMap, BTreeSet};

use super::grouping::{Group, largest, members};
use super::source::Source;
use super::topic::is_generic;
use super::unit::{Unit, tells};
use crate::name::CategoryName;
use crate::profile::OTHER;
use crate::profile::words::{lower_case_words, stem};

/// The maximum number of words of a subject in a name.
const MAX_WORDS: usize = 3;

/// The maximum length of the names in a description with more than one name, in characters.
const MAX_LINE_CHARS: usize = 50;

/// The maximum number of tools that a description names.
const MAX_TOOLS: usize = 3;

/// Words that are not category names: tiers, details and words for the whole list.
const RESERVED: [&str; 10] =
    ["core", "extended", "hidden", "full", "signature", "outline", "required", "summary", "index", OTHER];

/// A group with its possible names, best first.
#[derive(Debug)]
pub(super) struct Named {
    source: usize,
    names: Vec<String>,
    /// The tools of each unit.
    units: Vec<Vec<usize>>,
}

impl Named {
    /// Names a group. `whole`: the group has all tools of its server. `several`: there are other
    /// servers.
    pub(super) fn new(
        place: usize,
        source: &Source,
        units: &[Unit],
        group: &Group,
        whole: bool,
        several: bool,
    ) -> Self {
        let mut members = members(units, &group.units);
        members.sort_by_key(|unit| (unit.nouns.len(), &unit.nouns));
        let mut names = Vec::new();
        if whole {
            names.extend(source.name.clone());
        }
        names.extend(group.topic.map(str::to_owned));
        if group.is_rest() && whole {
            names.push("tools".to_owned());
        } else if group.is_rest() {
            // The rest of one of several servers.
            if let (true, Some(server)) = (several, &source.name) {
                names.push(format!("{server}_misc"));
            }
        } else {
            let name = joined_subjects(&group.subjects, &members);
            names.push(if group.details && !name.is_empty() { format!("{name}_details") } else { name });
            names.push(joined_subjects(&largest(units, &group.units), &members));
        }
        names.retain(|name| !name.is_empty());
        let units = members.iter().map(|unit| unit.tools.clone()).collect();
        Self { source: place, names, units }
    }
}

/// A name of subjects, in the words of the members' names: `page_history_and_views`.
fn joined_subjects(subjects: &[Vec<String>], members: &[&Unit]) -> String {
    let most = if subjects.len() > 1 { MAX_WORDS - 1 } else { MAX_WORDS };
    let mut parts: Vec<String> = Vec::new();
    for (at, subject) in subjects.iter().enumerate() {
        let mut words = subject.clone();
        if at > 0
            && let Some(first) = subjects.first()
        {
            // Words of the first part are not repeated.
            words.retain(|stem| !first.contains(stem));
        }
        words.retain(|stem| tells(stem));
        words.truncate(most);
        let words: Vec<String> = words.iter().filter_map(|stem| surface(members, stem)).collect();
        let part = words.join("_");
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("_and_")
}

/// The most frequent form of a word; ties use the shortest.
fn surface(units: &[&Unit], stem: &str) -> Option<String> {
    let mut forms: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in units {
        let Some(own) = unit.surface.get(stem) else { continue };
        for (form, count) in own {
            *forms.entry(form).or_default() += count;
        }
    }
    if forms.is_empty() {
        // A verb is written unchanged.
        return if units.iter().any(|unit| unit.verbs.contains(stem)) { Some(stem.to_owned()) } else { None };
    }
    let (best, _) = forms.into_iter().max_by_key(|(form, count)| (*count, std::cmp::Reverse(form.len())))?;
    Some(best.to_owned())
}

/// The categories in alphabetical order, those without a subject last. Names are unique.
pub(super) fn named_categories(found: Vec<Named>, sources: &[Source]) -> Vec<(String, Vec<Vec<usize>>)> {
    let mut wanted: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for one in &found {
        if let Some(name) = one.names.first() {
            wanted.entry(name.clone()).or_default().insert(one.source);
        }
    }
    let mut taken: BTreeMap<String, Vec<Vec<usize>>> = BTreeMap::new();
    let mut rest: Vec<Vec<usize>> = Vec::new();
    for one in found {
        let server = sources.get(one.source).and_then(|source| source.name.as_deref());
        let mut candidates: Vec<String> = Vec::new();
        for name in &one.names {
            let ambiguous = wanted.get(name).is_some_and(|servers| servers.len() > 1);
            // With several servers, a generic word needs the server's name.
            let vague = sources.len() > 1 && server != Some(name) && is_generic(name);
            if !ambiguous && !vague {
                candidates.push(name.clone());
            }
        }
        for name in &one.names {
            if let Some(server) = server
                && server != name
            {
                candidates.push(format!("{server}_{name}"));
            }
        }
        for name in &one.names {
            candidates.push(format!("{name}_tools"));
        }
        if let Some(name) = candidates.into_iter().find(|name| is_free(name, &taken)) {
            taken.insert(name, one.units);
            continue;
        }
        // Two groups with the same name have the same subject and become one category.
        let same = one.names.iter().find(|name| taken.contains_key(*name));
        same.and_then(|name| taken.get_mut(name)).unwrap_or(&mut rest).extend(one.units);
    }
    let mut categories = Vec::from_iter(taken);
    if !rest.is_empty() {
        categories.push((OTHER.to_owned(), rest));
    }
    categories
}

/// Whether a category can have a name: it is valid, not reserved, and no other category has the
/// same words.
fn is_free(name: &str, taken: &BTreeMap<String, Vec<Vec<usize>>>) -> bool {
    !RESERVED.contains(&name)
        && CategoryName::new(name).is_ok()
        && !taken.keys().any(|other| name_stems(other) == name_stems(name))
}

fn name_stems(name: &str) -> Vec<String> {
    lower_case_words(name).iter().map(|word| stem(word)).collect()
}

/// The description of a category: up to three of its tools, from different units first.
pub(super) fn describe(units: &[Vec<usize>], names: &[&str]) -> String {
    let most = units.iter().map(Vec::len).max().unwrap_or_default();
    let mut shown: Vec<&str> = Vec::new();
    for round in 0..most {
        for unit in units {
            shown.extend(unit.get(round).and_then(|at| names.get(*at)));
        }
    }
    let all = shown.len();
    shown.truncate(MAX_TOOLS);
    // The line is billed in every request.
    while shown.len() > 1 && shown.iter().map(|name| name.chars().count() + 2).sum::<usize>() > MAX_LINE_CHARS {
        shown.pop();
    }
    let more = all > shown.len();
    format!("{}{}", shown.join(", "), if more { ", …" } else { "" })
}
