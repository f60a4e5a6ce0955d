//! One case for each rule that decides which message a call belongs to, and which results are
//! stored.

use std::sync::atomic::{AtomicI64, Ordering};

use toolfold::conversation::{Event, ModelCall};

use super::*;

fn call(id: &str, name: &str, n: u64) -> ModelCall {
    ModelCall::new(id, name, json!({ "n": n }))
}

/// The outcomes of the calls of one message.
fn whole(talk: &mut Conversation, calls: &[ModelCall], key: Option<&str>) -> Vec<Outcome> {
    talk.calls(calls.to_vec(), key).outcomes().cloned().collect()
}

fn in_message(talk: &mut Conversation, key: &str, call: &ModelCall) -> Outcome {
    talk.call_in(key, call.id.clone(), &call.name, call.arguments.clone()).unwrap()
}

fn single(talk: &mut Conversation, call: &ModelCall) -> Outcome {
    talk.call(call.id.clone(), &call.name, call.arguments.clone()).unwrap()
}

#[track_caller]
fn approve(talk: &mut Conversation, approver: &Approver, asked: &Outcome) {
    let id = approval(asked);
    approver.approve(&id, 1_000).unwrap();
    assert!(matches!(talk.resume(&id.as_str().into()), Ok(Resumed::Run(_))), "{id}");
}

fn wire_talk() -> (Conversation, Approver) {
    let (engine, approver, _) = engine();
    (start(&engine, Wire::OpenAiChat), approver)
}

/// The texts of stored results in a snapshot.
fn stored(talk: &mut Conversation) -> Vec<String> {
    let snapshot = json!(talk.snapshot());
    let results = snapshot.get("results").and_then(Value::as_object);
    let texts = results.into_iter().flatten().map(|(_, text)| text.as_str().unwrap().to_owned());
    texts.collect()
}

#[test]
fn a_single_call_is_repeated_under_its_messages_key() {
    let (mut talk, _) = wire_talk();
    let look = call("look:0", "look", 1);
    assert!(is_forward(&in_message(&mut talk, "m1", &look)));
    in_message(&mut talk, "m1", &call("look:1", "look", 2));
    talk.answer(&"look:0".into(), "seen").unwrap();
    assert_eq!(&*reply(&in_message(&mut talk, "m1", &look)).answer.content, "seen");
    assert!(is_forward(&in_message(&mut talk, "m2", &look)), "another message");
}

/// A host may replace `call_tool` by the name of the tool: the call is the same.
#[test]
fn a_call_is_the_same_under_another_name() {
    let (mut talk, _) = wire_talk();
    let named = [call("1", "look", 1), call("2", "look", 2)];
    let wrapped = [ModelCall::new("1", "call_tool", json!({"name": "look", "arguments": {"n": 1}})), named[1].clone()];
    assert!(whole(&mut talk, &wrapped, Some("m1")).iter().all(is_forward));
    talk.answer(&"1".into(), "seen").unwrap();
    assert_eq!(&*reply(&whole(&mut talk, &named, Some("m1"))[0]).answer.content, "seen");
}

#[test]
fn calls_with_and_without_a_key_differ() {
    let (mut talk, approver) = wire_talk();
    let pay = call("pay:0", "pay", 1);
    let asked = in_message(&mut talk, "m1", &pay);
    approve(&mut talk, &approver, &asked);
    assert_eq!(approval(&single(&mut talk, &pay)), "ap-2", "the first approval runs one call");
}

#[test]
fn messages_with_and_without_a_key_differ() {
    let (mut talk, _) = wire_talk();
    let calls = [call("1", "look", 1), call("2", "look", 2)];
    whole(&mut talk, &calls, Some("m1"));
    talk.answer(&"1".into(), "seen").unwrap();
    assert!(whole(&mut talk, &calls, None).iter().all(is_forward), "it is new, and runs");
}

