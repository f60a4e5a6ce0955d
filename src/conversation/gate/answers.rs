//! Answers that the gate gives by itself: to unknown tools, to arguments that do not fit, to empty wrappings.

use serde_json::Value;

use super::resolve::near;
use super::{Call, CallInProgress, CallKind, ResolvedTool};
use crate::catalog::Tool;
use crate::conversation::breaker::Nudge;
use crate::conversation::event::Event;
use crate::conversation::outcome::{OpenedTool, Outcome, Reply};
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::diagnostic::visible;
use crate::name::ToolName;
use crate::profile::{CALL_TOOL, Delivery, EXPAND_TOOLS, Naming, definition, definitions};
use crate::wire::{Answered, ExpansionAnswer, MetaRole};

/// How much of an unknown name is repeated, in characters.
const MAX_NAME_SHOWN: usize = 80;

/// Said instead of a definition that stands in a message behind the answers.
pub(super) const APPENDED: &str = "\nIts whole definition is in your tools from now on.";

impl Conversation {
    pub(super) fn bad_wrapping(&mut self, current: &CallInProgress<'_>, why: &str) -> Outcome {
        self.called(current, CALL_TOOL, CallKind::MetaTool);
        let name = current.call.name.as_str();
        let content = format!("{name}: {why}. Example: {{\"name\":\"TOOL\",\"arguments\":{{…}}}}");
        self.give(current, Some(CALL_TOOL), Answer::error(ReplyKind::Invalid, content))
    }

    pub(super) fn answer_unknown(&mut self, current: &CallInProgress<'_>, name: &str) -> Outcome {
        let (engine, bound) = (self.engine.clone(), self.bound.clone());
        let short: String = visible(name).chars().take(MAX_NAME_SHOWN).collect();
        let near = near(&engine, &bound.names, name);
        let mut content = format!("There is no tool named `{short}`.");
        let mut names: Vec<String> = Vec::with_capacity(near.len());
        for at in &near {
            if let Some(tool) = engine.catalog().at(*at) {
                names.push(format!("`{}`", bound.names.tool(*at, tool.name().as_str())));
            }
        }
        match names.split_last() {
            None => {}
            Some((only, [])) => content.push_str(&format!(" Did you mean {only}?")),
            Some((last, rest)) => content.push_str(&format!(" Did you mean {} or {last}?", rest.join(", "))),
        }
        if !self.presentation().deferred().is_empty() {
            content.push_str(&format!(" {} lists more.", bound.names.meta(MetaRole::Expand)));
        }
        self.called(current, &short, CallKind::Unknown);
        let nudge = self.state.breaker.on_unknown();
        if nudge != Nudge::None {
            content.push_str("\nSeveral tools in a row were unknown. Call only tools that you were shown.");
        }
        if nudge == Nudge::Schemas && !near.is_empty() {
            content.push('\n');
            content.push_str(&definitions(engine.catalog(), self.arm(), near, &*bound.names));
        }
        let kind = if nudge == Nudge::None { ReplyKind::UnknownTool } else { ReplyKind::Loop };
        self.give(current, None, Answer::error(kind, content))
    }

    /// Answers a call whose arguments do not fit: each error, and the whole schema unless the model has it.
    pub(super) fn invalid(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        errors: &[String],
    ) -> Outcome {
        let mut content = format!("{} was not run: its arguments do not fit.", resolved.shown);
        for error in errors {
            content.push_str("\n- ");
            content.push_str(error);
        }
        let nudge = self.state.breaker.on_failure(current.digest);
        let opens = self.is_closed(resolved);
        if nudge != Nudge::None {
            content
                .push_str("\nThis same call has failed before. Change the arguments as said above, or go another way.");
        }
        if opens && self.arm().delivery() == Delivery::Append {
            content.push_str(APPENDED);
        } else if opens || nudge == Nudge::Schemas {
            content.push_str("\nIts whole definition:\n");
            content.push_str(&definition(resolved.tool, resolved.shown));
        }
        let opened = if opens { vec![resolved.tool.name().clone()] } else { Vec::new() };
        if opens {
            let by = Some(current.call.own.clone());
            self.record_event(Event::Expanded { by, categories: Vec::new(), tools: opened.clone() });
        }
        let kind = if nudge == Nudge::None { ReplyKind::Invalid } else { ReplyKind::Loop };
        let answer = Answer::error(kind, content).opening(opened);
        self.give(current, Some(resolved.tool.name().as_str()), answer)
    }

    /// Records an answer and gives it.
    pub(super) fn give(&mut self, current: &CallInProgress<'_>, target: Option<&str>, answer: Answer) -> Outcome {
        self.record_event(Event::Answered { id: current.call.own.clone(), answer: answer.clone() });
        Outcome::Reply(self.reply(current.call, target, answer))
    }

    /// The reply that carries an answer; `target` is the catalogue's name of the tool that the call refers to.
    pub(super) fn reply(&self, call: &Call, target: Option<&str>, answer: Answer) -> Reply {
        Reply {
            id: call.host_id(),
            label: call.label(),
            name: call.name.clone(),
            target: target.map(str::to_owned),
            opened: answer.opened.iter().filter_map(|name| self.opened_tool(name)).collect(),
            activation: None,
            context: self.context(),
            wire: self.wire(),
            native: self.native_answer(call, target, &answer),
            additions: self.additions(&answer.opened),
            answer,
        }
    }

    /// Under arm `native` an expansion is answered as the provider wants it: with references to the deferred tools
    /// (Anthropic), or with their whole definitions as the result of the search (OpenAI Responses). What has to be read
    /// stands beside it as text.
    fn native_answer(&self, call: &Call, target: Option<&str>, answer: &Answer) -> Option<Vec<Value>> {
        // A stored result may be that of a tool with the name of a meta-tool.
        let expands = target == Some(EXPAND_TOOLS) && answer.kind != ReplyKind::Finished;
        if !expands || self.arm().delivery() != Delivery::Native {
            return None;
        }
        self.wire().expansion(&ExpansionAnswer {
            call: Answered { id: call.label().as_str(), name: &call.name },
            catalog: self.engine.catalog(),
            presentation: self.presentation(),
            names: &self.bound.names,
            mentioned: &answer.mentioned,
            content: &answer.content,
            notes: &answer.notes,
        })
    }

    /// A tool as an answer opened it.
    pub(super) fn opened_tool(&self, name: &ToolName) -> Option<OpenedTool> {
        let tool: &Tool = self.engine.catalog().get(name.as_str())?;
        Some(OpenedTool {
            name: self.bound.names.tools.sent(name.as_str()).to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters_shared(),
        })
    }
}
