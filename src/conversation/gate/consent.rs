//! Policy in the gate: audit records, approvals, and the resumption of approved calls.

use std::borrow::Cow;

use super::refusal::{refusal_for_now, refuse_because, settled_before, shown_subject};
use super::{Call, CallInProgress, ResolvedTool, skill};
use crate::catalog::Tool;
use crate::conversation::at_host::unreported_call;
use crate::conversation::event::Event;
use crate::conversation::outcome::{Confirm, Context, Outcome, PolicyMark, Resumed};
use crate::conversation::reload::renew_for;
use crate::conversation::state::Waiting;
use crate::conversation::{ApprovalId, CallError, CallId, CallIdentity, Conversation, ForwardNotes};
use crate::engine::{CallRef, Exact, Judged, PolicyLayer, Subject};
use crate::policy::{Approval, ApprovalError, ApprovalState, CallUndo, Decision};
use crate::wire::{Arguments, NUMBERED};

/// The maximum number of calls of a conversation that wait for approval at once.
const MAX_OPEN: usize = 20;

impl Conversation {
    /// The policy verdict on a call.
    pub(super) fn policy_verdict(
        &self,
        policy: &PolicyLayer,
        tool: &Tool,
        exact: Exact<'_>,
        current: &CallInProgress<'_>,
    ) -> Judged {
        let own = &current.call.own;
        let unreported = unreported_call(self, own, current.digest);
        let call_ref = CallRef { unreported, ..self.call_ref(own, &current.call.identity) };
        let skills = self.engine.skills();
        let approvals = skills.map(|skills| skills.pre_approvals(&self.state.active)).unwrap_or_default();
        policy.judge_call(tool, exact.value, &call_ref, &approvals, self.recalling)
    }

    /// Refuses a call that policy denies, and records the attempt. A failed record is ignored
    /// because nothing runs.
    pub(super) fn forbid(
        &mut self,
        current: &CallInProgress<'_>,
        policy: &PolicyLayer,
        subject: Subject<'_>,
        exact: Exact<'_>,
        judged: &Judged,
    ) -> Outcome {
        if !self.recalling {
            let call_ref = self.call_ref(&current.call.own, &current.call.identity);
            drop(policy.record_decision(subject, &exact, &call_ref, judged));
        }
        self.refuse(current.call, subject, &judged.verdict.reason())
    }

    /// A valid call that policy does not deny: it runs, runs with an audit record, or waits.
    pub(super) fn decided(
        &mut self,
        current: &CallInProgress<'_>,
        policy: &PolicyLayer,
        resolved: ResolvedTool<'_>,
        exact: Exact<'_>,
        notes: ForwardNotes,
        judged: Judged,
    ) -> Outcome {
        let (call, verdict) = (current.call, &judged.verdict);
        match verdict.decision {
            Decision::Deny => self.forbid(current, policy, resolved.tool.into(), exact, &judged),
            Decision::Allow => self.forward(current, resolved, notes.decided(PolicyMark::Allow, verdict)),
            Decision::AllowAudited => {
                let recorded = if self.recalling {
                    Ok(judged.undo.recalled())
                } else {
                    let call = self.call_ref(&call.own, &call.identity);
                    policy.let_go(resolved.tool, &exact, &call, &judged).map(Some)
                };
                match recorded {
                    Ok(undo) => {
                        let notes = notes.decided(PolicyMark::AllowAudited, verdict);
                        self.forward(current, resolved, ForwardNotes { undo, ..notes })
                    }
                    // Another call was counted after this one was judged. One of the two has made
                    // progress, so this ends.
                    Err(ApprovalError::Raced) => {
                        let judged = self.policy_verdict(policy, resolved.tool, exact, current);
                        self.decided(current, policy, resolved, exact, notes, judged)
                    }
                    Err(why) => {
                        let reason = format!("its audit record could not be written: {why}");
                        refuse_because(self, call, resolved.tool.into(), &reason, &why)
                    }
                }
            }
            Decision::Confirm => {
                let notes = notes.decided(PolicyMark::Confirm, verdict);
                // In a replay without an open approval, it was decided, and the host has the
                // outcome.
                let waits = self.ask_first(current, policy, resolved.tool.into(), exact, judged);
                waits.unwrap_or_else(|| self.forward(current, resolved, notes))
            }
        }
    }

