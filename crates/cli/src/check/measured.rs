//! What `lock`, `diff` and `check` measure: a tool list in a few arms, by tool and by part.

use clap::Args;
use indexmap::IndexMap;
use serde_json::Value;

use crate::configuration::{Config, Flag, keys};
use crate::help;
use crate::input::{Input, InputArgs};
use crate::output::{Failure, progress};
use crate::why::meter::meter_of;
use toolfold::engine::Engine;
use toolfold::policy::canonical::digest;
use toolfold::profile::{Arm, Delivery, Detail, Expanded, Folded};
use toolfold::tokens::{Meter, Tiktoken};
use toolfold::wire::{Wire, chat_tool};
use toolfold_measure::check::{ArmTotal, Lock, LockedTool, ProfileId, catalog_digest, parts};

/// Number of tools that take about a second.
const SLOW_TOOLS: usize = 1_000;

#[derive(Debug, Default, Clone, Args)]
pub(crate) struct MeasuredArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Arm whose first turn and tools are counted, in addition to arm full [default: the lock's,
    /// else auto]
    #[arg(long, value_name = "ARM")]
    arm: Option<String>,

    #[arg(long, value_name = "WIRE", help = format!("The provider's API: {} [default: the lock's, else openai-chat]", help::wires()))]
    wire: Option<String>,

    /// The model, for the meter and for arm auto [default: the lock's, else none]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// What to count with [default: the lock's, else by wire and model]
    #[arg(long, value_name = "METER")]
    meter: Option<Meter>,
}

impl MeasuredArgs {
    pub(crate) fn config(&self, more: Vec<Flag>) -> Result<Config, Failure> {
        let mut flags = vec![
            (&keys::presentation::ARM, self.arm.clone()),
            (&keys::presentation::WIRE, self.wire.clone()),
            (&keys::presentation::MODEL, self.model.clone()),
        ];
        flags.extend(more);
        self.input.config(&flags)
    }

    /// What to count: the explicit settings, else those of the lock. An explicit setting that
    /// differs from the lock's is an error with exit code 3.
    pub(crate) fn wanted(&self, config: &Config, lock: Option<(&Lock, &str)>) -> Result<Wanted, Failure> {
        let given = |key| config.given(key);
        let wire = chosen("wire", given(&keys::presentation::WIRE), locked(lock, |lock| &lock.wire))?;
        let wire = wire.unwrap_or(Wire::OpenAiChat.name());
        let model = chosen("model", given(&keys::presentation::MODEL), locked(lock, |lock| &lock.model))?;
        let model = model.unwrap_or_default().to_owned();
        let arm = chosen("arm", given(&keys::presentation::ARM), locked(lock, |lock| &lock.arm))?;
        let asked = self.meter.as_ref().map(Meter::to_string);
        let meter = match (&asked, lock) {
            (None, None) => meter_of(wire.parse().ok(), Some(model.as_str()).filter(|model| !model.is_empty()))?,
            _ => {
                let name = chosen("meter", asked.as_deref(), locked(lock, |lock| &lock.meter))?;
                name.unwrap_or_default()
                    .parse()
                    .map_err(|why| Failure::unmeasured(format!("cannot be measured: {why}")))?
            }
        };
        let arm = measurable_arm(config, arm.unwrap_or(Arm::Auto.name()))?;
        let mut arms = vec![Arm::Full, arm];
        for name in lock.into_iter().flat_map(|(lock, _)| lock.arms.keys()) {
            arms.push(measurable_arm(config, name)?);
        }
        let wire = wire.parse().map_err(|_| Failure::unmeasured(format!("there is no wire `{wire}`")))?;
        let mut wanted = Wanted { arm, arms: Vec::new(), wire, model, meter };
        wanted.add_arms(&arms);
        Ok(wanted)
    }
}

/// A value of the lock, and the lock's file.
fn locked<'l>(lock: Option<(&'l Lock, &'l str)>, value: fn(&Lock) -> &str) -> Option<(&'l str, &'l str)> {
    lock.map(|(lock, file)| (value(lock), file))
}

/// The explicit value, else the lock's. Different values are an error with exit code 3.
fn chosen<'v>(
    what: &str,
    given: Option<&'v str>,
    locked: Option<(&'v str, &'v str)>,
) -> Result<Option<&'v str>, Failure> {
    match (given, locked) {
        (Some(given), Some((locked, file))) if given != locked => {
            let made_with = if locked.is_empty() { format!("no {what}") } else { format!("{what} `{locked}`") };
            let why = format!("{file} was created with {made_with}, not `{given}`: they cannot be compared");
            let help = format!("omit --{what}, or recreate the lock with it: toolfold lock");
            Err(Failure::unmeasured(why).help(help))
        }
        (given, locked) => Ok(given.or(locked.map(|(value, _)| value))),
    }
}

/// The arm of that name. An unknown one is an error with exit code 3.
fn measurable_arm(config: &Config, name: &str) -> Result<Arm, Failure> {
    config.named_arm(name).map_err(|why| Failure::unmeasured(format!("arm `{name}` cannot be measured: {why}")))
}

#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    arm: Arm,
    arms: Vec<Arm>,
    wire: Wire,
    model: String,
    meter: Meter,
}

