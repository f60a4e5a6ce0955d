//! `toolfold policy new`: what it writes is sound, and lets an agent work.

use serde_json::Value;
use toolfold::policy::{Context, Decision, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

use crate::commands::run;

fn policy(domain: &str) -> PolicyFile {
    let ran = run(&["policy", "new", "--for", domain]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    PolicyFile::load(&ran.out, "policy.toml", PolicyScope::User).into_result().unwrap()
}

#[test]
fn a_policy_to_start_from_is_sound() {
    for domain in ["coding", "data", "http"] {
        let file = policy(domain);
        assert_eq!(file.check(None), [], "{domain}");
        let wide: Vec<_> = file.lint().into_iter().filter(|found| found.code != "policy-interpreter").collect();
        let own = wide.iter().filter(|found| found.code != "policy-no-boundary");
        assert_eq!(own.count(), 0, "{domain}: {wide:?}");
    }
    let place = std::env::temp_dir().join(format!("toolfold-new-{}", std::process::id()));
    let file = place.to_str().unwrap();
    assert_eq!(run(&["policy", "new", "--for", "coding", "--out", file]).code, 0);
    let again = run(&["policy", "new", "--for", "coding", "--out", file]);
    assert!(again.code == 1 && again.err.contains("does not exist yet"), "{}", again.err);
    assert_eq!(run(&["policy", "check", file]).code, 0);
    std::fs::remove_file(place).unwrap();
}

#[test]
fn an_agent_works_under_the_coding_policy() {
    let Some(path) = crate::corpus("policy/benign.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let policy = Policy::new(vec![policy("coding")]);
    let context = Context {
        cwd: Some("/testbed".to_owned()),
        home: Some("/root".to_owned()),
        interactive: true,
        workspace_trusted: true,
        ..Context::default()
    };
    let (mut all, mut runs) = (0, 0);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["source"] != "swe-bench trajectory" {
            continue;
        }
        let call = PolicyCall { tool: "Bash", origin: &ToolOrigin::Native, arguments: &row["args"] };
        let verdict = policy.decide(&call, &context, &[]);
        all += 1;
        runs += usize::from(verdict.decision.runs());
        assert_ne!(verdict.decision, Decision::Deny, "{}: {}", row["args"], verdict.reason());
    }
    println!("{runs}/{all} run unasked");
    assert!(runs * 100 >= all * 94, "{runs} of {all}");
}
