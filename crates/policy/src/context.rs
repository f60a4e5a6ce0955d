//! The input of a decision: a call, and its context as the host provides it.
//!
//! The layer has no clock and sees no disk. Everything that it needs beyond the call is in
//! [`Context`]. What the context leaves out counts against permission, never for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::links::Links;
pub use toolfold_diagnostic::Annotations;

/// Who provides a tool. Part of its identity: two servers may provide tools of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolOrigin {
    /// The host itself.
    Native,
    /// The MCP server with this id, compared literally.
    Mcp(String),
}

impl ToolOrigin {
    /// The identity of a tool as rules and records write it: `name`, or `mcp:server/name`.
    #[must_use]
    pub fn identity(&self, tool: &str) -> String {
        match self {
            Self::Native => tool.to_owned(),
            Self::Mcp(server) => format!("mcp:{server}/{tool}"),
        }
    }

    /// Splits an identity that [`Self::identity`] wrote into the origin and the tool's name there.
    #[must_use]
    pub fn of_identity(identity: &str) -> (Self, &str) {
        match identity.strip_prefix("mcp:").and_then(|rest| rest.split_once('/')) {
            Some((server, tool)) => (Self::Mcp(server.to_owned()), tool),
            None => (Self::Native, identity),
        }
    }
}

/// A call that a model made, as the policy sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PolicyCall<'a> {
    /// The tool's name at its origin, without a server prefix.
    pub tool: &'a str,
    /// Who provides the tool.
    pub origin: &'a ToolOrigin,
    /// The parsed arguments. Anything but an object counts as unreadable.
    pub arguments: &'a Value,
}

impl<'a> PolicyCall<'a> {
    /// A call of a tool.
    #[must_use]
    pub fn new(origin: &'a ToolOrigin, tool: &'a str, arguments: &'a Value) -> Self {
        Self { tool, origin, arguments }
    }
}

/// What the host knows about the circumstances of a call. Default: no person can be
/// asked, nothing is trusted, nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The working folder of the call, absolute. `None`: relative paths are evaluated as relative.
    pub cwd: Option<String>,
    /// The user's home folder, absolute. `None`: `~` is unknown.
    pub home: Option<String>,
    /// Whether a person can be asked now. If not, ask becomes deny.
    pub interactive: bool,
    /// Whether a person trusts this workspace, so that the rules of its own files may allow.
    pub workspace_trusted: bool,
    /// Whether the tool's server is marked as trusted, so that its hints may also loosen.
    pub server_trusted: bool,
    /// The annotations that the server gives for the tool.
    pub annotations: Annotations,
    /// Whether file names are case-sensitive. `None`: unknown, so denies ignore case and allows do
    /// not.
    pub case_sensitive_paths: Option<bool>,
    /// Where symbolic links lead, for a call that is prepared without a [`Disk`](super::Disk): see
    /// [`Prepared::links`](super::Prepared::links).
    /// `None`: not resolved; paths are evaluated as written.
    pub links: Option<Links>,
    /// Absolute paths that no call may write: the policy files and the approval store.
    pub protected: Vec<String>,
    /// Absolute paths that no call may read or write: the approver's key.
    pub secrets: Vec<String>,
    /// Whether the tool's definition has changed since a rule or a grant allowed it.
    pub definition_changed: bool,
    /// Whether the call activates a skill of the host, which only gives the model a text: no rule
    /// or tier has to allow it.
    pub skill: bool,
    /// Why what is called needs approval by its own account, such as a skill whose file says so:
    /// counts as an ask.
    pub asks: Option<String>,
    /// The id of an earlier identical call whose outcome is unknown, because its process ended
    /// before it was reported: counts as an ask, unless the call only reads.
    pub unreported: Option<String>,
    /// The tenant: calls of one tenant are never counted for another. Empty: the store has one
    /// tenant.
    pub tenant: String,
    /// The session, for grants limited to a session and for rules over earlier calls.
    pub session: String,
    /// The project, for grants limited to a project.
    pub project: String,
    /// The current time in milliseconds since 1970-01-01 UTC, for expiry.
    pub now_ms: i64,
}

impl Context {
    /// Sets [`Self::cwd`].
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets [`Self::home`].
    #[must_use]
    pub fn with_home(mut self, home: impl Into<String>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets [`Self::interactive`].
    #[must_use]
    pub fn with_interactive(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
        self
    }

    /// Sets [`Self::protected`].
    #[must_use]
    pub fn with_protected(mut self, protected: Vec<String>) -> Self {
        self.protected = protected;
        self
    }

    /// Sets [`Self::session`].
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = session.into();
        self
    }

    /// Sets [`Self::now_ms`].
    #[must_use]
    pub fn with_now_ms(mut self, now_ms: i64) -> Self {
        self.now_ms = now_ms;
        self
    }
}
