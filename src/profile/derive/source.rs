//! The server of each tool, and the words of its name that come from the server.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Catalog, Origin, Tool};
use crate::profile::client::{leading_groups, prefix_groups};
use crate::profile::sentence::Sentence;
use crate::profile::words::{lower_case_words, name_words, split_server, stem, without_mcp};

/// The minimum fraction of tools, in thirds, whose common prefix is the server's.
const PREFIX_THIRDS: usize = 2;

/// The minimum number of tools with a common prefix.
const MIN_PREFIXED: usize = 3;

/// The maximum number of characters of a description that are searched for the product's name.
const MAX_BRAND_CHARS: usize = 200;

/// The minimum number of tools for a name to count as common.
const MIN_BRANDED: usize = 6;

/// The tools of one server.
#[derive(Debug)]
pub(super) struct Source {
    /// The server's name, if known.
    pub(super) name: Option<String>,
    /// Each tool's index in the catalog with the words of its name after the server's, by name.
    pub(super) tools: Vec<(usize, Vec<String>)>,
    /// Each tool's name after the server's mark, by its index.
    pub(super) rests: Vec<(usize, String)>,
    /// The stems of words that name the server or begin nearly all of its names. They are not
    /// subjects.
    pub(super) aside: BTreeSet<String>,
}

/// The tools that are not the agent's own, by server, in the order of their names.
pub(super) fn sources(catalog: &Catalog, own: &[bool], sentences: &[Sentence]) -> Vec<Source> {
    let mut members: Vec<(usize, &Tool)> = catalog.iter().enumerate().collect();
    members.retain(|(at, _)| own.get(*at) != Some(&true));
    members.sort_by_key(|(_, tool)| tool.name().as_str());
    let prefixes = if own.contains(&true) { prefix_groups(catalog, own) } else { Vec::new() };
    let one_server = are_of_one_server(&members);
    let mut groups: BTreeMap<String, Vec<(usize, &str)>> = BTreeMap::new();
    for (at, tool) in &members {
        let name = tool.name().as_str();
        let (server, rest) = match tool.origin() {
            // One server's list is derived alike wherever it comes from.
            Origin::Server { tool, .. } if one_server => ("", tool.as_ref()),
            Origin::Server { server, tool } => (server.as_ref(), tool.as_ref()),
            Origin::Unknown | Origin::Host => server_by_name(tool, name, &prefixes),
        };
        groups.entry(server.to_owned()).or_default().push((*at, rest));
    }
    // `issues.list` names a subject rather than a server if some of the prefixes have very few
    // tools.
    let marked = members.iter().any(|(_, tool)| is_marked(tool));
    let small = groups.values().any(|tools| tools.len() < MIN_PREFIXED);
    if groups.len() > 1 && small && prefixes.is_empty() && !marked {
        groups = BTreeMap::new();
        for (at, tool) in &members {
            groups.entry(String::new()).or_default().push((*at, tool.name().as_str()));
        }
    }
    if groups.len() == 1 && groups.contains_key("") {
        groups = by_opening(&members, sentences).or_else(|| by_product(&members)).unwrap_or(groups);
    }
    let mut sources = Vec::new();
    for (name, tools) in groups {
        let mut source = source(&name, tools);
        source.aside.extend(brands(&source, catalog));
        sources.push(source);
    }
    sources
}

/// Whether all tools come from one stated server.
fn are_of_one_server(members: &[(usize, &Tool)]) -> bool {
    let mut one = None;
    for (_, tool) in members {
        let Origin::Server { server, .. } = tool.origin() else { return false };
        if one.is_some_and(|other| other != server) {
            return false;
        }
        one = Some(server);
    }
    true
}

/// Whether the server is stated: by the list, or in the name.
fn is_marked(tool: &Tool) -> bool {
    matches!(tool.origin(), Origin::Server { .. }) || tool.namespaced().is_some() || tool.name().as_str().contains("__")
}

/// The server of a tool and the rest of its name: by its namespace, by a mark in its name or by a
/// known prefix.
fn server_by_name<'t>(tool: &'t Tool, name: &'t str, prefixes: &'t [String]) -> (&'t str, &'t str) {
    if let Some((space, own)) = tool.namespaced() {
        return (space.trim_start_matches("mcp__"), own);
    }
    if let Some(split) = split_server(name) {
        return split;
    }
    let Some(prefix) = prefixes.iter().find(|prefix| name.starts_with(prefix.as_str())) else { return ("", name) };
    match name.get(prefix.len()..).unwrap_or_default().trim_start_matches(['_', '-']) {
        "" => ("", name),
        rest => (without_mcp(prefix).trim_end_matches(['_', '-']), rest),
    }
}

