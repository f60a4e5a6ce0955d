//! An id identifies one call, an approval is used once, and the arguments run as written.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, StartError, TurnError};
use toolfold::engine::{Engine, Experiment, PolicyLayer};
use toolfold::policy::{Approver, Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::{Arm, Delivery, ToolProfile};
use toolfold::wire::{Capabilities, Wire};

use crate::talk::{Call, Dispatch, Talk};

const TOOLS: &str = r#"[
    {"name": "pay", "inputSchema": {"type": "object", "properties": {"to": {"type": "integer"}, "n": {}}, "required": ["to"]}},
    {"name": "look", "inputSchema": {"type": "object"}}]"#;

/// Paying requires approval; looking does not.
fn engine() -> (Engine, Approver) {
    let rules = "[tool.pay]\ntier = 'a'\n[tool.look]\ntier = 'read_only'\n";
    let file = PolicyFile::load(rules, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), || 1_000);
    let policy = policy.context(Context::default().with_interactive(true));
    (Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).policy(policy).build().unwrap(), approver)
}

fn pay(id: &str) -> Call {
    Call::new(id, "pay", json!({"to": 7}))
}

fn approval_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Confirm(confirm) => confirm.approval.as_str().to_owned(),
        other => panic!("not asked: {other:?}"),
    }
}

/// The number of records that a conversation has written.
fn written(conversation: &Conversation) -> usize {
    conversation.clone().take_log(0).len()
}

#[test]
fn a_repeated_call_requests_no_second_approval() {
    let (engine, _approver) = engine();
    let mut talk = engine.talk();
    let first = talk.dispatch(&pay("c1"));
    let before = written(&talk);
    let again = talk.dispatch(&pay("c1"));
    assert_eq!(approval_of(&first), approval_of(&again));
    assert_eq!(written(&talk), before, "nothing more is on record");
    assert_eq!(talk.pending().count(), 1);
    let other = talk.call("c1", "pay", json!({"to": 8})).unwrap();
    assert_ne!(approval_of(&other), approval_of(&first), "another call under an old id is asked about");
    assert_eq!(other.id(), first.id(), "and has its id");
    assert_eq!(talk.pending().count(), 2);
}

#[test]
fn an_approval_is_used_once_by_the_call_or_an_identical_one() {
    // By the call itself, repeated after the decision.
    let (engine, approver) = engine();
    let mut talk = engine.talk();
    approver.approve(&approval_of(&talk.dispatch(&pay("c1"))), 1_000).unwrap();
    let ran = talk.dispatch(&pay("c1"));
    assert!(matches!(ran, Outcome::Forward(_)));
    assert_eq!(talk.dispatch(&pay("c1")), ran, "the same id is the same call, and as much is said of it");
    let next = approval_of(&talk.dispatch(&pay("c2")));
    assert_eq!(talk.pending().map(|(id, _)| id.as_str().to_owned()).collect::<Vec<_>>(), [next]);
    // By a later identical call, because the model read about the approval.
    let (engine, approver) = self::engine();
    let mut talk = engine.talk();
    approver.approve(&approval_of(&talk.dispatch(&pay("c1"))), 1_000).unwrap();
    assert!(matches!(talk.dispatch(&Call::new("c2", "pay", json!({"to": 8}))), Outcome::Confirm(_)), "not like it");
    let Outcome::Forward(forward) = talk.dispatch(&pay("c3")) else { panic!("the yes is for this call") };
    assert_eq!((forward.id.as_str(), &forward.arguments), ("c3", &json!({"to": 7})));
    assert!(matches!(talk.dispatch(&pay("c4")), Outcome::Confirm(_)), "once");
}

#[test]
fn arguments_keep_every_digit() {
    let text = r#"{"to": 12345678901234567890123, "n": [1.10, 1e400, -0]}"#;
    let (engine, approver) = engine();
    let mut talk = engine.talk();
    let asked = talk.call("c1", "pay", text).unwrap();
    let Outcome::Confirm(confirm) = &asked else { panic!("{asked:?}") };
    assert!(confirm.shown.arguments.contains("12345678901234567890123"), "{}", confirm.shown.arguments);
    approver.approve(&approval_of(&asked), 1_000).unwrap();
    let Some(Outcome::Forward(forward)) = talk.take_up(&approval_of(&asked)) else { panic!("it runs") };
    let exact = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(exact(&forward.arguments_json), exact(text));
    let Outcome::Forward(free) = talk.call("c2", "look", text).unwrap() else { panic!("it runs") };
    assert_eq!(exact(&free.arguments_json), exact(text));
    // One more digit makes another call.
    let other = talk.call("c1", "pay", text.replace("0123,", "0124,").as_str()).unwrap();
    assert_ne!(approval_of(&other), approval_of(&asked));
}

