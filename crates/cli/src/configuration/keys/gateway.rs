//! `[gateway]`: which servers the gateway connects to, and how it is reached.

use std::time::Duration;

use super::super::parse::{client, max_result, on_change, optional, optional_period, parse_into, switch};
use super::super::paths::Paths;
use super::super::scope::Scope;
use super::keys;
use toolfold_gateway::clients::McpClient;
use toolfold_gateway::pins::OnChange;

/// Why a project cannot set the servers of the gateway, or how it is reached.
const SERVERS: Scope = Scope::User("a project cannot configure servers or how the gateway is reached");

/// The values of `[gateway]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gateway {
    /// The file with the servers; `-` is standard input.
    pub servers: Option<String>,
    /// Whether every tool's name is prefixed with its server's.
    pub namespace: bool,
    /// The client that is served.
    pub client: &'static McpClient,
    /// Whether approvals are requested through the client's forms.
    pub elicitation: bool,
    /// The address to serve HTTP on.
    pub http: Option<String>,
    /// The environment variable with the token of requests over HTTP.
    pub token_env: Option<String>,
    /// The file that stores sessions over HTTP.
    pub state: Option<String>,
    /// The environment variable with the key that seals ids and state.
    pub state_key_env: Option<String>,
    /// Whether the introductions and the lists of servers are stored for the next start.
    pub remember: bool,
    /// What happens to tools that differ from their pins.
    pub on_change: OnChange,
    /// The lock that tools must match; `None`: none.
    pub lock: Option<String>,
    /// How long a list waits for servers that have never listed. `None`: as the client allows.
    pub start_budget: Option<Duration>,
    /// The maximum number of tokens of a server's result; 0: none.
    pub max_result: u32,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            servers: None,
            namespace: false,
            client: McpClient::generic(),
            elicitation: true,
            http: None,
            token_env: None,
            state: None,
            state_key_env: None,
            remember: true,
            on_change: OnChange::default(),
            lock: None,
            start_budget: None,
            max_result: 0,
        }
    }
}

keys! {
    SERVERS_FILE = "gateway.servers" {
        scope: SERVERS,
        paths: Paths::File,
        env: "TOOLFOLD_GATEWAY_SERVERS",
        flag: "--servers",
        default: "",
        help: "the file that lists the gateway's servers; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.servers, text, optional),
    }
    NAMESPACE = "gateway.namespace" {
        scope: Scope::Project,
        env: "TOOLFOLD_GATEWAY_NAMESPACE",
        flag: "--namespace",
        default: "off",
        help: "whether every tool's name is prefixed with its server, not only if names collide",
        store: |settings, text| parse_into(&mut settings.gateway.namespace, text, switch),
    }
    CLIENT = "gateway.client" {
        scope: Scope::Project,
        env: "TOOLFOLD_GATEWAY_CLIENT",
        flag: "--client",
        default: "generic",
        help: "the client that the gateway serves: reserved names, and whether it defers tools itself",
        store: |settings, text| parse_into(&mut settings.gateway.client, text, client),
    }
    ELICITATION = "gateway.elicitation" {
        scope: Scope::Project,
        env: "TOOLFOLD_GATEWAY_ELICITATION",
        flag: "--no-elicitation",
        default: "on",
        help: "whether approvals are requested through the client's forms; off: only toolfold approvals and the console",
        store: |settings, text| parse_into(&mut settings.gateway.elicitation, text, switch),
    }
    HTTP = "gateway.http" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_HTTP",
        flag: "--http",
        default: "",
        help: "the address to serve HTTP on, instead of standard input and output; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.http, text, optional),
    }
    TOKEN_ENV = "gateway.token_env" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_TOKEN_ENV",
        flag: "--token-env",
        default: "",
        help: "the variable with the token of requests over HTTP; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.token_env, text, optional),
    }
    STATE = "gateway.state" {
        scope: SERVERS,
        paths: Paths::File,
        env: "TOOLFOLD_GATEWAY_STATE",
        flag: "--state",
        default: "",
        help: "the file that stores sessions over HTTP; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.state, text, optional),
    }
    STATE_KEY_ENV = "gateway.state_key_env" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_STATE_KEY_ENV",
        flag: "--state-key-env",
        default: "",
        help: "the variable with the key that seals ids and state of sessions; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.state_key_env, text, optional),
    }
    REMEMBER = "gateway.remember" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_REMEMBER",
        flag: "--no-remember",
        default: "on",
        help: "whether what servers list is stored, so that the next start does not wait for them; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.remember, text, switch),
    }
    ON_CHANGE = "gateway.on_change" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_ON_CHANGE",
        flag: "--on-change",
        default: "ask",
        help: "what happens to tools that differ from their pins: ask, hide, accept or strict; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.on_change, text, on_change),
    }
    LOCK = "gateway.lock" {
        scope: SERVERS,
        paths: Paths::File,
        env: "TOOLFOLD_GATEWAY_LOCK",
        flag: "--lock",
        default: "",
        help: "the toolfold.lock that every tool must match; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.lock, text, optional),
    }
    START_BUDGET = "gateway.start_budget" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_START_BUDGET",
        flag: "--start-budget",
        default: "",
        help: "how long a list waits for servers that have never listed, instead of the client's limit less 2 s; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.start_budget, text, optional_period),
    }
    MAX_RESULT = "gateway.max_result" {
        scope: SERVERS,
        env: "TOOLFOLD_GATEWAY_MAX_RESULT",
        flag: "--max-result",
        default: "off",
        help: "maximum tokens of a result; longer text is stored, shortened, and read with read_result; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.gateway.max_result, text, max_result),
    }
}
