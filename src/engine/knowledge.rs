//! Layer 2 in the engine: what `activate_skill` sees and answers.

use std::sync::Arc;

use serde_json::Value;

use crate::catalog::Tool;
use crate::skill::{
    ActivateRequest, ActiveSet, Answer, Budget, CategoryHint, Facts, SkillFs, SkillView, activate, activate_tool,
};

/// The skills an agent may see, and how they are shown.
#[derive(Clone)]
pub struct Knowledge {
    view: Arc<SkillView>,
    fs: Arc<dyn SkillFs>,
    facts: Facts,
    preload: bool,
    tool: Option<Tool>,
}

impl std::fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Knowledge").field("skills", &self.view.names().count()).finish_non_exhaustive()
    }
}

impl Knowledge {
    /// Skills as one agent sees them. `fs` reads their resources; `facts` are for placeholders in their texts.
    #[must_use]
    pub fn new(view: SkillView, fs: Arc<dyn SkillFs>, facts: Facts, budget: Budget) -> Self {
        let declared = activate_tool(&view, budget);
        let tool = declared.and_then(|tool| Tool::new(&tool.name, &tool.description, tool.parameters).ok());
        Self { view: Arc::new(view), fs, facts, preload: false, tool }
    }

    /// Lets a skill open the categories it leans on when it is activated, instead of suggesting it. Never anything that
    /// policy denies: that is not in the catalogue.
    #[must_use]
    pub fn preload(mut self, preload: bool) -> Self {
        self.preload = preload;
        self
    }

    /// Whether skills open the categories they lean on.
    pub(super) fn preloads(&self) -> bool {
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
    pub(super) fn activate(
        &self,
        arguments: &Value,
        active: &ActiveSet,
        session: &str,
        approved: impl Fn(&str) -> bool,
    ) -> Result<Answer, String> {
        let mut request = ActivateRequest::from_json(arguments).map_err(|why| why.to_string())?;
        request.approved = self.view.split(&request.name).is_some_and(|(skill, _, _)| approved(skill.name()));
        let facts = Facts { session: Some(session.to_owned()).filter(|id| !id.is_empty()), ..self.facts.clone() };
        let hint = if self.preload { CategoryHint::Expanded } else { CategoryHint::Suggest };
        activate(self.fs.as_ref(), &self.view, &request, active, &facts, hint).map_err(|why| why.to_string())
    }
}
