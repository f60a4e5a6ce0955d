//! Pre-approvals: the calls that a skill asks to make without approval (`allowed-tools`), read as
//! rules.
//!
//! They are as narrow as a remembered approval must be, and weaker than any rule: where a rule asks
//! or denies, they change nothing.

use super::capability::Family;
use super::compact::compact;
use super::decision::{Decision, Effect, Verdict};
use super::grant::{Grant, GrantError, GrantScope};
use super::load::PolicyFile;
use super::policy_set::Policy;
use super::prepared::Prepared;
use super::rule::Rule;
use super::skill_run::SKILL_RUN;
use crate::diagnostic::{Diagnostic, Place, visible};

/// The tools whose purpose is the answer of a person. Source: the tools of Claude Code that
/// `allowed-tools` does not approve.
const ASKS_A_PERSON: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// The code of the warning about a request that approves nothing.
pub const NOT_APPROVED: &str = "not-approved";

/// Reads one entry of a skill's `allowed-tools` as an allow for its calls. `why` is the reason that
/// a decision gives; `place`: the skill's file.
///
/// # Errors
/// A warning with the reason if the entry is no rule, or covers more than an approval may remember:
/// every command, patterns of commands, all tools of a server, sub-agents, skills, scripts of
/// skills, and tools whose purpose is the answer of a person.
pub fn pre_approval(entry: &str, why: &str, place: &Place) -> Result<Rule, Diagnostic> {
    let refused = |why: &dyn std::fmt::Display| {
        let message = format!("`{}` of `allowed-tools` approves nothing: {why}", visible(entry));
        let help = "name one tool, or the first words of a command, as in `Bash(git add:*)`";
        Err(Diagnostic::warning(NOT_APPROVED, place.clone(), message).help(help))
    };
    let mut rule = match compact(Effect::Allow, entry, |_| None) {
        Ok(rule) => rule,
        Err(why) => return refused(&why),
    };
    let tool = rule.tool.identity().unwrap_or_default();
    if matches!(tool.as_str(), SKILL_RUN | "Agent" | "Task") || rule.family == Some(Family::Skill) {
        return refused(&"sub-agents, skills and scripts of skills are approved by a person or a rule");
    }
    if ASKS_A_PERSON.contains(&tool.as_str()) {
        return refused(&"the purpose of this tool is the answer of a person");
    }
    match Grant::from_rule(&rule, "", GrantScope::Always, "") {
        Ok(_) => {}
        // A pattern of paths, hosts or arguments is as narrow as it is written.
        Err(GrantError::Pattern(_)) if rule.command.is_none() && !tool.is_empty() => {}
        Err(why) => return refused(&why),
    }
    (rule.why, rule.place) = (Some(why.to_owned()), place.clone());
    Ok(rule)
}

/// As [`Prepared::decide`], with the pre-approvals of active skills: each allows what would ask
/// because no rule, tier or grant allows it. They do not lift the ask of a rule, a deny, a default
/// that denies, or what the floor requires.
pub fn decide_pre_approved(prepared: &Prepared<'_>, grants: &[Grant], approvals: &[Rule]) -> Verdict {
    let (verdict, policy) = (prepared.decide(grants), prepared.policy);
    if approvals.is_empty() || verdict.decision.runs() {
        return verdict;
    }
    // Where no one can approve, a call that asks is denied: what it asks is decided again.
    let would_be =
        if prepared.context.interactive { verdict.decision } else { policy.verdict(prepared, grants, true).decision };
    if would_be != Decision::Confirm {
        return verdict;
    }
    let tried = policy.with_more(approvals.to_vec()).verdict(prepared, grants, true);
    if tried.decision.runs() { tried } else { verdict }
}

impl Policy {
    /// The same policy with a further file of these rules.
    pub(super) fn with_more(&self, rules: Vec<Rule>) -> Self {
        let more = PolicyFile { rules, ..PolicyFile::default() };
        Self::new([self.files(), &[more]].concat()).with_mode(self.mode)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Context, History, PolicyCall, PolicyScope, ToolOrigin};

    const POLICY: &str = r#"
ask = ["Bash(git push:*)"]
deny = ["Bash(git reset:*)"]
[tool.shell]
like = "Bash"
command = "command"
[tool.note]
tier = "a"
"#;

