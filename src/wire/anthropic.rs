//! Anthropic Messages: `{"name","description","input_schema"[,"defer_loading":true]}`.
//!
//! Native: every tool is declared, the extended ones deferred, and `expand_tools` is a normal client tool that is never
//! deferred, so that never all are. The API refuses `cache_control` on a deferred tool and more than twenty strict ones:
//! what it would refuse is taken off and noted. Source: `design/wires.md`.

use super::render::{Sending, as_it_came, extra, is_strict, object_schema, with_member, write_head};
use crate::catalog::{Format, write_string};
use crate::profile::{Arm, Detail, Folded, PlannedTool};

/// The most tools that may be strict. Source: `design/wires.md`, "Anthropic Messages".
const MAX_STRICT: usize = 20;

/// What the API refuses at the top of an input schema. Source: its own error text, "input_schema does not support oneOf,
/// allOf, or anyOf at the top level".
const REFUSED_AT_TOP: [&str; 3] = ["oneOf", "allOf", "anyOf"];

pub(super) fn render(sending: &mut Sending<'_>) -> String {
    let mut out = String::from("[");
    let (mut notes, mut strict) = (Vec::new(), 0);
    let tools = sending.tools();
    let is_deferred = |sent: &PlannedTool<'_>| sent.deferred && sending.arm == Arm::Native || defers_itself(&sent.tool);
    let every = !tools.is_empty() && tools.iter().all(is_deferred);
    for (at, sent) in tools.iter().enumerate() {
        let (tool, name) = (&sent.tool, sending.name(&sent.tool));
        if out.len() > 1 {
            out.push(',');
        }
        let own = tool.tool().source(Format::Anthropic).is_some() && tool.detail() == Detail::Full;
        let deferred = is_deferred(sent) && !(every && at == 0);
        let mut dropped: Vec<&str> = Vec::new();
        if every && at == 0 {
            dropped.push("defer_loading");
            let message = format!("tool `{name}` is not deferred: every tool would be");
            notes.push(("all-deferred", message, "Anthropic refuses a request whose tools are all deferred"));
        }
        if deferred && own && extra(tool.tool(), "cache_control").is_some() {
            dropped.push("cache_control");
            let message = format!("tool `{name}` is deferred, so that its `cache_control` is left out");
            notes.push(("deferred-cache", message, "put the breakpoint on a core tool or behind the tools"));
        }
        strict += usize::from(is_strict(tool));
        if is_strict(tool) && strict > MAX_STRICT {
            dropped.push("strict");
            let message = format!("tool `{name}` is not sent as strict: it would be number {strict}");
            notes.push(("too-many-strict", message, "Anthropic takes at most 20 strict tools: the first 20 stay"));
        }
        for key in REFUSED_AT_TOP.iter().filter(|key| tool.tool().parameters().get(**key).is_some()) {
            if tool.parameters().get(*key).is_some() {
                let message = format!("tool `{name}` has `{key}` at the top of its schema, which Anthropic refuses");
                notes.push(("refused-at-top", message, "say it in the description, or one level below"));
            }
        }
        write_tool(&mut out, tool, name, deferred, &dropped);
    }
    out.push(']');
    drop(tools);
    for (code, message, help) in notes {
        sending.note(code, message, help);
    }
    out
}

/// Whether a tool came with `defer_loading` and is sent as it came.
fn defers_itself(tool: &Folded<'_>) -> bool {
    let own = tool.tool().source(Format::Anthropic).is_some() && tool.detail() == Detail::Full;
    own && extra(tool.tool(), "defer_loading") == Some("true")
}

fn write_tool(out: &mut String, tool: &Folded<'_>, name: &str, deferred: bool, dropped: &[&str]) {
    let own_deferral = extra(tool.tool(), "defer_loading");
    if let Some(text) = as_it_came(tool, name, Format::Anthropic).filter(|_| dropped.is_empty()) {
        match (deferred, own_deferral) {
            (false, _) | (true, Some("true")) => return out.push_str(text),
            (true, None) => return out.push_str(&with_member(text, "defer_loading", "true")),
            // It says otherwise itself: written anew below.
            (true, Some(_)) => {}
        }
    }
    out.push('{');
    write_head(out, name, tool.description());
    out.push_str(",\"input_schema\":");
    out.push_str(&object_schema(tool));
    if tool.tool().source(Format::Anthropic).is_some() && tool.detail() == Detail::Full {
        for (key, value) in tool.tool().extra().filter(|(key, _)| *key != "defer_loading" && !dropped.contains(key)) {
            out.push(',');
            write_string(out, key);
            out.push(':');
            out.push_str(value);
        }
    }
    if is_strict(tool) && !dropped.contains(&"strict") {
        out.push_str(",\"strict\":true");
    }
    if deferred {
        out.push_str(",\"defer_loading\":true");
    }
    out.push('}');
}
