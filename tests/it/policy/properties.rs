//! What must hold for every policy, call and grant.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::policy::canonical::digest;
use toolfold::policy::{
    Context, Decision, Effect, Grant, GrantScope, GrantTarget, Policy, PolicyCall, PolicyFile, PolicyScope, PolicyTier,
    Rule, ToolCapability, ToolOrigin, compact,
};
use toolfold_testing::with;

const RULES: &[&str] = &[
    "Bash(*)",
    "Bash(git:*)",
    "Bash(git log:*)",
    "Bash(rm:*)",
    "Bash(rm -rf:*)",
    "Bash(ls *)",
    "Bash(echo hi)",
    "Edit(src/**)",
    "Edit(*)",
    "Write(a.txt)",
    "Read(**/.env)",
    "*",
    "Bash",
    "mcp__s__*",
    "mcp__s__t",
    "t",
    "WebFetch(domain:x.org)",
    "WebFetch",
    "Bash(find * -delete*)",
];

const COMMANDS: &[&str] = &[
    "git log",
    "git status",
    "rm -rf x",
    "ls | rm x",
    "echo hi",
    "echo $(ls)",
    "ls > a.txt",
    "cat .env",
    "timeout 5 git log",
    "sudo rm x",
    "$x",
    "eval ls",
    "cd src && echo > ../a.txt",
    "find . -delete",
    "bash -c 'git log'",
    "if ls; then git log; fi",
    "git log; rm",
    "",
];

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)]
}

fn rule() -> impl Strategy<Value = Rule> {
    (effect(), prop::sample::select(RULES)).prop_map(|(effect, text)| compact(effect, text, |_| None).unwrap())
}

fn file(rules: Vec<Rule>, default: Option<Effect>, last_match: bool, tier: Option<PolicyTier>) -> PolicyFile {
    let mut capability = ToolCapability::builtin("Bash").unwrap();
    capability.tier = tier;
    let mut file = PolicyFile::default();
    (file.rules, file.default, file.last_match) = (rules, default, last_match);
    file.capabilities.insert("Bash".to_owned(), capability);
    file
}

fn a_policy() -> impl Strategy<Value = PolicyFile> {
    let tier = prop::option::of(prop_oneof![Just(PolicyTier::ReadOnly), Just(PolicyTier::B), Just(PolicyTier::A)]);
    (prop::collection::vec(rule(), 0..6), prop::option::of(effect()), any::<bool>(), tier)
        .prop_map(|(rules, default, last, tier)| file(rules, default, last, tier))
}

fn a_call() -> impl Strategy<Value = (String, ToolOrigin, Value)> {
    prop_oneof![
        prop::sample::select(COMMANDS).prop_map(|c| ("Bash".to_owned(), ToolOrigin::Native, json!({ "command": c }))),
        prop::sample::select(&["a.txt", "src/x", "/etc/x", ".env"][..]).prop_map(|p| (
            "Edit".to_owned(),
            ToolOrigin::Native,
            json!({ "file_path": p })
        )),
        Just(("t".to_owned(), ToolOrigin::Mcp("s".to_owned()), json!({}))),
        Just(("t".to_owned(), ToolOrigin::Native, json!({}))),
        Just(("WebFetch".to_owned(), ToolOrigin::Native, json!({ "url": "https://a.x.org/" }))),
        Just(("Bash".to_owned(), ToolOrigin::Native, json!({ "command": 5 }))),
        Just(("Edit".to_owned(), ToolOrigin::Native, json!([]))),
    ]
}

fn context() -> Context {
    Context::default().with_interactive(true).with_cwd("/w")
}

/// Ordered from permissive to not.
fn strictness(decision: Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::AllowAudited => 1,
        Decision::Confirm => 2,
        Decision::Deny => 3,
    }
}

fn grant(tool: &str, origin: &ToolOrigin, arguments: &Value) -> Vec<Grant> {
    let first: Vec<String> =
        arguments["command"].as_str().unwrap_or("x").split_whitespace().take(1).map(str::to_owned).collect();
    [
        GrantTarget::Tool,
        GrantTarget::Arguments { arguments: arguments.clone() },
        GrantTarget::Command { tokens: first, open: true },
    ]
    .into_iter()
    .map(|target| {
        with!(Grant::new(origin.clone(), tool, target, GrantScope::Always), id = "gr-1".into(), source = "test".into())
    })
    .collect()
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

/// The same value with every object's members in reverse.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
        other => other.clone(),
    }
}

