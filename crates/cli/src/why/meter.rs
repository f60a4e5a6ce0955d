//! Determines the meter: the named one, else that of a wire and a model.

use clap::Args;

use crate::configuration::{Config, Flag, keys};
use crate::help;
use crate::output::Failure;
use toolfold::tokens::Meter;
use toolfold::wire::Wire;

/// The meter to use.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct MeterArgs {
    /// What to count with [default: that of --wire and --model, else billed:openai-chat/gpt-4.1]
    #[arg(long, value_name = "METER", value_parser = parse_meter)]
    meter: Option<Meter>,

    #[arg(long, value_name = "WIRE", help = format!("The provider's API, which chooses meter and limits: {}", help::wires()))]
    wire: Option<String>,

    /// The model, which chooses the meter
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

fn parse_meter(text: &str) -> Result<Meter, String> {
    text.parse::<Meter>().map_err(|why| why.to_string())
}

impl MeterArgs {
    pub(crate) fn flags(&self) -> [Flag; 2] {
        [(&keys::presentation::WIRE, self.wire.clone()), (&keys::presentation::MODEL, self.model.clone())]
    }

    /// The wire from the flag or the configuration; `None` for the default.
    pub(crate) fn wire(&self, config: &Config) -> Option<Wire> {
        let is_given = config.given(&keys::presentation::WIRE).is_some_and(|text| !text.is_empty());
        is_given.then_some(config.settings.presentation.wire)
    }

    /// The meter. A wire without a model is counted as a common model of its provider.
    pub(crate) fn meter(&self, config: &Config) -> Result<Meter, Failure> {
        match &self.meter {
            Some(meter) => Ok(meter.clone()),
            None => meter_of(self.wire(config), config.settings.presentation.model.as_deref()),
        }
    }
}

/// The meter of a wire and a model. Without a model, a common one of the provider counts.
pub(crate) fn meter_of(wire: Option<Wire>, model: Option<&str>) -> Result<Meter, Failure> {
    let (wires, model) = match (wire.filter(|wire| *wire != Wire::Mcp), model) {
        (None, None) => return Ok(Meter::default()),
        (Some(Wire::Anthropic | Wire::BedrockConverse), None) => (vec!["anthropic"], "claude-sonnet-4.6"),
        (Some(Wire::Gemini), None) => (vec!["gemini"], "gemini-2.5-pro"),
        (Some(Wire::OpenAiResponses), None) => (vec!["openai-responses"], "gpt-4.1"),
        (Some(_), None) => (vec!["openai-chat"], "gpt-4.1"),
        (Some(wire), Some(model)) => (vec![wire.name()], model),
        // A model without a wire uses its own provider's API.
        (None, Some(model)) => (vec!["openai-chat", "anthropic", "gemini"], model),
    };
    wires.into_iter().find_map(|wire| Meter::for_wire(wire, model)).ok_or_else(|| {
        Failure::unmeasured(format!("unknown billing of tokens of `{model}`"))
            .help("choose a meter with --meter, such as json/o200k_base")
    })
}
