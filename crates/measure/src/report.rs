//! `report`: the cost of a tool set, arm by arm, on the first turn and over a session with prompt
//! caching.
//!
//! The session figures are those of [`sim`](crate::sim), which also judges arm `auto` here: that
//! arm chooses by estimates made without a vocabulary, and the report counts.

mod model;
mod verdict;

pub use model::{
    ArmCost, CONTRACT, CategoryCost, Chosen, ExpansionCost, Fix, GroupCost, Prices, PricingInfo, ProfileInfo, Report,
    SessionCost, SessionInfo, SkillCost, ToolCost, Verdict,
};

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CacheRules, Choice, Delivery, Detail, Tier, Workload};
use toolfold::tokens::{Cached, CountError, Meter, Reason, Tiktoken, count_tools_with};

use crate::figures::{rounded, share};
use crate::parts::chat_value;
use crate::prices::PriceRow;
use crate::sim::{
    ArmSizes, Backend, CatalogTokens, Counting, Pricing, Scenario, ToolMemo, break_even, simulate, started,
};

/// The default of [`Setup::budget`].
const BUDGET: usize = 4_000;

/// The maximum number of tools held as values at once.
const AT_ONCE: usize = 200;

/// The input of a measurement.
#[non_exhaustive]
pub struct Setup<'s> {
    /// The tools under their profile; without skills, policy and validation.
    pub engine: &'s Engine,
    /// The environment of the session.
    pub backend: Backend<'s>,
    /// The arms, in the order of the report.
    pub arms: &'s [Arm],
    /// The meter.
    pub meter: &'s Meter,
    /// The assumed session.
    pub workload: Workload,
    /// The model whose prices apply.
    pub priced: Priced<'s>,
    /// The profile.
    pub profile: ProfileInfo,
    /// The maximum first turn, in tokens, of an arm that is recommended although another is
    /// cheaper: the setting `presentation.budget`.
    pub budget: usize,
    /// An engine with skills, and what their list omits; `None` without skills.
    pub skills: Option<(&'s Engine, SkillCost)>,
}

impl<'s> Setup<'s> {
    /// A report of the engine's tools for a backend, without arms and skills, for the default
    /// workload.
    #[must_use]
    pub fn new(
        engine: &'s Engine,
        backend: Backend<'s>,
        meter: &'s Meter,
        priced: Priced<'s>,
        profile: ProfileInfo,
    ) -> Self {
        let workload = Workload::default();
        Self { engine, backend, arms: &[], meter, workload, priced, profile, budget: BUDGET, skills: None }
    }
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("arms", &self.arms).field("meter", &self.meter).finish_non_exhaustive()
    }
}

/// A model with its prices.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Priced<'p> {
    /// The model whose tokens are counted.
    pub model: &'p str,
    /// The model whose prices apply.
    pub priced_as: &'p str,
    /// Its prices; `None` if unknown.
    pub row: Option<&'p PriceRow>,
    /// The provider's cache rules if there are no prices, and their source.
    pub cache: (CacheRules, &'p str),
}

impl<'p> Priced<'p> {
    /// A model, the model whose row prices it, that row, and the cache rules with their source.
    #[must_use]
    pub fn new(model: &'p str, priced_as: &'p str, row: Option<&'p PriceRow>, cache: (CacheRules, &'p str)) -> Self {
        Self { model, priced_as, row, cache }
    }
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A tool cannot be counted offline.
    #[error("cannot measure the tools: {0}")]
    Count(#[from] CountError),
    /// An engine or a conversation cannot be created.
    #[error("{0}")]
    Engine(String),
}

impl From<&PriceRow> for Prices {
    fn from(row: &PriceRow) -> Self {
        let toolfold::profile::TokenPrices { input, cache_write, cache_read, output, .. } = row.prices;
        Self { input, cache_write, cache_read, output }
    }
}

