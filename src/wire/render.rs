//! Writing a tool array: what goes in, what comes out, and what all wires share.
//!
//! A wire decides first and writes afterwards: [`OutTool`] holds every decision about one tool, and both forms of an array,
//! its text and the neutral entries, are made from the same list of them.

use std::borrow::Cow;

use crate::catalog::{Catalog, Format, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::{Arm, Detail, Folded, Plan, Presentation, Sent};

use super::names::Names;
use super::{GeminiParameters, Wire, anthropic, gemini, mcp, openai_chat, openai_responses};

/// What a tool array is made from.
pub(crate) struct RenderInput<'e> {
    pub(crate) catalog: &'e Catalog,
    /// The forms of the tools. It knows the arm.
    pub(crate) presentation: &'e Presentation,
    pub(crate) plan: &'e Plan,
    /// Tool names as this wire sends them.
    pub(crate) names: &'e Names,
    /// Category names as namespaces of OpenAI Responses.
    pub(crate) namespaces: &'e Names,
    /// The meta-tools, under the names that the model sees.
    pub(crate) meta: &'e [MetaEntry],
    pub(crate) options: &'e RenderOptions,
}

/// Which meta-tool it is. Names are never compared: a meta-tool whose name is taken is sent under another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaRole {
    /// `expand_tools`.
    Expand,
    /// `call_tool`.
    Call,
    /// `activate_skill`.
    Skill,
}

/// A meta-tool as it is declared.
#[derive(Debug, Clone)]
pub(crate) struct MetaEntry {
    pub(crate) role: MetaRole,
    pub(crate) tool: Tool,
}

/// Choices that a host has in how a wire writes an array.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// How Gemini is told a tool's parameters.
    pub gemini_parameters: GeminiParameters,
}

/// A tool array as it is sent, and what the wire could not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The array as compact JSON.
    pub text: String,
    /// What was changed or left out because the provider refuses it, tool by tool. No errors among it.
    pub diagnostics: Vec<Diagnostic>,
}

/// One tool of an array in neutral form, for hosts that write requests themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    /// The name under which the model sees it.
    pub name: String,
    /// The description at its detail; empty if there is none.
    pub description: String,
    /// The schema at its detail as compact JSON text.
    pub parameters: String,
    /// Whether the provider is asked to hold the model to the schema. Never on a folded tool.
    pub strict: bool,
    /// How much of the tool it is.
    pub detail: Detail,
    /// Whether the provider keeps it out of the prompt until it is referred to.
    pub deferred: bool,
    /// Whether it is one of toolfold's meta-tools.
    pub own: bool,
}

impl Wire {
    /// The tool array as text, with what the wire could not carry.
    pub(crate) fn render_array(self, input: &RenderInput<'_>) -> Rendered {
        let mut notes = renamed(self, input);
        let tools = self.decided(input, &mut notes);
        let text = match self {
            Self::OpenAiChat => array(input, &tools, |out, tool| openai_chat::write_tool(out, tool)),
            Self::OpenAiResponses => openai_responses::render(input, &tools),
            Self::Anthropic => array(input, &tools, |out, tool| anthropic::write_tool(out, tool)),
            Self::Gemini => gemini::render(input, &tools, &mut notes),
            Self::Mcp => array(input, &tools, |out, tool| mcp::write_tool(out, tool)),
        };
        Rendered { text, diagnostics: notes }
    }

    /// The same tools in neutral form and the same order.
    pub(crate) fn render_entries(self, input: &RenderInput<'_>) -> Vec<ToolEntry> {
        let tools = self.decided(input, &mut Vec::new());
        tools.iter().map(OutTool::entry).collect()
    }

    /// What is sent of each tool, in catalogue order, meta-tools last.
    fn decided<'s>(self, input: &'s RenderInput<'_>, notes: &mut Vec<Diagnostic>) -> Vec<OutTool<'s>> {
        let mut tools = out_tools(input);
        match self {
            Self::OpenAiChat => {}
            Self::Gemini => gemini::decide(input, &mut tools),
            Self::OpenAiResponses => openai_responses::decide(input, &mut tools),
            Self::Anthropic => anthropic::decide(input, &mut tools, notes),
            Self::Mcp => mcp::decide(&mut tools),
        }
        tools
    }
}

/// One tool in Chat Completions' shape, as compact JSON: the form that OpenAI's bill is reckoned from.
#[must_use]
pub fn chat_tool(tool: &Folded<'_>) -> String {
    let mut out = String::new();
    openai_chat::write_tool(&mut out, &OutTool::new(tool.clone(), tool.tool().name().as_str(), None));
    out
}

