//! Policy decisions on skills outside a call of the model.

use serde_json::{Map, Value};

use super::judged::{CallRef, Exact, JudgedSkill};
use super::policy_layer::PolicyLayer;
use crate::catalog::{SkillRun, Tool};
use crate::policy::{Context, Decision, Effect, Grant, PolicyCall, Prepared, Reason, Verdict};

/// The verdict on a call. A script whose skill asks each time runs by no rule and no remembered
/// approval.
pub(super) fn decided(prepared: &Prepared<'_>, run: Option<&SkillRun>, grants: &[Grant], can_ask: bool) -> Verdict {
    match run.and_then(|run| run.asks.as_deref()) {
        Some(why) => prepared.decide(&[]).requiring_approval(why, can_ask),
        None => prepared.decide(grants),
    }
}

impl PolicyLayer {
    /// Whether a skill is denied in every conversation. It is then not listed, found or named.
    pub(crate) fn hides(&self, skill: &JudgedSkill) -> bool {
        let context = self.context_of(skill.into(), "").with_interactive(true);
        let (origin, name) = self.identity(skill.into());
        let call = PolicyCall::new(origin, name, &skill.arguments);
        self.policy.decide(&call, &context, &[]).decision == Decision::Deny
    }

    /// Whether the script that a tool runs is denied without input. The tool is then not offered.
    pub(super) fn denies_script(&self, tool: &Tool) -> bool {
        let Some(run) = tool.skill_run() else { return false };
        let context = self.context_of(tool.into(), "").with_interactive(true);
        let (origin, name) = self.identity(tool.into());
        let arguments = run.call(Value::Object(Map::new()));
        let call = PolicyCall::new(origin, name, &arguments);
        self.policy.decide(&call, &context, &[]).decision == Decision::Deny
    }

    /// Judges a skill that a person starts, and records it: a person who starts it has approved it.
    ///
    /// # Errors
    /// Why the skill may not be started.
    pub(crate) fn start_by_person(&self, skill: &JudgedSkill, conversation: &str) -> Result<(), String> {
        let layer = self.clone().context(Context::clone(&self.context).with_interactive(true));
        let call_ref = CallRef { conversation, own: "", label: "", message: None, unreported: None };
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
