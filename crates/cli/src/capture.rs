//! `toolfold capture`: save the tools of a server with its identity and digest.

mod text;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::text::{one_line, url_without_secrets, without_secrets};
use super::input::{InputArgs, configured_tools};
use super::out_file;
use super::output::{Failure, Outcome, emit_data, grouped, warn};
use super::source::{self, Served, Source, SourceArgs};
use toolfold::catalog::{Catalog, Format};
use toolfold::diagnostic::{Diagnostic, Severity, visible};
use toolfold::policy::canonical::digest;
use toolfold_gateway::link::Target;

/// The name of the contract of a capture's `_meta`, and its key there (MCP names keys by domain).
const CONTRACT: &str = "toolfold.capture/1";
const META: &str = "toolfold.dev/capture";

const AFTER_HELP: &str = "\
A capture is the result of MCP's tools/list. Its `_meta` contains the package and a SHA-256 of
the tools in canonical JSON (RFC 8785). Values of variables and headers, queries of URLs and
arguments that look like secrets are omitted. Every command reads it: --tools tools.json

Examples:
  toolfold capture --mcp 'npx -y @playwright/mcp' --out playwright.json
  toolfold capture --mcp-config mcp.json --mcp-server files --out files.json --date 2026-11-23
  toolfold capture --mcp-url https://example.test/mcp --mcp-token-env TOKEN --out -
  toolfold capture --tools request.json --out tools.json     the tools of a recorded request, as MCP

Exit codes: 0 saved, 1 a server does not list or the file cannot be written, 2 usage.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    source: SourceArgs,

    /// Configuration file [default: as for every command]
    #[arg(long, value_name = "FILE", help_heading = "Tools")]
    config: Option<String>,

    /// The file to write; `-` is standard output. An existing file is replaced atomically
    #[arg(long, value_name = "FILE|-", default_value = "-")]
    out: String,

    /// The date to record, such as 2026-11-23 [default: none, so that equal tools give equal files]
    #[arg(long, value_name = "DATE", value_parser = date)]
    date: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    schema: &'static str,
    /// `sha256:` and the digest of the array `tools` in canonical JSON.
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    /// The servers by name; empty if the tools were read from a file.
    servers: IndexMap<String, Server>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    #[serde(skip_serializing_if = "Option::is_none")]
    server_info: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    tools: usize,
}

pub(super) fn run_capture(args: &CaptureArgs) -> Outcome {
    let config = InputArgs::of_tools(args.source.clone()).with_config(args.config.clone()).config(&[])?;
    let (list, servers) = if Source::strongest_source(&config)?.is_served() {
        let served = source::listed_servers(&config)?;
        let servers = served.iter().map(|own| (own.settings.name.clone(), server(own))).collect();
        let list = match served.as_slice() {
            [only] => source::list_of(&only.list.tools),
            _ => source::to_list(&served).0,
        };
        (list, servers)
    } else {
        let (catalog, _) = configured_tools(&config)?;
        (format!("{{\"tools\":{}}}", catalog.to_json(Format::Mcp)), IndexMap::new())
    };
    let count = sound(&list)?;
    let text = captured(&list, servers, args.date.clone())?;
    if args.out == "-" {
        emit_data(&text)?;
    } else {
        out_file::replace(Path::new(&args.out), &text)?;
        warn(&format!("saved {} tools to {}", grouped(count), visible(&args.out)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The number of tools. An empty list is an error; tools that cannot be read are reported.
fn sound(list: &str) -> Result<usize, Failure> {
    let loaded = Catalog::import(list, "tools/list", Some(Format::Mcp));
    if loaded.value.is_empty() && loaded.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::bad(loaded.diagnostics));
    }
    if loaded.value.is_empty() {
        return Err(Failure::wrong("the server lists no tools: there is nothing to save"));
    }
    let mut worth = loaded.diagnostics;
    worth.retain(|own| own.severity >= Severity::Warning);
    super::output::say_all(&worth);
    Ok(loaded.value.len())
}

/// The text of the capture, one tool per line, so that two captures diff well.
fn captured(list: &str, servers: IndexMap<String, Server>, date: Option<String>) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct List<'l> {
        #[serde(borrow)]
        tools: Vec<&'l RawValue>,
    }
    let own: List<'_> = serde_json::from_str(list).map_err(Failure::wrong)?;
    let values: Value = serde_json::from_str(list).map_err(Failure::wrong)?;
    let digest = format!("sha256:{}", digest(values.get("tools").unwrap_or(&Value::Null)));
    let identity = Identity { schema: CONTRACT, digest, date, servers };
    let lines: Vec<String> = own.tools.iter().map(|tool| one_line(tool.get())).collect();
    let meta = serde_json::to_string(&json!({ META: identity })).map_err(Failure::wrong)?;
    Ok(format!("{{\"tools\":[\n{}\n],\n\"_meta\":{meta}}}\n", lines.join(",\n")))
}

fn server(own: &Served) -> Server {
    let hello: Value = serde_json::from_str(&own.list.hello).unwrap_or_default();
    let in_meta = hello.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    let (command, url) = match &own.settings.target {
        Target::Stdio { command, args, .. } => (Some(without_secrets(command, args)), None),
        Target::Http { url, .. } => (None, Some(url_without_secrets(url))),
    };
    Server {
        server_info: hello.get("serverInfo").or(in_meta).cloned(),
        protocol_version: own.list.protocol(),
        command,
        url,
        tools: own.list.tools.len(),
    }
}

fn date(text: &str) -> Result<String, String> {
    text.parse::<jiff::civil::Date>().map(|date| date.to_string()).map_err(|_| "write it as 2026-11-23".to_owned())
}
