//! Layer 2 in the engine: what `activate_skill` sees and answers.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::Tool;
use crate::diagnostic::Loaded;
use crate::skill::{
    ActivateRequest, ActiveSet, Answer, Budget, Caller, CatalogText, CategoryHint, Discovery, DiscoveryCache, Facts,
    Permissions, Root, Scope, SkillFs, SkillLibrary, SkillTool, SkillView, Style, activate, fit_tool, weigh,
};

/// The skills an agent may see, and how they are shown.
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
    /// Skills as one agent sees them, whose resources `fs` reads.
    #[must_use]
    pub fn new(view: SkillView, fs: Arc<dyn SkillFs>) -> Self {
        Self::within(view, fs, Budget::default())
    }

    /// The same within a [`budget`](Self::budget) of the host's, without fitting the usual one first.
    #[must_use]
    pub fn within(view: SkillView, fs: Arc<dyn SkillFs>, budget: Budget) -> Self {
        let layer = Self { view: Arc::new(view), fs, facts: Facts::default(), preload: false, tool: None, list: None };
        layer.budget(budget)
    }

    /// The skills of these folders, all of them trusted and visible to the model. What is wrong with them is in the
    /// diagnostics; what can be read is used.
    pub fn from_folders(fs: Arc<dyn SkillFs>, folders: impl IntoIterator<Item = PathBuf>) -> Loaded<Self> {
        let root = |path| Root { path, scope: Scope::Explicit, trusted: true, style: Style::Toolfold };
        let discovery = Discovery { roots: folders.into_iter().map(root).collect(), ..Discovery::default() };
        let Loaded { value, diagnostics } =
            SkillLibrary::discover(fs.as_ref(), discovery, &mut DiscoveryCache::default());
        let view = SkillView::new(&value, &Permissions::default(), Caller::Model);
        Loaded { value: Self::new(view, fs), diagnostics }
    }

    /// What placeholders in the skills' texts stand for. Default: nothing known, so that they stay.
    #[must_use]
    pub fn facts(mut self, facts: Facts) -> Self {
        self.facts = facts;
        self
    }

    /// What the declaration of `activate_skill` may cost, enum included. Default: [`Budget::default`]. Tokens are bounded
    /// and not counted ([`most_tokens`](crate::skill::most_tokens)), so that prose stays far below the budget; who has a
    /// vocabulary has more listed with [`counted_by`](Self::counted_by).
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        self.counted_by(budget.limit(), &|tool| weigh(tool, budget))
    }

    /// The same with a counter of the host's: the declaration may cost `limit` of whatever `cost` counts.
    #[must_use]
    pub fn counted_by(mut self, limit: usize, cost: &dyn Fn(&SkillTool) -> usize) -> Self {
        let fitted = fit_tool(&self.view, limit, cost);
        let (tool, list) = fitted.map(|fitted| (fitted.tool, fitted.list)).unzip();
        self.tool = tool.and_then(|tool| Tool::new(&tool.name, &tool.description, tool.parameters).ok());
        self.list = list;
        self
    }

    /// What `activate_skill` lists: how many skills whole, trimmed, by name only, and not at all. Nothing where no skill
    /// is visible.
    #[must_use]
    pub fn list(&self) -> Option<&CatalogText> {
        self.list.as_ref()
    }

    /// Lets a skill open the categories it leans on when it is activated, instead of suggesting it. Never anything that
    /// policy denies: that is not in the catalogue.
    #[must_use]
    pub fn preload(mut self, preload: bool) -> Self {
        self.preload = preload;
        self
    }

    /// Whether skills open the categories they lean on.
    pub(crate) fn preloads(&self) -> bool {
        self.preload
    }

    /// How many skills the agent may see.
    #[must_use]
    pub fn skills(&self) -> usize {
        self.view.names().count()
    }

    /// The declaration of `activate_skill`; nothing where no skill is visible.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.tool.as_ref()
    }

    /// Answers a call. `approved` says which skills a person has said yes to in this conversation.
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
        let facts = Facts { session: Some(conversation.to_owned()).filter(|id| !id.is_empty()), ..self.facts.clone() };
        let hint = if self.preload { CategoryHint::Expanded } else { CategoryHint::Suggest };
        activate(self.fs.as_ref(), &self.view, &request, active, &facts, hint).map_err(|why| why.to_string())
    }
}