#[test]
fn a_single_call_after_a_whole_message_begins_a_message() {
    let (mut talk, _) = wire_talk();
    let calls = [call("1", "look", 1), call("2", "look", 2)];
    whole(&mut talk, &calls, None);
    talk.answer(&"1".into(), "seen").unwrap();
    single(&mut talk, &call("3", "look", 3));
    assert!(whole(&mut talk, &calls, None).iter().all(is_forward), "the message before it is closed");
}

#[test]
fn a_longer_message_is_new_unless_it_has_a_key() {
    let first = [call("1", "look", 1), call("2", "look", 2)];
    let longer = [first[0].clone(), first[1].clone(), call("3", "look", 3)];
    let (mut talk, _) = wire_talk();
    whole(&mut talk, &first, None);
    talk.answer(&"1".into(), "seen").unwrap();
    assert!(whole(&mut talk, &longer, None).iter().all(is_forward));
    // The first calls came one by one, as a stream brought them, and then all of them.
    let (mut talk, _) = wire_talk();
    for each in &first {
        in_message(&mut talk, "m1", each);
    }
    talk.answer(&"1".into(), "seen").unwrap();
    let again = whole(&mut talk, &longer, Some("m1"));
    assert_eq!(&*reply(&again[0]).answer.content, "seen");
    assert!(is_forward(&again[1]) && is_forward(&again[2]));
    assert!(talk.take_notices().is_empty(), "its key was not given to another message");
}

#[test]
fn a_long_key_is_stored_by_its_digest() {
    let (mut talk, _) = wire_talk();
    let (key, other) = ("k".repeat(10_000), format!("{}x", "k".repeat(9_999)));
    let look = call("look:0", "look", 1);
    in_message(&mut talk, &key, &look);
    in_message(&mut talk, &key, &call("look:1", "look", 2));
    talk.answer(&"look:0".into(), "seen").unwrap();
    assert_eq!(&*reply(&in_message(&mut talk, &key, &look)).answer.content, "seen");
    assert!(is_forward(&in_message(&mut talk, &other, &look)));
    let log = json!(talk.take_log(0)).to_string();
    assert!(log.len() < 8_000, "{} bytes", log.len());
}

/// An expired approval is void: the call is judged again, also if its message is resent.
#[test]
fn an_expired_approval_is_requested_again() {
    let clock = Arc::new(AtomicI64::new(1_000));
    let (own, store) = (clock.clone(), Arc::new(MemoryStore::default()));
    let file = PolicyFile::load(RULES, "policy.toml", PolicyScope::User).into_result().unwrap();
    let now = move || own.load(Ordering::Relaxed);
    let (policy, _approver) = PolicyLayer::open(Policy::new(vec![file]), store, now);
    let engine = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).policy(policy).build().unwrap();
    let pay = [call("pay:0", "pay", 1)];
    for again in ["m1", "m3"] {
        let mut talk = start(&engine, Wire::OpenAiChat);
        let first = approval(&only(whole(&mut talk, &pay, Some("m1"))));
        for key in ["m1", "m2"] {
            assert_eq!(approval(&only(whole(&mut talk, &pay, Some(key)))), first, "{key}: it waits still");
        }
        clock.fetch_add(1_000 * 3_600 * 24 * 30, Ordering::Relaxed);
        let asked = only(whole(&mut talk, &pay, Some(again)));
        assert_ne!(approval(&asked), first, "{again}: thirty days later");
    }
}

#[test]
fn only_successful_results_of_the_open_message_are_stored() {
    let (mut talk, _) = wire_talk();
    let calls = [call("1", "look", 1), call("2", "look", 2), call("3", "look", 3)];
    whole(&mut talk, &calls, None);
    talk.log_results = true;
    talk.answer(&"1".into(), "seen").unwrap();
    let failed = toolfold::conversation::ToolResult::new("no such row", true);
    talk.answer(&"2".into(), failed).unwrap();
    assert_eq!(stored(&mut talk), ["seen"]);
    let log = talk.take_log(0);
    let mut replayed = engine().0.replay(&log).unwrap();
    assert_eq!(stored(&mut replayed), ["seen"], "from the log");
    whole(&mut talk, &[call("4", "look", 4)], None);
    assert_eq!(stored(&mut talk), Vec::<String>::new(), "a new message closes those before it");
}

