//! The plan: tasks, tools, arms, drivers, and their order.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::input::{Input, read_text};
use super::super::output::Failure;
use super::AbArgs;
use crate::configuration::{Config, keys};
use toolfold::catalog::{Catalog, MAX_BYTES};
use toolfold::diagnostic::Place;
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::tokens::{Encoding, Meter};
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::ab::{Corpus, Driver, Oracle, Setting, Task};

/// Maximum size of a system prompt in bytes.
const MAX_SYSTEM: usize = 4 << 20;

pub(super) struct Plan {
    pub(super) corpus: Corpus,
    pub(super) arms: Vec<Arm>,
    pub(super) drivers: Vec<Driver>,
    pub(super) wire: Wire,
    pub(super) model: String,
    pub(super) meter: Meter,
    pub(super) system: Option<String>,
    pub(super) more: Map<String, Value>,
    repeat: usize,
    seed: u64,
    order: RoundOrder,
    capabilities: Capabilities,
    engines: HashMap<Vec<String>, Engine>,
    /// The indices of the tasks that are played.
    drawn: Vec<usize>,
}

/// The order in which rounds are played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RoundOrder {
    /// Each task in all arms before the next task.
    #[default]
    Task,
    /// All tasks in an arm before the next arm, so that a local model reads the tools once.
    Arm,
}

/// One task in one arm, once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round<'p> {
    pub(super) task: &'p Task,
    pub(super) arm: Arm,
    pub(super) driver: Driver,
    pub(super) repeat: usize,
}

/// The name of a driver, as rows contain it.
pub(super) fn driver_name(driver: Driver) -> &'static str {
    driver.map_or("model", Oracle::name)
}

impl Plan {
    /// Reads all inputs. An invalid combination is an error before anything is played.
    pub(super) fn from_args(args: &AbArgs, tasks: &str) -> Result<Self, Failure> {
        let flags = [(&keys::presentation::WIRE, args.wire.clone()), (&keys::presentation::MODEL, args.model.clone())];
        let config = args.input.config(&flags)?;
        let wire = config.settings.presentation.wire;
        let model = config.settings.presentation.model.clone().unwrap_or_default();
        if matches!(wire, Wire::Mcp | Wire::BedrockConverse) {
            return Err(Failure::usage(format!("wire {wire} does not reach a model"))
                .help("use openai-chat, openai-responses, anthropic or gemini"));
        }
        let arms = arms(args, &config, wire)?;
        let (corpus, engines, capabilities) = played(config, tasks)?;
        let drivers = match args.driver.as_slice() {
            [] if args.reached.is_given() => vec![None],
            [] => Oracle::RIGHT.into_iter().map(Some).collect(),
            named => named.iter().copied().map(Some).collect(),
        };
        let known = args.meter.clone().or_else(|| Meter::for_wire(wire.name(), &model));
        // How OpenAI bills says nothing about the models of others.
        let other = Some(Meter::Json(Encoding::O200kBase)).filter(|_| !model.is_empty());
        let meter = known.or(other).unwrap_or_default();
        let system = args.system.as_deref().map(|file| read_text(file, MAX_SYSTEM)).transpose()?;
        let mut drawn: Vec<usize> = (0..corpus.tasks.len()).collect();
        if let Some(limit) = args.limit {
            drawn.sort_by_cached_key(|at| {
                let id = corpus.tasks.get(*at).map_or("", |task| task.id.as_str());
                rank(args.seed, &["task", id])
            });
            drawn.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            drawn.sort_unstable();
        }
        let repeat = usize::try_from(args.repeat).unwrap_or(1);
        let (seed, order, more) = (args.seed, args.order, args.reached.more());
        if args.reached.is_given() && !args.driver.is_empty() {
            return Err(Failure::usage("--driver and a model (--model-cmd or --base-url) exclude each other")
                .help("leave one of them out"));
        }
        Ok(Self {
            corpus,
            arms,
            drivers,
            wire,
            model,
            meter,
            system,
            more,
            repeat,
            seed,
            order,
            capabilities,
            engines,
            drawn,
        })
    }

