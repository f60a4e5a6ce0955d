//! `toolfold sim`: simulate what a session costs in each arm, including prompt caching.

mod model;
mod text;

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::input::{Input, InputArgs, read_text};
use super::output::{Failure, Outcome, emit, emit_json, progress, warn};
use super::why::uncounted;
use crate::configuration::keys;
use crate::help;
pub(super) use model::Report;
use model::{Known, PriceUsed};
use toolfold::catalog::MAX_BYTES;
use toolfold::diagnostic::{Diagnostic, Place};
use toolfold::profile::{Arm, CacheRules};
use toolfold::tokens::{Meter, Tiktoken};
use toolfold::wire::{CacheRow, Capabilities, ModelId, Wire};
use toolfold_measure::prices::{MAX_PRICES_BYTES, PriceRow, PriceTable};
use toolfold_measure::sim::{
    ArmSizes, Backend, Counting, Lookup, MAX_SCENARIO_BYTES, Pricing, SIM_SCHEMA, Scenario, Session, Trace,
    Unavailable, arm_sizes, break_even, simulate,
};

/// Size of tool text that takes about a second in all arms, in bytes.
const SLOW_BYTES: usize = 1_500_000;

const AFTER_HELP: &str = "\
Examples:
  toolfold sim --model claude-sonnet-5.5                         the built-in tools
  toolfold sim --model gpt-5.4 --tools tools.json --arms full,stable,auto
  toolfold sim --model claude-opus-5.5 --scenario scenario.toml  a session that you describe
  toolfold sim --model gpt-5.4 --trace transcript.json --json    a session that was recorded
  toolfold sim --model my-model --prices prices.toml             with prices of your own

Scenarios, prices and how sessions are billed: docs/cost.md.
Exit codes: 0 simulated, 1 tools, scenario, trace or prices are invalid, 2 usage, 3 unknown price.";

/// When a recorded call of a folded tool is preceded by a lookup.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LookupArg {
    /// The tool, by its name, before its first call
    Name,
    /// Its category, before its first call
    Category,
    /// Never: the gate answers the first call of a tool that hides parameters, and it is repeated
    Gate,
    /// Never, and no call is answered
    Never,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct SimArgs {
    #[command(flatten)]
    input: InputArgs,

    /// The session as TOML; `-` is standard input [default: 20 requests that use 6 folded tools]
    #[arg(long, value_name = "FILE|-")]
    scenario: Option<String>,

    /// A recorded transcript instead: a message array, or a request with one, in the format of any
    /// wire
    #[arg(long, value_name = "FILE|-", conflicts_with = "scenario")]
    trace: Option<String>,

    /// When a recorded call of a folded tool is preceded by a lookup
    #[arg(long, value_name = "WHEN", value_enum, default_value = "name", requires = "trace")]
    lookup: LookupArg,

    /// The model, which determines prices, cache rules and meter
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    #[arg(long, value_name = "WIRE", help = format!("The provider's API: {} [default: the model's own]", help::wires()))]
    wire: Option<String>,

    /// Arms to compare with full, your own among them [default: every arm that the wire supports,
    /// and auto]
    #[arg(long, value_name = "ARM,…", value_delimiter = ',')]
    arms: Vec<String>,

    /// A price list (TOML) whose rows override the built-in ones
    #[arg(long, value_name = "FILE")]
    prices: Option<String>,

    /// The simulation as JSON (schema: toolfold.sim/1, docs/cost.md)
    #[arg(long)]
    json: bool,
}

struct Played {
    session: Session,
    arms: Vec<ArmSizes>,
    unavailable: Vec<Unavailable>,
    meter: Option<String>,
    notes: Vec<String>,
}

