//! `toolfold probe`: ask a model what it takes: schemas in results, call_tool, native deferral.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold probe --base-url URL --model MODEL";

/// Ask a model what it takes: schemas in results, call_tool, native deferral.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &ProbeArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
