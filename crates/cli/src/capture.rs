//! `toolfold capture`: save the tools of a server with its identity and digest.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold capture --out tools.json";

/// Save the tools of a server with its identity and digest.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &CaptureArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
