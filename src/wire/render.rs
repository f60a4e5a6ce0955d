//! What all wires share when they write a tool array.

use std::borrow::Cow;

use serde_json::Value;

use super::names::Names;
use super::{Wire, anthropic, gemini, mcp, openai_chat, openai_responses};
use crate::catalog::{Format, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::engine::Engine;
use crate::profile::{Arm, Detail, Expanded, Folded, Plan, PlannedTool};

/// A tool array as it is sent, and what the wire could not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The array as compact JSON.
    pub text: String,
    /// What was changed or left out because the provider refuses it, tool by tool. No errors among it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Wire {
    /// As [`Wire::render`], with what the wire could not carry.
    #[must_use]
    pub fn rendered(self, engine: &Engine, arm: Arm, plan: &Plan) -> Rendered {
        let mut sending = Sending::new(self, engine, arm, plan);
        let text = match self {
            Self::OpenAiChat => openai_chat::render(&mut sending),
            Self::OpenAiResponses => openai_responses::render(&mut sending),
            Self::Anthropic => anthropic::render(&mut sending),
            Self::Gemini => gemini::render(&mut sending),
            Self::Mcp => mcp::render(&mut sending),
        };
        Rendered { text, diagnostics: sending.notes }
    }

    /// What the wire cannot carry of an arm's first array.
    #[must_use]
    pub fn diagnostics(self, engine: &Engine, arm: Arm) -> Vec<Diagnostic> {
        let presentation = engine.presentation(arm);
        let plan = presentation.plan(engine.catalog(), engine.assignment(), &Expanded::default());
        self.rendered(engine, arm, &plan).diagnostics
    }
}

/// One tool in Chat Completions' shape, as compact JSON: the form that OpenAI's bill is reckoned from.
#[must_use]
pub fn chat_tool(tool: &Folded<'_>) -> String {
    let mut out = String::new();
    openai_chat::write_tool(&mut out, tool, tool.tool().name().as_str());
    out
}

/// An array on its way out.
pub(super) struct Sending<'e> {
    pub(super) engine: &'e Engine,
    pub(super) arm: Arm,
    pub(super) plan: &'e Plan,
    pub(super) names: Names,
    /// The meta-tools with the names that the model sees, where some differ.
    meta: Vec<Tool>,
    pub(super) notes: Vec<Diagnostic>,
}

impl<'e> Sending<'e> {
    fn new(wire: Wire, engine: &'e Engine, arm: Arm, plan: &'e Plan) -> Self {
        let names = Names::of(wire, engine);
        let renamed = |(name, sent): (&str, &str)| {
            let message = format!("tool `{name}` is sent as `{sent}`: {wire} has no room for its name");
            Diagnostic::note("renamed-tool", Place::default(), message)
        };
        let notes = names.iter().map(renamed).collect();
        let meta = if names.is_empty() {
            Vec::new()
        } else {
            engine.presentation(arm).meta_tools_as(engine.catalog(), |name| names.sent(name).to_owned())
        };
        Self { engine, arm, plan, names, meta, notes }
    }

    /// The tools as they are sent, in catalogue order, meta-tools last.
    pub(super) fn tools(&self) -> Vec<PlannedTool<'_>> {
        let array = self.engine.presentation(self.arm).array(self.engine.catalog(), self.plan);
        let own = array.filter(|sent| sent.index.is_some() || self.names.is_empty());
        let whole = |tool| PlannedTool { tool: Folded::new(tool, Detail::Full, None), deferred: false, index: None };
        own.chain(self.meta.iter().map(whole)).collect()
    }

    /// The name under which a tool is sent.
    pub(super) fn name<'n>(&'n self, tool: &'n Folded<'_>) -> &'n str {
        self.names.sent(tool.tool().name().as_str())
    }

    pub(super) fn note(&mut self, code: &'static str, message: String, help: &str) {
        self.notes.push(Diagnostic::warning(code, Place::default(), message).help(help));
    }
}

/// The text of a tool that is sent whole, under its own name, on the wire it came from.
pub(super) fn as_it_came<'t>(tool: &Folded<'t>, name: &str, format: Format) -> Option<&'t str> {
    let same = tool.detail() == Detail::Full && *tool.tool().name() == name;
    tool.tool().source(format).filter(|_| same)
}

/// Whether a tool is sent whole and asked for OpenAI's or Anthropic's `strict`.
pub(super) fn is_strict(tool: &Folded<'_>) -> bool {
    // An empty strict schema would strip the arguments, so only the whole one is strict.
    tool.detail() == Detail::Full && tool.tool().strict() == Some(true)
}

/// Writes `"name":…,"description":…`, without the latter if there is none.
pub(super) fn write_head(out: &mut String, name: &str, description: &str) {
    out.push_str("\"name\":");
    write_string(out, name);
    if !description.is_empty() {
        out.push_str(",\"description\":");
        write_string(out, description);
    }
}

/// The schema's text. Responses, Anthropic and MCP ask for an object's, so one without a type is given it. (Chat Completions'
/// many servers take any schema, and theirs is the text that bills and tests are reckoned from: there it stays.)
pub(super) fn object_schema<'t>(tool: &'t Folded<'_>) -> Cow<'t, str> {
    let text = tool.parameters_text();
    if text.starts_with("{\"type\":") {
        return Cow::Borrowed(text);
    }
    match (tool.parameters().as_object().map(|map| map.contains_key("type")), text.strip_prefix('{')) {
        (Some(false), Some("}")) => Cow::Borrowed("{\"type\":\"object\",\"properties\":{}}"),
        (Some(false), Some(rest)) => Cow::Owned(format!("{{\"type\":\"object\",{rest}")),
        _ => Cow::Borrowed(text),
    }
}

/// A tool's own text with one more member at its end.
pub(super) fn with_member(text: &str, key: &str, value: &str) -> String {
    match text.strip_suffix('}') {
        Some("{") => format!("{{\"{key}\":{value}}}"),
        Some(head) => format!("{head},\"{key}\":{value}}}"),
        None => text.to_owned(),
    }
}

/// The value of a key that no format names, if the tool came with it.
pub(super) fn extra<'t>(tool: &'t Tool, key: &str) -> Option<&'t str> {
    tool.extra().find(|(own, _)| *own == key).map(|(_, value)| value)
}

/// A value for a JSON document that is made of values.
pub(super) fn parsed(text: &str) -> Value {
    // The text is our own or was read as JSON before, so that it parses.
    serde_json::from_str(text).unwrap_or_default()
}
