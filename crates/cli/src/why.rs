//! `toolfold why`: show what the parts of one tool cost, and what each detail drops.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold why format_cells";

/// Show what the parts of one tool cost, and what each detail drops.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &WhyArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
