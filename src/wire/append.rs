//! Tools that are defined in a message: what an expansion appends under arm `append`.
//!
//! Anthropic takes a `system` message with `tool_addition` blocks, each with a whole definition, under the beta
//! [`INLINE_TOOLS`] (types of its Python SDK 2.12: `BetaRequestToolAdditionBlockParam`,
//! `BetaToolChangeToolDefinitionParam`). OpenAI Responses takes an input item `additional_tools` of the role `developer`
//! (types of its Python SDK 3.54: `AdditionalTools`). Both stand behind what was sent before, so that the prefix is kept.

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

/// The beta that Anthropic asks for where a message defines a tool, for the header `anthropic-beta`.
const INLINE_TOOLS: &str = "inline-tools-2026-09-15";

/// A change of the tools in a message array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolChange {
    /// The tool, by the name under which the model sees it.
    pub(crate) name: String,
    /// Whether it was defined or named again; else it was taken away.
    pub(crate) added: bool,
}

impl Wire {
    /// What a request's `anthropic-beta` header has to name for a delivery; empty where nothing is in beta.
    pub(crate) fn betas(self, delivery: Delivery) -> &'static [&'static str] {
        match (self, delivery) {
            (Self::Anthropic, Delivery::Append) => &[INLINE_TOOLS],
            _ => &[],
        }
    }

    /// Whole tools as one message appends them, in the order given: a block each on Anthropic, a definition each on OpenAI
    /// Responses. Empty on the other wires.
    pub(crate) fn additions(self, catalog: &Catalog, names: &Names, tools: &[ToolName]) -> Vec<Value> {
        let tools = tools.iter().filter_map(|name| catalog.get(name.as_str()));
        let each = tools.filter_map(|tool| {
            let text = self.definition(tool, names.sent(tool.name().as_str()))?;
            // The text is our own or was read as JSON before, so that it parses.
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

    /// A tool's whole definition as it stands in a message.
    fn definition(self, tool: &Tool, name: &str) -> Option<String> {
        let write = match self {
            Self::Anthropic => anthropic::write_tool,
            Self::OpenAiResponses => openai_responses::write_tool,
            Self::OpenAiChat | Self::Gemini | Self::Mcp => return None,
        };
        let mut whole = OutTool::new(Folded::new(tool, Detail::Full, None), name, None);
        if self == Self::Anthropic {
            // The array may have all the strict tools and breakpoints that one request takes.
            whole.strict = false;
            whole.dropped.extend(["strict", BREAKPOINT]);
        }
        if let Some(demands) = Demands::of(self, &RenderOptions::default()) {
            // No array ever shows it, so that nobody else says what had to be changed; a call is checked against the whole.
            whole.repair(self, demands, None, &mut Vec::new());
        }
        whole.settle(self.format());
        let mut out = String::new();
        write(&mut out, &whole);
        Some(out)
    }

    /// What carries [additions](Self::additions): one message that stands right behind the answers. None for none.
    pub(crate) fn appended(self, additions: &[Value]) -> Option<Value> {
        match self {
            _ if additions.is_empty() => None,
            Self::Anthropic => Some(json!({"role": "system", "content": additions})),
            Self::OpenAiResponses => Some(json!({"type": "additional_tools", "role": "developer", "tools": additions})),
            Self::OpenAiChat | Self::Gemini | Self::Mcp => None,
        }
    }
}

/// The changes that a message of Anthropic's tells: its `system` messages, and the `tool_changes` of a compaction block,
/// which stands for the messages that it summarises.
pub(super) fn anthropic_changes(message: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
    let Some(content) = message.get("content").filter(|content| content.value.is_array()) else {
        return Ok(Vec::new());
    };
    let mut blocks = Vec::new();
    for block in content.list()? {
        if message.is("role", "system") {
            blocks.push(block);
        } else if block.is("type", "compaction")
            && let Some(changes) = block.get("tool_changes")
        {
            blocks.extend(changes.list()?);
        }
    }
    let mut found = Vec::new();
    for block in blocks {
        let added = block.is("type", "tool_addition");
        if !added && !block.is("type", "tool_removal") {
            continue;
        }
        let tool = block.need("tool", "an object")?;
        // An MCP server's tools have no name here; none of them is ours.
        if let Some(name) = tool.get("definition").unwrap_or(tool).get("name") {
            found.push(ToolChange { name: name.text()?.to_owned(), added });
        }
    }
    Ok(found)
}

/// The tools that an item `additional_tools` of OpenAI Responses adds, those in namespaces too.
pub(super) fn responses_changes(item: &At<'_>) -> Result<Vec<ToolChange>, WireError> {
    let mut found = Vec::new();
    for tool in item.need("tools", "an array")?.list()? {
        let inside = tool.get("tools").map(|inside| inside.list()).transpose()?;
        for tool in inside.unwrap_or_else(|| vec![tool]) {
            if let Some(name) = tool.get("name") {
                found.push(ToolChange { name: name.text()?.to_owned(), added: true });
            }
        }
    }
    Ok(found)
}
