//! What no call does, whatever allows it.

use serde_json::json;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

#[test]
fn no_call_approves_for_the_person() {
    let text = "allow = [\"Bash\"]\n[tool.Bash]\ncommand = \"command\"\ntier = \"read_only\"\n";
    let policy = Policy::new(vec![PolicyFile::load(text, "policy.toml", PolicyScope::Managed).into_result().unwrap()]);
    let context = Context { interactive: true, cwd: Some("/w".into()), ..Context::default() };
    for (command, wanted) in [
        ("toolfold approvals approve ap-1", Decision::Deny),
        ("toolfold approvals accept ap-1", Decision::Deny),
        ("bash -c 'toolfold approvals approve ap-1'", Decision::Deny),
        ("toolfold $WHAT approve", Decision::Deny),
        ("cargo run -- approvals approve ap-1", Decision::Deny),
        ("cargo run approvals approve ap-1", Decision::Deny),
        ("cargo r --release approvals accept ap-1", Decision::Deny),
        ("cargo run --example approvals", Decision::Allow),
        ("/usr/local/bin/toolfold approvals accept --session ap-1", Decision::Deny),
        ("ls; env X=1 timeout 5 toolfold approvals accept ap-1", Decision::Deny),
        ("bash -c 'toolfold approvals accept ap-1'", Decision::Deny),
        ("echo ap-1 | xargs toolfold approvals accept", Decision::Deny),
        ("toolfold approvals $WHAT ap-1", Decision::Deny),
        ("toolfold $WHAT accept", Decision::Deny),
        ("cargo run --release -- approvals accept ap-1", Decision::Deny),
        ("toolfold session --store /s/store.db", Decision::Deny),
        ("echo '{\"accept\":{\"approval\":\"ap-1\"}}' | toolfold --color never session --log x", Decision::Deny),
        ("echo session | xargs toolfold", Decision::Deny),
        ("cargo run -- session", Decision::Deny),
        ("cargo run --example session", Decision::Allow),
        ("toolfold approvals list --session", Decision::Allow),
        ("toolfold approvals list", Decision::Allow),
        ("toolfold approvals reject ap-1", Decision::Allow),
        ("toolfold report --tools accept.json", Decision::Allow),
        ("cargo run -- report", Decision::Allow),
        ("echo toolfold approvals accept", Decision::Allow),
    ] {
        let arguments = json!({ "command": command });
        let call = PolicyCall { tool: "Bash", origin: &ToolOrigin::Native, arguments: &arguments };
        let verdict = policy.decide(&call, &context, &[]);
        assert_eq!(verdict.decision, wanted, "{command}: {}", verdict.reason());
    }
}

#[test]
fn no_call_writes_the_policy_or_the_store() {
    let text = "allow = [\"Bash\"]\n";
    let policy = Policy::new(vec![PolicyFile::load(text, "policy.toml", PolicyScope::Managed).into_result().unwrap()]);
    let protected = ["/w/policy.toml", "/w/policy.toml-wal", "/state/store.sqlite"].map(str::to_owned).to_vec();
    let context = Context { interactive: true, cwd: Some("/w".into()), protected, ..Context::default() };
    for (command, wanted) in [
        ("echo > policy.toml", Decision::Deny),
        ("cp x ./sub/../Policy.toml", Decision::Deny),
        ("rm -rf /state", Decision::Deny),
        ("rm ./*.toml", Decision::Confirm),
        ("tar xf a.tar", Decision::Confirm),
        ("tar xf a.tar -C out", Decision::AllowAudited),
        ("rm ./*.txt", Decision::AllowAudited),
        ("cat policy.toml", Decision::AllowAudited),
    ] {
        let arguments = json!({ "command": command });
        let call = PolicyCall { tool: "Bash", origin: &ToolOrigin::Native, arguments: &arguments };
        let verdict = policy.decide(&call, &context, &[]);
        assert_eq!(verdict.decision, wanted, "{command}: {}", verdict.reason());
    }
}
