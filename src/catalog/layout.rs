//! The order of a list that holds more than tools.

use std::sync::Arc;

use super::Format;

/// Everything that a tool list holds, in its order. Kept only where a list holds more than tools.
///
/// The tools' places rise from entry to entry.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The format the list came in; only there can its other entries be carried.
    pub(crate) format: Format,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// The tool at that place in the catalogue.
    Tool(usize),
    /// An entry that is carried through.
    Foreign(Arc<Foreign>),
    /// An entry that holds tools.
    Group(Arc<Group>, Vec<Member>),
    /// Where a tool with a cache breakpoint was taken out.
    Breakpoint(Arc<Breakpoint>),
}

/// An entry of a list that is no tool to fold: a tool that the provider runs or defines, or anything of a type that
/// toolfold does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    pub(crate) label: Box<str>,
    pub(crate) name: Option<Box<str>>,
    pub(crate) deferred: bool,
    pub(crate) text: Box<str>,
}

impl Foreign {
    /// What it is, in short: its `type`, or its first key where it has none, as on Gemini.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The name by which a model calls it, if it has one. No other tool may be sent under it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The entry as compact JSON text, every token as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// An entry that holds tools: a namespace of OpenAI Responses, or a Gemini entry with function declarations.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The namespace's name; nothing on Gemini.
    pub(crate) namespace: Option<Box<str>>,
    /// The compact text up to the list of tools, its `[` included.
    pub(crate) before: Box<str>,
    /// The compact text from the end of the list of tools, its `]` included.
    pub(crate) after: Box<str>,
    /// What stands beside the list and is worth sending without any tool: keys of a Gemini entry.
    pub(crate) beside: Vec<Box<str>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Member {
    Tool(usize),
    Foreign(Arc<Foreign>),
}

impl Member {
    /// The place in the catalogue of the tool that it is, if it is one.
    pub(crate) fn tool(&self) -> Option<usize> {
        match self {
            Self::Tool(at) => Some(*at),
            Self::Foreign(_) => None,
        }
    }
}

/// A cache breakpoint whose tool was taken out of the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Breakpoint {
    /// The tool that had it.
    pub(crate) tool: Box<str>,
    /// The value of `cache_control`.
    pub(crate) text: Box<str>,
}

impl Layout {
    /// How many entries a provider counts in this list beside the tools of the catalogue, and how many tools it does not
    /// count, because their namespace stands for them. Gemini counts function declarations and nothing else.
    pub(crate) fn entries_beside(&self) -> (usize, usize) {
        if self.format == Format::Gemini {
            return (0, 0);
        }
        self.entries.iter().fold((0, 0), |(more, fewer), entry| match entry {
            Entry::Foreign(_) => (more + 1, fewer),
            Entry::Group(_, members) => (more + 1, fewer + members.iter().filter_map(Member::tool).count()),
            Entry::Tool(_) | Entry::Breakpoint(_) => (more, fewer),
        })
    }

    /// Tools one after the other.
    pub(super) fn of_tools(format: Format, count: usize) -> Self {
        Self { format, entries: (0..count).map(Entry::Tool).collect() }
    }

    /// The same list with tools moved to other places or taken out. `place` says where a tool is now; `breakpoint` what
    /// one that was taken out leaves behind.
    pub(super) fn filtered(
        &self,
        place: impl Fn(usize) -> Option<usize>,
        breakpoint: impl Fn(usize) -> Option<Breakpoint>,
    ) -> Self {
        let member = |member: &Member| match member {
            Member::Tool(at) => place(*at).map(Member::Tool),
            foreign @ Member::Foreign(_) => Some(foreign.clone()),
        };
        let entry = |entry: &Entry| match entry {
            Entry::Tool(at) => match place(*at) {
                Some(now) => Some(Entry::Tool(now)),
                None => breakpoint(*at).map(|left| Entry::Breakpoint(Arc::new(left))),
            },
            Entry::Group(group, members) => {
                let members: Vec<Member> = members.iter().filter_map(member).collect();
                (!members.is_empty() || !group.beside.is_empty()).then(|| Entry::Group(group.clone(), members))
            }
            other => Some(other.clone()),
        };
        Self { format: self.format, entries: self.entries.iter().filter_map(entry).collect() }
    }

    /// The entries that are carried through, in order, those inside groups among them.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Foreign> {
        self.entries.iter().flat_map(|entry| {
            let (own, members): (_, &[Member]) = match entry {
                Entry::Foreign(own) => (Some(own.as_ref()), &[]),
                Entry::Group(_, members) => (None, members),
                Entry::Tool(_) | Entry::Breakpoint(_) => (None, &[]),
            };
            let inside = members.iter().filter_map(|member| match member {
                Member::Foreign(foreign) => Some(foreign.as_ref()),
                Member::Tool(_) => None,
            });
            own.into_iter().chain(inside)
        })
    }

    /// The groups in order, each with its members.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Group, &[Member])> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Group(group, members) => Some((group.as_ref(), members.as_slice())),
            _ => None,
        })
    }
}
