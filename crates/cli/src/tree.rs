//! `toolfold tree`: show where the tokens are: category, tool, part.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold tree";

/// Show where the tokens are: category, tool, part.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct TreeArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &TreeArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
