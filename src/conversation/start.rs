//! Starts a conversation, which fixes its wire, model and arm.

use std::borrow::Cow;
use std::sync::Arc;

use super::bound::{Bound, with_accepted_names};
use super::event::Event;
use super::state::State;
use super::{Conversation, StartError};

use crate::engine::Engine;
use crate::profile::{Arm, AutoContext, Choice, Delivery, already_defers, choose_auto_arm};
use crate::wire::{CacheRow, Capabilities, NoFreeName, RenderOptions, Support, Wire, WireError};

/// The settings of a conversation that is about to start.
#[derive(Debug, Clone)]
#[must_use]
pub struct Start<'e> {
    engine: &'e Engine,
    wire: Wire,
    model: Option<String>,
    id: String,
    arm: Option<Arm>,
    without: Vec<Delivery>,
    capabilities: Cow<'e, Capabilities>,
    options: RenderOptions,
}

impl Engine {
    /// Configures a conversation on a wire; [`Start::start`] starts it.
    pub fn conversation(&self, wire: Wire) -> Start<'_> {
        Start {
            engine: self,
            wire,
            model: None,
            id: String::new(),
            arm: None,
            without: Vec::new(),
            capabilities: Cow::Borrowed(Capabilities::builtin()),
            options: RenderOptions::default(),
        }
    }
}