/// `docs/session.md`, "Messages that come again": at most 1 MB per result and 8 MB in total, the
/// oldest are dropped first.
#[test]
fn stored_results_are_bounded() {
    let (mut talk, _) = wire_talk();
    // One call is not answered, so its message stays open.
    let calls: Vec<ModelCall> = (0..14).map(|n| call(&n.to_string(), "look", n)).collect();
    whole(&mut talk, &calls, None);
    talk.log_results = true;
    for n in 0..12 {
        talk.answer(&n.to_string().as_str().into(), format!("{n:02}{}", "x".repeat((1 << 20) - 2))).unwrap();
    }
    talk.answer(&"12".into(), "x".repeat((1 << 20) + 1)).unwrap();
    let starts: Vec<String> = stored(&mut talk).iter().map(|text| text[..2].to_owned()).collect();
    assert_eq!(starts, ["04", "05", "06", "07", "08", "09", "10", "11"]);
}

/// The host reports a result by an id that two calls share: the first of them has ended.
#[test]
fn a_result_goes_to_the_first_call_of_the_last_message_with_that_id() {
    let (mut talk, _) = wire_talk();
    single(&mut talk, &call("0", "look", 0));
    single(&mut talk, &call("x", "look", 1));
    single(&mut talk, &call("x", "look", 2));
    talk.take_log(0);
    talk.report_result(&"x".into(), true);
    let log = talk.take_log(0);
    let ended = log.iter().filter_map(|record| match &record.event {
        Event::Finished { id, .. } => Some(id.as_str()),
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), ["x"]);
}

#[test]
fn an_approved_call_that_failed_has_ended() {
    let (mut talk, approver) = wire_talk();
    let pay = [call("pay:0", "pay", 1)];
    let asked = only(whole(&mut talk, &pay, None));
    approve(&mut talk, &approver, &asked);
    talk.report_result(&"pay:0".into(), false);
    assert_eq!(approval(&only(whole(&mut talk, &pay, None))), "ap-2", "the message is closed, and this one is new");
}

#[test]
fn seen_ends_a_message_of_single_calls() {
    let pay = call("pay:0", "pay", 1);
    let ends: [fn(&mut Conversation); 2] =
        [|talk| talk.seen(&json!([])).unwrap(), |talk| talk.seen_calls(Vec::<CallId>::new())];
    for end in ends {
        let (mut talk, approver) = wire_talk();
        let asked = single(&mut talk, &pay);
        approve(&mut talk, &approver, &asked);
        assert!(is_forward(&single(&mut talk, &pay)), "it is at the host, which asks once more");
        end(&mut talk);
        assert_eq!(approval(&single(&mut talk, &pay)), "ap-2", "a new message, and a new call");
    }
}

/// Local servers repeat ids, and a fork has other calls under the same ids.
#[test]
fn a_conversation_follows_only_a_history_of_its_own_calls() {
    let (mut talk, _) = wire_talk();
    whole(&mut talk, &[call("c", "look", 1), call("d", "look", 2)], None);
    for id in ["c", "d"] {
        talk.report_result(&id.into(), true);
    }
    whole(&mut talk, &[call("c", "look", 3)], None);
    let mut follows = |calls: &[(&str, &str)], answers: &[&str]| talk.follows(calls, answers);
    assert!(follows(&[("c", "look"), ("d", "look"), ("c", "look")], &["c", "d", "c"]));
    assert!(follows(&[("d", "look")], &["d"]), "a trimmed history");
    assert!(!follows(&[("c", "look"), ("c", "look"), ("c", "look")], &[]), "three calls of an id that two have");
    assert!(!follows(&[("c", "pay")], &[]), "another tool");
    assert!(!follows(&[], &["e"]), "an answer to no call");
}

