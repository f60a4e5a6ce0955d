//! Coding agents as clients: which tools of an array are the agent's own.
//!
//! An agent uses its own tools in every turn, and it handles its own meta-tools (a tool search, a
//! skill loader), so none of them is folded. Tools of MCP servers are marked in the array by a
//! prefix or a namespace. Known agents have a profile as data; for others the marks decide.

mod deferral;
mod unknown;

use std::sync::LazyLock;

use serde::Deserialize;
use wildmatch::WildMatch;

pub(crate) use self::deferral::already_defers;
pub(super) use self::unknown::{leading_groups, prefix_groups};
use crate::catalog::{Catalog, Format, Origin, Tool};

/// The built-in profiles, as TOML.
const BUILTIN: [&str; 8] = [
    include_str!("../../profiles/clients/claude-code.toml"),
    include_str!("../../profiles/clients/cline.toml"),
    include_str!("../../profiles/clients/codex.toml"),
    include_str!("../../profiles/clients/cursor.toml"),
    include_str!("../../profiles/clients/gemini-cli.toml"),
    include_str!("../../profiles/clients/opencode.toml"),
    include_str!("../../profiles/clients/qwen-code.toml"),
    include_str!("../../profiles/clients/vscode.toml"),
];

/// The minimum number of recognized names: an MCP server has one or two of them by chance.
const MIN_RECOGNISED: usize = 3;

/// The known facts about a coding agent's tool array.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientProfile {
    /// The client's name.
    pub name: String,
    /// The source of the facts.
    source: String,
    /// The date on which the facts were checked, as `YYYY-MM-DD`.
    date: String,
    /// Names of its own tools that few others use.
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
    /// Whether these tools type commands into an interactive shell, which expands `!`. `None` if
    /// unknown.
    interactive: Option<bool>,
}

static CLIENTS: LazyLock<Vec<ClientProfile>> =
    LazyLock::new(|| BUILTIN.iter().filter_map(|text| ClientProfile::parse(text).ok()).collect());

impl ClientProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// Returns the TOML error with its place.
    pub(crate) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The built-in client that sent an array, if any matches.
    #[must_use]
    pub fn detect(catalog: &Catalog) -> Option<&'static Self> {
        let mut best = None;
        let mut most = MIN_RECOGNISED - 1;
        for client in CLIENTS.iter() {
            let count = client.recognised_by.iter().filter(|name| may_be_own(catalog, name)).count();
            if count > most {
                (best, most) = (Some(client), count);
            }
        }
        best
    }

    /// The names of its meta-tools, which load skills or search deferred tools. No other tool
    /// should use these names.
    pub(crate) fn meta_tools(&self) -> impl Iterator<Item = &str> {
        self.skill_tools.iter().chain(&self.search_tools).map(String::as_str)
    }

    /// The names of its tools that search or load deferred tools.
    pub(crate) fn search_tools(&self) -> impl Iterator<Item = &str> {
        self.search_tools.iter().map(String::as_str)
    }

    /// Whether one of its tools types commands into an interactive shell. `None` if the tool runs
    /// no shell commands, or if this is unknown.
    #[must_use]
    pub fn is_interactive(&self, tool: &str) -> Option<bool> {
        if self.shell_tools.iter().any(|own| own == tool) { self.interactive } else { None }
    }

    /// Whether a tool is the client's own rather than an MCP server's.
    #[must_use]
    pub(crate) fn owns(&self, tool: &Tool) -> bool {
        let name = tool.name().as_str();
        let listed = self.recognised_by.iter().chain(&self.own).any(|own| WildMatch::new(own).matches(name));
        listed || self.meta_tools().any(|own| own == name) || !WildMatch::new(&self.mcp).matches(name)
    }
}

/// Whether a tool is known to come from a server. An agent sends its own tools in a provider's
/// format.
fn is_of_server(tool: &Tool) -> bool {
    match tool.origin() {
        Origin::Unknown => tool.format() == Some(Format::Mcp),
        Origin::Host => false,
        Origin::Server { .. } => true,
    }
}

/// Whether the catalog has a tool of this name that may be the agent's own.
fn may_be_own(catalog: &Catalog, name: &str) -> bool {
    catalog.get(name).is_some_and(|tool| !is_of_server(tool))
}

/// For each tool of a catalog, whether it is the agent's own: according to its [`Origin`], or else
/// the profile of the client that sent the array, or else the marks of the other tools. All `false`
/// if nothing distinguishes own tools from a server's.
#[must_use]
pub fn own_tools(catalog: &Catalog) -> Vec<bool> {
    let mut own = match ClientProfile::detect(catalog) {
        Some(client) => catalog.iter().map(|tool| client.owns(tool)).collect(),
        None => unknown::unprefixed(catalog),
    };
    for (flag, tool) in own.iter_mut().zip(catalog.iter()) {
        *flag = *tool.origin() == Origin::Host || *flag && !is_of_server(tool);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN, CLIENTS, ClientProfile};

    #[test]
    fn every_client_record_has_a_source() {
        assert_eq!(CLIENTS.len(), BUILTIN.len(), "all of them can be read");
        for client in CLIENTS.iter() {
            assert!(!client.source.is_empty(), "{}", client.name);
            assert!(client.date.len() == 10 && client.date.starts_with("20"), "{}: {}", client.name, client.date);
        }
        assert!(ClientProfile::parse("name = 'x'\nowned = []").is_err(), "an unknown key is an error");
        for (client, tool) in [
            ("claude-code", "Bash"),
            ("codex", "shell"),
            ("codex", "exec_command"),
            ("gemini-cli", "run_shell_command"),
        ] {
            let profile = CLIENTS.iter().find(|own| own.name == client).unwrap();
            assert_eq!(profile.is_interactive(tool), Some(false), "{client}: {tool}");
            assert_eq!(profile.is_interactive("Edit"), None, "{client}");
        }
        for name in ["ToolSearch", "tool_search", "skill", "activate_skill"] {
            assert!(CLIENTS.iter().flat_map(ClientProfile::meta_tools).any(|own| own == name), "{name}");
        }
    }
}
