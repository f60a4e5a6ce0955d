//! The report as data: the contract `toolfold.report/1`.

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// The name of the contract, in every report.
pub(super) const CONTRACT: &str = "toolfold.report/1";

/// What a tool set costs on the first turn, arm by arm. Every figure is in tokens of the meter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "toolfold.report/1")]
pub(super) struct Report {
    /// Always `toolfold.report/1`.
    pub(super) schema: &'static str,
    /// What the figures measure, such as `billed:openai-chat/gpt-4.1`.
    pub(super) meter: String,
    /// The vocabulary they were counted with.
    pub(super) encoding: &'static str,
    /// Whether the vocabulary is assumed because none is published for the model.
    pub(super) assumed: bool,
    /// Whether recorded requests cover everything that was counted.
    pub(super) verified: bool,
    /// What they do not cover, one phrase each; empty if `verified`.
    pub(super) unverified: Vec<String>,
    /// How many tools the catalogue has.
    pub(super) tools: usize,
    /// The profile the tools were folded under.
    pub(super) profile: ProfileInfo,
    /// By arm, in the order asked for.
    pub(super) arms: IndexMap<String, ArmCost>,
    /// By tier: how many tools, and what they cost whole and as summaries.
    pub(super) tiers: IndexMap<&'static str, GroupCost>,
    /// What the block costs beyond the sum of its tools' own costs, with every schema full.
    pub(super) shared_overhead: usize,
    /// What skills add to the first turn of every arm; not part of `first_turn_tokens`.
    pub(super) skills: SkillCost,
    /// Every tool in catalogue order. A tool's cost is marginal: the block with it minus the block without it.
    pub(super) per_tool: Vec<ToolCost>,
    /// Every category that has tools, in profile order.
    pub(super) categories: Vec<CategoryCost>,
}

/// A profile's name and origin.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProfileInfo {
    /// Its name.
    pub(super) name: String,
    /// Whether it was derived from the catalogue rather than written.
    pub(super) derived: bool,
}

/// What an arm costs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ArmCost {
    /// The rendered tool block, meta-tools included; messages and constants are not in it.
    pub(super) first_turn_tokens: usize,
    /// The share of arm full's tokens that is saved, 0 to 1; below 0 if the arm costs more.
    pub(super) saved: f64,
    /// How many of the catalogue's tools are in the array.
    pub(super) tools_listed: usize,
    /// What `expand_tools` and `call_tool` cost of it.
    pub(super) meta_tokens: usize,
    /// Of arm auto, what it took, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chosen: Option<Chosen>,
}

/// The arm that arm auto took for these tools, with the wire and model of the configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Chosen {
    /// Its name.
    pub(super) arm: String,
    /// Why, in one sentence.
    pub(super) reason: String,
}

/// What several tools cost together.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct GroupCost {
    /// How many tools.
    pub(super) tools: usize,
    /// Their schemas whole.
    pub(super) full: usize,
    /// The same tools as one-sentence summaries.
    pub(super) summary: usize,
}

/// What skills cost.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct SkillCost {
    /// How many skills the model can activate.
    pub(super) skills: usize,
    /// What the whole declaration of `activate_skill` costs, list and enum; 0 without skills, since then it is not
    /// declared.
    pub(super) activate_skill_tokens: usize,
    /// What it may cost: the setting `skills.budget`.
    pub(super) budget: usize,
    /// Skills that it lists with their whole description.
    pub(super) full: usize,
    /// Skills that it lists with the beginning of their description.
    pub(super) trimmed: usize,
    /// Skills that it lists by name alone.
    pub(super) names_only: usize,
    /// Skills that it only counts; the model finds them with `search`.
    pub(super) omitted: usize,
}

/// What one tool costs at each detail.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolCost {
    /// The tool.
    pub(super) name: String,
    /// `core`, `extended` or `hidden`.
    pub(super) tier: &'static str,
    /// The category it expands with.
    pub(super) category: String,
    /// Whole.
    pub(super) full: usize,
    /// Without its words.
    pub(super) signature: usize,
    /// With its required parameters only.
    pub(super) required: usize,
    /// As one sentence.
    pub(super) summary: usize,
}

/// What a category costs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CategoryCost {
    /// The category.
    pub(super) name: String,
    /// How many tools it has.
    pub(super) tools: usize,
    /// Its schemas whole: what expanding it brings.
    pub(super) full: usize,
    /// The same tools as summaries.
    pub(super) summary: usize,
}

/// The JSON Schema of `report --json`.
#[must_use]
pub fn report_schema() -> Schema {
    schemars::schema_for!(Report)
}
