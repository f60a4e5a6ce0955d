//! Capability records: everything the policy knows about a tool, one record for each tool.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::{Annotations, ToolOrigin};
use super::dialect::{Dialect, Shell};
use super::memory::Label;
use super::skill_run::{self, SKILL_RUN};
use crate::diagnostic::Place;

/// How much a tool changes. Ordered from harmless to harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PolicyTier {
    /// No effect outside the conversation: allowed.
    ReadOnly,
    /// Changes something that can be recovered: allowed once the audit record is written.
    B,
    /// Changes something that a person should see first: needs approval.
    A,
}

impl PolicyTier {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_value(text.into()).ok()
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

/// How a call can be undone. Displayed to the person before they approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Undo {
    /// By restoring a copy of the written paths, made before the call.
    Snapshot,
    /// By another call that reverses it.
    Inverse,
    /// Only by another action that compensates for it.
    Compensate,
    /// Not at all.
    #[default]
    Irreversible,
}

impl fmt::Display for Undo {
    /// `snapshot`, `inverse`, `compensate` or `irreversible`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The family of a tool. A compact rule for the family covers the tool: `Bash(…)` covers every tool
/// of the family `Shell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// `Bash(command)`
    Shell,
    /// `Read(path)`
    Read,
    /// `Edit(path)`, `Write(path)`
    Edit,
    /// `WebFetch(domain:host)`
    Fetch,
    /// `Skill(name)`
    Skill,
}

impl Family {
    /// The family that the name of a compact rule refers to, if any.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "Bash" | "Shell" => Some(Self::Shell),
            "Read" | "Glob" | "Grep" | "LS" | "NotebookRead" => Some(Self::Read),
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some(Self::Edit),
            "WebFetch" => Some(Self::Fetch),
            "Skill" | "activate_skill" => Some(Self::Skill),
            _ => None,
        }
    }
}

/// An argument on whose value the tier of the call depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Actions {
    /// The argument's name.
    pub arg: String,
    /// The tier of each value. Any other value gets the tool's own tier, but at least Tier A.
    pub tiers: BTreeMap<String, PolicyTier>,
}

/// What the policy knows about a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolCapability {
    /// Its tier. `None`: unknown, so every call needs approval.
    pub tier: Option<PolicyTier>,
    /// The arguments that name what the tool reads. `a|b`: every one that is present is judged.
    pub reads: Vec<String>,
    /// The arguments that name what the tool writes. `None` (unlike an empty list): not declared.
    pub writes: Option<Vec<String>>,
    /// The arguments that name a host or a URL.
    pub hosts: Vec<String>,
    /// The argument that contains a shell command.
    pub command: Option<String>,
    /// The argument that contains the working folder of that command.
    pub workdir: Option<String>,
    /// The shell that reads that command. `None`: not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// Whether that shell is interactive, and expands `!`. `None`: not stated, so it may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<bool>,
    /// The argument that names the real target, where the tool only dispatches calls.
    pub target: Option<String>,
    /// Its family: compact rules for the family cover the tool too.
    pub family: Option<Family>,
    /// How a call can be undone.
    pub undo: Undo,
    /// What its results contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trust: Option<Label>,
    /// Whether it sends data to others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sends: bool,
    /// Whether a second identical call in a conversation asks: `repeat = "ask"`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeat_asks: bool,
    /// Arguments that change nothing that the tool does, such as the model's reason for the call. A
    /// remembered approval covers calls that differ only in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The tiers of its actions.
    pub actions: Option<Actions>,
    /// Why it is in its tier: a person who is asked reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where the record is written.
    #[serde(skip)]
    pub place: Place,
    /// Whether a part of it could not be read: then it has no tier, and every call asks.
    #[serde(skip)]
    pub is_broken: bool,
}

