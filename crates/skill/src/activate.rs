//! `activate_skill`: from a call's arguments to the text for the model and the data for the host.

use std::fmt::Write as _;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{ContentHash, did_you_mean, one_line, quoted};
use super::fields::{Context, Mode};
use super::fs::SkillFs;
use super::library::Skill;
use super::permission::Permission;
use super::render::{Facts, Inputs, render};
use super::resource;
use super::roots::Scope;
use super::search;
use super::strict::escape;
use super::view::SkillView;
use crate::diagnostic::{Diagnostic, InvalidValue, Place};

/// The arguments of an `activate_skill` call.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ActivateRequest {
    /// A name, `name@scope` or `name/path`. Empty for a search.
    pub name: String,
    /// A file of the skill to return instead of its text.
    pub path: Option<String>,
    /// Replaces `$ARGUMENTS`, `$ARGUMENTS[0]`, and declared `$0` and `$name`.
    pub arguments: Option<String>,
    /// Replaces `{{input.…}}`.
    pub input: Option<Value>,
    /// Words to search for instead of activating a skill.
    pub search: Option<String>,
    /// Whether the user has already approved this call.
    pub approved: bool,
}

impl ActivateRequest {
    /// A request to activate a skill by its name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Reads a call's arguments. `other` names a skill that the enum of `name` does not list.
    /// `command` and `skill` are accepted for `name`, because other systems use them.
    ///
    /// # Errors
    /// Returns [`ActivateError::BadArguments`] if the arguments are not an object or one has the
    /// wrong type.
    pub fn from_json(arguments: &Value) -> Result<Self, ActivateError> {
        let Some(object) = arguments.as_object() else {
            return Err(ActivateError::BadArguments("pass an object with `name`".to_owned()));
        };
        let text = |keys: &[&str]| match keys.iter().find_map(|k| object.get(*k)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|t| !t.is_empty())),
            Some(_) => {
                let key = keys.first().unwrap_or(&"name");
                Err(ActivateError::BadArguments(format!("`{key}` must be a string")))
            }
        };
        let request = Self {
            name: text(&["name", "other", "skill", "command"])?.unwrap_or_default(),
            path: text(&["path"])?,
            arguments: text(&["arguments", "args"])?,
            input: object.get("input").filter(|v| !v.is_null()).cloned(),
            search: text(&["search"])?,
            approved: false,
        };
        if request.name.is_empty() && request.search.is_none() {
            return Err(ActivateError::BadArguments("`name` is missing".to_owned()));
        }
        Ok(request)
    }
}

/// Why nothing was activated. The messages are for the model and name only visible skills.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// The arguments have the wrong type.
    #[error("activate_skill: {0}")]
    BadArguments(String),
    /// The skill is missing in this view or denied; the error does not distinguish the two.
    #[error("unknown skill `{name}`{}", did_you_mean(.near))]
    Unknown {
        /// The requested name.
        name: String,
        /// At most five similar visible names.
        near: Vec<String>,
    },
    /// The requested file cannot be returned.
    #[error(transparent)]
    Resource(#[from] InvalidValue),
}

/// What the text states about the tool categories that a skill uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CategoryHint {
    /// Nothing, because the host has no `expand_tools`.
    Silent,
    /// That the model should expand them with `expand_tools`.
    #[default]
    Suggest,
}

/// One of the two messages of an activation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SkillMessage {
    /// The text.
    pub text: String,
    /// Whether the message is for the model only and hidden from the user.
    pub is_meta: bool,
}

