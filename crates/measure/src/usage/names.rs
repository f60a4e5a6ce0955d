//! Maps names in logs to the tools of a catalog.

use std::collections::HashMap;

use indexmap::IndexMap;
use toolfold::catalog::Catalog;
use toolfold::engine::ACTIVATE_SKILL;
use toolfold::name::nearest;
use toolfold::profile::{CALL_TOOL, EXPAND_TOOLS};

use super::UnknownName;

/// The maximum number of unknown names that are stored; calls under further ones are only counted.
pub const MAX_UNKNOWN_NAMES: usize = 1_000;

/// The maximum stored length of an unknown name, in characters.
const MAX_KEPT_CHARS: usize = 128;

/// What a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResolvedName {
    /// The tool at this index in the catalog.
    Tool(usize),
    /// A meta-tool of toolfold without information about used tools.
    MetaTool,
    /// `call_tool`: its arguments name the target.
    Wrapper,
    Unknown,
}

#[derive(Debug)]
pub(super) struct FoundNames {
    pub(super) unknown: IndexMap<String, UnknownName>,
    pub(super) more_unknown: usize,
    pub(super) loose: IndexMap<(String, String), usize>,
}

#[derive(Debug)]
pub(super) struct Names<'c> {
    catalog: &'c Catalog,
    /// Folded names, and the parts after a server's mark; `None` if several tools share one.
    folded: HashMap<String, Option<usize>>,
    unknown: IndexMap<String, UnknownName>,
    more_unknown: usize,
    loose: IndexMap<(String, String), usize>,
}

impl<'c> Names<'c> {
    pub(super) fn new(catalog: &'c Catalog) -> Self {
        let mut folded = HashMap::new();
        for (at, tool) in catalog.iter().enumerate() {
            let name = tool.name().as_str();
            let mut names = vec![name];
            names.extend(tool.namespaced().map(|(_, own)| own));
            names.extend(tail(name));
            for name in names {
                let slot = folded.entry(fold(name)).or_insert(Some(at));
                if *slot != Some(at) {
                    *slot = None;
                }
            }
        }
        Self { catalog, folded, unknown: IndexMap::new(), more_unknown: 0, loose: IndexMap::new() }
    }

    /// Resolves a name: exactly, or else after folding case and separators, with or without the
    /// server prefix, if only one tool matches.
    pub(super) fn resolve_name(&mut self, name: &str) -> ResolvedName {
        if let Some(at) = self.catalog.position(name) {
            return ResolvedName::Tool(at);
        }
        let mut names = [Some(name), tail(name)].into_iter().flatten();
        if let Some(at) = names.find_map(|name| *self.folded.get(&fold(name))?) {
            let own = self.catalog.at(at).map(|tool| tool.name().to_string()).unwrap_or_default();
            *self.loose.entry((kept(name), own)).or_default() += 1;
            return ResolvedName::Tool(at);
        }
        match tail(name).unwrap_or(name) {
            CALL_TOOL => ResolvedName::Wrapper,
            EXPAND_TOOLS | ACTIVATE_SKILL => ResolvedName::MetaTool,
            _ => self.count_unknown(name),
        }
    }

    fn count_unknown(&mut self, name: &str) -> ResolvedName {
        let name = kept(name);
        if let Some(known) = self.unknown.get_mut(&name) {
            known.calls += 1;
        } else if self.unknown.len() < MAX_UNKNOWN_NAMES {
            let near = nearest(&name, self.catalog.names().map(AsRef::as_ref), 1);
            let near = near.first().map(|near| (*near).to_owned());
            self.unknown.insert(name, UnknownName { calls: 1, near });
        } else {
            self.more_unknown += 1;
        }
        ResolvedName::Unknown
    }

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

/// The part after a server's mark: `mcp__excel__read`, `excel.read`, `functions.read`.
fn tail(name: &str) -> Option<&str> {
    let marks = ["__", ".", ":", "/"];
    let last = marks.into_iter().filter_map(|mark| Some(name.rfind(mark)? + mark.len())).max()?;
    name.get(last..).filter(|tail| !tail.is_empty())
}
