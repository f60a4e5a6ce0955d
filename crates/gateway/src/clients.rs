//! Facts about MCP clients, as data: the names of their own meta-tools, whether they defer MCP
//! tools themselves, and where and how they list their servers. Each group of facts has its source,
//! its date, and whether it was verified.

pub mod inherit;
pub mod jsonc;
pub mod paste;
pub mod read;
pub mod secrets;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use crate::object::{Object, elements};
use crate::rpc::raw;

/// The `_meta` key with which Claude Code loads a tool immediately (from its client code: see
/// `clients/claude-code.toml`).
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The longest start budget, for clients that wait for minutes: the user waits meanwhile.
const LONGEST_BUDGET: Duration = Duration::from_secs(28);

/// How much earlier than the client's own limit the list is returned: for its way to the client.
const MARGIN: Duration = Duration::from_secs(2);

/// The start budget for a client whose limit is not known: shorter than the 5 s of the strictest
/// known client, and long enough for a program that is installed.
const USUAL_BUDGET: Duration = Duration::from_millis(2_500);

const BUILTIN: [&str; 8] = [
    include_str!("../clients/claude-code.toml"),
    include_str!("../clients/claude-desktop.toml"),
    include_str!("../clients/codex.toml"),
    include_str!("../clients/cursor.toml"),
    include_str!("../clients/gemini-cli.toml"),
    include_str!("../clients/opencode.toml"),
    include_str!("../clients/qwen.toml"),
    include_str!("../clients/vscode.toml"),
];

static CLIENTS: LazyLock<Vec<McpClient>> = LazyLock::new(|| {
    let known = BUILTIN.iter().filter_map(|text| toml::from_str(text).ok());
    std::iter::once(McpClient::without_facts()).chain(known).collect()
});

static GENERIC: LazyLock<McpClient> = LazyLock::new(McpClient::without_facts);

/// The facts about one client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct McpClient {
    /// The name for `--client`.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The client's own meta-tools.
    pub meta_tools: MetaTools,
    /// Whether the client defers MCP tools.
    pub deferral: ClientDeferral,
    /// How long the client waits for the list of tools; `None` if this is not known.
    #[serde(default)]
    pub start: Option<ClientStart>,
    /// How the client lists its servers.
    pub config: ClientConfig,
}

/// The client's own meta-tools. Meta-tools of the gateway have other names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MetaTools {
    /// Their names.
    pub names: Vec<String>,
    /// The source.
    pub source: String,
    /// The date of the research, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was read, not remembered.
    pub verified: bool,
}

/// Whether a client hides MCP tools from the model until it searches for them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientDeferral {
    /// Whether the client defers tools.
    pub defers: bool,
    /// Whether tools can be marked to be loaded immediately.
    pub always_load: bool,
    /// The source.
    pub source: String,
    /// The date of the research, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was read, not remembered.
    pub verified: bool,
}

/// How long a client waits for a server that starts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientStart {
    /// The default of its limit, in seconds. It includes `initialize` and `tools/list`.
    pub limit_s: u64,
    /// The name in its `clientInfo`, which may be followed by `-` and more.
    pub declared: String,
    /// The source.
    pub source: String,
    /// The date of the research, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was read, not remembered.
    pub verified: bool,
}

/// The format of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EntryForm {
    /// `{"command", "args", "env"}`.
    Plain,
    /// `{"type": "stdio", "command", "args", "env"}`.
    Typed,
    /// `{"type": "local", "command": ["…"], "environment"}`.
    Opencode,
    /// A TOML table that lists the variables to pass on in `env_vars`.
    Codex,
}

/// The format of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileForm {
    /// JSON.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
}

/// Where and how a client lists its servers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The format of the file.
    pub format: FileForm,
    /// The key of the list of servers.
    pub list: String,
    /// The format of a server's entry.
    pub entry: EntryForm,
    /// The client's files: `~` is the home directory, other paths are relative to the project.
    /// Later files take precedence.
    pub files: Vec<String>,
    /// The syntax of a reference to the environment variable `NAME`; empty if the client has none.
    pub variable: String,
    /// Where the user pastes the block.
    pub paste: String,
    /// A further note for the user.
    #[serde(default)]
    pub note: Option<String>,
    /// The source.
    pub source: String,
    /// The date of the research, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was read, not remembered.
    pub verified: bool,
}

