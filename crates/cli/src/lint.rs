//! `toolfold lint`: find what is wrong with a tool list, and what each finding costs.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold lint";

/// Find what is wrong with a tool list, and what each finding costs.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LintArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &LintArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
