//! Writes tools in the order of the original list, with its other entries.

use super::limits::ToolFacts;
use super::out::OutTool;
use super::render::{RenderInput, Rendered, comma};
use crate::catalog::{Entry, Foreign, Format, Group, Layout, Member};

/// Writes the entries of an array without its brackets: tools as written by `write`, in catalog
/// order, and the list's other entries in place if the list has this `format`. Meta-tools are last.
pub(super) fn write_entries(
    out: &mut Rendered,
    input: &RenderInput<'_>,
    format: Format,
    tools: &[&OutTool<'_>],
    write: &mut dyn FnMut(&mut String, &OutTool<'_>),
) {
    let own = input.catalog.layout().filter(|layout| layout.format == format);
    let mut places = vec![None; if own.is_some() { input.catalog.len() } else { 0 }];
    for tool in tools {
        if let Some(place) = tool.index().and_then(|at| places.get_mut(at)) {
            *place = Some(*tool);
        }
    }
    let mut assembly = Assembly { out, gemini: format == Format::Gemini, inside: false, places, write };
    match own {
        None => assembly.write_tools(tools),
        Some(layout) => assembly.layout(layout, tools),
    }
}

struct Assembly<'a, 's> {
    out: &'a mut Rendered,
    gemini: bool,
    /// Whether the current entry is inside another one.
    inside: bool,
    /// What is sent of each tool, by its index in the catalog.
    places: Vec<Option<&'a OutTool<'s>>>,
    write: &'a mut dyn FnMut(&mut String, &OutTool<'_>),
}

impl<'a, 's> Assembly<'a, 's> {
    fn layout(&mut self, layout: &Layout, tools: &[&'a OutTool<'s>]) {
        let gemini = self.gemini;
        let meta = tools.iter().filter(|tool| tool.index().is_none()).copied();
        // On Gemini every function is in a group: tools without one are added to the last.
        let at_end: Vec<&OutTool<'s>> = if gemini { self.loose(layout).chain(meta).collect() } else { meta.collect() };
        let last = layout.entries.iter().rposition(|entry| gemini && matches!(entry, Entry::Group(..)));
        for (at, entry) in layout.entries.iter().enumerate() {
            match entry {
                Entry::Tool(_) if gemini => {}
                Entry::Tool(place) => self.tool_at(*place),
                Entry::Foreign(foreign) => self.foreign(foreign),
                Entry::Group(group, members) => {
                    self.group(group, members, if last == Some(at) { &at_end } else { &[] });
                }
                Entry::Breakpoint(_) => {}
            }
        }
        if last.is_none() {
            self.write_tools(&at_end);
        }
    }

    /// The tools outside groups.
    fn loose<'l>(&'l self, layout: &'l Layout) -> impl Iterator<Item = &'a OutTool<'s>> + use<'l, 'a, 's> {
        layout.entries.iter().filter_map(|entry| match entry {
            Entry::Tool(at) => self.places.get(*at).copied().flatten(),
            _ => None,
        })
    }

    /// A group with its members as sent, and further tools after them.
    fn group(&mut self, group: &Group, members: &[Member], more: &[&OutTool<'_>]) {
        let start = self.out.text.len();
        comma(&mut self.out.text);
        self.out.text.push_str(&group.before);
        let empty = self.out.text.len();
        self.inside = true;
        let mut functions = 0;
        for member in members {
            match member {
                Member::Tool(place) => {
                    functions += usize::from(self.places.get(*place).is_some_and(Option::is_some));
                    self.tool_at(*place);
                }
                Member::Foreign(foreign) => {
                    functions += usize::from(ToolFacts::of_foreign(foreign).is_some());
                    self.foreign(foreign);
                }
            }
        }
        more.iter().for_each(|tool| self.write_tool(tool));
        self.inside = false;
        if self.out.text.len() == empty && group.beside.is_empty() {
            // An empty namespace has no effect, and APIs reject it.
            self.out.text.truncate(start);
            return;
        }
        self.out.text.push_str(&group.after);
        if let Some(name) = &group.namespace {
            self.out.entries += 1;
            self.out.namespaces.push((name.to_string(), functions));
        }
    }

    /// Writes tools one after the other; on Gemini in a separate entry.
    fn write_tools(&mut self, tools: &[&OutTool<'_>]) {
        let in_entry = self.gemini && !tools.is_empty();
        if in_entry {
            comma(&mut self.out.text);
            self.out.text.push_str("{\"functionDeclarations\":[");
        }
        self.inside = in_entry;
        tools.iter().for_each(|tool| self.write_tool(tool));
        self.inside = false;
        if in_entry {
            self.out.text.push_str("]}");
        }
    }

    fn tool_at(&mut self, place: usize) {
        if let Some(tool) = self.places.get(place).copied().flatten() {
            self.write_tool(tool);
        }
    }

    fn write_tool(&mut self, tool: &OutTool<'_>) {
        self.begin();
        (self.write)(&mut self.out.text, tool);
    }

    fn foreign(&mut self, foreign: &Foreign) {
        self.begin();
        self.out.text.push_str(&foreign.text);
    }

    /// Begins an element, which the provider counts: Gemini counts function declarations.
    fn begin(&mut self) {
        comma(&mut self.out.text);
        self.out.entries += usize::from(self.inside == self.gemini);
    }
}
