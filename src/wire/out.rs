//! The wire's decisions about one tool, before it is written.

use std::borrow::Cow;

use super::Wire;
use super::render::{MetaRole, RenderInput, ToolEntry};
use super::repair::{Demands, Repaired, repaired};
use crate::catalog::{Catalog, Format, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::{Delivery, Detail, Folded};

/// The key of a cache breakpoint (Anthropic).
pub(super) const BREAKPOINT: &str = "cache_control";
/// The key of a tool that the provider keeps out of the prompt (Anthropic, OpenAI Responses).
const DEFERRED: &str = "defer_loading";

/// One tool of an array.
pub(super) struct OutTool<'s> {
    pub(super) folded: Folded<'s>,
    /// The name under which it is sent.
    pub(super) name: &'s str,
    /// The meta-tool, if it is one.
    pub(super) role: Option<MetaRole>,
    /// Whether it is declared with `defer_loading`.
    pub(super) deferred: bool,
    pub(super) strict: bool,
    /// Whether it is in its original namespace.
    pub(super) in_namespace: bool,
    /// A cache breakpoint that was moved to it.
    pub(super) breakpoint: Option<&'s str>,
    /// Keys of the original tool that must not be sent.
    pub(super) dropped: Vec<&'static str>,
}

impl<'s> OutTool<'s> {
    pub(super) fn new(folded: Folded<'s>, name: &'s str) -> Self {
        Self {
            // A strict stub would forbid all arguments, so only the full schema is strict.
            strict: folded.is_strict(),
            folded,
            name,
            role: None,
            deferred: false,
            in_namespace: false,
            breakpoint: None,
            dropped: Vec::new(),
        }
    }

    /// The index in the catalog; `None` for a meta-tool.
    pub(super) fn index(&self) -> Option<usize> {
        self.folded.index
    }

    pub(super) fn tool(&self) -> &'s Tool {
        self.folded.tool()
    }

    pub(super) fn description(&self) -> &str {
        &self.folded.description
    }

    pub(super) fn schema(&self) -> &str {
        self.folded.parameters_text()
    }

    /// The tool's original text, if it is sent full, under its own name, unchanged, on its original
    /// wire.
    pub(super) fn as_it_came(&self, format: Format) -> Option<&'s str> {
        let same = self.folded.is_unchanged()
            && self.dropped.is_empty()
            && (self.tool().declares_parameters()
                || !matches!(format, Format::Anthropic | Format::Mcp | Format::BedrockConverse));
        // MCP clients get what the server wrote; an API gets a schema that it can read.
        let is_given = self.tool().is_normal() || format == Format::Mcp && !self.tool().input().differs();
        let is_sent = same && is_given;
        if is_sent { self.tool().source_as(self.name, format) } else { None }
    }

    /// The value of a key without a field, if the tool came with it in that format.
    pub(super) fn own_key(&self, format: Format, name: &str) -> Option<&'s str> {
        if self.tool().format() != Some(format) {
            return None;
        }
        for key in self.tool().keys() {
            if !key.outer && &*key.name == name {
                return Some(key.text());
            }
        }
        None
    }

    /// Drops the original keys that contradict the decisions.
    pub(super) fn settle(&mut self, format: Format) {
        if self.own_key(format, DEFERRED).is_some_and(|own| (own == "true") != self.deferred) {
            self.dropped.push(DEFERRED);
        }
        if self.breakpoint.is_some() && self.own_key(format, BREAKPOINT).is_some() {
            self.dropped.push(BREAKPOINT);
        }
    }

    /// Decisions that no original key expresses.
    pub(super) fn added(&self, format: Format) -> Vec<(&'static str, &'s str)> {
        let mut added = Vec::new();
        if self.deferred && !self.sends_key(format, DEFERRED) {
            added.push((DEFERRED, "true"));
        }
        if let Some(text) = self.breakpoint.filter(|_| !self.sends_key(format, BREAKPOINT)) {
            added.push((BREAKPOINT, text));
        }
        added
    }

    /// Whether an original key is sent.
    pub(super) fn sends_key(&self, format: Format, key: &str) -> bool {
        self.own_key(format, key).is_some() && !self.dropped.contains(&key)
    }

    /// Writes the keys without a field that the tool came with in that format. `outer`: those
    /// beside `function` (Chat Completions).
    pub(super) fn write_keys(&self, out: &mut String, format: Format, outer: bool) {
        if self.tool().format() != Some(format) {
            return;
        }
        for key in self.tool().keys() {
            if key.outer != outer || self.dropped.contains(&&*key.name) {
                continue;
            }
            out.push(',');
            write_string(out, &key.name);
            out.push(':');
            out.push_str(key.text());
        }
    }

    /// Repairs the schema for the wire, and reports it.
    pub(super) fn repair(&mut self, wire: Wire, demands: Demands, expand: Option<&str>, notes: &mut Vec<Diagnostic>) {
        let tool = self.tool();
        if !tool.declares_parameters() {
            let Some(needed) = wire.facts().required_schema else { return };
            if self.tool().source_as(self.name, wire.format()).is_some() {
                let message =
                    format!("tool `{}` is sent with an empty `{needed}`: {wire} refuses one without", self.name);
                notes.push(Diagnostic::note("repaired-schema", Place::default(), message));
            }
            return;
        }
        // Folding keeps `items`, except where it reduces an array to its bare type.
        let cut = !matches!(self.folded.detail, Detail::Full | Detail::Signature | Detail::Required | Detail::Summary);
        let bare = cut && self.folded.parameters_text().contains("\"array\"");
        if !bare && !demands.meet(tool.faults()) {
            return;
        }
        let Some(Repaired { text, added, opened, still_strict }) = repaired(self.folded.parameters_text(), demands)
        else {
            return;
        };
        let and_strict = if self.strict && !still_strict { ", and not as strict" } else { "" };
        self.strict &= still_strict;
        if !added.is_empty() && self.index().is_some() {
            let message = format!(
                "tool `{}`: the schema is sent with {}{and_strict}: {wire} refuses it without",
                self.name,
                joined_with_and(&added)
            );
            notes.push(Diagnostic::note("repaired-schema", Place::default(), message));
        }
        let mut description = None;
        if let Some(keyword) = opened {
            let message = format!(
                "tool `{}`: {wire} refuses `{keyword}` at the top of a schema; the tool is declared open and its description states this",
                self.name
            );
            notes.push(
                Diagnostic::warning("refused-at-top", Place::default(), message)
                    .help("calls are still checked against the whole schema; put the alternatives one level below, or say them in the description"),
            );
            let how = match expand.filter(|_| self.folded.detail != Detail::Full) {
                Some(expand) => format!("get them with {expand} before calling it."),
                None => "a call that does not fit is answered with them.".to_owned(),
            };
            let own = &self.folded.description;
            let gap = if own.is_empty() { "" } else { " " };
            description = Some(format!("{own}{gap}Its parameters have alternatives that are not shown here: {how}"));
        }
        self.folded.replace(text, description);
    }

    pub(super) fn entry(&self) -> ToolEntry {
        ToolEntry {
            name: self.name.to_owned(),
            description: self.description().to_owned(),
            parameters: self.schema().into(),
            strict: self.strict,
            detail: self.folded.detail,
            deferred: self.deferred,
            own: self.index().is_none(),
        }
    }
}

