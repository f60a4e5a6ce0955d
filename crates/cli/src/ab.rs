//! `toolfold ab`: run recorded tasks through arms with a driver, and judge every argument.

mod drive;
pub(super) mod model;
mod out;
mod plan;
mod report;
mod text;
pub(super) mod transcripts;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::input::InputArgs;
use super::output::{Failure, Outcome, emit, emit_json};
use toolfold::tokens::Meter;
use toolfold_measure::ab::{Oracle, compare};

const AFTER_HELP: &str = "\
Examples:
  toolfold ab --tasks tasks.jsonl --tools tools.json            four oracles, every arm
  toolfold ab --tasks tasks.jsonl --tools tools.json --driver omits --arms full,signature,lean
  toolfold ab --tasks tasks.jsonl --tools tools.json --out rows.jsonl --repeat 3 --limit 50
  toolfold ab --tasks tasks.jsonl --tools tools.json --out rows.jsonl --resume
  toolfold ab --tasks tasks.jsonl --tools tools.json --arms full,signature --out rows.jsonl \\
    --base-url https://api.openai.com/v1 --key-env OPENAI_API_KEY --model gpt-5.4
  toolfold ab --tasks tasks.jsonl --tools tools.json --model-cmd 'python3 model.py' --order arm \\
    --first-timeout 600

Tasks, tools and rows: docs/ab.md. An oracle knows the true calls: it measures toolfold, not a
model.
Exit codes: 0 played, 1 tasks, tools or rows are invalid, 2 usage, 3 a task could not be played.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(super) struct AbArgs {
    #[command(subcommand)]
    command: Option<AbCommand>,

    #[command(flatten)]
    input: InputArgs,

    /// Tasks as JSON lines:
    /// {"id","turns":[…],"ground_truth":[[…]],"involved_domains":[…],"results":[[…]]}
    #[arg(long, value_name = "FILE")]
    tasks: Option<String>,

    /// Arms, your own among them [default: full, seed, stable, signature, outline, lean, kept,
    /// index, search, auto]
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,

    /// Who makes the calls: expands, by-name, blind, needs (oracles), omits (leaves out optional
    /// arguments) [default: the model if one is given, else the four oracles]
    #[arg(long, value_name = "DRIVER,…", value_delimiter = ',', value_parser = parse_driver)]
    driver: Vec<Oracle>,

    /// The provider's API: openai-chat, openai-responses, anthropic or gemini [default:
    /// openai-chat]
    #[arg(long, value_name = "WIRE")]
    wire: Option<String>,

    /// The model, for the capability table and the meter
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Meter for the tool arrays [default: the meter of wire and model; json/o200k_base for other
    /// models; billed:openai-chat/gpt-4.1 without a model]
    #[arg(long, value_name = "METER", value_parser = parse_meter)]
    meter: Option<Meter>,

    #[command(flatten)]
    reached: model::ModelArgs,

    /// System prompt of every conversation, from a file
    #[arg(long, value_name = "FILE")]
    system: Option<String>,

    /// Seed of the order of tasks and arms, and of the sample that --limit takes
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Order of tasks and arms: task by task, so that drift over time affects all arms, or arm by
    /// arm, so that a local model reads the tools of an arm once
    #[arg(long, value_name = "ORDER", value_enum, default_value_t)]
    order: plan::RoundOrder,

    /// How many times each task is run in each arm
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: u32,

    /// Run only N of the tasks, sampled by the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// Write a row for each task, arm and repeat to this file (schema: toolfold.ab/1)
    #[arg(long, value_name = "FILE")]
    out: Option<String>,

    /// Write the messages of each task, arm and repeat to this folder; see `toolfold ab show`
    #[arg(long, value_name = "DIR")]
    transcripts: Option<std::path::PathBuf>,

    /// Continue --out: the rounds it contains are not run again
    #[arg(long, requires = "out")]
    resume: bool,

    /// The comparison as JSON (schema: toolfold.ab-report/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum AbCommand {
    /// Put rows, or the event logs of an experiment, side by side with error bars.
    Report(report::ReportArgs),
    /// Show the messages of a task in an arm.
    Show(transcripts::ShowArgs),
}

fn parse_driver(text: &str) -> Result<Oracle, String> {
    text.trim().parse::<Oracle>().map_err(|why| why.to_string())
}

fn parse_meter(text: &str) -> Result<Meter, String> {
    text.parse::<Meter>().map_err(|why| why.to_string())
}

pub(super) fn run_ab(args: &AbArgs) -> Outcome {
    match &args.command {
        Some(AbCommand::Report(args)) => return report::run_ab_report(args),
        Some(AbCommand::Show(args)) => return transcripts::run_show(args),
        None => {}
    }
    let Some(tasks) = &args.tasks else {
        return Err(Failure::usage("there are no tasks to play")
            .help("name a file with --tasks; docs/ab.md describes its format"));
    };
    let plan = plan::Plan::from_args(args, tasks)?;
    let model = args.reached.model(plan.wire, &plan.model)?;
    let mut rows = out::Rows::open_rows(args, &plan)?;
    let stopped = drive::play_rounds(&plan, model, &mut rows, args.transcripts.as_deref())?;
    let drivers: Vec<&str> = plan.drivers.iter().map(|own| plan::driver_name(*own)).collect();
    let arms: Vec<&str> = plan.arms.iter().map(toolfold::profile::Arm::name).collect();
    let comparison = compare(rows.all(), &drivers, &arms);
    if args.json {
        emit_json(&comparison)?;
    } else {
        emit(&text::comparison_text(&comparison))?;
    }
    match stopped {
        Some(why) => Err(Failure::unmeasured(why)),
        None => Ok(ExitCode::SUCCESS),
    }
}
