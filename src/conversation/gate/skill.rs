//! `activate_skill` in the gate.

use std::sync::Arc;

use super::{Call, CallInProgress, CallKind};
use crate::conversation::breaker::Nudge;
use crate::conversation::event::Event;
use crate::conversation::outcome::{Outcome, PolicyMark, Refuse, Reply, Resumed};
use crate::conversation::reload::renew_for;
use crate::conversation::{Answer, ApprovalId, Conversation, ReplyKind};
use crate::engine::{ACTIVATE_SKILL, Checked, Engine, Exact, JudgedSkill, PolicyLayer, SkillLayer};
use crate::policy::{ApprovalError, Decision};
use crate::skill::{self, ActivateRequest, ActiveSet, ActiveSkill, Caller};
use crate::wire::Arguments;

/// What policy decided on an activation, and why.
type Decided = (PolicyMark, String);

impl Conversation {
    /// Judges a call of `activate_skill`. Policy decides on the name of the skill, before its text
    /// is read. `checked`: the result of the check if a skill's own tool was called.
    pub(super) fn judge_skill(&mut self, current: &CallInProgress<'_>, checked: Option<Checked>) -> Outcome {
        self.called(current, ACTIVATE_SKILL, CallKind::MetaTool);
        let nudge = self.state.breaker.on_meta();
        if let Some(request) = current.arguments.value().ok().and_then(|value| ActivateRequest::from_json(value).ok()) {
            renew_for(self, &request);
        }
        let engine = self.engine.clone();
        let invalid = match checked {
            Some(Checked::Invalid(errors)) => errors,
            _ => Vec::new(),
        };
        let asked = match (current.arguments.value(), engine.skills()) {
            (Ok(_), Some(_)) if !invalid.is_empty() => Err(invalid.join("; ")),
            (Ok(value), Some(layer)) => {
                ActivateRequest::from_json(value).map(|request| (layer, request)).map_err(|why| why.to_string())
            }
            (Err(why), _) => Err(format!("invalid JSON: {why}")),
            (Ok(_), None) => Err("no skills are available".to_owned()),
        };
        let (layer, mut request) = match asked {
            Ok(asked) => asked,
            Err(why) => {
                let answer = self.nudged(Answer::error(ReplyKind::Invalid, why), nudge);
                return self.give(current, Some(ACTIVATE_SKILL), answer);
            }
        };
        let mut decided = None;
        if let Some(mut skill) = layer.judged(&request, Caller::Model) {
            if self.state.approved_skills.contains(&skill.selected_by) {
                skill.asks = None;
            }
            match engine.policy() {
                Some(policy) => match permit(self, current, policy, &skill) {
                    Ok(by_policy) => decided = Some(by_policy),
                    Err(outcome) => return *outcome,
                },
                None if skill.asks.is_some() => return wait_for_host(self, current, &skill.selected_by),
                None => {}
            }
        }
        request.approved = true;
        Outcome::Reply(answer_request(self, current, layer, &request, nudge, decided))
    }

    /// Approves a skill for the rest of the conversation, for a host without a policy. A rule that
    /// asks still asks.
    pub fn approve_skill(&mut self, name: &str) {
        self.record_event(Event::SkillApproved { name: name.to_owned() });
    }

    /// The active skills, whose texts a compaction by the host must preserve.
    #[must_use]
    pub fn active_skills(&self) -> &ActiveSet {
        &self.state.active
    }
}

/// Whether policy permits an activation now; otherwise the outcome of the call.
fn permit(
    conversation: &mut Conversation,
    current: &CallInProgress<'_>,
    policy: &PolicyLayer,
    skill: &JudgedSkill,
) -> Result<Decided, Box<Outcome>> {
    let (call, recalling) = (current.call, conversation.recalling);
    let exact = Exact { value: &skill.arguments, text: None };
    loop {
        let call_ref = conversation.call_ref(&call.own, &call.identity);
        let judged = policy.judge_call(skill, &skill.arguments, &call_ref, &[], recalling);
        let reason = judged.verdict.reason();
        match judged.verdict.decision {
            Decision::Deny => return Err(Box::new(conversation.forbid(current, policy, skill.into(), exact, &judged))),
            Decision::Allow => return Ok((PolicyMark::Allow, reason)),
            Decision::AllowAudited if recalling => return Ok((PolicyMark::AllowAudited, reason)),
            Decision::AllowAudited => match policy.let_go(skill, &exact, &call_ref, &judged) {
                Ok(_) => return Ok((PolicyMark::AllowAudited, reason)),
                // Another call was counted meanwhile, so one of the two has made progress.
                Err(ApprovalError::Raced) => {}
                Err(why) => {
                    let reason = format!("its audit record could not be written: {why}");
                    return Err(Box::new(conversation.refuse(call, skill.into(), &reason)));
                }
            },
            // The files of a skill that a person let the model read are part of it.
            Decision::Confirm if reads_active(conversation, skill) => return Ok((PolicyMark::Confirm, reason)),
            Decision::Confirm => {
                return match conversation.ask_first(current, policy, skill.into(), exact, judged) {
                    Some(outcome) => Err(Box::new(outcome)),
                    None => Ok((PolicyMark::Confirm, reason)),
                };
            }
        }
    }
}

