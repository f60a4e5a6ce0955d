//! What is decided about: a call, and the facts about its surroundings that the host gives.
//!
//! The layer has no clock and sees no disk. Whatever it must know beyond the call stands in [`Context`]; what is
//! not said there counts against permission, never for it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::links::Links;
pub use crate::catalog::Annotations;

/// Who offers a tool. Part of a tool's identity: two servers may offer tools of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOrigin {
    /// The host itself.
    Native,
    /// The MCP server with this literal id.
    Mcp(String),
}

impl ToolOrigin {
    /// How the identity of a tool is written in rules and records: `name`, or `mcp:server/name`.
    #[must_use]
    pub fn identity(&self, tool: &str) -> String {
        match self {
            Self::Native => tool.to_owned(),
            Self::Mcp(server) => format!("mcp:{server}/{tool}"),
        }
    }
}

/// A call that a model made.
#[derive(Debug, Clone, Copy)]
pub struct PolicyCall<'a> {
    /// The tool's name as its origin gives it, without a server prefix.
    pub tool: &'a str,
    /// Who offers the tool.
    pub origin: &'a ToolOrigin,
    /// The arguments, parsed. Anything but an object is judged as arguments that cannot be read.
    pub arguments: &'a Value,
}

/// What the host knows about the surroundings of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The working folder of the call, absolute. Absent: relative paths are judged as relative.
    pub cwd: Option<String>,
    /// The user's home folder, absolute. Absent: `~` is an unknown.
    pub home: Option<String>,
    /// Whether somebody can answer a question now. If not, ask becomes deny.
    pub interactive: bool,
    /// Whether a person has said that this workspace's own files may decide things.
    pub workspace_trusted: bool,
    /// Whether the tool's server has been marked trusted, so that its hints may also loosen.
    pub server_trusted: bool,
    /// What the server says about the tool.
    pub annotations: Annotations,
    /// Whether file names differ by case. Absent: denies ignore case, allows do not.
    pub case_sensitive_paths: Option<bool>,
    /// Where paths lead: from [`Policy::links`](super::Policy::links), which asks a [`Disk`](super::Disk). Absent: nobody
    /// looked, and paths are judged as they are written.
    pub links: Option<Links>,
    /// Paths that no call may write: the policy files and the audit store. Absolute.
    pub protected: Vec<String>,
    /// Whether the tool's definition is not the one that a rule or a grant was given for.
    pub definition_changed: bool,
    /// Skills active now, with their content hashes: `(name, hash)`.
    pub active_skills: Vec<(String, String)>,
    /// The session, for grants that hold in one session only.
    pub session: String,
    /// The project, for grants that hold in one project only.
    pub project: String,
    /// Now, in milliseconds since 1970-01-01 UTC. For expiry; the layer has no clock.
    pub now_ms: i64,
}

impl Default for Context {
    /// Nobody can answer, nothing is trusted, nothing is known.
    fn default() -> Self {
        Self {
            cwd: None,
            home: None,
            interactive: false,
            workspace_trusted: false,
            server_trusted: false,
            annotations: Annotations::default(),
            case_sensitive_paths: None,
            links: None,
            protected: Vec::new(),
            definition_changed: false,
            active_skills: Vec::new(),
            session: String::new(),
            project: String::new(),
            now_ms: 0,
        }
    }
}
