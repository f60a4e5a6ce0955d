//! Layer 2 in the engine: the skills of `activate_skill` and its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::skill_discovery::{SkillDiscovery, Source};
use super::skill_policy::pre_approvals;
use super::{JudgedSkill, PolicyLayer};
use crate::catalog::Tool;
use crate::diagnostic::Loaded;
use crate::policy::Rule;
use crate::skill::{
    ActivateError, ActivateRequest, ActiveSet, Answer, Budget, Caller, CatalogText, CategoryHint, Facts, FittedTool,
    Root, Scope, Skill, SkillFs, SkillLibrary, SkillTool, SkillView, Surroundings, activate, fit_tool, fit_used, weigh,
};

/// The time as text, provided by the host: the engine has no clock.
type Clock = Arc<dyn Fn() -> String + Send + Sync>;

/// The host's counter of a declaration.
type Cost = Arc<dyn Fn(&SkillTool) -> usize + Send + Sync>;

/// The skills that an agent may see, and how they are shown.
#[derive(Clone)]
#[non_exhaustive]
pub struct SkillLayer {
    /// The values of placeholders in skill texts. Default: none, so placeholders stay unchanged.
    pub facts: Facts,
    view: Arc<SkillView>,
    /// What the view was made of; `None` if the host supplied the view.
    origin: Option<Origin>,
    fs: Arc<dyn SkillFs>,
    clock: Option<Clock>,
    fit: Fit,
    /// The declaration and its list, fitted on first use.
    declared: Arc<OnceLock<Option<(Tool, CatalogText)>>>,
    /// The skills that a person may start, found on first use.
    person: Arc<OnceLock<Arc<SkillView>>>,
    /// The skills of a sub-agent that has only these; `None`: all.
    only: Option<Arc<Only>>,
}

/// The skills that a sub-agent has.
struct Only {
    /// The names that select them.
    names: BTreeSet<String>,
    /// Whether `activate_skill` is declared; else their own tools activate them.
    is_declared: bool,
}

impl Only {
    fn of_view(&self, view: &SkillView) -> Arc<SkillView> {
        Arc::new(view.without(|skill, _| !self.names.contains(view.name_of(skill))))
    }
}

/// The library of a layer, and where it was read.
#[derive(Clone)]
struct Origin {
    library: Arc<SkillLibrary>,
    source: Arc<Source>,
}

/// The number of activations of each skill, by name.
type Counts = BTreeMap<String, usize>;

/// How the declaration is fitted into its budget.
#[derive(Clone, Default)]
struct Fit {
    budget: Budget,
    cost: Option<Cost>,
    uses: Option<Uses>,
}

/// The uses of skills, read once, when a list must be shortened for the first time.
#[derive(Clone)]
struct Uses {
    read: Arc<dyn Fn() -> Counts + Send + Sync>,
    counts: Arc<OnceLock<Counts>>,
}

impl Fit {
    /// The richest declaration within the budget. The host's counter is asked only if the upper
    /// bound does not decide.
    fn fitted(&self, view: &SkillView) -> Option<FittedTool> {
        let (limit, bound) = (self.budget.limit(), |tool: &SkillTool| weigh(tool, self.budget));
        let bounded = fit_tool(view, limit, &bound)?;
        if bounded.list.is_whole() || (self.cost.is_none() && self.uses.is_none()) {
            return Some(bounded);
        }
        let none = Counts::new();
        let uses = self.uses.as_ref().map_or(&none, |uses| uses.counts.get_or_init(|| (uses.read)()));
        match &self.cost {
            Some(cost) => fit_used(view, uses, limit, &|tool| cost(tool)),
            None => fit_used(view, uses, limit, &bound),
        }
    }
}

impl std::fmt::Debug for SkillLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillLayer").field("skills", &self.view.names().count()).finish_non_exhaustive()
    }
}

impl SkillLayer {
    /// The skills that one agent sees, with `fs` to read their resources.
    #[must_use]
    pub fn new(view: SkillView, fs: Arc<dyn SkillFs>) -> Self {
        let (view, facts) = (Arc::new(view), Facts::default());
        let (fit, declared, person) = (Fit::default(), Arc::default(), Arc::default());
        Self { view, origin: None, fs, facts, clock: None, fit, declared, person, only: None }
    }

    /// Finds skills in the usual places of these surroundings and in added roots. Every command
    /// that offers skills uses it, so that all of them offer the same.
    pub fn discovered(fs: Arc<dyn SkillFs>, around: Surroundings) -> SkillDiscovery {
        SkillDiscovery::new(fs, around)
    }

