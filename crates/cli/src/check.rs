//! `toolfold check`: hold what tools cost against budgets and toolfold.lock.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold check";

/// Hold what tools cost against budgets and toolfold.lock.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &CheckArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
