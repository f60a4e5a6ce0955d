//! The script of a skill as a tool: judged as `SkillRun`, approved with its facts, forwarded with
//! its input, and never forwarded twice.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolfold::catalog::{Catalog, SkillRun, Tool};
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{Approver, Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use crate::talk::{Call, Dispatch, Talk};

fn facts(limit: u64) -> Map<String, Value> {
    let facts = json!({"skill": "report", "sha256": "aa", "folder_sha256": "bb", "limits": {"timeout_ms": limit}});
    facts.as_object().unwrap().clone()
}

fn tool(limit: u64, asks: Option<&str>) -> Tool {
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let mut run = SkillRun::default();
    (run.facts, run.asks) = (facts(limit), asks.map(str::to_owned));
    run.effects.push("isolation: a test".to_owned());
    Tool::new("skill:report", "Writes a report.", schema).unwrap().with_skill_run(run)
}

fn catalog(tool: Tool) -> Catalog {
    let tools = r#"[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}]"#;
    let mut catalog = Catalog::from_openai(tools).unwrap();
    catalog.add(tool).unwrap();
    catalog
}

fn engine(policy: &str, store: &Arc<MemoryStore>, tool: Tool) -> (Engine, Approver) {
    let file = PolicyFile::load(policy, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (layer, approver) = PolicyLayer::open(Policy::new(vec![file]), store.clone(), || 1_000);
    let layer = layer.context(Context::default().with_cwd("/p").with_interactive(true));
    (Engine::builder(catalog(tool)).arm(Arm::Full).policy(layer).build().unwrap(), approver)
}

fn talk(policy: &str, tool: Tool) -> (Conversation, Approver, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let (engine, approver) = engine(policy, &store, tool);
    (engine.conversation(Wire::OpenAiChat).id("c").start().unwrap(), approver, store)
}

fn names(conversation: &mut Conversation) -> Vec<String> {
    let tools: Vec<Value> = conversation.tools().to().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_waits_with_its_facts_and_is_forwarded_with_its_input() {
    let (mut conversation, approver, store) = talk("", tool(1, None));
    assert_eq!(names(&mut conversation), ["t", "skill_report"], "`:` is not legal on this wire");
    let text = r#"{"n": 1.50}"#;
    let Outcome::Confirm(confirm) = conversation.call("c1", "skill_report", text).unwrap() else { panic!("it waits") };
    assert_eq!((confirm.target.as_str(), confirm.arguments_json.as_str()), ("skill:report", text));
    assert_eq!(
        (confirm.shown.target.as_str(), &confirm.shown.effects[0][..]),
        ("report (through SkillRun)", "isolation: a test")
    );
    for part in ["\"folder_sha256\":\"bb\"", "\"input\":{\"n\":1.50}", "\"timeout_ms\":1"] {
        assert!(confirm.shown.arguments.contains(part), "{part}: {}", confirm.shown.arguments);
    }
    approver.approve(confirm.approval.as_str(), 1_000).unwrap();
    let Some(Outcome::Forward(forward)) = conversation.take_up(confirm.approval.as_str()) else { panic!("it runs") };
    assert_eq!((forward.target.as_str(), forward.arguments_json.as_str()), ("skill:report", text));
    let chain = store.chain().unwrap();
    let entries = chain.iter().map(|(_, body, _, _)| serde_json::from_str::<Entry>(body).unwrap());
    let ran: Vec<Entry> = entries.filter(|entry| entry.tool == "SkillRun" && entry.kind != Kind::Asked).collect();
    assert!(ran.iter().all(|entry| entry.arguments["skill"] == "report"), "{ran:?}");
    assert!(!ran.is_empty());
}

#[test]
fn a_script_is_never_forwarded_twice_for_one_call() {
    let allow = "allow = [\"SkillRun(report)\"]";
    for ok in [None, Some(false), Some(true)] {
        let (mut conversation, ..) = talk(allow, tool(1, None));
        let call = Call::new("c1", "skill_report", json!({"n": 1}));
        assert!(matches!(conversation.dispatch(&call), Outcome::Forward(_)));
        if let Some(ok) = ok {
            conversation.answer(&call.id(), if ok { Ok("done") } else { Err("no") }).unwrap();
        }
        match (ok, conversation.call_in("", "c1", "skill_report", json!({"n": 1})).unwrap()) {
            // It has ended, so this is another message with the same id.
            (Some(true), Outcome::Forward(_) | Outcome::Reply(_)) => {}
            (Some(false), Outcome::Refuse(refuse)) => assert!(refuse.content.contains("failed"), "{refuse:?}"),
            (None, Outcome::Refuse(refuse)) => assert!(refuse.content.contains("has not ended"), "{refuse:?}"),
            other => panic!("{other:?}"),
        }
    }
    // The log of a process that ended during the run is replayed.
    let store = Arc::new(MemoryStore::default());
    let (engine, _) = engine(allow, &store, tool(1, None));
    let mut first = engine.conversation(Wire::OpenAiChat).id("c").start().unwrap();
    assert!(matches!(first.call_in("m", "c1", "skill_report", json!({"n": 1})).unwrap(), Outcome::Forward(_)));
    let mut second = engine.replay(&first.take_log(1)).unwrap();
    let again = second.call_in("m", "c1", "skill_report", json!({"n": 1})).unwrap();
    assert!(
        matches!(&again, Outcome::Refuse(refuse) if refuse.content.contains("its outcome is unknown")),
        "{again:?}"
    );
}

#[test]
fn rules_decide_on_the_skill_and_a_reason_of_the_skill_asks_each_time() {
    let word = |policy: &str, asks: Option<&str>| {
        let (mut conversation, ..) = talk(policy, tool(1, asks));
        if !names(&mut conversation).contains(&"skill_report".to_owned()) {
            return "hidden";
        }
        match conversation.dispatch(&Call::new("c1", "skill_report", json!({"n": 1}))) {
            Outcome::Forward(_) => "runs",
            Outcome::Confirm(_) => "waits",
            other => panic!("{other:?}"),
        }
    };
    let (allow, audit) = ("allow = [\"SkillRun(report)\"]", "[policy]\nmode = \"audit\"");
    for (policy, asks, expected) in [
        ("", None, "waits"),
        (allow, None, "runs"),
        ("allow = [\"SkillRun(other)\"]", None, "waits"),
        (allow, Some("it is dangerous"), "waits"),
        (audit, None, "runs"),
        (audit, Some("it is dangerous"), "waits"),
        ("deny = [\"SkillRun(report)\"]", None, "hidden"),
        ("deny = [\"SkillRun\"]", None, "hidden"),
        ("deny = [\"*\"]", Some("it is dangerous"), "hidden"),
    ] {
        assert_eq!(word(policy, asks), expected, "{policy} {asks:?}");
    }
}

#[test]
fn an_approval_is_void_if_the_facts_have_changed() {
    let store = Arc::new(MemoryStore::default());
    let (before, approver) = engine("", &store, tool(1, None));
    let mut conversation = before.conversation(Wire::OpenAiChat).id("c").start().unwrap();
    let waits = conversation.dispatch(&Call::new("c1", "skill_report", json!({"n": 1})));
    let Outcome::Confirm(confirm) = waits else { panic!("it waits") };
    approver.approve(confirm.approval.as_str(), 1_000).unwrap();
    let (after, _) = engine("", &store, tool(2, None));
    let mut conversation = after.restore(conversation.snapshot()).unwrap();
    let resumed = conversation.take_up(confirm.approval.as_str());
    assert!(matches!(resumed, Some(Outcome::Refuse(_))), "{resumed:?}");
}

#[test]
fn without_a_policy_no_script_is_a_tool() {
    let engine = Engine::builder(catalog(tool(1, None))).arm(Arm::Full).build().unwrap();
    assert_eq!(names(&mut engine.talk()), ["t"]);
    assert!(engine.diagnostics().iter().any(|noticed| noticed.code == "script-without-policy"));
}

#[test]
fn the_name_is_legal_on_every_wire_and_both_names_are_accepted() {
    let store = Arc::new(MemoryStore::default());
    let (engine, _) = engine("", &store, tool(1, None));
    for wire in Wire::ALL {
        let mut conversation = engine.talk_on(wire);
        let text = conversation.tools().json().to_owned();
        let shown = if text.contains("\"skill:report\"") { "skill:report" } else { "skill_report" };
        assert!(text.contains(&format!("\"{shown}\"")), "{wire}: {text}");
        for name in [shown, "skill:report"] {
            let outcome = conversation.dispatch(&Call::fresh(name, json!({"n": 1})));
            assert!(
                matches!(&outcome, Outcome::Confirm(own) if own.target.as_str() == "skill:report"),
                "{wire} {name}"
            );
        }
    }
}
