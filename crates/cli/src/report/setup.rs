//! What a report needs from the configuration: a wire and a model, a meter, prices.

use crate::configuration::{Config, Origin, keys};
use crate::input::Input;
use crate::layers;
use crate::output::Failure;
use toolfold::model::ModelId;
use toolfold::profile::{Arm, CacheRules};
use toolfold::tokens::Meter;
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::prices::PriceTable;
use toolfold_measure::report::{Priced, ProfileInfo, Report, ReportError, Setup, SkillCost, measure};
use toolfold_measure::sim::Backend;

/// Who bills, for which model.
pub(super) struct Target {
    wire: Wire,
    model: String,
    /// Whether the user named the model.
    named: bool,
    meter: Meter,
}

impl Target {
    /// The wire and model of the configuration. A model alone uses its own provider's API; a wire
    /// alone is counted as a common model of its provider.
    pub(super) fn from_config(config: &Config, meter: Option<&Meter>) -> Result<Self, Failure> {
        let named = config.settings.presentation.model.as_deref();
        let vendor = named.and_then(|model| ModelId::parse(model).vendor);
        let by_default = *config.origin(&keys::presentation::WIRE) == Origin::Default;
        let wire = match (by_default, vendor) {
            (true, Some("anthropic")) => Wire::Anthropic,
            (true, Some("google")) => Wire::Gemini,
            _ => config.settings.presentation.wire,
        };
        let usual = match wire {
            Wire::Anthropic | Wire::BedrockConverse => "claude-sonnet-5.5",
            Wire::Gemini => "gemini-2.5-pro",
            _ => "gpt-5.4",
        };
        let model = named.unwrap_or(usual);
        let billed = if wire == Wire::Mcp { Wire::OpenAiChat } else { wire };
        let meter = meter.cloned().or_else(|| Meter::for_wire(billed.name(), model)).ok_or_else(|| {
            Failure::unmeasured(format!("unknown billing of tokens of `{model}` over {billed}"))
                .help("choose a meter with --meter, such as json/o200k_base")
        })?;
        Ok(Self { wire, model: model.to_owned(), named: named.is_some(), meter })
    }
}

pub(super) fn report(input: &Input, arms: &[Arm], target: &Target) -> Result<Report, Failure> {
    let capabilities = input.capabilities()?;
    let model = target.model.as_str();
    let row = PriceTable::builtin().row_for_model(model);
    let cache = cache(&capabilities, target);
    let named = !input.config.settings.skills.roots.is_empty();
    let layer = layers::skill_layer(&input.config)?.filter(|layer| named || layer.view().names().len() > 0);
    let counts = layer.as_ref().map(|layer| {
        let list = layer.declared().map(|(_, list)| list.clone()).unwrap_or_default();
        let mut cost = SkillCost::default();
        cost.skills = layer.view().names().len();
        cost.budget = input.config.settings.skills.budget.limit();
        (cost.full, cost.trimmed) = (list.full, list.trimmed);
        (cost.names_only, cost.omitted) = (list.names_only, list.omitted);
        cost
    });
    let with_skills = layer.map(|layer| input.engine_with(Arm::Full, layer)).transpose()?;
    let engine = input.engine(Arm::Full)?;
    let backend = Backend::new(target.wire, target.named.then_some(model), &capabilities);
    let priced = Priced::new(model, model, row, (cache.0, &cache.1));
    let profile = ProfileInfo::new(
        input.profile.as_ref().map_or("off", |profile| profile.name.as_str()),
        input.profile.as_ref().is_some_and(|profile| profile.derived),
    );
    let mut setup = Setup::new(&engine, backend, &target.meter, priced, profile);
    setup.arms = arms;
    setup.workload = input.workload();
    setup.budget = input.config.settings.presentation.budget;
    setup.skills = with_skills.as_ref().zip(counts);
    measure(&setup).map_err(|why| match why {
        ReportError::Count(_) => Failure::unmeasured(why),
        why => Failure::wrong(why),
    })
}

fn cache(capabilities: &Capabilities, target: &Target) -> (CacheRules, String) {
    match capabilities.cache_of(target.wire, Some(&target.model)) {
        Some(row) => (row.cache(), format!("{} ({})", row.source, row.date)),
        None => (CacheRules::default(), "unknown cache pricing: reads at 10 %, writes at 125 % of input".to_owned()),
    }
}
