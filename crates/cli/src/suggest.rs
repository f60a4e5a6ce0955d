//! `toolfold suggest`: suggest a profile based on how tools were used.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it reads logs and writes a profile")]

mod read;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use self::read::Read;
use super::input::{Input, InputArgs};
use super::output::{Failure, Outcome, emit_data, emit_json, progress, warn};
use super::why::meter::MeterArgs;
use super::{new_file, out_file};
use crate::configuration::keys;
use toolfold::profile::{Arm, Delivery, ToolProfile};
use toolfold::tokens::Tiktoken;
use toolfold::wire::Wire;
use toolfold_measure::prices::PriceTable;
use toolfold_measure::suggest::{Lookup, SuggestError, SuggestOptions, Suggestion, suggest};
use toolfold_measure::usage::Usage;

const CONTRACT: &str = "toolfold.suggest/1";

/// Price of output in thousandths of the price of input, if no price is known: the usual ratio.
const USUAL_OUTPUT: u32 = 5_000;

/// Product of sessions and tools that takes a second.
const SLOW: usize = 50_000;

const AFTER_HELP: &str = "\
Examples:
  toolfold suggest calls.jsonl --tools tools.json --out profile.toml     from a log of calls
  toolfold suggest events.jsonl --tools tools.json              from `toolfold session --log`
  toolfold suggest requests/*.jsonl --tools tools.json --model claude-sonnet-4.6 --explain
  cat calls.jsonl | toolfold suggest - --tools tools.json --json   for a program
  toolfold suggest --tools tools.json                            without usage: by subject alone

A line of a log is a call, {\"conversation\": \"c-1\", \"tool\": \"read_file\", \"arguments\":
{…}}, arguments optional; a request body or message array of Chat Completions, Responses,
Anthropic or Gemini; or an event of toolfold. A file may also be one JSON document. The profile
goes to standard output or --out, the explanation to standard error.
Exit codes: 0 suggested, 1 a file cannot be read or contains no call, 2 usage,
3 tokens cannot be counted.";

/// How a model looks up a folded tool that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LookupArg {
    /// Its whole category.
    Category,
    /// The tool alone, by name.
    Tool,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SuggestArgs {
    /// Logs and transcripts; `-` is standard input
    #[arg(value_name = "FILE|-")]
    usage: Vec<String>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    meter: MeterArgs,

    /// The arm that the profile is for [default: the choice of arm auto if core tools matter in it,
    /// else stable]
    #[arg(long, value_name = "ARM")]
    arm: Option<String>,

    /// Number of requests in a session [default: one per call, and one more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    requests: Option<u16>,

    /// Maximum tokens of the core tools in the array
    #[arg(long, value_name = "TOKENS")]
    max_core_tokens: Option<usize>,

    /// How a model looks up a folded tool
    #[arg(long, value_name = "HOW", default_value = "category")]
    lookup: LookupArg,

    /// Write the profile to this file; an existing one is replaced only with --force
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite the file of --out
    #[arg(long, requires = "out")]
    force: bool,

    /// Also print coverage, hidden parameters, unused tools and every category
    #[arg(long)]
    explain: bool,

    /// The suggestion as JSON (toolfold.suggest/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.suggest/1")]
pub(super) struct Answer<'a> {
    schema: &'static str,
    arm_reason: &'a str,
    /// Calls of tools that the catalog does not contain.
    unknown_calls: usize,
    /// The names of those tools, with their calls and the tool that was probably intended.
    unknown: Vec<Unknown<'a>>,
    bad_lines: usize,
    #[serde(flatten)]
    suggestion: &'a Suggestion,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Unknown<'a> {
    name: &'a str,
    calls: usize,
    near: Option<&'a str>,
}

pub(super) fn run_suggest(args: &SuggestArgs) -> Outcome {
    let standard_input = args.usage.iter().filter(|file| *file == "-").count();
    if standard_input > 1 {
        return Err(Failure::usage("standard input can be read only once"));
    }
    let mut flags = args.meter.flags().to_vec();
    flags.push((&keys::presentation::ARM, args.arm.clone()));
    let input = Input::load(args.input.config(&flags)?)?;
    input.say_warnings();
    let Some(today) = &input.profile else {
        return Err(Failure::usage("the profile is off: a suggestion is compared with the current profile")
            .help("omit --profile off, or enable presentation.profile"));
    };
    if let Some(out) = args.out.as_ref().filter(|_| !args.force) {
        new_file::refuse_existing(out)?;
    }
    let (usage, bad_lines) = read_all(args, &input)?;
    let (arm, reason) = profile_arm(args, &input)?;
    let options = options(args, &input, arm)?;
    if usage.sessions.len().saturating_mul(input.catalog.len()) > SLOW {
        progress(&format!("simulating {} sessions with several profiles …", usage.sessions.len()));
    }
    let counter = Tiktoken::new(options.meter.encoding());
    let made = suggest(&input.catalog, today, &usage, &options, &counter).map_err(|why| match why {
        SuggestError::Arm(_) => Failure::usage(why).help("or let arm auto choose: omit --arm"),
        SuggestError::Count(_) => Failure::unmeasured(why),
        why => Failure::wrong(why),
    })?;
    if args.json {
        let unknown = usage.unknown.iter();
        let unknown = unknown.map(|(name, own)| Unknown { name, calls: own.calls, near: own.near.as_deref() });
        emit_json(&Answer {
            schema: CONTRACT,
            arm_reason: &reason,
            unknown_calls: usage.unknown_calls(),
            unknown: unknown.collect(),
            bad_lines,
            suggestion: &made,
        })?;
    } else {
        warn(text::suggestion_text(&made, &usage, &reason, today, args.explain).trim_end());
    }
    match &args.out {
        Some(out) => out_file::replace(out, &made.toml)?,
        None if args.json => {}
        None => emit_data(&made.toml)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The usage in all files, and the number of lines that cannot be read.
fn read_all(args: &SuggestArgs, input: &Input) -> Result<(Usage, usize), Failure> {
    let mut read = Read::new(&input.catalog);
    for file in &args.usage {
        read.read_usage_file(file)?;
    }
    let (usage, bad_lines) = read.done();
    if !args.usage.is_empty() && usage.is_empty() {
        let failure = Failure::wrong("the input contains no call of these tools");
        return Err(match usage.unknown.first() {
            Some((name, _)) => {
                let name = toolfold::diagnostic::visible(name);
                failure.help(format!(
                    "`{name}` and {} more calls are of unknown tools: check --tools",
                    usage.unknown_calls() - 1
                ))
            }
            None => failure
                .help("see `toolfold suggest --help` for the format of a line; without files it suggests by subject"),
        });
    }
    Ok((usage, bad_lines))
}

fn profile_arm(args: &SuggestArgs, input: &Input) -> Result<(Arm, String), Failure> {
    if args.arm.is_some() {
        let arm = input.config.settings.presentation.arm;
        if arm != Arm::Auto {
            return Ok((arm, "asked for".to_owned()));
        }
    }
    let wire = args.meter.wire(&input.config).unwrap_or(Wire::OpenAiChat);
    let (engine, table) = (input.engine(Arm::Auto)?, input.capabilities()?);
    let start = engine.conversation(wire).model(input.config.settings.presentation.model.as_deref().unwrap_or(""));
    let conversation = start.capabilities(&table).start().map_err(Failure::usage)?;
    let (auto, why) = (conversation.arm(), conversation.reason().to_owned());
    // If core tools look like the others, the arm does not affect the choice of the core.
    Ok(if auto.delivery() == Delivery::None || auto.core() == auto.extended() {
        let why = format!("arm auto takes {auto} , where core tools make no difference: this is for arm stable");
        (Arm::Stable, why)
    } else {
        (auto, format!("what arm auto takes: {why}"))
    })
}

fn options(args: &SuggestArgs, input: &Input, arm: Arm) -> Result<SuggestOptions, Failure> {
    let meter = args.meter.meter(&input.config)?;
    let wire = args.meter.wire(&input.config).unwrap_or(Wire::OpenAiChat);
    let model = input.config.settings.presentation.model.as_deref();
    let price = model.and_then(|model| PriceTable::builtin().row_for_model(model));
    let known = input.capabilities()?;
    let rules = price.map(|row| row.rules).or_else(|| known.cache_of(wire, model).map(toolfold::wire::CacheRow::cache));
    let output = price.filter(|row| row.prices.input > 0.0).map_or(USUAL_OUTPUT, |row| {
        // Prices in a price list always fit.
        (row.prices.output / row.prices.input * 1_000.0).round().min(f64::from(u32::MAX)) as u32
    });
    let workload = input.workload();
    let mut options = SuggestOptions::default();
    options.arm = arm;
    options.meter = meter;
    options.rules = rules.unwrap_or_default();
    options.output = output;
    options.requests = args.requests.map(usize::from);
    options.system_tokens = workload.system_tokens;
    options.step_tokens = workload.step_tokens;
    options.max_core_tokens = args.max_core_tokens;
    options.lookup = if args.lookup == LookupArg::Tool { Lookup::Tool } else { Lookup::Category };
    Ok(options)
}

fn called(today: &ToolProfile) -> String {
    if today.derived { "the derived profile".to_owned() } else { format!("profile {}", today.name) }
}
