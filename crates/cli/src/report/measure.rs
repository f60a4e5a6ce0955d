//! Measuring: the array of every arm as it would be sent, counted.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::input::Input;
use super::super::layers;
use super::super::output::{Failure, progress};
use super::model::{ArmCost, CONTRACT, CategoryCost, Chosen, GroupCost, ProfileInfo, Report, SkillCost, ToolCost};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Assigned, Delivery, Detail, Folded, Tier, ToolProfile};
use toolfold::tokens::{Meter, Reason, Tiktoken, ToolTexts};
use toolfold::wire::{Wire, chat_tool};

/// Tool text larger than this takes about a second in all arms, in bytes.
const SLOW_BYTES: usize = 1_500_000;

struct Measurer<'m> {
    meter: &'m Meter,
    counter: Tiktoken,
    reasons: Vec<Reason>,
}

impl Measurer<'_> {
    fn texts(&mut self, tools: &[Value]) -> Result<ToolTexts, Failure> {
        let texts =
            self.meter.tool_texts(tools).map_err(|why| Failure::unmeasured(format!("cannot be measured: {why}")))?;
        self.reasons.extend(&texts.reasons);
        Ok(texts)
    }

    fn total(&mut self, tools: &[Value]) -> Result<usize, Failure> {
        Ok(self.texts(tools)?.total(&self.counter))
    }

    fn arm(&mut self, engine: &Engine) -> Result<ArmCost, Failure> {
        let mut conversation = engine.conversation(Wire::OpenAiChat).start().map_err(Failure::usage)?;
        let tools: Vec<Value> = conversation.tools().to().map_err(Failure::wrong)?;
        let meta = conversation.presentation().meta_tools().count();
        let listed = tools.len() - meta.min(tools.len());
        let first_turn_tokens = self.total(&tools)?;
        let own = self.total(tools.get(..listed).unwrap_or_default())?;
        let meta_tokens = first_turn_tokens - own;
        Ok(ArmCost { first_turn_tokens, saved: 0.0, tools_listed: listed, meta_tokens, chosen: None })
    }

    /// The arm that arm auto takes, measured as the others are.
    fn auto(&mut self, input: &Input) -> Result<ArmCost, Failure> {
        let wire = input.config.read("presentation.wire").unwrap_or(Wire::OpenAiChat);
        let model = input.config.get("presentation.model").unwrap_or("");
        let (engine, table) = (input.engine(Arm::Auto)?, input.capabilities()?);
        let start = engine.conversation(wire).model(model).capabilities(&table).start().map_err(Failure::usage)?;
        let (arm, mut reason) = (start.arm(), start.reason().to_owned());
        // What a provider keeps by itself is not in the array that is counted here.
        let counted = if arm.delivery() == Delivery::Native {
            reason.push_str("; its figures here are those of arm index, as the provider bills what it finds");
            Arm::Index
        } else {
            arm
        };
        let cost = self.arm(&input.engine(counted)?)?;
        Ok(ArmCost { chosen: Some(Chosen { arm: arm.to_string(), reason }), ..cost })
    }

    /// The marginal cost of each tool with all of them at one detail, and what is left of the block.
    fn details(&mut self, engine: &Engine, detail: Detail) -> Result<(Vec<usize>, usize), Failure> {
        let shown = engine.catalog().iter().zip(engine.assignment().iter());
        let shown = shown.map(|(tool, own)| chat_tool(&Folded::new(tool, detail, own.summary.as_deref())));
        let tools: Vec<Value> =
            shown.map(|text| serde_json::from_str(&text)).collect::<Result<_, _>>().map_err(Failure::wrong)?;
        let texts = self.texts(&tools)?;
        let costs = texts.marginal(&self.counter);
        let rest = texts.total(&self.counter).saturating_sub(costs.iter().sum());
        Ok((costs, rest))
    }
}

