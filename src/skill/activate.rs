//! `activate_skill`: from a call's arguments to the text the model reads and the data the host keeps.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{ContentHash, one_line};
use super::fields::{Context, Mode};
use super::fs::SkillFs;
use super::library::Skill;
use super::permission::Permission;
use super::render::{Facts, Inputs, render};
use super::resource::{self, ResourceError};
use super::roots::Scope;
use super::search;
use super::strict::escape;
use super::view::SkillView;
use crate::diagnostic::{Diagnostic, Place};

/// What a call of `activate_skill` asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ActivateRequest {
    /// A name, `name@scope` or `name/path`. Empty when only searching.
    pub name: String,
    /// One of the skill's files instead of its text.
    pub path: Option<String>,
    /// For `$ARGUMENTS` and `$1`….
    pub arguments: Option<String>,
    /// For `{{input.…}}`.
    pub input: Option<Value>,
    /// Words to look for instead of activating.
    pub search: Option<String>,
    /// A person has already said yes to this call.
    pub approved: bool,
}

impl ActivateRequest {
    /// Reads a call's arguments. `other` names a skill that the enum of `name` does not list; `command` and `skill` are
    /// taken for `name`, as other systems call it.
    ///
    /// # Errors
    /// [`ActivateError::BadArguments`] if they are no object or an argument is no text.
    pub fn from_json(arguments: &Value) -> Result<Self, ActivateError> {
        let bad = |what: &str| ActivateError::BadArguments(what.to_owned());
        let object = arguments.as_object().ok_or_else(|| bad("give an object with `name`"))?;
        let text = |keys: &[&str]| match keys.iter().find_map(|k| object.get(*k)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|t| !t.is_empty())),
            Some(_) => Err(bad(&format!("`{}` must be a text", keys.first().unwrap_or(&"name")))),
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
            return Err(bad("`name` is missing"));
        }
        Ok(request)
    }
}

/// Why nothing was activated. The messages are for the model; they name visible skills only.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// The arguments are of the wrong shape.
    #[error("activate_skill: {0}")]
    BadArguments(String),
    /// There is no such skill in this view, or it is denied: the two cannot be told apart.
    #[error("there is no skill `{name}`{}", hint(.near))]
    Unknown {
        /// The name asked for.
        name: String,
        /// At most five visible names close to it.
        near: Vec<String>,
    },
    /// The file asked for cannot be given.
    #[error(transparent)]
    Resource(#[from] ResourceError),
}

fn hint(near: &[String]) -> String {
    let names = near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.is_empty() { String::new() } else { format!("; did you mean {names}?") }
}

/// What the text says about the tool categories that a skill leans on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CategoryHint {
    /// Nothing: the host has no `expand_tools`.
    Silent,
    /// That the model should call `expand_tools` with them.
    #[default]
    Suggest,
    /// That they are expanded already (the engine does it, never this layer).
    Expanded,
}

/// One of the two messages of an activation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillMessage {
    /// The text.
    pub text: String,
    /// For the model only, not shown to people.
    pub is_meta: bool,
}

/// A skill that was activated, for the model (`text`) and for the host (all else).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Activation {
    /// What picked it: its name, or `name@scope` for a copy that lost its name to another.
    pub name: String,
    /// What the model gets as the result of its call.
    pub text: String,
    /// The same content was active already; `text` only says so.
    pub repeated: bool,
    /// A status line for people, and the text for the model only, for hosts that inject messages instead.
    pub messages: [SkillMessage; 2],
    /// The skill's folder; empty for a builtin one.
    pub folder: String,
    /// Its files, relative and sorted, capped.
    pub resources: Vec<String>,
    /// Tools that the host may approve in advance: the skill's wish, if it is trusted. Empty otherwise.
    pub pre_approved_tools: Vec<String>,
    /// The same wish of a skill that is not trusted: a suggestion to show, nothing more.
    pub suggested_tools: Vec<String>,
    /// Tool categories that it leans on.
    pub categories: Vec<String>,
    /// The model it would like.
    pub model: Option<String>,
    /// In line or in a conversation of its own.
    pub context: Context,
    /// The agent it would like for that.
    pub agent: Option<String>,
    /// The hash of the file.
    pub hash: ContentHash,
    /// The hash of the text as rendered for this call.
    pub rendered: ContentHash,
    /// Whose it is.
    pub scope: Scope,
    /// Whether its wishes may count.
    pub trusted: bool,
    /// Unknown placeholders, commands that were not run.
    pub diagnostics: Vec<Diagnostic>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A skill is active.
    Activated(Box<Activation>),
    /// The text of one file; nothing became active.
    Resource(String),
    /// The result of a search; nothing became active.
    Found(String),
    /// A person must decide first; call again with `approved`.
    NeedsApproval {
        /// The skill's name.
        name: String,
    },
}

/// One active skill, as the session's log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActiveSkill {
    /// The hash of its file when it was activated.
    pub hash: ContentHash,
    /// The hash of the text the model got.
    pub rendered: ContentHash,
    /// Whose it is.
    pub scope: Scope,
}

