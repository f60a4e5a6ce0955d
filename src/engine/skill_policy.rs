//! Policy decisions on skills outside a call of the model.

use serde_json::{Map, Value};

use super::judged::{CallRef, Exact, JudgedSkill};
use super::policy_layer::PolicyLayer;
use crate::catalog::{SkillRun, Tool};
use crate::diagnostic::{Diagnostic, Place, visible};
use crate::policy::{
    Context, Decision, Effect, Grant, NOT_APPROVED, PolicyCall, Prepared, Reason, Rule, Verdict, decide_pre_approved,
    pre_approval,
};
use crate::skill::Skill;

/// The calls that a skill asks to make without approval, as rules, and what of it is refused. The
/// placeholder of its folder is replaced.
pub(super) fn pre_approvals(skill: &Skill) -> (Vec<Rule>, Vec<Diagnostic>) {
    let (place, folder) = (Place::file(&skill.origin.file.to_string_lossy()), skill.origin.folder.to_string_lossy());
    let why = format!("skill `{}` is active, and its `allowed-tools` name this call", visible(skill.name()));
    let (mut rules, mut refused) = (Vec::new(), Vec::new());
    for entry in &skill.fields().allowed_tools {
        let resolved = FOLDER.iter().fold(entry.clone(), |text, name| text.replace(name, &folder));
        // In a rule, a blank ends a word, and `*` matches any text.
        let is_plain = |c: char| c.is_alphanumeric() || "/_-.+@".contains(c);
        let read = if resolved != *entry && !folder.chars().all(is_plain) {
            let message =
                format!("`{entry}` of `allowed-tools` approves nothing: rules cannot name the skill's folder");
            let help = "move the skill to a folder without blanks and special characters in its path";
            Err(Diagnostic::warning(NOT_APPROVED, place.clone(), message).help(help))
        } else {
            pre_approval(&resolved, &why, &place)
        };
        match read {
            Ok(rule) => rules.push(rule),
            Err(why) => refused.push(why),
        }
    }
    (rules, refused)
}

/// The placeholders of a skill's folder.
const FOLDER: [&str; 2] = ["${CLAUDE_SKILL_DIR}", "${SKILL_DIR}"];

/// The verdict on a call. A script whose skill asks each time runs by no rule and no remembered
/// approval.
pub(super) fn decided(
    prepared: &Prepared<'_>,
    run: Option<&SkillRun>,
    grants: &[Grant],
    approvals: &[Rule],
    can_ask: bool,
) -> Verdict {
    match run.and_then(|run| run.asks.as_deref()) {
        Some(why) => prepared.decide(&[]).requiring_approval(why, can_ask),
        None => decide_pre_approved(prepared, grants, approvals),
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
        let mut judged = layer.judge_call(skill, &skill.arguments, &call_ref, &[], false);
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