/// Measures a tool set in the requested arms.
///
/// # Errors
/// Returns a [`ReportError`] if something cannot be counted, or a requested arm cannot be built.
pub fn measure(setup: &Setup<'_>) -> Result<Report, ReportError> {
    let Setup { meter, workload, priced, .. } = setup;
    let counter = Cached::new(Tiktoken::new(meter.encoding()));
    let memo = ToolMemo::default();
    let counting = Counting::new(meter, &counter).with_memo(&memo);
    let control = setup.engine;
    let details = [Detail::Signature, Detail::Outline, Detail::Required, Detail::Summary];
    let tokens = CatalogTokens::of_catalog(control.catalog(), control.assignment(), &counting, &details)?;
    let mut measured = Measured { setup, counting, tokens: &tokens, reasons: Vec::new(), unavailable: IndexMap::new() };
    let full = measured.measure_arm(Arm::Full)?;
    let full = full.ok_or_else(|| ReportError::Engine("arm full is not supported on this wire".to_owned()))?;
    let mut sizes = Vec::new();
    for arm in setup.arms {
        let own = match arm {
            Arm::Full => Some(full.clone()),
            arm => measured.measure_arm(*arm)?,
        };
        sizes.extend(own);
    }
    let pricing = priced.row.map_or(Pricing { rules: priced.cache.0, ..Pricing::default() }, Pricing::from);
    let scenario = Scenario::from(*workload);
    let session = scenario.session(control).map_err(|why| ReportError::Engine(why.to_string()))?;
    let mut played = vec![full.sizes.clone()];
    played.extend(sizes.iter().map(|own| own.sizes.clone()));
    let bills = simulate(&played, &session, &pricing);
    let mut arms = IndexMap::new();
    for (own, bill) in sizes.into_iter().zip(bills.arms.into_iter().skip(1)) {
        let lookups = break_even(&own.sizes, &full.sizes, &session, &pricing);
        arms.insert(own.sizes.name.clone(), own.into_arm_cost(bill, lookups));
    }
    let per_tool = per_tool(control, &tokens);
    let Measured { mut reasons, unavailable, .. } = measured;
    reasons.sort_unstable();
    reasons.dedup();
    let session = SessionInfo {
        requests: workload.requests,
        used_tools: workload.used_tools,
        system_tokens: workload.system_tokens,
        step_tokens: workload.step_tokens,
    };
    let pricing = pricing_info(setup, &pricing);
    // A request with tools has a constant cost, which sessions pay and the block does not include.
    let constant = full.sizes.first_turn.saturating_sub(tokens.total());
    for own in arms.values_mut() {
        own.without_constant(constant, full.sizes.first_turn, pricing.context_window);
    }
    let first = full.sizes.first_turn.saturating_sub(constant);
    let compared = verdict::Compared { full_tokens: first, full_refused: full.refused.is_some(), budget: setup.budget };
    Ok(Report {
        schema: CONTRACT,
        verdict: verdict::choose_arm(&arms.iter(), compared, session, &pricing),
        fix_first: verdict::fixes(control.catalog(), &per_tool, meter)?,
        meter: meter.to_string(),
        encoding: meter.encoding().name(),
        assumed: meter.assumed(),
        verified: reasons.is_empty() && !matches!(meter, Meter::Estimate { .. }),
        unverified: reasons.iter().map(ToString::to_string).collect(),
        pricing,
        session,
        tools: control.catalog().len(),
        profile: setup.profile.clone(),
        arms,
        unavailable,
        tiers: tiers(&per_tool),
        shared_overhead: tokens.shared,
        skills: measure_skills(setup, first, &counting)?,
        categories: category_costs(control, &per_tool),
        per_tool,
    })
}

struct Measured<'m, 's> {
    setup: &'m Setup<'s>,
    counting: Counting<'m>,
    tokens: &'m CatalogTokens,
    reasons: Vec<Reason>,
    unavailable: IndexMap<String, String>,
}

#[derive(Clone)]
struct Own {
    sizes: ArmSizes,
    band: Option<(usize, Option<usize>)>,
    listed: usize,
    meta: usize,
    categories: Vec<String>,
    refused: Option<String>,
}