    /// A valid call that requires approval: it waits, or continues with the decision on an
    /// identical call. `None` in a replay if the call does not wait.
    pub(super) fn ask_first(
        &mut self,
        current: &CallInProgress<'_>,
        policy: &PolicyLayer,
        subject: Subject<'_>,
        exact: Exact<'_>,
        judged: Judged,
    ) -> Option<Outcome> {
        let call = current.call;
        if let Some(outcome) = self.asked_already(current) {
            return Some(outcome);
        }
        if self.state.was_rejected(current.digest) {
            return Some(self.refuse(call, subject, "this exact call was rejected before"));
        }
        if !self.recalling && self.has_most_waiting(policy) {
            let reason = format!("{MAX_OPEN} calls already wait for approval; wait for a decision");
            return Some(self.refuse(call, subject, &reason));
        }
        let reason = judged.verdict.reason();
        let call_ref = self.call_ref(&call.own, &call.identity);
        let asked = if self.recalling {
            Ok(policy.asked_before(subject, &exact, &call_ref)?)
        } else {
            match asked_elsewhere(self, policy, subject, &exact, current) {
                Ok(None) => {
                    let once = !current.asks_anew && self.is_distinct(call);
                    policy.ask_approval(subject, &exact, &call_ref, judged.displayed, once)
                }
                Ok(Some(open)) => Ok(open),
                Err(why) => Err(why),
            }
        };
        let approval = match asked {
            Err(why) => {
                let reason = format!("the approval could not be requested: {why}");
                return Some(refuse_because(self, call, subject, &reason, &why));
            }
            Ok(approval) if !approval.state.is_open() => {
                return Some(self.refuse(call, subject, &settled_before(&approval)));
            }
            Ok(approval) => approval,
        };
        let id = ApprovalId::from(&approval.id);
        self.record_event(Event::Asked { id: call.own.clone(), approval: id.clone(), reason: reason.clone() });
        if approval.state == ApprovalState::Approved
            && !self.recalling
            && let Ok(resumed) = self.take_up(&id, call)
        {
            return Some(Outcome::from(resumed));
        }
        Some(Outcome::Confirm(self.confirm(call, subject, approval, reason)))
    }

    /// Whether the maximum number of calls waits for approval. Reads the store only if the state
    /// has that many.
    fn has_most_waiting(&self, policy: &PolicyLayer) -> bool {
        if self.state.pending.len() < MAX_OPEN {
            return false;
        }
        let mut open = 0;
        for id in self.state.pending.keys() {
            open += usize::from(policy.waiting(id.as_str()).is_ok_and(|stored| policy.is_open(&stored)));
        }
        open >= MAX_OPEN
    }

    /// Whether the call's identity is unique, even after the host restarts. It is not in a
    /// conversation without an id, for generated ids (they restart with the conversation), and if a
    /// forgotten call may have had the same label.
    fn is_distinct(&self, call: &Call) -> bool {
        let keyed = call.identity.key.is_some();
        !self.id().is_empty() && (keyed || !self.state.forgot && !call.label().id.as_str().starts_with(NUMBERED))
    }

    /// Whether the approval that a call waits for has expired. It is then void, and the call is
    /// judged again.
    pub(super) fn has_lapsed(&mut self, approval: &ApprovalId) -> bool {
        let engine = self.engine.clone();
        let Some(policy) = engine.policy() else { return false };
        let lapsed = policy.waiting(approval.as_str()).is_ok_and(|stored| policy.has_expired(&stored));
        if lapsed && self.state.pending.contains_key(approval) {
            self.record_event(Event::Expired { approval: approval.clone() });
        }
        lapsed
    }

