//! MCP's `tools/list`: `{"name","title"?,"description","inputSchema","annotations"?}`.
//!
//! A folded tool keeps its annotations, which clients ask people by, and loses title and output schema, which no model
//! sees.

use super::render::{Sending, as_it_came, object_schema, write_head};
use crate::catalog::{Format, write_string};
use crate::profile::{Detail, Folded};

pub(super) fn render(sending: &mut Sending<'_>) -> String {
    let mut out = String::from("[");
    for sent in sending.tools() {
        if out.len() > 1 {
            out.push(',');
        }
        write_tool(&mut out, &sent.tool, sending.name(&sent.tool));
    }
    out.push(']');
    out
}

fn write_tool(out: &mut String, tool: &Folded<'_>, name: &str) {
    if let Some(text) = as_it_came(tool, name, Format::Mcp) {
        return out.push_str(text);
    }
    out.push('{');
    write_head(out, name, tool.description());
    if let Some(title) = tool.tool().title().filter(|_| tool.detail() == Detail::Full) {
        out.push_str(",\"title\":");
        write_string(out, title);
    }
    out.push_str(",\"inputSchema\":");
    out.push_str(&object_schema(tool));
    if let Some(annotations) = tool.tool().annotations() {
        out.push_str(",\"annotations\":");
        out.push_str(&serde_json::to_string(annotations).unwrap_or_else(|_| "{}".to_owned()));
    }
    out.push('}');
}