/// Groups the tools by the first sentence of their descriptions, if there are at least two such
/// sentences and every tool has one.
fn by_opening<'t>(
    members: &[(usize, &'t Tool)],
    sentences: &[Sentence],
) -> Option<BTreeMap<String, Vec<(usize, &'t str)>>> {
    let mut by: BTreeMap<&str, Vec<(usize, &'t str)>> = BTreeMap::new();
    for (at, tool) in members {
        by.entry(sentences.get(*at)?.shared.as_deref()?).or_default().push((*at, tool.name().as_str()));
    }
    // The number of sentences with each word.
    let mut having: BTreeMap<String, usize> = BTreeMap::new();
    for text in by.keys() {
        for word in BTreeSet::from_iter(lower_case_words(text)) {
            *having.entry(word).or_default() += 1;
        }
    }
    let mut named = BTreeMap::new();
    for (text, tools) in &by {
        let mut words = lower_case_words(text);
        words.retain(|word| word.len() > 2 && super::topic::is_telling(word) && having.get(word) == Some(&1));
        named.insert(words.into_iter().next()?, tools.clone());
    }
    if named.len() >= 2 && named.len() == by.len() { Some(named) } else { None }
}

/// Groups the tools by the beginning of their names, if it is one of several products of a server,
/// each with several subjects: `jira_get_issue`, `confluence_get_page`.
fn by_product<'t>(members: &[(usize, &'t Tool)]) -> Option<BTreeMap<String, Vec<(usize, &'t str)>>> {
    let groups = leading_groups(members.iter().map(|(_, tool)| *tool), 1);
    let all = groups.values().map(Vec::len).sum::<usize>() == members.len();
    let large = groups.values().all(|tools| tools.len() >= super::MIN_TO_SPLIT);
    if !all || !large || groups.len() < 2 {
        return None;
    }
    let mut named: BTreeMap<String, Vec<(usize, &'t str)>> = BTreeMap::new();
    for (first, places) in groups {
        let tools = named.entry(first).or_default();
        for place in places {
            let (at, tool) = members.get(place)?;
            tools.push((*at, tool.name().as_str()));
        }
    }
    Some(named)
}

fn source(name: &str, tools: Vec<(usize, &str)>) -> Source {
    let (mut rests, mut words_of) = (Vec::new(), Vec::new());
    for (at, rest) in tools {
        rests.push((at, rest.to_owned()));
        words_of.push((at, name_words(rest)));
    }
    let mut tools: Vec<(usize, Vec<String>)> = words_of;
    let mut prefix = Vec::new();
    while let Some(word) = common_first(&tools) {
        for (_, words) in &mut tools {
            if words.len() > 1 && words.first() == Some(&word) {
                words.remove(0);
            }
        }
        prefix.push(word);
    }
    let called = if name.is_empty() { prefix.join("_") } else { name.to_owned() };
    let mut aside = BTreeSet::new();
    for word in [lower_case_words(name), prefix].concat() {
        aside.insert(stem(&word));
    }
    Source { name: if called.is_empty() { None } else { Some(called) }, tools, rests, aside }
}

/// The stems of proper names in half of the descriptions: they name the product, not a tool's
/// subject.
fn brands(source: &Source, catalog: &Catalog) -> Vec<String> {
    let mut having: BTreeMap<String, usize> = BTreeMap::new();
    for (at, _) in &source.tools {
        let Some(tool) = catalog.at(*at) else { continue };
        let first: String = tool.description().chars().take(MAX_BRAND_CHARS).collect();
        let mut names = BTreeSet::new();
        let mut words = first.split(|c: char| !c.is_alphanumeric());
        // The first word is a capital letter in any case.
        while words.next() == Some("") {}
        for word in words {
            if is_proper_name(word) {
                names.insert(stem(&word.to_lowercase()));
            }
        }
        for name in names {
            *having.entry(name).or_default() += 1;
        }
    }
    let tools = source.tools.len();
    having.retain(|_, count| tools >= MIN_BRANDED && *count * 2 >= tools);
    having.into_keys().collect()
}

fn is_proper_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase) && word.chars().skip(1).any(char::is_lowercase)
}

/// The word that nearly all names begin with and that leaves another word.
fn common_first(tools: &[(usize, Vec<String>)]) -> Option<String> {
    let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, words) in tools {
        if let [first, _, ..] = &words[..] {
            *firsts.entry(first).or_default() += 1;
        }
    }
    let (word, count) = firsts.into_iter().max_by_key(|(_, count)| *count)?;
    let common = count >= MIN_PREFIXED && count * 3 > tools.len() * PREFIX_THIRDS;
    if common && !crate::profile::words::is_only_verb(word) { Some(word.to_owned()) } else { None }
}
