//! Scenarios: sessions as written by a user (TOML; `docs/cost.md`, "Scenarios").

use serde::Deserialize;
use toolfold::engine::Engine;
use toolfold::name::nearest;
use toolfold::profile::{Arm, Delivery, Detail, Workload};

use super::play::{Opening, Session, SessionStep};
use super::sizes::{ArmSizes, FoldedTool};

/// The maximum size of a scenario file, in bytes.
pub const MAX_SCENARIO_BYTES: usize = 1024 * 1024;
/// The assumed output of the model per request; it is part of the growth of the conversation.
const OUTPUT: usize = 100;
const MAX_REQUESTS: usize = 10_000;
/// The maximum number of tokens of any value in a scenario, and of tools.
const MAX_TOKENS: usize = 100_000_000;
const MAX_TOOLS: usize = 100_000;

/// The course of a session. Sizes are in tokens, requests are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Scenario {
    /// A short description.
    pub name: String,
    /// Requests to the model, excluding those that only expand.
    pub requests: usize,
    /// The system text.
    pub system: usize,
    /// The user's first message.
    pub first: usize,
    /// The tokens added to the messages with each request: results and user messages.
    pub step: usize,
    /// The model's output per request.
    pub output: usize,
    /// The part of the output that is billed but not sent back in later messages: thinking.
    pub thinking: usize,
    /// The output for requesting an expansion, if it is not counted from its text.
    pub ask: Option<usize>,
    /// The number of folded tools that are used, evenly spaced. Default: that of
    /// [`Workload::default`] without other expansions, else 0.
    pub uses: Option<usize>,
    /// The number of expanded categories of average size, evenly spaced. Default: 0.
    pub expansions: Option<usize>,
    /// Whether prefixes are written to the longer-lived cache, if the provider has one.
    pub long_cache: bool,
    /// Single expansions.
    pub expand: Vec<Expand>,
    /// Pauses.
    pub idle: Vec<Idle>,
    /// Results of an unusual size.
    pub result: Vec<ResultSize>,
    /// Tools given only by their sizes, instead of a tool list.
    pub sizes: Option<Sizes>,
}

/// An expansion before a request: one of the four, or a category of average size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Expand {
    /// The request that it precedes.
    pub before: usize,
    /// A category of the profile.
    pub category: Option<String>,
    /// Tools by name.
    pub tools: Option<Vec<String>>,
    /// A number of tools of average size.
    pub count: Option<usize>,
}

/// A pause before a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Idle {
    /// The request.
    pub before: usize,
    /// Its length in seconds.
    pub seconds: u64,
}

/// The tokens added to the messages before a request instead of the usual number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ResultSize {
    /// The request.
    pub before: usize,
    /// Tokens.
    pub tokens: usize,
}

/// Tools given only by their sizes, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Sizes {
    /// All core tools together, in the array.
    pub core: usize,
    /// The number of tools in each category; they are named 1, 2, … in `expand.category`.
    pub categories: Vec<usize>,
    /// A category's full tool in the array.
    pub tool: usize,
    /// The same as a line of JSON in an answer. Default: the same.
    pub answer: Option<usize>,
    /// A folded tool.
    pub stub: usize,
    /// `expand_tools`.
    pub expand_tools: usize,
    /// The provider's declaration instead, if it supports deferral. Default: the same.
    pub native_tools: Option<usize>,
    /// The number of tools of a category that the provider's own search loads. Default: all.
    pub native_opens: Option<usize>,
    /// The cost around a call of `expand_tools` and its answer. Default: 0.
    #[serde(default)]
    pub around: usize,
}

impl Default for Scenario {
    /// The expectation of arm `auto`: [`Workload::default`], 100 tokens from the model.
    fn default() -> Self {
        let Workload { requests, system_tokens, step_tokens, .. } = Workload::default();
        Self {
            name: String::new(),
            requests,
            system: system_tokens,
            first: 0,
            step: step_tokens - OUTPUT,
            output: OUTPUT,
            thinking: 0,
            ask: None,
            uses: None,
            expansions: None,
            long_cache: false,
            expand: Vec::new(),
            idle: Vec::new(),
            result: Vec::new(),
            sizes: None,
        }
    }
}

impl From<Workload> for Scenario {
    fn from(workload: Workload) -> Self {
        let Workload { requests, used_tools, system_tokens, step_tokens, .. } = workload;
        let output = step_tokens.min(OUTPUT);
        let (uses, step) = (Some(used_tools), step_tokens - output);
        Self { requests, uses, system: system_tokens, step, output, ..Self::default() }
    }
}

