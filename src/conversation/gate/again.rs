//! Repeated calls: they get their answer, their stored result or their approval, or are forwarded
//! again.

use super::refusal::already_used;
use super::{Arrival, Call};
use crate::conversation::outcome::{Context, Outcome, PolicyMark, Refuse, Reply};
use crate::conversation::state::{Became, CallRecord};
use crate::conversation::{Answer, Conversation, ForwardNotes, ReplyKind};
use crate::engine::ACTIVATE_SKILL;
use crate::skill::{self, ActivateRequest, Activation, ActiveSet, Caller};
use crate::wire::Arguments;

impl Conversation {
    /// The outcome of a call that was judged before; `None` if it must be judged again.
    pub(super) fn again(&mut self, call: &Call, arguments: &Arguments, arrival: Arrival) -> Option<Outcome> {
        let CallRecord { target, became, .. } = self.state.calls.get(&call.own).cloned()?;
        if let Some(why) = has_run(self, call, &target, &became) {
            return self.refuse_again(call, &target, why);
        }
        match became {
            // The log ended while the call was being judged, so there was no outcome.
            Became::Judged => None,
            Became::Answered(answer) => {
                let known = (answer.kind != ReplyKind::UnknownTool).then_some(target.as_str());
                let reply = self.reply(call, known, answer);
                Some(Outcome::Reply(Reply { activation: activation(self, &target, arguments), ..reply }))
            }
            Became::Forwarded { ok: Some(true), .. } | Became::Resumed { ok: Some(true), .. } => {
                Some(self.finished_before(call, &target))
            }
            // The host retries it: another run, with its own audit record and snapshot.
            Became::Forwarded { ok: Some(false), .. } => None,
            // Read from a transcript, and policy requires approval: whether it was approved is
            // unknown.
            Became::Forwarded { notes, .. } if notes.policy == PolicyMark::Confirm => None,
            Became::Forwarded { notes, .. } => self.forward_again(call, &target, arguments, notes),
            Became::Resumed { approval, ok: Some(false), .. } => {
                let reason = format!("approval {approval} was already used: the call ran and failed");
                self.refuse_again(call, &target, &reason)
            }
            Became::Resumed { approval, undo, .. } if self.may_hand_over(call, arrival) => {
                self.forward_again(call, &target, arguments, Self::approved(&approval, undo))
            }
            Became::Resumed { approval, .. } => self.refuse_again(call, &target, &already_used(approval.as_str())),
            // The approval expired or was used by a later identical call: judge this call again.
            Became::Waiting { approval, .. } if self.has_lapsed(&approval) => None,
            Became::Waiting { approval, .. } => self.take_up(&approval, call).ok().map(Outcome::from),
            Became::Refused { content, reason } => {
                let context = Context { policy: PolicyMark::Deny, reason: Some(reason.clone()), ..self.context() };
                let (id, label, name, wire) = (call.host_id(), call.label(), call.name.clone(), self.wire());
                Some(Outcome::Refuse(Refuse { id, label, name, target, content, reason, context, wire }))
            }
        }
    }

    /// Whether an approved call without a result may be forwarded again: the host paused it, or
    /// repeats a call in this process that it has not reported.
    fn may_hand_over(&mut self, call: &Call, arrival: Arrival) -> bool {
        let paused = self.paused.shift_remove(&call.own);
        paused || arrival == Arrival::Single && self.in_flight.contains_key(&call.own)
    }

    /// The answer to a call that already ran and was reported.
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
        Some(Outcome::Refuse(self.refusal(call, tool.into(), reason)))
    }

    fn forward_again(&self, call: &Call, target: &str, arguments: &Arguments, notes: ForwardNotes) -> Option<Outcome> {
        let engine = self.engine.clone();
        // The tool may have been removed since; the call then counts as unknown.
        let tool = engine.catalog().get(target)?;
        Some(Outcome::Forward(self.forwarded(call, tool, &arguments.own_input(tool), notes)))
    }
}

/// Why a call is not repeated whose script was started before; `None` for other calls. The result
/// of one that succeeded is stored.
fn has_run(conversation: &Conversation, call: &Call, target: &str, became: &Became) -> Option<&'static str> {
    conversation.engine.catalog().get(target)?.skill_run()?;
    match became {
        Became::Forwarded { ok: Some(false), .. } | Became::Resumed { ok: Some(false), .. } => {
            Some("its script ran for this call and failed")
        }
        Became::Forwarded { ok: None, .. } | Became::Resumed { ok: None, .. }
            if conversation.in_flight.contains_key(&call.own) =>
        {
            Some("its script was started for this call and has not ended")
        }
        Became::Forwarded { ok: None, .. } | Became::Resumed { ok: None, .. } => {
            Some("its script was started for this call, and its outcome is unknown; check what it did")
        }
        _ => None,
    }
}

/// The activation of a skill, as in the first answer; `None` if the skill has changed since.
fn activation(conversation: &Conversation, target: &str, arguments: &Arguments) -> Option<Box<Activation>> {
    let skills = conversation.engine.skills().filter(|_| target == ACTIVATE_SKILL)?;
    let mut request = ActivateRequest::from_json(arguments.value().ok()?).ok()?;
    request.approved = true;
    match skills.answer(&request, &ActiveSet::default(), conversation.id(), Caller::Model).ok()? {
        skill::Answer::Activated(again) => {
            let first = conversation.state.active.get(&again.name);
            Some(again).filter(|again| first.is_none_or(|first| first.hash == again.hash))
        }
        _ => None,
    }
}
