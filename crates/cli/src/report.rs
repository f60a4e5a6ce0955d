//! `toolfold report`: what a tool set costs in each arm, and how to reduce it.

mod markdown;
mod notes;
mod page;
mod setup;
mod text;

use std::process::ExitCode;

use clap::Args;

use super::input::{Input, InputArgs};
use super::output::{Failure, Outcome, emit, emit_json, progress};
use crate::configuration::{Config, keys};
use crate::help;
use toolfold::profile::Arm;
use toolfold::tokens::Meter;

/// Size of tool text that takes about a second in all arms, in bytes.
const SLOW_BYTES: usize = 1_500_000;

const AFTER_HELP: &str = "\
Examples:
  toolfold report                                          the built-in Excel tools
  toolfold report --tools tools.json                       your own tools, under a derived profile
  toolfold report --mcp 'npx -y @playwright/mcp'           the tools of an MCP server
  toolfold report --tools tools.json --model claude-sonnet-5.5    as Anthropic bills them
  toolfold report --tools tools.json --profile mine.toml   under a profile of your own
  toolfold report --tools tools.json --html report.html    a page to view and to share
  toolfold report --arms full,stable --top 20              two arms, and more of the expensive tools
  toolfold report --skills skillpacks/excel                and what skills add to every arm
  toolfold report --meter json/cl100k_base --json          compact JSON in another encoding

A session is 20 requests that use 6 folded tools by default; the configuration keys are
presentation.requests, used_tools, system and step. `toolfold sim` simulates other sessions.

Meters: billed:openai-chat/<model>, billed:openai-responses/<model>,
estimate:anthropic/<model>, estimate:gemini/<model>, estimate:vertex/<model>, json/o200k_base,
json/cl100k_base.";

/// The usual number of tools to list.
const TOP: usize = 10;

#[derive(Debug, Default, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Arms to compare, your own among them [default: full, seed, stable, signature, outline, lean,
    /// kept, index, search, auto]
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,

    /// The model, which determines meter, prices and limits [default: gpt-5.4, or a common one of
    /// the wire]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    #[arg(long, value_name = "WIRE", help = format!("The provider's API: {} [default: that of the model]", help::wires()))]
    wire: Option<String>,

    /// What to count with [default: that of --wire and --model, else billed:openai-chat/gpt-5.4]
    #[arg(long, value_name = "METER", value_parser = parse_meter)]
    meter: Option<Meter>,

    /// Folders of skills besides the usual places, to measure what `activate_skill` adds
    #[arg(long, value_name = "DIR,…", value_delimiter = ',')]
    skills: Vec<String>,

    /// Number of the most expensive tools to list
    #[arg(long, value_name = "N", default_value_t = TOP)]
    top: usize,

    /// The report as JSON (schema: toolfold.report/2, see --schema)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// The report as Markdown
    #[arg(long)]
    markdown: bool,

    /// Also write the report as one self-contained page; `-` writes only the page to standard
    /// output
    #[arg(long, value_name = "FILE|-")]
    html: Option<String>,
}

fn named_arm(config: &Config, text: &str) -> Result<Arm, Failure> {
    config.named_arm(text.trim()).map_err(|why| Failure::usage(format!("--arms: {why}")))
}

fn parse_meter(text: &str) -> Result<Meter, String> {
    text.parse::<Meter>().map_err(|why| why.to_string())
}

/// The report of `toolfold` without a command: the built-in tools.
pub(super) fn run_example() -> Outcome {
    run_report(&ReportArgs { top: TOP, ..ReportArgs::default() })
}

pub(super) fn run_report(args: &ReportArgs) -> Outcome {
    let roots = (!args.skills.is_empty()).then(|| args.skills.join(","));
    let flags = [
        (&keys::skills::ROOTS, roots),
        (&keys::presentation::MODEL, args.model.clone()),
        (&keys::presentation::WIRE, args.wire.clone()),
    ];
    let input = Input::load(args.input.config(&flags)?)?;
    input.say_warnings();
    let target = setup::Target::from_config(&input.config, args.meter.as_ref())?;
    let arms: Vec<Arm> = match args.arms.as_slice() {
        [] => Arm::EVERYWHERE.into_iter().chain([Arm::Auto]).collect(),
        named => named.iter().map(|name| named_arm(&input.config, name)).collect::<Result<_, Failure>>()?,
    };
    let size: usize = input.catalog.iter().map(|tool| tool.description().len() + tool.parameters_text().len()).sum();
    if size > SLOW_BYTES {
        progress(&format!("counting {} tools in {} arms …", input.catalog.len(), arms.len()));
    }
    let report = setup::report(&input, &arms, &target)?;
    if let Some((_, why)) = report.unavailable.iter().next().filter(|_| !args.arms.is_empty()) {
        return Err(Failure::usage(format!("--arms: {why}")));
    }
    if let Some(file) = &args.html {
        page::write_page(file, &input, &report, notes::notes(&report))?;
        if file == "-" {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if args.json {
        emit_json(&report)?;
    } else if args.markdown {
        emit(&markdown::markdown(&report, args.top))?;
    } else {
        emit(&text::report_text(&report, args.top, input.builtin))?;
    }
    Ok(ExitCode::SUCCESS)
}
