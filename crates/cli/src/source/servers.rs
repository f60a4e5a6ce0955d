//! Tools of MCP servers: started or asked once, listed, and ended.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: variables are filled in from the environment")]

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::super::input::read_text;
use super::super::output::{Failure, progress, say_all};
use super::Source;
use crate::configuration::Config;
use toolfold::catalog::MAX_BYTES;
use toolfold::diagnostic::{Diagnostic, Loaded, Place, Severity, visible};
use toolfold::name::nearest;
use toolfold_gateway::capture::Capture;
use toolfold_gateway::clients::jsonc;
use toolfold_gateway::config::servers;
use toolfold_gateway::link::Target;
use toolfold_gateway::object::Object;
use toolfold_gateway::run::list::{Listing, list_tools};
use toolfold_gateway::settings::ServerSettings;

/// A server that has listed its tools.
pub(in super::super) struct Served {
    pub(in super::super) name: String,
    pub(in super::super) target: Target,
    pub(in super::super) list: Capture,
}

/// Asks the servers that the configuration names for their tools. One that does not list them ends the command.
pub(in super::super) fn listed_servers(config: &Config) -> Result<Vec<Served>, Failure> {
    let all = configured_servers(config)?;
    let names: Vec<String> = all.iter().map(|own| format!("`{}`", visible(&own.name))).collect();
    progress(&format!("asking {} for tools …", names.join(", ")));
    let listings = list_tools(all.clone(), config.settings.tools.mcp_timeout).map_err(Failure::wrong)?;
    let mut served = Vec::new();
    let mut faults = Vec::new();
    for (own, listing) in all.into_iter().zip(listings) {
        let Listing { list, why, said } = listing;
        match (list, why) {
            (Some(list), None) => served.push(Served { name: own.name, target: own.target, list }),
            (_, why) => faults.extend(fault(&own.name, &why.unwrap_or_default(), &said)),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::bad(faults));
    }
    Ok(served)
}

/// Why a server has no list, and what it said.
fn fault(name: &str, why: &str, said: &[String]) -> Vec<Diagnostic> {
    let place = Place::file(&format!("server `{}`", visible(name)));
    let fault = Diagnostic::error("no-tool-list", place.clone(), why);
    let late = why.contains("within");
    let fault = if late { fault.help("give it more time with --mcp-timeout, such as 2m") } else { fault };
    let said = said.iter().map(|line| Diagnostic::note("server-said", place.clone(), line.clone()));
    std::iter::once(fault).chain(said).collect()
}

/// The servers that the configuration names.
fn configured_servers(config: &Config) -> Result<Vec<ServerSettings>, Failure> {
    let source = Source::strongest_source(config)?;
    if config.settings.tools.mcp_server.is_some() && !matches!(source, Source::Client(_)) {
        return Err(Failure::usage("--mcp-server names one of several servers").help("give their list: --mcp-config"));
    }
    match source {
        Source::Command(command) => {
            let (command, args) = (command.program.clone(), command.arguments.clone());
            Ok(only_server(Target::Stdio { command, args, env: BTreeMap::new(), cwd: None }))
        }
        Source::Url(url) => {
            Ok(only_server(Target::Http { url: url.to_owned(), headers: headers(config)?, auth: None }))
        }
        Source::Client(file) => of_client(config, file),
        Source::Builtin | Source::File(_) => Err(Failure::usage("no server is named")
            .help("name one with --mcp 'COMMAND', --mcp-url URL or --mcp-config FILE")),
    }
}

/// The one server that a flag names.
fn only_server(target: Target) -> Vec<ServerSettings> {
    vec![ServerSettings::new("server", target)]
}

/// The headers of requests to the server: the bearer token, if one is configured.
fn headers(config: &Config) -> Result<BTreeMap<String, String>, Failure> {
    let Some(name) = &config.settings.tools.mcp_token_env else { return Ok(BTreeMap::new()) };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // Somebody may have given the token itself.
        return Err(Failure::usage("--mcp-token-env: what is given is no name of a variable")
            .help("name the variable that holds the token"));
    }
    let token = std::env::var(name).ok().filter(|own| !own.is_empty());
    let token = token.ok_or_else(|| Failure::usage(format!("the environment has no `{name}`, or it is empty")))?;
    Ok(BTreeMap::from([("Authorization".to_owned(), format!("Bearer {token}"))]))
}

/// The servers of a client's configuration: all of them, or the one that is named.
fn of_client(config: &Config, file: &str) -> Result<Vec<ServerSettings>, Failure> {
    // Editors write comments and trailing commas.
    let text = jsonc::strip_comments(&read_text(file, MAX_BYTES)?);
    let all = servers(&text, file, &|name| std::env::var(name).ok().filter(|own| !own.is_empty()));
    let Loaded { mut value, mut diagnostics } = all;
    if let Some(wanted) = &config.settings.tools.mcp_server {
        // What is wrong with the others is not this one's fault.
        let of_it = format!("server `{wanted}`");
        let general = |own: &Diagnostic| !own.message.starts_with("server `");
        diagnostics.retain(|own| own.message.starts_with(&of_it) || (value.is_empty() && general(own)));
        let names: Vec<String> = value.iter().map(|own| own.name.clone()).collect();
        value.retain(|own| own.name == *wanted);
        if value.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
            let near = nearest(wanted, names.iter().map(String::as_str), 1)
                .first()
                .map(|near| format!("did you mean `{near}`?"));
            let known = || format!("listed are {}", names.join(", "));
            let message = format!("no server named `{}` is listed, or it is disabled", visible(wanted));
            let missing = Diagnostic::error("unknown-server", Place::file(file), message);
            diagnostics.push(missing.help(near.unwrap_or_else(known)));
        }
    }
    let errors = diagnostics.iter().any(|own| own.severity == Severity::Error);
    if errors {
        return Err(Failure::bad(diagnostics));
    }
    say_all(&diagnostics);
    if value.is_empty() {
        let none = Diagnostic::error("no-servers", Place::file(file), "no server is listed, or all are disabled");
        return Err(Failure::bad(vec![none.help("list one in `mcpServers`")]));
    }
    Ok(value)
}

/// What the servers listed as one result of `tools/list`. Of several, every tool has its server before its name.
pub(in super::super) fn to_list(served: &[Served]) -> String {
    let tools: Vec<String> = match served {
        [only] => only.list.tools.clone(),
        several => several.iter().flat_map(|own| own.list.tools.iter().map(|tool| prefixed(&own.name, tool))).collect(),
    };
    format!("{{\"tools\":[{}]}}", tools.join(",\n"))
}

/// A tool under its server's name; what has no name stays as it is, and is told of where it is read.
fn prefixed(server: &str, tool: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let server: String = server.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    renamed(tool, &server).unwrap_or_else(|| tool.to_owned())
}

/// A tool with a prefix to its name; `None` if it has no name.
fn renamed(tool: &str, prefix: &str) -> Option<String> {
    let mut tool = Object::from_json(&RawValue::from_string(tool.to_owned()).ok()?)?;
    let name: String = tool.read_as("name")?;
    tool.put_value("name", &format!("{prefix}_{name}"));
    Some(tool.to_raw().get().to_owned())
}
