//! What a gateway is made of: its servers, and what it does with their tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Snapshot};
use toolfold::diagnostic::Diagnostic;
use toolfold::policy::Approver;
use wildmatch::WildMatch;

use crate::capture::{Capture, digest_of_texts};
use crate::error::GatewayError;
use crate::link::Target;
use crate::names::ListedNames;
use crate::rpc::{Answer, Raw};
use crate::seal::{Opened as Unsealed, Seal, Sealed, TokenError};
use crate::selection::Selection;
use crate::skills::ServedSkills;
use crate::state::{Clock, StateStore};
use crate::trust::{self, Trust};
use crate::watch::Watch;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// Its name in the configuration: who provides its tools, for policy and audit.
    pub name: String,
    /// How it is reached.
    pub target: Target,
    /// Which of its tools are shown, as globs. Empty: all.
    pub include: Vec<String>,
    /// Which are not, as globs.
    pub exclude: Vec<String>,
    /// What stands before its tools' names where they collide. Default: its name.
    pub namespace: Option<String>,
    /// How long it may take to start and to list.
    pub start_timeout: Duration,
    /// How long a call may take without a sign of life. `None`: for ever.
    pub call_timeout: Option<Duration>,
    /// How far it is trusted.
    pub trust: Trust,
    /// A digest of how it is reached, in which no value of a variable takes part: what captures are kept under.
    pub identity: String,
    /// What it listed last time: the list is answered from it until the server has listed.
    pub capture: Option<Arc<Capture>>,
}

impl ServerSettings {
    /// A server with everything else as usual.
    #[must_use]
    pub fn new(name: &str, target: Target) -> Self {
        Self {
            name: name.to_owned(),
            identity: identity(&target),
            target,
            include: Vec::new(),
            exclude: Vec::new(),
            namespace: None,
            start_timeout: Duration::from_secs(30),
            call_timeout: None,
            trust: Trust::default(),
            capture: None,
        }
    }

    /// A tool's definition as it is taken from this server.
    ///
    /// # Errors
    /// [`GatewayError`], which says why it is not taken.
    pub(crate) fn taken(&self, definition: &Raw) -> Result<Raw, GatewayError> {
        match self.trust {
            Trust::Untrusted => trust::sanitized_tool(definition),
            Trust::Unstated | Trust::Trusted => Ok(definition.clone()),
        }
    }

    /// An answer as it is taken from this server.
    pub(crate) fn sanitized_answer(&self, answer: Answer) -> Answer {
        match answer {
            _ if self.trust != Trust::Untrusted => answer,
            Ok(result) => Ok(trust::strings(&result)),
            Err(error) => Err(trust::strings(&error)),
        }
    }

    /// Whether a tool is shown.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        let matches = |globs: &[String]| globs.iter().any(|glob| glob_fits(glob, tool));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// Whether a glob of `include` and `exclude` fits a tool's name.
#[must_use]
pub fn glob_fits(glob: &str, tool: &str) -> bool {
    WildMatch::new(glob).matches(tool)
}

/// The identity of a target: the program with its arguments and folder, or the URL, and the names of variables and headers.
#[must_use]
pub fn identity(target: &Target) -> String {
    let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>().join("\n");
    match target {
        Target::Stdio { command, args, env, cwd } => {
            let args = args.iter().map(|arg| format!("{}:{arg}", arg.len())).collect::<String>();
            digest_of_texts(&["stdio", command, &args, &names(env), cwd.as_deref().unwrap_or("")])
        }
        Target::Http { url, headers, .. } => digest_of_texts(&["http", url, &names(headers)]),
    }
}

/// Where a tool of the merged list comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The server's place in the settings.
    pub server: usize,
    /// The server's name.
    pub of: String,
    /// The tool's name there.
    pub tool: String,
}

/// A conversation for a merged list, and the person's handle on its approvals.
pub struct Opened {
    /// The conversation, on wire MCP.
    pub conversation: Conversation,
    /// The person's handle, where policy is on.
    pub approver: Option<Arc<Approver>>,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
    /// Tools that the client is asked to load at once, where it defers the others itself; our meta-tools are with them.
    /// `None`: nothing is marked.
    pub always_load: Option<BTreeSet<String>>,
}

