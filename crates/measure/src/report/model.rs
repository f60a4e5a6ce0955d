//! The report as data: the contract `toolfold.report/2`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::sim::TimelineRequest;

/// The name of the contract, in every report.
pub const CONTRACT: &str = "toolfold.report/2";

/// The cost of a tool set, arm by arm: on the first turn, and over a session with prompt caching.
/// Every figure named `tokens` is in tokens of the meter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "toolfold.report/2")]
#[non_exhaustive]
pub struct Report {
    /// Always `toolfold.report/2`.
    pub schema: &'static str,
    /// The recommendation and its reason.
    pub verdict: Verdict,
    /// The tools to fix first, most expensive first; at most three.
    pub fix_first: Vec<Fix>,
    /// The meter of the figures, such as `billed:openai-chat/gpt-4.1`.
    pub meter: String,
    /// The vocabulary used for counting.
    pub encoding: &'static str,
    /// Whether the vocabulary is assumed because none is published for the model.
    pub assumed: bool,
    /// Whether recorded requests cover everything that was counted. Always false for an estimate.
    pub verified: bool,
    /// The constructs that recorded requests do not cover, one phrase each; empty if `verified`,
    /// and for estimates.
    pub unverified: Vec<String>,
    /// The model and prices of the session.
    pub pricing: PricingInfo,
    /// The assumed session.
    pub session: SessionInfo,
    /// The number of tools in the catalog.
    pub tools: usize,
    /// The profile under which the tools were folded.
    pub profile: ProfileInfo,
    /// The cost of each arm, in the requested order.
    pub arms: IndexMap<String, ArmCost>,
    /// Arms that are not supported, each with the reason.
    pub unavailable: IndexMap<String, String>,
    /// By tier: the number of tools, and their cost full and as summaries.
    pub tiers: IndexMap<&'static str, GroupCost>,
    /// The cost of the block beyond the sum of its tools' own costs, with every schema full.
    pub shared_overhead: usize,
    /// The tokens that skills add to the first turn of every arm; not part of `first_turn_tokens`.
    pub skills: SkillCost,
    /// Every tool in catalog order. A tool's cost is marginal: the block with it minus the block
    /// without it.
    pub per_tool: Vec<ToolCost>,
    /// Every category that has tools, in profile order.
    pub categories: Vec<CategoryCost>,
}

/// The recommendation for a tool set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Verdict {
    /// The recommended arm: `full` if folding does not pay. Never an arm whose session costs more
    /// than that of arm full.
    pub arm: String,
    /// Its first turn.
    pub first_turn_tokens: usize,
    /// The first turn of arm full.
    pub full_tokens: usize,
    /// The saving over the session relative to arm full, 0 to 1; `None` if arm full is recommended.
    pub session_saved: Option<f64>,
    /// The recommendation as one sentence.
    pub text: String,
    /// The reason as one sentence: that of arm auto, or why folding does not pay.
    pub reason: String,
}

/// A tool that is worth fixing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Fix {
    /// The tool.
    pub tool: String,
    /// Its full cost.
    pub tokens: usize,
    /// Its most expensive part: `description`, or `parameter NAME`.
    pub part: String,
    /// The cost of that part.
    pub part_tokens: usize,
}

/// The model and prices of a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PricingInfo {
    /// The wire.
    pub wire: String,
    /// The model whose tokens are counted.
    pub model: String,
    /// The model whose prices apply. Differs from `model` if that has no known price and no other
    /// was named.
    pub priced_as: String,
    /// US dollars per million tokens of input, of cache writes and reads, and of output; `None` if
    /// unknown: costs are then compared in tokens at the price of input.
    pub usd_per_million: Option<Prices>,
    /// The source and date of the prices.
    pub source: Option<String>,
    /// The assumed prompt cache if prices are unknown, or `None`.
    pub assumed_cache: Option<String>,
    /// The minimum length of a cached prefix, in tokens.
    pub cache_minimum: usize,
    /// The context window in tokens, if known.
    pub context_window: Option<usize>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Prices {
    /// Input that is not cached.
    pub input: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// The model's output.
    pub output: f64,
}

/// A typical session: `presentation.requests`, `used_tools`, `system` and `step` of the
/// configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Requests to the model, excluding those that only expand.
    pub requests: usize,
    /// The number of distinct folded tools that it uses.
    pub used_tools: usize,
    /// Tokens of system text.
    pub system_tokens: usize,
    /// Tokens by which the conversation grows with each request.
    pub step_tokens: usize,
}

/// A profile's name and origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ProfileInfo {
    /// Its name.
    pub name: String,
    /// Whether it was derived from the catalog rather than written.
    pub derived: bool,
}

