//! The settings of a gateway: its servers, and the presentation of their tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use toolfold::catalog::{Catalog, Tool};
use toolfold::conversation::{Conversation, Snapshot};
use toolfold::diagnostic::Diagnostic;
use toolfold::policy::Approver;
use wildmatch::WildMatch;

use crate::capture::{Capture, digest_of_texts};
use crate::error::GatewayError;
use crate::link::Target;
use crate::names::ListedNames;
use crate::pins::Pins;
use crate::results::LargeResults;
use crate::rpc::{Answer, Raw};
use crate::seal::{Opened as Unsealed, Seal, Sealed, TokenError};
use crate::selection::Selection;
use crate::skills::ServedSkills;
use crate::state::{Clock, StateStore};
use crate::trust::{self, Trust};
use crate::watch::{Nobody, Watch};

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The name in the configuration, which is the provider of its tools in policy and audit.
    pub name: String,
    /// The connection to the server.
    pub target: Target,
    /// Globs of the tools to show. Empty: all.
    pub include: Vec<String>,
    /// Globs of the tools to hide.
    pub exclude: Vec<String>,
    /// The prefix of its tools' names in case of collisions. Default: its name.
    pub namespace: Option<String>,
    /// The time limit for starting and listing.
    pub start_timeout: Duration,
    /// The time limit for a call without progress. `None`: unlimited.
    pub call_timeout: Option<Duration>,
    /// The maximum number of tokens of a result, by the name of the tool; `*` is every other tool,
    /// and 0 is no maximum.
    pub max_result: BTreeMap<String, u32>,
    /// The trust in the server.
    pub trust: Trust,
    /// A digest of the connection without values of variables, which names captures.
    pub identity: String,
    /// Its last list, which is used until the server has listed.
    pub capture: Option<Arc<Capture>>,
    /// Why it cannot be started. Its names stay reserved.
    pub unusable: Option<String>,
}

impl ServerSettings {
    /// A server with default settings.
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
            max_result: BTreeMap::new(),
            trust: Trust::default(),
            capture: None,
            unusable: None,
        }
    }

    /// Checks a tool's definition according to the server's trust. Fails with the reason.
    pub(crate) fn trusted_definition(&self, definition: &Raw) -> Result<Raw, GatewayError> {
        match self.trust {
            Trust::Untrusted => trust::sanitized_tool(definition),
            Trust::Unstated | Trust::Trusted => Ok(definition.clone()),
        }
    }

    pub(crate) fn sanitized_answer(&self, answer: Answer) -> Answer {
        match answer {
            _ if self.trust != Trust::Untrusted => answer,
            Ok(result) => Ok(trust::strings(&result)),
            Err(error) => Err(trust::strings(&error)),
        }
    }

    /// The maximum number of tokens of a tool's result; `None` if there is none.
    #[must_use]
    pub fn limit_of(&self, tool: &str) -> Option<usize> {
        let limit = self.max_result.get(tool).or_else(|| self.max_result.get("*"))?;
        usize::try_from(*limit).ok().filter(|limit| *limit > 0)
    }

    /// Whether a tool is shown.
    #[must_use]
    pub fn shows(&self, tool: &str) -> bool {
        let matches = |globs: &[String]| globs.iter().any(|glob| glob_fits(glob, tool));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// Whether a glob of `include` and `exclude` matches a tool's name.
#[must_use]
pub fn glob_fits(glob: &str, tool: &str) -> bool {
    WildMatch::new(glob).matches(tool)
}

/// The identity of a target: the program with its arguments and directory, or the URL, and the
/// names of variables and headers.
#[must_use]
pub fn identity(target: &Target) -> String {
    let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>().join("\n");
    match target {
        Target::Stdio { command, args, env, inherit: _, cwd } => {
            let args = args.iter().map(|arg| format!("{}:{arg}", arg.len())).collect::<String>();
            digest_of_texts(&["stdio", command, &args, &names(env), cwd.as_deref().unwrap_or("")])
        }
        Target::Http { url, headers, .. } => digest_of_texts(&["http", url, &names(headers)]),
    }
}

/// The origin of a tool in the merged list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The index of the server in the settings.
    pub server: usize,
    /// The server's name.
    pub of: String,
    /// The tool's name at the server.
    pub tool: String,
}