/// An activated skill: `text` for the model, the other fields for the host.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Activation {
    /// The name that selects the skill, or `name@scope` for a copy whose name another skill has.
    pub name: String,
    /// The result of the call, for the model.
    pub text: String,
    /// Whether the same content was already active; `text` then only states that.
    pub repeated: bool,
    /// A status line for the user and the text for the model only, for hosts that inject messages
    /// instead.
    pub messages: [SkillMessage; 2],
    /// The skill's folder; empty for a builtin skill.
    pub folder: String,
    /// Its files, relative, sorted and limited in number.
    pub resources: Vec<String>,
    /// Tools that the host may pre-approve: those the skill requests, if it is trusted. Empty
    /// otherwise.
    pub pre_approved_tools: Vec<String>,
    /// The tools that an untrusted skill requests: only a suggestion to display.
    pub suggested_tools: Vec<String>,
    /// Tool categories that the skill uses.
    pub categories: Vec<String>,
    /// The model that the skill requests.
    pub model: Option<String>,
    /// Whether the skill runs inline or in a separate conversation.
    pub context: Context,
    /// The agent that the skill requests for a separate conversation.
    pub agent: Option<String>,
    /// The hash of the file.
    pub hash: ContentHash,
    /// The hash of the text rendered for this call.
    pub rendered: ContentHash,
    /// The scope of the skill.
    pub scope: Scope,
    /// Whether the skill's requests may be granted.
    pub trusted: bool,
    /// Unknown placeholders, and commands that were not run.
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The skill is active.
    Activated(Box<Activation>),
    /// The text of one file; nothing was activated.
    Resource(String),
    /// The result of a search; nothing was activated.
    Found(String),
    /// Approval is required; call again with `approved`.
    NeedsApproval {
        /// The skill's name.
        name: String,
    },
}

/// An active skill, as the session log stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ActiveSkill {
    /// The hash of its file at activation.
    pub hash: ContentHash,
    /// The hash of the text that the model received.
    pub rendered: ContentHash,
    /// The scope of the skill.
    pub scope: Scope,
}

impl From<&Activation> for ActiveSkill {
    fn from(activation: &Activation) -> Self {
        Self { hash: activation.hash.clone(), rendered: activation.rendered.clone(), scope: activation.scope }
    }
}

/// The active skills of a conversation, in the order of activation. A host's compaction keeps their
/// texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ActiveSet(IndexMap<String, ActiveSkill>);

impl ActiveSet {
    /// Records an activation read from a log.
    pub fn insert(&mut self, name: String, skill: ActiveSkill) {
        self.0.insert(name, skill);
    }

    /// Removes a skill whose text is no longer in the conversation.
    pub fn remove(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    /// The active skills.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &ActiveSkill)> {
        self.0.iter().map(|(name, skill)| (name.as_str(), skill))
    }

    /// An active skill by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ActiveSkill> {
        self.0.get(name)
    }
}

/// Answers a call. Permission is checked on the name before any text is read. Changes nothing: the
/// caller records the activation in its [`ActiveSet`].
///
/// # Errors
/// Returns an [`ActivateError`], whose message is suitable for the model.
pub fn activate(
    fs: &dyn SkillFs,
    view: &SkillView,
    request: &ActivateRequest,
    active: &ActiveSet,
    facts: &Facts,
    hint: CategoryHint,
) -> Result<Answer, ActivateError> {
    if let Some(query) = request.search.as_deref().filter(|_| request.name.is_empty()) {
        return Ok(Answer::Found(search::answer(view, query)));
    }
    let (skill, permission, path) = view.split(&request.name).ok_or_else(|| unknown(view, &request.name))?;
    let name = view.name_of(skill);
    if permission == Permission::Ask && !request.approved {
        return Ok(Answer::NeedsApproval { name: name.to_owned() });
    }
    match request.path.as_deref().or(path).filter(|p| !p.is_empty()) {
        Some(path) => Ok(Answer::Resource(resource::read(fs, skill, path)?)),
        None => Ok(Answer::Activated(Box::new(activation(fs, skill, name, request, active, facts, hint)))),
    }
}

/// Returns only the rendered Markdown of a skill, for its own tool (`skill:{name}`) in direct mode.
/// Permission and rendering are the same, without the frame, and the skill does not become active.
///
/// # Errors
/// As for [`activate`]. A skill that requires approval and has none is [`Answer::NeedsApproval`].
pub fn direct(view: &SkillView, request: &ActivateRequest, facts: &Facts) -> Result<Answer, ActivateError> {
    let (skill, permission) = view.get(&request.name).ok_or_else(|| unknown(view, &request.name))?;
    if permission == Permission::Ask && !request.approved {
        return Ok(Answer::NeedsApproval { name: view.name_of(skill).to_owned() });
    }
    if skill.fields().mode == Some(Mode::Sandbox) {
        let text = "this skill runs as a script; activate it with `activate_skill` instead";
        return Err(ActivateError::BadArguments(text.to_owned()));
    }
    let folder = skill.origin.folder.to_string_lossy();
    let plugin = skill.origin.plugin.as_ref().map(|folder| folder.to_string_lossy());
    let inputs = Inputs {
        arguments: request.arguments.as_deref(),
        declared: skill.fields().declared(),
        input: request.input.as_ref(),
        folder: &folder,
        plugin: plugin.as_deref(),
        facts: Some(facts),
    };
    Ok(Answer::Resource(render(skill.body(), inputs).text))
}

