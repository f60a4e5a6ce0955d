//! OpenAI Responses: flat functions; natively, namespaces of deferred functions with a client's
//! `tool_search`.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::names::Names;
use super::out::{OutTool, in_namespaces, with_members};
use super::render::{MetaRole, RenderInput, RenderOptions, comma, write_head};
use super::repair::Demands;
use super::{Wire, assemble};
use crate::catalog::{Catalog, Format, Member, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::name::ToolName;
use crate::profile::{Delivery, Detail, Folded, Presentation};

/// Arguments of the client's `tool_search`. Source: OpenAI's guide to tool search, see
/// `docs/wires.md`.
const SEARCH_PARAMETERS: &str = r#"{"type":"object","properties":{"categories":{"type":"array","items":{"type":"string"}}},"required":["categories"],"additionalProperties":false}"#;

/// The type of the search entry.
const SEARCH: &str = "tool_search";

pub(super) fn decide(input: &RenderInput<'_>, tools: &mut Vec<OutTool<'_>>, notes: &mut Vec<Diagnostic>) {
    if input.presentation.arm().delivery() == Delivery::Native {
        let theirs = input.catalog.layout().is_some_and(|layout| layout.format == Format::OpenAiResponses)
            && input.catalog.foreign().any(|entry| entry.label() == SEARCH);
        if theirs {
            // A second search would conflict: the existing one stays, and tools that it does not
            // load are sent full.
            for tool in tools.iter_mut() {
                tool.deferred = tool.own_key(Format::OpenAiResponses, "defer_loading") == Some("true");
            }
            let message = "the list has its own `tool_search`, so arm native defers nothing".to_owned();
            notes.push(
                Diagnostic::warning("own-tool-search", Place::default(), message)
                    .help("leave it out of the list, or choose another arm"),
            );
        } else {
            // The client's `tool_search` replaces it.
            tools.retain(|tool| tool.role != Some(MetaRole::Expand));
        }
    }
    for tool in tools {
        tool.settle(Format::OpenAiResponses);
    }
}

/// Writes the entries of the array, without its brackets.
pub(super) fn write_array(out: &mut String, input: &RenderInput<'_>, tools: &[OutTool<'_>]) {
    let native = input.presentation.arm().delivery() == Delivery::Native;
    let searched = native && !tools.iter().any(|tool| tool.role == Some(MetaRole::Expand));
    // A tool that the host's own search loads keeps its position, as does one in its own namespace.
    let by_category = |tool: &&OutTool<'_>| searched && tool.deferred && !tool.in_namespace;
    let in_place: Vec<&OutTool<'_>> = tools.iter().filter(|tool| !by_category(tool)).collect();
    assemble::write_entries(out, input, Format::OpenAiResponses, &in_place, &mut |out, tool| write_tool(out, tool));
    if searched {
        let moved: Vec<&OutTool<'_>> = tools.iter().filter(by_category).collect();
        write_namespaces(out, input, &moved);
    }
}

fn write_namespaces(out: &mut String, input: &RenderInput<'_>, tools: &[&OutTool<'_>]) {
    let known = input.presentation.deferred();
    if known.is_empty() {
        return;
    }
    let mut places: Vec<Option<&OutTool<'_>>> = vec![None; input.catalog.len()];
    for tool in tools {
        if let Some(place) = tool.index.and_then(|at| places.get_mut(at)) {
            *place = Some(tool);
        }
    }
    let mut lines = String::from("Load the tools of one or more categories before calling them. Categories:");
    for entry in known {
        let name = input.namespaces.sent(entry.category.as_str());
        let mut members = entry.tools.iter().filter_map(|at| places.get(*at).copied().flatten()).peekable();
        if members.peek().is_some() {
            comma(out);
            open_namespace(out, name, &entry.description);
            for tool in members {
                comma(out);
                write_tool(out, tool);
            }
            out.push_str("]}");
        }
        let _ = write!(lines, "\n- {name} ({})", entry.tools.len());
        if !entry.description.is_empty() {
            let _ = write!(lines, ": {}", entry.description);
        }
    }
    comma(out);
    out.push_str("{\"type\":\"tool_search\",\"execution\":\"client\",\"description\":");
    write_string(out, &lines);
    out.push_str(",\"parameters\":");
    out.push_str(SEARCH_PARAMETERS);
    out.push('}');
}