/// A conversation for a merged list, with the user's handle on its approvals.
#[non_exhaustive]
pub struct Opened {
    /// The conversation, on wire MCP.
    pub conversation: Conversation,
    /// The user's handle on approvals; `None` without a policy.
    pub approver: Option<Arc<Approver>>,
    /// Warnings about the configuration.
    pub diagnostics: Vec<Diagnostic>,
    /// Tools that a client with its own deferral should load immediately, in addition to the
    /// meta-tools. `None`: no tool is marked.
    pub always_load: Option<BTreeSet<String>>,
}

impl Opened {
    /// A conversation, without an approver, diagnostics or a list of tools to load always.
    #[must_use]
    pub fn new(conversation: Conversation) -> Self {
        Self { conversation, approver: None, diagnostics: Vec::new(), always_load: None }
    }
}

/// A permitted run of a skill's script.
pub trait Script: Send + Sync {
    /// Runs it, and blocks until it has ended. Returns the text for the model, and whether it
    /// succeeded.
    fn run(&self) -> (String, bool);

    /// Kills it, also before it has started. [`run`](Self::run) then returns within a second.
    fn stop(&self);
}

/// Creates conversations from the command's configuration. `origins` maps each name of the
/// catalogue to its origin, `before` is the state of the conversation that the new one continues,
/// `id` is its name in the audit.
pub trait Layers: Send + Sync {
    /// Opens a conversation over these tools.
    ///
    /// # Errors
    /// [`GatewayError`] with the reason of the failure.
    fn open_conversation(
        &self,
        catalog: Catalog,
        origins: &BTreeMap<String, Origin>,
        before: Option<Snapshot>,
        id: &str,
    ) -> Result<Opened, GatewayError>;

    /// Whether servers are only listed, without a conversation over their tools. Default: no.
    fn only_lists(&self) -> bool {
        false
    }

    /// Why a tool may not be shown, under the name and with the definition that clients would get:
    /// it differs from a lock. Default: every tool may be shown.
    fn refuses(&self, tool: &Tool) -> Option<String> {
        let _ = tool;
        None
    }

    /// The categories that clients may select, in addition to servers. Default: none.
    fn categories(&self) -> Vec<String> {
        Vec::new()
    }

    /// The category of each tool, by the tool's name. Default: none has one.
    fn category_of(&self, catalog: &Catalog, origins: &BTreeMap<String, Origin>) -> BTreeMap<String, String> {
        let _ = (catalog, origins);
        BTreeMap::new()
    }

    /// Reports the end of a conversation, so that its resources can be closed. Default: nothing.
    fn conversation_ended(&self, id: &str) {
        let _ = id;
    }

    /// The skills that the gateway itself serves by the Skills extension. Default: none.
    fn skills(&self) -> Option<Arc<ServedSkills>> {
        None
    }

    /// Adds the tools of a conversation that run scripts of skills. Default: none.
    fn add_skill_tools(&self, id: &str, catalog: &mut Catalog) {
        let _ = (id, catalog);
    }

    /// The run that a call of a tool of a conversation starts, with its input. Default: `None`, no
    /// script runs.
    fn script(&self, id: &str, tool: &Tool, input: &serde_json::Value) -> Option<Arc<dyn Script>> {
        let _ = (id, tool, input);
        None
    }

    /// Reports, before a conversation is opened, that its client lists and loads skills itself, so
    /// that its model is not informed of them twice. Default: nothing.
    fn hosts_skills(&self, id: &str) {
        let _ = id;
    }

