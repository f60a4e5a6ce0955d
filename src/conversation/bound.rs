//! An engine bound to a wire and an arm: names, meta-tools and the first array, created once for
//! all conversations.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::catalog::Tool;
use crate::diagnostic::Diagnostic;
use crate::engine::{ACTIVATE_SKILL, Engine};
use crate::profile::{Arm, Expanded, Plan, Presentation};
use crate::wire::{
    Arguments, Capabilities, Limits, MetaEntry, MetaRole, NameRule, NameTable, NoFreeName, RenderInput, RenderOptions,
    Rendered, RenderedFacts, ToolEntry, Wire, with_accepted_parameters,
};
use toolfold_diagnostic::sha256_hex;

/// A rendered tool array and its digest.
#[derive(Debug)]
pub(super) struct ToolArray {
    rendered: Rendered,
    digest: OnceLock<String>,
}

impl ToolArray {
    /// The array as compact JSON.
    pub(super) fn text(&self) -> &str {
        &self.rendered.text
    }

    /// What the wire could not represent.
    pub(super) fn diagnostics(&self) -> &[Diagnostic] {
        &self.rendered.diagnostics
    }

    /// The SHA-256 of the text in lower-case hexadecimal digits, computed on first use.
    pub(super) fn digest(&self) -> &str {
        self.digest.get_or_init(|| sha256_hex(self.text().as_bytes()))
    }
}

/// Everything that an engine, a wire and an arm determine for all their conversations.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) wire: Wire,
    /// The forms that each tool can take with this arm.
    pub(super) presentation: Arc<Presentation>,
    pub(super) names: Arc<NameTable>,
    meta: Vec<MetaEntry>,
    options: RenderOptions,
    /// The array of a conversation that has opened nothing, rendered once for all conversations.
    first: OnceLock<Arc<ToolArray>>,
    /// The facts about that array.
    first_facts: OnceLock<RenderedFacts>,
}

impl Bound {
    /// Returns the binding shared by all conversations with the same parameters. A custom name rule
    /// or reserved names get a separate binding.
    pub(super) fn for_engine(
        engine: &Engine,
        wire: Wire,
        arm: Arm,
        options: &RenderOptions,
        rule: &NameRule,
    ) -> Result<Arc<Self>, NoFreeName> {
        if *rule != Capabilities::builtin().limits(wire, None).name || !options.reserved.is_empty() {
            let names = Arc::new(table(engine, wire, rule, &options.reserved)?);
            return Ok(Arc::new(Self::new(engine, wire, arm, names, options.clone())));
        }
        let names = engine.memo(wire as u64, Arm::Full, || table(engine, wire, rule, &[]).map(Arc::new));
        let names = names.as_ref().clone()?;
        let key = (wire as u64) | u64::from(options.cache_key()) << 8;
        Ok(engine.memo(key, arm, || Self::new(engine, wire, arm, names, options.clone())))
    }

    fn new(engine: &Engine, wire: Wire, arm: Arm, names: Arc<NameTable>, options: RenderOptions) -> Self {
        let presentation = engine.presentation(arm);
        let mut meta = Vec::new();
        for tool in presentation.meta_tools_as(engine.catalog(), &*names) {
            meta.push(MetaEntry { role: names.role_of(tool.name().as_str()), tool });
        }
        if let Some((tool, _)) = engine.skills().and_then(crate::engine::SkillLayer::declared)
            && let Some(tool) = renamed(tool, names.meta(MetaRole::Skill))
        {
            meta.push(MetaEntry { role: MetaRole::Skill, tool });
        }
        Self { wire, presentation, names, meta, options, first: OnceLock::new(), first_facts: OnceLock::new() }
    }

    /// The parameters of a meta-tool as declared; `None` if it is not.
    pub(super) fn meta_parameters(&self, role: MetaRole) -> Option<&Value> {
        self.meta.iter().find(|entry| entry.role == role).map(|entry| entry.tool.parameters())
    }

