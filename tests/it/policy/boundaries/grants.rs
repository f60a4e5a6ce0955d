//! What a remembered approval covers, where and how long, and what can be remembered at all.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{
    Approver, Bound, Decision, Effect, Grant, GrantError, GrantScope, GrantTarget, History, MemoryStore, PolicyCall,
    ToolOrigin, compact,
};
use toolfold_testing::with;

use super::{context, of_user, verdict};
use crate::talk::{Call, Dispatch, Talk};

fn grant(tool: &str, target: GrantTarget) -> Grant {
    with!(
        Grant::new(ToolOrigin::Native, tool, target, GrantScope::Always),
        id = "gr-1".into(),
        source = "a person".into()
    )
}

fn words(tokens: &[&str], open: bool) -> GrantTarget {
    GrantTarget::Command { tokens: tokens.iter().map(|&token| token.to_owned()).collect(), open }
}

#[test]
fn a_grant_applies_in_its_scope_and_folder_until_it_ends() {
    let of = |scope| with!(grant("t", GrantTarget::Tool), scope = scope);
    let session = |name: &str| of(GrantScope::Session(name.to_owned()));
    let project = |name: &str| of(GrantScope::Project(name.to_owned()));
    let until = |end| with!(of(GrantScope::Always), expires_ms = Some(end));
    let within = |cwd: &str| {
        let bound = with!(Bound::default(), cwd = Some(cwd.into()));
        with!(of(GrantScope::Always), bound = bound)
    };
    let here = with!(context().with_session("s"), project = "p".into()).with_now_ms(100);
    let mut nowhere = context().with_now_ms(100);
    nowhere.cwd = None;
    for (grant, here_too, nowhere_too) in [
        (of(GrantScope::Always), true, true),
        (session("s"), true, false),
        (session("other"), false, false),
        (project("p"), true, false),
        (project("other"), false, false),
        // A session or project without a name is none.
        (session(""), false, false),
        (project(""), false, false),
        (until(101), true, true),
        (until(100), false, false),
        (until(99), false, false),
        (within("/work"), true, false),
        (within("/work/sub"), false, false),
        // Neither is enough without the other.
        (with!(session("s"), expires_ms = Some(99)), false, false),
        (with!(within("/work"), scope = GrantScope::Session("other".to_owned())), false, false),
    ] {
        assert_eq!((grant.is_live(&here), grant.is_live(&nowhere)), (here_too, nowhere_too), "{grant:?}");
    }
}

#[test]
fn a_prefix_covers_its_commands_without_unlisted_options() {
    let option = "--kubeconfig=dev.yaml";
    let rules = "allow = [\"Bash(ls:*)\"]";
    for (target, line, covered) in [
        (words(&["git", "log"], true), "git log", true),
        (words(&["git", "log"], true), "git log -1", true),
        (words(&["git", "log"], true), "git", false),
        (words(&["git", "log"], false), "git log", true),
        (words(&["git", "log"], false), "git log -1", false),
        (words(&["git", "log"], true), "git log && ls", true),
        (words(&["git", "log"], true), "git log && id", false),
        // An option that the program's row does not list is covered by the words that name it.
        (words(&["kubectl", "get"], true), "kubectl get pods", true),
        (words(&["kubectl", "get"], true), "kubectl get --kubeconfig=dev.yaml", false),
        (words(&["kubectl", "get"], true), "kubectl get pods --kubeconfig=dev.yaml", false),
        (words(&["kubectl", "get", option], true), "kubectl get --kubeconfig=dev.yaml", true),
        (words(&["kubectl", "get", option], true), "kubectl get --kubeconfig=dev.yaml pods", true),
        (words(&["kubectl", "get", option], true), "kubectl get --kubeconfig=dev.yaml pods && ls", true),
        (words(&["git", "log"], true), "git log && kubectl get --kubeconfig=dev.yaml", false),
        (words(&["git", "log"], true), "git log && ls --no-such-option", false),
    ] {
        let arguments = json!({ "command": line });
        let grants = [grant("Bash", target)];
        let verdict = verdict(&of_user(rules), &context(), "Bash", &arguments, &grants);
        let expected = if covered { Decision::AllowAudited } else { Decision::Confirm };
        assert_eq!(verdict.decision, expected, "{:?}: {line}: {}", grants[0].target, verdict.reason());
    }
}

