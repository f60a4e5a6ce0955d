//! Rules: the effect for calls to certain tools under certain conditions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::capability::Family;
use super::command::{CommandPattern, OptionPattern};
use super::context::{Annotations, Context, PolicyCall, ToolOrigin};
use super::decision::Effect;
use super::glob::{glob, glob_fold, glob_inside, is_glob};
use super::host::HostPattern;
use super::memory::Memory;
use super::path::PathPattern;
use super::pattern_error::{InvalidValue, invalid};
use super::unicode::{fold, has_unseen};
use crate::diagnostic::{Place, invisible};

/// Who wrote a policy file and its rules. Ordered from the weakest to the strongest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PolicyScope {
    /// The project: its files only tighten, unless the workspace is trusted.
    Project,
    /// The user.
    #[default]
    User,
    /// The administrator of the machine. Managed denies are part of the floor.
    Managed,
}

impl PolicyScope {
    /// Whether its files may loosen: those of a project only in a trusted workspace.
    pub(crate) fn may_loosen(self, context: &Context) -> bool {
        self > Self::Project || context.workspace_trusted
    }
}

/// The tools that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPattern {
    /// `*`
    Any,
    /// A name or glob. An allow covers native tools only; ask and deny cover every tool of that
    /// name.
    Name(String),
    /// A tool of an MCP server. An allow compares the server literally; ask and deny cover every
    /// tool that claims the name.
    Mcp {
        /// The server's id.
        server: String,
        /// A glob over its tools.
        tool: String,
    },
}

impl ToolPattern {
    /// Reads `*`, `name`, `mcp:server/tool`, `mcp__server__tool`, `mcp__server`.
    ///
    /// # Errors
    /// [`InvalidValue`] if the name is empty or contains a character that names must not have.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() {
            return invalid("the tool's name is missing");
        }
        // Names may have blanks and any other visible character; brackets and quotes look like a
        // pattern that is not supported, and `?` matches them.
        let is_allowed = |c: char| match c {
            _ if c.is_ascii() => c.is_ascii_alphanumeric() || "_-.:/@*? ".contains(c),
            _ => invisible(c).is_none(),
        };
        if let Some(c) = text.chars().find(|&c| !is_allowed(c)) {
            return invalid(format!("`{}` is not allowed in a tool's name", c.escape_default()));
        }
        if text.trim() != text {
            return invalid("a blank before or after the tool's name");
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(rest) = text.strip_prefix("mcp:") {
            return match rest.split_once('/') {
                Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self::of_server(server, tool)),
                _ => invalid("write `mcp:server/tool`, or `mcp:server/*` for all tools of the server"),
            };
        }
        Ok(match text.strip_prefix("mcp__") {
            Some("") => return invalid("the server's name is missing"),
            Some(rest) => match rest.split_once("__") {
                Some((server, "")) => Self::of_server(server, "*"),
                Some((server, tool)) => Self::of_server(server, tool),
                None if is_glob(rest) => Self::Name(text.to_owned()),
                None => Self::of_server(rest, "*"),
            },
            None => Self::Name(text.to_owned()),
        })
    }

    fn of_server(server: &str, tool: &str) -> Self {
        Self::Mcp { server: server.to_owned(), tool: tool.to_owned() }
    }

    /// The identity of the one tool that it names; `None` if it may name several.
    pub(crate) fn identity(&self) -> Option<String> {
        match self {
            Self::Name(name) if !is_glob(name) => Some(name.clone()),
            Self::Mcp { server, tool } if !is_glob(tool) => Some(format!("mcp:{server}/{tool}")),
            Self::Any | Self::Name(_) | Self::Mcp { .. } => None,
        }
    }

    /// Whether the pattern covers a call: by the name of its tool or, for ask and deny, by the
    /// target of the dispatch.
    pub(crate) fn fits(&self, call: &PolicyCall<'_>, target: Option<&str>, effect: Effect) -> bool {
        // A name with invisible characters is not the name that was allowed.
        let plain = || !has_unseen(call.tool);
        match (self, call.origin, effect) {
            (Self::Any, _, Effect::Allow) => plain(),
            (Self::Any, _, _) => true,
            (Self::Name(pattern), ToolOrigin::Native, Effect::Allow) => {
                (pattern == call.tool || is_glob(pattern) && glob(pattern, call.tool)) && plain()
            }
            (Self::Name(_), ToolOrigin::Mcp(_), Effect::Allow)
            | (Self::Mcp { .. }, ToolOrigin::Native, Effect::Allow) => false,
            (Self::Name(pattern), origin, _) => {
                like(pattern, call.tool)
                    || matches!(target, Some(target) if like(pattern, target))
                    || matches!(origin, ToolOrigin::Mcp(server) if like(pattern, &joined(server, call.tool)))
            }
            (Self::Mcp { server, tool }, ToolOrigin::Mcp(have), Effect::Allow) => {
                server == have && glob(tool, call.tool) && plain()
            }
            (Self::Mcp { server, tool }, ToolOrigin::Mcp(have), _) => {
                (like(server, have) && like(tool, call.tool)) || like(&joined(server, tool), &joined(have, call.tool))
            }
            // A native tool with the joined name of a server's tool claims to be that tool.
            (Self::Mcp { server, tool }, ToolOrigin::Native, _) => like(&joined(server, tool), call.tool),
        }
    }
}

