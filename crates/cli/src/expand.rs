//! `toolfold expand`: the reply a model would get.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::input::{Input, InputArgs};
use super::output::{Outcome, emit, emit_json};
use toolfold::profile::ExpandRequest;

const AFTER_HELP: &str = "\
Examples:
  toolfold expand format                        the full schemas of a category
  toolfold expand format chart --arm index      two at once, in the words of another arm
  toolfold expand format_cells                  a single tool
  toolfold expand fromat                        what a model is told that misspells";

/// Prints what `expand_tools` answers. Exit code 1 if a name opens nothing.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ExpandArgs {
    /// Categories or tools to open
    #[arg(required = true, value_name = "CATEGORY")]
    names: Vec<String>,

    #[command(flatten)]
    input: InputArgs,

    /// Arm: full, seed, stable, signature, lean, index or auto [default: auto]
    #[arg(long, value_name = "ARM")]
    arm: Option<String>,

    /// The reply with what was opened, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ExpandArgs) -> Outcome {
    let input = Input::load(args.input.config(&[("presentation.arm", args.arm.clone())])?)?;
    input.say_warnings();
    let mut session = input.engine(input.config.arm())?.session();
    let expansion = session.expand(&ExpandRequest { categories: args.names.clone(), tools: Vec::new() });
    if args.json {
        emit_json(&json!({
            "arm": session.arm(),
            "delivery": session.arm().delivery(),
            "categories": expansion.categories,
            "opened": expansion.opened,
            "unknown": expansion.unknown,
            "reply": expansion.reply,
        }))?;
    } else {
        emit(&format!("{}\n", expansion.reply))?;
    }
    Ok(if expansion.unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
