//! `toolfold config`: every setting with its value and where it came from.

use std::process::ExitCode;

use clap::Args;

use super::input::InputArgs;
use super::output::{BOLD, DIM, Outcome, emit, emit_json};
use crate::configuration::Key;
use toolfold::profile::Arm;

const AFTER_HELP: &str = "\
Examples:
  toolfold config                                the effective values
  toolfold config --explain                      with their origins, and what they are for
  TOOLFOLD_ARM=lean toolfold config --json

Precedence, weakest first: defaults, toolfold.toml, the environment, flags.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Also print where each value came from and what it is for
    #[arg(long)]
    explain: bool,

    /// As JSON, with origins
    #[arg(long)]
    json: bool,
}

pub(super) fn run_config(args: &ConfigArgs) -> Outcome {
    let config = args.input.config(&[])?;
    if args.json {
        emit_json(&config)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    for (name, setting) in config.iter() {
        let value = if setting.value.is_empty() { "–" } else { &setting.value };
        out.push_str(&format!("{BOLD}{name:<22}{BOLD:#} {value}"));
        if args.explain {
            let help = Key::by_name(name).map_or("", |key| key.help);
            out.push_str(&format!("   {DIM}({}) {help}{DIM:#}", setting.origin));
        }
        out.push('\n');
    }
    for arm in config.own_arms().iter().copied().map(Arm::Custom) {
        let (core, extended, delivery) = (arm.core().name(), arm.extended().name(), arm.delivery().name());
        let name = format!("arms.{arm}");
        out.push_str(&format!("{BOLD}{name:<22}{BOLD:#} core={core} extended={extended} delivery={delivery}\n"));
    }
    emit(&out)?;
    Ok(ExitCode::SUCCESS)
}