impl std::fmt::Display for ToolPattern {
    /// The pattern as rules write it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Name(name) => f.write_str(name),
            Self::Mcp { server, tool } => write!(f, "mcp:{server}/{tool}"),
        }
    }
}

/// Whether a pattern fits a name as ask and deny compare it: names that a person would read as the
/// same are the same.
fn like(pattern: &str, name: &str) -> bool {
    pattern == name || glob(pattern, name) || glob(&fold(pattern), &fold(name))
}

/// `mcp__server__tool`, with the characters replaced that providers forbid in names, as hosts do.
fn joined(server: &str, tool: &str) -> String {
    let forbidden = |c: char| !(c.is_ascii_alphanumeric() || "_-*?".contains(c));
    format!("mcp__{}__{}", server.replace(forbidden, "_"), tool.replace(forbidden, "_"))
}

/// The kind of access that a path condition covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub(crate) enum Access {
    /// Reading.
    Read,
    /// Writing, creating, deleting.
    Write,
}

impl Access {
    /// What a call with this access does to a file.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
        }
    }
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Its effect.
    pub effect: Effect,
    /// The tools that it covers.
    pub tool: ToolPattern,
    /// The family of tools that it also covers, from a compact name such as `Bash`.
    pub(crate) family: Option<Family>,
    /// The commands that it covers.
    pub(crate) command: Option<CommandPattern>,
    /// For an allow over commands: options that it covers though no row of the table of programs
    /// calls them harmless.
    pub(crate) options: Vec<OptionPattern>,
    /// The paths that it covers, and the kind of access. No access: any.
    pub(crate) path: Option<(PathPattern, Option<Access>)>,
    /// The hosts that it covers.
    pub(crate) host: Option<HostPattern>,
    /// The targets of a dispatching tool that it covers, as a glob.
    pub(crate) target: Option<String>,
    /// Conditions on arguments: `(name, glob)`. The name `*` matches every leaf.
    pub args: Vec<(String, String)>,
    /// The hints that the tool must have.
    pub annotations: Annotations,
    /// Whether it covers only tools whose record has `sends = true`.
    pub(crate) sends: bool,
    /// The condition on earlier calls.
    pub(crate) memory: Option<Memory>,
    /// The reason for the rule.
    pub why: Option<String>,
    /// Who wrote it.
    pub scope: PolicyScope,
    /// The rule on one line.
    pub text: String,
    /// Where it is written.
    pub place: Place,
}

impl Rule {
    /// Other spellings of the words of its command that an ask or a deny also concerns (`npm i` for
    /// `npm install`), at most twelve.
    #[must_use]
    pub fn other_spellings(&self) -> Vec<String> {
        self.command.as_ref().map(CommandPattern::other_spellings).unwrap_or_default()
    }

    /// Whether another rule differs at most in its place and its reason.
    pub(crate) fn decides_as(&self, other: &Self) -> bool {
        let (place, why) = (self.place.clone(), self.why.clone());
        Self { place, why, ..other.clone() } == *self
    }