impl<'e> Start<'e> {
    /// The model, for the capability table and the limits. Default: unknown.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into()).filter(|model| !model.is_empty());
        self
    }

    /// The host's id of the conversation. An experiment's variant depends on it, and every record
    /// contains it. Default: none.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the arm, which overrides the engine's and any experiment.
    pub fn arm(mut self, arm: Arm) -> Self {
        self.arm = Some(arm);
        self
    }

    /// A delivery that the host cannot carry, such as [`Delivery::Bridge`] if a framework's own
    /// rules apply to tool names. [`Arm::Auto`] does not choose an arm with this delivery, and an
    /// explicit one is an error. Default: none.
    pub fn without(mut self, delivery: Delivery) -> Self {
        self.without.push(delivery);
        self
    }

    /// The capability table. Default: [`Capabilities::builtin`].
    pub fn capabilities(mut self, capabilities: &'e Capabilities) -> Self {
        self.capabilities = Cow::Borrowed(capabilities);
        self
    }

    /// Options for how the wire writes the array. Default: [`RenderOptions::default`].
    pub fn options(mut self, options: RenderOptions) -> Self {
        self.options = options;
        self
    }

    /// Starts the conversation.
    ///
    /// # Errors
    /// [`StartError`] if the arm is not available (the wire or the host cannot carry it, or the
    /// capability table has `no` for it; unprobed combinations are allowed), if an explicit arm
    /// requires layer 1 and it is off, if an experiment has no conversation id, or if no name is
    /// free for a meta-tool.
    pub fn start(self) -> Result<Conversation, StartError> {
        let (arm, variant, reason) = self.chosen()?;
        let limits = self.capabilities.limits(self.wire, self.model.as_deref());
        let engine = with_accepted_names(self.engine, self.wire, &limits);
        let bound = Bound::for_engine(&engine, self.wire, arm, &self.options, &limits.name).map_err(no_free_name)?;
        let state = State::new(self.id, variant, self.wire);
        let (wire, model, options) = (self.wire, self.model, self.options);
        let said = (limits != Capabilities::builtin().limits(wire, model.as_deref())).then(|| Box::new(limits.clone()));
        let mut conversation = Conversation::new(engine, bound, Arc::new(limits), state);
        conversation.record_event(Event::Started { wire, model, arm, reason, options, limits: said, allowed: None });
        Ok(conversation)
    }

    /// The arm, the variant that chose it, and the reason.
    fn chosen(&self) -> Result<(Arm, Option<String>, String), StartError> {
        let engine = self.engine;
        let (arm, variant, reason) = match (self.arm, engine.experiment()) {
            (Some(arm), _) => (arm, None, "chosen for this conversation".to_owned()),
            (None, Some(_)) if self.id.is_empty() => return Err(StartError::NoId),
            (None, Some(experiment)) => {
                let (variant, arm) = experiment.variant(&self.id);
                (arm, Some(variant.to_owned()), format!("variant {variant} of the experiment"))
            }
            (None, None) => (engine.arm(), None, "chosen in the configuration".to_owned()),
        };
        if arm == Arm::Auto {
            let Choice { arm, reason } = self.auto();
            return Ok((arm, variant, reason));
        }
        if arm != Arm::Full && !engine.folds() {
            return Err(StartError::NothingToFold(arm));
        }
        self.possible(arm)?;
        Ok((arm, variant, reason))
    }

    /// Checks that an explicit arm is available here.
    fn possible(&self, arm: Arm) -> Result<(), StartError> {
        self.wire.supports(arm)?;
        if self.without.contains(&arm.delivery()) {
            return Err(StartError::NotCarried { arm, delivery: arm.delivery().name() });
        }
        let known = self.capabilities.of(self.wire, self.model.as_deref());
        if known.of(arm.delivery()) != Support::No {
            return Ok(());
        }
        let because = match known.row(arm.delivery()) {
            Some(row) => format!("{} ({})", row.source, row.date),
            None => String::new(),
        };
        let why = format!(
            "the capability table marks it unsupported: {because}; use arm full or stable, or override the row"
        );
        Err(WireError::Arm { wire: self.wire, arm, model: self.model.clone(), why }.into())
    }

    /// The choice of arm `auto`: native only if the table marks it as working, never an arm whose
    /// delivery the table marks as unsupported; cached tokens are priced by the table.
    fn auto(&self) -> Choice {
        let (engine, wire, model) = (self.engine, self.wire, self.model.as_deref());
        if !engine.folds() {
            return Choice { arm: Arm::Full, reason: "layer 1 is off: nothing is folded".to_owned() };
        }
        if let Some(deferral) = already_defers(engine.catalog()) {
            return Choice { arm: Arm::Full, reason: deferral.to_string() };
        }
        let known = self.capabilities.of(wire, model);
        let carries_native = wire.supports(Arm::Native).is_ok() && !self.without.contains(&Delivery::Native);
        let mut native = None;
        if known.of(Delivery::Native) == Support::Yes && carries_native {
            let because = match known.row(Delivery::Native) {
                Some(row) => format!(" ({}, {})", row.source, row.date),
                None => String::new(),
            };
            native = Some(format!("{wire} with {}{because}", model.unwrap_or("any model")));
        }
        let mut refused: Vec<(Delivery, String)> = Vec::new();
        for delivery in [Delivery::InResult, Delivery::Bridge] {
            if known.of(delivery) == Support::No
                && let Some(row) = known.row(delivery)
            {
                let why = format!("the capability table marks it unsupported ({}, {})", row.source, row.date);
                refused.push((delivery, why));
            }
        }
        let cache = self.capabilities.cache_of(wire, model).map(CacheRow::cache).unwrap_or_default();
        let limits = self.capabilities.limits(wire, model);
        // Entries beside the arm's own: `activate_skill`, which every arm declares, and what the
        // list contains beside tools.
        let skill = usize::from(engine.skills().is_some_and(|skills| skills.declared().is_some()));
        let (beside, grouped) = match engine.catalog().layout() {
            Some(layout) if layout.format == wire.format() => layout.entries_beside(),
            _ => (0, 0),
        };
        let extra = skill + beside;
        let too_many = limits.refuses(wire, engine.catalog(), engine.assignment(), Arm::Native, extra);
        refused.extend(too_many.map(|why| (Delivery::Native, why)));
        for delivery in &self.without {
            refused.push((*delivery, format!("the host cannot carry {}", delivery.name())));
        }
        let meter = if limits.tokens.is_some() { wire.name() } else { "OpenAI (unknown model)" };
        let context = AutoContext {
            native: native.as_deref(),
            refused: &refused,
            cache,
            max_tools: limits.max_tools.map(|most| (most.value + grouped).saturating_sub(extra)),
            tokens: limits.tokens.unwrap_or_default(),
            meter: Some(meter),
        };
        choose_auto_arm(engine.catalog(), engine.assignment(), context, engine.budget(), engine.workload())
    }
}

pub(super) fn no_free_name(NoFreeName(name): NoFreeName) -> StartError {
    StartError::NoFreeName(name)
}
