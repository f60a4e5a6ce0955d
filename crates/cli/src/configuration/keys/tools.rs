//! `[tools]`: where the tools come from.

use std::time::Duration;

use super::super::command_line::CommandLine;
use super::super::parse::{command, optional, optional_as, parse_into, period, switch};
use super::super::paths::Paths;
use super::super::scope::Scope;
use super::keys;
use toolfold::catalog::Format;

/// Why a project cannot set the servers.
const SERVERS: Scope = Scope::User("a project cannot start servers or change what they receive");

/// The values of `[tools]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tools {
    /// The file with the tool list; `-` is standard input.
    pub file: Option<String>,
    /// The format of the tool list.
    pub format: Option<Format>,
    /// Whether a tool that cannot be read is an error, instead of being left out.
    pub strict: bool,
    /// The command of an MCP server.
    pub mcp: Option<CommandLine>,
    /// The URL of an MCP server.
    pub mcp_url: Option<String>,
    /// The file with the servers of an MCP client.
    pub mcp_config: Option<String>,
    /// The name of the one server of that file.
    pub mcp_server: Option<String>,
    /// Maximum time for servers to start and to list their tools.
    pub mcp_timeout: Duration,
    /// The environment variable with the bearer token for the URL.
    pub mcp_token_env: Option<String>,
}

keys! {
    FILE = "tools.file" {
        scope: Scope::Project,
        paths: Paths::File,
        flag: "--tools",
        default: "",
        help: "the tool list; without one, the built-in Excel tools",
        store: |settings, text| parse_into(&mut settings.tools.file, text, optional),
    }
    FORMAT = "tools.format" {
        scope: Scope::Project,
        flag: "--format",
        default: "",
        help: "its format; without one, detected from its first tool",
        store: |settings, text| parse_into(&mut settings.tools.format, text, optional_as),
    }
    STRICT = "tools.strict" {
        scope: Scope::Project,
        flag: "--strict",
        default: "off",
        help: "whether a tool that cannot be read is an error, instead of being left out",
        store: |settings, text| parse_into(&mut settings.tools.strict, text, switch),
    }
    MCP = "tools.mcp" {
        scope: SERVERS,
        flag: "--mcp",
        default: "",
        help: "the command of an MCP server whose tools are read; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.tools.mcp, text, command),
    }
    MCP_URL = "tools.mcp_url" {
        scope: SERVERS,
        flag: "--mcp-url",
        default: "",
        help: "the URL of an MCP server whose tools are read; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.tools.mcp_url, text, optional),
    }
    MCP_CONFIG = "tools.mcp_config" {
        scope: SERVERS,
        paths: Paths::File,
        flag: "--mcp-config",
        default: "",
        help: "the file with the servers of an MCP client whose tools are read; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.tools.mcp_config, text, optional),
    }
    MCP_SERVER = "tools.mcp_server" {
        scope: Scope::Project,
        flag: "--mcp-server",
        default: "",
        help: "the one server of that file; without one, all of them",
        store: |settings, text| parse_into(&mut settings.tools.mcp_server, text, optional),
    }
    MCP_TIMEOUT = "tools.mcp_timeout" {
        scope: Scope::Project,
        env: "TOOLFOLD_MCP_TIMEOUT",
        flag: "--mcp-timeout",
        default: "30s",
        help: "maximum time for servers to start and list their tools",
        store: |settings, text| parse_into(&mut settings.tools.mcp_timeout, text, period),
    }
    MCP_TOKEN_ENV = "tools.mcp_token_env" {
        scope: SERVERS,
        env: "TOOLFOLD_MCP_TOKEN_ENV",
        flag: "--mcp-token-env",
        default: "",
        help: "the variable with the bearer token for that URL; only in your own configuration",
        store: |settings, text| parse_into(&mut settings.tools.mcp_token_env, text, optional),
    }
}
