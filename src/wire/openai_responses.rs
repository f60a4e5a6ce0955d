//! OpenAI Responses: flat functions, and natively namespaces of deferred ones behind a client's `tool_search`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::names::Names;
use super::render::{Sending, as_it_came, extra, is_strict, object_schema, parsed, with_member, write_head};
use crate::catalog::{Format, write_string};
use crate::engine::Engine;
use crate::name::ToolName;
use crate::profile::{Arm, Detail, EXPAND_TOOLS, Folded, PlannedTool};

/// Arguments of the client's `tool_search`, as `design/wires.md` has them.
const SEARCH_PARAMETERS: &str = r#"{"type":"object","properties":{"categories":{"type":"array","items":{"type":"string"}}},"required":["categories"],"additionalProperties":false}"#;

pub(super) fn render(sending: &mut Sending<'_>) -> String {
    let mut out = String::from("[");
    let tools = sending.tools();
    let native = sending.arm == Arm::Native;
    let top = |sent: &&PlannedTool<'_>| {
        let expand = sent.index.is_none() && *sent.tool.tool().name() == EXPAND_TOOLS;
        !native || !(expand || sent.deferred)
    };
    for sent in tools.iter().filter(top) {
        comma(&mut out);
        write_tool(&mut out, &sent.tool, sending.name(&sent.tool), false);
    }
    if native {
        write_namespaces(&mut out, sending, &tools);
    }
    out.push(']');
    out
}

fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

fn write_namespaces(out: &mut String, sending: &Sending<'_>, tools: &[PlannedTool<'_>]) {
    let known = sending.engine.presentation(sending.arm).deferred();
    if known.is_empty() {
        return;
    }
    let spaces = Names::namespaces(sending.engine);
    let mut lines = String::from("Load the tools of one or more categories before calling them. Categories:");
    for entry in known {
        let name = spaces.sent(entry.category.as_str());
        let members =
            tools.iter().filter(|sent| sent.deferred && sent.index.is_some_and(|at| entry.tools.contains(&at)));
        comma(out);
        open_namespace(out, name, &entry.description);
        for sent in members {
            comma(out);
            write_tool(out, &sent.tool, sending.name(&sent.tool), true);
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

fn write_tool(out: &mut String, tool: &Folded<'_>, name: &str, deferred: bool) {
    if let Some(text) = as_it_came(tool, name, Format::OpenAiResponses) {
        match (deferred, extra(tool.tool(), "defer_loading")) {
            (false, _) | (true, Some("true")) => return out.push_str(text),
            (true, None) => return out.push_str(&with_member(text, "defer_loading", "true")),
            // It says otherwise itself: written anew below.
            (true, Some(_)) => {}
        }
    }
    out.push_str("{\"type\":\"function\",");
    write_head(out, name, tool.description());
    out.push_str(",\"parameters\":");
    out.push_str(&object_schema(tool));
    // Responses takes an absent `strict` for true, so that false has to be said.
    out.push_str(if is_strict(tool) { ",\"strict\":true" } else { ",\"strict\":false" });
    if deferred {
        out.push_str(",\"defer_loading\":true");
    }
    out.push('}');
}

/// The answer to a `tool_search_call`: the tools it loads, whole, in the namespaces they are declared in.
pub(super) fn search_output(engine: &Engine, id: &str, mentioned: &[ToolName]) -> Value {
    let (names, spaces) = (Names::of(super::Wire::OpenAiResponses, engine), Names::namespaces(engine));
    let mut tools: Vec<Value> = Vec::new();
    for entry in engine.presentation(Arm::Native).deferred() {
        let mut text = String::new();
        open_namespace(&mut text, spaces.sent(entry.category.as_str()), &entry.description);
        let empty = text.len();
        for tool in entry.tools.iter().filter_map(|at| engine.catalog().at(*at)) {
            if mentioned.contains(tool.name()) {
                comma(&mut text);
                let whole = Folded::new(tool, Detail::Full, None);
                write_tool(&mut text, &whole, names.sent(tool.name().as_str()), true);
            }
        }
        if text.len() > empty {
            text.push_str("]}");
            tools.push(parsed(&text));
        }
    }
    json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed", "tools": tools})
}
