//! OpenAI Responses: flat functions, and natively namespaces of deferred ones behind a client's `tool_search`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::names::Names;
use super::render::{MetaRole, OutTool, RenderInput, comma, object_schema, with_member, write_head};
use crate::catalog::{Catalog, Format, write_string};
use crate::name::ToolName;
use crate::profile::{Arm, Detail, Folded, Presentation};

/// Arguments of the client's `tool_search`. Source: OpenAI's guide to tool search, see `docs/wires.md`.
const SEARCH_PARAMETERS: &str = r#"{"type":"object","properties":{"categories":{"type":"array","items":{"type":"string"}}},"required":["categories"],"additionalProperties":false}"#;

pub(super) fn decide(input: &RenderInput<'_>, tools: &mut Vec<OutTool<'_>>) {
    if input.presentation.arm() == Arm::Native {
        // The client's `tool_search` takes its place.
        tools.retain(|tool| tool.role != Some(MetaRole::Expand));
    }
    for tool in tools.iter_mut() {
        decide_tool(tool);
    }
}

fn decide_tool(tool: &mut OutTool<'_>) {
    if tool.as_it_came(Format::OpenAiResponses).is_none() {
        tool.schema = object_schema(&tool.folded);
    }
}

pub(super) fn render(input: &RenderInput<'_>, tools: &[OutTool<'_>]) -> String {
    let mut out = String::with_capacity(input.catalog.len() * 256 + 1_024);
    out.push('[');
    for tool in tools.iter().filter(|tool| !tool.deferred) {
        comma(&mut out);
        write_tool(&mut out, tool);
    }
    if input.presentation.arm() == Arm::Native {
        write_namespaces(&mut out, input, tools);
    }
    out.push(']');
    out
}

fn write_namespaces(out: &mut String, input: &RenderInput<'_>, tools: &[OutTool<'_>]) {
    let known = input.presentation.deferred();
    if known.is_empty() {
        return;
    }
    let mut places: Vec<Option<&OutTool<'_>>> = vec![None; input.catalog.len()];
    for tool in tools.iter().filter(|tool| tool.deferred) {
        if let Some(place) = tool.index.and_then(|at| places.get_mut(at)) {
            *place = Some(tool);
        }
    }
    let mut lines = String::from("Load the tools of one or more categories before calling them. Categories:");
    for entry in known {
        let name = input.namespaces.sent(entry.category.as_str());
        comma(out);
        open_namespace(out, name, &entry.description);
        for tool in entry.tools.iter().filter_map(|at| places.get(*at).copied().flatten()) {
            comma(out);
            write_tool(out, tool);
        }
        out.push_str("]}");
        let _ = write!(lines, "\n- {name} ({})", entry.tools.len());
        if !entry.description.is_empty() {
            let _ = write!(lines, ": {}", entry.description);
        }
    }
    out.push_str(",{\"type\":\"tool_search\",\"execution\":\"client\",\"description\":");
    write_string(out, &lines);
    out.push_str(",\"parameters\":");
    out.push_str(SEARCH_PARAMETERS);
    out.push('}');
}

/// A namespace without a description says at least its name.
fn open_namespace(out: &mut String, name: &str, description: &str) {
    out.push_str("{\"type\":\"namespace\",");
    write_head(out, name, if description.is_empty() { name } else { description });
    out.push_str(",\"tools\":[");
}

fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::OpenAiResponses) {
        match (tool.deferred, tool.extra("defer_loading")) {
            (false, _) | (true, Some("true")) => return out.push_str(text),
            (true, None) => return out.push_str(&with_member(text, "defer_loading", "true")),
            // It says otherwise itself: written anew below.
            (true, Some(_)) => {}
        }
    }
    out.push_str("{\"type\":\"function\",");
    write_head(out, tool.name, tool.description());
    out.push_str(",\"parameters\":");
    out.push_str(tool.schema());
    // Responses takes an absent `strict` for true, so that false has to be said.
    out.push_str(if tool.strict { ",\"strict\":true" } else { ",\"strict\":false" });
    if tool.deferred {
        out.push_str(",\"defer_loading\":true");
    }
    out.push('}');
}

/// The answer to a `tool_search_call`: the tools it loads, whole, in the namespaces they are declared in.
/// `presentation` is that of arm `native`.
pub(super) fn search_output(
    catalog: &Catalog,
    presentation: &Presentation,
    names: &Names,
    namespaces: &Names,
    id: &str,
    mentioned: &[ToolName],
) -> Value {
    let mut tools: Vec<Value> = Vec::new();
    let mentioned: std::collections::BTreeSet<&ToolName> = mentioned.iter().collect();
    for entry in presentation.deferred() {
        let mut text = String::new();
        open_namespace(&mut text, namespaces.sent(entry.category.as_str()), &entry.description);
        let empty = text.len();
        for (at, tool) in entry.tools.iter().filter_map(|at| Some((*at, catalog.at(*at)?))) {
            if mentioned.contains(tool.name()) {
                comma(&mut text);
                let whole = Folded::new(tool, Detail::Full, None);
                let mut whole = OutTool::new(whole, names.sent(tool.name().as_str()), Some(at));
                whole.deferred = true;
                decide_tool(&mut whole);
                write_tool(&mut text, &whole);
            }
        }
        if text.len() > empty {
            text.push_str("]}");
            // The text is our own or was read as JSON before, so that it parses.
            tools.push(serde_json::from_str(&text).unwrap_or_default());
        }
    }
    json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed", "tools": tools})
}