    /// The skills of these folders, all trusted and visible to the model. Readable skills are used;
    /// the diagnostics list the problems of the others.
    pub fn from_folders(fs: Arc<dyn SkillFs>, folders: impl IntoIterator<Item = PathBuf>) -> Loaded<Self> {
        let mut found = Self::discovered(fs, Surroundings::default());
        found.usual = false;
        for path in folders {
            let mut root = Root::new(path, Scope::Explicit);
            root.trusted = true;
            found.roots.push(root);
        }
        found.layer()
    }

    pub(super) fn of_library(library: Arc<SkillLibrary>, source: Arc<Source>, fs: Arc<dyn SkillFs>) -> Self {
        let view = SkillView::new(&library, source.permissions(), Caller::Model);
        Self { origin: Some(Origin { library, source }), ..Self::new(view, fs) }
    }

    /// The same layer with the skills as they are on disk now, and what was noticed; `None` if
    /// nothing has changed, or if the host supplied the view. Only changed files are read.
    #[must_use]
    pub fn reloaded(&self) -> Option<Loaded<Self>> {
        let Origin { library, source } = self.origin.as_ref()?;
        Some(self.renewed(source, source.changed(library)?))
    }

    /// The same, if the file of the skill that a request selects has changed.
    pub(crate) fn reloaded_for(&self, request: &ActivateRequest) -> Option<Loaded<Self>> {
        let Origin { library, source } = self.origin.as_ref()?;
        let (skill, _, _) = self.view.split(&request.name)?;
        Some(self.renewed(source, source.changed_file(library, &skill.origin.file)?))
    }

    fn renewed(&self, source: &Arc<Source>, changed: Loaded<Arc<SkillLibrary>>) -> Loaded<Self> {
        let Loaded { value, diagnostics } = changed;
        let fresh = Self::of_library(value, source.clone(), self.fs.clone());
        let (facts, clock, fit) = (self.facts.clone(), self.clock.clone(), self.fit.clone());
        let fresh = Self { facts, clock, fit, ..fresh };
        let value = match &self.only {
            Some(only) => fresh.with_only(only.clone()),
            None => fresh,
        };
        Loaded { value, diagnostics }
    }

    /// The same layer with only the skills that these names select. `is_declared`: whether
    /// `activate_skill` is declared.
    pub(crate) fn only(&self, names: BTreeSet<String>, is_declared: bool) -> Self {
        self.clone().with_only(Arc::new(Only { names, is_declared }))
    }

    fn with_only(self, only: Arc<Only>) -> Self {
        let (declared, person) = (Arc::default(), Arc::default());
        Self { view: only.of_view(&self.view), declared, person, only: Some(only), ..self }
    }

