//! The engine: a catalog with its layers, built once and shared by every conversation.
//!
//! An [`Engine`] is immutable; to reload, build a new one. It is independent of wires and
//! conversations: a [`Conversation`](crate::conversation::Conversation) binds it to one provider's
//! API. It never runs a tool, reads a clock or opens a file.

mod blind;
mod builder;
mod check;
#[cfg(feature = "validate")]
mod coerce;
mod declared;
mod experiment;
mod judged;
mod memo;
mod policy_layer;
mod skill_discovery;
mod skill_layer;
mod skill_policy;
mod undo;
#[cfg(feature = "validate")]
pub mod validate;

pub use blind::Blind;
pub use builder::EngineBuilder;
pub(crate) use check::{Checked, Coerced};
pub(crate) use declared::{Unknown, nearest_value, unknown_arguments, wrapped};
pub use experiment::Experiment;
pub(crate) use judged::{CallRef, Exact, InFlight, Judged, JudgedSkill, Subject};
pub use policy_layer::PolicyLayer;
pub use skill_discovery::SkillDiscovery;
pub use skill_layer::SkillLayer;

use std::sync::Arc;

use self::memo::Memo;
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Loaded};
use crate::profile::{Arm, Assignment, Presentation, ToolSearch, Workload};

/// The name of the meta-tool that activates a skill, unless a host's tool has this name.
pub const ACTIVATE_SKILL: &str = "activate_skill";

#[derive(Debug)]
struct Inner {
    catalog: Catalog,
    assignment: Assignment,
    /// Whether layer 1 is on.
    folds: bool,
    arm: Arm,
    budget: usize,
    workload: Workload,
    blind: Blind,
    coerces: bool,
    partial: bool,
    experiment: Option<Experiment>,
    policy: Option<PolicyLayer>,
    skills: Option<SkillLayer>,
    search: Arc<ToolSearch>,
    diagnostics: Vec<Diagnostic>,
    #[cfg(feature = "validate")]
    validators: Option<check::Validators>,
    memo: Memo,
}

/// A catalog with its layers. Cheap to clone; `Send + Sync`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    /// Starts with a catalog. By default, a profile is derived from it and arm `auto` decides what
    /// to fold.
    pub fn builder(catalog: Catalog) -> EngineBuilder {
        EngineBuilder::new(catalog)
    }

    /// The catalog without the tools that policy denies for all arguments.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// The profile's settings for each tool of the catalog.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.0.assignment
    }

    /// Whether layer 1 is on. If it is off, every schema is sent in full and nothing can be
    /// expanded.
    #[must_use]
    pub fn folds(&self) -> bool {
        self.0.folds
    }

    /// The default arm of conversations; may be [`Arm::Auto`].
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.0.arm
    }

    /// The maximum cost of the first turn, in tokens, before arm `auto` folds further.
    #[must_use]
    pub(crate) fn budget(&self) -> usize {
        self.0.budget
    }

    /// The expected length of conversations.
    #[must_use]
    pub fn workload(&self) -> Workload {
        self.0.workload
    }

    /// How calls are handled whose parameters the model was not shown.
    #[must_use]
    pub(crate) fn blind(&self) -> Blind {
        self.0.blind
    }

    /// Whether arguments with only one interpretation are repaired and coerced.
    #[must_use]
    pub(crate) fn coerces(&self) -> bool {
        self.0.coerces
    }

    /// Whether tools of some servers may be missing in the catalog.
    #[must_use]
    pub(crate) fn is_partial(&self) -> bool {
        self.0.partial
    }

    /// The experiment that chooses the arm, if there is one.
    #[must_use]
    pub(crate) fn experiment(&self) -> Option<&Experiment> {
        self.0.experiment.as_ref()
    }

    /// Layer 3, if it is on.
    #[must_use]
    pub fn policy(&self) -> Option<&PolicyLayer> {
        self.0.policy.as_ref()
    }

    /// Layer 2, if it is on.
    #[must_use]
    pub fn skills(&self) -> Option<&SkillLayer> {
        self.0.skills.as_ref()
    }

    /// The diagnostics of the build; none of them is an error.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// The forms that tools can take with an arm. Created on first use and cached.
    #[must_use]
    pub fn presentation(&self, arm: Arm) -> Arc<Presentation> {
        self.memo(0, arm, || {
            Presentation::new(&self.0.catalog, &self.0.assignment, arm).searched_by(self.0.search.clone())
        })
    }

    /// The same engine with only some of its tools.
    #[must_use]
    pub fn restricted(&self, allowed: impl Fn(&Tool) -> bool) -> Self {
        let kept: Vec<bool> = self.0.catalog.iter().map(allowed).collect();
        self.part(&kept, self.0.skills.clone())
    }

    /// The same engine with skills that were read again, and what was noticed.
    pub(crate) fn with_skills(&self, reloaded: Loaded<SkillLayer>) -> Loaded<Self> {
        let Loaded { value, diagnostics } = reloaded;
        let skills = match self.policy() {
            Some(policy) => value.permitted(policy),
            None => value,
        };
        let mut inner = Inner { skills: Some(skills), ..self.copied() };
        inner.diagnostics.clone_from(&self.0.diagnostics);
        Loaded { value: Self(Arc::new(inner)), diagnostics }
    }

    /// The same engine with only the kept tools and with these skills.
    pub(crate) fn part(&self, kept: &[bool], skills: Option<SkillLayer>) -> Self {
        let inner = &self.0;
        Self(Arc::new(Inner {
            catalog: inner.catalog.filtered(kept),
            assignment: inner.assignment.filtered(kept),
            skills,
            search: Arc::default(),
            #[cfg(feature = "validate")]
            validators: inner.validators.as_ref().map(|all| all.filtered(kept)),
            ..self.copied()
        }))
    }

    /// The same engine with other definitions of some tools, each with its index in the catalog.
    /// Their names stay.
    pub(crate) fn with_tools(&self, tools: Vec<(usize, Tool)>) -> Self {
        let mut inner = self.copied();
        #[cfg(feature = "validate")]
        if let Some(validators) = &mut inner.validators {
            validators.replace(&tools);
        }
        inner.catalog = inner.catalog.with_tools(tools);
        inner.diagnostics.clone_from(&self.0.diagnostics);
        Self(Arc::new(inner))
    }

    /// A copy without cached values and diagnostics.
    fn copied(&self) -> Inner {
        let inner = &self.0;
        Inner {
            catalog: inner.catalog.clone(),
            assignment: inner.assignment.clone(),
            folds: inner.folds,
            arm: inner.arm,
            budget: inner.budget,
            workload: inner.workload,
            blind: inner.blind,
            coerces: inner.coerces,
            partial: inner.partial,
            experiment: inner.experiment.clone(),
            policy: inner.policy.clone(),
            skills: inner.skills.clone(),
            search: inner.search.clone(),
            diagnostics: Vec::new(),
            #[cfg(feature = "validate")]
            validators: inner.validators.clone(),
            memo: Memo::default(),
        }
    }

    /// A value that other modules derive from this engine, created once for each key and arm and
    /// cached as long as the engine.
    pub(crate) fn memo<T: std::any::Any + Send + Sync>(&self, key: u64, arm: Arm, make: impl FnOnce() -> T) -> Arc<T> {
        self.0.memo.get_or_make(key, arm, make)
    }
}
