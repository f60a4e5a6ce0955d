//! One capability record a tool: everything policy knows of it, in one place.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::context::{Annotations, ToolOrigin};
use crate::diagnostic::Place;

/// How much a tool changes. Ordered from harmless to not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyTier {
    /// No effect outside the conversation: allowed.
    ReadOnly,
    /// Changes something that can be recovered: allowed, audited first.
    B,
    /// Changes something that a person should see first: confirmed.
    A,
}

impl PolicyTier {
    /// Reads `read_only`, `b` or `a`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "read_only" => Some(Self::ReadOnly),
            "b" => Some(Self::B),
            "a" => Some(Self::A),
            _ => None,
        }
    }
}

impl fmt::Display for PolicyTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::B => "B",
            Self::A => "A",
        })
    }
}

/// How a call can be taken back. Shown to the person before the yes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// From a copy of the written paths, made before the call.
    Snapshot,
    /// By another call that does the opposite.
    Inverse,
    /// Only by doing something else that makes up for it.
    Compensate,
    /// Not at all.
    #[default]
    Irreversible,
}

impl Undo {
    /// Reads `snapshot`, `inverse`, `compensate` or `irreversible`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "snapshot" => Some(Self::Snapshot),
            "inverse" => Some(Self::Inverse),
            "compensate" => Some(Self::Compensate),
            "irreversible" => Some(Self::Irreversible),
            _ => None,
        }
    }
}

/// Which compact rule names cover a tool beside its own: `Bash(…)` covers every tool of the family `Shell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// `Bash(command)`
    Shell,
    /// `Read(path)`
    Read,
    /// `Edit(path)`, `Write(path)`
    Edit,
    /// `WebFetch(domain:host)`
    Fetch,
}

impl Family {
    /// The family that a compact rule's name means, if any.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "Bash" | "Shell" => Some(Self::Shell),
            "Read" | "Glob" | "Grep" | "LS" | "NotebookRead" => Some(Self::Read),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some(Self::Edit),
            "WebFetch" => Some(Self::Fetch),
            _ => None,
        }
    }
}

/// An argument and how the call's tier depends on its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Actions {
    /// The argument's name.
    pub arg: String,
    /// The tier of each value. A value that is not here gets the record's own tier, or Tier A if that is lower.
    pub tiers: BTreeMap<String, PolicyTier>,
}

/// What policy knows of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolCapability {
    /// Its tier. Absent: nobody said, so it is confirmed.
    pub tier: Option<PolicyTier>,
    /// Arguments that name what is read. `a|b`: the first that is present.
    pub reads: Vec<String>,
    /// Arguments that name what is written. Absent (not empty): nobody said.
    pub writes: Option<Vec<String>>,
    /// Arguments that name a host or a URL.
    pub hosts: Vec<String>,
    /// The argument that holds a shell command.
    pub command: Option<String>,
    /// The argument that holds the working folder of that command.
    pub workdir: Option<String>,
    /// The argument that names the real target, where the tool only passes a call on.
    pub target: Option<String>,
    /// The compact rule names that cover it too.
    pub family: Option<Family>,
    /// How it can be taken back.
    pub undo: Undo,
    /// Tiers by action.
    pub actions: Option<Actions>,
    /// Where it stands.
    #[serde(skip)]
    pub place: Place,
}

impl ToolCapability {
    /// What is known of a tool that no file speaks of: the arguments of widely used tools, never a tier.
    #[must_use]
    pub fn builtin(tool: &str) -> Option<Self> {
        let list = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let family = Family::of_name(tool);
        let mut capability = Self { family, ..Self::default() };
        match (family, tool) {
            (Some(Family::Shell), _) => capability.command = Some("command".to_owned()),
            (Some(Family::Read), _) => capability.reads = list(&["file_path|path|notebook_path|pattern"]),
            (Some(Family::Edit), _) => capability.writes = Some(list(&["file_path|path|notebook_path|pattern"])),
            (Some(Family::Fetch), _) => capability.hosts = list(&["url"]),
            (None, "Agent" | "Task") => capability.target = Some("subagent_type".to_owned()),
            (None, "invoke_agent") => capability.target = Some("agent_name".to_owned()),
            (None, "Skill" | "activate_skill") => capability.target = Some("skill|name|command".to_owned()),
            (None, _) => return None,
        }
        Some(capability)
    }

    /// The tier of a call with these arguments and hints. Hints of an untrusted server only tighten.
    #[must_use]
    pub fn tier_of(
        &self,
        arguments: &Value,
        origin: &ToolOrigin,
        hints: Annotations,
        trusted: bool,
    ) -> Option<PolicyTier> {
        let mut tier = self.tier;
        if let Some(actions) = &self.actions {
            let value = arguments.get(&actions.arg).and_then(Value::as_str);
            tier = match value.and_then(|v| actions.tiers.get(v)) {
                Some(&tier) => Some(tier),
                None => tier.max(Some(PolicyTier::A)),
            };
        }
        let loosen = trusted && matches!(origin, ToolOrigin::Mcp(_));
        match (tier, hints.destructive_hint, hints.read_only_hint) {
            (_, Some(true), _) => Some(PolicyTier::A),
            (Some(PolicyTier::ReadOnly), _, Some(false)) => Some(PolicyTier::A),
            (None, _, Some(true)) if loosen => Some(PolicyTier::ReadOnly),
            (None, Some(false), _) if loosen => Some(PolicyTier::B),
            _ => tier,
        }
    }
}

/// The values of path-like arguments: strings, and strings in arrays. `a|b` takes the first that is present.
pub(crate) fn texts<'a>(arguments: &'a Value, names: &str) -> Vec<&'a str> {
    let value = names.split('|').find_map(|n| arguments.get(n).filter(|v| !v.is_null()));
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether an argument is there but is neither text nor a list of texts, so that it cannot be judged.
pub(crate) fn unreadable(arguments: &Value, names: &str) -> bool {
    match names.split('|').find_map(|n| arguments.get(n).filter(|v| !v.is_null())) {
        None | Some(Value::String(_)) => false,
        Some(Value::Array(items)) => !items.iter().all(Value::is_string),
        Some(_) => true,
    }
}
