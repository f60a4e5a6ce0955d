//! Anthropic Messages: `{"name","description","input_schema"[,"defer_loading":true]}`.
//!
//! Native: every tool is declared, the extended ones deferred, and `expand_tools` is a normal client tool that is never
//! deferred, so that never all are. The API refuses `cache_control` on a deferred tool and more than twenty strict ones:
//! what it would refuse is taken off and noted. See `docs/wires.md`.

use super::render::{OutTool, RenderInput, object_schema, with_member, write_head};
use crate::catalog::{Format, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::Detail;

/// The most tools that may be strict. Source: Anthropic's reference on strict tool use.
const MAX_STRICT: usize = 20;

/// What the API refuses at the top of an input schema. Source: its own error text, "input_schema does not support oneOf,
/// allOf, or anyOf at the top level".
const REFUSED_AT_TOP: [&str; 3] = ["oneOf", "allOf", "anyOf"];

pub(super) fn decide(_: &RenderInput<'_>, tools: &mut [OutTool<'_>], notes: &mut Vec<Diagnostic>) {
    let mut note = |code, message: String, help: &str| {
        notes.push(Diagnostic::warning(code, Place::default(), message).help(help));
    };
    for tool in tools.iter_mut() {
        tool.deferred |= defers_itself(tool);
    }
    let every = !tools.is_empty() && tools.iter().all(|tool| tool.deferred);
    let mut strict = 0;
    for (at, tool) in tools.iter_mut().enumerate() {
        let name = tool.name;
        if every && at == 0 {
            tool.deferred = false;
            tool.dropped.push("defer_loading");
            let message = format!("tool `{name}` is not deferred: every tool would be");
            note("all-deferred", message, "Anthropic refuses a request whose tools are all deferred");
        }
        if tool.deferred && own(tool) && tool.extra("cache_control").is_some() {
            tool.dropped.push("cache_control");
            let message = format!("tool `{name}` is deferred, so that its `cache_control` is left out");
            note("deferred-cache", message, "put the breakpoint on a core tool or behind the tools");
        }
        strict += usize::from(tool.strict);
        if tool.strict && strict > MAX_STRICT {
            tool.strict = false;
            tool.dropped.push("strict");
            let message = format!("tool `{name}` is not sent as strict: it would be number {strict}");
            note("too-many-strict", message, "Anthropic takes at most 20 strict tools: the first 20 stay");
        }
        for key in REFUSED_AT_TOP.iter().filter(|key| tool.tool().parameters().get(**key).is_some()) {
            if tool.folded.parameters().get(*key).is_some() {
                let message = format!("tool `{name}` has `{key}` at the top of its schema, which Anthropic refuses");
                note("refused-at-top", message, "say it in the description, or one level below");
            }
        }
        if tool.as_it_came(Format::Anthropic).is_none() {
            tool.schema = object_schema(&tool.folded);
        }
    }
}

/// Whether a tool came in this shape and is sent whole.
fn own(tool: &OutTool<'_>) -> bool {
    tool.tool().source(Format::Anthropic).is_some() && tool.folded.detail() == Detail::Full
}

/// Whether a tool came with `defer_loading` and is sent as it came.
fn defers_itself(tool: &OutTool<'_>) -> bool {
    own(tool) && tool.extra("defer_loading") == Some("true")
}

pub(super) fn write_tool(out: &mut String, tool: &OutTool<'_>) {
    if let Some(text) = tool.as_it_came(Format::Anthropic) {
        match (tool.deferred, tool.extra("defer_loading")) {
            (false, _) | (true, Some("true")) => return out.push_str(text),
            (true, None) => return out.push_str(&with_member(text, "defer_loading", "true")),
            // It says otherwise itself: written anew below.
            (true, Some(_)) => {}
        }
    }
    out.push('{');
    write_head(out, tool.name, tool.description());
    out.push_str(",\"input_schema\":");
    out.push_str(tool.schema());
    if own(tool) {
        for (key, value) in
            tool.tool().extra().filter(|(key, _)| *key != "defer_loading" && !tool.dropped.contains(key))
        {
            out.push(',');
            write_string(out, key);
            out.push(':');
            out.push_str(value);
        }
    }
    if tool.strict {
        out.push_str(",\"strict\":true");
    }
    if tool.deferred {
        out.push_str(",\"defer_loading\":true");
    }
    out.push('}');
}
