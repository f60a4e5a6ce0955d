//! OpenAI Chat Completions: `{"type":"function","function":{"name","description","parameters"[,"strict":true]}}`.

use super::render::{Sending, as_it_came, is_strict, write_head};
use crate::catalog::Format;
use crate::profile::Folded;

pub(super) fn render(sending: &mut Sending<'_>) -> String {
    // About what a folded tool takes; a whole one grows the text a few times more.
    let mut out = String::with_capacity(sending.engine.catalog().len() * 256 + 1_024);
    out.push('[');
    for sent in sending.tools() {
        if out.len() > 1 {
            out.push(',');
        }
        write_tool(&mut out, &sent.tool, sending.name(&sent.tool));
    }
    out.push(']');
    out
}

/// A full tool that came in this shape goes out as it came.
pub(super) fn write_tool(out: &mut String, tool: &Folded<'_>, name: &str) {
    if let Some(text) = as_it_came(tool, name, Format::OpenAiChat) {
        return out.push_str(text);
    }
    out.push_str("{\"type\":\"function\",\"function\":{");
    write_head(out, name, tool.description());
    if tool.tool().declares_parameters() {
        out.push_str(",\"parameters\":");
        out.push_str(tool.parameters_text());
    }
    if is_strict(tool) {
        out.push_str(",\"strict\":true");
    }
    out.push_str("}}");
}