#[test]
fn arbitrary_code_cannot_be_remembered() {
    enum Is {
        Fine,
        Wide,
        Pattern,
    }
    use Is::{Fine, Pattern, Wide};
    for (rule, expected) in [
        ("Bash(git log:*)", Fine),
        ("Bash(git log)", Fine),
        ("Bash", Wide),
        ("Bash(*)", Wide),
        ("Bash(git *.txt)", Pattern),
        ("*", Wide),
        ("sa?e", Pattern),
        ("save", Fine),
        ("save(op:list)", Pattern),
        ("Edit(src/**)", Pattern),
        ("WebFetch(domain:a.com)", Pattern),
        ("Agent", Wide),
        ("Agent(explore)", Pattern),
        // The path of a script narrows an interpreter; a name, an option and a program text do not.
        ("Bash(python check.py:*)", Fine),
        ("Bash(python tools/check:*)", Fine),
        ("Bash(python check:*)", Wide),
        ("Bash(python -c.x:*)", Wide),
        ("Bash(python:*)", Wide),
        ("Bash(awk prog.awk:*)", Wide),
        ("Bash(bash run.sh)", Fine),
        ("Bash(cmd run.bat:*)", Wide),
        // `-c` of git loads settings, and of others it need not.
        ("Bash(git -c core.pager=x log:*)", Wide),
        ("Bash(grep -c x:*)", Fine),
    ] {
        let rule = compact(Effect::Allow, rule, |_| None).unwrap();
        let made = Grant::from_rule(&rule, "gr-1", GrantScope::Always, "a person");
        let right = match expected {
            Fine => made.is_ok(),
            Wide => matches!(made, Err(GrantError::TooWide(_))),
            Pattern => matches!(made, Err(GrantError::Pattern(_))),
        };
        assert!(right, "{}: {made:?}", rule.text);
    }
}

/// The very same call is offered where all that it does is known before it runs.
#[test]
fn an_offered_grant_is_static_and_would_ask_again() {
    let rules = "allow = [\"Bash(kubectl get:*)\", \"Bash(ls:*)\", \"Bash(cd:*)\"]";
    for (line, offered) in [
        ("id", true),
        ("touch out", true),
        ("kubectl get pods --kubeconfig=x", true),
        ("ls && kubectl get pods --kubeconfig=x", true),
        ("touch $OUT", false),
        ("cd sub; touch out", false),
        // Nothing of it asks.
        ("ls", false),
    ] {
        let arguments: Value = json!({ "command": line });
        let policy = of_user(rules);
        let call = PolicyCall::new(&ToolOrigin::Native, "Bash", &arguments);
        let context = context();
        let prepared = policy.prepare(call, &context, None, History::default());
        let verdict = prepared.decide(&[]);
        let shown = prepared.displayed(&verdict).remember;
        let exact = [GrantTarget::Arguments { arguments: arguments.clone() }];
        assert_eq!(shown, if offered { &exact[..] } else { &[] }, "{line}: {}", verdict.reason());
    }
}

/// Each part of what a grant is bound to binds it on its own: another definition of the tool, or
/// another policy, asks again.
#[test]
fn a_grant_ends_when_the_tool_or_the_policy_changes() {
    const RULES: &str = "[tool.save]\ntier = \"a\"\nwrites = [\"path\"]\n";
    const OTHER: &str = "[tool.save]\ntier = \"a\"\nwrites = [\"path\"]\n[tool.look]\ntier = \"read_only\"\n";
    let dispatch = |description: &str, rules: &str, store: &Arc<MemoryStore>| -> (Outcome, Approver) {
        let tool = json!({"name": "save", "description": description, "inputSchema": {"type": "object"}});
        let catalog = Catalog::from_mcp(&json!({ "tools": [tool] }).to_string()).unwrap();
        let (layer, approver) = PolicyLayer::open(of_user(rules), store.clone(), || 1_000);
        let engine = Engine::builder(catalog).policy(layer.context(context())).build().unwrap();
        (engine.talk().dispatch(&Call::fresh("save", json!({"path": "a"}))), approver)
    };
    for (by_definition, by_policy) in [(false, false), (true, false), (false, true), (true, true)] {
        let store = Arc::new(MemoryStore::default());
        let (Outcome::Confirm(asked), approver) = dispatch("saves", RULES, &store) else { panic!("Tier A waits") };
        let request = approver.approve(asked.approval.as_str(), 1_000).unwrap().request;
        let mut bound = Bound::default();
        bound.schema_hash = Some(request.schema_hash).filter(|_| by_definition);
        bound.policy_version = Some(request.policy_version).filter(|_| by_policy);
        approver.remember(with!(grant("save", request.displayed.remember[0].clone()), bound = bound), 1_000).unwrap();
        for (description, rules, expected) in
            [("saves", RULES, true), ("saves all", RULES, !by_definition), ("saves", OTHER, !by_policy)]
        {
            let (outcome, _) = dispatch(description, rules, &store);
            let runs = matches!(outcome, Outcome::Forward(_));
            assert_eq!(runs, expected, "{by_definition} {by_policy} {description}: {outcome:?}");
        }
    }
}
