//! Tools of MCP servers: each is started or queried once, listed, and stopped.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::super::input::read_text;
use super::super::output::{Failure, progress, say_all};
use super::Source;
use crate::configuration::Config;
use crate::disk::variable;
use crate::similar::did_you_mean;
use toolfold::catalog::{MAX_BYTES, Origin};
use toolfold::diagnostic::{Diagnostic, Loaded, Place, Severity, visible};
use toolfold_gateway::capture::Capture;
use toolfold_gateway::clients::jsonc;
use toolfold_gateway::config::servers;
use toolfold_gateway::link::{Inherit, Target};
use toolfold_gateway::names::shown_names;
use toolfold_gateway::object::Object;
use toolfold_gateway::run::list::{Listing, list_tools};
use toolfold_gateway::settings::ServerSettings;

pub(in super::super) struct Served {
    pub(in super::super) settings: ServerSettings,
    pub(in super::super) list: Capture,
}

/// Lists the tools of the configured servers. A server that fails ends the command.
pub(in super::super) fn listed_servers(config: &Config) -> Result<Vec<Served>, Failure> {
    let all = configured_servers(config)?;
    let names: Vec<String> = all.iter().map(|own| format!("`{}`", visible(&own.name))).collect();
    progress(&format!("listing the tools of {} …", names.join(", ")));
    let listings = list_tools(all.clone(), config.settings.tools.mcp_timeout).map_err(Failure::wrong)?;
    let mut served = Vec::new();
    let mut faults = Vec::new();
    for (own, listing) in all.into_iter().zip(listings) {
        let Listing { list, why, said, .. } = listing;
        match (list, why) {
            (Some(list), None) => served.push(Served { settings: own, list }),
            (_, why) => faults.extend(fault(&own.name, &why.unwrap_or_default(), &said)),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::bad(faults));
    }
    Ok(served)
}

fn fault(name: &str, why: &str, said: &[String]) -> Vec<Diagnostic> {
    let place = Place::file(&format!("server `{}`", visible(name)));
    let fault = Diagnostic::error("no-tool-list", place.clone(), why);
    let late = why.contains("within");
    let fault = if late { fault.help("allow more time with --mcp-timeout, such as 2m") } else { fault };
    let mut faults = vec![fault];
    for line in said {
        faults.push(Diagnostic::note("server-said", place.clone(), line.clone()));
    }
    faults
}

fn configured_servers(config: &Config) -> Result<Vec<ServerSettings>, Failure> {
    let source = Source::strongest_source(config)?;
    if config.settings.tools.mcp_server.is_some() && !matches!(source, Source::Client(_)) {
        return Err(Failure::usage("--mcp-server requires a list of servers").help("name the list with --mcp-config"));
    }
    match source {
        Source::Command(command) => {
            let (command, args) = (command.program.clone(), command.arguments.clone());
            Ok(only_server(Target::Stdio { command, args, env: BTreeMap::new(), inherit: Inherit::All, cwd: None }))
        }
        Source::Url(url) => {
            Ok(only_server(Target::Http { url: url.to_owned(), headers: headers(config)?, auth: None }))
        }
        Source::Client(file) => of_client(config, file),
        Source::Builtin | Source::File(_) => Err(Failure::usage("no server is named")
            .help("name one with --mcp 'COMMAND', --mcp-url URL or --mcp-config FILE")),
    }
}

fn only_server(target: Target) -> Vec<ServerSettings> {
    vec![ServerSettings::new("server", target)]
}

fn headers(config: &Config) -> Result<BTreeMap<String, String>, Failure> {
    let Some(name) = &config.settings.tools.mcp_token_env else { return Ok(BTreeMap::new()) };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        // The user may have given the token itself.
        return Err(Failure::usage("--mcp-token-env: the value is not the name of an environment variable")
            .help("name the variable that holds the token"));
    }
    let token =
        variable(name).ok_or_else(|| Failure::usage(format!("the environment has no `{name}`, or it is empty")))?;
    Ok(BTreeMap::from([("Authorization".to_owned(), format!("Bearer {token}"))]))
}

/// The servers of a client's configuration: all of them, or the named one.
fn of_client(config: &Config, file: &str) -> Result<Vec<ServerSettings>, Failure> {
    // Users write comments and trailing commas.
    let text = jsonc::strip_comments(&read_text(file, MAX_BYTES)?);
    let all = servers(&text, file, &variable);
    let Loaded { mut value, mut diagnostics } = all;
    if let Some(wanted) = &config.settings.tools.mcp_server {
        // Errors of the other servers do not matter.
        let of_it = format!("server `{wanted}`");
        diagnostics
            .retain(|own| own.message.starts_with(&of_it) || value.is_empty() && !own.message.starts_with("server `"));
        let names: Vec<String> = value.iter().map(|own| own.name.clone()).collect();
        value.retain(|own| own.name == *wanted);
        if value.is_empty() && !diagnostics.iter().any(Diagnostic::is_error) {
            let help = did_you_mean(wanted, names.iter().map(String::as_str))
                .unwrap_or_else(|| format!("listed are {}", names.join(", ")));
            let message = format!("no server named `{}` is listed, or it is disabled", visible(wanted));
            let missing = Diagnostic::error("unknown-server", Place::file(file), message);
            diagnostics.push(missing.help(help));
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

/// All tools as one result of `tools/list`, under the names that a gateway shows, and the origins
/// of the tools by name.
pub(in super::super) fn to_list(served: &[Served]) -> (String, BTreeMap<String, Origin>) {
    let servers: Vec<ServerSettings> = served.iter().map(|own| own.settings.clone()).collect();
    let named = |own: &Served| own.list.tools.iter().map(|tool| name_of(tool)).collect();
    let names: Vec<Vec<Option<String>>> = served.iter().map(named).collect();
    let known: Vec<Vec<String>> = names.iter().map(|own| own.iter().flatten().cloned().collect()).collect();
    let (mut tools, mut origins) = (Vec::new(), BTreeMap::new());
    for ((own, names), shown) in served.iter().zip(names).zip(shown_names(&servers, &known)) {
        for (text, name) in own.list.tools.iter().zip(names) {
            // A tool without a name is unchanged; parsing reports it.
            let name = name.unwrap_or_default();
            let shown = shown.get(&name).unwrap_or(&name);
            let server = own.settings.name.as_str().into();
            origins.insert(shown.clone(), Origin::Server { server, tool: name.as_str().into() });
            tools.push(if *shown == name { text.clone() } else { renamed(text, shown) });
        }
    }
    (list_of(&tools), origins)
}

/// The tools of one server as a result of `tools/list`, unchanged.
pub(in super::super) fn list_of(tools: &[String]) -> String {
    format!("{{\"tools\":[{}]}}", tools.join(",\n"))
}

fn object_of(tool: &str) -> Option<Object> {
    Object::from_json(&RawValue::from_string(tool.to_owned()).ok()?)
}

fn name_of(tool: &str) -> Option<String> {
    object_of(tool)?.read_as("name")
}

fn renamed(tool: &str, name: &str) -> String {
    let mut own = object_of(tool).unwrap_or_default();
    own.put_value("name", &name);
    own.to_raw().get().to_owned()
}
