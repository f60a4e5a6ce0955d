//! What must hold for every policy, call and grant.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::policy::canonical::digest;
use toolfold::policy::{
    Call, Decision, Facts, Grant, Holds, Origin, Policy, PolicyFile, Record, Rule, Says, Scope, Tier, What, compact,
};

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

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![Just(Says::Allow), Just(Says::Ask), Just(Says::Deny)]
}

fn rule() -> impl Strategy<Value = Rule> {
    (says(), prop::sample::select(RULES)).prop_map(|(says, text)| compact(says, text, |_| None).unwrap())
}

fn file(rules: Vec<Rule>, default: Option<Says>, last_match: bool, tier: Option<Tier>) -> PolicyFile {
    let record = Record { tier, ..Record::builtin("Bash").unwrap() };
    let records = [("Bash".to_owned(), record)].into_iter().collect();
    PolicyFile { rules, default, last_match, records, ..PolicyFile::default() }
}

fn a_policy() -> impl Strategy<Value = PolicyFile> {
    let tier = prop::option::of(prop_oneof![Just(Tier::ReadOnly), Just(Tier::B), Just(Tier::A)]);
    (prop::collection::vec(rule(), 0..6), prop::option::of(says()), any::<bool>(), tier)
        .prop_map(|(rules, default, last, tier)| file(rules, default, last, tier))
}

fn a_call() -> impl Strategy<Value = (String, Origin, Value)> {
    prop_oneof![
        prop::sample::select(COMMANDS).prop_map(|c| ("Bash".to_owned(), Origin::Native, json!({ "command": c }))),
        prop::sample::select(&["a.txt", "src/x", "/etc/x", ".env"][..]).prop_map(|p| (
            "Edit".to_owned(),
            Origin::Native,
            json!({ "file_path": p })
        )),
        Just(("t".to_owned(), Origin::Mcp("s".to_owned()), json!({}))),
        Just(("t".to_owned(), Origin::Native, json!({}))),
        Just(("WebFetch".to_owned(), Origin::Native, json!({ "url": "https://a.x.org/" }))),
        Just(("Bash".to_owned(), Origin::Native, json!({ "command": 5 }))),
        Just(("Edit".to_owned(), Origin::Native, json!([]))),
    ]
}

fn facts() -> Facts {
    Facts { interactive: true, cwd: Some("/w".to_owned()), ..Facts::default() }
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

fn grant(tool: &str, origin: &Origin, arguments: &Value) -> Vec<Grant> {
    let first: Vec<String> =
        arguments["command"].as_str().unwrap_or("x").split_whitespace().take(1).map(str::to_owned).collect();
    [What::Tool, What::Arguments { arguments: arguments.clone() }, What::Command { tokens: first, open: true }]
        .into_iter()
        .map(|what| Grant {
            id: "gr-1".to_owned(),
            origin: origin.clone(),
            tool: tool.to_owned(),
            what,
            holds: Holds::Always,
            expires_ms: None,
            source: "test".to_owned(),
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
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_never_permits(mut policy in a_policy(), text in prop::sample::select(RULES), at in 0_usize..6, (tool, origin, arguments) in a_call()) {
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let before = Policy::new(vec![policy.clone()]).decide(&call, &facts(), &[]);
        policy.rules.insert(at.min(policy.rules.len()), compact(Says::Deny, text, |_| None).unwrap());
        let after = Policy::new(vec![policy]).decide(&call, &facts(), &[]);
        prop_assert!(strictness(after.decision) >= strictness(before.decision), "{before:?}\n{after:?}");
    }

    #[test]
    fn a_grant_lifts_ask_and_nothing_else(policy in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let policy = Policy::new(vec![policy]);
        let before = policy.decide(&call, &facts(), &[]).decision;
        let after = policy.decide(&call, &facts(), &grant(&tool, &origin, &arguments)).decision;
        prop_assert!(after == before || (before == Decision::Confirm && after.runs()), "{before} became {after}");
        // Nor does one for another tool, or of another origin, or one that has run out.
        let mut others = grant(&tool, &Origin::Mcp("other".to_owned()), &arguments);
        others.extend(grant("other", &origin, &arguments));
        others.extend(grant(&tool, &origin, &arguments).into_iter().map(|g| Grant { expires_ms: Some(0), ..g }));
        prop_assert_eq!(policy.decide(&call, &facts(), &others).decision, before);
    }

    #[test]
    fn nobody_to_ask_only_tightens(policy in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let policy = Policy::new(vec![policy]);
        let asked = policy.decide(&call, &facts(), &[]).decision;
        let alone = policy.decide(&call, &Facts { interactive: false, ..facts() }, &[]).decision;
        prop_assert_eq!(alone, if asked == Decision::Confirm { Decision::Deny } else { asked });
    }

    #[test]
    fn an_untrusted_project_only_tightens(user in a_policy(), mut project in a_policy(), (tool, origin, arguments) in a_call()) {
        project.scope = Scope::Project;
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let before = Policy::new(vec![user.clone()]).decide(&call, &facts(), &[]).decision;
        let after = Policy::new(vec![user, project]).decide(&call, &facts(), &[]).decision;
        prop_assert!(strictness(after) >= strictness(before), "{before} became {after}");
    }

    #[test]
    fn what_is_active_changes_nothing(policy in a_policy(), (tool, origin, arguments) in a_call(), skills in prop::collection::vec("[a-z]{1,4}", 0..4)) {
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let policy = Policy::new(vec![policy]);
        let active = Facts { active_skills: skills.into_iter().map(|s| (s, "h".to_owned())).collect(), ..facts() };
        prop_assert_eq!(policy.decide(&call, &facts(), &[]), policy.decide(&call, &active, &[]));
    }

    #[test]
    fn denied_outright_is_denied_whatever_the_arguments(policy in a_policy(), (tool, origin, arguments) in a_call()) {
        let call = Call { tool: &tool, origin: &origin, arguments: &arguments };
        let policy = Policy::new(vec![PolicyFile { last_match: false, ..policy }]);
        if policy.denies_outright(&tool, &origin, &facts()) {
            prop_assert_eq!(policy.decide(&call, &facts(), &[]).decision, Decision::Deny);
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
        let call = Call { tool: "Bash", origin: &Origin::Native, arguments: &arguments };
        let rules = vec![compact(Says::Allow, "Bash(ls:*)", |_| None).unwrap()];
        let _ = Policy::new(vec![file(rules, None, false, None)]).decide(&call, &facts(), &[]);
    }

    #[test]
    fn any_file_is_loaded(text in "[ -~\\n]{0,200}") {
        let loaded = PolicyFile::load(&text, "p", Scope::User);
        prop_assert!(loaded.value.rules.is_empty() || !loaded.has_errors() || loaded.value.broken || text.contains("allow"));
    }
}