/// Whether a request reads a file of a skill that is active with its current text.
fn reads_active(conversation: &Conversation, skill: &JudgedSkill) -> bool {
    let active = conversation.state.active.get(&skill.selected_by);
    skill.arguments.get("path").is_some() && active.is_some_and(|active| active.hash.as_str() == skill.hash)
}

/// Ends the text of a file whose skill is active with an older text.
const CHANGED: &str = "\n(This skill has changed since it was activated. Activate it again for its current text.)";

/// Whether a request is about a skill that is active with another text than its current one.
fn has_changed(conversation: &Conversation, layer: &SkillLayer, request: &ActivateRequest) -> bool {
    let Some(skill) = layer.judged(request, Caller::Model) else { return false };
    let active = conversation.state.active.get(&skill.selected_by);
    active.is_some_and(|active| active.hash.as_str() != skill.hash)
}

/// The skill of a call that waits for approval, and the stored request.
pub(super) fn waiting(
    engine: &Engine,
    policy: &PolicyLayer,
    approval: &ApprovalId,
) -> Option<(ActivateRequest, JudgedSkill)> {
    let stored = policy.waiting(approval.as_str()).ok()?.request;
    let mut request = ActivateRequest::from_json(&stored.arguments).ok()?;
    if let Some(copy) = stored.arguments.get("copy").and_then(serde_json::Value::as_str) {
        request.name = copy.to_owned();
    }
    let skill = engine.skills()?.judged(&request, Caller::Model)?;
    Some((request, skill))
}

/// Answers an approved call.
pub(super) fn resumed(
    conversation: &mut Conversation,
    call: &Call,
    approval: &ApprovalId,
    layer: &SkillLayer,
    mut request: ActivateRequest,
) -> Resumed {
    let nothing = Arguments::from_text("");
    let current = CallInProgress { call, arguments: &nothing, digest: "", retried: false, asks_anew: false };
    let decided = Some((PolicyMark::Confirm, format!("approved as {approval}")));
    request.approved = true;
    Resumed::Answered(answer_request(conversation, &current, layer, &request, Nudge::None, decided))
}

/// Answers a permitted request, and records what it activates.
fn answer_request(
    conversation: &mut Conversation,
    current: &CallInProgress<'_>,
    layer: &SkillLayer,
    request: &ActivateRequest,
    nudge: Nudge,
    decided: Option<Decided>,
) -> Reply {
    let read = if conversation.state.shared { ActiveSet::default() } else { conversation.state.read_skills() };
    let mut activation = None;
    let answer = match layer.answer(request, &read, conversation.id(), Caller::Model) {
        Err(why) => Answer::error(ReplyKind::Invalid, why.to_string()),
        Ok(skill::Answer::NeedsApproval { name }) => {
            Answer::error(ReplyKind::Invalid, format!("skill {name} requires approval"))
        }
        Ok(skill::Answer::Found(text)) => Answer::new(ReplyKind::Activated, text),
        Ok(skill::Answer::Resource(mut text)) => {
            if has_changed(conversation, layer, request) {
                text.push_str(CHANGED);
            }
            Answer::new(ReplyKind::Activated, text)
        }
        Ok(skill::Answer::Activated(active)) => {
            if !active.repeated {
                let (by, name) = (Some(current.call.own.clone()), active.name.clone());
                let skill = ActiveSkill::from(&*active);
                conversation.record_event(Event::Activated { by, caller: Caller::Model, name, skill });
            }
            let content = active.text.clone();
            activation = Some(active);
            Answer::new(ReplyKind::Activated, content)
        }
    };
    let answer = conversation.nudged(answer, nudge);
    conversation.record_event(Event::Answered { id: current.call.own.clone(), answer: answer.clone() });
    let mut reply = conversation.reply(current.call, Some(ACTIVATE_SKILL), answer);
    reply.activation = activation;
    if let Some((policy, reason)) = decided {
        (reply.context.policy, reply.context.reason) = (policy, Some(reason));
    }
    reply
}

/// Refuses a skill that requires approval until the host calls
/// [`approve_skill`](Conversation::approve_skill).
fn wait_for_host(conversation: &mut Conversation, current: &CallInProgress<'_>, skill: &str) -> Outcome {
    let reason = format!("skill {skill} requires approval");
    let content: Arc<str> = Arc::from(format!("{reason}. Ask the user, or continue without it."));
    let id = current.call.own.clone();
    conversation.record_event(Event::Refused { id, content: content.clone(), reason: reason.clone() });
    Outcome::Refuse(Refuse {
        id: current.call.host_id(),
        label: current.call.label(),
        name: current.call.name.clone(),
        target: ACTIVATE_SKILL.to_owned(),
        content,
        reason,
        context: conversation.context(),
        wire: conversation.wire(),
    })
}
