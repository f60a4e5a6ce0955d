//! `toolfold gateway init`: imports the servers of a client, whose file is never written.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads a client's file and writes ours")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use indexmap::IndexMap;

use super::super::disk::{home, variable, working_folder};
use super::super::input::read_text;
use super::super::new_file::create;
use super::super::output::{BOLD, DIM, Failure, Outcome, emit, say_all};
use toolfold::catalog::MAX_BYTES;
use toolfold::diagnostic::visible;
use toolfold_gateway::clients::inherit::{mentioned, usual};
use toolfold_gateway::clients::read::{How, Listed, read_client_file as read_list};
use toolfold_gateway::clients::secrets::{Variable, moved};
use toolfold_gateway::clients::{McpClient, paste};

/// The two files that are written.
const SERVERS: &str = "toolfold-servers.json";
const CONFIG: &str = "toolfold.toml";

const AFTER_HELP: &str = "\
Writes toolfold-servers.json and toolfold.toml, and prints the block to paste into the client.
The client's own file is read and never written; values of secrets are never printed.

Examples:
  toolfold gateway init --client cursor
  toolfold gateway init --client vscode --from .vscode/mcp.json --out ~/.config/toolfold-gateway
  toolfold gateway init --client generic --from mcp.json --force

Exit codes: 0 written, 1 the client's file is invalid or a file to write exists, 2 usage.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct InitArgs {
    /// The client whose servers are imported
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(client_names()))]
    client: String,

    /// Its configuration [default: the client's usual location]
    #[arg(long, value_name = "FILE")]
    from: Option<String>,

    /// The folder to write the two files to
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

fn client_names() -> Vec<&'static str> {
    McpClient::known_clients().iter().map(|own| own.name.as_str()).collect()
}

pub(super) fn run_init(args: &InitArgs) -> Outcome {
    let client = McpClient::by_name(&args.client).unwrap_or_else(|| McpClient::generic());
    let files = client_files(client, args.from.as_deref())?;
    let mut servers = taken_over(client, &files)?;
    let variables = moved(&mut servers);
    servers.iter_mut().for_each(inherit_needed);
    let folder = std::path::absolute(&args.out).map_err(Failure::wrong)?;
    let (list, config) = (folder.join(SERVERS), folder.join(CONFIG));
    if !args.force
        && let Some(there) = [&list, &config].into_iter().find(|file| file.exists())
    {
        let why = format!("`{}` already exists and is not overwritten", there.display());
        return Err(Failure::wrong(why).help("use --force, or another folder with --out DIR"));
    }
    for (file, text) in [(&list, paste::servers(&servers)), (&config, paste::configuration(client, SERVERS, &servers))]
    {
        if args.force && file.exists() {
            std::fs::remove_file(file).map_err(|why| Failure::wrong(format!("`{}`: {why}", file.display())))?;
        }
        create(file, &text)?;
    }
    emit(&init_summary(client, &files, &servers, &variables, (&list, &config)))?;
    Ok(ExitCode::SUCCESS)
}

/// Lets a server inherit the variables that its command mentions, and those of its program that are
/// set here.
fn inherit_needed(server: &mut Listed) {
    let How::Stdio { command, args, env, .. } = &server.how else { return };
    let mut names = mentioned(command, args);
    names.extend(usual(command, args).into_iter().filter(|name| variable(name).is_some()));
    server.inherit = names.into_iter().filter(|name| !env.contains_key(name)).collect();
}

/// The client's files that exist: the one that the flag names, else the user's and the project's.
fn client_files(client: &McpClient, from: Option<&str>) -> Result<Vec<String>, Failure> {
    if let Some(file) = from {
        return Ok(vec![file.to_owned()]);
    }
    let places: Vec<String> = client.config.files.iter().filter_map(|file| below_home(file)).collect();
    let there: Vec<String> = places.iter().filter(|file| Path::new(file).is_file()).cloned().collect();
    if there.is_empty() {
        let looked = if places.is_empty() { "no path is known for this client".to_owned() } else { places.join(", ") };
        let why = format!("no configuration of {} found; searched {looked}", client.title);
        return Err(Failure::wrong(why).help("name it with --from FILE"));
    }
    Ok(there)
}