/// All values that differ from this one in exactly one leaf.
fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, inner)| {
                changed(inner).into_iter().map(move |new| {
                    let mut map = map.clone();
                    map.insert(key.clone(), new);
                    Value::Object(map)
                })
            })
            .collect(),
        Value::Array(items) => (0..items.len())
            .flat_map(|i| {
                changed(&items[i]).into_iter().map(move |new| {
                    let mut items = items.clone();
                    items[i] = new;
                    Value::Array(items)
                })
            })
            .collect(),
        Value::String(text) => vec![Value::from(format!("{text} "))],
        Value::Bool(b) => vec![Value::from(!b)],
        Value::Null => vec![Value::from(0)],
        Value::Number(n) => vec![Value::from(n.as_i64().map_or(12_345, |i| i.wrapping_add(1)))],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(600), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_never_permits(mut policy in a_policy(), text in prop::sample::select(RULES), at in 0_usize..6, (tool, origin, arguments) in a_call()) {
        let call = PolicyCall::new(&origin, &tool, &arguments);
        let before = Policy::new(vec![policy.clone()]).decide(&call, &context(), &[]);
        policy.rules.insert(at.min(policy.rules.len()), compact(Effect::Deny, text, |_| None).unwrap());
        let after = Policy::new(vec![policy]).decide(&call, &context(), &[]);
        prop_assert!(strictness(after.decision) >= strictness(before.decision), "{before:?}\n{after:?}");
    }

    #[test]
    fn a_grant_lifts_ask_and_nothing_else(policy in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = PolicyCall::new(&origin, &tool, &arguments);
        let policy = Policy::new(vec![policy]);
        let before = policy.decide(&call, &context(), &[]).decision;
        let after = policy.decide(&call, &context(), &grant(&tool, &origin, &arguments)).decision;
        prop_assert!(after == before || (before == Decision::Confirm && after.runs()), "{before} became {after}");
        // Nor does one for another tool, or of another origin, or one that has run out.
        let mut others = grant(&tool, &ToolOrigin::Mcp("other".to_owned()), &arguments);
        others.extend(grant("other", &origin, &arguments));
        others.extend(grant(&tool, &origin, &arguments).into_iter().map(|g| with!(g, expires_ms = Some(0))));
        prop_assert_eq!(policy.decide(&call, &context(), &others).decision, before);
    }

    #[test]
    fn without_an_approver_policy_only_tightens(policy in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = PolicyCall::new(&origin, &tool, &arguments);
        let policy = Policy::new(vec![policy]);
        let asked = policy.decide(&call, &context(), &[]).decision;
        let alone = policy.decide(&call, &context().with_interactive(false), &[]).decision;
        prop_assert_eq!(alone, if asked == Decision::Confirm { Decision::Deny } else { asked });
    }

    #[test]
    fn an_untrusted_project_only_tightens(user in a_policy(), mut project in a_policy(), (tool, origin, arguments) in a_call()) {
        project.scope = PolicyScope::Project;
        let call = PolicyCall::new(&origin, &tool, &arguments);
        let before = Policy::new(vec![user.clone()]).decide(&call, &context(), &[]).decision;
        let after = Policy::new(vec![user, project]).decide(&call, &context(), &[]).decision;
        prop_assert!(strictness(after) >= strictness(before), "{before} became {after}");
    }

    #[test]
    fn denied_outright_is_denied_whatever_the_arguments(mut file in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = PolicyCall::new(&origin, &tool, &arguments);
        file.last_match = false;
        let policy = Policy::new(vec![file]);
        if policy.denies_outright(&tool, &origin, &context()) {
            prop_assert_eq!(policy.decide(&call, &context(), &[]).decision, Decision::Deny);
        }
    }

    #[test]
    fn a_digest_means_the_value(value in value()) {
        let own = digest(&value);
        prop_assert_eq!(&digest(&reversed(&value)), &own);
        for other in changed(&value) {
            prop_assert_ne!(digest(&other), own.clone(), "{} and {}", other, value);
        }
    }

    #[test]
    fn any_text_is_decided(text in "[ -~\\n$(){}`;|&<>\"'\\\\]{0,60}") {
        let arguments = json!({ "command": text });
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        let rules = vec![compact(Effect::Allow, "Bash(ls:*)", |_| None).unwrap()];
        let _ = Policy::new(vec![file(rules, None, false, None)]).decide(&call, &context(), &[]);
    }

    #[test]
    fn any_file_is_loaded(text in "[ -~\\n]{0,200}") {
        let loaded = PolicyFile::load(&text, "p", PolicyScope::User);
        prop_assert!(loaded.value.rules.is_empty() || !loaded.has_errors() || loaded.value.broken || text.contains("allow"));
    }
}
