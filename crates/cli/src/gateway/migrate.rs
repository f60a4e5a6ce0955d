//! `toolfold gateway migrate`: creates or updates the tables in PostgreSQL.

use std::process::ExitCode;

use clap::Args;

use super::super::output::{Failure, Outcome, emit};
use super::super::postgres;

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// The database, with the role that owns the tables: postgres://OWNER@HOST/DATABASE; the
    /// password can be in PGPASSWORD
    #[arg(long, value_name = "ADDRESS")]
    state: String,

    /// The existing role with which the gateways connect; it gets the rights that they need
    #[arg(long, value_name = "ROLE", default_value = "toolfold_app")]
    app_role: String,
}

pub(super) fn run_migrate(args: &MigrateArgs) -> Outcome {
    if !postgres::is_address(&args.state) {
        let why = "only a database is migrated by this command; a file is migrated when it is opened";
        return Err(Failure::usage(why).help("give --state postgres://OWNER@HOST/DATABASE"));
    }
    let place = postgres::without_password(&args.state);
    let steps = postgres::migrate(&args.state, &args.app_role)?;
    let role = &args.app_role;
    emit(&match steps {
        0 => format!("{place} is up to date; `{role}` has its rights\n"),
        1 => format!("{place}: ran 1 step; `{role}` has its rights\n"),
        steps => format!("{place}: ran {steps} steps; `{role}` has its rights\n"),
    })?;
    Ok(ExitCode::SUCCESS)
}
