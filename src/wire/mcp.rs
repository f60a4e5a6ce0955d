//! MCP's `tools/list`: `{"name","title"?,"description","inputSchema","annotations"?}`.
//!
//! A folded tool keeps its annotations, which clients ask people by, and loses title and output schema, which no model
//! sees.

use super::render::{OutTool, object_schema, write_head};
use crate::catalog::{Format, write_string};
use crate::profile::Detail;

pub(super) fn decide(tools: &mut [OutTool<'_>]) {
    for tool in tools.iter_mut().filter(|tool| tool.as_it_came(Format::Mcp).is_none()) {
        tool.schema = object_schema(&tool.folded);
    }
}

pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::Mcp) {
        return out.push_str(text);
    }
    out.push('{');
    write_head(out, tool.name, tool.description());
    if let Some(title) = tool.tool().title().filter(|_| tool.folded.detail() == Detail::Full) {
        out.push_str(",\"title\":");
        write_string(out, title);
    }
    out.push_str(",\"inputSchema\":");
    out.push_str(tool.schema());
    if let Some(annotations) = tool.tool().annotations() {
        out.push_str(",\"annotations\":");
        out.push_str(&serde_json::to_string(annotations).unwrap_or_else(|_| "{}".to_owned()));
    }
    out.push('}');
}