/// Measures an input in the arms asked for.
pub(super) fn measure(input: &Input, arms: &[Arm], meter: &Meter) -> Result<Report, Failure> {
    let size: usize = input.catalog.iter().map(|tool| tool.description().len() + tool.parameters_text().len()).sum();
    if size > SLOW_BYTES {
        progress(&format!("counting {} tools in {} arms …", input.catalog.len(), arms.len()));
    }
    let mut measurer = Measurer { meter, counter: Tiktoken::new(meter.encoding()), reasons: Vec::new() };
    let control = input.engine(Arm::Full)?;
    let full = measurer.arm(&control)?.first_turn_tokens;
    let mut costs = IndexMap::new();
    for arm in arms {
        let mut cost = if *arm == Arm::Auto { measurer.auto(input)? } else { measurer.arm(&input.engine(*arm)?)? };
        cost.saved = share(full, cost.first_turn_tokens);
        costs.insert(arm.name().to_owned(), cost);
    }
    let skills = skills(input, full, &mut measurer)?;
    let (full, shared_overhead) = measurer.details(&control, Detail::Full)?;
    let (signature, _) = measurer.details(&control, Detail::Signature)?;
    let (required, _) = measurer.details(&control, Detail::Required)?;
    let (summary, _) = measurer.details(&control, Detail::Summary)?;
    let mut details = full.into_iter().zip(signature).zip(required.into_iter().zip(summary));
    let mut per_tool = Vec::new();
    for (tool, assigned) in control.catalog().iter().zip(control.assignment().iter()) {
        let Some(((full, signature), (required, summary))) = details.next() else { break };
        per_tool.push(tool_cost(tool.name().as_str(), assigned, [full, signature, required, summary]));
    }
    measurer.reasons.sort_unstable();
    measurer.reasons.dedup();
    Ok(Report {
        schema: CONTRACT,
        meter: meter.to_string(),
        encoding: meter.encoding().name(),
        assumed: meter.assumed(),
        verified: measurer.reasons.is_empty(),
        unverified: measurer.reasons.iter().map(ToString::to_string).collect(),
        tools: input.catalog.len(),
        profile: ProfileInfo {
            name: input.profile.as_ref().map_or("off", ToolProfile::name).to_owned(),
            derived: input.profile.as_ref().is_some_and(ToolProfile::is_derived),
        },
        arms: costs,
        tiers: tiers(&per_tool),
        shared_overhead,
        skills,
        categories: categories(&control, &per_tool),
        per_tool,
    })
}

/// What the declaration of `activate_skill` adds to the array of arm full, as the configuration turns skills on.
fn skills(input: &Input, full: usize, measurer: &mut Measurer<'_>) -> Result<SkillCost, Failure> {
    let Some(layer) = layers::skills(&input.config)? else { return Ok(SkillCost::default()) };
    let skills = layer.skills();
    let list = layer.list().cloned().unwrap_or_default();
    let with = measurer.arm(&input.engine_with(Arm::Full, layer)?)?.first_turn_tokens;
    Ok(SkillCost {
        skills,
        activate_skill_tokens: with.saturating_sub(full),
        budget: input.config.skill_budget().limit(),
        full: list.full,
        trimmed: list.trimmed,
        names_only: list.names_only,
        omitted: list.omitted,
    })
}

fn tool_cost(name: &str, assigned: &Assigned, [full, signature, required, summary]: [usize; 4]) -> ToolCost {
    let (tier, category) = (assigned.tier.name(), assigned.category.to_string());
    ToolCost { name: name.to_owned(), tier, category, full, signature, required, summary }
}

/// The share of `full` that `cost` saves, to four places.
fn share(full: usize, cost: usize) -> f64 {
    if full == 0 {
        return 0.0;
    }
    // Token counts are far below 2^53, where every integer is exact.
    #[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    let saved = 1.0 - cost as f64 / full as f64;
    (saved * 10_000.0).round() / 10_000.0
}

fn tiers(per_tool: &[ToolCost]) -> IndexMap<&'static str, GroupCost> {
    let mut tiers: IndexMap<&'static str, GroupCost> =
        [Tier::Core, Tier::Extended].into_iter().map(|tier| (tier.name(), GroupCost::default())).collect();
    for tool in per_tool {
        let group = tiers.entry(tool.tier).or_default();
        group.tools += 1;
        group.full += tool.full;
        group.summary += tool.summary;
    }
    tiers
}

fn categories(engine: &Engine, per_tool: &[ToolCost]) -> Vec<CategoryCost> {
    let of = |name: &str| {
        let mut cost = CategoryCost { name: name.to_owned(), tools: 0, full: 0, summary: 0 };
        for tool in per_tool.iter().filter(|tool| tool.category == name) {
            cost.tools += 1;
            cost.full += tool.full;
            cost.summary += tool.summary;
        }
        cost
    };
    engine.assignment().categories().map(|(name, _)| of(name.as_str())).collect()
}