    /// The time of an activation in the host's format, for the placeholder of the timestamp.
    /// Default: that of the [facts](field@Self::facts).
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.clock = Some(Arc::new(now));
        self
    }

    /// The maximum cost of the declaration of `activate_skill`, including the enum. Default:
    /// [`Budget::default`]. Tokens are estimated by an upper bound
    /// ([`most_tokens`](crate::skill::most_tokens)), so prose stays far below the budget; a host
    /// with a vocabulary can list more with [`counted_by`](Self::counted_by).
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        (self.fit, self.declared) = (Fit { budget, cost: None, uses: self.fit.uses.take() }, Arc::default());
        self
    }

    /// Sets the budget with the host's own counter in the unit of the budget. It is asked only if
    /// the upper bound leaves something out.
    #[must_use]
    pub fn counted_by(mut self, budget: Budget, cost: impl Fn(&SkillTool) -> usize + Send + Sync + 'static) -> Self {
        let (cost, uses): (Cost, _) = (Arc::new(cost), self.fit.uses.take());
        (self.fit, self.declared) = (Fit { budget, cost: Some(cost), uses }, Arc::default());
        self
    }

    /// Sets the number of activations of each skill by name, such as those of a log. If the list is
    /// too long for its budget, the skills used most keep their descriptions, and then the nearest.
    /// `uses` is called at most once, and only if something is left out, so that the declaration
    /// stays the same in every conversation with this layer. Default: none.
    #[must_use]
    pub fn used(mut self, uses: impl Fn() -> BTreeMap<String, usize> + Send + Sync + 'static) -> Self {
        self.fit.uses = Some(Uses { read: Arc::new(uses), counts: Arc::default() });
        self.declared = Arc::default();
        self
    }

    /// The skills that the model sees.
    #[must_use]
    pub fn view(&self) -> &SkillView {
        &self.view
    }

    /// Everything that was discovered; `None` if the host supplied the view.
    #[must_use]
    pub fn library(&self) -> Option<&Arc<SkillLibrary>> {
        self.origin.as_ref().map(|origin| &origin.library)
    }

    /// The declaration of `activate_skill`, and its list: the number of skills in full, trimmed, by
    /// name only, and omitted. `None` if no skill is visible.
    #[must_use]
    pub fn declared(&self) -> Option<&(Tool, CatalogText)> {
        let fitted = self.declared.get_or_init(|| {
            if self.only.as_ref().is_some_and(|only| !only.is_declared) {
                return None;
            }
            let FittedTool { tool, list, .. } = self.fit.fitted(&self.view)?;
            Some((Tool::new(&tool.name, &tool.description, tool.parameters).ok()?, list))
        });
        fitted.as_ref()
    }

    /// The skill that a request selects, as policy judges it. `None` for a search and for an
    /// unknown name.
    pub(crate) fn judged(&self, request: &ActivateRequest, caller: Caller) -> Option<JudgedSkill> {
        let view = self.view_of(caller);
        let (skill, permission, path) = view.split(&request.name)?;
        let mut arguments = json!({ "name": skill.name() });
        let path = request.path.as_deref().or(path).filter(|path| !path.is_empty()).map(Value::from);
        let copy = Some(view.name_of(skill)).filter(|name| *name != skill.name()).map(Value::from);
        let given = request.arguments.as_deref().map(Value::from);
        for (key, value) in [("path", path), ("copy", copy), ("arguments", given), ("input", request.input.clone())] {
            if let (Some(value), Some(arguments)) = (value, arguments.as_object_mut()) {
                arguments.insert(key.to_owned(), value);
            }
        }
        JudgedSkill::new(skill, view.name_of(skill), permission, arguments)
    }

    /// The same layer without the skills that policy denies in every conversation.
    pub(super) fn permitted(&self, policy: &PolicyLayer) -> Self {
        let hidden = |skill: &Arc<Skill>, permission| {
            let judged = JudgedSkill::new(skill, skill.name(), permission, json!({ "name": skill.name() }));
            judged.is_none_or(|skill| policy.hides(&skill))
        };
        Self { view: Arc::new(self.view.without(hidden)), declared: Arc::default(), ..self.clone() }
    }

    /// Whether a tool runs the script of a skill that the model may not see, or activates one.
    pub(super) fn hides_tool(&self, tool: &Tool) -> bool {
        if let Some(skill) = tool.activates() {
            return self.view.get(skill).is_none();
        }
        let Some(run) = tool.skill_run() else { return false };
        let skill = run.facts.get("skill").and_then(Value::as_str);
        skill.is_none_or(|name| self.view.skills().all(|own| own.name() != name))
    }

    /// The calls that active skills approve in advance: those of trusted skills whose files are
    /// unchanged, if the host honours them.
    pub(crate) fn pre_approvals(&self, active: &ActiveSet) -> Vec<Rule> {
        if !self.origin.as_ref().is_some_and(|origin| origin.source.honours_allowed_tools()) {
            return Vec::new();
        }
        let (view, mut rules) = (self.view_of(Caller::User), Vec::new());
        for (name, own) in active.iter() {
            if let Some((skill, _)) = view.get(name)
                && skill.origin.trusted
                && skill.hash == own.hash
            {
                rules.extend(pre_approvals(skill).0);
            }
        }
        rules
    }

    /// Answers a request.
    pub(crate) fn answer(
        &self,
        request: &ActivateRequest,
        active: &ActiveSet,
        conversation: &str,
        caller: Caller,
    ) -> Result<Answer, ActivateError> {
        let facts = self.facts_now(conversation);
        activate(self.fs.as_ref(), &self.view_of(caller), request, active, &facts, CategoryHint::Suggest)
    }

    /// The skills that a caller may name. A person also sees what only a person may start, unless
    /// the host supplied the model's view alone.
    #[must_use]
    pub fn view_of(&self, caller: Caller) -> Arc<SkillView> {
        match &self.origin {
            Some(Origin { library, source }) if caller == Caller::User => {
                let found = self.person.get_or_init(|| {
                    let view = SkillView::new(library, source.permissions(), caller);
                    match &self.only {
                        Some(only) => only.of_view(&view),
                        None => Arc::new(view),
                    }
                });
                found.clone()
            }
            _ => self.view.clone(),
        }
    }

    fn facts_now(&self, conversation: &str) -> Facts {
        let mut facts = self.facts.clone();
        if !conversation.is_empty() {
            facts.session = Some(conversation.to_owned());
        }
        if let Some(clock) = &self.clock {
            facts.timestamp = Some(clock());
        }
        facts
    }
}