impl ProfileInfo {
    /// A profile by its name.
    #[must_use]
    pub fn new(name: impl Into<String>, derived: bool) -> Self {
        Self { name: name.into(), derived }
    }
}

/// The cost of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ArmCost {
    /// The rendered tool block including meta-tools, without messages and constants.
    pub first_turn_tokens: usize,
    /// For an estimate: the range that contains nine in ten recorded requests of the kind; `null`
    /// for no upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<(usize, Option<usize>)>,
    /// The share of arm full's first turn that is saved, 0 to 1; below 0 if the arm costs more.
    pub saved: f64,
    /// The share of the context window that the first turn takes, 0 to 1; `None` if the window is
    /// unknown.
    pub context_share: Option<f64>,
    /// How an expansion reaches the model: `none`, `in_place`, `in_result`, `bridge` or `native`.
    pub delivery: &'static str,
    /// The number of the catalog's tools in the array.
    pub tools_listed: usize,
    /// The part that `expand_tools` and `call_tool` cost.
    pub meta_tokens: usize,
    /// The session.
    pub session: SessionCost,
    /// The result of expanding each category, as this arm delivers it.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub expansions: IndexMap<String, ExpansionCost>,
    /// Why the provider rejects the arm's array, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// For arm auto, the arm it chose and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
}

/// The cost of a session under an arm, including prompt caching.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionCost {
    /// US dollars; `None` if unknown.
    pub usd: Option<f64>,
    /// All input in tokens at the price of input.
    pub input_cost_tokens: u64,
    /// The cost relative to arm full, as a share; above 0 if higher.
    pub relative_to_full: f64,
    /// Requests to the model, including those that only expand.
    pub requests: usize,
    /// Requests that only expand.
    pub extra_requests: usize,
    /// The number of changes of the array that invalidate cached input.
    pub cache_breaks: usize,
    /// Input read from the cache.
    pub cached_tokens: usize,
    /// Input written to the cache.
    pub written_tokens: usize,
    /// Other input.
    pub uncached_tokens: usize,
    /// The request from which on the session costs less than with arm full; `None` if never.
    pub cheaper_from_request: Option<usize>,
    /// The maximum number of look-ups, of one tool each, with which the session costs no more than
    /// with arm full; `None` if it costs more without any, or no more with all.
    pub break_even: Option<usize>,
    /// Remarks about these figures.
    pub warnings: Vec<String>,
    /// Every request in order, for the page; not in the contract.
    #[serde(skip)]
    pub timeline: Vec<TimelineRequest>,
}

/// The tokens that expanding a category adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExpansionCost {
    /// Added to the messages: the call, and the definitions if they are its answer.
    pub messages: usize,
    /// Added to the tool array, all of which is written to the cache again.
    pub array: usize,
}

impl ExpansionCost {
    /// The sum of both.
    #[must_use]
    pub fn tokens(self) -> usize {
        self.messages + self.array
    }
}

/// The arm that arm auto chose for these tools, with the wire and model of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Chosen {
    /// Its name.
    pub arm: String,
    /// The reason, in one sentence.
    pub reason: String,
}

/// The total cost of several tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupCost {
    /// The number of tools.
    pub tools: usize,
    /// Their full schemas in the array.
    pub full: usize,
    /// The same tools as one-sentence summaries.
    pub summary: usize,
}

/// The cost of skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SkillCost {
    /// The number of skills that the model can activate.
    pub skills: usize,
    /// The cost of the declaration of `activate_skill`, including list and enum; 0 without skills,
    /// because then it is not declared.
    pub activate_skill_tokens: usize,
    /// The maximum cost: the setting `skills.budget`.
    pub budget: usize,
    /// Skills listed with their complete description.
    pub full: usize,
    /// Skills listed with a shortened description.
    pub trimmed: usize,
    /// Skills listed by name only.
    pub names_only: usize,
    /// Skills that are only counted; the model finds them with `search`.
    pub omitted: usize,
}

/// The cost of one tool at each detail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolCost {
    /// The tool.
    pub name: String,
    /// `core`, `extended` or `hidden`.
    pub tier: &'static str,
    /// The category it expands with.
    pub category: String,
    /// Whole.
    pub full: usize,
    /// Without annotations.
    pub signature: usize,
    /// As an outline, for the page; not in the contract.
    #[serde(skip)]
    pub outline: usize,
    /// With only the required parameters.
    pub required: usize,
    /// As one sentence.
    pub summary: usize,
    /// Full, as a line of JSON in the answer of an expansion.
    pub answer: usize,
}

/// The cost of a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CategoryCost {
    /// The category.
    pub name: String,
    /// The number of its tools.
    pub tools: usize,
    /// Its full schemas in the array. The result of expanding it is in each arm's `expansions`.
    pub full: usize,
    /// The same tools as summaries.
    pub summary: usize,
}
