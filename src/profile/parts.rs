//! Combines several profiles for one catalog: a part of its tools each, such as one per server.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::assign::CORE;
use super::{Assignment, Category, Pattern, Tier, ToolProfile};
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Loaded, Place};
use crate::name::ToolName;

/// The source of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileSource<'a> {
    /// No profile: all tools are core.
    Off,
    /// A profile derived from the tools.
    Derived,
    /// A written profile.
    Written(&'a ToolProfile),
}

impl ProfileSource<'_> {
    fn assign(self, catalog: &Catalog) -> Loaded<Assignment> {
        match self {
            Self::Off => ToolProfile { core: vec![pattern("*")], ..ToolProfile::empty() }.assign(catalog),
            Self::Derived => ToolProfile::derive(catalog).assign(catalog),
            Self::Written(profile) => profile.assign(catalog),
        }
    }
}

/// Some tools of a catalog, and the source of their profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfilePart<'a> {
    /// The source of the profile.
    pub source: ProfileSource<'a>,
    /// The tools: maps each catalog name to the name in the profile.
    pub names: &'a BTreeMap<String, String>,
}

impl<'a> ProfilePart<'a> {}

impl ToolProfile {
    /// Builds the assignment of a catalog in which some tools have their own profile; `rest`
    /// applies to the others. Categories of the same name are merged and keep the first
    /// description: that of `rest`, then in the order of the parts.
    pub fn of_parts(catalog: &Catalog, rest: ProfileSource<'_>, parts: &[ProfilePart<'_>]) -> Loaded<Self> {
        let mut whole = Self { name: "servers".to_owned(), ..Self::empty() };
        let mut diagnostics = Vec::new();
        let of_part = |name: &str| parts.iter().any(|part| part.names.contains_key(name));
        let others: Vec<bool> = catalog.names().map(|name| !of_part(name.as_str())).collect();
        let others = catalog.filtered(&others);
        let as_they_are: Vec<ToolName> = others.names().cloned().collect();
        if !others.is_empty() {
            diagnostics.extend(whole.apply_source(rest, &others, &as_they_are));
        }
        for part in parts {
            let mut own = Catalog::default();
            let mut shown = Vec::new();
            for tool in catalog.iter() {
                let Some(name) = part.names.get(tool.name().as_str()) else { continue };
                let known = Tool::new(name, tool.description(), tool.parameters().clone()).ok();
                // A name that is not valid in a catalog is skipped.
                if known.is_some_and(|known| own.add(known).is_ok()) {
                    shown.push(tool.name().clone());
                }
            }
            if !own.is_empty() {
                diagnostics.extend(whole.apply_source(part.source, &own, &shown));
            }
        }
        Loaded { value: whole, diagnostics }
    }

    fn empty() -> Self {
        Self {
            name: String::new(),
            derived: false,
            core: Vec::new(),
            verbatim: false,
            unlisted: Tier::Extended,
            categories: IndexMap::new(),
            summaries: IndexMap::new(),
            words: IndexMap::new(),
            place: Place::default(),
        }
    }

    /// Applies a source to these tools, which have these names here.
    fn apply_source(&mut self, source: ProfileSource<'_>, catalog: &Catalog, names: &[ToolName]) -> Vec<Diagnostic> {
        let Loaded { value: assignment, mut diagnostics } = source.assign(catalog);
        for (name, description) in assignment.categories() {
            let own = self.categories.entry(name.clone());
            own.or_insert_with(|| Category {
                description: description.to_owned(),
                words: Vec::new(),
                tools: Vec::new(),
            });
        }
        for (assigned, name) in assignment.tools.iter().zip(names) {
            match assigned.tier {
                Tier::Core => self.core.push(pattern(name.as_str())),
                // Every other tool is listed.
                Tier::Hidden => {
                    self.unlisted = Tier::Hidden;
                    if let ProfileSource::Written(profile) = source {
                        self.place = profile.place.clone();
                    }
                    continue;
                }
                Tier::Extended => {}
            }
            if assigned.category.as_str() != CORE
                && let Some(category) = self.categories.get_mut(&assigned.category)
            {
                category.tools.push(pattern(name.as_str()));
            }
            if let Some(summary) = &assigned.summary {
                self.summaries.insert(name.clone(), (summary.clone(), Place::default()));
            }
            if !assigned.words.is_empty() {
                self.words.insert(name.clone(), (assigned.words.clone(), Place::default()));
            }
        }
        self.categories.retain(|_, own| !own.tools.is_empty());
        if self.unlisted == Tier::Hidden {
            // The combined profile reports this for all tools.
            diagnostics.retain(|own| own.code != "unlisted-tools");
        }
        diagnostics
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text, Place::default())
}