fn unknown(view: &SkillView, name: &str) -> ActivateError {
    let near = view.near(name).into_iter().map(str::to_owned).collect();
    ActivateError::Unknown { name: name.to_owned(), near }
}

fn activation(
    fs: &dyn SkillFs,
    skill: &Skill,
    name: &str,
    request: &ActivateRequest,
    active: &ActiveSet,
    facts: &Facts,
    hint: CategoryHint,
) -> Activation {
    let name = name.to_owned();
    let folder = skill.origin.folder.to_string_lossy().into_owned();
    let plugin = skill.origin.plugin.as_ref().map(|folder| folder.to_string_lossy());
    let inputs = Inputs {
        arguments: request.arguments.as_deref(),
        declared: skill.fields().declared(),
        input: request.input.as_ref(),
        folder: &folder,
        plugin: plugin.as_deref(),
        facts: Some(facts),
    };
    let rendered = render(skill.body(), inputs);
    let hash = ContentHash::of(rendered.text.as_bytes());
    let same = active.get(&name).is_some_and(|a| a.rendered == hash && a.scope == skill.origin.scope);
    let (resources, more) = resource::list(fs, &skill.origin.folder);
    let categories: Vec<String> = skill.fields().categories().into_iter().map(str::to_owned).collect();
    let text = if same {
        format!("Skill `{name}` is already active and unchanged; its instructions are above.")
    } else {
        wrap(&name, &rendered.text, &folder, &resources, more, &hint_line(&categories, hint))
    };
    let place = Place::file(&skill.origin.file.to_string_lossy());
    let mut diagnostics = Vec::new();
    for name in &rendered.unknown {
        let message = format!("placeholder `{name}` has no value and is unchanged");
        let note = Diagnostic::warning("placeholder", place.clone(), message);
        diagnostics.push(note.help("pass a value when activating, or remove the placeholder"));
    }
    for command in &rendered.commands {
        let note = Diagnostic::note("command", place.clone(), format!("the command `{command}` was not run"));
        diagnostics.push(note.help("skills are text; let the model call a tool for it"));
    }
    let wishes = skill.fields().allowed_tools.clone();
    let trusted = skill.origin.trusted;
    Activation {
        messages: [
            SkillMessage { text: format!("Loading skill `{}`", one_line(&name)), is_meta: false },
            SkillMessage { text: text.clone(), is_meta: true },
        ],
        text,
        repeated: same,
        resources,
        pre_approved_tools: if trusted { wishes.clone() } else { Vec::new() },
        suggested_tools: if trusted { Vec::new() } else { wishes },
        categories,
        model: skill.fields().model.clone(),
        context: skill.fields().context,
        agent: skill.fields().agent.clone(),
        hash: skill.hash.clone(),
        rendered: hash,
        scope: skill.origin.scope,
        trusted,
        diagnostics,
        folder,
        name,
    }
}

fn hint_line(categories: &[String], hint: CategoryHint) -> String {
    let names = quoted(categories, ", ");
    match hint {
        _ if names.is_empty() => String::new(),
        CategoryHint::Silent => String::new(),
        CategoryHint::Suggest => {
            format!(
                "\nThis skill uses the tool categories {names}: expand them with `expand_tools` to see every argument."
            )
        }
    }
}

fn wrap(name: &str, body: &str, folder: &str, resources: &[String], more: usize, hint: &str) -> String {
    // Prevents a body from closing its own frame.
    let body = body.replace("</skill_content", "&lt;/skill_content");
    let mut text = format!("<skill_content name=\"{}\">\n{body}\n</skill_content>", escape(name));
    if !folder.is_empty() {
        let _ = write!(text, "\nSkill folder: {folder} (relative paths in the text are relative to it)");
    }
    if !resources.is_empty() {
        text.push_str("\nFiles (read one by calling with `path`):");
        for file in resources {
            let _ = write!(text, "\n- {}", one_line(file));
        }
    }
    if more > 0 {
        let _ = write!(text, "\n- (and {more} more)");
    }
    text.push_str(hint);
    text
}
