//! `toolfold grants`: what is remembered, and taking it back.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::ledger::{StoreArgs, failure, now_ms, time};
use super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json};
use crate::diagnostic::visible;
use crate::policy::{ApprovalStore, Grant, Holds, What};

/// See and take back remembered yeses.
#[derive(Debug, Subcommand)]
pub(super) enum GrantsCommand {
    /// What is remembered, oldest first.
    List(ListArgs),
    /// Take one back.
    Revoke(RevokeArgs),
}

/// Where to look.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What to take back.
#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// The grant's id
    id: String,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(command: &GrantsCommand) -> Outcome {
    match command {
        GrantsCommand::List(args) => {
            let grants = args.store.to_read()?.grants(now_ms()).map_err(failure)?;
            if args.json {
                emit_json(&grants)?;
            } else {
                emit(&grants.iter().map(|grant| line(grant) + "\n").collect::<String>())?;
            }
        }
        GrantsCommand::Revoke(args) => {
            if !args.store.to_write()?.revoke(&args.id, now_ms()).map_err(failure)? {
                return Err(Failure::wrong(format!("there is no grant `{}`", args.id)));
            }
            emit(&format!("revoked {}\n", visible(&args.id)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn line(grant: &Grant) -> String {
    let what = match &grant.what {
        What::Tool => "every call".to_owned(),
        What::Arguments { arguments } => format!("exactly {arguments}"),
        What::Command { tokens, open } => format!("{}{}", tokens.join(" "), if *open { " …" } else { "" }),
    };
    let holds = match &grant.holds {
        Holds::Session(session) => format!("in session {session}"),
        Holds::Project(project) => format!("in project {project}"),
        Holds::Skill { name, .. } => format!("while skill {name} is active"),
        Holds::Always => "everywhere".to_owned(),
    };
    let until = grant.expires_ms.map(|ms| format!(" until {}", time(ms))).unwrap_or_default();
    let tool = grant.origin.identity(&grant.tool);
    format!(
        "{BOLD}{}{BOLD:#}  {}  {}  {DIM}{}{until}{DIM:#}",
        grant.id,
        visible(&tool),
        visible(&what),
        visible(&holds)
    )
}
