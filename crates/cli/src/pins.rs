//! `toolfold pins`: the accepted definitions of tools behind the gateway, and their changes.

mod place;
mod show;
pub(super) mod store;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use self::place::PinPlace;
pub(crate) use self::show::PinsAnswer;
use self::store::{PinFile, PinFiles, pins_folder};
use super::output::{Failure, Outcome, emit, emit_json};
use super::postgres;
use super::similar::did_you_mean;
use toolfold::diagnostic::{Diagnostic, Place, visible};
use toolfold_gateway::pins::FIELDS;

/// What the user can do about a file that cannot be used.
const DAMAGED: &str = "its server's tools are not shown; to trust the server's next list instead, remove the file";

#[derive(Debug, Subcommand)]
pub(super) enum PinsCommand {
    /// List the pinned servers, and the tools that have changed.
    #[command(after_help = "\
Examples:
  toolfold pins list
  toolfold pins list github --json

Exit codes: 0 ok, even if tools have changed; 1 a file is damaged; 2 usage.")]
    List(ListArgs),
    /// Show what servers have changed since their tools were accepted.
    #[command(after_help = "\
Examples:
  toolfold pins diff
  toolfold pins diff github create_issue

Exit codes: 0 ok, 1 a file is damaged, 2 usage.")]
    Diff(DiffArgs),
    /// Accept changed and new tools as their server states them now.
    #[command(after_help = "\
Examples:
  toolfold pins accept github create_issue
  toolfold pins accept github

A running gateway shows accepted tools with the next list.

Exit codes: 0 accepted, 1 there is no such server or tool, 2 usage.")]
    Accept(AcceptArgs),
    /// Ignore changes of one field, such as a description that differs at each start.
    #[command(after_help = "\
Example:
  toolfold pins ignore github status description

Exit codes: 0 ok, 1 there is no such server or tool, 2 usage.")]
    Ignore(IgnoreArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only this server
    server: Option<String>,

    /// As JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    of: TenantArgs,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// Only this server
    server: Option<String>,

    /// Only this tool of the server
    tool: Option<String>,

    #[command(flatten)]
    of: TenantArgs,
}

#[derive(Debug, Args)]
pub(super) struct AcceptArgs {
    /// The server
    server: String,

    /// The tools [default: all changed and new tools of the server]
    tools: Vec<String>,

    #[command(flatten)]
    of: TenantArgs,
}

#[derive(Debug, Args)]
pub(super) struct IgnoreArgs {
    /// The server
    server: String,

    /// The tool
    tool: String,

    /// title, description, inputSchema, outputSchema or annotations
    field: String,

    #[command(flatten)]
    of: TenantArgs,
}

#[derive(Debug, Args)]
struct TenantArgs {
    /// The tenant whose pins these are [default: the pins of a gateway without tenants]
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,

    /// The database of several gateways, as their --state names it [default: the files of the
    /// user's state folder]
    #[arg(long, value_name = "ADDRESS")]
    state: Option<String>,
}

impl TenantArgs {
    fn place(&self) -> Result<PinPlace, Failure> {
        let Some(address) = &self.state else { return Ok(PinPlace::Files(self.files()?)) };
        if !postgres::is_address(address) {
            let why = "--state does not name a database; the pins of gateways with a file are in the state folder";
            return Err(Failure::usage(why).help("omit --state, or give postgres://USER@HOST/DATABASE"));
        }
        let of_tenant = self.tenant.as_deref().map(|tenant| postgres::of_tenant(address, tenant));
        PinPlace::shared(of_tenant.as_deref().unwrap_or(address))
    }