fn joined_with_and(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The tools of an array, before any decision.
pub(super) fn out_tools<'s>(wire: Wire, input: &RenderInput<'s>) -> Vec<OutTool<'s>> {
    let native = input.presentation.arm().delivery() == Delivery::Native;
    let in_namespace = in_namespaces(wire, input.catalog);
    let mut tools = Vec::new();
    for folded in input.presentation.array(input.catalog, input.plan) {
        let Some(index) = folded.index else { continue };
        let tool = folded.tool();
        let inside = in_namespace.get(index) == Some(&true);
        let name = match tool.namespaced().filter(|_| inside) {
            Some((_, name)) => name,
            None => input.names.sent(tool.name().as_str()),
        };
        let deferred = folded.deferred && native;
        let mut out = OutTool::new(folded, name);
        out.in_namespace = inside;
        // A tool that came deferred stays deferred.
        out.deferred = deferred || out.own_key(wire.format(), DEFERRED) == Some("true");
        tools.push(out);
    }
    for entry in input.meta {
        let whole = Folded::new(&entry.tool, Detail::Full, None);
        let mut tool = OutTool::new(whole, entry.tool.name().as_str());
        tool.role = Some(entry.role);
        tools.push(tool);
    }
    tools
}

/// Which tools are in a namespace, by index; empty if none is.
pub(super) fn in_namespaces(wire: Wire, catalog: &Catalog) -> Vec<bool> {
    let Some(layout) = catalog.layout().filter(|layout| layout.format == wire.format()) else {
        return Vec::new();
    };
    let mut inside = vec![false; catalog.len()];
    for (_, members) in layout.groups().filter(|(group, _)| group.namespace.is_some()) {
        for member in members {
            if let Some(flag) = member.tool_index().and_then(|at| inside.get_mut(at)) {
                *flag = true;
            }
        }
    }
    inside
}

/// A tool's original text with additional members at its end.
pub(super) fn with_members<'t>(text: &'t str, members: &[(&str, &str)]) -> Cow<'t, str> {
    let Some(head) = text.strip_suffix('}').filter(|_| !members.is_empty()) else { return Cow::Borrowed(text) };
    let mut out = head.to_owned();
    for (key, value) in members {
        out.push_str(if out.ends_with('{') { "\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
    Cow::Owned(out)
}
