//! Tools defined in a message: what an expansion appends under arm `append`.
//!
//! Anthropic accepts a `system` message with `tool_addition` blocks, each with a full definition,
//! under the beta [`INLINE_TOOLS`] (types of its Python SDK 2.12:
//! `BetaRequestToolAdditionBlockParam`, `BetaToolChangeToolDefinitionParam`). OpenAI Responses
//! accepts an input item `additional_tools` with the role `developer` (types of its Python SDK
//! 3.54: `AdditionalTools`). Both follow what was sent before, so the cached prefix stays valid.

use serde_json::{Value, json};

use super::names::Names;
use super::out::{BREAKPOINT, OutTool};
use super::reader::At;
use super::render::RenderOptions;
use super::repair::Demands;
use super::{Wire, WireError, anthropic, openai_responses};
use crate::catalog::{Catalog, Tool};
use crate::name::ToolName;
use crate::profile::{Delivery, Detail, Folded};

/// The beta that Anthropic requires for tools defined in a message, for the header
/// `anthropic-beta`.
const INLINE_TOOLS: &str = "inline-tools-2026-09-15";

/// A change of the tools in a message array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolChange {
    /// The tool, by the name shown to the model.
    pub(crate) name: String,
    /// Whether it was defined or named again; otherwise it was removed.
    pub(crate) added: bool,
}

impl Wire {
    /// The betas that a request's `anthropic-beta` header must name for a delivery; empty if none
    /// is required.
    pub(crate) fn betas(self, delivery: Delivery) -> &'static [&'static str] {
        match (self, delivery) {
            (Self::Anthropic, Delivery::Append) => &[INLINE_TOOLS],
            _ => &[],
        }
    }

    /// Full tools as one message appends them, in the given order: one block each on Anthropic, one
    /// definition each on OpenAI Responses. Empty on the other wires.
    pub(crate) fn additions(self, catalog: &Catalog, names: &Names, tools: &[ToolName]) -> Vec<Value> {
        let tools = tools.iter().filter_map(|name| catalog.get(name.as_str()));
        let each = tools.filter_map(|tool| {
            let text = self.definition(tool, names.sent(tool.name().as_str()))?;
            // The text is generated here or was parsed as JSON before, so it parses.
            let definition: Value = serde_json::from_str(&text).ok()?;
            Some(match self {
                Self::Anthropic => {
                    json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}})
                }
                _ => definition,
            })
        });
        each.collect()
    }

    /// A tool's full definition as written in a message.
    fn definition(self, tool: &Tool, name: &str) -> Option<String> {
        let write = match self {
            Self::Anthropic => anthropic::write_tool,
            Self::OpenAiResponses => openai_responses::write_tool,
            Self::OpenAiChat | Self::Gemini | Self::Mcp => return None,
        };
        let mut whole = OutTool::new(Folded::new(tool, Detail::Full, None), name, None);
        if self == Self::Anthropic {
            // The array may already use all strict tools and breakpoints of a request.
            whole.strict = false;
            whole.dropped.extend(["strict", BREAKPOINT]);
        }
        if let Some(demands) = Demands::of_wire(self, &RenderOptions::default()) {
            // No array shows the tool, so no other diagnostic reports the changes; a call is
            // checked against the full schema.
            whole.repair(self, demands, None, &mut Vec::new());
        }
        whole.settle(self.format());
        let mut out = String::new();
        write(&mut out, &whole);
        Some(out)
    }

    /// The message for [additions](Self::additions), which directly follows the answers. `None`
    /// without additions.
    pub(crate) fn appended(self, additions: &[Value]) -> Option<Value> {
        match self {
            _ if additions.is_empty() => None,
            Self::Anthropic => Some(json!({"role": "system", "content": additions})),
            Self::OpenAiResponses => Some(json!({"type": "additional_tools", "role": "developer", "tools": additions})),
            Self::OpenAiChat | Self::Gemini | Self::Mcp => None,
        }
    }
}

/// The changes in an Anthropic message: its `system` messages, and the `tool_changes` of a
/// compaction block, which replaces the messages that it summarizes.
pub(super) fn anthropic_changes(message: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
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

/// The tools that an item `additional_tools` of OpenAI Responses adds, including those in
/// namespaces.
pub(super) fn responses_changes(item: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
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
