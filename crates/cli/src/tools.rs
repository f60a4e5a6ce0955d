//! `toolfold tools`: the exact array to send.

use std::process::ExitCode;

use clap::Args;

use super::input::Input;
use super::layers::Layers;
use super::output::{Failure, Outcome, emit_data, on_terminal};
use super::presented::{Presented, PresentedArgs, say_noticed};
use toolfold::profile::ExpandRequest;

const AFTER_HELP: &str = "\
Examples:
  toolfold tools --arm stable                            the built-in tools as arm stable sends them
  toolfold tools --arm full --tools tools.json           byte for byte the input
  toolfold tools --arm seed --expand format,chart        after the model has opened two categories
  toolfold tools --wire anthropic --model claude-opus-4.5 --arm native    native deferral
  toolfold tools --arm lean --pretty | less              to read it";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ToolsArgs {
    #[command(flatten)]
    presented: PresentedArgs,

    /// Categories to expand first, as if the model had
    #[arg(long, value_name = "CATEGORY,…", value_delimiter = ',')]
    expand: Vec<String>,

    /// Tools to expand first, by name
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    expand_tool: Vec<String>,

    /// Indent the array
    #[arg(long)]
    pretty: bool,
}

pub(super) fn run_tools(args: &ToolsArgs) -> Outcome {
    let input = Input::load(args.presented.config()?)?;
    input.say_warnings();
    let layers = Layers::showing(&input.config)?.report_skill_tools(&input.config);
    let mut conversation = Presented::showing(&input, &layers, &args.presented.id)?.start_conversation()?;
    say_noticed(&conversation);
    if !args.expand.is_empty() || !args.expand_tool.is_empty() {
        let mut request = ExpandRequest::default();
        (request.categories, request.tools) = (args.expand.clone(), args.expand_tool.clone());
        let expansion = conversation.expand(&request);
        if !expansion.unknown.is_empty() {
            return Err(Failure::wrong(expansion.notes.replace('\n', "; ")));
        }
    }
    let tools = conversation.tools();
    if args.pretty {
        emit_data(&format!("{:#}\n", tools.value()))?;
    } else {
        // In a pipe the array is printed alone, so that arm full can be compared byte for byte.
        emit_data(&format!("{}{}", tools.json(), if on_terminal() { "\n" } else { "" }))?;
    }
    Ok(ExitCode::SUCCESS)
}