/// One tool on its way out: what its wire decided about it, before it is written.
pub(super) struct OutTool<'s> {
    pub(super) folded: Folded<'s>,
    /// The name under which it is sent.
    pub(super) name: &'s str,
    /// The place in the catalogue; nothing for a meta-tool.
    pub(super) index: Option<usize>,
    /// Which meta-tool it is, if it is one.
    pub(super) role: Option<MetaRole>,
    /// Whether it is declared with `defer_loading`.
    pub(super) deferred: bool,
    pub(super) strict: bool,
    /// The schema's text where the wire has to change it.
    pub(super) schema: Option<String>,
    /// Keys that the tool came with and that may not go out.
    pub(super) dropped: Vec<&'static str>,
}

impl<'s> OutTool<'s> {
    pub(super) fn new(folded: Folded<'s>, name: &'s str, index: Option<usize>) -> Self {
        // An empty strict schema would strip the arguments, so only the whole one is strict.
        let strict = folded.detail() == Detail::Full && folded.tool().strict() == Some(true);
        Self { folded, name, index, role: None, deferred: false, strict, schema: None, dropped: Vec::new() }
    }

    pub(super) fn tool(&self) -> &'s Tool {
        self.folded.tool()
    }

    pub(super) fn description(&self) -> &str {
        self.folded.description()
    }

    pub(super) fn schema(&self) -> &str {
        self.schema.as_deref().unwrap_or_else(|| self.folded.parameters_text())
    }

    /// The tool's whole text, where it is sent whole, under its own name, unchanged, on the wire it came from.
    pub(super) fn as_it_came(&self, format: Format) -> Option<&'s str> {
        let same = self.folded.detail() == Detail::Full
            && *self.tool().name() == self.name
            && self.dropped.is_empty()
            && self.schema.is_none();
        self.tool().source(format).filter(|_| same)
    }

    /// The value of a key that no format names, if the tool came with it.
    pub(super) fn extra(&self, key: &str) -> Option<&'s str> {
        self.tool().extra().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    fn entry(&self) -> ToolEntry {
        ToolEntry {
            name: self.name.to_owned(),
            description: self.description().to_owned(),
            parameters: self.schema().to_owned(),
            strict: self.strict,
            detail: self.folded.detail(),
            deferred: self.deferred,
            own: self.index.is_none(),
        }
    }
}

fn out_tools<'s>(input: &'s RenderInput<'_>) -> Vec<OutTool<'s>> {
    let native = input.presentation.arm() == Arm::Native;
    let array = input.presentation.array(input.catalog, input.plan);
    let own = array.filter(|sent| sent.index.is_some()).map(|sent: Sent<'s>| {
        let name = input.names.sent(sent.tool.tool().name().as_str());
        let mut tool = OutTool::new(sent.tool, name, sent.index);
        tool.deferred = sent.deferred && native;
        tool
    });
    let meta = input.meta.iter().map(|entry| {
        let mut tool = OutTool::new(Folded::new(&entry.tool, Detail::Full, None), entry.tool.name().as_str(), None);
        tool.role = Some(entry.role);
        tool
    });
    own.chain(meta).collect()
}

fn renamed(wire: Wire, input: &RenderInput<'_>) -> Vec<Diagnostic> {
    let note = |(name, sent): (&str, &str)| {
        let message = format!("tool `{name}` is sent as `{sent}`: {wire} has no room for its name");
        Diagnostic::note("renamed-tool", Place::default(), message)
    };
    input.names.iter().map(note).collect()
}

/// An array of tools, each as `write` writes it.
fn array(input: &RenderInput<'_>, tools: &[OutTool<'_>], write: impl Fn(&mut String, &OutTool<'_>)) -> String {
    // About what a folded tool takes; a whole one grows the text a few times more.
    let mut out = String::with_capacity(input.catalog.len() * 256 + 1_024);
    out.push('[');
    for tool in tools {
        comma(&mut out);
        write(&mut out, tool);
    }
    out.push(']');
    out
}

/// A comma, unless the list has just begun.
pub(super) fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
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

/// A schema for wires that ask for an object's: one without a type is given it.
pub(super) fn object_schema(folded: &Folded<'_>) -> Option<String> {
    let text = folded.parameters_text();
    if text.starts_with("{\"type\":") {
        return None;
    }
    let untyped = folded.parameters().as_object().is_some_and(|map| !map.contains_key("type"));
    let rest = text.strip_prefix('{').filter(|_| untyped)?;
    Some(if rest == "}" {
        "{\"type\":\"object\",\"properties\":{}}".to_owned()
    } else {
        format!("{{\"type\":\"object\",{rest}")
    })
}

/// A tool's own text with one more member at its end.
pub(super) fn with_member<'t>(text: &'t str, key: &str, value: &str) -> Cow<'t, str> {
    match text.strip_suffix('}') {
        Some("{") => Cow::Owned(format!("{{\"{key}\":{value}}}")),
        Some(head) => Cow::Owned(format!("{head},\"{key}\":{value}}}")),
        None => Cow::Borrowed(text),
    }
}
