//! Reports what a wire cannot carry of a list from another wire, once per item.

use indexmap::IndexMap;

use super::Wire;
use super::out::OutTool;
use super::render::RenderInput;

use crate::diagnostic::{Diagnostic, Place, visible};

/// The maximum number of tools that a diagnostic names; the rest are counted.
const MAX_NAMED: usize = 8;
/// The maximum number of keys named individually.
const MAX_KEYS: usize = 20;
/// The maximum number of characters of a key or label that are shown.
const MAX_CHARS: usize = 80;

/// Notes what is left out of the array because it belongs to another wire.
pub(super) fn note_losses(wire: Wire, input: &RenderInput<'_>, tools: &[OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    foreign_entries(wire, input, notes);
    foreign_keys(wire, tools, notes);
}

fn foreign_entries(wire: Wire, input: &RenderInput<'_>, notes: &mut Vec<Diagnostic>) {
    let Some(layout) = input.catalog.layout() else { return };
    if layout.format == wire.format() {
        return;
    }
    let mut entries: IndexMap<&str, usize> = IndexMap::new();
    for foreign in input.catalog.foreign() {
        *entries.entry(&foreign.label).or_default() += 1;
    }
    for label in layout.groups().flat_map(|(group, _)| &group.beside) {
        *entries.entry(label).or_default() += 1;
    }
    for (label, count) in entries.iter().take(MAX_KEYS) {
        let entries = if *count == 1 { String::new() } else { format!(" ({count} entries)") };
        let message = format!(
            "`{}`{entries} is an entry of {} that {wire} does not support: it is left out",
            cut_visible(label),
            layout.format
        );
        notes.push(
            Diagnostic::warning("foreign-entry", Place::default(), message)
                .help("declare its replacement in the request, in addition to toolfold's array"),
        );
    }
    if entries.len() > MAX_KEYS {
        let message = format!("{} more kinds of entries are left out on {wire}", entries.len() - MAX_KEYS);
        notes.push(Diagnostic::warning("foreign-entry", Place::default(), message));
    }
    let spaces: Vec<&str> = input.catalog.namespaces().collect();
    if !spaces.is_empty() {
        let message = format!(
            "{wire} has no namespaces: the tools of {} are sent one by one, under longer names",
            first_names(&spaces)
        );
        notes.push(Diagnostic::note("foreign-entry", Place::default(), message));
    }
}

fn foreign_keys(wire: Wire, tools: &[OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    let mut lost: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for tool in tools {
        if tool.tool().format().is_none_or(|own| own == wire.format()) {
            continue;
        }
        for (key, _) in tool.tool().extra() {
            lost.entry(key).or_default().push(tool.name);
        }
    }
    for (key, tools) in lost.iter().take(MAX_KEYS) {
        let message =
            format!("{wire} does not support the key `{}` of {}: it is left out", cut_visible(key), first_names(tools));
        notes.push(Diagnostic::note("foreign-key", Place::default(), message));
    }
    if lost.len() > MAX_KEYS {
        let message = format!("{} more keys are left out on {wire}", lost.len() - MAX_KEYS);
        notes.push(Diagnostic::note("foreign-key", Place::default(), message));
    }
}

fn first_names(names: &[&str]) -> String {
    let mut text: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{}`", cut_visible(name))).collect();
    if names.len() > MAX_NAMED {
        text.push(format!("{} more", names.len() - MAX_NAMED));
    }
    text.join(", ")
}

fn cut_visible(text: &str) -> String {
    let head: String = text.chars().take(MAX_CHARS).collect();
    let more = if head.len() < text.len() { "…" } else { "" };
    format!("{}{more}", visible(&head))
}