    fn decided(policy: &str, entries: &[&str], origin: &ToolOrigin, tool: &str, arguments: &Value) -> Verdict {
        let file = PolicyFile::load(policy, "policy.toml", PolicyScope::User).into_result().unwrap();
        let policy = Policy::new(vec![file]);
        let place = Place::file("SKILL.md");
        let rules: Vec<Rule> =
            entries.iter().map(|entry| pre_approval(entry, "skill `x` asks for it", &place).unwrap()).collect();
        let context = Context::default().with_cwd("/work").with_home("/home/ada");
        let prepared = policy.prepare(PolicyCall::new(origin, tool, arguments), &context, None, History::default());
        decide_pre_approved(&prepared, &[], &rules)
    }

    #[cfg(feature = "shell")]
    #[track_caller]
    fn command(entries: &[&str], line: &str, decision: Decision) {
        let verdict = decided(POLICY, entries, &ToolOrigin::Native, "shell", &json!({ "command": line }));
        assert_eq!(verdict.decision, decision, "{line}: {}", verdict.reason());
    }

    /// The context cannot ask, so that what is not approved is denied.
    #[cfg(feature = "shell")]
    #[test]
    fn an_entry_approves_what_it_names_and_no_more() {
        let add = &["Bash(git add:*)"];
        command(add, "git add src/main.rs", Decision::AllowAudited);
        command(add, "git add .; git commit -m x", Decision::Deny);
        command(add, "git add $(rm -rf x)", Decision::Deny);
        command(add, "git commit -m x", Decision::Deny);
        command(&["Bash(git add:*)", "Bash(git commit:*)"], "git add . && git commit -m x", Decision::AllowAudited);
        // A rule asks or denies: no skill changes that.
        command(&["Bash(git push:*)"], "git push origin main", Decision::Deny);
        command(&["Bash(git reset:*)"], "git reset --hard", Decision::Deny);
        // The floor: what the policy protects, and what reads as the person's side.
        command(&["Bash(toolfold approvals:*)"], "toolfold approvals accept 1", Decision::Deny);
        command(&["Bash(./run.sh:*)"], "./run.sh now", Decision::AllowAudited);
    }

    #[test]
    fn tools_are_matched_by_identity_and_family() {
        let none = json!({});
        let (native, other) = (ToolOrigin::Native, ToolOrigin::Mcp("other".to_owned()));
        let note = |entries: &[&str], origin| decided(POLICY, entries, origin, "note", &none).decision;
        assert_eq!(note(&["note"], &native), Decision::AllowAudited);
        assert_eq!(note(&["notes"], &native), Decision::Deny);
        assert_eq!(note(&["note"], &other), Decision::Deny);
        assert_eq!(note(&["mcp__other__note"], &other), Decision::AllowAudited);
        let edit = |file: &str| {
            let arguments = json!({ "file_path": file, "content": "x" });
            decided(POLICY, &["Write(docs/**)"], &native, "Write", &arguments).decision
        };
        assert_eq!(edit("/work/docs/a.md"), Decision::AllowAudited);
        assert_eq!(edit("/work/src/a.rs"), Decision::Deny);
        // A default of deny is a deny.
        let strict = "[policy]\ndefault = \"deny\"\n";
        assert_eq!(decided(strict, &["note"], &native, "note", &none).decision, Decision::Deny);
        let reason = decided(POLICY, &["note"], &native, "note", &none).reason();
        assert!(reason.contains("skill `x` asks for it") && reason.contains("`note`"), "{reason}");
    }

    #[test]
    fn what_is_too_broad_is_refused_with_the_reason() {
        for entry in [
            "Bash",
            "Bash(*)",
            "Bash(git:*)",
            "Bash(bash:*)",
            "Bash(git * main)",
            "Bash(sudo ls:*)",
            "Bash(python3:*)",
            "*",
            "mcp__files",
            "mcp__files__*",
            "get_*",
            "Task",
            "Agent(reviewer)",
            "Skill",
            "Skill(pdf)",
            "SkillRun",
            "SkillRun(report)",
            "AskUserQuestion",
            "Bash(",
            "",
        ] {
            let refused = pre_approval(entry, "why", &Place::default()).expect_err(entry);
            assert_eq!(refused.code, NOT_APPROVED);
            assert!(refused.message.starts_with(&format!("`{entry}` of `allowed-tools` approves nothing: ")));
        }
    }
}
