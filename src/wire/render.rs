//! Writes a tool array: its input, its output, and what all wires share.
//!
//! A wire decides first and writes afterwards: [`OutTool`] holds every decision about one tool.
//! Both forms of an array, its text and the neutral entries, are created from the same list of
//! decisions.

use serde::{Deserialize, Serialize};

use super::carry::note_losses;
use super::limits::{RenderedFacts, ToolFacts};
use super::names::Names;
use super::out::{OutTool, in_namespaces, out_tools};
use super::parameters::renamed_parameters;
use super::{GeminiParameters, Wire};
use crate::catalog::{Catalog, Tool, write_string};
use crate::diagnostic::{Diagnostic, Place};
use crate::profile::{Bridge, Detail, Plan, Presentation};

/// The input of a tool array.
pub(crate) struct RenderInput<'e> {
    pub(crate) catalog: &'e Catalog,
    /// The forms of the tools, including the arm.
    pub(crate) presentation: &'e Presentation,
    pub(crate) plan: &'e Plan,
    /// Tool names as this wire sends them.
    pub(crate) names: &'e Names,
    /// Category names as namespaces of OpenAI Responses.
    pub(crate) namespaces: &'e Names,
    /// The meta-tools, under the names shown to the model.
    pub(crate) meta: &'e [MetaEntry],
    pub(crate) options: &'e RenderOptions,
}

/// The role of a meta-tool. Names are never compared, because a meta-tool whose name is taken is
/// sent under another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaRole {
    /// `expand_tools`.
    Expand,
    /// `call_tool`, or one of the meta-tools that are separated by effect.
    Call(Bridge),
    /// `activate_skill`.
    Skill,
}

/// A meta-tool as declared.
#[derive(Debug, Clone)]
pub(crate) struct MetaEntry {
    pub(crate) role: MetaRole,
    pub(crate) tool: Tool,
}

/// A host's options for writing an array.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RenderOptions {
    /// How a tool's parameters are sent to Gemini.
    #[serde(default)]
    pub gemini_parameters: GeminiParameters,
    /// Names that no meta-tool may get: those of the client's own meta-tools, which are not in the
    /// array.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<String>,
}

impl RenderOptions {
    /// A number that is unique for the options other than reserved names.
    pub(crate) fn cache_key(&self) -> u8 {
        match self.gemini_parameters {
            GeminiParameters::JsonSchema => 0,
            GeminiParameters::OpenApiSubset => 1,
        }
    }
}

/// A tool array as sent, and what the wire could not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The array as compact JSON.
    pub(crate) text: String,
    /// As [`RenderedFacts::entries`].
    pub(super) entries: usize,
    /// As [`RenderedFacts::namespaces`].
    pub(super) namespaces: Vec<(String, usize)>,
    /// What was changed or left out because the provider rejects it, per tool. None is an error.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A tool of an array in neutral form, for hosts that write requests themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolEntry {
    /// The name shown to the model.
    pub name: String,
    /// The description at its detail; may be empty.
    pub description: String,
    /// The schema at its detail as compact JSON text.
    pub parameters: std::sync::Arc<str>,
    /// Whether the provider must enforce the schema. Never set on a folded tool.
    pub strict: bool,
    /// The tool's detail.
    pub detail: Detail,
    /// Whether the provider keeps the tool out of the prompt until something refers to it.
    pub deferred: bool,
    /// Whether it is a meta-tool of toolfold.
    pub own: bool,
}

impl Wire {
    /// Writes the tool array as text, with what the wire could not carry.
    pub(crate) fn render_array(self, input: &RenderInput<'_>) -> Rendered {
        let mut notes = renamed(self, input);
        let tools = self.decided(input, &mut notes);
        note_losses(self, input, &tools, &mut notes);
        // The approximate size of a folded tool; a full one grows the text a few times.
        let text = String::with_capacity(input.catalog.len() * 256 + 1_024);
        let mut out = Rendered { text, entries: 0, namespaces: Vec::new(), diagnostics: Vec::new() };
        out.text.push('[');
        self.api().write_array(&mut out, input, &tools, &mut notes);
        out.text.push(']');
        out.diagnostics = notes;
        out
    }

    /// The facts about an array that limits refer to: the catalog's tools, then the other entries.
    pub(crate) fn array_facts(self, input: &RenderInput<'_>, rendered: &Rendered) -> RenderedFacts {
        let own = input.catalog.layout().is_some_and(|layout| layout.format == self.format());
        let mut tools = Vec::new();
        for tool in self.decided(input, &mut Vec::new()) {
            tools.push(ToolFacts::of(&tool, self.api().facts().strict));
        }
        if own {
            tools.extend(input.catalog.foreign().filter_map(ToolFacts::of_foreign));
        }
        RenderedFacts { entries: rendered.entries, tools, namespaces: rendered.namespaces.clone() }
    }

    /// The same tools in neutral form, in catalog order, meta-tools last.
    pub(crate) fn render_entries(self, input: &RenderInput<'_>) -> Vec<ToolEntry> {
        let tools = self.decided(input, &mut Vec::new());
        tools.iter().map(OutTool::entry).collect()
    }

    /// What is sent of each tool, in catalog order, meta-tools last.
    fn decided<'s>(self, input: &RenderInput<'s>, notes: &mut Vec<Diagnostic>) -> Vec<OutTool<'s>> {
        let mut tools = out_tools(self, input);
        let expand = input.meta.iter().find(|entry| entry.role == MetaRole::Expand).map(|entry| entry.tool.name());
        if let Some(demands) = self.api().demands(input.options) {
            for tool in &mut tools {
                tool.repair(self, demands, expand.map(AsRef::as_ref), notes);
            }
        }
        self.api().decide(input, &mut tools, notes);
        tools
    }
}

fn renamed(wire: Wire, input: &RenderInput<'_>) -> Vec<Diagnostic> {
    let note = |(name, sent): (&str, &str)| {
        let message = format!("tool `{name}` is sent as `{sent}`: {wire} does not accept the name");
        Diagnostic::note("renamed-tool", Place::default(), message)
    };
    let inside = in_namespaces(wire, input.catalog);
    // In its namespace a tool is sent under its name there.
    let is_inside = |name: &str| input.catalog.position(name).is_some_and(|at| inside.get(at) == Some(&true));
    let tools = input.names.iter().filter(|(name, _)| !is_inside(name)).map(note);
    tools.chain(input.catalog.iter().filter_map(|tool| renamed_parameters(tool, wire))).collect()
}

/// Appends a comma unless the list has just begun.
pub(super) fn comma(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}

/// Writes `"name":…,"description":…`, without the description if it is empty.
pub(super) fn write_head(out: &mut String, name: &str, description: &str) {
    out.push_str("\"name\":");
    write_string(out, name);
    if !description.is_empty() {
        out.push_str(",\"description\":");
        write_string(out, description);
    }
}