pub(super) fn run_sim(args: &SimArgs) -> Outcome {
    let config = args
        .input
        .config(&[(&keys::presentation::WIRE, args.wire.clone()), (&keys::presentation::MODEL, args.model.clone())])?;
    let model = config.settings.presentation.model.clone();
    // The configuration's default is not the user's choice: a model then uses its provider's wire.
    let wire = match config.settings.presentation.wire {
        Wire::OpenAiChat if args.wire.is_none() => wire_of(model.as_deref()),
        wire => wire,
    };
    let scenario = args.scenario.as_deref().map(scenario).transpose()?;
    let row = match &model {
        Some(model) => prices(args.prices.as_deref())?.row_for_model(model).cloned(),
        None => None,
    };
    let long = scenario.as_ref().is_some_and(|own| own.long_cache);
    let row = match row {
        Some(row) if long => Some(row.with_long_cache().ok_or_else(|| {
            Failure::unmeasured(
                "the scenario uses the longer-lived cache, for which the price list has no price of this model",
            )
        })?),
        row => row,
    };
    let (played, known) =
        match scenario.as_ref().map(Scenario::sized).transpose().map_err(|why| bad(args, &why))?.flatten() {
            Some((session, arms)) => {
                let arms = requested_arms(args, arms)?;
                let played = Played { session, arms, unavailable: Vec::new(), meter: None, notes: Vec::new() };
                (played, None)
            }
            None => {
                let input = Input::load(config)?;
                input.say_warnings();
                // Arm auto compares by the prices that the simulation uses.
                let mut own = Capabilities::default();
                if let Some((row, model)) = row.as_ref().zip(model.as_deref()) {
                    own.caches.push(row.cache_row(wire, model));
                }
                let table = own.over(&input.capabilities()?);
                let known = table.cache_of(wire, model.as_deref()).map(CacheRow::cache);
                let backend = Backend::new(wire, model.as_deref(), &table);
                (play(args, &input, &backend, scenario.as_ref())?, known)
            }
        };
    let mut pricing = row.as_ref().map(Pricing::from).unwrap_or_default();
    if row.is_none() {
        pricing.rules = known.unwrap_or_default();
    }
    let report = report(played, &pricing, row, wire, model);
    if args.json {
        emit_json(&report)?;
    } else {
        emit(&text::sim_text(&report))?;
    }
    if report.price.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    let Some(model) = &report.model else {
        return Err(Failure::unmeasured("no model is named, so prices are unknown").help("name a model with --model"));
    };
    let help = "pass a price list with --prices: [[price]] models = […], input, output, source, date (docs/cost.md, \"Prices\")";
    Err(Failure::unmeasured(format!("the price of `{}` is unknown", toolfold::diagnostic::visible(model))).help(help))
}

fn wire_of(model: Option<&str>) -> Wire {
    match model.and_then(|model| ModelId::parse(model).vendor) {
        Some("anthropic") => Wire::Anthropic,
        Some("google") => Wire::Gemini,
        _ => Wire::OpenAiChat,
    }
}

fn bad(args: &SimArgs, why: &impl ToString) -> Failure {
    let file = args.scenario.as_deref().unwrap_or("scenario");
    Failure::bad(vec![
        Diagnostic::error("bad-scenario", Place::file(file), why.to_string()).help("docs/cost.md, \"Scenarios\""),
    ])
}

fn scenario(file: &str) -> Result<Scenario, Failure> {
    Scenario::from_toml(&read_text(file, MAX_SCENARIO_BYTES)?).map_err(|why| {
        Failure::bad(vec![
            Diagnostic::error("bad-scenario", Place::file(file), why.to_string()).help("docs/cost.md, \"Scenarios\""),
        ])
    })
}

fn prices(file: Option<&str>) -> Result<PriceTable, Failure> {
    let Some(file) = file else { return Ok(PriceTable::builtin().clone()) };
    let loaded = PriceTable::from_toml(&read_text(file, MAX_PRICES_BYTES)?, file);
    let own = loaded.into_result().map_err(|why| Failure::bad(why.0))?;
    Ok(own.over(PriceTable::builtin()))
}

fn requested_arms(args: &SimArgs, arms: Vec<ArmSizes>) -> Result<Vec<ArmSizes>, Failure> {
    if let Some(unknown) = args.arms.iter().find(|name| !arms.iter().any(|arm| arm.name == name.trim())) {
        let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
        let message = format!("--arms: a scenario with `sizes` has {}, but not `{unknown}`", names.join(", "));
        return Err(Failure::usage(message));
    }
    let mut wanted = arms;
    if !args.arms.is_empty() {
        wanted.retain(|arm| arm.name == "full" || args.arms.iter().any(|name| name.trim() == arm.name));
    }
    Ok(wanted)
}

