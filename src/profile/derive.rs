//! Deriving a profile: categories from a catalogue alone.
//!
//! Tools of one server go together: servers are told by a prefix of names (`server__tool`, `server.tool`,
//! `mcp__server__tool`) or by the sentence with which they begin every description. Within a server tools go together that
//! share a telling word of their names; what is left, by a word of their first sentences, then by what they do. No
//! category is larger than its share of the catalogue, since opening one brings all of it. The result depends on names,
//! descriptions, sizes and their order only.

mod group;
mod text;

use indexmap::IndexMap;

use self::group::{Groups, Limits, split, weight};
use self::text::{Lexicon, Subject, words};
use super::opening::{Opening, openings};
use super::{Category, OTHER, Pattern, Tier, ToolProfile};
use crate::catalog::Catalog;
use crate::diagnostic::Place;
use crate::name::CategoryName;

/// The fewest and the most categories to aim at; each costs a line in `expand_tools` in every request. Fewer than the
/// fewest where that would leave a category less than two tools; more where there are more servers.
///
/// Source of these and the limits below: own measurement on BFCL and the corpus of MCP servers (`benches/ledger`), where
/// half or twice as much of any of them changes the input of a task by less than a tenth.
const CATEGORIES: (usize, usize) = (12, 48);

/// How many tools a further category is worth, between the two.
const TOOLS_PER_CATEGORY: usize = 5;

/// How many times the average a category may weigh before it is cut.
const TIMES_AVERAGE: usize = 2;

/// A category under this many bytes of tool text is not cut, whatever its share: opening it costs less than a second
/// request would. About 400 tokens.
const MIN_BYTES: usize = 1_600;

pub(super) fn derive(catalog: &Catalog) -> ToolProfile {
    let openings = openings(catalog);
    let lexicon = Lexicon::new();
    let subjects = catalog.iter().zip(&openings).map(|(tool, opening)| lexicon.subject(tool, opening.own));
    let subjects: Vec<Subject> = subjects.collect();
    let names: Vec<&str> = catalog.names().map(AsRef::as_ref).collect();
    let categories = grouped(&lexicon, &names, &openings, &subjects)
        .into_iter()
        .filter_map(|(word, members)| {
            let tools = members.iter().filter_map(|at| names.get(*at));
            let tools = tools.map(|name| Pattern::new(name, Place::default())).collect();
            Some((CategoryName::new(&word).ok()?, Category { description: String::new(), tools }))
        })
        .collect();
    ToolProfile {
        name: "derived".to_owned(),
        derived: true,
        core: Vec::new(),
        unlisted: Tier::Extended,
        categories,
        summaries: IndexMap::new(),
        place: Place::default(),
    }
}

fn grouped(lexicon: &Lexicon, names: &[&str], openings: &[Opening<'_>], subjects: &[Subject]) -> Groups {
    let all: Vec<usize> = (0..names.len()).collect();
    let total = weight(subjects, &all);
    let fewest = CATEGORIES.0.min(names.len().div_ceil(2)).max(2);
    let most = (names.len() / TOOLS_PER_CATEGORY).clamp(fewest, CATEGORIES.1);
    let bytes = (total * TIMES_AVERAGE / most).max(MIN_BYTES);
    let mut groups = Groups::new();
    for (server, members) in by_server(names).unwrap_or_else(|| by_opening(lexicon, openings, most)) {
        let share = (most * weight(subjects, &members)).div_ceil(total.max(1));
        let limits = Limits { bytes, groups: share.max(1) };
        // A server that its names tell is one to the model too; one that only its descriptions tell is a name for the rest.
        let named = server.said_in_names;
        if named && weight(subjects, &members) <= bytes {
            groups.entry(server.name).or_default().extend(members);
            continue;
        }
        let aside = if named { words(&server.name) } else { Vec::new() };
        let aside: Vec<&str> = aside.iter().map(String::as_str).collect();
        for (name, tools) in split(subjects, &members, &aside, limits) {
            let name = match name {
                Some(word) if named => format!("{}_{word}", server.name),
                Some(word) if groups.contains_key(&word) && server.name != OTHER => format!("{}_{word}", server.name),
                Some(word) => word,
                None => server.name.clone(),
            };
            add(&mut groups, subjects, bytes, &name, tools);
        }
    }
    groups
}

/// Adds tools under a name, or under the next number of it where the category would grow too large.
fn add(groups: &mut Groups, subjects: &[Subject], bytes: usize, name: &str, tools: Vec<usize>) {
    let mut own = name.to_owned();
    let mut number = 1;
    while let Some(taken) = groups.get(&own)
        && weight(subjects, taken) + weight(subjects, &tools) > bytes
    {
        number += 1;
        own = format!("{name}_{number}");
    }
    groups.entry(own).or_default().extend(tools);
}

/// Where tools come from.
struct Server {
    name: String,
    /// Whether the names of its tools say so.
    said_in_names: bool,
}

/// The tools by server prefix, if every name has one and there are at least two servers.
fn by_server(names: &[&str]) -> Option<Vec<(Server, Vec<usize>)>> {
    let mut groups: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (at, name) in names.iter().enumerate() {
        groups.entry(server_of(name)?).or_default().push(at);
    }
    let server = |name: &str| Server { name: name.to_owned(), said_in_names: true };
    (groups.len() >= 2).then(|| groups.into_iter().map(|(name, tools)| (server(name), tools)).collect())
}

/// The server that a name was prefixed with: `server__tool`, `mcp__server__tool`, `server.tool`, `server:tool`,
/// `server/tool`.
fn server_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let cut = name.find("__").or_else(|| name.find(['.', ':', '/'])).filter(|cut| *cut > 0)?;
    name.get(..cut)
}

/// The tools by the sentence that they share with others, each named after a word that no other such sentence has. Where
/// there are more of them than there should be categories they are no servers'.
fn by_opening(lexicon: &Lexicon, openings: &[Opening<'_>], most: usize) -> Vec<(Server, Vec<usize>)> {
    let mut groups: IndexMap<Option<&str>, Vec<usize>> = IndexMap::new();
    for (at, opening) in openings.iter().enumerate() {
        groups.entry(opening.shared).or_default().push(at);
    }
    if groups.len() > most {
        groups = IndexMap::from([(None, (0..openings.len()).collect())]);
    }
    let alone = groups.len() == 1;
    let sentences: Vec<&str> = groups.keys().copied().flatten().collect();
    let named = |sentence: Option<&str>| {
        let word = sentence.filter(|_| !alone).and_then(|own| lexicon.key_word(own, &sentences));
        Server { name: word.unwrap_or_else(|| OTHER.to_owned()), said_in_names: false }
    };
    groups.iter().map(|(sentence, tools)| (named(*sentence), tools.clone())).collect()
}
