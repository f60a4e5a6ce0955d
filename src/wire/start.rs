//! Starting a session for a provider and a model.

use super::{CacheRow, Capabilities, Support, Wire, WireError};
use crate::engine::{Engine, Session, SessionOptions};
use crate::profile::{Arm, Delivery};

impl Engine {
    /// A new conversation on a wire with a model. Arm `auto` chooses [`Arm::Native`] only where the table says that it
    /// works there, never an arm whose delivery the table says no to, and prices what is cached by the table.
    ///
    /// # Errors
    /// [`WireError::Arm`] if the engine's arm, or the one its experiment chooses for this id, cannot be used there: the
    /// wire cannot carry it, or the table says `no`. What is unprobed may be tried.
    pub fn session_on(
        &self,
        wire: Wire,
        model: Option<&str>,
        id: &str,
        capabilities: &Capabilities,
    ) -> Result<Session, WireError> {
        Ok(self.session_with(self.options_on(wire, model, id, capabilities)?))
    }

    /// What [`Engine::session_on`] starts a session with; [`Engine::from_transcript`] takes the same.
    ///
    /// # Errors
    /// As [`Engine::session_on`].
    pub fn options_on(
        &self,
        wire: Wire,
        model: Option<&str>,
        id: &str,
        capabilities: &Capabilities,
    ) -> Result<SessionOptions, WireError> {
        let options = SessionOptions { id: id.to_owned(), ..SessionOptions::default() };
        let arm = self.chosen_arm(&options);
        let known = capabilities.of(wire, model);
        wire.supports(arm)?;
        if known.of(arm.delivery()) == Support::No {
            let row = known.row(arm.delivery());
            let because = row.map(|row| format!("{} ({})", row.source, row.date)).unwrap_or_default();
            let why = format!("the capability table says no: {because}; use arm full or stable, or override the row");
            return Err(WireError::Arm { wire, arm, model: model.map(str::to_owned), why });
        }
        let native = (known.of(Delivery::Native) == Support::Yes && wire.supports(Arm::Native).is_ok()).then(|| {
            let row = known.row(Delivery::Native);
            let because = row.map(|row| format!(" ({}, {})", row.source, row.date)).unwrap_or_default();
            format!("{wire} with {}{because}", model.unwrap_or("any model"))
        });
        let refused = [Delivery::InResult, Delivery::Bridge].into_iter().filter_map(|delivery| {
            let row = known.row(delivery).filter(|_| known.of(delivery) == Support::No)?;
            Some((delivery, format!("the capability table says no ({}, {})", row.source, row.date)))
        });
        let cache = capabilities.cache_of(wire, model).map(CacheRow::cache).unwrap_or_default();
        let limits = capabilities.limits(wire, model);
        // What arm full declares beside the catalogue, every arm does.
        let extra = self.presentation(Arm::Full).meta_tools().count();
        let too_many = limits.refuses(wire, self.catalog(), self.assignment(), Arm::Native, extra);
        let refused = refused.chain(too_many.map(|why| (Delivery::Native, why))).collect();
        let max_tools = limits.max_tools.map(|most| most.value.saturating_sub(extra));
        let meter = Some(wire.to_string());
        Ok(SessionOptions { native, refused, cache, max_tools, tokens: limits.tokens, meter, ..options })
    }

    /// The arm a session is started with, perhaps [`Arm::Auto`].
    pub(super) fn chosen_arm(&self, options: &SessionOptions) -> Arm {
        let variant = || self.experiment().map(|experiment| experiment.variant(&options.id).1);
        options.arm.or_else(variant).unwrap_or_else(|| self.arm())
    }
}
