//! A decision on a call, and what identifies the call.

use serde_json::{Value, json};

use super::ACTIVATE_SKILL;
use super::undo::UndoPlan;
use crate::catalog::Tool;
use crate::diagnostic::visible;
use crate::name::ToolName;
use crate::policy::canonical::digest;
use crate::policy::{Counted, Displayed, ToolOrigin, Verdict};
use crate::skill::{Permission, Skill};

/// A policy decision on a call, with what it is based on.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Empty if the call is simply allowed, because it is then unused.
    pub(crate) displayed: Displayed,
    /// Whether the policy's tier of the call is `read_only`.
    pub(crate) only_reads: bool,
    /// How the call can be undone; like `displayed`, empty if the call is simply allowed.
    pub(crate) undo: UndoPlan,
    /// The events that the call adds to series of rules over earlier calls.
    pub(super) counted: Vec<Counted>,
}

/// Arguments as a value and as the model wrote them.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    pub(crate) value: &'a Value,
    /// The JSON text that was written; `None` if the arguments were given as a value.
    pub(crate) text: Option<&'a str>,
}

impl Exact<'_> {
    /// The text, if serializing the value gives another one: white space, number formats, digits
    /// that no float holds.
    pub(super) fn differing_text(&self) -> Option<String> {
        let text = self.text?;
        // Texts are compared because `1.0` and `1.00` are equal as values.
        let written_anew = self.value.to_string();
        (written_anew != text).then(|| text.to_owned())
    }
}

/// A conversation and a call in it, as records identify them.
#[derive(Clone)]
pub(crate) struct CallRef<'a> {
    pub(crate) conversation: &'a str,
    /// The id under which the conversation remembers the call, unique in the conversation.
    pub(crate) own: &'a str,
    /// The provider's id.
    pub(crate) label: &'a str,
    /// Distinguishes the call from others with that id; see [`Request::message`].
    pub(crate) message: Option<String>,
    /// The provider's id of an identical call whose outcome is unknown.
    pub(crate) unreported: Option<&'a str>,
}

/// What policy judges: a tool of the catalog, or a skill that is about to be activated.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    Tool(&'a Tool),
    Skill(&'a JudgedSkill),
}

impl<'a> From<&'a Tool> for Subject<'a> {
    fn from(tool: &'a Tool) -> Self {
        Self::Tool(tool)
    }
}

impl<'a> From<&'a JudgedSkill> for Subject<'a> {
    fn from(skill: &'a JudgedSkill) -> Self {
        Self::Skill(skill)
    }
}

impl Subject<'_> {
    /// The catalog name of the tool, or that of the meta-tool.
    pub(crate) fn name(self) -> ToolName {
        match self {
            Self::Tool(tool) => tool.name().clone(),
            Self::Skill(skill) => skill.target.clone(),
        }
    }

    /// The digest of its definition: a tool with another description or other annotations is
    /// another tool, a skill with another text is another skill, and a script with another folder
    /// or other limits is another script.
    pub(crate) fn definition_hash(self) -> String {
        match self {
            Self::Tool(tool) => {
                if let Some(run) = tool.skill_run() {
                    return digest(&Value::Object(run.facts.clone()));
                }
                let definition = json!([tool.title(), tool.description(), tool.annotations(), tool.parameters_text()]);
                digest(&definition)
            }
            Self::Skill(skill) => skill.hash.clone(),
        }
    }
}

/// The name under which rules and records know the activation of skills.
pub(crate) const SKILL: &str = "Skill";

/// A skill as policy judges it.
#[derive(Debug, Clone)]
pub(crate) struct JudgedSkill {
    /// The name of the meta-tool.
    target: ToolName,
    /// The name that selects it, under which it becomes active.
    pub(crate) selected_by: String,
    /// The SHA-256 of its file.
    pub(crate) hash: String,
    /// Why its activation requires approval by its own account or the host's permissions.
    pub(crate) asks: Option<String>,
    /// What a person sees of it: scope and file.
    pub(crate) origin: String,
    /// The arguments of the activation: the skill's own `name`, also of a copy that is selected by
    /// another one, and what was passed besides.
    pub(crate) arguments: Value,
}

impl JudgedSkill {
    /// `None` never, because the name of the meta-tool is a name.
    pub(super) fn new(skill: &Skill, selected_by: &str, permission: Permission, arguments: Value) -> Option<Self> {
        let target = ToolName::new(ACTIVATE_SKILL).ok()?;
        let fields = skill.fields();
        let asks = match (permission, &fields.confirm) {
            (Permission::Ask, Some(confirm)) => Some(format!("its author wants it confirmed: {confirm}")),
            (Permission::Ask, None) if fields.dangerous => Some("its author marked it as dangerous".to_owned()),
            (Permission::Ask, None) => Some("the host's permissions for skills require approval".to_owned()),
            (Permission::Allow | Permission::Deny, _) => None,
        };
        let origin = format!("the {} skill in {}", skill.origin.scope.as_str(), skill.origin.file.display());
        let (selected_by, hash) = (selected_by.to_owned(), skill.hash.as_str().to_owned());
        Some(Self { target, selected_by, hash, asks, origin, arguments })
    }

    /// What its activation does, for a person and the audit trail.
    pub(crate) fn effect(&self) -> String {
        format!("gives the model the text of {}, SHA-256 {}", visible(&self.origin), self.hash)
    }
}

/// A call at the host: its start and its tool's owner. Not part of a session's state, which
/// contains no times.
#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    pub(super) at_ms: i64,
    pub(super) origin: ToolOrigin,
    pub(super) tool: String,
}
