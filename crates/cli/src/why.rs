//! `toolfold why`: show what the parts of one tool cost, and what each detail drops.

pub(super) mod meter;
mod text;

use std::process::ExitCode;

use clap::Args;

use self::meter::MeterArgs;
use super::input::{Input, InputArgs};
use super::output::{Failure, Outcome, emit, emit_json};
use toolfold::name::nearest;
use toolfold_measure::parts::Measurer;
use toolfold_measure::why::why;

const AFTER_HELP: &str = "\
Examples:
  toolfold why format_cells                                   a built-in tool
  toolfold why create_issue --tools tools.json                one of your own
  toolfold why create_issue --tools tools.json --wire anthropic    as Anthropic bills it
  toolfold why format_cells --json                            for a program (toolfold.why/1)";

/// Maximum number of similar names suggested for an unknown tool.
const MOST_NEAR: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct WhyArgs {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    tool: String,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    meter: MeterArgs,

    /// The answer as JSON (toolfold.why/1)
    #[arg(long)]
    json: bool,
}

pub(super) fn run_why(args: &WhyArgs) -> Outcome {
    let input = Input::load(args.input.config(&args.meter.flags())?)?;
    input.say_warnings();
    let meter = args.meter.meter(&input.config)?;
    let Some(at) = input.catalog.position(&args.tool) else { return Err(unknown_tool(&args.tool, &input)) };
    let Some(tool) = input.catalog.at(at) else { return Err(unknown_tool(&args.tool, &input)) };
    let assignment = input.profile.as_ref().map(|profile| profile.assign(&input.catalog).value);
    let assigned = assignment.as_ref().and_then(|all| all.at(at));
    let measurer = Measurer::new(&meter);
    let summary = assigned.and_then(|own| own.summary.as_deref());
    let mut answer = why(&measurer, tool, summary).map_err(uncounted)?;
    answer.tier = assigned.map(|own| own.tier.name());
    answer.category = assigned.map(|own| own.category.to_string());
    if args.json {
        emit_json(&answer)?;
    } else {
        emit(&text::why_text(&answer))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn uncounted(why: impl std::fmt::Display) -> Failure {
    Failure::unmeasured(format!("cannot be measured: {why}"))
}

fn unknown_tool(name: &str, input: &Input) -> Failure {
    let known = input.catalog.names().map(toolfold::name::ToolName::as_str);
    let near: Vec<String> = nearest(name, known, MOST_NEAR).iter().map(|near| format!("`{near}`")).collect();
    let shown = toolfold::diagnostic::visible(name);
    let failure = Failure::wrong(format!("unknown tool `{shown}`, not among {}", input.catalog.len()));
    match near.as_slice() {
        [] => failure.help("`toolfold tree` lists the tools that cost most"),
        near => failure.help(format!("did you mean {}?", near.join(" or "))),
    }
}
