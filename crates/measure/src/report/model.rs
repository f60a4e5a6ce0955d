//! The report as data: the contract `toolfold.report/2`.

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::sim::TimelineRequest;

/// The name of the contract, in every report.
pub const CONTRACT: &str = "toolfold.report/2";

/// What a tool set costs, arm by arm: on the first turn, and over a session with prompt caching.
/// Every figure that is named `tokens` is in tokens of the meter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "toolfold.report/2")]
#[non_exhaustive]
pub struct Report {
    /// Always `toolfold.report/2`.
    pub schema: &'static str,
    /// What to do, and why.
    pub verdict: Verdict,
    /// The tools that are worth fixing first, the most expensive first; at most three.
    pub fix_first: Vec<Fix>,
    /// What the figures measure, such as `billed:openai-chat/gpt-4.1`.
    pub meter: String,
    /// The vocabulary they were counted with.
    pub encoding: &'static str,
    /// Whether the vocabulary is assumed because none is published for the model.
    pub assumed: bool,
    /// Whether recorded requests cover everything that was counted. Never of an estimate.
    pub verified: bool,
    /// What they do not cover, one phrase each; empty if `verified`, and for estimates.
    pub unverified: Vec<String>,
    /// Where the session would run, and what it costs there.
    pub pricing: PricingInfo,
    /// What a session is taken to be.
    pub session: SessionInfo,
    /// How many tools the catalogue has.
    pub tools: usize,
    /// The profile the tools were folded under.
    pub profile: ProfileInfo,
    /// By arm, in the order asked for.
    pub arms: IndexMap<String, ArmCost>,
    /// Arms that cannot be had there, each with the reason.
    pub unavailable: IndexMap<String, String>,
    /// By tier: how many tools, and what they cost whole and as summaries.
    pub tiers: IndexMap<&'static str, GroupCost>,
    /// What the block costs beyond the sum of its tools' own costs, with every schema full.
    pub shared_overhead: usize,
    /// What skills add to the first turn of every arm; not part of `first_turn_tokens`.
    pub skills: SkillCost,
    /// Every tool in catalogue order. A tool's cost is marginal: the block with it minus the block
    /// without it.
    pub per_tool: Vec<ToolCost>,
    /// Every category that has tools, in profile order.
    pub categories: Vec<CategoryCost>,
}

/// What to do about this tool set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Verdict {
    /// The arm to take: `full` where folding does not pay. An arm whose session costs more than
    /// that of arm full is never named.
    pub arm: String,
    /// Its first turn.
    pub first_turn_tokens: usize,
    /// The first turn of arm full.
    pub full_tokens: usize,
    /// How much less the session costs than with arm full, 0 to 1; `None` where arm full is the
    /// verdict.
    pub session_saved: Option<f64>,
    /// The same as one sentence.
    pub text: String,
    /// Why, as one sentence: what arm auto says, or what speaks against folding.
    pub reason: String,
}

/// A tool that is worth fixing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Fix {
    /// The tool.
    pub tool: String,
    /// What it costs whole.
    pub tokens: usize,
    /// Its most expensive part: `description`, or `parameter NAME`.
    pub part: String,
    /// What that part costs.
    pub part_tokens: usize,
}

/// By what a session is priced.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PricingInfo {
    /// The wire.
    pub wire: String,
    /// The model whose tokens are counted.
    pub model: String,
    /// The model whose prices count: another one than `model` where that has no known price and
    /// nobody named it.
    pub priced_as: String,
    /// US dollars for a million tokens of input, of cache writes and reads, and of output; `None`:
    /// unmeasured, and costs are compared in tokens at the price of input.
    pub usd_per_million: Option<Prices>,
    /// Who says so, and when.
    pub source: Option<String>,
    /// What is assumed of the prompt cache where prices are not known, or `None`.
    pub assumed_cache: Option<String>,
    /// A shorter prefix is not cached, in tokens.
    pub cache_minimum: usize,
    /// The context window in tokens, where it is known.
    pub context_window: Option<usize>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Prices {
    /// Input that is not cached.
    pub input: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// What the model writes.
    pub output: f64,
}

/// A typical session: `presentation.requests`, `expansions`, `system` and `step` of the
/// configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Requests to the model, those that only expand not among them.
    pub requests: usize,
    /// How often a category is looked up where tools are folded.
    pub expansions: usize,
    /// Tokens of system text.
    pub system_tokens: usize,
    /// Tokens by which the conversation grows from one request to the next.
    pub step_tokens: usize,
}

