//! Calls of tools whose parameters the model was not shown.
//!
//! A call that leaves out what was hidden is valid, runs, and may be wrong, and no check can see it. So what was hidden is
//! shown once before it counts: a read-only call runs and its result says what else there is; any other, and any that a
//! person is asked about, is answered once with the whole definition, and runs when it is made again.

use super::answers::APPENDED;
use super::{CallInProgress, ResolvedTool};
use crate::conversation::error::quoted_names;
use crate::conversation::event::Event;
use crate::conversation::outcome::Outcome;
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::engine::Blind;
use crate::profile::{Delivery, definition};

/// What is to be done about hidden parameters.
pub(super) enum Shown {
    /// Nothing: there are none, or the model has seen them.
    Already,
    /// The call runs, and this line goes before its result.
    With(String),
    /// The call is answered with what was hidden.
    First(Box<Outcome>),
}

impl Conversation {
    /// Shows what was hidden of a tool, if the model has not seen it and the call leaves any of it out. `waits`: a person is
    /// asked first, and should be asked about the call that the model means.
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
                "[{shown} has parameters that you were not shown, all optional and not given in this call: {}]",
                quoted_names(&hidden)
            ));
        }
        Shown::First(Box::new(self.show_first(current, resolved, &hidden)))
    }

    /// Answers a call with the definition that the model has not seen.
    fn show_first(&mut self, current: &CallInProgress<'_>, resolved: ResolvedTool<'_>, hidden: &[&str]) -> Outcome {
        let mut content = format!(
            "{} was not run yet: these of its parameters were not shown to you: {}. Call it again, changed or not.",
            resolved.shown,
            quoted_names(hidden)
        );
        // One answer to a message contains the definition. In a shared conversation that answer may have gone to another
        // client.
        let brought = !self.state.shared && !self.is_closed(resolved);
        let mut opened = Vec::new();
        if brought {
            content.push_str(" Its whole definition is in another answer to the same message.");
        } else {
            if self.arm().delivery() == Delivery::Append {
                content.push_str(APPENDED);
            } else {
                content.push_str("\nIts whole definition:\n");
                content.push_str(&definition(resolved.tool, resolved.shown));
            }
            opened.push(resolved.tool.name().clone());
            let by = Some(current.call.own.clone());
            self.record_event(Event::Expanded { by, categories: Vec::new(), tools: opened.clone() });
        }
        let answer = Answer::error(ReplyKind::Shown, content).opening(opened);
        self.give(current, Some(resolved.tool.name().as_str()), answer)
    }

    /// Whether the model had the tool's whole schema before it when it wrote the call: in the array, or in an answer to an
    /// earlier message.
    fn was_read(&self, resolved: ResolvedTool<'_>) -> bool {
        if !self.is_folded(resolved) {
            return true;
        }
        let category = self.engine.assignment().at(resolved.index).map_or("", |own| own.category.as_str());
        self.state.was_open(resolved.tool.name().as_str(), category, self.unread)
    }
}
