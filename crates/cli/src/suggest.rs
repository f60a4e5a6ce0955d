//! `toolfold suggest`: suggest a profile from how tools were used.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold suggest";

/// Suggest a profile from how tools were used.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SuggestArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &SuggestArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
