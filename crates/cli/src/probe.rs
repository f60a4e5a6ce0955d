//! `toolfold probe`: test what a model supports: schemas in results, call_tool, native deferral.
#![allow(clippy::disallowed_methods, reason = "this module is an edge: it writes the row")]

use std::process::ExitCode;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::ab::model::{Model, ModelArgs, NoAnswer};
use super::output::{Failure, Outcome, emit_data, emit_json, progress, warn};
use toolfold::wire::Wire;
use toolfold_measure::ab::answer_of;
use toolfold_measure::probe::{Case, CaseResult, Trial, capability_row};

const AFTER_HELP: &str = "\
Examples:
  toolfold probe --base-url https://api.openai.com/v1 --key-env OPENAI_API_KEY --model gpt-5.4
  toolfold probe --base-url http://127.0.0.1:8080/v1 --model qwen3 --repeat 10 --out rows.toml
  toolfold probe --base-url https://api.anthropic.com --key-env ANTHROPIC_API_KEY --wire anthropic \\
    --model claude-sonnet-5.5

The questions: docs/ab.md. Set presentation.capabilities to the file, and arm auto uses it.
Exit codes: 0 tested, 1 the row cannot be written, 2 usage, 3 the model did not answer.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ProbeArgs {
    #[command(flatten)]
    reached: ModelArgs,

    /// The model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// The provider's API: openai-chat, openai-responses, anthropic or gemini
    #[arg(long, value_name = "WIRE", default_value = "openai-chat", value_parser = parse_wire)]
    wire: Wire,

    /// Number of times that each question and its control are sent
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,

    /// Seed of the random names and values
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Write the row to this file, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<String>,

    /// The counts as JSON (schema: toolfold.probe/1)
    #[arg(long)]
    json: bool,
}

/// What `toolfold probe --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.probe/1")]
pub(super) struct Answer<'a> {
    /// Always `toolfold.probe/1`.
    schema: &'static str,
    /// The provider's API.
    wire: &'static str,
    model: &'a str,
    /// The questions, in the order in which they were asked.
    cases: Vec<CaseAnswer>,
    /// The row of the capability table, as TOML.
    row: &'a str,
}

/// The answers to one question.
#[derive(Debug, Serialize, JsonSchema)]
struct CaseAnswer {
    counts: CaseResult,
    /// `yes`, `no`, or why neither is certain.
    verdict: String,
}

fn parse_wire(text: &str) -> Result<Wire, String> {
    text.parse::<Wire>().map_err(|why| why.to_string())
}

pub(super) fn run_probe(args: &ProbeArgs) -> Outcome {
    let name = args.model.as_deref().unwrap_or_default();
    if name.is_empty() {
        return Err(Failure::usage("no model is given").help("name it with --model, and its API with --base-url"));
    }
    if matches!(args.wire, Wire::Mcp | Wire::BedrockConverse) {
        return Err(Failure::usage(format!("wire {} does not reach a model", args.wire)));
    }
    let Some(mut model) = args.reached.model(args.wire, name)? else {
        return Err(Failure::usage("the model's address is missing").help("use --base-url URL or --model-cmd COMMAND"));
    };
    let mut results = Vec::new();
    for case in Case::ALL.into_iter().filter(|case| case.is_on(args.wire)) {
        progress(&format!("asking {name}: {} …", case.name()));
        results.push(probe_case(args, name, case, &mut model)?);
    }
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let row = capability_row(args.wire, name, &date, &results).map_err(Failure::wrong)?;
    if let Some(file) = &args.out {
        let written = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
        let written = written.and_then(|mut file| std::io::Write::write_all(&mut file, row.as_bytes()));
        written.map_err(|why| Failure::wrong(format!("{file}: cannot be written: {why}")))?;
    }
    if args.json {
        let case = |own: &CaseResult| CaseAnswer { counts: own.clone(), verdict: own.verdict() };
        let (wire, cases) = (args.wire.name(), results.iter().map(case).collect());
        emit_json(&Answer { schema: "toolfold.probe/1", wire, model: name, cases, row: &row })?;
    } else {
        emit_data(&row)?;
    }
    let leaks: Vec<&str> = results.iter().filter(|own| own.control_right > 0).map(|own| own.case).collect();
    if !leaks.is_empty() {
        let message = format!("the control succeeded for {}, so the probe proves nothing there", leaks.join(", "));
        warn(&format!("warning: {message}"));
    }
    match results.iter().all(|own| own.asked == 0) {
        true => Err(Failure::unmeasured("the model did not answer any question")),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn probe_case(args: &ProbeArgs, name: &str, case: Case, model: &mut Model) -> Result<CaseResult, Failure> {
    let mut result = CaseResult::default();
    result.case = case.name();
    let more = args.reached.more();
    for at in 0..args.repeat {
        for shown in [true, false] {
            let nonce = format!("{} {} {at} {shown}", args.seed, case.name());
            let trial = Trial::new(case, args.wire, name, &nonce, shown, &more).map_err(Failure::wrong)?;
            match right(args.wire, trial, model) {
                Ok(right) if shown => {
                    (result.asked, result.right) = (result.asked + 1, result.right + usize::from(right));
                }
                Ok(right) => {
                    result.control_asked += 1;
                    result.control_right += usize::from(right);
                }
                Err(NoAnswer::Request(why)) => result.error = Some(why),
                Err(NoAnswer::Everything(why)) => return Err(Failure::unmeasured(why)),
            }
        }
        // An API that rejects the question twice is not queried again.
        if result.asked + result.control_asked == 0 && at >= 1 {
            break;
        }
    }
    Ok(result)
}

fn right(wire: Wire, mut trial: Trial, model: &mut Model) -> Result<bool, NoAnswer> {
    let response = model.answer_request(trial.body(), true)?;
    let answer = answer_of(wire, &response).map_err(|why| NoAnswer::Request(why.to_string()))?;
    trial.is_right(&answer.message).map_err(|why| NoAnswer::Request(why.to_string()))
}
