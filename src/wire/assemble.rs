//! Putting tools into the order of the list they came in, with everything else that the list holds.

use super::out::OutTool;
use super::render::{RenderInput, comma};
use crate::catalog::{Entry, Format, Member};

/// Writes the entries of an array, without its brackets: tools as `write` writes them, in catalogue order, and what the
/// list holds besides in its place where it came in this `format`. Meta-tools are last.
pub(super) fn entries(
    out: &mut String,
    input: &RenderInput<'_>,
    format: Format,
    tools: &[&OutTool<'_>],
    write: &mut dyn FnMut(&mut String, &OutTool<'_>),
) {
    let Some(layout) = input.catalog.layout().filter(|layout| layout.format == format) else {
        return grouped(out, format, tools, write);
    };
    let mut places: Vec<Option<&OutTool<'_>>> = vec![None; input.catalog.len()];
    for tool in tools {
        if let Some(place) = tool.index.and_then(|at| places.get_mut(at)) {
            *place = Some(tool);
        }
    }
    let meta = tools.iter().filter(|tool| tool.index.is_none()).copied();
    let loose = layout.entries.iter().filter_map(|entry| match entry {
        Entry::Tool(at) => places.get(*at).copied().flatten(),
        _ => None,
    });
    // On Gemini every function stands in a group: what came in none goes into the last.
    let is_group = |entry: &Entry| matches!(entry, Entry::Group(..));
    let last_group = layout.entries.iter().rposition(is_group).filter(|_| format == Format::Gemini);
    let at_end: Vec<&OutTool<'_>> = if format == Format::Gemini { loose.chain(meta).collect() } else { meta.collect() };
    let mut put = |out: &mut String, tool: Option<&OutTool<'_>>| {
        if let Some(tool) = tool {
            comma(out);
            write(out, tool);
        }
    };
    for (at, entry) in layout.entries.iter().enumerate() {
        match entry {
            Entry::Tool(_) if format == Format::Gemini => {}
            Entry::Tool(place) => put(out, places.get(*place).copied().flatten()),
            Entry::Foreign(foreign) => {
                comma(out);
                out.push_str(foreign.text());
            }
            Entry::Group(group, members) => {
                let start = out.len();
                comma(out);
                out.push_str(&group.before);
                let empty = out.len();
                for member in members {
                    match member {
                        Member::Tool(place) => put(out, places.get(*place).copied().flatten()),
                        Member::Foreign(foreign) => {
                            comma(out);
                            out.push_str(foreign.text());
                        }
                    }
                }
                if last_group == Some(at) {
                    at_end.iter().for_each(|tool| put(out, Some(tool)));
                }
                if out.len() == empty && group.beside.is_empty() {
                    // A namespace without tools: APIs refuse it.
                    out.truncate(start);
                } else {
                    out.push_str(&group.after);
                }
            }
            Entry::Breakpoint(_) => {}
        }
    }
    if last_group.is_none() {
        grouped(out, format, &at_end, write);
    }
}

/// Tools one after the other; on Gemini in an entry of their own.
fn grouped(out: &mut String, format: Format, tools: &[&OutTool<'_>], write: &mut dyn FnMut(&mut String, &OutTool<'_>)) {
    let in_entry = format == Format::Gemini && !tools.is_empty();
    if in_entry {
        comma(out);
        out.push_str("{\"functionDeclarations\":[");
    }
    for tool in tools {
        comma(out);
        write(out, tool);
    }
    if in_entry {
        out.push_str("]}");
    }
}
