//! A call that comes again with its message: it gets its answer, its stored result, its approval, or is forwarded again.

use super::consent::already_used;
use super::{Arrival, Call};
use crate::conversation::outcome::{Context, Outcome, PolicyMark, Refuse, Reply};
use crate::conversation::state::{Became, CallRecord};
use crate::conversation::{Answer, Conversation, ForwardNotes, ReplyKind};
use crate::engine::ACTIVATE_SKILL;
use crate::skill::{self, Activation, ActiveSet};
use crate::wire::Arguments;

impl Conversation {
    /// The outcome of a call that was judged before; `None` if it is to be judged anew.
    pub(super) fn again(&mut self, call: &Call, arguments: &Arguments, arrival: Arrival) -> Option<Outcome> {
        let CallRecord { target, became, .. } = self.state.calls.get(&call.own).cloned()?;
        match became {
            // The log ended while it was being judged: no outcome was given.
            Became::Judged => None,
            Became::Answered(answer) => {
                let known = (answer.kind != ReplyKind::UnknownTool).then_some(target.as_str());
                let reply = self.reply(call, known, answer);
                Some(Outcome::Reply(Reply { activation: self.activation(&target, arguments), ..reply }))
            }
            Became::Forwarded { ok: Some(true), .. } | Became::Resumed { ok: Some(true), .. } => {
                Some(self.finished_before(call, &target))
            }
            // Its host tries once more: that is another run, with a record and a copy of its own.
            Became::Forwarded { ok: Some(false), .. } => None,
            // Read from a transcript, and policy asks: whether it was approved is unknown.
            Became::Forwarded { notes, .. } if notes.policy == PolicyMark::Confirm => None,
            Became::Forwarded { notes, .. } => self.forward_again(call, &target, arguments, notes),
            Became::Resumed { approval, ok: Some(false), .. } => {
                let reason = format!("it was approved ({approval}), ran and failed; the approval is used");
                self.refuse_again(call, &target, &reason)
            }
            Became::Resumed { approval, undo, .. } if self.may_hand_over(call, arrival) => {
                self.forward_again(call, &target, arguments, Self::approved(&approval, undo))
            }
            Became::Resumed { approval, .. } => self.refuse_again(call, &target, &already_used(approval.as_str())),
            // `None` where the approval was used for a later call that is the same, or expired: this one is judged anew.
            Became::Waiting { approval, .. } if self.has_lapsed(&approval) => None,
            Became::Waiting { approval, .. } => self.take_up(&approval, call).ok().map(Outcome::from),
            Became::Refused { content, reason } => {
                let context = Context { policy: PolicyMark::Deny, reason: Some(reason.clone()), ..self.context() };
                let (id, label, name, wire) = (call.host_id(), call.label(), call.name.clone(), self.wire());
                Some(Outcome::Refuse(Refuse { id, label, name, target, content, reason, context, wire }))
            }
        }
    }

    /// Whether an approved call that has no result may be handed to its host once more: the host paused it, or asks in this
    /// process for a call that it has not reported.
    fn may_hand_over(&mut self, call: &Call, arrival: Arrival) -> bool {
        let paused = self.paused.shift_remove(&call.own);
        paused || arrival == Arrival::Single && self.in_flight.contains_key(&call.own)
    }

    /// The answer to a call that ran and was reported.
    fn finished_before(&self, call: &Call, target: &str) -> Outcome {
        let answer = match self.stored_result(&call.own) {
            Some(content) => Answer::new(ReplyKind::Finished, content),
            None => {
                let shown = self.bound.names.tools.sent(target);
                let content = format!("{shown} already ran for this call; its result is no longer stored.");
                Answer::error(ReplyKind::Finished, content)
            }
        };
        Outcome::Reply(self.reply(call, Some(target), answer))
    }

    fn refuse_again(&self, call: &Call, target: &str, reason: &str) -> Option<Outcome> {
        let engine = self.engine.clone();
        let tool = engine.catalog().get(target)?;
        Some(Outcome::Refuse(self.refusal(call, tool, reason)))
    }

    fn forward_again(&self, call: &Call, target: &str, arguments: &Arguments, notes: ForwardNotes) -> Option<Outcome> {
        let engine = self.engine.clone();
        // A tool that is gone since is unknown now, and judged so.
        let tool = engine.catalog().get(target)?;
        Some(Outcome::Forward(self.forwarded(call, tool, arguments, notes)))
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
