//! `toolfold grants`: remembered approvals, and revoking them.

use std::process::ExitCode;

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

use super::clock::{now_ms, time};
use super::ledger::{ListArgs, OneArgs, failure};
use super::output::{BOLD, DIM, Failure, Outcome, emit, emit_json};
use super::table::{cut_for_list, table};
use toolfold::diagnostic::visible;
use toolfold::policy::argv::display_known;
use toolfold::policy::{Grant, GrantScope, GrantTarget};

#[derive(Debug, Subcommand)]
pub(super) enum GrantsCommand {
    /// List the remembered approvals, oldest first.
    #[command(after_help = "\
Examples:
  toolfold grants list
  toolfold grants list --json

Exit codes: 0 ok, even if there is none; 3 no usable store.")]
    List(ListArgs),
    /// Revoke a remembered approval.
    #[command(after_help = "\
Example:
  toolfold grants revoke gr-3

Exit codes: 0 revoked, 1 no grant has this id, 3 no usable store.")]
    Revoke(OneArgs),
}

/// What `toolfold grants revoke --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RevokeAnswer<'a> {
    /// The id of the grant.
    revoked: &'a str,
}

pub(super) fn run_grants(command: &GrantsCommand) -> Outcome {
    match command {
        GrantsCommand::List(args) => list_grants(args)?,
        GrantsCommand::Revoke(OneArgs { id, rest }) => {
            if !rest.store.to_write()?.revoke(id, now_ms()).map_err(failure)? {
                return Err(Failure::wrong(format!("there is no grant `{}`, or it is already revoked", visible(id)))
                    .help("`toolfold grants list` shows the remembered approvals"));
            }
            if rest.json {
                emit_json(&RevokeAnswer { revoked: id })?;
            } else {
                emit(&format!("revoked {}\n", visible(id)))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn grant_row(grant: &Grant) -> [String; 5] {
    [
        grant.id.clone(),
        grant.expires_ms.map_or_else(|| "no end".to_owned(), time),
        cut_for_list(&where_it_holds(&grant.scope)),
        grant_tool(grant),
        cut_for_list(&grant_coverage(&grant.target)),
    ]
}

fn list_grants(args: &ListArgs) -> Result<(), Failure> {
    let grants = args.store.to_read()?.grants(now_ms()).map_err(failure)?;
    if args.json {
        return emit_json(&grants);
    }
    if grants.is_empty() {
        return emit("no remembered approvals\n");
    }
    emit(&table(["id", "until", "holds", "tool", "what"], &grants.iter().map(grant_row).collect::<Vec<_>>()))
}

pub(super) fn grant_line(grant: &Grant) -> String {
    let until = grant.expires_ms.map(|ms| format!(", until {}", time(ms))).unwrap_or_default();
    let holds = visible(&where_it_holds(&grant.scope)).into_owned();
    let (id, tool, what) = (&grant.id, grant_tool(grant), cut_for_list(&grant_coverage(&grant.target)));
    format!("{BOLD}{id}{BOLD:#}  {tool}  {what}  {DIM}{holds}{until}{DIM:#}")
}

pub(super) fn grant_coverage(target: &GrantTarget) -> String {
    match target {
        GrantTarget::Tool => "every call".to_owned(),
        GrantTarget::Arguments { arguments } => format!("exactly {arguments}"),
        GrantTarget::Command { tokens, open } => {
            format!("{}{}", display_known(tokens), if *open { " …" } else { "" })
        }
    }
}

fn where_it_holds(scope: &GrantScope) -> String {
    match scope {
        GrantScope::Session(session) => format!("in session {session}"),
        GrantScope::Project(project) => format!("in project {project}"),
        GrantScope::Always => "everywhere".to_owned(),
    }
}

fn grant_tool(grant: &Grant) -> String {
    visible(&grant.origin.identity(&grant.tool)).into_owned()
}