    /// A later identical call of one that waits: it uses the same approval instead of requesting
    /// another.
    fn asked_already(&mut self, current: &CallInProgress<'_>) -> Option<Outcome> {
        let (approval, _) = self.state.pending.iter().find(|(_, waiting)| waiting.digest == current.digest)?;
        let approval = approval.clone();
        if !self.recalling && self.has_lapsed(&approval) {
            return None;
        }
        let waiting = self.state.pending.get(&approval)?;
        let (reason, id) = (waiting.reason.clone(), current.call.own.clone());
        if self.recalling {
            // A replay uses no approval; if the approval is open, this call waits for it too.
            let (engine, target) = (self.engine.clone(), waiting.target.clone());
            let (policy, tool) = (engine.policy()?, engine.catalog().get(&target)?);
            let stored = policy.waiting(approval.as_str()).ok().filter(|stored| policy.is_open(stored))?;
            self.record_event(Event::Asked { id, approval, reason: reason.clone() });
            return Some(Outcome::Confirm(self.confirm(current.call, tool.into(), stored, reason)));
        }
        let target = waiting.target.clone();
        // The later call waits for the same approval, and is the one that runs.
        self.record_event(Event::Asked { id, approval: approval.clone(), reason });
        match self.take_up(&approval, current.call) {
            Ok(resumed) => Some(Outcome::from(resumed)),
            // The approval is unchanged, so no other one is requested.
            Err(CallError::Store(why)) => {
                let engine = self.engine.clone();
                let tool = engine.catalog().get(&target)?;
                let refuse = refusal_for_now(self, current.call, tool.into(), &why);
                Some(Outcome::Refuse(refuse))
            }
            Err(_) => None,
        }
    }

    /// The outcome of a call that waits for approval.
    fn confirm(&self, call: &Call, subject: Subject<'_>, approval: Approval, reason: String) -> Confirm {
        let request = approval.request;
        let text = request.arguments_json.unwrap_or_else(|| request.arguments.to_string());
        let judged = Arguments::from_text(&text);
        let input = match subject {
            Subject::Tool(tool) => judged.input_of_judged(tool),
            Subject::Skill(_) => Cow::Borrowed(&judged),
        };
        let shown = shown_subject(self, subject).to_owned();
        Confirm {
            id: call.host_id(),
            label: call.label(),
            name: call.name.clone(),
            approval: ApprovalId::from(approval.id),
            target: subject.name(),
            arguments: input.value().cloned().unwrap_or(request.arguments),
            arguments_json: input.text().into_owned(),
            shown: request.displayed,
            context: Context { policy: PolicyMark::Confirm, reason: Some(reason.clone()), ..self.context() },
            reason,
            wire: self.wire(),
            shown_target: shown,
        }
    }

    /// The notes of an approved call.
    pub(super) fn approved(approval: &ApprovalId, undo: Option<CallUndo>) -> ForwardNotes {
        let reason = Some(format!("approved as {approval}"));
        ForwardNotes { policy: PolicyMark::Confirm, reason, undo, ..ForwardNotes::default() }
    }

    /// Resumes a call that waits for approval: the stored call is judged once more. The decision
    /// itself is made through an [`Approver`](crate::policy::Approver), which a conversation never
    /// holds.
    ///
    /// Returns [`Resumed::Run`], or [`Resumed::Answered`] for a skill, once. Returns
    /// [`Resumed::Waiting`] with the reason if the call still waits: it has no decision yet, the
    /// store cannot be written now, or another call that writes the same files has not ended.
    /// Returns [`Resumed::Refused`] if the call will never run: it was rejected, its approval was
    /// used or has expired, policy now forbids it, or its tool or the policy has changed.
    ///
    /// # Errors
    /// [`CallError::NotWaiting`] if no call of this conversation waits for this approval;
    /// [`CallError::Store`] if the store can be neither read nor written, so the call still waits.
    pub fn resume(&mut self, approval: &ApprovalId) -> Result<Resumed, CallError> {
        self.resume_call(approval, None).map(|(_, resumed)| resumed)
    }

    /// Like [`resume`](Self::resume), for the call remembered under `own` if it waits for this
    /// approval too, and otherwise for the call that requested it. Also returns the id under which
    /// the resumed call is remembered.
    pub(in crate::conversation) fn resume_call(
        &mut self,
        approval: &ApprovalId,
        own: Option<&CallId>,
    ) -> Result<(CallId, Resumed), CallError> {
        let waiting = self.state.pending.get(approval).ok_or_else(|| CallError::NotWaiting(approval.clone()))?;
        let own = own.unwrap_or(&waiting.id).clone();
        let call = match self.state.calls.get(&own) {
            Some(record) => Call::named(self, own, record.identity.clone(), record.name.clone()),
            None => Call::named(self, own, CallIdentity::default(), waiting.target.clone()),
        };
        let resumed = self.take_up(approval, &call)?;
        Ok((call.own, resumed))
    }

