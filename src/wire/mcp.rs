//! MCP's `tools/list`: `{"name","title"?,"description","inputSchema",…}`.
//!
//! A folded tool keeps all its other keys: its annotations, which clients use when they prompt the
//! user, its output schema, which clients check results with, and any unknown keys of the server.

use super::out::OutTool;
use super::render::write_head;
use crate::catalog::{Format, write_string};

pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::Mcp) {
        return out.push_str(text);
    }
    out.push('{');
    write_head(out, tool.name, tool.description());
    if let Some(title) = tool.tool().title() {
        out.push_str(",\"title\":");
        write_string(out, title);
    }
    out.push_str(",\"inputSchema\":");
    out.push_str(tool.schema());
    if let Some(annotations) = tool.tool().annotations().filter(|_| tool.own_key(Format::Mcp, "annotations").is_none())
    {
        out.push_str(",\"annotations\":");
        out.push_str(&serde_json::to_string(annotations).unwrap_or_else(|_| "{}".to_owned()));
    }
    tool.write_keys(out, Format::Mcp, false);
    out.push('}');
}
