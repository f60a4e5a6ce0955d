//! `SkillRun`: the tool with which toolfold runs the script of a skill. Rules select the skill:
//! `SkillRun(report)`, or `tool = "SkillRun"` with `target = "report"`.

use super::capability::{PolicyTier, ToolCapability};

/// The name of the tool in rules, approvals and the audit trail.
pub const SKILL_RUN: &str = "SkillRun";

/// The record of the tool: a script is code that a person should see first.
pub(super) fn record() -> ToolCapability {
    ToolCapability {
        tier: Some(PolicyTier::A),
        target: Some("skill".to_owned()),
        why: Some("it runs the script of a skill".to_owned()),
        ..ToolCapability::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

    #[track_caller]
    fn decides(policy: &str, skill: &str, decision: Decision) {
        let file = PolicyFile::load(policy, "policy.toml", PolicyScope::User).into_result().unwrap();
        let policy = Policy::new(vec![file]);
        assert_eq!(policy.unmatched(), []);
        let arguments = json!({"skill": skill, "script": "scripts/execute.js", "input": {"file": "a.csv"}});
        let context = Context::default().with_interactive(true);
        let call = PolicyCall::new(&ToolOrigin::Native, super::SKILL_RUN, &arguments);
        assert_eq!(policy.decide(&call, &context, &[]).decision, decision, "{policy:?} {skill}");
    }

    #[test]
    fn running_is_tier_a_and_rules_select_the_skill() {
        decides("", "report", Decision::Confirm);
        decides("[policy]\ndefault = \"allow\"", "report", Decision::Confirm);
        decides("allow = [\"SkillRun(report)\"]", "report", Decision::AllowAudited);
        decides("allow = [\"SkillRun(report)\"]", "reports", Decision::Confirm);
        decides("allow = [\"SkillRun(acme:*)\"]", "acme:report", Decision::AllowAudited);
        decides("allow = [\"SkillRun\"]\ndeny = [\"SkillRun(rep*)\"]", "report", Decision::Deny);
        let table = |effect| format!("[[rule]]\ndecide = \"{effect}\"\ntool = \"SkillRun\"\ntarget = \"report\"\n");
        decides(&table("allow"), "report", Decision::AllowAudited);
        decides(&table("deny"), "report", Decision::Deny);
        decides(&table("deny"), "other", Decision::Confirm);
        decides("deny = [\"*\"]", "report", Decision::Deny);
    }
}
