//! Tools defined in a message: what an expansion appends under arm `append`.
//!
//! Anthropic accepts a `system` message with `tool_addition` blocks, each with a full definition,
//! under a beta (types of its Python SDK 2.12:
//! `BetaRequestToolAdditionBlockParam`, `BetaToolChangeToolDefinitionParam`). OpenAI Responses
//! accepts an input item `additional_tools` with the role `developer` (types of its Python SDK
//! 3.54: `AdditionalTools`). Both follow what was sent before, so the cached prefix stays valid.

use serde_json::Value;

use super::Wire;
use super::names::Names;
use super::out::OutTool;
use super::render::RenderOptions;
use crate::catalog::{Catalog, Tool};
use crate::name::ToolName;
use crate::profile::{Delivery, Detail, Folded};

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
        if delivery == Delivery::Append { self.facts().append_betas } else { &[] }
    }

    /// Full tools as one message appends them, in the given order: one block each on Anthropic, one
    /// definition each on OpenAI Responses. Empty on the other wires.
    pub(crate) fn additions(self, catalog: &Catalog, names: &Names, tools: &[ToolName]) -> Vec<Value> {
        if self.facts().no_append.is_some() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for tool in tools.iter().filter_map(|name| catalog.get(name.as_str())) {
            let text = self.definition(tool, names.sent(tool.name().as_str()));
            // The text is generated here or was parsed as JSON before, so it parses.
            if let Ok(definition) = serde_json::from_str(&text) {
                found.push(self.api().addition(definition));
            }
        }
        found
    }

    /// A tool's full definition as written in a message.
    fn definition(self, tool: &Tool, name: &str) -> String {
        let options = RenderOptions::default();
        let mut whole = OutTool::new(Folded::new(tool, Detail::Full, None), name);
        self.api().adjust_appended(&mut whole);
        // No array shows the tool, so no other diagnostic reports the changes; a call is checked
        // against the full schema.
        if let Some(demands) = self.api().demands(&options) {
            whole.repair(self, demands, None, &mut Vec::new());
        }
        whole.settle(self.format());
        let mut out = String::new();
        self.api().write_tool(&mut out, &whole, &options, &mut Vec::new());
        out
    }

    /// The message for [additions](Self::additions), which directly follows the answers. `None`
    /// without additions.
    pub(crate) fn appended(self, additions: &[Value]) -> Option<Value> {
        if additions.is_empty() { None } else { self.api().appended(additions) }
    }
}
