//! Calls of tools whose parameters the model has not been shown.
//!
//! A call that omits hidden parameters is valid and runs, but may not do what was intended, and no
//! check can detect that. So hidden parameters are shown once: a read-only call runs, and its
//! result lists them; any other call, and any that requires approval, is answered once with the
//! full definition and runs when it is repeated.

use super::answers::APPENDED;
use super::{CallInProgress, ResolvedTool};
use crate::conversation::error::quoted_names;
use crate::conversation::event::Event;
use crate::conversation::outcome::Outcome;
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::engine::Blind;
use crate::profile::{Delivery, definition};

/// How hidden parameters are handled.
pub(super) enum Shown {
    /// There are none, or the model has seen them.
    Already,
    /// The call runs, and this line precedes its result.
    With(String),
    /// The call is answered with the hidden parameters.
    First(Box<Outcome>),
}

impl Conversation {
    /// Shows the hidden parameters of a tool if the model has not seen them and the call omits any.
    /// `waits`: the call requires approval, and the approval should be for the intended call.
    pub(super) fn show_hidden(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        waits: bool,
    ) -> Shown {
        let name = resolved.tool.name().as_str();
        if self.engine.blind() == Blind::Forward || self.was_read(resolved) || self.state.is_named(name) {
            return Shown::Already;
        }
        let mut hidden = self.presentation().hidden_parameters(resolved.index, resolved.tool);
        if let Ok(value) = current.arguments.value() {
            hidden.retain(|name| value.get(name).is_none());
        }
        if hidden.is_empty() {
            return Shown::Already;
        }
        let reads = resolved.tool.annotations().and_then(|hints| hints.read_only_hint) == Some(true);
        if reads && !waits {
            let shown = resolved.shown;
            return Shown::With(format!(
                "[{shown} has optional parameters that you have not seen and did not set: {}]",
                quoted_names(&hidden)
            ));
        }
        Shown::First(Box::new(self.show_first(current, resolved, &hidden)))
    }

    /// Answers a call with the definition that the model has not seen.
    fn show_first(&mut self, current: &CallInProgress<'_>, resolved: ResolvedTool<'_>, hidden: &[&str]) -> Outcome {
        let mut content = format!(
            "{} was not run yet: you have not seen its parameters {}. Repeat the call, changed or not.",
            resolved.shown,
            quoted_names(hidden)
        );
        // One answer to each message contains the definition. In a shared conversation that answer
        // may have gone to another client.
        let brought = !self.state.shared && !self.is_closed(resolved);
        let mut opened = Vec::new();
        if brought {
            content.push_str(" Its full definition is in another result of this message.");
        } else {
            if self.arm().delivery() == Delivery::Append {
                content.push_str(APPENDED);
            } else {
                content.push_str("\nFull definition:\n");
                content.push_str(&definition(resolved.tool, resolved.shown));
            }
            opened.push(resolved.tool.name().clone());
            let by = Some(current.call.own.clone());
            self.record_event(Event::Expanded { by, categories: Vec::new(), tools: opened.clone() });
        }
        let answer = Answer::error(ReplyKind::Shown, content).opening(opened);
        self.give(current, Some(resolved.tool.name().as_str()), answer)
    }

    /// Whether the model had read the tool's full schema when it wrote the call: in the array, or
    /// in an answer to an earlier message.
    fn was_read(&self, resolved: ResolvedTool<'_>) -> bool {
        if !self.is_folded(resolved) {
            return true;
        }
        let category = self.engine.assignment().at(resolved.index).map_or("", |own| own.category.as_str());
        self.state.was_open(resolved.tool.name().as_str(), category, self.unread)
    }
}
