//! Layer 2 in the engine: the skills of `activate_skill` and its answers.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::Tool;
use crate::diagnostic::Loaded;
use crate::skill::{
    ActivateRequest, ActiveSet, Answer, Budget, Caller, CatalogText, CategoryHint, Discovery, DiscoveryCache, Facts,
    Permissions, Root, Scope, SkillFs, SkillLibrary, SkillTool, SkillView, activate, fit_tool, weigh,
};

/// The skills that an agent may see, and how they are shown.
#[derive(Clone)]
pub struct SkillLayer {
    view: Arc<SkillView>,
    fs: Arc<dyn SkillFs>,
    facts: Facts,
    preload: bool,
    tool: Option<Tool>,
    list: Option<CatalogText>,
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
        Self::within(view, fs, Budget::default())
    }

    /// Like [`new`](Self::new) with the host's [`budget`](Self::budget), without fitting the
    /// default one first.
    #[must_use]
    pub fn within(view: SkillView, fs: Arc<dyn SkillFs>, budget: Budget) -> Self {
        let layer = Self { view: Arc::new(view), fs, facts: Facts::default(), preload: false, tool: None, list: None };
        layer.budget(budget)
    }

    /// The skills of these folders, all trusted and visible to the model. Readable skills are used;
    /// the diagnostics list the problems of the others.
    pub fn from_folders(fs: Arc<dyn SkillFs>, folders: impl IntoIterator<Item = PathBuf>) -> Loaded<Self> {
        let root = |path| Root::new(path, Scope::Explicit).with_trusted(true);
        let discovery = Discovery::new(folders.into_iter().map(root).collect());
        let Loaded { value, diagnostics } =
            SkillLibrary::discover(fs.as_ref(), discovery, &mut DiscoveryCache::default());
        let view = SkillView::new(&value, &Permissions::default(), Caller::Model);
        Loaded { value: Self::new(view, fs), diagnostics }
    }

    /// The values of placeholders in skill texts. Default: none, so placeholders stay unchanged.
    #[must_use]
    pub fn facts(mut self, facts: Facts) -> Self {
        self.facts = facts;
        self
    }

    /// The maximum cost of the declaration of `activate_skill`, including the enum. Default:
    /// [`Budget::default`]. Tokens are estimated by an upper bound
    /// ([`most_tokens`](crate::skill::most_tokens)), so prose stays far below the budget; a host
    /// with a vocabulary can list more with [`counted_by`](Self::counted_by).
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        self.counted_by(budget.limit(), &|tool| weigh(tool, budget))
    }

    /// Sets the budget with the host's own counter: `cost` of the declaration may be at most
    /// `limit`.
    #[must_use]
    pub fn counted_by(mut self, limit: usize, cost: &dyn Fn(&SkillTool) -> usize) -> Self {
        let fitted = fit_tool(&self.view, limit, cost);
        let (tool, list) = fitted.map(|fitted| (fitted.tool, fitted.list)).unzip();
        self.tool = tool.and_then(|tool| Tool::new(&tool.name, &tool.description, tool.parameters).ok());
        self.list = list;
        self
    }

    /// What `activate_skill` lists: the number of skills in full, trimmed, by name only, and
    /// omitted. `None` if no skill is visible.
    #[must_use]
    pub fn list(&self) -> Option<&CatalogText> {
        self.list.as_ref()
    }

    /// Whether activating a skill opens the categories that it uses instead of suggesting them.
    /// Tools that policy denies are never opened, because they are not in the catalog.
    #[must_use]
    pub fn preload(mut self, preload: bool) -> Self {
        self.preload = preload;
        self
    }

    /// Whether activating a skill opens the categories that it uses.
    pub(crate) fn preloads(&self) -> bool {
        self.preload
    }

    /// The number of skills that the agent may see.
    #[must_use]
    pub fn skills(&self) -> usize {
        self.view.names().count()
    }

    /// The declaration of `activate_skill`; `None` if no skill is visible.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.tool.as_ref()
    }

    /// Answers a call. `approved` returns whether a skill was approved in this conversation.
    pub(crate) fn activate(
        &self,
        arguments: &Value,
        active: &ActiveSet,
        conversation: &str,
        approved: impl Fn(&str) -> bool,
    ) -> Result<Answer, String> {
        let mut request = ActivateRequest::from_json(arguments).map_err(|why| why.to_string())?;
        request.approved =
            self.view.split(&request.name).is_some_and(|(skill, _, _)| approved(self.view.name_of(skill)));
        let mut facts = self.facts.clone();
        facts.session = Some(conversation.to_owned()).filter(|id| !id.is_empty());
        let hint = if self.preload { CategoryHint::Expanded } else { CategoryHint::Suggest };
        activate(self.fs.as_ref(), &self.view, &request, active, &facts, hint).map_err(|why| why.to_string())
    }
}
