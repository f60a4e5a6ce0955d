//! Modes, and tools that are denied whatever their arguments.

use serde_json::json;
use toolfold::policy::{Annotations, Decision, PolicyScope, ToolOrigin};
use toolfold_testing::with;

use super::{context, of_user, policy, verdict};

const RECORDS: &str = "[tool.look]\ntier = \"read_only\"\n[tool.drop]\ntier = \"a\"\nwrites = []\n";

#[test]
fn audit_mode_allows_calls_and_records_the_decision() {
    use Decision::{Allow, AllowAudited, Confirm, Deny};
    let user = format!("deny = [\"wipe\"]\n[policy]\nmode = \"audit\"\n{RECORDS}");
    let policy = policy(&[(PolicyScope::User, &user), (PolicyScope::Managed, "deny = [\"format\"]")]);
    for (tool, decision, would_be) in [
        ("look", Allow, None),
        ("drop", AllowAudited, Some(Confirm)),
        ("wipe", AllowAudited, Some(Deny)),
        ("format", Deny, None),
    ] {
        let verdict = verdict(&policy, &context(), tool, &json!({}), &[]);
        assert_eq!((verdict.decision, verdict.would_be), (decision, would_be), "{tool}: {}", verdict.reason());
    }
}

/// Each half of what is left of a policy that is off holds without the other.
#[test]
fn managed_denies_and_protected_files_each_outlive_off() {
    let off = (PolicyScope::User, "deny = [\"save\"]\n[policy]\nmode = \"off\"\n[tool.save]\nwrites = [\"path\"]\n");
    let silent = (PolicyScope::User, "[policy]\nmode = \"off\"\n");
    let managed = (PolicyScope::Managed, "deny = [\"format\"]");
    let protected = context().with_protected(vec!["/work/policy.toml".to_owned()]);
    for (files, context, tool, path, expected) in [
        (vec![off], &protected, "save", "policy.toml", Decision::Deny),
        (vec![off], &protected, "save", "other", Decision::Allow),
        (vec![off], &context(), "save", "policy.toml", Decision::Allow),
        (vec![off, managed], &context(), "save", "policy.toml", Decision::Allow),
        (vec![off, managed], &context(), "format", "other", Decision::Deny),
        (vec![silent, managed], &context(), "format", "other", Decision::Deny),
        (vec![silent, managed], &context(), "save", "other", Decision::Allow),
        (vec![off, managed], &protected, "save", "policy.toml", Decision::Deny),
    ] {
        let verdict = verdict(&policy(&files), context, tool, &json!({ "path": path }), &[]);
        assert_eq!(verdict.decision, expected, "{files:?}: {tool} {path}: {}", verdict.reason());
    }
}

/// A tool that some call of might run is not hidden, and one that no call of can run is.
#[test]
fn only_what_no_arguments_could_allow_is_denied_outright() {
    const CLOSED: &str = "[policy]\ndefault = \"deny\"\n";
    let conditional = |condition: &str| format!("[[rule]]\ndecide = \"deny\"\ntool = \"wipe\"\n{condition}\n");
    for (text, tool, expected) in [
        ("deny = [\"wipe\"]".to_owned(), "wipe", true),
        ("deny = [\"wipe\"]".to_owned(), "other", false),
        ("ask = [\"wipe\"]".to_owned(), "wipe", false),
        ("allow = [\"wipe\"]".to_owned(), "wipe", false),
        (conditional(""), "wipe", true),
        (conditional("path = \"/etc/**\""), "wipe", false),
        (conditional("args = { op = \"all\" }"), "wipe", false),
        (conditional("annotations = { destructiveHint = true }"), "wipe", true),
        (conditional("annotations = { readOnlyHint = true }"), "wipe", false),
        // A family is every tool that is like it.
        ("deny = [\"Bash\"]\n[tool.sh]\nlike = \"Bash\"\ncommand = \"c\"".to_owned(), "sh", true),
        ("deny = [\"Bash(rm:*)\"]\n[tool.sh]\nlike = \"Bash\"\ncommand = \"c\"".to_owned(), "sh", false),
        ("deny = [\"Bash\"]\n[tool.sh]\nwrites = []".to_owned(), "sh", false),
        // Where nothing but an allow lets a tool run.
        (CLOSED.to_owned(), "wipe", true),
        (format!("ask = [\"wipe\"]\n{CLOSED}"), "wipe", false),
        (format!("deny = [\"Read(/etc/**)\"]\n{CLOSED}"), "wipe", true),
        (format!("allow = [\"other\"]\n{CLOSED}"), "wipe", true),
        (format!("allow = [\"wipe\"]\n{CLOSED}"), "wipe", false),
        (format!("allow = [\"wipe(op:list)\"]\n{CLOSED}"), "wipe", false),
        (format!("allow = [\"Read(src/**)\"]\n{CLOSED}[tool.show]\nlike = \"Read\"\n"), "show", false),
        (format!("{CLOSED}{RECORDS}"), "look", false),
        (format!("{CLOSED}{RECORDS}"), "drop", false),
        ("[policy]\ndefault = \"ask\"\n".to_owned(), "wipe", false),
        ("[policy]\ndefault = \"allow\"\n".to_owned(), "wipe", false),
        (RECORDS.to_owned(), "wipe", false),
        // A policy that only audits hides nothing.
        ("deny = [\"wipe\"]\n[policy]\nmode = \"audit\"".to_owned(), "wipe", false),
        ("[policy]\ndefault = \"deny\"\nmode = \"audit\"".to_owned(), "wipe", false),
        ("deny = [\"wipe\"]\n[policy]\nmode = \"off\"".to_owned(), "wipe", false),
    ] {
        let annotations = with!(Annotations::default(), destructive_hint = Some(true));
        let context = with!(context(), annotations = annotations);
        let outright = of_user(&text).denies_outright(tool, &ToolOrigin::Native, &context);
        assert_eq!(outright, expected, "{tool} under\n{text}");
    }
    for mode in ["audit", "off", "enforce"] {
        let user = format!("[policy]\nmode = \"{mode}\"");
        let policy = policy(&[(PolicyScope::User, &user), (PolicyScope::Managed, "deny = [\"wipe\"]")]);
        assert!(policy.denies_outright("wipe", &ToolOrigin::Native, &context()), "managed, in the mode {mode}");
    }
}
