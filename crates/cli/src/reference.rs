//! `toolfold completions` and `toolfold man`: the reference for shells and `man`.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it writes pages to a folder")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use super::output::{Failure, Outcome, emit, emit_data};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  toolfold completions bash > ~/.local/share/bash-completion/completions/toolfold
  toolfold completions zsh > ~/.zfunc/_toolfold
  toolfold completions fish > ~/.config/fish/completions/toolfold.fish")]
pub(super) struct CompletionsArgs {
    /// The shell that the script is for
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  toolfold man | man -l -                                 read the first page
  toolfold man --out ~/.local/share/man/man1              a page for every command

Exit codes: 0 written, 1 the folder cannot be written, 2 usage.")]
pub(super) struct ManArgs {
    /// Write a page for every command to this folder, instead of the first one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "toolfold", &mut script);
    emit_data(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn man(args: &ManArgs) -> Outcome {
    match &args.out {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(crate::command()).render(&mut page).map_err(Failure::wrong)?;
            emit_data(&String::from_utf8_lossy(&page))?;
        }
        Some(folder) => {
            let failed = |why| Failure::wrong(format!("{}: cannot be written: {why}", folder.display()));
            std::fs::create_dir_all(folder).map_err(failed)?;
            clap_mangen::generate_to(crate::command(), folder).map_err(failed)?;
            let pages = std::fs::read_dir(folder).map_err(failed)?.count();
            emit(&format!("wrote {pages} pages to {}\n", folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
