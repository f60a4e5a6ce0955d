//! `activate_skill` in the gate.

use super::super::call::{Arguments, Call};
use super::super::event::Event;
use super::super::knowledge::Knowledge;
use super::super::outcome::{Outcome, Refusal, ReplyKind};
use super::super::{ACTIVATE_SKILL, Session};
use super::call_digest;
use crate::name::ToolName;
use crate::profile::ExpandRequest;
use crate::skill::{ActiveSet, ActiveSkill, Answer};

impl Session {
    /// Answers a call of `activate_skill`. What it says depends on the skills alone.
    pub(super) fn dispatch_activate(&mut self, call: &Call, knowledge: &Knowledge, arguments: &Arguments) -> Outcome {
        self.called(call, ACTIVATE_SKILL, &call_digest(ACTIVATE_SKILL, arguments), true);
        let approved = |name: &str| self.state.approved_skills.contains(name);
        let answer = match arguments {
            Arguments::Json(value) => knowledge.activate(value, &self.state.active, self.id(), approved),
            Arguments::Malformed { why, .. } => Err(format!("{ACTIVATE_SKILL}: the arguments are not JSON: {why}")),
        };
        let (content, activation) = match answer {
            Err(why) => return self.answer(call, Some(ACTIVATE_SKILL), ReplyKind::Invalid, why, Vec::new(), true),
            Ok(Answer::Resource(text) | Answer::Found(text)) => (text, None),
            Ok(Answer::NeedsApproval { name }) => return self.skill_waits(call, &name),
            Ok(Answer::Activated(activation)) => (activation.text.clone(), Some(activation)),
        };
        let mut opened = Vec::new();
        if let Some(activation) = &activation {
            let skill = ActiveSkill {
                hash: activation.hash.clone(),
                rendered: activation.rendered.clone(),
                scope: activation.scope,
            };
            self.record(Event::Activated { name: activation.name.clone(), skill });
            if knowledge.preloads() && !activation.categories.is_empty() {
                opened =
                    self.expand(&ExpandRequest { categories: activation.categories.clone(), tools: vec![] }).opened;
            }
        }
        let mut outcome = self.answer(call, Some(ACTIVATE_SKILL), ReplyKind::Activated, content, opened, false);
        if let Outcome::Reply(reply) = &mut outcome {
            reply.activation = activation;
        }
        outcome
    }

    /// A skill that asks first is refused until the host calls [`approve_skill`](Self::approve_skill).
    fn skill_waits(&mut self, call: &Call, skill: &str) -> Outcome {
        self.record(Event::Refused { id: call.id.clone() });
        let reason = format!("skill {skill} needs a person's yes first");
        let content = format!("{reason}. Ask the user, or go on without it.");
        let context = self.context();
        match ToolName::new(ACTIVATE_SKILL) {
            Ok(target) => {
                Outcome::Refuse(Refusal { id: call.id.clone(), target, content: content.into(), reason, context })
            }
            Err(_) => self.answer(call, Some(ACTIVATE_SKILL), ReplyKind::Invalid, content, Vec::new(), true),
        }
    }

    /// Notes that a person said yes to a skill that asks first, for the rest of the conversation.
    pub fn approve_skill(&mut self, name: &str) {
        self.record(Event::SkillApproved { name: name.to_owned() });
    }

    /// The skills that are active: a host's compaction keeps their texts.
    #[must_use]
    pub fn active_skills(&self) -> &ActiveSet {
        &self.state.active
    }
}