    fn files(&self) -> Result<PinFiles, Failure> {
        let tenant = self.tenant.as_deref();
        if tenant.is_some_and(|name| name.contains(['/', '\\', '.'])) {
            return Err(Failure::usage("this is not the name of a tenant"));
        }
        let folder = pins_folder(tenant);
        Ok(PinFiles::in_folder(folder.ok_or_else(|| Failure::usage("neither XDG_STATE_HOME nor HOME is set"))?))
    }
}

pub(super) fn run_pins(command: &PinsCommand) -> Outcome {
    match command {
        PinsCommand::List(args) => {
            let (files, damaged) = chosen(&args.of.place()?, args.server.as_deref())?;
            if args.json {
                emit_json(&PinsAnswer::new(&files, damaged.clone()))?;
            } else {
                emit(&show::list(&files))?;
            }
            finished(damaged)
        }
        PinsCommand::Diff(args) => {
            let (files, damaged) = chosen(&args.of.place()?, args.server.as_deref())?;
            if let Some(tool) = &args.tool {
                files.iter().try_for_each(|file| known_tool(file, tool))?;
            }
            emit(&show::differences(&files, args.tool.as_deref()))?;
            finished(damaged)
        }
        PinsCommand::Accept(args) => accept(args),
        PinsCommand::Ignore(args) => ignore(args),
    }
}

/// The files of one server, or of all, and why others cannot be used.
fn chosen(all: &PinPlace, server: Option<&str>) -> Result<(Vec<PinFile>, Vec<String>), Failure> {
    let (mut files, mut damaged) = (Vec::new(), Vec::new());
    for file in all.all().map_err(Failure::wrong)? {
        match file {
            Ok(file) => files.push(file),
            Err(why) => damaged.push(why),
        }
    }
    let Some(server) = server else { return Ok((files, damaged)) };
    let names: Vec<String> = files.iter().map(|own| own.server.clone()).collect();
    files.retain(|own| own.server == server);
    if files.is_empty() {
        let help = did_you_mean(server, names.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| "`toolfold pins list` lists the pinned servers".to_owned());
        let missing = Failure::wrong(format!("no pins of a server `{}`", visible(server))).help(help);
        return if damaged.is_empty() { Err(missing) } else { Err(Failure::bad(unusable(damaged))) };
    }
    Ok((files, damaged))
}

fn unusable(damaged: Vec<String>) -> Vec<Diagnostic> {
    let of = |why: String| Diagnostic::error("damaged-pins", Place::default(), why).help(DAMAGED);
    damaged.into_iter().map(of).collect()
}

fn finished(damaged: Vec<String>) -> Outcome {
    if damaged.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Failure::bad(unusable(damaged))) }
}

fn known_tool(file: &PinFile, tool: &str) -> Result<(), Failure> {
    if file.pins.tools.contains_key(tool) {
        return Ok(());
    }
    let help = did_you_mean(tool, file.pins.tools.keys().map(String::as_str));
    let help = help.unwrap_or_else(|| "`toolfold pins list SERVER --json` lists its tools".to_owned());
    Err(Failure::wrong(format!("server `{}` has no pinned tool `{}`", visible(&file.server), visible(tool))).help(help))
}

fn accept(args: &AcceptArgs) -> Outcome {
    let all = args.of.place()?;
    let (files, _) = chosen(&all, Some(&args.server))?;
    let mut accepted = Vec::new();
    for file in &files {
        args.tools.iter().try_for_each(|tool| known_tool(file, tool))?;
    }
    for file in &files {
        let waiting = file
            .pins
            .tools
            .iter()
            .filter(|(name, pin)| pin.changed.is_some() && (args.tools.is_empty() || args.tools.contains(name)));
        let names: Vec<&String> = waiting.map(|(name, _)| name).collect();
        if names.is_empty() {
            continue;
        }
        // Only what was read here is accepted: the server may change it meanwhile.
        let change = |pins: &mut toolfold_gateway::pins::ServerPins| {
            for name in &names {
                if pins.tools.get(*name).map(|pin| &pin.changed) == file.pins.tools.get(*name).map(|pin| &pin.changed) {
                    pins.accept(Some(name));
                }
            }
        };
        all.change(&file.path, &change).map_err(Failure::wrong)?;
        accepted
            .extend(names.into_iter().map(|name| format!("accepted {} of {}\n", visible(name), visible(&file.server))));
    }
    emit(&if accepted.is_empty() { "nothing to accept\n".to_owned() } else { accepted.concat() })?;
    Ok(ExitCode::SUCCESS)
}

fn ignore(args: &IgnoreArgs) -> Outcome {
    if !FIELDS.contains(&args.field.as_str()) {
        let help = did_you_mean(&args.field, FIELDS).unwrap_or_else(|| format!("use one of {}", FIELDS.join(", ")));
        return Err(Failure::usage(format!("`{}` is not a pinned field", visible(&args.field))).help(help));
    }
    let all = args.of.place()?;
    let (files, _) = chosen(&all, Some(&args.server))?;
    for file in &files {
        known_tool(file, &args.tool)?;
        let changed = all.change(&file.path, &|pins| {
            if let Some(pin) = pins.tools.get_mut(&args.tool) {
                pin.ignored.insert(args.field.clone());
            }
        });
        changed.map_err(Failure::wrong)?;
    }
    emit(&format!("changes of {} of {} are ignored\n", args.field, visible(&args.tool)))?;
    Ok(ExitCode::SUCCESS)
}
