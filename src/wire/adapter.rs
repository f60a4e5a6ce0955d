//! Today's way from an engine to a tool array: thin adapters over [`Wire::render_array`].
//!
//! Rendering itself knows no engine. These adapters go when a conversation holds names and arm.

use super::names::Names;
use super::render::{MetaEntry, MetaRole, RenderInput, RenderOptions, Rendered, ToolEntry};
use super::{Wire, openai_responses};
use crate::diagnostic::Diagnostic;
use crate::engine::Engine;
use crate::name::ToolName;
use crate::profile::{Arm, CALL_TOOL, EXPAND_TOOLS, Expanded, Plan};

impl Wire {
    /// The tool array of a plan under an arm as compact JSON. [`Wire::rendered`] says what it could not carry.
    ///
    /// It is what the request's `tools` holds: for Gemini entries with functions,
    /// `[{"functionDeclarations":[…]}]`; for MCP the `tools` of a `tools/list` result. A tool that is sent whole and came in
    /// the wire's own shape goes out as it came. [`Arm::Native`] on a wire that cannot defer sends every tool whole.
    #[must_use]
    pub fn render(self, engine: &Engine, arm: Arm, plan: &Plan) -> String {
        self.rendered(engine, arm, plan).text
    }

    /// As [`Wire::render`], with what the wire could not carry.
    #[must_use]
    pub fn rendered(self, engine: &Engine, arm: Arm, plan: &Plan) -> Rendered {
        self.rendered_with(engine, arm, plan, &RenderOptions::default())
    }

    /// As [`Wire::rendered`], with the host's choices.
    #[must_use]
    pub fn rendered_with(self, engine: &Engine, arm: Arm, plan: &Plan, options: &RenderOptions) -> Rendered {
        with_input(self, engine, arm, plan, |input| self.render_array(&RenderInput { options, ..*input }))
    }

    /// The tools of the same array in neutral form.
    #[must_use]
    pub fn entries(self, engine: &Engine, arm: Arm, plan: &Plan) -> Vec<ToolEntry> {
        with_input(self, engine, arm, plan, |input| self.render_entries(input))
    }

    /// What the wire cannot carry of an arm's first array.
    #[must_use]
    pub fn diagnostics(self, engine: &Engine, arm: Arm) -> Vec<Diagnostic> {
        let presentation = engine.presentation(arm);
        let plan = presentation.plan(engine.catalog(), engine.assignment(), &Expanded::default());
        self.rendered(engine, arm, &plan).diagnostics
    }
}

fn with_input<T>(wire: Wire, engine: &Engine, arm: Arm, plan: &Plan, then: impl FnOnce(&RenderInput<'_>) -> T) -> T {
    let (names, namespaces) = (Names::of(wire, engine), Names::namespaces(engine));
    let presentation = engine.presentation(arm);
    let role = |name: &str| match name {
        EXPAND_TOOLS => MetaRole::Expand,
        CALL_TOOL => MetaRole::Call,
        _ => MetaRole::Skill,
    };
    let declared = presentation.meta_tools_as(engine.catalog(), |name| names.sent(name).to_owned());
    let skill = presentation.meta_tools().filter(|tool| role(tool.name().as_str()) == MetaRole::Skill).cloned();
    let meta: Vec<MetaEntry> =
        declared.into_iter().chain(skill).map(|tool| MetaEntry { role: role(tool.name().as_str()), tool }).collect();
    let options = RenderOptions::default();
    let catalog = engine.catalog();
    then(&RenderInput {
        catalog,
        presentation,
        plan,
        names: &names,
        namespaces: &namespaces,
        meta: &meta,
        options: &options,
    })
}

/// The answer to a `tool_search_call` on OpenAI Responses.
pub(super) fn search_output(engine: &Engine, id: &str, mentioned: &[ToolName]) -> serde_json::Value {
    let (names, namespaces) = (Names::of(Wire::OpenAiResponses, engine), Names::namespaces(engine));
    let presentation = engine.presentation(Arm::Native);
    openai_responses::search_output(engine.catalog(), presentation, &names, &namespaces, id, mentioned)
}
