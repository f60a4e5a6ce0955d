//! `toolfold sim`: simulate what a session costs under each arm, prompt caching counted.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold sim";

/// Simulate what a session costs under each arm, prompt caching counted.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SimArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &SimArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