/// Why a scenario cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// It is not a scenario file.
    #[error("line {line}: {why}")]
    Toml {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A number is too large or too small.
    #[error("`{key}` is {value}: {allowed}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
        /// The allowed values.
        allowed: String,
    },
    /// An expansion has more than one kind.
    #[error("`expand` before request {0} has more than one of `category`, `tools` and `count`")]
    Several(usize),
    /// A name is unknown.
    #[error("unknown {kind} `{name}`{}", .nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// `tool` or `category`.
        kind: &'static str,
        /// The name, with invisible characters escaped.
        name: String,
        /// The name that was probably intended.
        nearest: Option<String>,
    },
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// Returns a [`ScenarioError`] that names the line or the key.
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|why| {
            let at = why.span().map_or(0, |span| span.start).min(text.len());
            let line = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
            ScenarioError::Toml { line, why: why.message().replace('\n', " ") }
        })?;
        scenario.check_ranges()?;
        Ok(scenario)
    }

    fn check_ranges(&self) -> Result<(), ScenarioError> {
        within("requests", self.requests, 1, MAX_REQUESTS)?;
        within("uses", self.uses.unwrap_or_default(), 0, MAX_REQUESTS)?;
        within("expansions", self.expansions.unwrap_or_default(), 0, MAX_REQUESTS)?;
        within("system", self.system, 0, MAX_TOKENS)?;
        within("first", self.first, 0, MAX_TOKENS)?;
        within("step", self.step, 0, MAX_TOKENS)?;
        within("output", self.output, 0, MAX_TOKENS)?;
        within("thinking", self.thinking, 0, MAX_TOKENS)?;
        within("ask", self.ask.unwrap_or_default(), 0, MAX_TOKENS)?;
        within("thinking", self.thinking, 0, self.output)?;
        for own in &self.expand {
            within("expand.before", own.before, 1, self.requests)?;
            let kinds = [own.category.is_some(), own.tools.is_some(), own.count.is_some()].map(usize::from);
            if kinds.iter().sum::<usize>() > 1 {
                return Err(ScenarioError::Several(own.before));
            }
        }
        for own in &self.idle {
            within("idle.before", own.before, 1, self.requests)?;
        }
        for own in &self.result {
            within("result.before", own.before, 1, self.requests)?;
            within("result.tokens", own.tokens, 0, MAX_TOKENS)?;
        }
        let Some(sizes) = &self.sizes else { return Ok(()) };
        within("sizes.core", sizes.core, 0, MAX_TOKENS)?;
        within("sizes.tool", sizes.tool, 0, MAX_TOKENS)?;
        within("sizes.answer", sizes.answer.unwrap_or_default(), 0, MAX_TOKENS)?;
        within("sizes.stub", sizes.stub, 0, MAX_TOKENS)?;
        within("sizes.expand_tools", sizes.expand_tools, 0, MAX_TOKENS)?;
        within("sizes.native_tools", sizes.native_tools.unwrap_or_default(), 0, MAX_TOKENS)?;
        within("sizes.around", sizes.around, 0, MAX_TOKENS)?;
        let tools = sizes.categories.iter().fold(0_usize, |sum, own| sum.saturating_add(*own));
        within("sizes.categories", tools, 0, MAX_TOOLS)
    }

    /// The session, with names of an engine's tools and categories.
    ///
    /// # Errors
    /// Returns [`ScenarioError::Unknown`] for an unknown name, and [`ScenarioError::Range`] for a
    /// number out of range.
    pub fn session(&self, engine: &Engine) -> Result<Session, ScenarioError> {
        let catalog = engine.catalog();
        self.session_of(
            &|name| {
                let at = catalog.position(name);
                at.ok_or_else(|| unknown_name("tool", name, catalog.names().map(toolfold::name::ToolName::as_str)))
            },
            &|name| members(engine, name),
        )
    }

    fn session_of(
        &self,
        tool: &dyn Fn(&String) -> Result<usize, ScenarioError>,
        category: &dyn Fn(&str) -> Result<Vec<usize>, ScenarioError>,
    ) -> Result<Session, ScenarioError> {
        // A scenario made from a workload was not read from a file, which checks them too.
        self.check_ranges()?;
        let (output, thinking) = (self.output, self.thinking);
        let step = SessionStep { input: self.step, output, thinking, ..SessionStep::default() };
        let mut steps = vec![step; self.requests];
        if let Some(first) = steps.first_mut() {
            first.input = self.first;
        }
        let is_plain = self.expansions.is_none() && self.expand.is_empty();
        let uses = self.uses.unwrap_or(if is_plain { Workload::default().used_tools } else { 0 });
        let spaced = [(uses, Opening::Use), (self.expansions.unwrap_or_default(), Opening::Average)];
        for (count, opening) in spaced {
            for at in 1..=count {
                if let Some(step) = steps.get_mut(at * self.requests / (count + 1)) {
                    step.opens.push(opening.clone());
                }
            }
        }
        for own in &self.expand {
            let opening = match (&own.category, &own.tools, own.count) {
                (Some(name), _, _) => Opening::Categories(category(name)?),
                (_, Some(names), _) => Opening::Tools(names.iter().map(tool).collect::<Result<_, _>>()?),
                (_, _, Some(count)) => Opening::Count(count),
                _ => Opening::Average,
            };
            if let Some(step) = steps.get_mut(own.before.saturating_sub(1)) {
                step.opens.push(opening);
            }
        }
        for own in &self.idle {
            if let Some(step) = steps.get_mut(own.before.saturating_sub(1)) {
                step.idle_seconds = own.seconds;
            }
        }
        for own in &self.result {
            if let Some(step) = steps.get_mut(own.before.saturating_sub(1)) {
                step.input = own.tokens;
            }
        }
        Ok(Session { system: self.system, steps })
    }

    /// The session and the arms of a scenario with sizes: `full`, `seed`, `stable` and `native`;
    /// `None` if it has none.
    ///
    /// # Errors
    /// Returns [`ScenarioError::Unknown`] for a category number that does not exist.
    pub fn sized(&self) -> Result<Option<(Session, Vec<ArmSizes>)>, ScenarioError> {
        let Some(sizes) = &self.sizes else { return Ok(None) };
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut next = 0;
        for count in &sizes.categories {
            members.push((next..next + count).collect());
            next += count;
        }
        let names: Vec<String> = (1..=members.len()).map(|at| at.to_string()).collect();
        let session = self.session_of(&|name| Err(unknown_name("tool", name, [].into_iter())), &|name| match names
            .iter()
            .zip(&members)
            .find(|(own, _)| *own == name)
        {
            Some((_, own)) => Ok(own.clone()),
            None => Err(unknown_name("category", name, names.iter().map(String::as_str))),
        })?;
        let arms = [Arm::Full, Arm::Seed, Arm::Stable, Arm::Native];
        Ok(Some((session, arms.map(|arm| self.sized_arm(arm, sizes, &members)).to_vec())))
    }

    fn sized_arm(&self, arm: Arm, sizes: &Sizes, members: &[Vec<usize>]) -> ArmSizes {
        let tools: usize = members.iter().map(Vec::len).sum();
        let ask = self.ask.unwrap_or_default();
        let meta =
            if arm == Arm::Native { sizes.native_tools.unwrap_or(sizes.expand_tools) } else { sizes.expand_tools };
        let first_turn = match arm.delivery() {
            Delivery::None => sizes.core.saturating_add(tools.saturating_mul(sizes.tool)),
            Delivery::Native => sizes.core + meta,
            _ => sizes.core.saturating_add(tools.saturating_mul(sizes.stub)) + meta,
        };
        let (answer, growth) = match arm.delivery() {
            Delivery::InPlace => (0, sizes.tool.saturating_sub(sizes.stub)),
            Delivery::Native => (sizes.tool, 0),
            _ => (sizes.answer.unwrap_or(sizes.tool), 0),
        };
        let opens = if arm == Arm::Native { sizes.native_opens.unwrap_or(usize::MAX) } else { usize::MAX };
        let whole = arm == Arm::Full;
        let lookups = Workload::default().lookups.of_detail(Detail::Summary);
        let (mut folded, mut categories) = (Vec::with_capacity(tools), Vec::new());
        for (category, own) in members.iter().enumerate() {
            for nth in 0..own.len() {
                folded.push((!whole && nth < opens).then_some(FoldedTool {
                    category,
                    answer,
                    growth,
                    lookups,
                    hides: true,
                }));
            }
            if !whole {
                categories.push(own.iter().copied().take(opens).collect());
            }
        }
        ArmSizes {
            name: arm.name().to_owned(),
            choice: None,
            delivery: arm.delivery(),
            only_categories: arm == Arm::Seed,
            first_turn,
            ask,
            reply: sizes.around + ask,
            folded,
            categories,
            found: None,
        }
    }
}

fn within(key: &'static str, value: usize, least: usize, most: usize) -> Result<(), ScenarioError> {
    let allowed = format!("must be {least} to {most}");
    if (least..=most).contains(&value) { Ok(()) } else { Err(ScenarioError::Range { key, value, allowed }) }
}

fn members(engine: &Engine, name: &str) -> Result<Vec<usize>, ScenarioError> {
    let assignment = engine.assignment();
    let names: Vec<&str> = assignment.categories().map(|(own, _)| own.as_str()).collect();
    if !names.contains(&name) {
        return Err(unknown_name("category", name, names.into_iter()));
    }
    let mut tools = Vec::new();
    for (at, assigned) in assignment.tools.iter().enumerate() {
        if assigned.category.as_str() == name {
            tools.push(at);
        }
    }
    Ok(tools)
}

fn unknown_name<'n>(kind: &'static str, name: &str, names: impl Iterator<Item = &'n str>) -> ScenarioError {
    let near = nearest(name, names, 1).first().map(|near| (*near).to_owned());
    let name = toolfold::diagnostic::visible(&name.chars().take(80).collect::<String>()).into_owned();
    ScenarioError::Unknown { kind, name, nearest: near }
}
