//! Putting an engine together.

use std::sync::Arc;

use super::ACTIVATE_SKILL;
use super::{Engine, Experiment, Guard, Inner, Knowledge};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::profile::{Arm, BUDGET_TOKENS, CALL_TOOL, EXPAND_TOOLS, ToolProfile, Workload};

/// Puts an [`Engine`] together.
#[derive(Debug)]
#[must_use]
pub struct EngineBuilder {
    catalog: Catalog,
    profile: Option<ToolProfile>,
    arm: Arm,
    budget: usize,
    outlook: Workload,
    experiment: Option<Experiment>,
    guard: Option<Guard>,
    knowledge: Option<Knowledge>,
    validate: bool,
}

impl EngineBuilder {
    pub(super) fn new(catalog: Catalog) -> Self {
        Self {
            catalog,
            profile: None,
            arm: Arm::Auto,
            budget: BUDGET_TOKENS,
            outlook: Workload::default(),
            experiment: None,
            guard: None,
            knowledge: None,
            validate: true,
        }
    }

    /// Layer 1. Without a profile every schema is full, whatever the arm.
    pub fn profile(mut self, profile: ToolProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// How the catalogue is presented. Without a word: [`Arm::Auto`].
    pub fn arm(mut self, arm: Arm) -> Self {
        self.arm = arm;
        self
    }

    /// What the first turn may cost before arm `auto` folds further, in tokens. Without a word: [`BUDGET_TOKENS`].
    pub fn budget(mut self, tokens: usize) -> Self {
        self.budget = tokens;
        self
    }

    /// How long sessions are expected to be, by which arm `auto` tells whether folding pays. Without a word:
    /// [`Workload::default`].
    pub fn outlook(mut self, outlook: Workload) -> Self {
        self.outlook = outlook;
        self
    }

    /// Lets an experiment choose between two arms by the session's id.
    pub fn experiment(mut self, experiment: Experiment) -> Self {
        self.experiment = Some(experiment);
        self
    }

    /// Layer 3. Without it everything is allowed, and every outcome says so.
    pub fn policy(mut self, guard: Guard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Layer 2. Without it there is no `activate_skill`.
    pub fn skills(mut self, knowledge: Knowledge) -> Self {
        self.knowledge = Some(knowledge);
        self
    }

    /// Does not compile the tools' schemas: for reports, which dispatch nothing. Calls are then forwarded unchecked and
    /// say so. Without the feature `validate` that is always so.
    pub fn without_validation(mut self) -> Self {
        self.validate = false;
        self
    }

    /// Puts the parts together.
    ///
    /// # Errors
    /// [`Error`] with every diagnostic if the profile does not fit the catalogue, a tool of the catalogue has the name
    /// of a meta-tool that an arm declares, or the experiment's ratio is not between 0 and 1.
    pub fn build(self) -> Result<Engine, Error> {
        let off = self.profile.is_none();
        let arm = if off { Arm::Full } else { self.arm };
        let experiment = self.experiment.filter(|_| !off);
        let profile = self.profile.unwrap_or_else(|| ToolProfile::derive(&self.catalog));
        let assigned = profile.assign(&self.catalog);
        if assigned.has_errors() {
            return Err(Error::new(ErrorKind::Profile, assigned.diagnostics));
        }
        let mut problems = Vec::new();
        let folds = arm != Arm::Full || experiment.is_some();
        let teaches = self.knowledge.as_ref().is_some_and(|knowledge| knowledge.tool().is_some());
        for (name, declared) in [(EXPAND_TOOLS, folds), (CALL_TOOL, folds), (ACTIVATE_SKILL, teaches)] {
            if declared && self.catalog.get(name).is_some() {
                problems.push(reserved(name));
            }
        }
        if let Some(experiment) = experiment.as_ref().filter(|e| !(0.0..=1.0).contains(&e.ratio)) {
            let message = format!("an experiment's ratio must be between 0 and 1, not {}", experiment.ratio);
            let diagnostic = Diagnostic::error("bad-ratio", Place::default(), message);
            problems.push(diagnostic.help("0.5 gives half of the sessions the treatment"));
        }
        if !problems.is_empty() {
            return Err(Error::new(ErrorKind::Engine, problems));
        }
        // One predicate for present, list, expand and call: what policy denies outright is not in the engine's catalogue.
        let (mut catalog, mut assignment) = (self.catalog, assigned.value);
        if let Some(guard) = &self.guard {
            let kept: Vec<bool> = catalog.iter().map(|tool| !guard.denies_outright(tool)).collect();
            (catalog, assignment) = (catalog.filtered(&kept), assignment.filtered(&kept));
        }
        #[allow(unused_mut, reason = "only compiling schemas adds to it")]
        let mut diagnostics = assigned.diagnostics;
        #[cfg(feature = "validate")]
        let validators = self.validate.then(|| super::dispatch::Validators::compile(&catalog, &mut diagnostics));
        Ok(Engine(Arc::new(Inner {
            catalog,
            assignment,
            arm,
            budget: self.budget,
            outlook: self.outlook,
            experiment,
            guard: self.guard,
            knowledge: self.knowledge,
            diagnostics,
            #[cfg(feature = "validate")]
            validators,
            arms: Default::default(),
        })))
    }
}

fn reserved(name: &str) -> Diagnostic {
    let message = format!("the catalogue has a tool named `{name}`, which toolfold declares itself");
    Diagnostic::error("reserved-name", Place::default(), message).help(format!(
        "rename that tool, or use arm full; reserved are {EXPAND_TOOLS}, {CALL_TOOL} and {ACTIVATE_SKILL}"
    ))
}
