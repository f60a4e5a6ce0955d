//! Calls of tools whose parameters the model has not been shown.
//!
//! A call that omits hidden parameters is valid and runs, but may not do what was intended, and no
//! check can detect that. So hidden parameters are shown once: a read-only call runs, and its
//! result lists them; any other call, and any that requires approval, is answered once with the
//! full definition and runs when it is repeated.
//!
//! JSON Schema accepts arguments with names that the tool does not have. If the real names were
//! hidden, the model invented them: the call is answered once as a mistake. Otherwise it runs, and
//! a line before its result names them.

use super::answers::APPENDED;
use super::suggest::{Misnamed, Suggest, now_call, now_call_other};
use super::{CallInProgress, ResolvedTool};
use crate::conversation::error::quoted_names;
use crate::conversation::event::Event;
use crate::conversation::outcome::Outcome;
use crate::conversation::{Answer, Conversation, ForwardNotes, ReplyKind};
use crate::engine::Blind;
use crate::name::ToolName;
use crate::profile::Delivery;
use crate::wire::MetaRole;

/// How hidden parameters and unknown arguments are handled.
pub(super) enum Shown {
    /// There are none, or the model has seen them.
    Already,
    /// The call runs, and a line precedes its result.
    With(ForwardNotes),
    /// The call is answered first.
    First(Box<Outcome>),
}

impl Conversation {
    /// Shows the hidden parameters of a tool if the model has not seen them and the call omits any,
    /// and reports arguments that the tool does not have. `runs`: the tool is read-only and the
    /// call needs no approval, which should be for the intended call.
    pub(super) fn show_hidden(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        runs: bool,
    ) -> Shown {
        let ResolvedTool { index, tool, shown } = resolved;
        if self.engine.blind() == Blind::Forward {
            return Shown::Already;
        }
        let was_read = self.was_read(resolved) || self.state.is_named(tool.name().as_str());
        let mut hidden = if was_read { Vec::new() } else { self.presentation().hidden_parameters(index, tool) };
        let value = current.arguments.value().ok();
        if let Some(misnamed) = value.and_then(|value| Misnamed::of(tool.parameters(), value)) {
            if !hidden.is_empty() {
                let expand = self.bound.meta_parameters(MetaRole::Expand);
                let expand = expand.map(|parameters| (self.bound.names.meta(MetaRole::Expand), parameters));
                let copied = expand.and_then(|expand| misnamed.copied(shown, expand));
                let mut mistake = format!("{shown} was not run: {}", copied.unwrap_or_else(|| misnamed.text("it")));
                let (engine, bound) = (self.engine.clone(), self.bound.clone());
                let suggest = Suggest::new(&engine, &bound.names);
                let other = suggest.intended_tool(self.presentation(), resolved, current.arguments, &misnamed);
                if let Some((other, parameters)) = other.filter(|(other, _)| self.is_closed(*other)) {
                    mistake.truncate(mistake.trim_end_matches('.').len());
                    mistake.push_str(&format!("; {} has {parameters}.", other.shown));
                    let opened = self.add_definition(current, other, &mut mistake);
                    mistake.push_str(&now_call_other(other.shown));
                    let answer = Answer::error(ReplyKind::Invalid, mistake).opening(opened);
                    return Shown::First(Box::new(self.give(current, Some(tool.name().as_str()), answer)));
                }
                let repeated = Suggest::of(self).nearest_call(resolved, current.arguments, Some(&misnamed));
                return self.answer_first(current, resolved, ReplyKind::Invalid, mistake, repeated);
            }
            if self.state.was_noted(current.digest) {
                return Shown::Already;
            }
            return Shown::With(ForwardNotes {
                note: Some(format!("[{}]", misnamed.text(shown))),
                about_unknown: true,
                ..ForwardNotes::default()
            });
        }
        if let Some(value) = value {
            hidden.retain(|name| value.get(name).is_none());
        }
        if hidden.is_empty() {
            return Shown::Already;
        }
        if runs {
            let names = quoted_names(&hidden);
            let note = format!("[{shown} has optional parameters that you have not seen and did not set: {names}]");
            return Shown::With(ForwardNotes { note: Some(note), ..ForwardNotes::default() });
        }
        let first = format!("{shown} was not run yet: you had not seen its definition.");
        // The call is not repeated here: a model would copy it, and leave out again what it had
        // not seen.
        self.answer_first(current, resolved, ReplyKind::Shown, first, None)
    }

    /// Answers a call with what is wrong, the definition that the model has not seen, and the call
    /// to make.
    fn answer_first(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        kind: ReplyKind,
        mut content: String,
        repeated: Option<String>,
    ) -> Shown {
        let shown = resolved.shown;
        // One answer to each message contains the definition. In a shared conversation that answer
        // may have gone to another client.
        let opened = if !self.state.shared && !self.is_closed(resolved) {
            content.push_str("\nIts full definition is in another result of this message.");
            Vec::new()
        } else {
            self.add_definition(current, resolved, &mut content)
        };
        content.push_str(&now_call(shown));
        if let Some(arguments) = repeated {
            content.push_str(&Suggest::of(self).repeat_line(current, shown, &arguments));
        }
        let answer = Answer::error(kind, content).opening(opened);
        Shown::First(Box::new(self.give(current, Some(resolved.tool.name().as_str()), answer)))
    }

    /// Adds the full definition of a tool to an answer, which opens it.
    pub(super) fn add_definition(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        content: &mut String,
    ) -> Vec<ToolName> {
        if self.arm().delivery() == Delivery::Append {
            content.push_str(APPENDED);
        } else {
            resolved.add_definition_to(content, &self.engine);
        }
        let opened = vec![resolved.tool.name().clone()];
        let by = Some(current.call.own.clone());
        self.record_event(Event::Expanded { by, categories: Vec::new(), tools: opened.clone() });
        opened
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
