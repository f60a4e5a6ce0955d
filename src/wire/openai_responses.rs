//! OpenAI Responses: flat functions; natively, namespaces of deferred functions with a client's
//! `tool_search`.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::answers::arguments_text;
use super::api::{
    Answered, Api, ApiFacts, At, Demands, ExpansionAnswer, OutTool, RenderInput, RenderOptions, Rendered, Shape, Step,
    WireCall, WireError,
};
use super::append::ToolChange;
use super::calls::{arguments_of, id_under};
use super::out::{in_namespaces, with_members};
use super::render::{MetaRole, comma, write_head};
use super::steps::{answer_step, called};
use super::{Wire, assemble};
use crate::catalog::{Format, Member, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::name::ToolName;
use crate::profile::{Delivery, Detail, Folded};

/// Arguments of the client's `tool_search`. Source: OpenAI's guide to tool search, see
/// `docs/wires.md`.
const SEARCH_PARAMETERS: &str = r#"{"type":"object","properties":{"query":{"type":"string"},"categories":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}"#;

/// The type of the search entry.
const SEARCH: &str = "tool_search";

pub(super) struct OpenAiResponses;

impl Api for OpenAiResponses {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "openai-responses",
            format: Format::OpenAiResponses,
            message: "the output items of OpenAI Responses (`function_call`)",
            shapes: &[Shape::ResponsesItems],
            parts: true,
            messages: "input",
            takes_text: true,
            no_native: None,
            no_append: None,
            append_betas: &[],
            required_schema: None,
            strict: true,
            namespaces: true,
            bridges_by_effect: false,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        let items = if at.value.is_array() { at.elements()? } else { vec![at.clone().object()?] };
        let mut found = Vec::new();
        for item in items {
            if item.is("type", "function_call") {
                found.push(WireCall::read((&item, Some("call_id")), (&item, "arguments"))?);
            } else if item.is("type", "tool_search_call") && !item.is("execution", "server") {
                let arguments = arguments_of(item.get("arguments"));
                let id = id_under(&item, "call_id")?;
                found.push(WireCall { id, request: None, name: None, arguments, place: None });
            }
        }
        Ok(found)
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        if message.is("type", "function_call_output") {
            let id = Some(message.need("call_id", "a string")?.text()?.to_owned());
            found.push(answer_step(id, true, message.get("output")));
        } else if message.is("type", "tool_search_output") {
            let id = message.get("call_id").map(|id| id.text().map(str::to_owned)).transpose()?;
            found.push(answer_step(id, true, message.get("tools")));
        } else if message.is("type", "function_call") || message.is("type", "tool_search_call") {
            // An item that is not a call is skipped; the `output` or `content` of a message
            // contains none.
            called(message, found)?;
        } else if message.is("type", "additional_tools") {
            found.extend(responses_changes(message)?.into_iter().map(Step::Changed));
        }
        Ok(())
    }

    /// Source: OpenAI's API reference, `FunctionCallOutput.call_id`: at most 64 characters.
    fn takes_call_id(&self, id: &str) -> bool {
        id.chars().count() <= 64
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments_text(arguments)})
    }

    fn answer(&self, call: Answered<'_>, text: &str, _is_error: bool) -> Value {
        json!({"type": "function_call_output", "call_id": call.id, "output": text})
    }

    fn expansion(&self, answer: &ExpansionAnswer<'_>) -> Option<Vec<Value>> {
        if answer.call.name != answer.names.meta(MetaRole::Expand) {
            return None;
        }
        let mut items = vec![search_output(answer)];
        // If nothing was found, the model must read the whole answer.
        let note = if answer.mentioned.is_empty() { answer.content } else { answer.notes };
        if !note.is_empty() {
            let content = json!([{"type": "input_text", "text": note}]);
            items.push(json!({"type": "message", "role": "developer", "content": content}));
        }
        Some(items)
    }

    fn demands(&self, _options: &RenderOptions) -> Option<Demands> {
        Some(Demands::OPENAI)
    }

    fn decide<'s>(&self, input: &RenderInput<'s>, tools: &mut Vec<OutTool<'s>>, notes: &mut Vec<Diagnostic>) {
        decide(input, tools, notes);
    }

    fn write_array(
        &self,
        out: &mut Rendered,
        input: &RenderInput<'_>,
        tools: &[OutTool<'_>],
        _notes: &mut Vec<Diagnostic>,
    ) {
        write_array(out, input, tools);
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, _options: &RenderOptions, _notes: &mut Vec<Diagnostic>) {
        write_tool(out, tool);
    }

    fn appended(&self, additions: &[Value]) -> Option<Value> {
        Some(json!({"type": "additional_tools", "role": "developer", "tools": additions}))
    }
}