#[test]
fn unknown_tools_of_a_sub_agent_are_an_error() {
    let (engine, _approver) = engine();
    let mut talk = engine.talk();
    match talk.child(&["look", "lock", "expand_tools", "pai"]) {
        Err(StartError::UnknownTools { names, near }) => {
            assert_eq!(
                (names, near),
                (vec!["lock".to_owned(), "pai".to_owned()], vec!["look".to_owned(), "pay".to_owned()])
            );
        }
        other => panic!("{:?}", other.map(|child| child.explain())),
    }
    let arms = [("control".to_owned(), Arm::Full), ("treatment".to_owned(), Arm::Stable)];
    let tried = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).experiment(Experiment { arms, ratio: 0.5 });
    let engine = tried.build().unwrap();
    assert!(matches!(engine.conversation(Wire::OpenAiChat).start(), Err(StartError::NoId)));
    assert!(engine.conversation(Wire::OpenAiChat).id("c-1").start().is_ok());
}

#[test]
fn a_message_of_another_wire_is_an_error() {
    let (engine, _approver) = engine();
    for wire in Wire::ALL {
        let made = wire.assistant_message(&[("c1", "look", json!({}))]);
        for own in Wire::ALL.into_iter().filter(|own| *own != wire) {
            let mut talk = engine.talk_on(own);
            match talk.turn(&made) {
                Err(why @ TurnError::Wire(_)) => {
                    let said = why.to_string();
                    assert!(said.contains(own.name()) || said.contains(wire.name()), "{own} reads {wire}: {said}");
                }
                other => panic!("{own} reads {wire}: {} calls", other.map_or(0, |turn| turn.outcomes().len())),
            }
            assert_eq!(written(&talk), written(&engine.talk_on(own)), "{own} reads {wire}: nothing is judged");
        }
    }
}

