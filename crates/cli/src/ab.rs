//! `toolfold ab`: run recorded tasks through arms with a driver, and judge every argument.

use clap::Args;

use super::input::InputArgs;
use super::output::{Failure, Outcome};

const AFTER_HELP: &str = "\
Examples:
  toolfold ab --tasks tasks.jsonl";

/// Run recorded tasks through arms with a driver, and judge every argument.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct AbArgs {
    #[command(flatten)]
    input: InputArgs,
}

pub(super) fn run(args: &AbArgs) -> Outcome {
    let _ = &args.input;
    Err(Failure::usage("not built yet"))
}