    /// The rounds in order: every repeat runs the tasks in the order of the file, and each task
    /// runs its arms and drivers in a shuffled order, so that drift over time does not favour an
    /// arm. By arm, each arm with its driver runs all tasks.
    pub(super) fn rounds(&self) -> Vec<Round<'_>> {
        let mut rounds = Vec::new();
        for repeat in 0..self.repeat {
            let begins = rounds.len();
            for task in self.drawn.iter().filter_map(|at| self.corpus.tasks.get(*at)) {
                let mut own: Vec<Round<'_>> = Vec::new();
                for driver in &self.drivers {
                    own.extend(self.arms.iter().map(|arm| Round { task, arm: *arm, driver: *driver, repeat }));
                }
                own.sort_by_cached_key(|round| {
                    rank(self.seed, &[&task.id, round.arm.name(), driver_name(round.driver), &repeat.to_string()])
                });
                rounds.extend(own);
            }
            if self.order == RoundOrder::Arm {
                let place = |round: &Round<'_>| self.arms.iter().position(|arm| *arm == round.arm);
                let own = rounds.get_mut(begins..).unwrap_or_default();
                own.sort_by_cached_key(|round| {
                    (place(round), self.drivers.iter().position(|own| *own == round.driver))
                });
            }
        }
        rounds
    }

    pub(super) fn engine(&self, task: &Task) -> Option<&Engine> {
        self.engines.get(&task.domains)
    }

    pub(super) fn setting(&self, round: Round<'_>) -> Setting<'_> {
        let mut setting = Setting::new(round.arm, self.wire, &self.model, round.driver, &self.capabilities);
        setting.system = self.system.as_deref();
        setting
    }

    /// What rows depend on besides their own keys: rows with another identity are not comparable.
    pub(super) fn identity(&self) -> Value {
        json!({
            "schema": "toolfold.ab-run/1",
            "tasks": self.corpus.digest,
            "wire": self.wire.name(),
            "model": self.model,
            "meter": self.meter.to_string(),
            "body": (!self.more.is_empty()).then(|| plan_digest(&[&json!(self.more).to_string()])),
            "system": self.system.as_deref().map(|text| plan_digest(&[text])),
        })
    }
}

/// A sort key that depends on the seed alone: the same on every machine and for every subset.
fn rank(seed: u64, parts: &[&str]) -> String {
    let seed = seed.to_string();
    let mut all = vec![seed.as_str()];
    all.extend(parts);
    plan_digest(&all)
}

pub(super) fn plan_digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part.as_bytes());
        sum.update([0]);
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The requested arms. An arm that the wire does not support is an error.
fn arms(args: &AbArgs, config: &Config, wire: Wire) -> Result<Vec<Arm>, Failure> {
    if args.arms.is_empty() {
        return Ok([Arm::EVERYWHERE.as_slice(), &[Arm::Auto]].concat());
    }
    let mut arms = Vec::new();
    for text in &args.arms {
        let arm = config.named_arm(text.trim()).map_err(|why| Failure::usage(format!("--arms: {why}")))?;
        wire.supports(arm).map_err(|why| Failure::usage(format!("--arms: {why}")))?;
        if !arms.contains(&arm) {
            arms.push(arm);
        }
    }
    Ok(arms)
}

/// Tasks, and an engine for each set of tools that they name.
type Played = (Corpus, HashMap<Vec<String>, Engine>, Capabilities);

fn played(config: Config, tasks: &str) -> Result<Played, Failure> {
    let text = read_text(tasks, MAX_BYTES)?;
    let mut engines = HashMap::new();
    if let Some(domains) = domains(&config)? {
        let corpus = Corpus::from_json_lines(&text, &domains).map_err(|why| bad_tasks(tasks, &why))?;
        let mut capabilities = None;
        for task in &corpus.tasks {
            if engines.contains_key(&task.domains) {
                continue;
            }
            let catalog = Catalog::from_mcp(&corpus.tools_of(task)).map_err(|why| bad_tasks(tasks, &why))?;
            let input = Input::of_catalog(config.clone(), catalog)?;
            engines.insert(task.domains.clone(), Input::built(input.builder(Arm::Full))?);
            if capabilities.is_none() {
                capabilities = Some(input.capabilities()?);
            }
        }
        let capabilities = capabilities.unwrap_or_else(|| Capabilities::builtin().clone());
        return Ok((corpus, engines, capabilities));
    }
    let input = Input::load(config)?;
    input.say_warnings();
    let mut tools = Vec::with_capacity(input.catalog.len());
    for tool in input.catalog.iter() {
        tools.push(json!({"name": tool.name().as_str(), "inputSchema": tool.parameters()}));
    }
    let corpus = Corpus::from_json_lines(&text, &json!(tools).to_string()).map_err(|why| bad_tasks(tasks, &why))?;
    let engine = Input::built(input.builder(Arm::Full))?;
    for task in &corpus.tasks {
        engines.insert(task.domains.clone(), engine.clone());
    }
    Ok((corpus, engines, input.capabilities()?))
}

fn bad_tasks(tasks: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::in_file("bad-tasks", Place::file(tasks), why.to_string())
}

/// The text of the tool document if it maps domains to tools.
fn domains(config: &Config) -> Result<Option<String>, Failure> {
    let Some(file) = config.settings.tools.file.as_deref().filter(|file| *file != "-") else { return Ok(None) };
    let text = read_text(file, MAX_BYTES)?;
    let read: Result<Value, _> = serde_json::from_str(&text);
    Ok(read.is_ok_and(|value| value.get("domains").is_some_and(Value::is_object)).then_some(text))
}