/// A path with `~/` replaced by the home folder; `None` if that is unknown.
fn below_home(file: &str) -> Option<String> {
    match file.strip_prefix("~/") {
        Some(rest) => Some(Path::new(&home()?).join(rest).to_string_lossy().into_owned()),
        None => Some(file.to_owned()),
    }
}

/// The servers of all files; for a name in two files, the later one wins.
fn taken_over(client: &McpClient, files: &[String]) -> Result<Vec<Listed>, Failure> {
    let mut all: IndexMap<String, Listed> = IndexMap::new();
    let project = working_folder();
    let mut failed = Vec::new();
    for file in files {
        let loaded = read_list(client, &read_text(file, MAX_BYTES)?, file, project.as_deref());
        if loaded.has_errors() {
            failed.extend(loaded.diagnostics);
            continue;
        }
        say_all(&loaded.diagnostics);
        all.extend(loaded.value.into_iter().map(|own| (own.name.clone(), own)));
    }
    // It is fine if only some of several files contain servers.
    if all.is_empty() && !failed.is_empty() {
        return Err(Failure::bad(failed));
    }
    if all.is_empty() {
        return Err(Failure::wrong(format!("{} lists no server that can be imported", client.title)));
    }
    Ok(all.into_values().collect())
}

fn init_summary(
    client: &McpClient,
    files: &[String],
    servers: &[Listed],
    variables: &[Variable],
    (list, config): (&Path, &Path),
) -> String {
    let count = servers.len();
    let from = files.join(", ");
    let mut out = format!("{count} server{} of {} ({from})\n", if count == 1 { "" } else { "s" }, client.title);
    for server in servers {
        let disabled = if server.enabled { "" } else { " (disabled)" };
        let inherits = match server.inherit.as_slice() {
            [] => String::new(),
            names => format!("   {DIM}inherits {}{DIM:#}", visible(&names.join(", "))),
        };
        out.push_str(&format!("  {}{disabled}{inherits}\n", visible(&server.name)));
    }
    out.push_str(&format!("written: {}\n         {}\n", list.display(), config.display()));
    if !variables.is_empty() {
        out.push_str(&format!("\n{BOLD}Set these variables{BOLD:#} where the gateway starts:\n"));
        for Variable { name, moved, used, .. } in variables {
            let how = if *moved { "its value is in the client's file" } else { "already a variable" };
            let used = used.iter().map(|own| visible(own).into_owned()).collect::<Vec<_>>().join(", ");
            out.push_str(&format!("  {name}   {DIM}{used}; {how}{DIM:#}\n"));
        }
    }
    let program =
        std::env::current_exe().map_or_else(|_| "toolfold".to_owned(), |own| own.to_string_lossy().into_owned());
    let path = config.to_string_lossy().into_owned();
    let args = ["gateway".to_owned(), "--config".to_owned(), path.clone()];
    let names: Vec<String> = variables.iter().map(|own| own.name.clone()).collect();
    out.push_str(&format!("\n{BOLD}Check:{BOLD:#} toolfold gateway doctor --config {path}\n"));
    out.push_str(&format!(
        "{BOLD}Then paste{BOLD:#} into {}, in place of the servers above:\n\n{}",
        client.config.paste,
        paste::block(client, &program, &args, &names)
    ));
    if let Some(note) = &client.config.note {
        out.push_str(&format!("\n{note}\n"));
    }
    if !client.config.verified {
        let (source, date) = (&client.config.source, &client.config.date);
        out.push_str(&format!("\n{DIM}The format is not verified ({source}, {date}).{DIM:#}\n"));
    }
    out
}
