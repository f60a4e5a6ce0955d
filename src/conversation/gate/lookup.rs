//! `expand_tools` in the gate.

use std::sync::Arc;

use super::{CallInProgress, CallKind};
use crate::conversation::breaker::Nudge;
use crate::conversation::outcome::Outcome;
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::profile::{EXPAND_TOOLS, ExpandRequest, Expansion, Naming, definitions};
use crate::wire::MetaRole;

impl Conversation {
    pub(super) fn judge_expand(&mut self, current: &CallInProgress<'_>) -> Outcome {
        self.called(current, EXPAND_TOOLS, CallKind::MetaTool);
        let request = match current.arguments.value() {
            Ok(value) => ExpandRequest::from_arguments(value).map_err(|why| why.to_string()),
            Err(why) => Err(format!("invalid JSON: {why}")),
        };
        let answer = match request {
            Ok(request) => expanded_answer(self.open_requested(Some(&current.call.own), &request)),
            Err(why) => self.malformed_answer(&why),
        };
        let answer = self.nudged(answer, self.state.breaker.on_meta());
        self.give(current, Some(EXPAND_TOOLS), answer)
    }

    fn malformed_answer(&self, why: &str) -> Answer {
        let names = &self.bound.names;
        let entries = self.presentation().deferred.iter();
        let categories: Vec<&str> = entries.map(|entry| names.category(entry.category.as_str())).collect();
        let content = format!("{}: {why}. Categories: {}", names.meta(MetaRole::Expand), categories.join(", "));
        Answer { notes: content.clone(), ..Answer::error(ReplyKind::Invalid, content) }
    }

    /// The answer to a lookup with the loop breaker's addition.
    pub(super) fn nudged(&self, answer: Answer, nudge: Nudge) -> Answer {
        if nudge == Nudge::None {
            return answer;
        }
        let catalog = self.engine.catalog();
        let mut added = "Several lookups in a row without a tool call. Call a tool now.".to_owned();
        let again = answer.mentioned.iter().filter(|name| !answer.opened.contains(name));
        let again: Vec<usize> = again.filter_map(|name| catalog.position(name.as_str())).collect();
        if nudge == Nudge::Schemas && !again.is_empty() {
            added.push('\n');
            added.push_str(&definitions(catalog, self.arm(), again, &*self.bound.names));
        }
        Answer {
            kind: ReplyKind::Loop,
            content: Arc::from(with_line(&answer.content, &added)),
            notes: with_line(&answer.notes, &added),
            ..answer
        }
    }
}

fn with_line(text: &str, added: &str) -> String {
    if text.is_empty() { added.to_owned() } else { format!("{text}\n{added}") }
}

fn expanded_answer(expansion: Expansion) -> Answer {
    let Expansion { reply, notes, opened, mentioned, unknown, .. } = expansion;
    let failed = mentioned.is_empty() && !unknown.is_empty();
    Answer { kind: ReplyKind::Expanded, content: Arc::from(reply), failed, notes, opened, mentioned }
}
