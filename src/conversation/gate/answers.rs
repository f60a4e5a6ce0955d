//! Answers that the gate gives by itself: to unknown tools, to arguments that do not fit, to empty wrappings.

use std::sync::Arc;

use super::resolve::near;
use super::{Judging, Kind, Meant};
use crate::catalog::Tool;
use crate::conversation::breaker::Nudge;
use crate::conversation::event::Event;
use crate::conversation::outcome::{OpenedTool, Outcome, Reply, developer_note, references};
use crate::conversation::{Conversation, ReplyKind};
use crate::diagnostic::visible;
use crate::name::ToolName;
use crate::profile::{CALL_TOOL, Delivery, EXPAND_TOOLS, Naming, definition, definitions};
use crate::wire::{MetaRole, Wire, search_output};

/// How much of an unknown name is repeated, in characters.
const MAX_NAME_SHOWN: usize = 80;

/// Said instead of a definition that stands in a message behind the answers.
pub(super) const APPENDED: &str = "\nIts whole definition is in your tools from now on.";

/// What an answer consists of.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) content: String,
    /// What a provider with native deferral reads beside its references.
    pub(super) notes: String,
    pub(super) opened: Vec<ToolName>,
    pub(super) mentioned: Vec<ToolName>,
    pub(super) failed: bool,
}

impl Conversation {
    pub(super) fn bad_wrapping(&mut self, judging: &Judging<'_>, why: &str) -> Outcome {
        self.called(judging, CALL_TOOL, Kind::Meta);
        let name = judging.call.name.as_str();
        let content = format!("{name}: {why}. Example: {{\"name\":\"TOOL\",\"arguments\":{{…}}}}");
        self.answer_with(judging, Some(CALL_TOOL), ReplyKind::Invalid, content, true)
    }

    pub(super) fn unknown(&mut self, judging: &Judging<'_>, name: &str) -> Outcome {
        let (engine, bound) = (self.engine.clone(), self.bound.clone());
        let short: String = visible(name).chars().take(MAX_NAME_SHOWN).collect();
        let near = near(&engine, &bound.names, name);
        let shown = |at: &usize| Some(bound.names.tool(*at, engine.catalog().at(*at)?.name().as_str()));
        let mut content = format!("There is no tool named `{short}`.");
        let names: Vec<String> = near.iter().filter_map(shown).map(|name| format!("`{name}`")).collect();
        match names.split_last() {
            None => {}
            Some((only, [])) => content.push_str(&format!(" Did you mean {only}?")),
            Some((last, rest)) => content.push_str(&format!(" Did you mean {} or {last}?", rest.join(", "))),
        }
        if !self.presentation().deferred().is_empty() {
            content.push_str(&format!(" {} lists more.", bound.names.meta(MetaRole::Expand)));
        }
        self.called(judging, &short, Kind::Unknown);
        let nudge = self.state.breaker.on_unknown();
        if nudge != Nudge::None {
            content.push_str("\nSeveral tools in a row were unknown. Call only tools that you were shown.");
        }
        if nudge == Nudge::Schemas && !near.is_empty() {
            content.push('\n');
            content.push_str(&definitions(engine.catalog(), self.arm(), near, &*bound.names));
        }
        let kind = if nudge == Nudge::None { ReplyKind::UnknownTool } else { ReplyKind::Loop };
        self.answer_with(judging, None, kind, content, true)
    }

    /// Answers a call whose arguments do not fit: each error, and the whole schema unless the model has it.
    pub(super) fn invalid(&mut self, judging: &Judging<'_>, meant: Meant<'_>, errors: &[String]) -> Outcome {
        let mut content = format!("{} was not run: its arguments do not fit.", meant.shown);
        for error in errors {
            content.push_str("\n- ");
            content.push_str(error);
        }
        let nudge = self.state.breaker.on_failure(judging.digest);
        let opens = self.is_closed(meant);
        if nudge != Nudge::None {
            content
                .push_str("\nThis same call has failed before. Change the arguments as said above, or go another way.");
        }
        if opens && self.arm().delivery() == Delivery::Append {
            content.push_str(APPENDED);
        } else if opens || nudge == Nudge::Schemas {
            content.push_str("\nIts whole definition:\n");
            content.push_str(&definition(meant.tool, meant.shown));
        }
        let opened = if opens { vec![meant.tool.name().clone()] } else { Vec::new() };
        if opens {
            let by = Some(judging.call.own.clone());
            self.record(Event::Expanded { by, categories: Vec::new(), tools: opened.clone() });
        }
        let kind = if nudge == Nudge::None { ReplyKind::Invalid } else { ReplyKind::Loop };
        let answer = Answer { content, mentioned: opened.clone(), opened, failed: true, ..Answer::default() };
        self.give(judging, Some(meant.tool.name().as_str()), kind, answer)
    }

    pub(super) fn answer_with(
        &mut self,
        judging: &Judging<'_>,
        target: Option<&str>,
        kind: ReplyKind,
        content: String,
        failed: bool,
    ) -> Outcome {
        self.give(judging, target, kind, Answer { content, failed, ..Answer::default() })
    }

    /// Records an answer and gives it.
    pub(super) fn give(
        &mut self,
        judging: &Judging<'_>,
        target: Option<&str>,
        kind: ReplyKind,
        answer: Answer,
    ) -> Outcome {
        let Answer { content, notes, opened, mentioned, failed } = answer;
        let content: Arc<str> = Arc::from(content);
        let event = Event::Answered {
            id: judging.call.own.clone(),
            kind,
            content: content.clone(),
            failed,
            notes: notes.clone(),
            opened: opened.clone(),
            mentioned: mentioned.clone(),
        };
        self.record(event);
        let reply = Reply {
            id: judging.call.id(),
            label: judging.call.label(),
            name: judging.call.name.clone(),
            target: target.map(str::to_owned),
            kind,
            content,
            opened: opened.iter().filter_map(|name| self.opened_tool(name)).collect(),
            is_error: failed,
            activation: None,
            context: self.context(),
            wire: self.wire(),
            native: None,
            additions: self.additions(&opened),
        };
        Outcome::Reply(self.with_native(reply, target, &mentioned, &notes))
    }

    /// Under arm `native` an expansion is answered as the provider wants it: with references to the deferred tools
    /// (Anthropic), or with their whole definitions as the result of the search (OpenAI Responses). What has to be read
    /// stands beside it as text.
    pub(super) fn with_native(
        &self,
        mut reply: Reply,
        target: Option<&str>,
        mentioned: &[ToolName],
        notes: &str,
    ) -> Reply {
        let expands = self.arm().delivery() == Delivery::Native && target == Some(EXPAND_TOOLS);
        let names = &self.bound.names;
        reply.native = match self.wire() {
            Wire::OpenAiResponses if expands && reply.name == names.meta(MetaRole::Expand) => {
                let (engine, presentation) = (&self.engine, self.presentation());
                let id = reply.label.as_str();
                let found =
                    search_output(engine.catalog(), presentation, &names.tools, &names.namespaces, id, mentioned);
                // Where nothing was found, the whole answer is what has to be read.
                let said = if mentioned.is_empty() { &*reply.content } else { notes };
                let note = (!said.is_empty()).then(|| developer_note(said));
                Some(std::iter::once(found).chain(note).collect())
            }
            Wire::Anthropic if expands && !mentioned.is_empty() => {
                let shown: Vec<&str> = mentioned.iter().map(|name| names.tools.sent(name.as_str())).collect();
                Some(references(&reply.label, &shown, notes))
            }
            _ => None,
        };
        reply
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
