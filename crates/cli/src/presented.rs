//! A conversation from the configuration: `tools`, `expand` and `session` all start from it, so
//! that they present the same array.

use clap::Args;

use super::input::{Input, InputArgs};
use super::layers::Layers;
use super::output::{Failure, say_all};
use crate::configuration::{Config, Flag, keys};
use crate::help;
use toolfold::conversation::{Conversation, StartError};
use toolfold::diagnostic::{Diagnostic, Place, Severity};
use toolfold::engine::{Engine, EngineBuilder};
use toolfold::profile::Arm;
use toolfold::wire::{Capabilities, RenderOptions, Wire};

#[derive(Debug, Clone, Args)]
pub(super) struct PresentedArgs {
    #[command(flatten)]
    input: InputArgs,

    #[arg(long, value_name = "ARM", help = format!("Arm: {} [default: auto]", help::arms(&Arm::ALL)))]
    arm: Option<String>,

    #[arg(long, value_name = "WIRE", help = format!("The provider's API: {} [default: openai-chat]", help::wires()))]
    wire: Option<String>,

    /// The model, for the capability table and the meter
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// First-turn tokens before arm auto folds further [default: 4000]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<String>,

    /// Folders of skills besides the usual places, separated by commas
    #[arg(long, value_name = "DIR,…")]
    skills: Option<String>,

    /// Policy: a TOML file, or excel for the built-in one
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,

    /// The conversation's id: an experiment selects the arm by it, and --log resumes by it
    /// [default: none]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub(super) id: String,
}

impl PresentedArgs {
    pub(super) fn config(&self) -> Result<Config, Failure> {
        self.config_with(Vec::new())
    }

    pub(super) fn config_with(&self, more: Vec<Flag>) -> Result<Config, Failure> {
        let mut flags = vec![
            (&keys::presentation::ARM, self.arm.clone()),
            (&keys::presentation::WIRE, self.wire.clone()),
            (&keys::presentation::MODEL, self.model.clone()),
            (&keys::presentation::BUDGET, self.budget.clone()),
            (&keys::skills::ROOTS, self.skills.clone()),
            (&keys::policy::FILE, self.policy.clone()),
        ];
        flags.extend(more);
        self.input.config(&flags)
    }
}

/// An engine, and everything that a conversation on it is bound to.
#[derive(Clone)]
pub(super) struct Presented {
    pub(super) engine: Engine,
    /// The arm, if it is not the engine's.
    arm: Option<Arm>,
    wire: Wire,
    model: Option<String>,
    id: String,
    capabilities: Capabilities,
    options: RenderOptions,
}

impl Presented {
    pub(super) fn judging(input: &Input, layers: &Layers, id: &str) -> Result<Self, Failure> {
        Self::built(input, layers, id, |builder| builder)
    }

    /// The same engine without compiled schemas, which starts in a few milliseconds.
    pub(super) fn showing(input: &Input, layers: &Layers, id: &str) -> Result<Self, Failure> {
        Self::built(input, layers, id, EngineBuilder::without_validation)
    }

    fn built(
        input: &Input,
        layers: &Layers,
        id: &str,
        last: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Result<Self, Failure> {
        let with_skills;
        let input = match &layers.skill_tools {
            Some(skills) => {
                with_skills = input.clone().with_skill_tools(skills);
                &with_skills
            }
            None => input,
        };
        let Input { config, .. } = input;
        let mut builder = input.builder(foldable(input, config.settings.presentation.arm));
        if let Some(policy) = &layers.policy {
            builder = builder.policy(policy.clone());
        }
        if let Some(skills) = &layers.skills {
            builder = builder.skills(skills.clone());
        }
        if let Some(mut experiment) = config.experiment() {
            experiment.arms = experiment.arms.map(|(variant, arm)| (variant, foldable(input, arm)));
            builder = builder.experiment(experiment);
        }
        Ok(Self {
            engine: Input::built(last(builder))?,
            arm: None,
            wire: config.settings.presentation.wire,
            model: config.settings.presentation.model.clone(),
            id: id.to_owned(),
            capabilities: input.capabilities()?,
            options: render_options(config),
        })
    }

    /// The same engine for another conversation, with its own settings.
    pub(super) fn of_conversation(&self, id: &str, settings: &Settings) -> Self {
        let (arm, wire) = (settings.arm.or(self.arm), settings.wire.unwrap_or(self.wire));
        let model = settings.model.clone().or_else(|| self.model.clone());
        Self { arm, wire, model, id: id.to_owned(), ..self.clone() }
    }

    /// A new conversation. Reports which arm arm auto chose, and why.
    pub(super) fn start_conversation(&self) -> Result<Conversation, Failure> {
        let conversation = self.started()?;
        if self.engine.arm() == Arm::Auto && self.engine.folds() && conversation.variant().is_none() {
            let message = format!("arm auto takes {}: {}", conversation.arm(), conversation.reason());
            say_all(&[Diagnostic::note("auto-arm", Place::default(), message)]);
        }
        Ok(conversation)
    }

    pub(super) fn started(&self) -> Result<Conversation, Failure> {
        let mut start = self.engine.conversation(self.wire).model(self.model.as_deref().unwrap_or("")).id(&self.id);
        if let Some(arm) = self.arm {
            start = start.arm(arm);
        }
        start.capabilities(&self.capabilities).options(self.options.clone()).start().map_err(|why| match &why {
            StartError::NoId => {
                Failure::usage("the experiment chooses an arm by the conversation's id, which is missing")
                    .help("set the id with --id, or choose an arm with --arm")
            }
            _ => Failure::usage(&why),
        })
    }
}

/// The settings of one conversation. `None`: that of the configuration.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) arm: Option<Arm>,
    pub(super) wire: Option<Wire>,
    pub(super) model: Option<String>,
}

/// How the wire writes the array, from the configuration.
fn render_options(config: &Config) -> RenderOptions {
    let mut options = RenderOptions::default();
    options.gemini_parameters = config.settings.presentation.gemini;
    options
}

/// The effective arm: with the profile off, arm full replaces every arm that folds, with a warning.
fn foldable(input: &Input, arm: Arm) -> Arm {
    if input.profile.is_some() || matches!(arm, Arm::Full | Arm::Auto) {
        return arm;
    }
    let message = format!("arm {arm} cannot fold without a profile: using arm full");
    let warning = Diagnostic::warning("nothing-to-fold", Place::default(), message);
    say_all(&[warning.help("enable the profile, or choose arm full")]);
    Arm::Full
}

/// Reports everything the wire noticed about an array, and the engine's warnings.
pub(super) fn say_noticed(conversation: &Conversation) {
    let engine = conversation.engine().diagnostics();
    let worth = conversation.diagnostics().into_iter().enumerate();
    let worth = worth.filter(|(at, noticed)| *at >= engine.len() || noticed.severity >= Severity::Warning);
    say_all(&worth.map(|(_, noticed)| noticed).collect::<Vec<_>>());
}