/// Two tools whose names become one name where dots are not allowed.
#[test]
fn tools_with_colliding_names_are_reachable_on_every_wire() {
    let tool = |name: &str| {
        json!({"name": name, "description": format!("Do it. {}", crate::LONG),
            "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}})
    };
    let tools = json!([tool("files.write"), tool("files_write"), tool("files.wríte")]).to_string();
    let profile = "[category.'files.write']\ndescription = 'of files.write'\ntools = ['files*']";
    for wire in Wire::ALL {
        for arm in
            Arm::EVERYWHERE.into_iter().chain([Arm::Native, Arm::Append]).filter(|arm| wire.supports(*arm).is_ok())
        {
            let catalog = Catalog::from_mcp(&tools).unwrap();
            let profile = ToolProfile::parse(profile, "p.toml").into_result().unwrap();
            let engine = Engine::builder(catalog).profile(profile).arm(arm).build().unwrap();
            let mut talk = engine.talk_on(wire);
            let names: Vec<String> = talk.tools().entries().into_iter().map(|entry| entry.name).collect();
            let opened = talk.fork().dispatch(&Call::fresh("expand_tools", json!({"categories": ["files.write"]})));
            let said = opened.content().unwrap_or_default().into_owned();
            for (target, own) in [("files.write", 0), ("files_write", 1), ("files.wríte", 2)] {
                // With arms `index`, `search` and `append`, the answer of `expand_tools` has the
                // names.
                let definitions = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
                let listed: Vec<String> =
                    definitions.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
                let loaded = said.strip_prefix("Loaded, call it directly: ").map(|names| names.split(", "));
                let listed: Vec<String> =
                    listed.into_iter().chain(loaded.into_iter().flatten().map(str::to_owned)).collect();
                let in_array = names.get(own).filter(|_| arm.extended().is_in_array());
                let shown = in_array.or(listed.get(own)).unwrap();
                let plain = Call::fresh(shown, json!({"a": "x"}));
                let wrapped = Call::fresh("call_tool", json!({"name": shown, "arguments": {"a": "x"}}));
                let call = if arm.delivery() == Delivery::Bridge { wrapped } else { plain };
                match talk.dispatch(&call) {
                    Outcome::Forward(forward) => assert_eq!(forward.target.as_str(), target, "{wire} {arm}: `{shown}`"),
                    other => panic!("{wire} {arm}: `{shown}`: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn a_repeated_call_has_the_same_policy_decision() {
    let (engine, _approver) = engine();
    let mut talk = engine.talk();
    let look = Call::new("c1", "look", json!({}));
    let (first, again) = (talk.dispatch(&look), talk.dispatch(&look));
    assert_eq!(first, again);
    let Outcome::Forward(forward) = again else { panic!("{again:?}") };
    assert_eq!(serde_json::to_value(&forward.context).unwrap()["policy"], "allow");
    let mut resumed = engine.replay(&talk.take_log(0)).unwrap();
    assert_eq!(resumed.dispatch(&look), first, "the log has it, too");
}

#[test]
fn a_forgotten_log_counts_as_taken() {
    let (engine, _approver) = engine();
    let (mut kept, mut dropped) = (engine.talk(), engine.talk());
    for talk in [&mut kept, &mut dropped] {
        let _ = talk.dispatch(&Call::new("c1", "look", json!({})));
    }
    let before = kept.events().len();
    dropped.forget_log();
    assert!(before > 0 && dropped.events().is_empty());
    assert_eq!(
        serde_json::to_value(dropped.snapshot()).unwrap()["state"]["events"],
        serde_json::to_value(kept.snapshot()).unwrap()["state"]["events"]
    );
    for talk in [&mut kept, &mut dropped] {
        let _ = talk.dispatch(&Call::new("c2", "look", json!({"n": 1})));
    }
    let numbers = |talk: &mut Conversation, skip| -> Vec<u64> {
        talk.take_log(0).iter().skip(skip).map(|record| record.seq).collect()
    };
    assert_eq!(numbers(&mut dropped, 0), numbers(&mut kept, before));
}

#[test]
fn counted_tokens_are_logged_without_other_effects() {
    let (engine, _approver) = engine();
    let mut talk = engine.talk();
    talk.tools();
    let before = serde_json::to_value(talk.snapshot()).unwrap();
    talk.counted("billed:openai-chat/gpt-4.1", 1_234);
    let mut after = serde_json::to_value(talk.snapshot()).unwrap();
    after["state"]["events"] = before["state"]["events"].clone();
    assert_eq!(after, before);
    let last = serde_json::to_value(talk.take_log(0).last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["tokens"]), (&json!("counted"), &json!(1_234)));
}

#[test]
fn a_custom_name_rule_applies_to_the_whole_conversation() {
    let tools = json!([
        {"name": "list_all_repositories_of_a_team", "inputSchema": {"type": "object"}},
        {"name": "files.write", "inputSchema": {"type": "object"}}]);
    let engine = Engine::builder(Catalog::from_mcp(&tools.to_string()).unwrap()).build().unwrap();
    let row = "[[limit]]\nwire = 'openai-chat'\nmodel = 'small-*'\nmax_tools = 1\nname = { max_len = 20, joints = '_' }\n\
               source = 'own'\ndate = '2026-11'\n";
    let own = Capabilities::parse(row, "own.toml").into_result().unwrap();
    let table = own.over(Capabilities::builtin());
    let start =
        |model: &str| engine.conversation(Wire::OpenAiChat).capabilities(&table).model(model).arm(Arm::Full).start();
    let names =
        |talk: &mut Conversation| talk.tools().entries().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    let mut usual = start("large-1").unwrap();
    assert_eq!(names(&mut usual), ["list_all_repositories_of_a_team", "files_write"]);
    let mut small = start("small-1").unwrap();
    let shown = names(&mut small);
    assert!(shown.iter().all(|name| name.len() <= 20), "{shown:?}");
    assert_eq!(names(&mut usual), names(&mut start("large-2").unwrap()), "the shipped rule's names are untouched");
    let outcome = small.call("1", &shown[0], json!({})).unwrap();
    assert!(matches!(&outcome, Outcome::Forward(f) if f.target == "list_all_repositories_of_a_team"), "{outcome:?}");
    let too_many = |talk: &Conversation| talk.diagnostics().iter().any(|one| one.code == "too-many-tools");
    assert!(too_many(&small) && !too_many(&usual));
    // A conversation recreated from a log or a snapshot, or forked, has the same names and limits.
    let log = small.clone().take_log(0);
    let mut others = [engine.replay(&log).unwrap(), engine.restore(small.snapshot()).unwrap(), small.fork()];
    for other in &mut others {
        assert_eq!(names(other), shown);
        assert!(too_many(other));
    }
    let mut child = small.child(&["files.write"]).unwrap();
    assert_eq!(names(&mut child), shown[1..]);
}

#[test]
fn memory_is_bounded_and_identical_after_replay() {
    let (engine, _approver) = engine();
    let mut talk = engine.talk();
    let remembered = |talk: &Conversation| {
        let state = serde_json::to_value(talk.snapshot()).unwrap()["state"].take();
        let calls: Vec<String> = state["calls"].as_object().unwrap().keys().cloned().collect();
        calls
    };
    // A quick run checks after every eighth call.
    let looks = |n: usize| n % 8 == 7 || !toolfold_testing::Cases::of_this_run().is_quick();
    for n in 0..400 {
        talk.call(format!("c{n}"), "look", json!({"n": n})).unwrap();
        if !looks(n) {
            continue;
        }
        let calls = remembered(&talk);
        assert!(calls.len() <= 320 && calls.len() >= (n + 1).min(256), "{} after {n}", calls.len());
        assert_eq!(*calls.last().unwrap(), format!("c{n}"), "the newest stay");
    }
    let snapshot = serde_json::to_string(&talk.snapshot()).unwrap();
    go_on_alike(&engine, talk, &snapshot);
    // Long answers count by their length: a few calls reach a megabyte.
    let big = |n: usize| json!({"name": format!("big{n}"), "description": "d".repeat(60_000), "inputSchema": {"type": "object"}});
    let tools = json!((0..40).map(big).collect::<Vec<_>>());
    let engine = Engine::builder(Catalog::from_mcp(&tools.to_string()).unwrap()).arm(Arm::Stable).build().unwrap();
    let mut talk = engine.talk();
    for n in 0..40 {
        talk.call(format!("u{n}"), &format!("big{n}"), json!([n])).unwrap();
    }
    let kept = remembered(&talk);
    assert!((10..20).contains(&kept.len()), "{} answers of 60,000 bytes", kept.len());
    let snapshot = serde_json::to_string(&talk.snapshot()).unwrap();
    go_on_alike(&engine, talk, &snapshot);
}

/// A conversation recreated from the log or the snapshot drops the same calls as the original.
fn go_on_alike(engine: &Engine, mut talk: Conversation, snapshot: &str) {
    let log = talk.clone().take_log(0);
    let read = serde_json::from_str(snapshot).unwrap();
    let mut others = [engine.replay(&log).unwrap(), engine.restore(read).unwrap(), talk.fork()];
    talk = engine.replay(&talk.take_log(0)).unwrap();
    for n in 0..90 {
        let id = format!("d{n}");
        let name = engine.catalog().names().last().unwrap().as_str();
        talk.call(&id, name, json!([n])).unwrap();
        let calls = |talk: &Conversation| serde_json::to_value(talk.snapshot()).unwrap()["state"]["calls"].take();
        for other in &mut others {
            other.call(&id, name, json!([n])).unwrap();
            let looks = n % 8 == 7 || !toolfold_testing::Cases::of_this_run().is_quick();
            assert!(!looks || calls(other) == calls(&talk), "after {n}: {} and {}", calls(other), calls(&talk));
        }
    }
}

#[test]
fn a_rejected_call_requests_no_second_approval() {
    let (engine, approver) = engine();
    let mut talk = engine.talk();
    let asked = approval_of(&talk.dispatch(&pay("c1")));
    approver.reject(&asked, Some("too dear"), 1_000).unwrap();
    let refused = talk.take_up(&asked).unwrap();
    assert!(matches!(refused, Outcome::Refuse(_)));
    assert_eq!(talk.dispatch(&pay("c1")), refused, "the same call again is told the same, reason and all");
    let Outcome::Refuse(again) = talk.dispatch(&pay("c2")) else { panic!("refused without asking") };
    assert_eq!(again.reason, "this exact call was rejected before");
    assert_eq!((talk.pending().count(), approver.pending(1_000).unwrap().len()), (0, 0));
    assert!(matches!(talk.dispatch(&Call::new("c3", "pay", json!({"to": 8}))), Outcome::Confirm(_)), "another call");
    // The log contains it too.
    let mut resumed = engine.replay(&talk.take_log(0)).unwrap();
    assert!(matches!(resumed.dispatch(&pay("c4")), Outcome::Refuse(_)));
    // A fork remembers it; another conversation does not.
    assert!(matches!(talk.fork().dispatch(&pay("c5")), Outcome::Refuse(_)));
    assert!(matches!(engine.talk().dispatch(&pay("c1")), Outcome::Confirm(_)));
}

#[test]
fn at_most_twenty_calls_wait_for_approval() {
    let (engine, approver) = engine();
    let mut talk = engine.talk();
    let call = |to: u64| Call::new(&format!("c{to}"), "pay", json!({ "to": to }));
    let first = approval_of(&talk.dispatch(&call(0)));
    for to in 1..20 {
        assert!(matches!(talk.dispatch(&call(to)), Outcome::Confirm(_)), "{to}");
    }
    let Outcome::Refuse(refused) = talk.dispatch(&call(20)) else { panic!("one too many") };
    assert!(refused.reason.starts_with("20 calls already wait for approval"), "{}", refused.reason);
    // An identical call of a waiting one does not count again, and a decision frees a place.
    assert!(matches!(talk.dispatch(&Call::new("again", "pay", json!({"to": 3}))), Outcome::Confirm(_)));
    approver.reject(&first, None, 1_000).unwrap();
    assert!(matches!(talk.dispatch(&call(21)), Outcome::Confirm(_)));
}
