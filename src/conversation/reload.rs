//! Skills that change on disk during a conversation.

use super::Conversation;
use super::bound::Bound;
use crate::diagnostic::{Diagnostic, Loaded};
use crate::engine::SkillLayer;
use crate::skill::ActivateRequest;

impl Conversation {
    /// Reads changed skills, and returns what was noticed; `None` if no change was found. For a
    /// host to call between turns: the array may change. It takes a few milliseconds with thousands
    /// of skills, because one call looks at a thousand of them and the next one at others.
    ///
    /// The text of a skill is current whenever it is activated, with or without this call. An
    /// active skill keeps the text that the model has, until it is activated again.
    pub fn reload_skills(&mut self) -> Option<Vec<Diagnostic>> {
        let reloaded = self.engine.skills()?.reloaded()?;
        renew(self, reloaded)
    }
}

/// Reads the skills again if the file of the one that a request selects has changed: its text and
/// its other files come from one reading.
pub(super) fn renew_for(conversation: &mut Conversation, request: &ActivateRequest) {
    let reloaded = conversation.engine.skills().and_then(|layer| layer.reloaded_for(request));
    if let Some(reloaded) = reloaded.filter(|_| !conversation.recalling) {
        renew(conversation, reloaded);
    }
}

/// Replaces the skills. Changes nothing if no name would be free for `activate_skill`.
fn renew(conversation: &mut Conversation, reloaded: Loaded<SkillLayer>) -> Option<Vec<Diagnostic>> {
    let Loaded { value: engine, diagnostics } = conversation.engine.with_skills(reloaded);
    let (wire, arm, options) = (conversation.wire(), conversation.arm(), &conversation.state.options);
    let bound = Bound::for_engine(&engine, wire, arm, options, &conversation.limits.name).ok()?;
    (conversation.engine, conversation.bound, conversation.array) = (engine, bound, None);
    Some(diagnostics)
}
