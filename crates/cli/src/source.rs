//! Where tools come from: a file in any supported format, an MCP server, or the binary.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: variables are filled in from the environment")]

mod lines;
mod servers;

pub(super) use servers::{Served, list_of, listed_servers, to_list};

use std::collections::BTreeMap;

use clap::Args;

use super::builtin;
use super::input::read_text;
use super::output::Failure;
use crate::configuration::keys::tools::Tools;
use crate::configuration::{CommandLine, Config, Flag, Key, Origin, keys};
use toolfold::catalog::{self, Format, MAX_BYTES};

/// Where the tools come from: one source at a time.
#[derive(Debug, Default, Clone, Args)]
pub(super) struct SourceArgs {
    /// Tool list: OpenAI, Anthropic, Gemini or MCP, a whole request, JSON lines, or a capture; `-`
    /// is standard input [default: the built-in Excel tools]
    #[arg(long, value_name = "FILE|-", help_heading = "Tools")]
    pub(super) tools: Option<String>,

    /// Format of the tool list [default: detected from its first tool]
    #[arg(long, value_name = "FORMAT", help_heading = "Tools")]
    format: Option<String>,

    /// Command of an MCP server, such as 'npx -y some-server'; it is started once, without a shell
    #[arg(long, value_name = "COMMAND", help_heading = "Tools")]
    mcp: Option<String>,

    /// URL of an MCP server (streamable HTTP)
    #[arg(long, value_name = "URL", help_heading = "Tools")]
    mcp_url: Option<String>,

    /// Configuration of an MCP client: JSON with `mcpServers`
    #[arg(long, value_name = "FILE|-", help_heading = "Tools")]
    mcp_config: Option<String>,

    /// Use only this server of --mcp-config [default: all, under the names that the gateway shows]
    #[arg(long, value_name = "NAME", help_heading = "Tools")]
    mcp_server: Option<String>,

    /// Maximum time for servers to start and list their tools [default: 30s]
    #[arg(long, value_name = "PERIOD", help_heading = "Tools")]
    mcp_timeout: Option<String>,

    /// Environment variable with the bearer token for --mcp-url
    #[arg(long, value_name = "VARIABLE", help_heading = "Tools")]
    mcp_token_env: Option<String>,
}

impl SourceArgs {
    pub(super) fn flags(&self) -> [Flag; 8] {
        [
            (&keys::tools::FILE, self.tools.clone()),
            (&keys::tools::FORMAT, self.format.clone()),
            (&keys::tools::MCP, self.mcp.clone()),
            (&keys::tools::MCP_URL, self.mcp_url.clone()),
            (&keys::tools::MCP_CONFIG, self.mcp_config.clone()),
            (&keys::tools::MCP_SERVER, self.mcp_server.clone()),
            (&keys::tools::MCP_TIMEOUT, self.mcp_timeout.clone()),
            (&keys::tools::MCP_TOKEN_ENV, self.mcp_token_env.clone()),
        ]
    }
}

/// Tools as text that [`toolfold::catalog::Catalog::import`] reads.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) name: String,
    /// The format, if the source determines it.
    pub(super) format: Option<Format>,
    pub(super) builtin: bool,
    /// The origins of the tools of servers, by their names in the list.
    pub(super) origins: BTreeMap<String, catalog::Origin>,
}

/// The configured source of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'c> {
    Builtin,
    File(&'c str),
    /// Servers: given by command, URL, or a client's configuration.
    Command(&'c CommandLine),
    Url(&'c str),
    Client(&'c str),
}

impl<'c> Source<'c> {
    /// The source with the strongest origin; two of the same origin are an error.
    pub(super) fn strongest_source(config: &'c Config) -> Result<Self, Failure> {
        let named = Self::configured(config);
        let strongest = named.iter().map(|(key, _)| strength(config.origin(key))).max();
        let named: Vec<_> =
            named.into_iter().filter(|(key, _)| Some(strength(config.origin(key))) == strongest).collect();
        match named.as_slice() {
            [] => Ok(Self::Builtin),
            [(_, source)] => Ok(*source),
            several => {
                let flags: Vec<&str> = several.iter().filter_map(|(key, _)| key.flag).collect();
                Err(Failure::usage(format!("tools come from one source at a time, not from {}", flags.join(" and ")))
                    .help("keep one of them"))
            }
        }
    }

    fn configured(config: &'c Config) -> Vec<(&'static Key, Self)> {
        let Tools { file, mcp, mcp_url, mcp_config, .. } = &config.settings.tools;
        let mut named = Vec::new();
        named.extend(file.as_deref().map(|file| (&keys::tools::FILE, Self::File(file))));
        named.extend(mcp.as_ref().map(|command| (&keys::tools::MCP, Self::Command(command))));
        named.extend(mcp_url.as_deref().map(|url| (&keys::tools::MCP_URL, Self::Url(url))));
        named.extend(mcp_config.as_deref().map(|file| (&keys::tools::MCP_CONFIG, Self::Client(file))));
        named
    }

    pub(super) fn is_served(self) -> bool {
        matches!(self, Self::Command(_) | Self::Url(_) | Self::Client(_))
    }
}

fn strength(origin: &Origin) -> u8 {
    match origin {
        Origin::Flag(_) => 2,
        Origin::Environment(_) => 1,
        Origin::File(_) | Origin::Default => 0,
    }
}

pub(super) fn read_tools(config: &Config) -> Result<Text, Failure> {
    let source = Source::strongest_source(config)?;
    if !source.is_served() {
        for key in [&keys::tools::MCP_SERVER, &keys::tools::MCP_TOKEN_ENV] {
            if let Origin::Flag(flag) = config.origin(key) {
                return Err(Failure::usage(format!("{flag} requires a server, and none is configured"))
                    .help("name one with --mcp-config or --mcp-url"));
            }
        }
    }
    match source {
        Source::Builtin => Ok(of_binary()),
        Source::File(file) => of_file(file),
        Source::Command(_) | Source::Url(_) | Source::Client(_) => {
            let (text, origins) = to_list(&listed_servers(config)?);
            Ok(Text { text, name: "tools/list".to_owned(), format: Some(Format::Mcp), builtin: false, origins })
        }
    }
}

pub(super) fn of_binary() -> Text {
    let (text, name) = (builtin::EXCEL_TOOLS.to_owned(), builtin::EXCEL_TOOLS_FILE.to_owned());
    Text { text, name, format: None, builtin: true, origins: BTreeMap::new() }
}

pub(super) fn of_file(file: &str) -> Result<Text, Failure> {
    let text = lines::one_list(read_text(file, MAX_BYTES)?, file).map_err(|why| Failure::bad(vec![why]))?;
    Ok(Text { text, name: file.to_owned(), format: None, builtin: false, origins: BTreeMap::new() })
}
