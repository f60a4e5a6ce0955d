//! `toolfold diff`: show what changed since toolfold.lock.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold diff";

/// Show what changed since toolfold.lock.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &DiffArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
