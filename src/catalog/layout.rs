//! The order of a list that holds more than tools.

use std::sync::Arc;

use super::Format;

/// The entries of a tool list, in order. Stored only if the list holds more than tools.
///
/// Tool indices increase from entry to entry.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The list's format. Foreign entries can only be carried in this format.
    pub(crate) format: Format,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A tool, by its index in the catalog.
    Tool(usize),
    /// An entry that is carried through unchanged.
    Foreign(Arc<Foreign>),
    /// An entry that holds tools.
    Group(Arc<Group>, Vec<Member>),
    /// The position of a removed tool that had a cache breakpoint.
    Breakpoint(Arc<Breakpoint>),
}

/// A list entry that is not a foldable tool: a tool that the provider runs or defines, or an entry
/// of an unknown type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Foreign {
    /// A short label: its `type`, or its first key if it has no type, as on Gemini.
    pub label: Box<str>,
    /// The name by which a model calls it, if it has one. No other tool may be sent under this
    /// name.
    pub name: Option<Box<str>>,
    /// Whether it is marked `defer_loading`.
    pub deferred: bool,
    /// The entry as compact JSON text, with every token as it was written.
    pub text: Box<str>,
}

/// An entry that holds tools: an OpenAI Responses namespace, or a Gemini entry with function
/// declarations.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The namespace's name. `None` on Gemini.
    pub(crate) namespace: Option<Box<str>>,
    /// The compact text up to and including the `[` of the tool list.
    pub(crate) before: Box<str>,
    /// The compact text from the `]` of the tool list to the end.
    pub(crate) after: Box<str>,
    /// Siblings of the list that are sent even if no tool remains: keys of a Gemini entry.
    pub(crate) beside: Vec<Box<str>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Member {
    Tool(usize),
    Foreign(Arc<Foreign>),
}

impl Member {
    /// The index in the catalog, if this entry is a tool.
    pub(crate) fn tool_index(&self) -> Option<usize> {
        match self {
            Self::Tool(at) => Some(*at),
            Self::Foreign(_) => None,
        }
    }

    /// The entry with a tool's new index; `None` if the tool is removed.
    fn moved(&self, place: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        match self {
            Self::Tool(at) => place(*at).map(Self::Tool),
            foreign @ Self::Foreign(_) => Some(foreign.clone()),
        }
    }
}

/// A cache breakpoint whose tool was removed from the catalog.
#[derive(Debug, Clone)]
pub(crate) struct Breakpoint {
    /// The removed tool.
    pub(crate) tool: Box<str>,
    /// The value of `cache_control`.
    pub(crate) text: Box<str>,
}

impl Layout {
    /// Returns the number of entries that a provider counts in addition to the catalog's tools, and
    /// the number of tools that it does not count because their namespace represents them. Gemini
    /// counts only function declarations.
    pub(crate) fn entries_beside(&self) -> (usize, usize) {
        if self.format == Format::Gemini {
            return (0, 0);
        }
        let (mut more, mut fewer) = (0, 0);
        for entry in &self.entries {
            match entry {
                Entry::Foreign(_) => more += 1,
                Entry::Group(_, members) => {
                    more += 1;
                    fewer += members.iter().filter_map(Member::tool_index).count();
                }
                Entry::Tool(_) | Entry::Breakpoint(_) => {}
            }
        }
        (more, fewer)
    }

    /// A list of tools only.
    pub(super) fn of_tools(format: Format, count: usize) -> Self {
        Self { format, entries: (0..count).map(Entry::Tool).collect() }
    }

    /// Returns this list with tools moved or removed. `place` returns a tool's new index;
    /// `breakpoint` returns what a removed tool leaves behind.
    pub(super) fn filtered(
        &self,
        place: impl Fn(usize) -> Option<usize>,
        breakpoint: impl Fn(usize) -> Option<Breakpoint>,
    ) -> Self {
        let mut entries = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Tool(at) => match place(*at) {
                    Some(now) => entries.push(Entry::Tool(now)),
                    None => entries.extend(breakpoint(*at).map(|left| Entry::Breakpoint(Arc::new(left)))),
                },
                Entry::Group(group, members) => {
                    let members: Vec<Member> = members.iter().filter_map(|member| member.moved(&place)).collect();
                    if !members.is_empty() || !group.beside.is_empty() {
                        entries.push(Entry::Group(group.clone(), members));
                    }
                }
                other => entries.push(other.clone()),
            }
        }
        Self { format: self.format, entries }
    }

    /// The foreign entries in order, including those inside groups.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Foreign> {
        let mut found: Vec<&Foreign> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Foreign(own) => found.push(own),
                Entry::Group(_, members) => {
                    for member in members {
                        if let Member::Foreign(own) = member {
                            found.push(own);
                        }
                    }
                }
                Entry::Tool(_) | Entry::Breakpoint(_) => {}
            }
        }
        found.into_iter()
    }

    /// The groups in order, each with its members.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Group, &[Member])> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Group(group, members) => Some((group.as_ref(), members.as_slice())),
            _ => None,
        })
    }
}
