//! `toolfold lock`: write toolfold.lock: what each tool costs, with its digest.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold lock";

/// Write toolfold.lock: what each tool costs, with its digest.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LockArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &LockArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
