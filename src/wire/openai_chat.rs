//! OpenAI Chat Completions:
//! `{"type":"function","function":{"name","description","parameters"[,"strict":true]}}`.

use super::out::OutTool;
use super::render::write_head;
use crate::catalog::Format;

/// Writes a tool. A full tool that came in this format is sent unchanged.
pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::OpenAiChat) {
        return out.push_str(text);
    }
    out.push_str("{\"type\":\"function\",\"function\":{");
    write_head(out, tool.name, tool.description());
    if tool.tool().declares_parameters() {
        out.push_str(",\"parameters\":");
        out.push_str(tool.schema());
    }
    if tool.strict {
        out.push_str(",\"strict\":true");
    }
    tool.write_keys(out, Format::OpenAiChat, false);
    out.push('}');
    tool.write_keys(out, Format::OpenAiChat, true);
    out.push('}');
}