impl Measured<'_, '_> {
    /// `None` if the arm is not supported.
    fn measure_arm(&mut self, arm: Arm) -> Result<Option<Own>, ReportError> {
        // An engine caches what it folds; this copy is dropped after the arm.
        let engine = &self.setup.engine.restricted(|_| true);
        // Without a profile nothing can be folded.
        let taken = if engine.folds() { arm } else { Arm::Full };
        let mut conversation = match started(engine, &self.setup.backend, taken) {
            Ok(conversation) => conversation,
            Err(why) => {
                self.unavailable.insert(arm.name().to_owned(), why.to_string());
                return Ok(None);
            }
        };
        let chosen = Choice { arm: conversation.arm(), reason: conversation.reason().to_owned() };
        let sizes = ArmSizes::of_conversation(&mut conversation, self.tokens, &self.counting)?;
        let choice = (arm == Arm::Auto).then_some(chosen);
        let sizes = ArmSizes { name: arm.name().to_owned(), choice, ..sizes };
        let presentation = conversation.presentation().clone();
        let mut meta = Vec::new();
        for tool in &presentation.meta_tools {
            meta.push(chat_value(&toolfold::profile::Folded::new(tool, Detail::Full, None)));
        }
        let texts = self.counting.meter().tool_texts(&meta)?;
        self.reasons.extend(&texts.reasons);
        let meta_tokens = texts.marginal(self.counting.counter()).iter().sum();
        // For an estimate, its possible error; for a bill, what no recorded request covers.
        let estimated = matches!(self.counting.meter(), Meter::Estimate { .. });
        let mut band = None;
        if estimated || arm == Arm::Full {
            if estimated {
                let array: Vec<Value> =
                    conversation.tools().to().map_err(|why| ReportError::Engine(why.to_string()))?;
                let counted = count_tools_with(&array, self.counting.meter(), |_| self.counting.counter())?;
                band = counted.band.map(|band| (band.low, band.high));
            } else {
                let tools = conversation.tools();
                let array: Vec<&RawValue> = serde_json::from_str(tools.json()).unwrap_or_default();
                for some in array.chunks(AT_ONCE) {
                    let some: Vec<Value> = some.iter().filter_map(|tool| tool.get().parse().ok()).collect();
                    self.reasons.extend(self.counting.meter().tool_texts(&some)?.reasons);
                }
            }
        }
        let plans = (0..engine.catalog().len()).filter_map(|at| presentation.plan_of(at));
        let listed = plans.filter(|own| own.detail.is_in_array()).count();
        let categories = presentation.deferred.iter().map(|own| own.category.to_string()).collect();
        let refused = conversation.diagnostics().into_iter().find(|own| own.code == "too-many-tools");
        let refused = refused.map(|own| own.message);
        Ok(Some(Own { sizes, band, listed, meta: meta_tokens, categories, refused }))
    }
}

impl ArmCost {
    /// Reduces the first turn to the tool block.
    fn without_constant(&mut self, constant: usize, full: usize, context: Option<usize>) {
        self.first_turn_tokens = self.first_turn_tokens.saturating_sub(constant);
        self.saved = rounded(1.0 - share_taken(self.first_turn_tokens, full.saturating_sub(constant)));
        self.context_share = context.map(|window| share_taken(self.first_turn_tokens, window));
    }
}

impl Own {
    fn into_arm_cost(self, bill: crate::sim::ArmCost, break_even: Option<usize>) -> ArmCost {
        let mut warnings = bill.warnings;
        if self.sizes.delivery != Delivery::None && self.sizes.is_whole() {
            warnings.push("nothing is folded: the meta-tools would cost more than folding saves".to_owned());
        }
        let first_turn_tokens = self.sizes.first_turn;
        let mut expansions = IndexMap::new();
        for (tools, name) in self.sizes.categories.iter().zip(&self.categories) {
            let mut cost = ExpansionCost { messages: self.sizes.reply, array: 0 };
            for tool in tools.iter().filter_map(|at| self.sizes.folded.get(*at)?.as_ref()) {
                cost.messages += tool.answer;
                cost.array += tool.growth;
            }
            expansions.insert(name.clone(), cost);
        }
        ArmCost {
            first_turn_tokens,
            band: self.band,
            saved: 0.0,
            context_share: None,
            delivery: self.sizes.delivery.name(),
            tools_listed: self.listed,
            meta_tokens: self.meta,
            expansions,
            session: SessionCost {
                usd: bill.usd,
                input_cost_tokens: bill.input_cost_tokens,
                relative_to_full: rounded(bill.relative_to_full.unwrap_or_default()),
                requests: bill.requests,
                extra_requests: bill.expansions,
                cache_breaks: bill.cache_breaks,
                cached_tokens: bill.cached_tokens,
                written_tokens: bill.written_tokens,
                uncached_tokens: bill.uncached_tokens,
                cheaper_from_request: bill.cheaper_from_request,
                break_even,
                warnings,
                timeline: bill.timeline,
            },
            refused: self.refused,
            chosen: self.sizes.choice.map(|own| Chosen { arm: own.arm.to_string(), reason: own.reason }),
        }
    }
}