/// A namespace without a description uses its name.
fn open_namespace(out: &mut String, name: &str, description: &str) {
    out.push_str("{\"type\":\"namespace\",");
    write_head(out, name, if description.is_empty() { name } else { description });
    out.push_str(",\"tools\":[");
}

pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::OpenAiResponses) {
        return out.push_str(&with_members(text, &tool.added(Format::OpenAiResponses)));
    }
    out.push_str("{\"type\":\"function\",");
    write_head(out, tool.name, tool.description());
    out.push_str(",\"parameters\":");
    out.push_str(tool.schema());
    // Responses treats an absent `strict` as true, so false is written explicitly.
    out.push_str(if tool.strict { ",\"strict\":true" } else { ",\"strict\":false" });
    tool.write_keys(out, Format::OpenAiResponses, false);
    for (key, value) in tool.added(Format::OpenAiResponses) {
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
}

/// The answer to a `tool_search_call`: the loaded tools, full, in the namespaces they are declared
/// in. `presentation` is that of arm `native`.
pub(crate) fn search_output(
    catalog: &Catalog,
    presentation: &Presentation,
    names: &Names,
    namespaces: &Names,
    id: &str,
    mentioned: &[ToolName],
) -> Value {
    let mentioned: BTreeSet<&ToolName> = mentioned.iter().collect();
    let inside = in_namespaces(Wire::OpenAiResponses, catalog);
    let is_inside = |at: usize| inside.get(at) == Some(&true);
    let mut known = vec![false; catalog.len()];
    let mut tools: Vec<Value> = Vec::new();
    for entry in presentation.deferred() {
        let mut text = String::new();
        open_namespace(&mut text, namespaces.sent(entry.category.as_str()), &entry.description);
        let empty = text.len();
        for at in entry.tools.iter().copied() {
            if let Some(flag) = known.get_mut(at) {
                *flag = true;
            }
            if let Some(tool) = catalog.at(at).filter(|tool| mentioned.contains(tool.name()) && !is_inside(at)) {
                write_loaded(&mut text, tool, names.sent(tool.name().as_str()));
            }
        }
        if text.len() > empty {
            text.push_str("]}");
            tools.push(parsed(&text));
        }
    }
    // A tool in one of the list's own namespaces is loaded there.
    for (group, members) in catalog.layout().iter().flat_map(|layout| layout.groups()) {
        let mut text = String::from(&*group.before);
        let empty = text.len();
        for at in
            members.iter().filter_map(Member::tool_index).filter(|at| is_inside(*at) && known.get(*at) == Some(&true))
        {
            if let Some(tool) = catalog.at(at).filter(|tool| mentioned.contains(tool.name())) {
                write_loaded(&mut text, tool, tool.namespaced().map_or(tool.name().as_str(), |(_, name)| name));
            }
        }
        if text.len() > empty {
            text.push_str(&group.after);
            tools.push(parsed(&text));
        }
    }
    json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed", "tools": tools})
}

fn write_loaded(out: &mut String, tool: &Tool, name: &str) {
    let mut whole = OutTool::new(Folded::new(tool, Detail::Full, None), name, None);
    whole.deferred = true;
    if let Some(demands) = Demands::of_wire(Wire::OpenAiResponses, &RenderOptions::default()) {
        // Already reported when the array was written.
        whole.repair(Wire::OpenAiResponses, demands, None, &mut Vec::new());
    }
    whole.settle(Format::OpenAiResponses);
    comma(out);
    write_tool(out, &whole);
}

/// Parses text for a JSON document that is built from values.
fn parsed(text: &str) -> Value {
    // The text is generated here or was parsed as JSON before, so it parses.
    serde_json::from_str(text).unwrap_or_default()
}
