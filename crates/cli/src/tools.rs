//! `toolfold tools`: the exact array to send.

use std::process::ExitCode;

use clap::Args;

use super::input::{Input, PresentedArgs};
use super::output::{Failure, Outcome, emit, on_terminal, say_all};
use toolfold::profile::ExpandRequest;
use toolfold::wire::Wire;

const AFTER_HELP: &str = "\
Examples:
  toolfold tools --arm stable                            the built-in tools as arm stable sends them
  toolfold tools --arm full --tools tools.json           byte for byte what came in
  toolfold tools --arm seed --expand format,chart        after the model has opened two categories
  toolfold tools --wire anthropic --model claude-opus-4.5 --arm native    the provider's own way
  toolfold tools --arm lean --pretty | less              to read it";

/// Prints the tool array of an arm as compact JSON, and nothing else.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ToolsArgs {
    #[command(flatten)]
    presented: PresentedArgs,

    /// Categories to open first, as if the model had
    #[arg(long, value_name = "CATEGORY,…", value_delimiter = ',')]
    expand: Vec<String>,

    /// Tools to open first, by name
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    expand_tool: Vec<String>,

    /// Indent it for reading
    #[arg(long)]
    pretty: bool,
}

pub(super) fn run(args: &ToolsArgs) -> Outcome {
    let input = Input::load(args.presented.config(&[])?)?;
    input.say_warnings();
    let engine = input.engine(input.config.arm())?;
    let wire = input.config.read("presentation.wire").unwrap_or(Wire::OpenAiChat);
    let model = input.config.get("presentation.model");
    let mut session = engine.session_on(wire, model, "", &input.capabilities()?).map_err(Failure::usage)?;
    say_all(&wire.diagnostics(&engine, session.arm()));
    if !args.expand.is_empty() || !args.expand_tool.is_empty() {
        let request = ExpandRequest { categories: args.expand.clone(), tools: args.expand_tool.clone() };
        let expansion = session.expand(&request);
        if !expansion.unknown.is_empty() {
            return Err(Failure::wrong(
                expansion.reply.lines().filter(|l| l.starts_with("Unknown")).collect::<Vec<_>>().join("; "),
            ));
        }
    }
    let array = session.tools(wire);
    if args.pretty {
        let value: serde_json::Value = serde_json::from_str(&array).map_err(Failure::wrong)?;
        emit(&format!("{value:#}\n"))?;
    } else {
        // In a pipe the array stands alone, so that arm full can be compared byte for byte.
        emit(&format!("{}{}", array.text(), if on_terminal() { "\n" } else { "" }))?;
    }
    Ok(ExitCode::SUCCESS)
}