/// The tokens that the declaration of `activate_skill` adds to the array of arm full.
fn measure_skills(setup: &Setup<'_>, full: usize, counting: &Counting<'_>) -> Result<SkillCost, ReportError> {
    let Some((engine, cost)) = setup.skills else { return Ok(SkillCost::default()) };
    let conversation = started(engine, &setup.backend, Arm::Full);
    let mut conversation = conversation.map_err(|why| ReportError::Engine(why.to_string()))?;
    let array: Vec<Value> = conversation.tools().to().map_err(|why| ReportError::Engine(why.to_string()))?;
    Ok(SkillCost { activate_skill_tokens: counting.array(&array)?.saturating_sub(full), ..cost })
}

fn pricing_info(setup: &Setup<'_>, pricing: &Pricing) -> PricingInfo {
    let Priced { model, priced_as, row, cache } = setup.priced;
    PricingInfo {
        wire: setup.backend.wire.name().to_owned(),
        model: model.to_owned(),
        priced_as: priced_as.to_owned(),
        usd_per_million: row.map(Prices::from),
        source: row.map(|row| format!("{} ({})", row.source, row.date)),
        assumed_cache: row.is_none().then(|| cache.1.to_owned()),
        cache_minimum: pricing.rules.minimum,
        context_window: pricing.context,
    }
}

fn per_tool(control: &Engine, tokens: &CatalogTokens) -> Vec<ToolCost> {
    let mut costs = Vec::new();
    for ((tool, assigned), own) in control.catalog().iter().zip(control.assignment().tools.iter()).zip(&tokens.tools) {
        costs.push(ToolCost {
            name: tool.name().to_string(),
            tier: assigned.tier.name(),
            category: assigned.category.to_string(),
            full: own.array(Detail::Full),
            signature: own.array(Detail::Signature),
            outline: own.array(Detail::Outline),
            required: own.array(Detail::Required),
            summary: own.array(Detail::Summary),
            answer: own.answer,
        });
    }
    costs
}

fn tiers(per_tool: &[ToolCost]) -> IndexMap<&'static str, GroupCost> {
    let mut tiers = IndexMap::from([Tier::Core, Tier::Extended].map(|tier| (tier.name(), GroupCost::default())));
    for tool in per_tool {
        let group = tiers.entry(tool.tier).or_default();
        group.tools += 1;
        group.full += tool.full;
        group.summary += tool.summary;
    }
    tiers
}

fn category_costs(engine: &Engine, per_tool: &[ToolCost]) -> Vec<CategoryCost> {
    let mut categories: IndexMap<String, CategoryCost> = IndexMap::new();
    for (name, _) in engine.assignment().categories() {
        let empty = CategoryCost { name: name.to_string(), tools: 0, full: 0, summary: 0 };
        categories.insert(name.to_string(), empty);
    }
    for tool in per_tool {
        if let Some(own) = categories.get_mut(&tool.category) {
            own.tools += 1;
            own.full += tool.full;
            own.summary += tool.summary;
        }
    }
    categories.into_values().collect()
}

/// The share of a whole that a part takes; all of it if the whole is 0.
fn share_taken(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { rounded(share(part, whole)) }
}
