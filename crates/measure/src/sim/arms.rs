//! The arms of an engine for one wire and model.

use std::collections::BTreeSet;

use toolfold::conversation::{Conversation, StartError};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Choice, Delivery};
use toolfold::tokens::CountError;
use toolfold::wire::{Capabilities, Wire};

use super::counting::{CatalogTokens, Counting};
use super::sizes::ArmSizes;

/// The environment of sessions.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Backend<'b> {
    /// The wire. [`Wire::Mcp`] is counted as OpenAI Chat: MCP itself bills nothing.
    pub wire: Wire,
    /// The model, in the host's spelling.
    pub model: Option<&'b str>,
    /// The capability table.
    pub capabilities: &'b Capabilities,
}

impl<'b> Backend<'b> {
    /// A wire, with the model if it is known.
    #[must_use]
    pub fn new(wire: Wire, model: Option<&'b str>, capabilities: &'b Capabilities) -> Self {
        Self { wire, model, capabilities }
    }
}

/// An arm that a wire with a model does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The arm.
    pub arm: String,
    /// The reason.
    pub why: String,
}

/// Returns the sizes of arms for conversations of an engine, each counted from the array that would
/// be sent. [`Arm::Auto`] is resolved by the engine, with its choice.
///
/// # Errors
/// Returns a [`CountError`] if a tool cannot be counted offline.
pub fn arm_sizes(
    engine: &Engine,
    backend: &Backend<'_>,
    arms: &[Arm],
    counting: &Counting<'_>,
) -> Result<(Vec<ArmSizes>, Vec<Unavailable>), CountError> {
    let mut details = BTreeSet::new();
    for arm in arms {
        if arm.delivery() == Delivery::InPlace {
            details.extend([arm.core(), arm.extended()]);
        }
    }
    let details = Vec::from_iter(details);
    let tokens = CatalogTokens::of_catalog(engine.catalog(), engine.assignment(), counting, &details)?;
    let (mut sizes, mut unavailable) = (Vec::new(), Vec::new());
    for arm in arms {
        match started(engine, backend, *arm) {
            Ok(mut conversation) => {
                let choice = (*arm == Arm::Auto)
                    .then(|| Choice { arm: conversation.arm(), reason: conversation.reason().to_owned() });
                let own = ArmSizes::of_conversation(&mut conversation, &tokens, counting)?;
                sizes.push(ArmSizes { name: arm.name().to_owned(), choice, ..own });
            }
            Err(why) => unavailable.push(Unavailable { arm: arm.name().to_owned(), why: why.to_string() }),
        }
    }
    Ok((sizes, unavailable))
}

pub(crate) fn started(engine: &Engine, backend: &Backend<'_>, arm: Arm) -> Result<Conversation, StartError> {
    let wire = if backend.wire == Wire::Mcp { Wire::OpenAiChat } else { backend.wire };
    let start = engine.conversation(wire).arm(arm).capabilities(backend.capabilities);
    match backend.model {
        Some(model) => start.model(model).start(),
        None => start.start(),
    }
}