    /// The array of a conversation that has opened nothing.
    pub(super) fn first_array(&self, engine: &Engine) -> Arc<ToolArray> {
        self.first.get_or_init(|| Arc::new(self.render(engine, &self.first_plan(engine)))).clone()
    }

    /// The facts about the first array that limits refer to.
    pub(super) fn first_facts(&self, engine: &Engine) -> &RenderedFacts {
        self.first_facts.get_or_init(|| self.facts(engine, &self.first_plan(engine), &self.first_array(engine)))
    }

    /// The plan of a conversation that has opened nothing.
    pub(super) fn first_plan(&self, engine: &Engine) -> Plan {
        self.presentation.plan(engine.catalog(), engine.assignment(), &Expanded::default())
    }

    /// The array of a plan.
    pub(super) fn render(&self, engine: &Engine, plan: &Plan) -> ToolArray {
        ToolArray { rendered: self.wire.render_array(&self.input(engine, plan)), digest: OnceLock::new() }
    }

    /// The facts about a plan's array that limits refer to.
    pub(super) fn facts(&self, engine: &Engine, plan: &Plan, array: &ToolArray) -> RenderedFacts {
        self.wire.array_facts(&self.input(engine, plan), &array.rendered)
    }

    /// The tools of a plan's array in neutral form.
    pub(super) fn tool_entries(&self, engine: &Engine, plan: &Plan) -> Vec<ToolEntry> {
        self.wire.render_entries(&self.input(engine, plan))
    }

    /// Converts a call's arguments to the tool's schema as the model sees it: parses values that
    /// the model was asked to write as text.
    pub(super) fn read_back(&self, tool: &Tool, arguments: Arguments) -> Arguments {
        let value = arguments.value().ok();
        match value.and_then(|value| self.wire.restored(&self.options, tool.parameters(), value)) {
            Some(restored) => Arguments::from(restored),
            None => arguments,
        }
    }

    fn input<'e>(&'e self, engine: &'e Engine, plan: &'e Plan) -> RenderInput<'e> {
        RenderInput {
            catalog: engine.catalog(),
            presentation: &self.presentation,
            plan,
            names: &self.names.tools,
            namespaces: &self.names.namespaces,
            meta: &self.meta,
            options: &self.options,
        }
    }
}

/// The engine with names of parameters that the provider accepts.
pub(super) fn with_accepted_names(engine: &Engine, wire: Wire, limits: &Limits) -> Engine {
    let Some(limit) = &limits.property_key else { return engine.clone() };
    let rule = &limit.value;
    let is_known = Capabilities::builtin().limits(wire, None).property_key.is_some_and(|known| known.value == *rule);
    let found: Option<Engine> = if is_known {
        engine.memo(wire as u64, Arm::Full, || with_accepted_tools(engine, rule)).as_ref().clone()
    } else {
        with_accepted_tools(engine, rule)
    };
    found.unwrap_or_else(|| engine.clone())
}

/// The engine with changed tools; `None` if every name is accepted.
fn with_accepted_tools(engine: &Engine, rule: &NameRule) -> Option<Engine> {
    let tools = with_accepted_parameters(engine.catalog(), rule);
    if tools.is_empty() { None } else { Some(engine.with_tools(tools)) }
}

fn table(engine: &Engine, wire: Wire, rule: &NameRule, reserved: &[String]) -> Result<NameTable, NoFreeName> {
    let categories: Vec<&str> = engine.assignment().categories().map(|(name, _)| name.as_str()).collect();
    let foreign: Vec<&str> = engine.catalog().foreign().filter_map(|foreign| foreign.name.as_deref()).collect();
    NameTable::new(wire, rule, engine.catalog(), &foreign, reserved, &categories, ACTIVATE_SKILL)
}

/// A meta-tool under another name.
fn renamed(tool: &Tool, name: &str) -> Option<Tool> {
    if *tool.name() == name {
        return Some(tool.clone());
    }
    Tool::new(name, tool.description(), tool.parameters().clone()).ok()
}
