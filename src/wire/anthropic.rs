//! Anthropic Messages:
//! `{"name","description","input_schema"[,"defer_loading":true][,"cache_control":…]}`.
//!
//! Native: every tool is declared, extended ones deferred. `expand_tools` is a normal client tool
//! that is never deferred, because the API rejects an array in which every tool is. It also rejects
//! `cache_control` on a deferred tool and more than twenty strict tools: such keys are removed and
//! noted. See `docs/wires.md`.

use serde_json::{Value, json};

use super::api::{
    Answered, Api, ApiFacts, ArgumentsForm, At, Demands, ExpansionAnswer, OutTool, RenderInput, RenderOptions, Shape,
    Step, WireCall, WireError,
};
use super::append::ToolChange;
use super::calls::content_blocks;
use super::history::is_plain_id;
use super::out::{BREAKPOINT, with_members};
use super::render::write_head;
use super::steps::{answer_step, called};
use crate::catalog::{Entry, Format};
use crate::diagnostic::{Diagnostic, Place};

/// The maximum number of strict tools. Source: Anthropic's documentation of structured outputs,
/// "Schema complexity limits".
const MAX_STRICT: usize = 20;

/// The maximum number of cache breakpoints in a request. Source: Anthropic's error text, "A maximum
/// of 4 blocks with cache_control may be provided".
const MAX_BREAKPOINTS: usize = 4;

/// The beta that Anthropic requires for tools defined in a message, for the header
/// `anthropic-beta`.
const INLINE_TOOLS: &str = "inline-tools-2026-09-15";

pub(super) struct Anthropic;

impl Api for Anthropic {
    fn facts(&self) -> &'static ApiFacts {
        &ApiFacts {
            name: "anthropic",
            format: Format::Anthropic,
            message: "an assistant message of Anthropic Messages (`content` blocks)",
            shapes: &[Shape::PlainMessage, Shape::AnthropicMessage],
            parts: true,
            messages: "messages",
            takes_text: false,
            no_native: None,
            no_append: None,
            append_betas: &[INLINE_TOOLS],
            required_schema: Some("input_schema"),
            strict: true,
            namespaces: false,
            bridges_by_effect: false,
        }
    }

    fn calls(&self, at: &At<'_>) -> Result<Vec<WireCall>, WireError> {
        let mut found = Vec::new();
        for block in content_blocks(at)? {
            if block.is("type", "tool_use") {
                found.push(WireCall::read((&block, Some("id")), (&block, "input"))?);
            }
        }
        Ok(found)
    }

    fn steps(&self, message: &At<'_>, found: &mut Vec<Step>) -> Result<(), WireError> {
        found.extend(anthropic_changes(message)?.into_iter().map(Step::Changed));
        if message.is("role", "assistant") {
            return called(message, found);
        }
        let Some(content) = message.get("content").filter(|content| content.value.is_array()) else { return Ok(()) };
        for block in content.elements()? {
            if !block.is("type", "tool_result") {
                continue;
            }
            let id = Some(block.need("tool_use_id", "a string")?.text()?.to_owned());
            let ok = block.get("is_error").is_none_or(|failed| failed.value != &Value::Bool(true));
            found.push(answer_step(id, ok, block.get("content")));
        }
        Ok(())
    }

    /// Source: Anthropic's error for other ids, "String should match pattern '^[a-zA-Z0-9_-]+$'";
    /// Amazon Bedrock, `ToolUseBlock.toolUseId`: at most 64 characters.
    fn takes_call_id(&self, id: &str) -> bool {
        is_plain_id(id)
    }

    fn arguments_form(&self) -> ArgumentsForm {
        ArgumentsForm::Object
    }

    fn call_item(&self, id: &str, name: &str, arguments: &Value) -> Value {
        json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
    }

    fn assistant_message(&self, calls: Vec<Value>) -> Value {
        json!({"role": "assistant", "content": calls})
    }

    fn answer(&self, call: Answered<'_>, text: &str, is_error: bool) -> Value {
        let id = call.id;
        if is_error {
            return json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": true});
        }
        json!({"type": "tool_result", "tool_use_id": id, "content": text})
    }

    fn wrapped(&self, answers: Vec<Value>) -> Vec<Value> {
        vec![json!({"role": "user", "content": answers})]
    }

    fn expansion(&self, answer: &ExpansionAnswer<'_>) -> Option<Vec<Value>> {
        if answer.mentioned.is_empty() {
            return None;
        }
        let mut content = Vec::with_capacity(answer.mentioned.len());
        for name in answer.mentioned {
            content.push(json!({"type": "tool_reference", "tool_name": answer.names.tools.sent(name.as_str())}));
        }
        if !answer.notes.is_empty() {
            content.push(json!({"type": "text", "text": answer.notes}));
        }
        Some(vec![json!({"type": "tool_result", "tool_use_id": answer.call.id, "content": content})])
    }

    /// By the error texts "input_schema does not support oneOf, allOf, or anyOf at the top level"
    /// and "input_schema.type: Field required".
    fn demands(&self, _options: &RenderOptions) -> Option<Demands> {
        Some(Demands { refused: &["oneOf", "anyOf", "allOf"], ..Demands::OBJECT })
    }

    fn decide<'s>(&self, input: &RenderInput<'s>, tools: &mut Vec<OutTool<'s>>, notes: &mut Vec<Diagnostic>) {
        keep_one_loaded(input, tools, notes);
        limit_strict(tools, notes);
        move_breakpoints(input, tools, notes);
        limit_breakpoints(tools, notes);
        for tool in tools {
            tool.settle(Format::Anthropic);
        }
    }

    fn write_tool(&self, out: &mut String, tool: &OutTool<'_>, _options: &RenderOptions, _notes: &mut Vec<Diagnostic>) {
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

    fn adjust_appended(&self, tool: &mut OutTool<'_>) {
        // The array may already use all strict tools and breakpoints of a request.
        tool.strict = false;
        tool.dropped.extend(["strict", BREAKPOINT]);
    }

    fn addition(&self, definition: Value) -> Value {
        json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}})
    }

    fn appended(&self, additions: &[Value]) -> Option<Value> {
        Some(json!({"role": "system", "content": additions}))
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
    let mut count = 0;
    for tool in tools {
        count += usize::from(tool.strict);
        if !tool.strict || count <= MAX_STRICT {
            continue;
        }
        tool.strict = false;
        tool.dropped.push("strict");
        let message = format!("tool `{}` is not sent as strict: it would be number {count}", tool.name);
        notes.push(
            Diagnostic::warning("too-many-strict", Place::default(), message)
                .help("Anthropic takes at most 20 strict tools: the first 20 stay"),
        );
    }
}

