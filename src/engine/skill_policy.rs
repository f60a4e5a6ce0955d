//! Policy decisions on skills outside a call of the model.

use super::judged::{CallRef, Exact, JudgedSkill};
use super::policy_layer::PolicyLayer;
use crate::policy::{Context, Decision, Effect, PolicyCall, Reason};

impl PolicyLayer {
    /// Whether a skill is denied in every conversation. It is then not listed, found or named.
    pub(crate) fn hides(&self, skill: &JudgedSkill) -> bool {
        let context = self.context_of(skill.into(), "").with_interactive(true);
        let (origin, name) = self.identity(skill.into());
        let call = PolicyCall::new(origin, name, &skill.arguments);
        self.policy.decide(&call, &context, &[]).decision == Decision::Deny
    }

    /// Judges a skill that a person starts, and records it: a person who starts it has approved it.
    ///
    /// # Errors
    /// Why the skill may not be started.
    pub(crate) fn start_by_person(&self, skill: &JudgedSkill, conversation: &str) -> Result<(), String> {
        let layer = self.clone().context(Context::clone(&self.context).with_interactive(true));
        let call_ref = CallRef { conversation, own: "", label: "", message: None };
        let exact = Exact { value: &skill.arguments, text: None };
        let mut judged = layer.judge_call(skill, &skill.arguments, &call_ref, false);
        match judged.verdict.decision {
            Decision::Allow => return Ok(()),
            Decision::Deny => {
                drop(layer.record_decision(skill, &exact, &call_ref, &judged));
                return Err(judged.verdict.reason());
            }
            Decision::AllowAudited => {}
            Decision::Confirm => judged.verdict.decision = Decision::AllowAudited,
        }
        judged.verdict.reasons.insert(0, Reason::new(Effect::Allow, "a person started it"));
        let recorded = layer.record_decision(skill, &exact, &call_ref, &judged);
        recorded.map_err(|why| format!("its audit record could not be written: {why}"))
    }
}