    /// The time for approvals, in milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// The store of conversations and its clock.
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

/// A profile that clients may select: its own layers, and a selection of the tools.
#[derive(Clone)]
#[non_exhaustive]
pub struct Profile {
    /// Creates the profile's conversations.
    pub layers: Arc<dyn Layers>,
    /// The tools of the profile.
    pub selection: Selection,
}

impl Profile {
    /// A profile with its layers and its selection of tools.
    #[must_use]
    pub fn new(layers: Arc<dyn Layers>, selection: Selection) -> Self {
        Self { layers, selection }
    }
}

/// A gateway's settings.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The servers, in the order of the configuration.
    pub servers: Vec<ServerSettings>,
    /// Whether every tool's name gets its server's namespace, not only colliding ones.
    pub always_namespace: bool,
    /// Whether approvals are requested through the client if it supports forms.
    pub elicits: bool,
    /// Creates conversations.
    pub layers: Arc<dyn Layers>,
    /// Seals the state that clients hold.
    pub seal: Seal,
    /// The tenant. Sealed and stored data of one tenant is not accepted for another.
    pub tenant: Arc<str>,
    /// The names that the tenant's servers have listed so far, on which the tools' names depend.
    pub names: Arc<ListedNames>,
    /// The accepted definitions of the servers' tools; `None`: changes are not noticed.
    pub pins: Option<Pins>,
    /// The store of conversations; `None`: they end with their hubs.
    pub state: Option<State>,
    /// Where long results are stored; `None`: results are not shortened.
    pub large: Option<LargeResults>,
    /// Observes the gateway.
    pub watch: Arc<dyn Watch>,
    /// How long, since the servers were started, requests wait for servers that have never listed
    /// their tools.
    pub start_budget: StartBudget,
    /// The tools that clients receive.
    pub selection: Selection,
    /// The profiles that clients over HTTP may select, by name.
    pub profiles: BTreeMap<String, Profile>,
}

/// How long requests wait for servers that have never listed their tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartBudget {
    /// Until each of them has listed its tools, or is down.
    Unlimited,
    /// At most this long.
    Fixed(Duration),
    /// As long as the client that the name in `clientInfo` identifies allows.
    OfClient,
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
            pins,
            state: _,
            large,
            watch: _,
            start_budget,
            selection,
            profiles,
        } = self;
        f.debug_struct("Settings")
            .field("servers", servers)
            .field("always_namespace", always_namespace)
            .field("elicits", elicits)
            .field("tenant", tenant)
            .field("pins", pins)
            .field("large", large)
            .field("start_budget", start_budget)
            .field("selection", selection)
            .field("profiles", &profiles.keys())
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// A gateway over servers, for one tenant: all tools, names without a namespace unless two are
    /// equal, approvals by elicitation, no stored state, no pins, no observer, no start budget, no
    /// profiles.
    #[must_use]
    pub fn new(servers: Vec<ServerSettings>, layers: Arc<dyn Layers>, seal: Seal) -> Self {
        Self {
            servers,
            always_namespace: false,
            elicits: true,
            layers,
            seal,
            tenant: DEFAULT_TENANT.into(),
            names: Arc::default(),
            pins: None,
            state: None,
            large: None,
            watch: Arc::new(Nobody),
            start_budget: StartBudget::Unlimited,
            selection: Selection::default(),
            profiles: BTreeMap::new(),
        }
    }

    /// Whether results of some tool are shortened, so that clients get the tool that reads them.
    #[must_use]
    pub fn shortens(&self) -> bool {
        self.large.is_some() && self.servers.iter().any(|own| own.max_result.values().any(|limit| *limit > 0))
    }

    /// The time for tokens, in milliseconds since 1970: the store's, if there is one.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.state.as_ref().map_or_else(|| self.layers.now_ms(), |state| state.clock.now_ms())
    }

    /// Seals a token for this gateway's tenant.
    #[must_use]
    pub fn sealed(&self, what: &Sealed) -> String {
        self.seal.close(&self.tenant, what, self.now_ms())
    }

    /// Opens a token. `None` if it is not a token of the gateway.
    ///
    /// # Errors
    /// [`TokenError`] if it was altered, belongs to another tenant, or has expired.
    #[must_use]
    pub fn unsealed(&self, token: &str) -> Option<Result<Unsealed, TokenError>> {
        self.seal.open_token(&self.tenant, token, self.now_ms())
    }
}