/// The last breakpoints stay: each covers everything before it.
fn limit_breakpoints(tools: &mut [OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    let mut left = MAX_BREAKPOINTS;
    for tool in tools.iter_mut().rev() {
        if tool.breakpoint.is_none() && !tool.sends_key(Format::Anthropic, BREAKPOINT) {
            continue;
        }
        if left > 0 {
            left -= 1;
            continue;
        }
        tool.breakpoint = None;
        tool.dropped.push(BREAKPOINT);
        let message = format!(
            "the `{BREAKPOINT}` of tool `{}` is left out: Anthropic takes at most {MAX_BREAKPOINTS}, and the last ones stay",
            tool.name
        );
        notes.push(Diagnostic::note("moved-breakpoint", Place::default(), message));
    }
}

/// A position in the list where a breakpoint may be.
enum Position<'s> {
    /// The tool at this index in the catalog.
    Tool(usize),
    /// The name and breakpoint of a removed tool.
    Left(&'s str, &'s str),
}

/// Moves a breakpoint whose tool is deferred or left out to the last preceding tool that is loaded.
fn move_breakpoints<'s>(input: &RenderInput<'s>, tools: &mut [OutTool<'s>], notes: &mut Vec<Diagnostic>) {
    let catalog = input.catalog;
    let steps: Vec<Position<'s>> = match catalog.layout().filter(|layout| layout.format == Format::Anthropic) {
        Some(layout) => layout.entries.iter().filter_map(position).collect(),
        None if catalog.iter().any(|tool| tool.breakpoint().is_some()) => {
            (0..catalog.len()).map(Position::Tool).collect()
        }
        None => return,
    };
    let mut places: Vec<Option<usize>> = vec![None; catalog.len()];
    for (at, tool) in tools.iter().enumerate() {
        if let Some(place) = tool.index().and_then(|index| places.get_mut(index)) {
            *place = Some(at);
        }
    }
    let mut loaded: Option<usize> = None;
    for step in steps {
        let (name, text) = match step {
            Position::Left(name, text) => (name, text),
            Position::Tool(index) => {
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

fn position(entry: &Entry) -> Option<Position<'_>> {
    match entry {
        Entry::Tool(index) => Some(Position::Tool(*index)),
        Entry::Breakpoint(left) => Some(Position::Left(&left.tool, &left.text)),
        Entry::Foreign(_) | Entry::Group(..) => None,
    }
}

/// The changes in an Anthropic message: its `system` messages, and the `tool_changes` of a
/// compaction block, which replaces the messages that it summarizes.
fn anthropic_changes(message: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
    let Some(content) = message.get("content").filter(|content| content.value.is_array()) else {
        return Ok(Vec::new());
    };
    let mut blocks = Vec::new();
    for block in content.elements()? {
        if message.is("role", "system") {
            blocks.push(block);
        } else if block.is("type", "compaction")
            && let Some(changes) = block.get("tool_changes")
        {
            blocks.extend(changes.elements()?);
        }
    }
    let mut found = Vec::new();
    for block in blocks {
        let added = block.is("type", "tool_addition");
        if !added && !block.is("type", "tool_removal") {
            continue;
        }
        let tool = block.need("tool", "an object")?;
        // An MCP server's tools have no name here; none of them is in the catalog.
        if let Some(name) = tool.get("definition").unwrap_or(tool).get("name") {
            found.push(ToolChange { name: name.text()?.to_owned(), added });
        }
    }
    Ok(found)
}