impl Wanted {
    /// Adds arms that are not yet included.
    pub(crate) fn add_arms(&mut self, arms: &[Arm]) {
        for arm in arms {
            if !self.arms.contains(arm) {
                self.arms.push(*arm);
            }
        }
    }

    pub(crate) fn measure(&self, input: &Input) -> Result<Lock, Failure> {
        if input.catalog.len() > SLOW_TOOLS {
            progress(&format!("counting {} tools in {} arms …", input.catalog.len(), self.arms.len()));
        }
        let counting = Counting { meter: &self.meter, counter: Tiktoken::new(self.meter.encoding()) };
        let control = input.engine(Arm::Full)?;
        let mut arms = IndexMap::new();
        let mut shown = Arm::Full;
        for arm in &self.arms {
            let taken = if *arm == Arm::Auto { self.taken(input)? } else { *arm };
            let engine = input.engine(counted(taken))?;
            let mut conversation = engine.conversation(Wire::OpenAiChat).start().map_err(Failure::usage)?;
            let tools: Vec<Value> = conversation.tools().to().map_err(Failure::wrong)?;
            let takes = if *arm == Arm::Auto { taken.to_string() } else { String::new() };
            arms.insert(arm.to_string(), ArmTotal::new(counting.total(&tools)?, takes));
            if *arm == self.arm {
                shown = taken;
            }
        }
        let full = counting.each(&control, &vec![Some(Detail::Full); control.catalog().len()])?;
        let details = details(&input.engine(counted(shown))?, counted(shown));
        let shown = counting.each(&control, &details)?;
        let mut tools = Vec::with_capacity(full.len());
        let costs = full.into_iter().zip(shown);
        for ((tool, own), (full, shown)) in control.catalog().iter().zip(control.assignment().tools.iter()).zip(costs) {
            let mut locked = LockedTool::new(tool, own, full, shown);
            locked.parts = parts(tool, full, |tools| counting.total(tools).unwrap_or_default());
            tools.push(locked);
        }
        tools.sort_by_cached_key(|tool| tool.name.clone());
        let (name, toml) = match &input.profile {
            Some(profile) => (profile.name.clone(), profile.to_toml(&input.catalog)),
            None => ("off".to_owned(), String::new()),
        };
        let profile = ProfileId::new(name, digest(&Value::from(toml)));
        let definitions = catalog_digest(&input.catalog);
        let mut lock = Lock::new(self.meter.to_string(), self.wire.name(), self.arm.to_string(), profile, definitions);
        lock.model.clone_from(&self.model);
        (lock.arms, lock.tools) = (arms, tools);
        Ok(lock)
    }

    fn taken(&self, input: &Input) -> Result<Arm, Failure> {
        let (engine, table) = (input.engine(Arm::Auto)?, input.capabilities()?);
        let start = engine.conversation(self.wire).model(&self.model).capabilities(&table);
        Ok(start.start().map_err(Failure::usage)?.arm())
    }
}

/// The arm whose array is counted. Tools that the provider defers are not in an array of their own,
/// and are counted as if found.
fn counted(arm: Arm) -> Arm {
    if arm.delivery() == Delivery::Native { Arm::Index } else { arm }
}

/// The detail of each tool on the first turn; `None` for a tool that is not in the array.
fn details(engine: &Engine, arm: Arm) -> Vec<Option<Detail>> {
    let (catalog, assignment) = (engine.catalog(), engine.assignment());
    let plan = engine.presentation(arm).plan(catalog, assignment, &Expanded::default());
    let mut details = vec![None; catalog.len()];
    for planned in plan.tools {
        if let Some(detail) = details.get_mut(planned.index).filter(|_| planned.detail.is_in_array()) {
            *detail = Some(planned.detail);
        }
    }
    details
}

struct Counting<'m> {
    meter: &'m Meter,
    counter: Tiktoken,
}

impl Counting<'_> {
    fn total(&self, tools: &[Value]) -> Result<usize, Failure> {
        let texts = self.meter.tool_texts(tools);
        Ok(texts.map_err(|why| Failure::unmeasured(format!("cannot be measured: {why}")))?.total(&self.counter))
    }

    /// The marginal cost of every tool at its detail; 0 for a tool that is not shown.
    fn each(&self, engine: &Engine, details: &[Option<Detail>]) -> Result<Vec<usize>, Failure> {
        let mut tools = Vec::new();
        for ((tool, own), detail) in engine.catalog().iter().zip(engine.assignment().tools.iter()).zip(details) {
            if let Some(detail) = detail {
                let text = chat_tool(&Folded::new(tool, *detail, own.summary.as_deref()));
                tools.push(serde_json::from_str(&text).map_err(Failure::wrong)?);
            }
        }
        let texts = self.meter.tool_texts(&tools);
        let texts = texts.map_err(|why| Failure::unmeasured(format!("cannot be measured: {why}")))?;
        let mut shown = texts.marginal(&self.counter).into_iter();
        let mut costs = vec![0; details.len()];
        for (cost, detail) in costs.iter_mut().zip(details) {
            if detail.is_some() {
                *cost = shown.next().unwrap_or_default();
            }
        }
        Ok(costs)
    }
}