    /// A rule about a tool, without conditions.
    #[must_use]
    pub fn new(effect: Effect, tool: ToolPattern, text: &str) -> Self {
        Self {
            effect,
            tool,
            family: None,
            command: None,
            options: Vec::new(),
            path: None,
            host: None,
            target: None,
            args: Vec::new(),
            annotations: Annotations::default(),
            sends: false,
            memory: None,
            why: None,
            scope: PolicyScope::User,
            text: text.to_owned(),
            place: Place::default(),
        }
    }

    /// What identifies the calls that it covers, wherever it is written.
    pub(crate) fn id(&self) -> Value {
        let access = self.path.as_ref().and_then(|(_, access)| *access);
        json!([self.text, access, self.target, self.annotations, self.sends])
    }

    /// Whether it has a condition besides the tool.
    pub(crate) fn is_conditional(&self) -> bool {
        self.names_commands()
            || self.path.is_some()
            || self.host.is_some()
            || !matches!(self.target.as_deref(), None | Some("*"))
            || !self.args.is_empty()
    }

    /// Whether it has a condition on commands.
    pub(crate) fn names_commands(&self) -> bool {
        matches!(&self.command, Some(pattern) if !pattern.any)
    }

    /// Whether it covers a tool: by name, or as one of its family. An allow for a family covers
    /// native tools only.
    pub(crate) fn covers(&self, call: &PolicyCall<'_>, target: Option<&str>, family: Option<Family>) -> bool {
        let of_family = self.family.is_some() && self.family == family;
        // In this order, because each rule is compared several times, and names take longer.
        of_family && (self.effect != Effect::Allow || *call.origin == ToolOrigin::Native)
            || self.tool.fits(call, target, self.effect)
    }

    /// Whether it is about neither paths nor hosts, so that it may cover what commands do.
    pub(crate) fn is_of_commands(&self) -> bool {
        self.path.is_none() && self.host.is_none()
    }

    /// Whether the arguments, the target and the hints meet the conditions on them.
    pub(crate) fn arguments_fit(&self, call: &PolicyCall<'_>, target: Option<&str>, hints: Annotations) -> bool {
        let loosen = self.effect == Effect::Allow;
        self.args.iter().all(|(name, pattern)| arg_fits(call.arguments, name, pattern, loosen))
            && match (self.target.as_deref(), target) {
                (None | Some("*"), _) => true,
                (Some(_), None) => false,
                (Some(pattern), Some(target)) if loosen => glob(pattern, target),
                (Some(pattern), Some(target)) => like(pattern, target),
            }
            && has_hint(self.annotations.read_only_hint, hints.read_only_hint)
            && has_hint(self.annotations.destructive_hint, hints.destructive_hint)
            && has_hint(self.annotations.idempotent_hint, hints.idempotent_hint)
            && has_hint(self.annotations.open_world_hint, hints.open_world_hint)
    }
}

/// Whether a tool has the hint that a rule wants, if it wants one.
fn has_hint(want: Option<bool>, have: Option<bool>) -> bool {
    want.is_none() || want == have
}

/// For an allow, every string of the argument must fit, and none that a wildcard covers has
/// characters that a person cannot see: a line end in an address is another header. For ask and
/// deny, one is enough.
fn arg_fits(arguments: &Value, name: &str, pattern: &str, loosen: bool) -> bool {
    let value = if name == "*" { Some(arguments) } else { arguments.get(name) };
    let mut leaves = Vec::new();
    collect(value.unwrap_or(&Value::Null), &mut leaves);
    if !loosen {
        return leaves.iter().any(|leaf| glob_fold(pattern, leaf) || like(pattern, leaf));
    }
    let seen = |leaf: &str| pattern == "*" || pattern == leaf || !has_unseen(leaf);
    !leaves.is_empty() && leaves.iter().all(|leaf| glob_inside(pattern, leaf) && seen(leaf))
}

fn collect(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => leaves.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|v| collect(v, leaves)),
        Value::Object(map) => map.values().for_each(|v| collect(v, leaves)),
        other => leaves.push(other.to_string()),
    }
}