/// The skills that are active in a conversation, in the order of activation. A host's compaction keeps their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActiveSet(IndexMap<String, ActiveSkill>);

impl ActiveSet {
    /// Notes an activation; a new one of the same name takes the old one's place.
    pub fn record(&mut self, activation: &Activation) {
        let (hash, rendered) = (activation.hash.clone(), activation.rendered.clone());
        self.0.insert(activation.name.clone(), ActiveSkill { hash, rendered, scope: activation.scope });
    }

    /// Notes an activation as a log has it.
    pub fn insert(&mut self, name: String, skill: ActiveSkill) {
        self.0.insert(name, skill);
    }

    /// Takes a skill out: its text is no longer in the conversation.
    pub fn remove(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    /// The active skills.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &ActiveSkill)> {
        self.0.iter().map(|(name, skill)| (name.as_str(), skill))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ActiveSkill> {
        self.0.get(name)
    }
}

/// Answers a call. Permission is checked on the name before any text is looked at. Changes nothing: the caller records
/// the activation in its [`ActiveSet`].
///
/// # Errors
/// [`ActivateError`], whose text is fit to go back to the model.
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
    let unknown = || {
        let near = view.near(&request.name).into_iter().map(str::to_owned).collect();
        ActivateError::Unknown { name: request.name.clone(), near }
    };
    let (skill, permission, path) = view.split(&request.name).ok_or_else(unknown)?;
    let name = view.name_of(skill);
    if permission == Permission::Ask && !request.approved {
        return Ok(Answer::NeedsApproval { name: name.to_owned() });
    }
    match request.path.as_deref().or(path).filter(|p| !p.is_empty()) {
        Some(path) => Ok(Answer::Resource(resource::read(fs, skill, path)?)),
        None => Ok(Answer::Activated(Box::new(activation(fs, skill, name, request, active, facts, hint)))),
    }
}

/// The rendered Markdown of a skill alone, for its own tool (`skill:{name}`) in direct mode. Same permission, same
/// rendering, no wrapping; the skill does not become active.
///
/// # Errors
/// As [`activate`]; a skill that asks for a person's word first and has not got it is [`Answer::NeedsApproval`].
pub fn direct(view: &SkillView, request: &ActivateRequest, facts: &Facts) -> Result<Answer, ActivateError> {
    let (skill, permission) = view.get(&request.name).ok_or_else(|| {
        let near = view.near(&request.name).into_iter().map(str::to_owned).collect();
        ActivateError::Unknown { name: request.name.clone(), near }
    })?;
    if permission == Permission::Ask && !request.approved {
        return Ok(Answer::NeedsApproval { name: view.name_of(skill).to_owned() });
    }
    if skill.fields().mode == Some(Mode::Sandbox) {
        let text = "this skill wants to be run as a script; activate it with `activate_skill` instead";
        return Err(ActivateError::BadArguments(text.to_owned()));
    }
    let folder = skill.origin.folder.to_string_lossy();
    let inputs = Inputs {
        arguments: request.arguments.as_deref(),
        input: request.input.as_ref(),
        folder: &folder,
        facts: Some(facts),
    };
    Ok(Answer::Resource(render(skill.body(), inputs).text))
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
    let inputs = Inputs {
        arguments: request.arguments.as_deref(),
        input: request.input.as_ref(),
        folder: &folder,
        facts: Some(facts),
    };
    let rendered = render(skill.body(), inputs);
    let hash = ContentHash::of(rendered.text.as_bytes());
    let same = active.get(&name).is_some_and(|a| a.rendered == hash && a.scope == skill.origin.scope);
    let (resources, more) = resource::list(fs, skill);
    let categories: Vec<String> = skill.fields().categories().into_iter().map(str::to_owned).collect();
    let text = if same {
        format!("The skill `{name}` is active already and has not changed: its instructions are further up.")
    } else {
        wrap(&name, &rendered.text, &folder, &resources, more, &hint_line(&categories, hint))
    };
    let place = || Place::file(&skill.origin.file.to_string_lossy());
    let unknown = rendered.unknown.iter().map(|p| {
        Diagnostic::warning("placeholder", place(), format!("nothing is known for `{p}`, so it stayed"))
            .help("give the value when activating, or take the placeholder out")
    });
    let commands = rendered.commands.iter().map(|c| {
        Diagnostic::note("command", place(), format!("the command `{c}` was not run"))
            .help("skills are text; let the model call a tool for it")
    });
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
        diagnostics: unknown.chain(commands).collect(),
        folder,
        name,
    }
}

fn hint_line(categories: &[String], hint: CategoryHint) -> String {
    let names = categories.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ");
    match hint {
        _ if names.is_empty() => String::new(),
        CategoryHint::Silent => String::new(),
        CategoryHint::Suggest => {
            format!(
                "\nThis skill leans on the tool categories {names}: call `expand_tools` for them to see every argument."
            )
        }
        CategoryHint::Expanded => format!("\nThe tool categories {names}, which this skill leans on, are expanded."),
    }
}

fn wrap(name: &str, body: &str, folder: &str, resources: &[String], more: usize, hint: &str) -> String {
    // A body cannot close its own frame.
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
