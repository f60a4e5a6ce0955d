//! What `explain` offers is true: a rule that it names does allow the call, and a name that nothing
//! knows is said.

use serde_json::{Value, json};
use toolfold::policy::{Context, Explanation, History, Policy, PolicyCall, PolicyFile, PolicyScope, ToolOrigin};

#[track_caller]
fn explain(policy: &str, tool: &str, arguments: &Value, context: &Context) -> Explanation {
    let file = PolicyFile::load(policy, "policy.toml", PolicyScope::User).into_result().unwrap();
    let call = PolicyCall::new(&ToolOrigin::Native, tool, arguments);
    Policy::new(vec![file]).prepare(call, context, None, History::default()).explain(&[])
}

fn context() -> Context {
    let protected = vec!["/repo/policy.toml".to_owned()];
    Context::default().with_interactive(true).with_cwd("/repo").with_home("/home/u").with_protected(protected)
}

/// No hint where a deny stops the call, or may stop it, and none where the floor does.
#[test]
fn no_rule_is_offered_under_a_deny() {
    for (policy, tool, arguments, says) in [
        ("deny = [\"Bash(rm:*)\"]", "Bash", json!({"command": "rm x"}), "nothing, while the rule `Bash(rm:*)`"),
        (
            "deny = [\"Bash(rm:*)\"]",
            "Bash",
            json!({"command": "$X y"}),
            "no rule, while the rule `Bash(rm:*)` may deny",
        ),
        ("deny = [\"Read(**/.env)\"]", "Read", json!({"file_path": "~v/.env"}), "the rule `Read(**/.env)`"),
        ("", "Write", json!({"file_path": "policy.toml"}), "no rule: `policy.toml` belongs to the policy"),
        ("", "Write", json!({"file_path": 5}), "no rule: `file_path|path|notebook_path|pattern` cannot be evaluated"),
    ] {
        let told = explain(policy, tool, &arguments, &context()).would_allow.join("; ");
        assert!(told.contains(says), "{policy} {arguments}: {told}");
    }
}

/// Every rule that is offered allows the call, as long as it is asked about for no other reason.
#[test]
fn an_offered_rule_allows_the_call() {
    for (tool, arguments) in [
        ("Bash", json!({"command": "git log && cargo test"})),
        ("Write", json!({"file_path": "src/a.rs"})),
        ("WebFetch", json!({"url": "https://example.com/a"})),
        ("crm", json!({"op": "list"})),
    ] {
        for interactive in [true, false] {
            let context = context().with_interactive(interactive);
            let told = explain("", tool, &arguments, &context).would_allow;
            let fields =
                |rule: &str| Some(format!("[[rule]]\n{}", rule.strip_prefix("[[rule]] ")?.replace(", ", "\n")));
            let own =
                |rule: &String| fields(rule).unwrap_or_else(|| format!("allow = [{:?}]", &rule["allow ".len()..]));
            let compact = told.iter().filter_map(|rule| rule.strip_prefix("allow ")).collect::<Vec<_>>();
            let policy = if compact.is_empty() { own(&told[0]) } else { format!("allow = {compact:?}") };
            let verdict = explain(&policy, tool, &arguments, &context).verdict;
            assert!(verdict.decision.runs(), "{told:?}: {}", verdict.reason());
        }
    }
}

#[test]
fn unknown_names_are_reported() {
    let policy = "allow = [\"Bash(git log:*)\"]\n[tool.write_cells]\ntier = \"a\"\nwrites = []\n";
    for (tool, close) in [
        ("write_cell", Some("write_cells")),
        ("bash", Some("Bash")),
        ("Bash", None),
        ("Read", None),
        ("write_cells", None),
        ("quux", None),
    ] {
        assert_eq!(explain(policy, tool, &json!({}), &context()).did_you_mean.as_deref(), close, "{tool}");
    }
    // A rule over every name knows this one.
    assert_eq!(explain("allow = [\"write_*\"]", "write_cell", &json!({}), &context()).did_you_mean, None);
}
