//! Coding agents as clients: which tools of an array are their own.
//!
//! An agent's own tools are what it works with in every turn, and its meta-tools (a tool search, a skill loader) are
//! understood by the agent itself: none of them is folded. What MCP servers bring is marked in the array, by a prefix or a
//! namespace. Known agents have a profile as data; of others the marks are read.

mod deferral;
mod unknown;

use std::sync::LazyLock;

use serde::Deserialize;
use wildmatch::WildMatch;

pub use self::deferral::{Deferral, already_defers};
pub(super) use self::unknown::{leading_groups, prefix_groups};
use crate::catalog::{Catalog, Tool};

/// The profiles that are built in, as TOML.
const BUILTIN: [&str; 4] = [
    include_str!("../../profiles/clients/claude-code.toml"),
    include_str!("../../profiles/clients/codex.toml"),
    include_str!("../../profiles/clients/gemini-cli.toml"),
    include_str!("../../profiles/clients/opencode.toml"),
];

/// So many of the names by which a client is recognised have to be there: an MCP server has one or two by chance.
const MIN_RECOGNISED: usize = 3;

/// What is known of a coding agent's tools array.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientProfile {
    name: String,
    source: String,
    date: String,
    /// Names of its own tools that hardly anyone else gives a tool.
    recognised_by: Vec<String>,
    /// Further names of its own tools, or globs.
    own: Vec<String>,
    /// A glob that the names of MCP tools match.
    mcp: String,
    #[serde(default)]
    skill_tools: Vec<String>,
    #[serde(default)]
    search_tools: Vec<String>,
    /// Names of its own tools that run shell commands.
    #[serde(default)]
    shell_tools: Vec<String>,
    /// Whether these tools type commands into an interactive shell, which expands `!`. `None`: unknown.
    interactive: Option<bool>,
}

static CLIENTS: LazyLock<Vec<ClientProfile>> =
    LazyLock::new(|| BUILTIN.iter().filter_map(|text| ClientProfile::parse(text).ok()).collect());

impl ClientProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// What is wrong with the TOML, with its place.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The clients that are built in.
    #[must_use]
    pub fn builtin() -> &'static [Self] {
        &CLIENTS
    }

    /// The built-in client that sent an array, if it is one of them.
    #[must_use]
    pub fn detect(catalog: &Catalog) -> Option<&'static Self> {
        let recognised = |client: &Self| client.recognised_by.iter().filter(|name| catalog.get(name).is_some()).count();
        let known = CLIENTS.iter().map(|client| (recognised(client), client));
        let best = known.rev().max_by_key(|(names, _)| *names).filter(|(names, _)| *names >= MIN_RECOGNISED);
        best.map(|(_, client)| client)
    }

    /// The client's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the facts come from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// When they were looked up, as `YYYY-MM-DD`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The names of its meta-tools: what loads skills, and what searches deferred tools. Nothing else should have them.
    pub fn meta_tools(&self) -> impl Iterator<Item = &str> {
        self.skill_tools.iter().chain(&self.search_tools).map(String::as_str)
    }

    /// The names of its tools that search or load deferred tools.
    pub fn search_tools(&self) -> impl Iterator<Item = &str> {
        self.search_tools.iter().map(String::as_str)
    }

    /// Whether a tool of it types commands into an interactive shell. `None` if the tool runs no shell commands, or that is
    /// unknown.
    #[must_use]
    pub fn is_interactive(&self, tool: &str) -> Option<bool> {
        self.interactive.filter(|_| self.shell_tools.iter().any(|own| own == tool))
    }

    /// Whether a tool is its own rather than an MCP server's.
    #[must_use]
    pub fn owns(&self, tool: &Tool) -> bool {
        let name = tool.name().as_str();
        let listed = self.recognised_by.iter().chain(&self.own).any(|own| WildMatch::new(own).matches(name));
        listed || self.meta_tools().any(|own| own == name) || !WildMatch::new(&self.mcp).matches(name)
    }
}

/// The names that meta-tools of known clients have, in the alphabet's order: a host that adds tools of its own avoids them.
#[must_use]
pub fn client_meta_tools() -> Vec<&'static str> {
    let mut names: Vec<&str> = CLIENTS.iter().flat_map(ClientProfile::meta_tools).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// For each tool of a catalogue whether it is the agent's own: by the profile of the client that sent the array, else by
/// the marks of the others. All `false` where nothing tells own tools from a server's.
#[must_use]
pub fn own_tools(catalog: &Catalog) -> Vec<bool> {
    match ClientProfile::detect(catalog) {
        Some(client) => catalog.iter().map(|tool| client.owns(tool)).collect(),
        None => unknown::unprefixed(catalog),
    }
}
