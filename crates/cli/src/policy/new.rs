//! `toolfold policy new`: writes a starter policy.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::new_file::create;
use crate::output::{Outcome, emit};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Domain {
    /// Code in one folder: shell, files, git, builds and tests
    Coding,
    /// Data files: sources that are only read, results in one folder
    Data,
    /// Requests to services, and the tools of one service
    Http,
    /// Operating services: reading runs, changes require approval, destroying is denied
    Ops,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// What the agent works on
    #[arg(long = "for", value_name = "DOMAIN", value_enum)]
    domain: Domain,

    /// Write it to this file, which must not exist yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn template(domain: Domain) -> &'static str {
    match domain {
        Domain::Coding => include_str!("templates/coding.toml"),
        Domain::Data => include_str!("templates/data.toml"),
        Domain::Http => include_str!("templates/http.toml"),
        Domain::Ops => include_str!("templates/ops.toml"),
    }
}

pub(super) fn new(args: &NewArgs) -> Outcome {
    let text = template(args.domain);
    let Some(file) = &args.out else {
        emit(text)?;
        return Ok(ExitCode::SUCCESS);
    };
    create(file, text)?;
    let file = file.display();
    emit(&format!(
        "wrote {file}\nNext: toolfold policy check {file}   (then --policy {file}, or name it in your configuration)\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}