impl McpClient {
    /// All clients, `generic` first.
    #[must_use]
    pub fn known_clients() -> &'static [Self] {
        &CLIENTS
    }

    /// A client without known facts.
    #[must_use]
    pub fn generic() -> &'static Self {
        &GENERIC
    }

    /// The client with a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|own| own.name == name)
    }

    /// The client with a name in `clientInfo`; without known facts if the name is unknown.
    #[must_use]
    pub fn by_declared_name(name: &str) -> &'static Self {
        let is_named = |own: &ClientStart| {
            name.strip_prefix(&own.declared).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        CLIENTS.iter().find(|own| own.start.as_ref().is_some_and(is_named)).unwrap_or_else(Self::generic)
    }

    /// For the log: why the client's list is not folded; `None` if it may be folded.
    #[must_use]
    pub fn left_alone(&self) -> Option<String> {
        let ClientDeferral { defers, always_load, verified, .. } = &self.deferral;
        if !*defers {
            return None;
        }
        let marks = if *always_load { ", with core tools and meta-tools marked to be loaded immediately" } else { "" };
        let sure = if *verified { "" } else { " (not verified)" };
        Some(format!("{} defers MCP tools itself{sure}; it receives full schemas{marks}", self.title))
    }

    /// How long a list of tools may wait for servers that have never listed: the client's own limit
    /// less 2 s, at most 28 s, or 2.5 s if that is not known.
    #[must_use]
    pub fn start_budget(&self) -> Duration {
        let own =
            self.start.as_ref().map(|own| Duration::from_secs(own.limit_s).saturating_sub(MARGIN).min(LONGEST_BUDGET));
        own.unwrap_or(USUAL_BUDGET)
    }

    fn without_facts() -> Self {
        let (source, date) = ("no known facts".to_owned(), "2026-11-23".to_owned());
        Self {
            name: "generic".to_owned(),
            title: "an MCP client".to_owned(),
            meta_tools: MetaTools { names: Vec::new(), source: source.clone(), date: date.clone(), verified: false },
            deferral: ClientDeferral {
                defers: false,
                always_load: false,
                source: source.clone(),
                date: date.clone(),
                verified: false,
            },
            start: None,
            config: ClientConfig {
                format: FileForm::Jsonc,
                list: "mcpServers".to_owned(),
                entry: EntryForm::Plain,
                files: Vec::new(),
                variable: String::new(),
                paste: "the client's configuration".to_owned(),
                note: None,
                source,
                date,
                verified: false,
            },
        }
    }
}

/// The list with marks on the tools that the client should load immediately: those of `core`, and
/// the gateway's own meta-tools. Unchanged if `core` is `None`.
#[must_use]
pub fn marked<'a>(list: &'a str, core: Option<&BTreeSet<String>>, is_tool: impl Fn(&str) -> bool) -> Cow<'a, str> {
    let Some(core) = core else { return Cow::Borrowed(list) };
    let Ok(array) = serde_json::from_str(list) else { return Cow::Borrowed(list) };
    let mark = |tool: crate::rpc::Raw| {
        let mut own = Object::from_json(&tool)?;
        let name: String = own.read_as("name")?;
        if is_tool(&name) && !core.contains(&name) {
            return None;
        }
        let mut meta = own.object("_meta").unwrap_or_default();
        meta.put_value(ALWAYS_LOAD, &true);
        own.set("_meta", meta.to_raw());
        Some(own.to_raw())
    };
    let tools = elements(Some(array)).into_iter().map(|tool| mark(tool.clone()).unwrap_or(tool));
    Cow::Owned(raw(&tools.collect::<Vec<_>>()).get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_facts_with_source_and_date() {
        assert_eq!(McpClient::known_clients().len(), BUILTIN.len() + 1, "one of the files cannot be read");
        for client in McpClient::known_clients() {
            let mut facts = vec![
                (&client.meta_tools.source, &client.meta_tools.date),
                (&client.deferral.source, &client.deferral.date),
                (&client.config.source, &client.config.date),
            ];
            facts.extend(client.start.as_ref().map(|own| (&own.source, &own.date)));
            for (source, date) in facts {
                assert!(!source.is_empty() && date.len() == 10 && date.starts_with("2026-"), "{}", client.name);
            }
            assert!(client.deferral.defers || !client.deferral.always_load, "{}", client.name);
        }
    }

    #[test]
    fn the_start_budget_is_below_the_clients_limit() {
        let budget = |name: &str| McpClient::by_name(name).unwrap().start_budget();
        assert_eq!(budget("codex"), Duration::from_secs(8));
        assert_eq!(budget("claude-code"), Duration::from_secs(28));
        assert_eq!(budget("gemini-cli"), LONGEST_BUDGET);
        assert_eq!(budget("generic"), Duration::from_millis(2_500));
        for client in McpClient::known_clients() {
            let limit = client.start.as_ref().map(|own| Duration::from_secs(own.limit_s));
            assert!(limit.is_none_or(|limit| client.start_budget() < limit), "{}", client.name);
        }
    }

    /// As `.ci/agents` recorded them. Qwen Code adds the name of the server's entry.
    #[test]
    fn clients_are_identified_by_the_names_that_they_declare() {
        for (declared, name) in [
            ("codex-mcp-client", "codex"),
            ("opencode", "opencode"),
            ("qwen-cli-mcp-client-toolfold", "qwen"),
            ("gemini-cli-mcp-client", "gemini-cli"),
            ("claude-code", "claude-code"),
            ("opencoder", "generic"),
            ("", "generic"),
        ] {
            assert_eq!(McpClient::by_declared_name(declared).name, name, "{declared}");
        }
    }

    #[test]
    fn only_core_tools_and_meta_tools_are_marked() {
        let list = r#"[{"name":"a","n":1.50,"_meta":{"x":1}},{"name":"b"},{"name":"activate_skill"}]"#;
        let core = BTreeSet::from(["a".to_owned()]);
        let is_tool = |name: &str| name != "activate_skill";
        let expected = concat!(
            r#"[{"name":"a","n":1.50,"_meta":{"x":1,"anthropic/alwaysLoad":true}},{"name":"b"},"#,
            r#"{"name":"activate_skill","_meta":{"anthropic/alwaysLoad":true}}]"#
        );
        assert_eq!(marked(list, Some(&core), is_tool), expected);
        assert_eq!(marked(list, None, is_tool), list);
    }
}
