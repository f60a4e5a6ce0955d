//! The gate's own answers: to unknown tools, invalid arguments and calls of `call_tool` without a
//! target.

use serde_json::Value;

use super::resolve::{near, only_match, shown_name};
use super::suggest::{Misnamed, Suggest, now_call, one_line};
use super::{Call, CallInProgress, CallKind, ResolvedTool};
use crate::catalog::Tool;
use crate::conversation::breaker::Nudge;
use crate::conversation::event::Event;
use crate::conversation::outcome::{OpenedTool, Outcome, Reply};
use crate::conversation::repair::is_parallel;
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::diagnostic::visible;
use crate::name::ToolName;
use crate::profile::{CALL_TOOL, Delivery, EXPAND_TOOLS, definitions};
use crate::wire::{Answered, ExpansionAnswer, MetaRole, Named};

/// The maximum number of characters of an unknown name that an answer repeats.
const MAX_NAME_SHOWN: usize = 80;

/// Replaces a definition that the message after the answers contains.
pub(super) const APPENDED: &str = "\nIts full definition is now in your tools.";

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
        let folds = !self.presentation().deferred.is_empty();
        let mut content = format!("Unknown tool `{short}`.");
        let (mut suggested, mut tools) = (None, Vec::new());
        if is_parallel(name) {
            content = format!("`{short}` is not a tool: make each call separately.");
            suggested = Suggest::of(self).inner_calls(current.arguments);
        } else if let Some(only) = only_match(&engine, &bound.names, name) {
            let shown = shown_name(&engine, &bound.names, Named::Tool(only));
            content.push_str(&format!(" Did you mean `{shown}`?"));
            suggested =
                one_line(current.arguments).map(|arguments| Suggest::of(self).repeat_line(current, shown, &arguments));
            tools.push(only);
        } else {
            let mut names = Vec::new();
            for named in near(&engine, &bound.names, name, folds) {
                names.push(format!("`{}`", shown_name(&engine, &bound.names, named)));
                if let Named::Tool(index) = named {
                    tools.push(index);
                }
            }
            match names.split_last() {
                None => {}
                Some((only, [])) => content.push_str(&format!(" Did you mean {only}?")),
                Some((last, rest)) => content.push_str(&format!(" Did you mean {} or {last}?", rest.join(", "))),
            }
            if folds {
                content.push_str(&format!(" {} lists more.", bound.names.meta(MetaRole::Expand)));
            }
        }
        self.called(current, &short, CallKind::Unknown);
        let nudge = self.state.breaker.on_unknown();
        if nudge != Nudge::None {
            content.push_str("\nSeveral unknown tools in a row. Call only tools you have been shown.");
        }
        if nudge == Nudge::Schemas && !tools.is_empty() {
            content.push('\n');
            content.push_str(&definitions(engine.catalog(), self.arm(), tools, &*bound.names));
        }
        content.push_str(&suggested.unwrap_or_default());
        let kind = if nudge == Nudge::None { ReplyKind::UnknownTool } else { ReplyKind::Loop };
        self.give(current, None, Answer::error(kind, content))
    }

    /// Answers a call with invalid arguments: lists each error, and adds the full schema unless the
    /// model has it.
    pub(super) fn invalid(
        &mut self,
        current: &CallInProgress<'_>,
        resolved: ResolvedTool<'_>,
        errors: &[String],
    ) -> Outcome {
        let mut content = format!("{} was not run: invalid arguments.", resolved.shown);
        for error in errors {
            content.push_str("\n- ");
            content.push_str(error);
        }
        let nudge = self.state.breaker.on_failure(current.digest);
        let opens = self.is_closed(resolved);
        let mut opened = Vec::new();
        if nudge != Nudge::None {
            content.push_str(
                "\nThis exact call has failed before. Fix the arguments listed above or use another approach.",
            );
        }
        if opens {
            opened = self.add_definition(current, resolved, &mut content);
        } else if nudge == Nudge::Schemas {
            resolved.add_definition_to(&mut content, &self.engine);
        }
        if opens {
            content.push_str(&now_call(resolved.shown));
        }
        let value = current.arguments.value().ok();
        let misnamed = value.and_then(|value| Misnamed::of(resolved.tool.parameters(), value));
        let nearest = Suggest::of(self).nearest_call(resolved, current.arguments, misnamed.as_ref());
        if let Some(arguments) = nearest {
            content.push_str(&Suggest::of(self).repeat_line(current, resolved.shown, &arguments));
        }
        let kind = if nudge == Nudge::None { ReplyKind::Invalid } else { ReplyKind::Loop };
        let answer = Answer::error(kind, content).opening(opened);
        self.give(current, Some(resolved.tool.name().as_str()), answer)
    }

    /// Records an answer and returns it.
    pub(super) fn give(&mut self, current: &CallInProgress<'_>, target: Option<&str>, answer: Answer) -> Outcome {
        self.record_event(Event::Answered { id: current.call.own.clone(), answer: answer.clone() });
        Outcome::Reply(self.reply(current.call, target, answer))
    }

    /// The reply with an answer. `target` is the catalog name of the tool.
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

    /// With arm `native`, an expansion is answered in the provider's format: references to the
    /// deferred tools (Anthropic), or their full definitions as the search result (OpenAI
    /// Responses). Notes for the model are added as text.
    fn native_answer(&self, call: &Call, target: Option<&str>, answer: &Answer) -> Option<Vec<Value>> {
        // The stored result may belong to a tool that has the name of a meta-tool.
        let expands = target == Some(EXPAND_TOOLS) && answer.kind != ReplyKind::Finished;
        if !expands || self.arm().delivery() != Delivery::Native {
            return None;
        }
        self.wire().expansion(&ExpansionAnswer {
            call: Answered { id: call.label().id.as_str(), name: &call.name },
            catalog: self.engine.catalog(),
            presentation: self.presentation(),
            names: &self.bound.names,
            mentioned: &answer.mentioned,
            content: &answer.content,
            notes: &answer.notes,
        })
    }

    /// An opened tool with its full schema.
    pub(super) fn opened_tool(&self, name: &ToolName) -> Option<OpenedTool> {
        let tool: &Tool = self.engine.catalog().get(name.as_str())?;
        Some(OpenedTool {
            name: self.bound.names.tools.sent(name.as_str()).to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters_shared(),
        })
    }
}