/// A profile's name and origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProfileInfo {
    /// Its name.
    pub name: String,
    /// Whether it was derived from the catalogue rather than written.
    pub derived: bool,
}

/// What an arm costs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ArmCost {
    /// The rendered tool block, meta-tools included; messages and constants are not in it.
    pub first_turn_tokens: usize,
    /// Of an estimate: between which figures nine in ten recorded requests of the kind fell; no
    /// upper end is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<(usize, Option<usize>)>,
    /// The share of arm full's first turn that is saved, 0 to 1; below 0 if the arm costs more.
    pub saved: f64,
    /// The share of the context window that the first turn takes, 0 to 1; `None` where the window
    /// is not known.
    pub context_share: Option<f64>,
    /// How an expansion reaches the model: `none`, `in_place`, `in_result`, `bridge` or `native`.
    pub delivery: &'static str,
    /// How many of the catalogue's tools are in the array.
    pub tools_listed: usize,
    /// What `expand_tools` and `call_tool` cost of it.
    pub meta_tokens: usize,
    /// The session.
    pub session: SessionCost,
    /// By category: what looking it up brings, as this arm delivers it.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub expansions: IndexMap<String, ExpansionCost>,
    /// Of arm auto, what it took, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
}

/// What a session costs under an arm, prompt caching counted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionCost {
    /// US dollars; `None`: unmeasured.
    pub usd: Option<f64>,
    /// All input in tokens at the price of input.
    pub input_cost_tokens: u64,
    /// How much more (above 0) or less (below) it costs than with arm full, as a share of that.
    pub relative_to_full: f64,
    /// Requests to the model, those that only expand among them.
    pub requests: usize,
    /// Requests that only expand.
    pub extra_requests: usize,
    /// How often a change of the array loses what was cached.
    pub cache_breaks: usize,
    /// Input read from the cache.
    pub cached_tokens: usize,
    /// Input written to it.
    pub written_tokens: usize,
    /// Input that is neither.
    pub uncached_tokens: usize,
    /// From which request on the session so far costs less than with arm full; `None`: never.
    pub cheaper_from_request: Option<usize>,
    /// What to know about these figures.
    pub warnings: Vec<String>,
    /// Every request in order, for the page; not in the contract.
    #[serde(skip)]
    pub timeline: Vec<TimelineRequest>,
}

/// What looking up a category brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExpansionCost {
    /// What is added to the messages: the call, and the definitions where they are its answer.
    pub messages: usize,
    /// What is added to the tool array, all of which is written to the cache again.
    pub array: usize,
}

impl ExpansionCost {
    /// Both together.
    #[must_use]
    pub fn tokens(self) -> usize {
        self.messages + self.array
    }
}

/// The arm that arm auto took for these tools, with the wire and model of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Chosen {
    /// Its name.
    pub arm: String,
    /// Why, in one sentence.
    pub reason: String,
}

/// What several tools cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupCost {
    /// How many tools.
    pub tools: usize,
    /// Their schemas whole, in the array.
    pub full: usize,
    /// The same tools as one-sentence summaries.
    pub summary: usize,
}

/// What skills cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillCost {
    /// How many skills the model can activate.
    pub skills: usize,
    /// What the whole declaration of `activate_skill` costs, list and enum; 0 without skills, since
    /// then it is not declared.
    pub activate_skill_tokens: usize,
    /// What it may cost: the setting `skills.budget`.
    pub budget: usize,
    /// Skills that it lists with their whole description.
    pub full: usize,
    /// Skills that it lists with the beginning of their description.
    pub trimmed: usize,
    /// Skills that it lists by name alone.
    pub names_only: usize,
    /// Skills that it only counts; the model finds them with `search`.
    pub omitted: usize,
}

/// What one tool costs at each detail.
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
    /// Without its words.
    pub signature: usize,
    /// With the names of all parameters, for the page; not in the contract.
    #[serde(skip)]
    pub outline: usize,
    /// With its required parameters only.
    pub required: usize,
    /// As one sentence.
    pub summary: usize,
    /// Whole, as a line of JSON in the answer of an expansion.
    pub answer: usize,
}

/// What a category costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CategoryCost {
    /// The category.
    pub name: String,
    /// How many tools it has.
    pub tools: usize,
    /// Its schemas whole, in the array. What looking it up brings is in each arm's `expansions`.
    pub full: usize,
    /// The same tools as summaries.
    pub summary: usize,
}

/// The JSON Schema of [`Report`].
#[must_use]
pub fn report_schema() -> Schema {
    schemars::schema_for!(Report)
}
