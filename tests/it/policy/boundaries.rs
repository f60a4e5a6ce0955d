//! Both sides of each boundary of a decision: calls and policies that differ in one thing, and what
//! that one thing changes.

mod commands;
mod grants;
mod outright;
mod records;

use serde_json::Value;
use toolfold::policy::{Context, Decision, Grant, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin, Verdict};

/// A policy of sound files.
#[track_caller]
fn policy(files: &[(PolicyScope, &str)]) -> Policy {
    let load = |(scope, text): &(PolicyScope, &str)| {
        PolicyFile::load(text, "policy.toml", *scope).into_result().unwrap_or_else(|why| panic!("{text}: {why}"))
    };
    Policy::new(files.iter().map(load).collect())
}

#[track_caller]
fn of_user(text: &str) -> Policy {
    policy(&[(PolicyScope::User, text)])
}

fn context() -> Context {
    Context::default().with_cwd("/work").with_home("/home/user").with_interactive(true)
}

fn verdict(policy: &Policy, context: &Context, tool: &str, arguments: &Value, grants: &[Grant]) -> Verdict {
    policy.decide(&PolicyCall::new(&ToolOrigin::Native, tool, arguments), context, grants)
}

#[track_caller]
fn check(policy: &Policy, context: &Context, (tool, arguments): (&str, &Value), expected: Decision) {
    let verdict = verdict(policy, context, tool, arguments, &[]);
    assert_eq!(verdict.decision, expected, "{tool} {arguments}: {}", verdict.reason());
}
