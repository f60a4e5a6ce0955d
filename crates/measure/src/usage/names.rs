//! From the names that logs have to the tools of a catalogue.

use std::collections::HashMap;

use indexmap::IndexMap;
use toolfold::catalog::Catalog;
use toolfold::engine::ACTIVATE_SKILL;
use toolfold::name::nearest;
use toolfold::profile::{CALL_TOOL, EXPAND_TOOLS};

use super::UnknownName;

/// How many unknown names are kept apart; calls under further ones are only counted.
pub const MAX_UNKNOWN_NAMES: usize = 1_000;

/// The longest part of an unknown name that is kept, in characters.
const MAX_KEPT_CHARS: usize = 128;

/// What the name in a call resolves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResolvedName {
    /// The tool at that place in the catalogue.
    Tool(usize),
    /// A meta-tool of toolfold that says nothing of what is used.
    MetaTool,
    /// `call_tool`: its arguments name the target.
    Wrapper,
    Unknown,
}

/// What was found under names that the catalogue does not have.
#[derive(Debug)]
pub(super) struct FoundNames {
    pub(super) unknown: IndexMap<String, UnknownName>,
    pub(super) more_unknown: usize,
    pub(super) loose: IndexMap<(String, String), usize>,
}

/// The names of a catalogue, and what was found under others.
#[derive(Debug)]
pub(super) struct Names<'c> {
    catalog: &'c Catalog,
    /// Folded names, and what stands behind a server's mark; `None` where several tools share it.
    folded: HashMap<String, Option<usize>>,
    unknown: IndexMap<String, UnknownName>,
    more_unknown: usize,
    loose: IndexMap<(String, String), usize>,
}

impl<'c> Names<'c> {
    pub(super) fn new(catalog: &'c Catalog) -> Self {
        let mut folded = HashMap::new();
        let mut add = |name: String, at: usize| {
            let slot = folded.entry(name).or_insert(Some(at));
            if *slot != Some(at) {
                *slot = None;
            }
        };
        for (at, tool) in catalog.iter().enumerate() {
            let name = tool.name().as_str();
            add(fold(name), at);
            if let Some((_, own)) = tool.namespaced() {
                add(fold(own), at);
            }
            if let Some(tail) = tail(name) {
                add(fold(tail), at);
            }
        }
        Self { catalog, folded, unknown: IndexMap::new(), more_unknown: 0, loose: IndexMap::new() }
    }

    /// What a name means: exactly, else after folding case and marks, with or without the server before it, where only one
    /// tool can be meant.
    pub(super) fn find(&mut self, name: &str) -> ResolvedName {
        if let Some(at) = self.catalog.position(name) {
            return ResolvedName::Tool(at);
        }
        let folded = |name: &str| self.folded.get(&fold(name)).copied().flatten();
        if let Some(at) = folded(name).or_else(|| tail(name).and_then(folded)) {
            let own = self.catalog.at(at).map(|tool| tool.name().to_string()).unwrap_or_default();
            *self.loose.entry((kept(name), own)).or_default() += 1;
            return ResolvedName::Tool(at);
        }
        match tail(name).unwrap_or(name) {
            CALL_TOOL => ResolvedName::Wrapper,
            EXPAND_TOOLS | ACTIVATE_SKILL => ResolvedName::MetaTool,
            _ => self.unknown(name),
        }
    }

    fn unknown(&mut self, name: &str) -> ResolvedName {
        let name = kept(name);
        if let Some(known) = self.unknown.get_mut(&name) {
            known.calls += 1;
        } else if self.unknown.len() < MAX_UNKNOWN_NAMES {
            let near =
                nearest(&name, self.catalog.names().map(AsRef::as_ref), 1).first().map(|near| (*near).to_owned());
            self.unknown.insert(name, UnknownName { calls: 1, near });
        } else {
            self.more_unknown += 1;
        }
        ResolvedName::Unknown
    }

    /// What was found, unknown names by their calls.
    pub(super) fn done(mut self) -> FoundNames {
        self.unknown.sort_by(|a, own, b, other| other.calls.cmp(&own.calls).then_with(|| a.cmp(b)));
        self.loose.sort_keys();
        FoundNames { unknown: self.unknown, more_unknown: self.more_unknown, loose: self.loose }
    }
}

fn kept(name: &str) -> String {
    name.chars().take(MAX_KEPT_CHARS).collect()
}

fn fold(name: &str) -> String {
    name.chars().map(|c| if matches!(c, '-' | '.' | ':' | '/') { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// What stands behind a server's mark: `mcp__excel__read`, `excel.read`, `functions.read`.
fn tail(name: &str) -> Option<&str> {
    let marks = ["__", ".", ":", "/"];
    let last = marks.into_iter().filter_map(|mark| name.rfind(mark).map(|at| at + mark.len())).max()?;
    name.get(last..).filter(|tail| !tail.is_empty())
}
