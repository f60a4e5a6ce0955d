//! OpenAI Chat Completions: `{"type":"function","function":{"name","description","parameters"[,"strict":true]}}`.

use crate::catalog::{Format, write_string};
use crate::engine::Engine;
use crate::profile::{Arm, Detail, Folded, Plan};

pub(super) fn render(engine: &Engine, arm: Arm, plan: &Plan) -> String {
    // About what a folded tool takes; a whole one grows the text a few times more.
    let mut out = String::with_capacity(engine.catalog().len() * 256 + 1_024);
    out.push('[');
    for sent in engine.presentation(arm).array(engine.catalog(), plan) {
        if out.len() > 1 {
            out.push(',');
        }
        write_tool(&mut out, &sent.tool);
    }
    out.push(']');
    out
}

/// A full tool that came in this shape goes out as it came.
pub(super) fn write_tool(out: &mut String, tool: &Folded<'_>) {
    let full = tool.detail() == Detail::Full;
    if let Some(text) = tool.tool().source(Format::OpenAiChat).filter(|_| full) {
        return out.push_str(text);
    }
    out.push_str("{\"type\":\"function\",\"function\":{\"name\":");
    write_string(out, tool.tool().name().as_str());
    if !tool.description().is_empty() {
        out.push_str(",\"description\":");
        write_string(out, tool.description());
    }
    if tool.tool().declares_parameters() {
        out.push_str(",\"parameters\":");
        out.push_str(tool.parameters_text());
    }
    // An empty strict schema would strip the arguments, so only the whole one is strict.
    if full && tool.tool().strict() == Some(true) {
        out.push_str(",\"strict\":true");
    }
    out.push_str("}}");
}