fn play(args: &SimArgs, input: &Input, backend: &Backend<'_>, scenario: Option<&Scenario>) -> Result<Played, Failure> {
    let size: usize = input.catalog.iter().map(|tool| tool.description().len() + tool.parameters_text().len()).sum();
    if size > SLOW_BYTES {
        progress(&format!("counting {} tools in every arm …", input.catalog.len()));
    }
    let mut notes = Vec::new();
    let model = backend.model.unwrap_or_default();
    let meter = Meter::for_wire(backend.wire.name(), model);
    if meter.is_none() {
        notes.push(format!("no meter is known for this model and wire: counted with {}", Meter::default()));
    }
    let meter = meter.unwrap_or_default();
    let counter = Tiktoken::new(meter.encoding());
    let counting = Counting::new(&meter, &counter);
    let mut arms: Vec<Arm> = vec![Arm::Full];
    if args.arms.is_empty() {
        arms.extend(Arm::ALL.into_iter().filter(|arm| *arm != Arm::Full));
    } else {
        for name in &args.arms {
            let arm = input.config.named_arm(name.trim()).map_err(|why| Failure::usage(format!("--arms: {why}")))?;
            if !arms.contains(&arm) {
                arms.push(arm);
            }
        }
    }
    let engine = input.engine(Arm::Auto)?;
    let (sizes, unavailable) = arm_sizes(&engine, backend, &arms, &counting).map_err(uncounted)?;
    let session = match (&args.trace, scenario) {
        (Some(file), _) => trace(args, file, input, &counting, &mut notes)?,
        (None, Some(scenario)) => scenario.session(&engine).map_err(|why| bad(args, &why))?,
        (None, None) => Scenario::from(engine.workload()).session(&engine).map_err(|why| bad(args, &why))?,
    };
    Ok(Played { session, arms: sizes, unavailable, meter: Some(meter.to_string()), notes })
}

fn trace(
    args: &SimArgs,
    file: &str,
    input: &Input,
    counting: &Counting<'_>,
    notes: &mut Vec<String>,
) -> Result<Session, Failure> {
    let value = serde_json::from_str(&read_text(file, MAX_BYTES)?)
        .map_err(|why| Failure::in_file("bad-trace", Place::file(file), format!("is not JSON: {why}")))?;
    let lookup = match args.lookup {
        LookupArg::Name => Lookup::Name,
        LookupArg::Category => Lookup::Category,
        LookupArg::Gate => Lookup::Gate,
        LookupArg::Never => Lookup::Never,
    };
    let trace = Trace::from_transcript(&value, &input.catalog, counting, lookup)
        .map_err(|why| Failure::in_file("bad-trace", Place::file(file), why.to_string()))?;
    let (calls, requests) = (trace.calls, trace.session.steps.len());
    notes.push(format!("the trace has {requests} requests and {calls} calls of these tools"));
    if trace.meta_calls > 0 {
        let count = trace.meta_calls;
        notes.push(format!(
            "{count} calls of the trace expand tools themselves; they are counted in addition to those of each arm"
        ));
    }
    if trace.calls == 0 {
        warn("warning: the trace calls none of these tools; it may belong to another tool list");
    }
    Ok(trace.session)
}

fn report(played: Played, pricing: &Pricing, row: Option<PriceRow>, wire: Wire, model: Option<String>) -> Report {
    let simulation = simulate(&played.arms, &played.session, pricing);
    let CacheRules { read, write, minimum, step, lifetime, .. } = pricing.rules;
    let best = text::cheapest(&simulation.arms);
    let sizes = |name: &str| played.arms.iter().find(|own| own.name == name);
    let break_even = best.and_then(|best| break_even(sizes(&best.arm)?, sizes("full")?, &played.session, pricing));
    let verdict = text::sim_verdict(&simulation.arms, break_even, played.session.steps.len(), model.as_deref());
    Report {
        schema: SIM_SCHEMA,
        verdict,
        break_even,
        wire: wire.name(),
        model,
        meter: played.meter,
        requests: played.session.steps.len(),
        system_tokens: played.session.system,
        cache: Known { read, write, minimum, step, lifetime_seconds: lifetime },
        price: row.map(PriceUsed::from),
        arms: simulation.arms,
        unavailable: played.unavailable.into_iter().map(|own| (own.arm, own.why)).collect(),
        notes: played.notes,
    }
}
