//! The engine: a catalogue and its layers put together once, shared by every conversation.
//!
//! An [`Engine`] never changes; reloading means building a new one. It knows nothing of wires or conversations: a
//! [`Conversation`](crate::conversation::Conversation) binds it to one provider's API. It never runs a tool, reads a clock
//! or opens a file.

mod blind;
mod builder;
mod check;
#[cfg(feature = "validate")]
mod coerce;
mod experiment;
mod memo;
mod policy_layer;
mod skill_layer;
mod undo;
#[cfg(feature = "validate")]
pub mod validate;

pub use blind::{Blind, UnknownBlind};
pub use builder::EngineBuilder;
pub(crate) use check::{Checked, Coerced};
pub use experiment::Experiment;
pub use policy_layer::PolicyLayer;
pub(crate) use policy_layer::{CallRef, Exact, InFlight, Judged};
pub use skill_layer::SkillLayer;

use std::sync::Arc;

use self::memo::Memo;
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::Diagnostic;
use crate::profile::{Arm, Assignment, Presentation, Workload};

/// The name of the meta-tool that brings in a skill, where no tool of the host has it.
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
    experiment: Option<Experiment>,
    policy: Option<PolicyLayer>,
    skills: Option<SkillLayer>,
    diagnostics: Vec<Diagnostic>,
    #[cfg(feature = "validate")]
    validators: Option<check::Validators>,
    memo: Memo,
}

/// A catalogue with its layers. Cheap to clone; `Send + Sync`.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    /// Starts with a catalogue. Without more, a profile is derived from it and arm `auto` chooses how much to fold.
    pub fn builder(catalog: Catalog) -> EngineBuilder {
        EngineBuilder::new(catalog)
    }

    /// The catalogue, without the tools that policy denies whatever they are called with.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// What the profile makes of the catalogue.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.0.assignment
    }

    /// Whether layer 1 is on. Where it is off, every schema is sent whole and there is nothing to expand.
    #[must_use]
    pub fn folds(&self) -> bool {
        self.0.folds
    }

    /// The arm that conversations get where nothing else chooses; perhaps [`Arm::Auto`].
    #[must_use]
    pub fn arm(&self) -> Arm {
        self.0.arm
    }

    /// What the first turn may cost before arm `auto` folds further, in tokens.
    #[must_use]
    pub(crate) fn budget(&self) -> usize {
        self.0.budget
    }

    /// How long conversations are expected to be.
    #[must_use]
    pub fn workload(&self) -> Workload {
        self.0.workload
    }

    /// What happens to calls whose parameters the model was not shown.
    #[must_use]
    pub(crate) fn blind(&self) -> Blind {
        self.0.blind
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
    pub(crate) fn skills(&self) -> Option<&SkillLayer> {
        self.0.skills.as_ref()
    }

    /// What was noticed while the parts were put together; no errors among it.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// Every form that tools can take under an arm. Made when first asked for, then kept.
    #[must_use]
    pub fn presentation(&self, arm: Arm) -> Arc<Presentation> {
        self.memo(0, arm, || Presentation::new(&self.0.catalog, &self.0.assignment, arm))
    }

    /// The same engine over some of its tools only.
    #[must_use]
    pub fn restricted(&self, allowed: impl Fn(&Tool) -> bool) -> Self {
        let kept: Vec<bool> = self.0.catalog.iter().map(allowed).collect();
        self.part(&kept, self.0.skills.clone())
    }

    /// The same engine over the tools at the kept places, with these skills.
    pub(crate) fn part(&self, kept: &[bool], skills: Option<SkillLayer>) -> Self {
        let inner = &self.0;
        Self(Arc::new(Inner {
            catalog: inner.catalog.filtered(kept),
            assignment: inner.assignment.filtered(kept),
            folds: inner.folds,
            arm: inner.arm,
            budget: inner.budget,
            workload: inner.workload,
            blind: inner.blind,
            coerces: inner.coerces,
            experiment: inner.experiment.clone(),
            policy: inner.policy.clone(),
            skills,
            diagnostics: Vec::new(),
            #[cfg(feature = "validate")]
            validators: inner.validators.as_ref().map(|all| all.filtered(kept)),
            memo: Memo::default(),
        }))
    }

    /// What somebody else derives from this engine, made once for each key and arm, and kept as long as the engine.
    pub(crate) fn memo<T: std::any::Any + Send + Sync>(&self, key: u64, arm: Arm, make: impl FnOnce() -> T) -> Arc<T> {
        self.0.memo.get_or_make(key, arm, make)
    }
}