impl ToolCapability {
    /// The built-in record of a tool that no policy file covers: the arguments of widely used
    /// tools, without a tier, and [`SKILL_RUN`].
    #[must_use]
    pub fn builtin(tool: &str) -> Option<Self> {
        let family = Family::of_name(tool);
        let mut record = Self { family, ..Self::default() };
        match (family, tool) {
            (Some(Family::Shell), _) => {
                record.command = Some("command".to_owned());
                record.workdir = Some("workdir|cwd|directory|working_directory".to_owned());
            }
            // What is searched for is no path.
            (Some(Family::Read), "Grep") => record.reads.push("file_path|path|notebook_path".to_owned()),
            (Some(Family::Read), _) => record.reads.push("file_path|path|notebook_path|pattern".to_owned()),
            (Some(Family::Edit), _) => record.writes = Some(vec!["file_path|path|notebook_path|pattern".to_owned()]),
            (Some(Family::Fetch), _) => record.hosts.push("url".to_owned()),
            (None, "Agent" | "Task") => record.target = Some("subagent_type".to_owned()),
            (None, "invoke_agent") => record.target = Some("agent_name".to_owned()),
            (Some(Family::Skill), _) => record.target = Some("skill|name|command".to_owned()),
            (None, SKILL_RUN) => return Some(skill_run::record()),
            (None, _) => return None,
        }
        Some(record)
    }

    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        let single = [&self.command, &self.workdir, &self.target];
        let action = self.actions.iter().map(|actions| actions.arg.as_str());
        self.lists().chain(single.into_iter().flatten()).flat_map(|names| names.split('|')).chain(action)
    }

    /// Whether it declares an argument.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.declared().any(|own| own == name)
    }

    /// The arguments with files and hosts, each with its alternatives.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &String> {
        self.reads.iter().chain(self.writes.iter().flatten()).chain(&self.hosts)
    }

    /// The arguments of a call without those that change nothing.
    pub(crate) fn compared(&self, arguments: &Value) -> Value {
        let mut compared = arguments.clone();
        if let Value::Object(map) = &mut compared {
            map.retain(|name, _| !self.ignore.contains(name));
        }
        compared
    }

    /// How its commands are read. A shell that the record does not describe may be interactive.
    pub(crate) fn dialect(&self) -> Dialect {
        Dialect { shell: self.shell, interactive: self.interactive != Some(false) }
    }

    /// Whether the commands of the tool are those of a shell that is not read: by the record, or by
    /// the tool's name where the record does not state a shell.
    pub(crate) fn is_of_other_shell(&self, tool: &str) -> bool {
        let shell = match (self.shell, &self.command) {
            (None, Some(_)) => Shell::of_name(tool),
            (shell, _) => shell,
        };
        shell == Some(Shell::Other)
    }

    /// Whether a record adds to a built-in one only how a call is undone and which shell reads the
    /// command. Such a record declares no arguments.
    pub(crate) fn says_only_undo(&self, tool: &str) -> bool {
        let Self { undo, shell, interactive, trust, sends, repeat_asks, is_broken, .. } = *self;
        let (place, why, ignore) = (self.place.clone(), self.why.clone(), self.ignore.clone());
        let adds = undo != Undo::default()
            || shell.is_some()
            || interactive.is_some()
            || trust.is_some()
            || sends
            || repeat_asks
            || !ignore.is_empty();
        let Some(known) = Self::builtin(tool) else { return false };
        let known = Self { undo, shell, interactive, trust, sends, repeat_asks, ..known };
        adds && *self == Self { place, is_broken, why, ignore, ..known }
    }

    /// The same with the arguments that another record declares. What this one declares stays: its
    /// tier and family, its command and where that runs.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        add_new(&mut self.reads, &other.reads);
        add_new(&mut self.hosts, &other.hosts);
        if let Some(more) = &other.writes {
            add_new(self.writes.get_or_insert_default(), more);
        }
        if self.command.is_none() && other.command.is_some() {
            self.command.clone_from(&other.command);
            self.workdir.clone_from(&other.workdir);
        }
        self.shell = Shell::stricter(self.shell, other.shell);
        self.interactive = if other.interactive == Some(true) { Some(true) } else { self.interactive };
        self.trust = self.trust.or(other.trust);
        self.sends |= other.sends;
        self.repeat_asks |= other.repeat_asks;
        self.target = self.target.or_else(|| other.target.clone());
        self
    }

    /// The tier of a call with these arguments and hints. The hints of an untrusted server only
    /// tighten it.
    pub(crate) fn tier_of(
        &self,
        arguments: &Value,
        origin: &ToolOrigin,
        hints: Annotations,
        trusted: bool,
    ) -> Option<PolicyTier> {
        let mut tier = self.tier;
        if let Some(actions) = &self.actions {
            let of_action = match arguments.get(&actions.arg) {
                Some(Value::String(action)) => actions.tiers.get(action).copied(),
                _ => None,
            };
            tier = of_action.or(tier.max(Some(PolicyTier::A)));
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

fn add_new(own: &mut Vec<String>, more: &[String]) {
    for names in more {
        if !own.contains(names) {
            own.push(names.clone());
        }
    }
}

/// The arguments that a name refers to: for `a|b`, every one that is present, since a tool may take
/// any of them.
fn named<'a>(arguments: &'a Value, names: &str) -> impl Iterator<Item = &'a Value> {
    names.split('|').filter_map(|name| arguments.get(name).filter(|value| !value.is_null()))
}

/// The values of path-like arguments: strings, and strings in arrays. Of `a|b` every one that is
/// present.
pub(crate) fn texts<'a>(arguments: &'a Value, names: &str) -> Vec<&'a str> {
    named(arguments, names).flat_map(leaves).filter_map(Value::as_str).collect()
}

/// The texts of arguments, each given with its alternatives.
pub(crate) fn texts_of<'a>(arguments: &'a Value, lists: &[String]) -> Vec<&'a str> {
    lists.iter().flat_map(|names| texts(arguments, names)).collect()
}

/// Whether an argument is present but is neither a string nor a list of strings, so that it cannot
/// be evaluated.
pub(crate) fn unreadable(arguments: &Value, names: &str) -> bool {
    named(arguments, names).flat_map(leaves).any(|value| !value.is_string())
}

/// The items of a list, or the one value.
fn leaves(value: &Value) -> &[Value] {
    if let Value::Array(items) = value { items } else { std::slice::from_ref(value) }
}
