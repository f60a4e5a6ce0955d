//! Derives a profile: categories from a catalog alone, similar to what a person would choose.
//!
//! An agent's own tools are core ([`own_tools`]), and so is every tool of an array that defers
//! tools itself ([`already_defers`]). The others are processed server by server ([`sources`]).
//! Tools whose names differ only in the verb (`set_note`, `delete_note`) form one unit and stay
//! together. Units that share a subject form a category ([`grouping`]); the others join the most
//! similar category ([`leftovers`]). A category is named by words from its tools' names, never by a
//! number. The result depends on names and descriptions, not on the order of the tools.

mod grouping;
mod leftovers;
mod mention;
mod naming;
mod source;
mod topic;
mod unit;

use indexmap::IndexMap;

use self::grouping::{Limits, group};
use self::naming::{Named, describe, named_categories};
use self::source::sources;
use self::unit::units;
use super::client::{already_defers, own_tools};
use super::sentence::sentences;
use super::{Category, Pattern, Tier, ToolProfile};
use crate::catalog::Catalog;
use crate::diagnostic::Place;
use crate::name::CategoryName;

/// A server with fewer tools is one category: splitting it costs a line in `expand_tools` in every
/// request and saves only a few schemas once.
const MIN_TO_SPLIT: usize = 8;

pub(super) fn derive(catalog: &Catalog) -> ToolProfile {
    let own = if already_defers(catalog).is_some() { vec![true; catalog.len()] } else { own_tools(catalog) };
    let sentences = sentences(catalog);
    let sources = sources(catalog, &own, &sentences);
    let limits = Limits::for_tools(own.iter().filter(|own| !**own).count());
    let several = sources.len() > 1;
    let mut found: Vec<Named> = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        let (units, hierarchical) = units(source, &sentences);
        let tools = source.tools.len();
        let whole = tools < MIN_TO_SPLIT || several && tools <= limits.most && source.name.is_some();
        let groups =
            if whole { vec![grouping::group_of_all(&units)] } else { group(&units, Limits { hierarchical, ..limits }) };
        let whole = groups.len() == 1;
        found.extend(groups.into_iter().map(|group| Named::new(place, source, &units, &group, whole, several)));
    }
    let names: Vec<&str> = catalog.names().map(AsRef::as_ref).collect();
    // A category's line omits the server prefix of tool names, which would be repeated in each of
    // them.
    let mut short = names.clone();
    for (at, rest) in sources.iter().flat_map(|source| &source.rests) {
        if !rest.is_empty()
            && let Some(name) = short.get_mut(*at)
        {
            *name = rest;
        }
    }
    let mut categories: IndexMap<CategoryName, Category> = IndexMap::new();
    for (name, units) in named_categories(found, &sources) {
        let Ok(name) = CategoryName::new(&name) else { continue };
        let description = describe(&units, &short);
        let tools = exact_patterns(units.iter().flatten().filter_map(|at| names.get(*at)));
        categories.insert(name, Category { description, words: Vec::new(), tools });
    }
    let core = names.iter().zip(&own).filter(|(_, own)| **own);
    ToolProfile {
        name: "derived".to_owned(),
        derived: true,
        core: exact_patterns(core.map(|(name, _)| name)),
        verbatim: true,
        unlisted: Tier::Extended,
        categories,
        summaries: IndexMap::new(),
        words: IndexMap::new(),
        place: Place::default(),
    }
}

fn exact_patterns<'n>(names: impl Iterator<Item = &'n &'n str>) -> Vec<Pattern> {
    names.map(|name| Pattern::new(name, Place::default())).collect()
}