/// Makes conversations: what the command builds from its configuration. `origins` maps each name of the catalogue to where it
/// comes from, `before` is what the conversation knows that the new one goes on from, `id` names it in the audit.
pub trait Layers: Send + Sync {
    /// A conversation over these tools.
    ///
    /// # Errors
    /// [`GatewayError`], which says why it cannot be made.
    fn open_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, GatewayError>;

    /// Whether nobody is shown anything: servers are listed, and no conversation is made of their tools. Default: no.
    fn only_lists(&self) -> bool {
        false
    }

    /// The categories that a client may choose by, beside servers. Default: none.
    fn categories(&self) -> Vec<String> {
        Vec::new()
    }

    /// The category of each tool, by the tool's name. Default: none has one.
    fn category_of(&self, catalog: &Catalog, origins: &BTreeMap<String, Origin>) -> BTreeMap<String, String> {
        let _ = (catalog, origins);
        BTreeMap::new()
    }

    /// A conversation has ended: what was opened for it can be closed. Default: there is nothing.
    fn conversation_ended(&self, id: &str) {
        let _ = id;
    }

    /// The skills that the gateway serves itself by the Skills extension. Default: none.
    fn skills(&self) -> Option<Arc<ServedSkills>> {
        None
    }

    /// The client of a conversation lists and loads skills by itself: its model is not told of them a second time. Said before
    /// the conversation is opened. Default: nothing follows.
    fn hosts_skills(&self, id: &str) {
        let _ = id;
    }

    /// The time, in milliseconds since 1970, as approvals count it.
    fn now_ms(&self) -> i64;
}

/// Where conversations are kept, and what time it is there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct State {
    /// The store.
    pub store: Arc<dyn StateStore>,
    /// Its clock.
    pub clock: Arc<Clock>,
}

/// The tenant of a gateway that has only one.
pub const DEFAULT_TENANT: &str = "default";

/// A profile that clients may choose: other layers, and a part of the tools.
#[derive(Clone)]
pub struct Profile {
    /// What makes its conversations.
    pub layers: Arc<dyn Layers>,
    /// Which of the tools it has.
    pub selection: Selection,
}

/// A gateway's settings.
#[derive(Clone)]
pub struct Settings {
    /// The servers, in the order of the configuration.
    pub servers: Vec<ServerSettings>,
    /// Whether every tool's name gets its server's namespace, and not only names that collide.
    pub always_namespace: bool,
    /// Whether a person is asked about a call through the client, where it has forms.
    pub elicits: bool,
    /// What makes conversations.
    pub layers: Arc<dyn Layers>,
    /// What seals the state that clients keep.
    pub seal: Seal,
    /// Whose gateway this is: nothing that is sealed or kept for one tenant is taken for another.
    pub tenant: Arc<str>,
    /// The names that this tenant's servers have ever listed, which names of tools depend on.
    pub names: Arc<ListedNames>,
    /// Where conversations are kept; `None`: they end with their hubs.
    pub state: Option<State>,
    /// Who looks on.
    pub watch: Arc<dyn Watch>,
    /// Which of the tools clients get.
    pub selection: Selection,
    /// The profiles that clients over HTTP may choose when they connect, by name.
    pub profiles: BTreeMap<String, Profile>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            servers,
            always_namespace,
            elicits,
            layers: _,
            seal: _,
            tenant,
            names: _,
            state: _,
            watch: _,
            selection,
            profiles,
        } = self;
        f.debug_struct("Settings")
            .field("servers", servers)
            .field("always_namespace", always_namespace)
            .field("elicits", elicits)
            .field("tenant", tenant)
            .field("selection", selection)
            .field("profiles", &profiles.keys())
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// The time by which tokens are sealed and opened, in milliseconds since 1970: that of the store, if there is one.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.state.as_ref().map_or_else(|| self.layers.now_ms(), |state| state.clock.now_ms())
    }

    /// Seals a token for this gateway's tenant.
    #[must_use]
    pub fn sealed(&self, what: &Sealed) -> String {
        self.seal.close(&self.tenant, what, self.now_ms())
    }

    /// Opens one. `None` if it is none of the gateway's.
    ///
    /// # Errors
    /// [`TokenError`] if it was altered, is another tenant's, or is too old.
    #[must_use]
    pub fn unsealed(&self, token: &str) -> Option<Result<Unsealed, TokenError>> {
        self.seal.open_token(&self.tenant, token, self.now_ms())
    }
}