fn decide(input: &RenderInput<'_>, tools: &mut Vec<OutTool<'_>>, notes: &mut Vec<Diagnostic>) {
    if input.presentation.arm().delivery() == Delivery::Native {
        let theirs = input.catalog.layout().is_some_and(|layout| layout.format == Format::OpenAiResponses)
            && input.catalog.foreign().any(|entry| &*entry.label == SEARCH);
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

fn write_array(out: &mut Rendered, input: &RenderInput<'_>, tools: &[OutTool<'_>]) {
    // Where nothing is deferred, a tool that came with `defer_loading` keeps its position.
    let native = input.presentation.arm().delivery() == Delivery::Native && !input.presentation.deferred.is_empty();
    let searched = native && !tools.iter().any(|tool| tool.role == Some(MetaRole::Expand));
    // A tool that the host's own search loads keeps its position, as does one in its own namespace.
    let (mut in_place, mut moved): (Vec<&OutTool<'_>>, Vec<&OutTool<'_>>) = (Vec::new(), Vec::new());
    for tool in tools {
        let by_category = searched && tool.deferred && !tool.in_namespace;
        if by_category { moved.push(tool) } else { in_place.push(tool) }
    }
    assemble::write_entries(out, input, Format::OpenAiResponses, &in_place, &mut |out, tool| write_tool(out, tool));
    if searched {
        write_namespaces(out, input, &moved);
    }
}

fn write_namespaces(out: &mut Rendered, input: &RenderInput<'_>, tools: &[&OutTool<'_>]) {
    let known = &input.presentation.deferred;
    if known.is_empty() {
        return;
    }
    let mut places: Vec<Option<&OutTool<'_>>> = vec![None; input.catalog.len()];
    for tool in tools {
        if let Some(place) = tool.index().and_then(|at| places.get_mut(at)) {
            *place = Some(tool);
        }
    }
    let mut lines = String::from("Load tools before calling them, by query or by category. Categories:");
    for entry in known {
        let name = input.namespaces.sent(entry.category.as_str());
        let mut members: Vec<&OutTool<'_>> = Vec::new();
        for at in &entry.tools {
            members.extend(places.get(*at).copied().flatten());
        }
        if !members.is_empty() {
            out.entries += 1;
            out.namespaces.push((name.to_owned(), members.len()));
            comma(&mut out.text);
            open_namespace(&mut out.text, name, &entry.description);
            for tool in members {
                comma(&mut out.text);
                write_tool(&mut out.text, tool);
            }
            out.text.push_str("]}");
        }
        let _ = write!(lines, "\n- {name} ({})", entry.tools.len());
        if !entry.description.is_empty() {
            let _ = write!(lines, ": {}", entry.description);
        }
    }
    out.entries += 1;
    let out = &mut out.text;
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

fn write_tool(out: &mut String, tool: &OutTool<'_>) {
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
/// in.
fn search_output(answer: &ExpansionAnswer<'_>) -> Value {
    let ExpansionAnswer { catalog, presentation, names, call, mentioned, .. } = *answer;
    let mentioned: BTreeSet<&ToolName> = mentioned.iter().collect();
    let inside = in_namespaces(Wire::OpenAiResponses, catalog);
    let is_inside = |at: usize| inside.get(at) == Some(&true);
    let mut known = vec![false; catalog.len()];
    let mut tools: Vec<Value> = Vec::new();
    for entry in &presentation.deferred {
        let mut text = String::new();
        open_namespace(&mut text, names.namespaces.sent(entry.category.as_str()), &entry.description);
        let empty = text.len();
        for at in entry.tools.iter().copied() {
            if let Some(flag) = known.get_mut(at) {
                *flag = true;
            }
            if let Some(tool) = catalog.at(at).filter(|tool| mentioned.contains(tool.name()) && !is_inside(at)) {
                write_loaded(&mut text, tool, names.tools.sent(tool.name().as_str()));
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
    json!({"type": "tool_search_output", "call_id": call.id, "execution": "client", "status": "completed", "tools": tools})
}

fn write_loaded(out: &mut String, tool: &Tool, name: &str) {
    let mut whole = OutTool::new(Folded::new(tool, Detail::Full, None), name);
    whole.deferred = true;
    // Already reported when the array was written.
    whole.repair(Wire::OpenAiResponses, Demands::OPENAI, None, &mut Vec::new());
    whole.settle(Format::OpenAiResponses);
    comma(out);
    write_tool(out, &whole);
}

/// Parses text for a JSON document that is built from values.
fn parsed(text: &str) -> Value {
    // The text is generated here or was parsed as JSON before, so it parses.
    serde_json::from_str(text).unwrap_or_default()
}

/// The tools that an item `additional_tools` of OpenAI Responses adds, including those in
/// namespaces.
fn responses_changes(item: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
    let mut found = Vec::new();
    for tool in item.need("tools", "an array")?.elements()? {
        let inside = tool.get("tools").map(|inside| inside.elements()).transpose()?;
        for tool in inside.unwrap_or_else(|| vec![tool]) {
            if let Some(name) = tool.get("name") {
                found.push(ToolChange { name: name.text()?.to_owned(), added: true });
            }
        }
    }
    Ok(found)
}
