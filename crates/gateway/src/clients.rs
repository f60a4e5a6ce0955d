//! What is known of MCP clients, as data: the names of their own meta-tools, whether they defer MCP tools themselves, and
//! where and how they list their servers. Every group of facts names its source and date, and whether it was verified.

pub mod jsonc;
pub mod paste;
pub mod read;
pub mod secrets;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::object::{Object, elements};
use crate::rpc::raw;

/// What Claude Code reads on a tool that it must not defer (its client code: see `clients/claude-code.toml`).
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

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

/// What is known of a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct McpClient {
    /// Its name, as `--client` takes it.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its own meta-tools.
    pub meta_tools: MetaTools,
    /// Whether it defers MCP tools.
    pub deferral: ClientDeferral,
    /// How it lists its servers.
    pub config: ClientConfig,
}

/// The meta-tools that a client has itself: ours take other names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MetaTools {
    /// Their names.
    pub names: Vec<String>,
    /// Where that is from.
    pub source: String,
    /// When it was looked up, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was seen, rather than remembered.
    pub verified: bool,
}

/// Whether a client shows the model MCP tools only once it searches for them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientDeferral {
    /// Whether it does.
    pub defers: bool,
    /// Whether tools can be marked as to be loaded at once.
    pub always_load: bool,
    /// Where that is from.
    pub source: String,
    /// When it was looked up, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was seen, rather than remembered.
    pub verified: bool,
}

/// How a client writes a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryForm {
    /// `{"command", "args", "env"}`.
    Plain,
    /// The same with `"type": "stdio"`.
    Typed,
    /// `{"type": "local", "command": ["…"], "environment"}`.
    Opencode,
    /// A table of TOML, where variables to pass on are named in `env_vars`.
    Codex,
}

/// How a client's file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// How the file is written.
    pub format: FileForm,
    /// The member that holds the servers.
    pub list: String,
    /// How a server is written.
    pub entry: EntryForm,
    /// Its files: `~` is the user's folder, others are below the project. A later one is the stronger.
    pub files: Vec<String>,
    /// How it takes a variable of its environment, with `NAME` for the variable; empty if it does not.
    pub variable: String,
    /// Where the block belongs, for people.
    pub paste: String,
    /// What a person has to know besides.
    #[serde(default)]
    pub note: Option<String>,
    /// Where that is from.
    pub source: String,
    /// When it was looked up, as `YYYY-MM-DD`.
    pub date: String,
    /// Whether the source was seen, rather than remembered.
    pub verified: bool,
}

impl McpClient {
    /// Every client of which something is known, `generic` first.
    #[must_use]
    pub fn known_clients() -> &'static [Self] {
        &CLIENTS
    }

    /// A client of which nothing is known.
    #[must_use]
    pub fn generic() -> &'static Self {
        &GENERIC
    }

    /// The client of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|own| own.name == name)
    }

    /// Why its list is not folded, for the log; `None` where it may be.
    #[must_use]
    pub fn left_alone(&self) -> Option<String> {
        let ClientDeferral { defers, always_load, verified, .. } = &self.deferral;
        if !*defers {
            return None;
        }
        let marks = if *always_load { ", core tools and meta-tools are marked to be loaded at once" } else { "" };
        let sure = if *verified { "" } else { " (not verified)" };
        Some(format!("{} defers MCP tools itself{sure}: it is given full schemas{marks}", self.title))
    }

    fn without_facts() -> Self {
        let (source, date) = ("nothing is known of it".to_owned(), "2026-11-23".to_owned());
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

/// The list with a mark on the tools that the client is asked to load at once: those of `core`, and what is no server's tool,
/// our meta-tools. As it is where `core` is `None`.
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
    fn every_client_is_read_and_says_where_its_facts_are_from() {
        assert_eq!(McpClient::known_clients().len(), BUILTIN.len() + 1, "one of the files cannot be read");
        for client in McpClient::known_clients() {
            let facts = [
                (&client.meta_tools.source, &client.meta_tools.date),
                (&client.deferral.source, &client.deferral.date),
                (&client.config.source, &client.config.date),
            ];
            for (source, date) in facts {
                assert!(!source.is_empty() && date.len() == 10 && date.starts_with("2026-"), "{}", client.name);
            }
            assert!(client.deferral.defers || !client.deferral.always_load, "{}", client.name);
        }
    }

    #[test]
    fn core_tools_and_ours_are_marked_and_nothing_else_changes() {
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
