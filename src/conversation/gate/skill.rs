//! `activate_skill` in the gate.

use std::sync::Arc;

use super::{CallInProgress, CallKind};
use crate::conversation::event::Event;
use crate::conversation::outcome::{Outcome, Refuse};
use crate::conversation::{Answer, Conversation, ReplyKind};
use crate::engine::ACTIVATE_SKILL;
use crate::profile::ExpandRequest;
use crate::skill::{self, ActiveSet, ActiveSkill};

impl Conversation {
    /// Answers a call of `activate_skill`. Apart from the loop breaker, the answer depends on the
    /// skills alone.
    pub(super) fn judge_skill(&mut self, current: &CallInProgress<'_>) -> Outcome {
        self.called(current, ACTIVATE_SKILL, CallKind::MetaTool);
        let nudge = self.state.breaker.on_meta();
        let engine = self.engine.clone();
        let approved = |name: &str| self.state.approved_skills.contains(name);
        let answer = match (current.arguments.value(), engine.skills()) {
            (Ok(value), Some(skills)) => {
                let unread = ActiveSet::default();
                let read = if self.state.shared { &unread } else { &self.state.active };
                skills.activate(value, read, self.id(), approved)
            }
            (Err(why), _) => Err(format!("invalid JSON: {why}")),
            (Ok(_), None) => Err("no skills are available".to_owned()),
        };
        let (content, activation) = match answer {
            Err(why) => {
                let answer = self.nudged(Answer::error(ReplyKind::Invalid, why), nudge);
                return self.give(current, Some(ACTIVATE_SKILL), answer);
            }
            Ok(skill::Answer::Resource(text) | skill::Answer::Found(text)) => (text, None),
            Ok(skill::Answer::NeedsApproval { name }) => return self.skill_waits(current, &name),
            Ok(skill::Answer::Activated(activation)) => (activation.text.clone(), Some(activation)),
        };
        let mut opened = Vec::new();
        if let Some(activation) = activation.as_ref().filter(|activation| !activation.repeated) {
            let skill = ActiveSkill::from(&**activation);
            let (by, name) = (current.call.own.clone(), activation.name.clone());
            self.record_event(Event::Activated { by, name, skill });
            let preloads = engine.skills().is_some_and(crate::engine::SkillLayer::preloads);
            if preloads && !activation.categories.is_empty() {
                let request = ExpandRequest { categories: activation.categories.clone(), ..ExpandRequest::default() };
                opened = self.open_requested(Some(&current.call.own), &request).opened;
            }
        }
        let answer = self.nudged(Answer::new(ReplyKind::Activated, content).opening(opened), nudge);
        let mut outcome = self.give(current, Some(ACTIVATE_SKILL), answer);
        if let Outcome::Reply(reply) = &mut outcome {
            reply.activation = activation;
        }
        outcome
    }

    /// Refuses a skill that requires approval until the host calls
    /// [`approve_skill`](Self::approve_skill).
    fn skill_waits(&mut self, current: &CallInProgress<'_>, skill: &str) -> Outcome {
        let reason = format!("skill {skill} requires approval");
        let content: Arc<str> = Arc::from(format!("{reason}. Ask the user, or continue without it."));
        let id = current.call.own.clone();
        self.record_event(Event::Refused { id, content: content.clone(), reason: reason.clone() });
        Outcome::Refuse(Refuse {
            id: current.call.host_id(),
            label: current.call.label(),
            name: current.call.name.clone(),
            target: ACTIVATE_SKILL.to_owned(),
            content,
            reason,
            context: self.context(),
            wire: self.wire(),
        })
    }

    /// Approves a skill for the rest of the conversation.
    pub fn approve_skill(&mut self, name: &str) {
        self.record_event(Event::SkillApproved { name: name.to_owned() });
    }

    /// The active skills, whose texts a compaction by the host must preserve.
    #[must_use]
    pub fn active_skills(&self) -> &ActiveSet {
        &self.state.active
    }
}
