//! `expand_tools` in the gate.

use super::answers::Answer;
use super::{Judging, Kind};
use crate::conversation::breaker::Nudge;
use crate::conversation::outcome::Outcome;
use crate::conversation::{Conversation, ReplyKind};
use crate::profile::{EXPAND_TOOLS, ExpandRequest, Expansion, Naming, definitions};
use crate::wire::MetaRole;

impl Conversation {
    pub(super) fn judge_expand(&mut self, judging: &Judging<'_>) -> Outcome {
        self.called(judging, EXPAND_TOOLS, Kind::Meta);
        let read = judging.arguments.value().map_err(|why| format!("the arguments are not JSON: {why}"));
        let request = read.and_then(|value| ExpandRequest::from_arguments(value).map_err(|why| why.to_string()));
        let (answer, kind) = match request {
            Ok(request) => {
                let expansion = self.open(Some(&judging.call.own), &request);
                (Self::expanded_answer(&expansion), ReplyKind::Expanded)
            }
            Err(why) => (self.malformed_answer(&why), ReplyKind::Invalid),
        };
        let nudge = self.state.breaker.on_meta();
        let (answer, kind) = self.nudged(answer, kind, nudge);
        self.give(judging, Some(EXPAND_TOOLS), kind, answer)
    }

    fn expanded_answer(expansion: &Expansion) -> Answer {
        Answer {
            content: expansion.reply.clone(),
            notes: expansion.notes.clone(),
            opened: expansion.opened.clone(),
            mentioned: expansion.mentioned.clone(),
            failed: expansion.mentioned.is_empty() && !expansion.unknown.is_empty(),
        }
    }

    fn malformed_answer(&self, why: &str) -> Answer {
        let names = &self.bound.names;
        let entries = self.presentation().deferred().iter();
        let categories: Vec<&str> = entries.map(|entry| names.category(entry.category.as_str())).collect();
        let content = format!("{}: {why}. Categories: {}", names.meta(MetaRole::Expand), categories.join(", "));
        Answer { notes: content.clone(), content, failed: true, ..Answer::default() }
    }

    /// What the loop breaker adds to the answer to a look-up.
    pub(super) fn nudged(&self, mut answer: Answer, kind: ReplyKind, nudge: Nudge) -> (Answer, ReplyKind) {
        if nudge == Nudge::None {
            return (answer, kind);
        }
        let mut said = "You have looked things up several times without calling a tool. Call one now.".to_owned();
        let again = answer.mentioned.iter().filter(|name| !answer.opened.contains(name));
        let again: Vec<usize> = again.filter_map(|name| self.engine.catalog().position(name.as_str())).collect();
        if nudge == Nudge::Schemas && !again.is_empty() {
            said.push('\n');
            said.push_str(&definitions(self.engine.catalog(), self.arm(), again, &*self.bound.names));
        }
        for text in [&mut answer.content, &mut answer.notes] {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&said);
        }
        (answer, ReplyKind::Loop)
    }
}
