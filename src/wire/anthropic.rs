//! Anthropic Messages:
//! `{"name","description","input_schema"[,"defer_loading":true][,"cache_control":…]}`.
//!
//! Native: every tool is declared, extended ones deferred. `expand_tools` is a normal client tool
//! that is never deferred, because the API rejects an array in which every tool is. It also rejects
//! `cache_control` on a deferred tool and more than twenty strict tools: such keys are removed and
//! noted. See `docs/wires.md`.

use super::out::{BREAKPOINT, OutTool, with_members};
use super::render::{RenderInput, write_head};
use crate::catalog::{Entry, Format};
use crate::diagnostic::{Diagnostic, Place};

/// The maximum number of strict tools. Source: Anthropic's documentation of structured outputs,
/// "Schema complexity limits".
const MAX_STRICT: usize = 20;

pub(super) fn decide<'s>(input: &RenderInput<'s>, tools: &mut [OutTool<'s>], notes: &mut Vec<Diagnostic>) {
    keep_one_loaded(input, tools, notes);
    limit_strict(tools, notes);
    move_breakpoints(input, tools, notes);
    for tool in tools {
        tool.settle(Format::Anthropic);
    }
}

/// Anthropic rejects a request whose tools are all deferred.
fn keep_one_loaded(input: &RenderInput<'_>, tools: &mut [OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    let carried = input.catalog.layout().is_some_and(|layout| layout.format == Format::Anthropic);
    let other = carried && input.catalog.foreign().any(|entry| !entry.deferred);
    if other || !tools.iter().all(|tool| tool.deferred) {
        return;
    }
    let Some(first) = tools.first_mut() else { return };
    first.deferred = false;
    let message = format!("tool `{}` is not deferred: every tool would be", first.name);
    notes.push(
        Diagnostic::warning("all-deferred", Place::default(), message)
            .help("Anthropic refuses a request whose tools are all deferred"),
    );
}

fn limit_strict(tools: &mut [OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    for (before, tool) in tools.iter_mut().filter(|tool| tool.strict).enumerate().skip(MAX_STRICT) {
        tool.strict = false;
        tool.dropped.push("strict");
        let message = format!("tool `{}` is not sent as strict: it would be number {}", tool.name, before + 1);
        notes.push(
            Diagnostic::warning("too-many-strict", Place::default(), message)
                .help("Anthropic takes at most 20 strict tools: the first 20 stay"),
        );
    }
}

/// A position in the list where a breakpoint may be.
enum Step<'s> {
    /// The tool at this index in the catalog.
    Tool(usize),
    /// The name and breakpoint of a removed tool.
    Left(&'s str, &'s str),
}

/// Moves a breakpoint whose tool is deferred or left out to the last preceding tool that is loaded.
fn move_breakpoints<'s>(input: &RenderInput<'s>, tools: &mut [OutTool<'s>], notes: &mut Vec<Diagnostic>) {
    let catalog = input.catalog;
    let steps: Vec<Step<'s>> = match catalog.layout().filter(|layout| layout.format == Format::Anthropic) {
        Some(layout) => layout.entries.iter().filter_map(step).collect(),
        None if catalog.iter().any(|tool| tool.breakpoint().is_some()) => (0..catalog.len()).map(Step::Tool).collect(),
        None => return,
    };
    let mut places: Vec<Option<usize>> = vec![None; catalog.len()];
    for (at, tool) in tools.iter().enumerate() {
        if let Some(place) = tool.index.and_then(|index| places.get_mut(index)) {
            *place = Some(at);
        }
    }
    let mut loaded: Option<usize> = None;
    for step in steps {
        let (name, text) = match step {
            Step::Left(name, text) => (name, text),
            Step::Tool(index) => {
                let place = places.get(index).copied().flatten();
                let sent = place.and_then(|at| tools.get_mut(at));
                if sent.as_ref().is_some_and(|tool| !tool.deferred) {
                    loaded = place;
                    continue;
                }
                let Some((tool, text)) = catalog.at(index).and_then(|tool| Some((tool, tool.breakpoint()?))) else {
                    continue;
                };
                if let Some(sent) = sent {
                    sent.dropped.push(BREAKPOINT);
                }
                (tool.name().as_str(), text)
            }
        };
        let message = match loaded.and_then(|at| tools.get_mut(at)) {
            None => format!("the `{BREAKPOINT}` of tool `{name}` is left out: no tool before it is loaded"),
            Some(to) if to.breakpoint.is_some() || to.tool().breakpoint().is_some() => {
                format!("the `{BREAKPOINT}` of tool `{name}` is left out: `{}` before it has one", to.name)
            }
            Some(to) => {
                to.breakpoint = Some(text);
                format!("the `{BREAKPOINT}` of tool `{name}`, which is not loaded, moves to `{}` before it", to.name)
            }
        };
        notes.push(Diagnostic::note("moved-breakpoint", Place::default(), message));
    }
}

fn step(entry: &Entry) -> Option<Step<'_>> {
    match entry {
        Entry::Tool(index) => Some(Step::Tool(*index)),
        Entry::Breakpoint(left) => Some(Step::Left(&left.tool, &left.text)),
        Entry::Foreign(_) | Entry::Group(..) => None,
    }
}

pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::Anthropic) {
        return out.push_str(&with_members(text, &tool.added(Format::Anthropic)));
    }
    out.push('{');
    write_head(out, tool.name, tool.description());
    out.push_str(",\"input_schema\":");
    out.push_str(tool.schema());
    tool.write_keys(out, Format::Anthropic, false);
    if tool.strict {
        out.push_str(",\"strict\":true");
    }
    for (key, value) in tool.added(Format::Anthropic) {
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
}
