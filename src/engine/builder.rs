//! Putting an engine together.

use std::sync::Arc;

use super::memo::Memo;
use super::{Blind, Engine, Experiment, Inner, PolicyLayer, SkillLayer};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::profile::{Arm, BUDGET_TOKENS, ToolProfile, Workload};

/// Layer 1 as a host sets it.
#[derive(Debug)]
enum ProfileSetting {
    /// Derived from the catalogue.
    Derived,
    /// Written by somebody.
    Given(Box<ToolProfile>),
    /// Off: every schema whole.
    Off,
}

/// Puts an [`Engine`] together.
#[derive(Debug)]
#[must_use]
pub struct EngineBuilder {
    catalog: Catalog,
    profile: ProfileSetting,
    arm: Arm,
    budget: usize,
    workload: Workload,
    blind: Blind,
    coerces: bool,
    experiment: Option<Experiment>,
    policy: Option<PolicyLayer>,
    skills: Option<SkillLayer>,
    validate: bool,
}

impl EngineBuilder {
    pub(super) fn new(catalog: Catalog) -> Self {
        Self {
            catalog,
            profile: ProfileSetting::Derived,
            arm: Arm::Auto,
            budget: BUDGET_TOKENS,
            workload: Workload::default(),
            blind: Blind::default(),
            coerces: true,
            experiment: None,
            policy: None,
            skills: None,
            validate: true,
        }
    }

    /// Layer 1. Default: a profile [derived](ToolProfile::derive) from the catalogue.
    pub fn profile(mut self, profile: ToolProfile) -> Self {
        self.profile = ProfileSetting::Given(Box::new(profile));
        self
    }

    /// Turns layer 1 off: every schema is sent whole. An explicit arm that folds then has nothing to fold with, and
    /// conversations with it do not start.
    pub fn without_profile(mut self) -> Self {
        self.profile = ProfileSetting::Off;
        self
    }

    /// How the catalogue is presented. Default: [`Arm::Auto`].
    pub fn arm(mut self, arm: Arm) -> Self {
        self.arm = arm;
        self
    }

    /// What the first turn may cost before arm `auto` folds further, in tokens. Default: 4,000.
    pub fn budget(mut self, tokens: usize) -> Self {
        self.budget = tokens;
        self
    }

    /// How long conversations are expected to be: arm `auto` decides by it whether folding pays. Default:
    /// [`Workload::default`].
    pub fn workload(mut self, workload: Workload) -> Self {
        self.workload = workload;
        self
    }

    /// What happens to a valid call that leaves out parameters which the model was not shown. Default: [`Blind::Show`].
    pub fn blind(mut self, blind: Blind) -> Self {
        self.blind = blind;
        self
    }

    /// Whether arguments that do not fit are put right where the schema leaves them one meaning: `null` for an optional
    /// parameter that takes none, a number or a boolean as text, a list or an object as JSON text. Each is said in the
    /// outcome. Default: yes.
    pub fn coerce(mut self, coerce: bool) -> Self {
        self.coerces = coerce;
        self
    }

    /// Lets an experiment choose between two arms by the conversation's id.
    pub fn experiment(mut self, experiment: Experiment) -> Self {
        self.experiment = Some(experiment);
        self
    }

    /// Layer 3. Without it everything is allowed, and every outcome says so.
    pub fn policy(mut self, policy: PolicyLayer) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Layer 2. Without it there is no `activate_skill`.
    pub fn skills(mut self, skills: SkillLayer) -> Self {
        self.skills = Some(skills);
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
    /// [`Error`] with every diagnostic if the profile does not fit the catalogue, or the experiment's ratio is not between
    /// 0 and 1.
    pub fn build(self) -> Result<Engine, Error> {
        let folds = !matches!(self.profile, ProfileSetting::Off);
        let profile = match self.profile {
            ProfileSetting::Given(profile) => *profile,
            ProfileSetting::Derived | ProfileSetting::Off => ToolProfile::derive(&self.catalog),
        };
        let assigned = profile.assign(&self.catalog);
        if assigned.has_errors() {
            return Err(Error::new(ErrorKind::Profile, assigned.diagnostics));
        }
        if let Some(experiment) = self.experiment.as_ref().filter(|e| !(0.0..=1.0).contains(&e.ratio)) {
            let message = format!("an experiment's ratio must be between 0 and 1, not {}", experiment.ratio);
            let diagnostic = Diagnostic::error("bad-ratio", Place::default(), message);
            let diagnostic = diagnostic.help("0.5 gives half of the conversations the treatment");
            return Err(Error::new(ErrorKind::Engine, vec![diagnostic]));
        }
        // One predicate for present, list, expand, call and did-you-mean: what policy denies outright is not in the
        // engine's catalogue.
        let (mut catalog, mut assignment) = (self.catalog, assigned.value);
        if let Some(policy) = &self.policy {
            let kept: Vec<bool> = catalog.iter().map(|tool| !policy.denies_outright(tool)).collect();
            (catalog, assignment) = (catalog.filtered(&kept), assignment.filtered(&kept));
        }
        #[allow(unused_mut, reason = "only compiling schemas adds to it")]
        let mut diagnostics = assigned.diagnostics;
        #[cfg(feature = "validate")]
        let validators = self.validate.then(|| super::check::Validators::compile(&catalog, &mut diagnostics));
        Ok(Engine(Arc::new(Inner {
            catalog,
            assignment,
            folds,
            arm: self.arm,
            budget: self.budget,
            workload: self.workload,
            blind: self.blind,
            coerces: self.coerces,
            experiment: self.experiment,
            policy: self.policy,
            skills: self.skills,
            diagnostics,
            #[cfg(feature = "validate")]
            validators,
            memo: Memo::default(),
        })))
    }
}