/// Once a call is forgotten, its id and arguments may belong to a new call.
#[test]
fn a_call_like_a_forgotten_one_requires_approval() {
    let (mut talk, approver) = wire_talk();
    let pay = call("pay:0", "pay", 1);
    let asked = only(whole(&mut talk, std::slice::from_ref(&pay), None));
    approve(&mut talk, &approver, &asked);
    talk.report_result(&"pay:0".into(), true);
    for number in 0..400 {
        let look = call(&format!("look:{number}"), "look", number);
        whole(&mut talk, std::slice::from_ref(&look), None);
        talk.report_result(&look.id, true);
    }
    assert_eq!(approval(&only(whole(&mut talk, &[pay], None))), "ap-2");
}

/// Showing a definition first does not count as a failure: the call may fail as often as any other.
#[test]
fn a_call_that_was_shown_its_definition_has_not_failed() {
    let long = "What it is about, at length. ".repeat(40);
    let tool = |name: &str| {
        json!({"name": name, "description": long, "inputSchema": {"type": "object",
            "properties": {"a": {"type": "string", "description": long}, "b": {"type": "string", "description": long}}}})
    };
    let profile = toolfold::profile::ToolProfile::parse("[category.all]\ntools = ['*']", "p.toml").into_result();
    let catalog = Catalog::from_mcp(&json!([tool("one"), tool("two")]).to_string()).unwrap();
    let builder = Engine::builder(catalog).profile(profile.unwrap()).arm(toolfold::profile::Arm::Stable);
    let mut talk = builder.build().unwrap().conversation(Wire::OpenAiChat).start().unwrap();
    let one = |id: &str| ModelCall::new(id, "one", json!({"a": "x"}));
    assert_eq!(reply(&only(whole(&mut talk, &[one("0")], None))).answer.kind, ReplyKind::Shown);
    for id in ["1", "2", "3"] {
        assert!(is_forward(&only(whole(&mut talk, &[one(id)], None))), "call {id}");
        talk.report_result(&id.into(), false);
        // Another message, so that the failed call is not repeated with its own.
        whole(&mut talk, &[ModelCall::new("e", "expand_tools", json!({"tools": ["two"]}))], None);
    }
    assert_eq!(reply(&only(whole(&mut talk, &[one("4")], None))).answer.kind, ReplyKind::Loop, "it failed three times");
}

/// Two calls that share id, name and arguments, as servers send them that give all parallel calls
/// one id.
#[test]
fn calls_sharing_an_id_are_approved_separately() {
    for key in [None, Some("m1")] {
        let (mut talk, approver) = wire_talk();
        let pay = call("pay:0", "pay", 1);
        let mut turn = talk.calls([pay.clone(), pay.clone()], key);
        for approval in ["ap-1", "ap-2"] {
            let waiting = turn.waiting();
            assert_eq!(waiting.last().map(|own| own.approval.as_str()), Some(approval), "key {key:?}");
            approver.approve(approval, 1_000).unwrap();
            assert!(matches!(turn.resume(&approval.into()), Ok(Resumed::Run(_))), "key {key:?}");
            drop(turn.resume(&approval.into()));
        }
        assert_eq!(turn.runnable().len(), 2, "key {key:?}");
    }
}

/// The host ended after the first of two equal calls, without a log. No approval was requested for
/// the second call alone.
#[test]
fn identical_calls_are_distinguished_after_a_restart() {
    for key in [None, Some("m1")] {
        let (engine, approver, _) = engine();
        let twins = [call("pay:0", "pay", 1), call("pay:0", "pay", 1)];
        let mut talk = start(&engine, Wire::OpenAiChat);
        let asked = whole(&mut talk, &twins, key);
        approve(&mut talk, &approver, &asked[0]);
        let mut other = start(&engine, Wire::OpenAiChat);
        let again = whole(&mut other, &twins, key);
        assert!(refusal(&again[0]).contains("already used"), "key {key:?}: {}", refusal(&again[0]));
        assert_eq!(approval(&again[1]), "ap-2", "key {key:?}");
    }
}
