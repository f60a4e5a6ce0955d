//! A call that was made before: the same id with the same arguments gives the same outcome again.

use super::{Call, Passing};
use crate::conversation::outcome::{Context, Outcome, PolicyMark, Refuse, Reply};
use crate::conversation::state::{Became, CallRecord};
use crate::conversation::{CallError, Conversation};
use crate::engine::ACTIVATE_SKILL;
use crate::policy::CallUndo;
use crate::skill::{self, Activation, ActiveSet};
use crate::wire::Arguments;

impl Conversation {
    /// The outcome of the call of that id, if it was made before.
    pub(super) fn again(
        &mut self,
        call: &Call,
        arguments: &Arguments,
        digest: &str,
    ) -> Result<Option<Outcome>, CallError> {
        let Some(record) = self.state.calls.get(&call.id).filter(|_| !self.recalling).cloned() else { return Ok(None) };
        if record.digest != digest {
            return Err(CallError::IdReused { id: call.id.clone(), before: record.name, now: call.name.clone() });
        }
        let CallRecord { target, became, .. } = record;
        Ok(match became {
            // It was being judged when the log ended: nothing was said of it.
            Became::Judged => None,
            Became::Answered { kind, content, failed, notes, opened, mentioned } => {
                let named = Some(target.clone()).filter(|_| kind != super::ReplyKind::UnknownTool);
                let reply = Reply {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    target: named.clone(),
                    kind,
                    content,
                    opened: opened.iter().filter_map(|name| self.opened_tool(name)).collect(),
                    is_error: failed,
                    activation: self.activation(&target, arguments),
                    context: self.context(),
                    wire: self.wire(),
                    native: None,
                    additions: self.additions(&opened),
                };
                Some(Outcome::Reply(self.with_native(reply, named.as_deref(), &mentioned, &notes)))
            }
            // Remembered out of a message array, and policy asks: whether it was ever approved, nobody knows.
            Became::Forwarded { policy: PolicyMark::Confirm, .. } => None,
            Became::Forwarded { unchecked, note, policy, reason, undo, .. } => {
                let context = Context { policy, reason, ..self.context() };
                self.forward_again(call, &target, arguments, Passing { unchecked, note }, context, undo)
            }
            Became::Resumed { approval, undo, .. } => {
                let context = self.approved(&approval);
                self.forward_again(call, &target, arguments, Passing::default(), context, undo)
            }
            // None where the approval was taken up for a later call that is the same: this one is judged anew.
            Became::Waiting { approval, .. } => self.take_up(&approval, &call.id, &call.name).ok().map(Outcome::from),
            Became::Refused { content, reason } => {
                let context = Context { policy: PolicyMark::Deny, reason: Some(reason.clone()), ..self.context() };
                let (id, name, wire) = (call.id.clone(), call.name.clone(), self.wire());
                Some(Outcome::Refuse(Refuse { id, name, target, content, reason, context, wire }))
            }
        })
    }

    fn forward_again(
        &self,
        call: &Call,
        target: &str,
        arguments: &Arguments,
        passing: Passing,
        context: Context,
        undo: Option<CallUndo>,
    ) -> Option<Outcome> {
        let engine = self.engine.clone();
        // A tool that is gone since is unknown now, and judged so.
        let tool = engine.catalog().get(target)?;
        Some(Outcome::Forward(self.forwarded(call, tool, arguments, passing, context, undo)))
    }

    /// What the host keeps of an activated skill, as the first answer gave it.
    fn activation(&self, target: &str, arguments: &Arguments) -> Option<Box<Activation>> {
        let skills = self.engine.skills().filter(|_| target == ACTIVATE_SKILL)?;
        match skills.activate(arguments.value().ok()?, &ActiveSet::default(), self.id(), |_| true) {
            Ok(skill::Answer::Activated(activation)) => Some(activation),
            _ => None,
        }
    }
}
