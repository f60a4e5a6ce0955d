//! Builds an engine.

use std::sync::Arc;

use super::memo::Memo;
use super::{Blind, Engine, Experiment, Inner, PolicyLayer, SkillLayer};
use crate::catalog::{Catalog, Tool};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::profile::{Arm, BUDGET_TOKENS, ToolProfile, Workload, already_defers};

/// Layer 1 as the host configures it.
#[derive(Debug)]
enum ProfileSetting {
    /// Derived from the catalog.
    Derived,
    /// Provided by the host.
    Given(Box<ToolProfile>),
    /// Off: every schema in full.
    Off,
}

/// Builds an [`Engine`].
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
    partial: bool,
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
            partial: false,
            experiment: None,
            policy: None,
            skills: None,
            validate: true,
        }
    }

    /// Layer 1. Default: a profile [derived](ToolProfile::derive) from the catalog.
    pub fn profile(mut self, profile: ToolProfile) -> Self {
        self.profile = ProfileSetting::Given(Box::new(profile));
        self
    }

    /// Turns layer 1 off: every schema is sent in full, and conversations with an explicit folding
    /// arm do not start.
    pub fn without_profile(mut self) -> Self {
        self.profile = ProfileSetting::Off;
        self
    }

    /// How the catalog is presented. Default: [`Arm::Auto`].
    pub fn arm(mut self, arm: Arm) -> Self {
        self.arm = arm;
        self
    }

    /// The maximum cost of the first turn, in tokens, before arm `auto` folds further. Default:
    /// 4,000.
    pub fn budget(mut self, tokens: usize) -> Self {
        self.budget = tokens;
        self
    }

    /// The expected length of conversations, from which arm `auto` computes whether folding saves
    /// tokens. Default: [`Workload::default`].
    pub fn workload(mut self, workload: Workload) -> Self {
        self.workload = workload;
        self
    }

    /// How valid calls are handled that omit parameters which the model was not shown. Default:
    /// [`Blind::Show`].
    pub fn blind(mut self, blind: Blind) -> Self {
        self.blind = blind;
        self
    }

    /// Whether invalid arguments are corrected if they have only one interpretation: a code fence
    /// or a trailing comma is removed, `null` is dropped for an optional parameter that does not
    /// accept it, and so on (see docs/session.md, "Repairs"). The outcome lists every correction.
    /// Default: yes.
    pub fn coerce(mut self, coerce: bool) -> Self {
        self.coerces = coerce;
        self
    }

    /// Whether tools of some servers may be missing in the catalog, because a server has not listed
    /// them yet. A name without its server (`list` for `files__list`) then only resolves to a
    /// read-only tool. Default: no.
    pub fn partial(mut self, partial: bool) -> Self {
        self.partial = partial;
        self
    }

    /// Lets an experiment choose between two arms by the conversation's id.
    pub fn experiment(mut self, experiment: Experiment) -> Self {
        self.experiment = Some(experiment);
        self
    }

    /// Layer 3. Without it, everything is allowed and outcomes have
    /// [`PolicyMark::Off`](crate::conversation::PolicyMark::Off).
    pub fn policy(mut self, policy: PolicyLayer) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Layer 2. Without it, there is no `activate_skill`.
    pub fn skills(mut self, skills: SkillLayer) -> Self {
        self.skills = Some(skills);
        self
    }

    /// Does not compile the tools' schemas, for reports that run no calls. Calls are then forwarded
    /// and marked as unchecked, as they always are without the feature `validate`.
    pub fn without_validation(mut self) -> Self {
        self.validate = false;
        self
    }

    /// Builds the engine.
    ///
    /// # Errors
    /// [`Error`] with every diagnostic if the profile does not match the catalog, or the
    /// experiment's ratio is not between 0 and 1.
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
        // Tools that policy denies for all arguments are removed here, so they are absent from the
        // array, lists, expansions, calls and suggestions alike.
        let (mut catalog, mut assignment) = (self.catalog, assigned.value);
        let mut diagnostics = assigned.diagnostics;
        let mut skills = self.skills;
        if let Some(policy) = &self.policy {
            skills = skills.map(|skills| skills.permitted(policy));
            let kept: Vec<bool> = catalog.iter().map(|tool| !policy.denies_outright(tool)).collect();
            (catalog, assignment) = (catalog.filtered(&kept), assignment.filtered(&kept));
        } else if catalog.iter().any(|tool| tool.skill_run().is_some()) {
            // Without a policy nothing would ask before a script runs.
            let kept: Vec<bool> = catalog.iter().map(|tool| tool.skill_run().is_none()).collect();
            (catalog, assignment) = (catalog.filtered(&kept), assignment.filtered(&kept));
            let message = "the scripts of skills are not offered as tools, because there is no policy";
            let warning = Diagnostic::warning("script-without-policy", Place::default(), message);
            diagnostics.push(warning.help("set a policy: it decides which scripts run"));
        }
        let hides = |tool: &Tool| match &skills {
            Some(skills) => skills.hides_tool(tool),
            None => tool.activates().is_some(),
        };
        if catalog.iter().any(hides) {
            let kept: Vec<bool> = catalog.iter().map(|tool| !hides(tool)).collect();
            (catalog, assignment) = (catalog.filtered(&kept), assignment.filtered(&kept));
        }
        if profile.derived
            && let Some(deferral) = already_defers(&catalog)
        {
            let note = Diagnostic::note("already-defers", Place::default(), deferral.to_string());
            diagnostics.push(note.help("to fold it, turn off its own search, or give a profile"));
        }
        #[cfg(feature = "validate")]
        let validators = self.validate.then(|| super::check::Validators::new(&catalog, &mut diagnostics));
        Ok(Engine(Arc::new(Inner {
            catalog,
            assignment,
            folds,
            arm: self.arm,
            budget: self.budget,
            workload: self.workload,
            blind: self.blind,
            coerces: self.coerces,
            partial: self.partial,
            experiment: self.experiment,
            policy: self.policy,
            skills,
            search: Arc::default(),
            diagnostics,
            #[cfg(feature = "validate")]
            validators,
            memo: Memo::default(),
        })))
    }
}