    /// Like [`resume`](Self::resume), for the call that will run: the one that requested approval,
    /// or a later identical one.
    pub(super) fn take_up(&mut self, approval: &ApprovalId, call: &Call) -> Result<Resumed, CallError> {
        if self.state.calls.get(&call.own).is_some_and(|record| record.meta)
            && let Some((request, _)) = self.engine.policy().and_then(|own| skill::waiting(&self.engine, own, approval))
        {
            renew_for(self, &request);
        }
        let engine = self.engine.clone();
        let (Some(waiting), Some(policy)) = (self.state.pending.get(approval).cloned(), engine.policy()) else {
            return Err(CallError::NotWaiting(approval.clone()));
        };
        let is_lookup = self.state.calls.get(&call.own).is_some_and(|record| record.meta);
        let skill = if is_lookup { skill::waiting(&engine, policy, approval) } else { None };
        let subject = match (&skill, engine.catalog().get(&waiting.target)) {
            (Some((_, skill)), _) => Subject::Skill(skill),
            (None, Some(tool)) if !is_lookup => Subject::Tool(tool),
            _ => return Err(CallError::ToolGone { approval: approval.clone(), target: waiting.target }),
        };
        let why = match policy.redeem(approval.as_str(), subject, &self.call_ref(&call.own, &call.identity)) {
            Ok((redeemed, undo)) => {
                let (id, undo) = (call.own.clone(), Some(undo));
                self.record_event(Event::Resumed { id, approval: approval.clone(), undo: undo.clone() });
                let tool = match (subject, &skill, engine.skills()) {
                    (Subject::Skill(_), Some((request, _)), Some(layer)) => {
                        return Ok(skill::resumed(self, call, approval, layer, request.clone()));
                    }
                    (Subject::Tool(tool), ..) => tool,
                    _ => return Err(CallError::ToolGone { approval: approval.clone(), target: waiting.target }),
                };
                self.begins(&call.own, tool);
                let notes = Self::approved(approval, undo);
                let request = redeemed.request;
                let text = request.arguments_json.unwrap_or_else(|| request.arguments.to_string());
                let judged = Arguments::from_text(&text);
                return Ok(Resumed::Run(self.forwarded(call, tool, &judged.input_of_judged(tool), notes)));
            }
            Err(why) => why,
        };
        let stored = policy.waiting(approval.as_str());
        let by_person = matches!(why, ApprovalError::Not { state: ApprovalState::Rejected, .. });
        let reason = match (&why, stored) {
            (ApprovalError::Not { state: ApprovalState::Pending, .. }, Ok(stored)) => {
                let reason = "no decision yet".to_owned();
                return Ok(Resumed::Waiting(self.confirm(call, subject, stored, reason)));
            }
            (ApprovalError::Store(_), Err(_)) => return Err(CallError::Store(why.to_string())),
            (ApprovalError::Store(_) | ApprovalError::NoSnapshot { passing: true, .. }, Ok(stored)) => {
                let reason = format!("it was not run: {why}");
                return Ok(Resumed::Waiting(self.confirm(call, subject, stored, reason)));
            }
            (ApprovalError::Not { state: ApprovalState::Rejected, .. }, Ok(stored)) => match stored.reason {
                Some(why) => format!("a person rejected it: {why}"),
                None => "a person rejected it".to_owned(),
            },
            _ => why.to_string(),
        };
        let refuse = self.refusal(call, subject, &reason);
        self.record_event(Event::Rejected {
            approval: approval.clone(),
            content: refuse.content.clone(),
            reason,
            by_person,
        });
        Ok(Resumed::Refused(refuse))
    }

    /// The calls that wait for approval, each with the id of its approval.
    pub fn pending(&self) -> impl Iterator<Item = (&ApprovalId, &Waiting)> {
        self.state.pending.iter()
    }
}

/// The open approval of an identical call that another process of the conversation requested.
fn asked_elsewhere(
    own: &Conversation,
    policy: &PolicyLayer,
    subject: Subject<'_>,
    exact: &Exact<'_>,
    current: &CallInProgress<'_>,
) -> Result<Option<Approval>, ApprovalError> {
    let call = current.call;
    // A call with the provider's id finds its approval by that id.
    let numbered = call.label().id.as_str().starts_with(NUMBERED);
    if !own.in_several_processes || own.id().is_empty() || !numbered || current.asks_anew {
        return Ok(None);
    }
    policy.open_for_identical(subject, exact, &own.call_ref(&call.own, &call.identity))
}
