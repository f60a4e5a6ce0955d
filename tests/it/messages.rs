//! Messages have keys and calls have positions: a provider's call id is only the label of an
//! answer.

mod blind;
mod model;
mod resumed;
mod rules;

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{CallId, Conversation, LogRecord, Outcome, Reply, ReplyKind, Resumed};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{Approver, Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::wire::{Message, Wire};

/// Three tools: a read-only one, an audited one, and one that requires approval.
const TOOLS: &str = r#"[
    {"name": "look", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    {"name": "note", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    {"name": "pay", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}]"#;

const RULES: &str = "[tool.pay]\ntier = 'a'\n[tool.note]\ntier = 'b'\n[tool.look]\ntier = 'read_only'\n";

fn engine() -> (Engine, Approver, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let file = PolicyFile::load(RULES, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![file]), store.clone(), || 1_000);
    let policy = policy.context(Context::default().with_interactive(true));
    let engine = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).policy(policy).build().unwrap();
    (engine, approver, store)
}

fn start(engine: &Engine, wire: Wire) -> Conversation {
    engine.conversation(wire).id("c-1").start().unwrap()
}

fn message(wire: Wire, calls: &[(&str, &str, u64)]) -> Value {
    let calls: Vec<_> = calls.iter().map(|(id, name, n)| (*id, *name, json!({"n": n}))).collect();
    wire.assistant_message(&calls)
}

/// The outcomes of a message.
fn judge<'m>(conversation: &mut Conversation, message: impl Into<Message<'m>>) -> Vec<Outcome> {
    conversation.turn(message).unwrap().outcomes().cloned().collect()
}

fn only(outcomes: Vec<Outcome>) -> Outcome {
    let [outcome] = <[Outcome; 1]>::try_from(outcomes).unwrap();
    outcome
}

#[track_caller]
fn approval(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Confirm(confirm) => confirm.approval.to_string(),
        other => panic!("not asked: {other:?}"),
    }
}

#[track_caller]
fn reply(outcome: &Outcome) -> &Reply {
    match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("not answered: {other:?}"),
    }
}

#[track_caller]
fn refusal(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Refuse(refuse) => &refuse.reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn is_forward(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Forward(_))
}

fn records(store: &MemoryStore, kind: Kind) -> Vec<Entry> {
    let chain = store.chain().unwrap();
    let entries = chain.iter().map(|(_, body, _, _)| serde_json::from_str::<Entry>(body).unwrap());
    entries.filter(|entry| entry.kind == kind).collect()
}

/// Appends the new records to a log, and returns the conversation that another process recreates
/// from it.
fn restarted(engine: &Engine, conversation: &mut Conversation, log: &mut Vec<LogRecord>) -> Conversation {
    log.extend(conversation.take_log(0));
    engine.replay(log).unwrap()
}

#[test]
fn the_same_call_in_two_messages_is_approved_twice_on_every_wire() {
    for wire in Wire::ALL {
        for restarts in [false, true] {
            let (engine, approver, store) = engine();
            let (mut talk, mut log) = (start(&engine, wire), Vec::new());
            let message = message(wire, &[("pay:0", "pay", 7)]);
            // These two refuse `:` in ids.
            let is_plain = matches!(wire, Wire::Anthropic | Wire::BedrockConverse);
            let label = if is_plain { "pay_0" } else { "pay:0" };
            for (round, wanted) in ["ap-1", "ap-2"].into_iter().enumerate() {
                let asked = only(judge(&mut talk, &message));
                assert_eq!(approval(&asked), wanted, "{wire}");
                approver.approve(wanted, 1_000).unwrap();
                let Ok(Resumed::Run(run)) = talk.resume(&wanted.into()) else { panic!("{wire}: approved") };
                assert_eq!(run.id, *asked.id());
                let answer = talk.answer(&run.id, "paid").unwrap();
                assert!(wire == Wire::Mcp || answer[0].to_string().contains(label), "{wire}: {answer:?}");
                if restarts {
                    talk = restarted(&engine, &mut talk, &mut log);
                }
                assert_eq!(records(&store, Kind::Consumed).len(), round + 1, "{wire}");
            }
            let asked = records(&store, Kind::Asked);
            assert_eq!(asked.iter().map(|entry| entry.call_id.as_str()).collect::<Vec<_>>(), [label, label]);
            assert_ne!(asked[0].detail["message"], asked[1].detail["message"], "records distinguish them");
        }
    }
}

#[test]
fn a_changed_call_under_an_old_id_is_a_new_call() {
    let (engine, _approver, store) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    for n in 0..3 {
        let outcome = only(judge(&mut talk, &message(Wire::OpenAiChat, &[("c", "note", n)])));
        let Outcome::Forward(forward) = &outcome else { panic!("{outcome:?}") };
        assert_eq!((forward.id.as_str(), &forward.arguments), ("c", &json!({"n": n})));
        talk.report_result(&forward.id, true);
    }
    assert_eq!(records(&store, Kind::Decision).len(), 3);
    assert_eq!(records(&store, Kind::Outcome).len(), 3);
}

#[test]
fn two_calls_of_one_id_in_a_message_get_their_own_answers() {
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Anthropic, Wire::Gemini] {
        let (engine, _approver, _) = engine();
        let mut talk = start(&engine, wire);
        let mut turn = talk.turn(&message(wire, &[("x", "look", 1), ("x", "look", 2), ("x", "look", 1)])).unwrap();
        let ids: Vec<CallId> = turn.runnable().iter().map(|forward| forward.id.clone()).collect();
        assert_eq!(ids[0], "x", "{wire}");
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "{wire}: {ids:?}");
        for (id, result) in [(&ids[2], "third"), (&ids[1], "second"), (&ids[0], "first")] {
            turn.finish(id, result).unwrap();
        }
        let answers = json!(turn.into_messages()).to_string();
        let at = |text: &str| answers.find(text).unwrap();
        assert!(at("first") < at("second") && at("second") < at("third"), "{wire}: {answers}");
        for id in &ids {
            assert_eq!(answers.matches(&format!("\"{id}\"")).count(), 1, "{wire}: {id}: {answers}");
        }
    }
    // A host that wraps results itself and has no other ids: the calls end in their order.
    let (engine, _approver, _) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    judge(&mut talk, &message(Wire::OpenAiChat, &[("x", "look", 1), ("x", "look", 2)]));
    assert!(talk.answer(&"x".into(), "one").is_ok());
    assert!(talk.answer(&"x~2".into(), "two").is_ok());
    assert!(talk.answer(&"x".into(), "three").is_err());
}

#[test]
fn a_repeated_open_message_is_a_resend() {
    let (engine, _approver, store) = engine();
    let (mut talk, mut log) = (start(&engine, Wire::OpenAiChat), Vec::new());
    let message = message(Wire::OpenAiChat, &[("1", "look", 1), ("2", "note", 2), ("3", "pay", 3), ("4", "lock", 4)]);
    let first = judge(&mut talk, &message);
    talk.answer(&"1".into(), "what there is").unwrap();
    let before = store.chain().unwrap().len();
    let again = judge(&mut talk, &message);
    assert_eq!(reply(&again[0]).answer.kind, ReplyKind::Finished);
    assert_eq!((&*reply(&again[0]).answer.content, reply(&again[0]).answer.failed), ("what there is", false));
    let same = |again: &[Outcome]| {
        assert_eq!((&again[1], &again[3]), (&first[1], &first[3]), "forwarded and answered calls get the same outcome");
        assert_eq!(approval(&again[2]), "ap-1", "and a waiting call its approval");
    };
    same(&again);
    assert_eq!(store.chain().unwrap().len(), before, "nothing more is on record");
    // Another process has everything but the result, which a log contains only on request.
    let mut other = restarted(&engine, &mut talk, &mut log);
    let again = judge(&mut other, &message);
    assert!(reply(&again[0]).answer.content.contains("already ran"), "{}", reply(&again[0]).answer.content);
    same(&again);
    // A snapshot contains it.
    let mut other = engine.restore(serde_json::from_value(json!(talk.snapshot())).unwrap()).unwrap();
    assert_eq!(&*reply(&judge(&mut other, &message)[0]).answer.content, "what there is");
    // Another message closes it: the same bytes are then a new message.
    judge(&mut talk, &self::message(Wire::OpenAiChat, &[("5", "look", 9)]));
    let anew = judge(&mut talk, &message);
    assert!(is_forward(&anew[0]) && is_forward(&anew[1]));
    assert_eq!(records(&store, Kind::Decision).len(), 2, "the audited call is on record twice");
}

#[test]
fn results_are_logged_on_request_and_redacted_in_snapshots() {
    let (engine, _approver, _) = engine();
    let (mut talk, mut log) = (start(&engine, Wire::OpenAiChat), Vec::new());
    talk.log_results = true;
    let message = message(Wire::OpenAiChat, &[("1", "look", 1), ("2", "look", 2)]);
    judge(&mut talk, &message);
    let long = format!("{} token=abcdef", "x".repeat(5_000));
    talk.answer(&"1".into(), long.as_str()).unwrap();
    let mut other = restarted(&engine, &mut talk, &mut log);
    assert_eq!(&*reply(&judge(&mut other, &message)[0]).answer.content, long);
    let mut other = engine.restore(talk.snapshot()).unwrap();
    let stored = reply(&judge(&mut other, &message)[0]).answer.content.to_string();
    assert_eq!(stored, format!("{} token=[redacted]", "x".repeat(5_000)), "without secrets, at its full length");
    assert_eq!(
        &*reply(&judge(&mut talk.fork(), &message)[0]).answer.content,
        long,
        "a fork continues the open message"
    );
    // A closed message has no stored results.
    talk.report_result(&"2".into(), true);
    assert!(json!(talk.snapshot()).get("results").is_none());
}

#[test]
fn an_approval_is_used_once_unless_the_call_is_paused() {
    let approved = |talk: &mut Conversation, approver: &Approver, message: &Value| {
        let asked = approval(&only(judge(talk, message)));
        approver.approve(&asked, 1_000).unwrap();
        assert!(matches!(talk.resume(&asked.as_str().into()), Ok(Resumed::Run(_))));
    };
    let (engine, approver, _) = engine();
    let (mut talk, mut log) = (start(&engine, Wire::OpenAiChat), Vec::new());
    let message = message(Wire::OpenAiChat, &[("p", "pay", 1)]);
    approved(&mut talk, &approver, &message);
    assert!(refusal(&only(judge(&mut talk, &message))).contains("already used"));
    for _ in 0..2 {
        talk.pause(&"p".into()).unwrap();
        assert!(is_forward(&only(judge(&mut talk, &message))), "its host paused it");
        assert!(refusal(&only(judge(&mut talk, &message))).contains("check whether the call took effect"));
    }
    talk.pause(&"p".into()).unwrap();
    let mut other = restarted(&engine, &mut talk, &mut log);
    assert!(refusal(&only(judge(&mut other, &message))).contains("already used"), "a pause holds for one process");
    // Once reported, the message is closed, and a new one requests approval again.
    talk.report_result(&"p".into(), true);
    assert_eq!(approval(&only(judge(&mut talk, &message))), "ap-2");
    assert!(talk.pause(&"p".into()).is_err(), "nothing of that id is at the host");
}

#[test]
fn identical_calls_of_a_message_are_approved_separately() {
    let (engine, approver, store) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    let mut turn = talk.turn(&message(Wire::OpenAiChat, &[("1", "pay", 7), ("2", "pay", 7)])).unwrap();
    assert_eq!(turn.waiting().iter().map(|one| one.approval.as_str()).collect::<Vec<_>>(), ["ap-1", "ap-1"]);
    approver.approve("ap-1", 1_000).unwrap();
    assert!(matches!(turn.resume(&"ap-1".into()), Ok(Resumed::Run(forward)) if forward.id == "1"));
    let Ok(Resumed::Waiting(second)) = turn.resume(&"ap-1".into()) else { panic!("the approval was used once") };
    assert_eq!((second.id.as_str(), second.approval.as_str()), ("2", "ap-2"));
    approver.approve("ap-2", 1_000).unwrap();
    assert!(matches!(turn.resume(&"ap-2".into()), Ok(Resumed::Run(forward)) if forward.id == "2"));
    assert!(turn.resume(&"ap-2".into()).is_err());
    assert_eq!(turn.runnable().len(), 2);
    assert_eq!(records(&store, Kind::Consumed).len(), 2);
}

#[test]
fn a_call_that_failed_is_retried_unless_it_was_approved() {
    let (engine, approver, store) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    let failing = message(Wire::OpenAiChat, &[("n", "note", 1)]);
    for attempt in 1..=6 {
        assert!(is_forward(&only(judge(&mut talk, &failing))), "attempt {attempt} of its host");
        assert_eq!(records(&store, Kind::Decision).len(), attempt, "each run is on record");
        talk.report_result(&"n".into(), false);
    }
    let approved = message(Wire::OpenAiChat, &[("p", "pay", 1)]);
    let asked = approval(&only(judge(&mut talk, Message::from(&approved).keyed("msg_1"))));
    approver.approve(&asked, 1_000).unwrap();
    talk.resume(&asked.as_str().into()).unwrap();
    talk.report_result(&"p".into(), false);
    let again = only(judge(&mut talk, Message::from(&approved).keyed("msg_1")));
    assert!(refusal(&again).contains("ran and failed"), "{}", refusal(&again));
    assert_eq!(approval(&only(judge(&mut talk, &approved))), "ap-2", "a new message asks anew");
}

#[test]
fn a_key_always_identifies_its_message() {
    let (engine, approver, store) = engine();
    let (mut talk, mut log) = (start(&engine, Wire::OpenAiChat), Vec::new());
    let message = message(Wire::OpenAiChat, &[("a", "note", 1), ("b", "pay", 2)]);
    let keyed = |key: &'static str| Message::from(&message).keyed(key);
    let first = judge(&mut talk, keyed("msg_1"));
    approver.approve(&approval(&first[1]), 1_000).unwrap();
    talk.resume(&"ap-1".into()).unwrap();
    talk.answer(&"a".into(), "noted").unwrap();
    talk.answer(&"b".into(), "paid").unwrap();
    // The same bytes under another key: the model wrote them again.
    let second = judge(&mut talk, keyed("msg_2"));
    assert!(is_forward(&second[0]) && approval(&second[1]) == "ap-2");
    // An old checkpoint sends the first message again, in this process and in another one.
    let chain = store.chain().unwrap().len();
    let mut other = restarted(&engine, &mut talk, &mut log);
    for talk in [&mut talk, &mut other] {
        for outcome in judge(talk, keyed("msg_1")) {
            assert_eq!(reply(&outcome).answer.kind, ReplyKind::Finished);
        }
    }
    assert_eq!(store.chain().unwrap().len(), chain, "nothing ran and nothing is on record");
    // A process without a log finds the message's calls in the store.
    let mut fresh = start(&engine, Wire::OpenAiChat);
    assert!(refusal(&judge(&mut fresh, keyed("msg_1"))[1]).contains("approval ap-1 was already used"));
    let mut fresh = start(&engine, Wire::OpenAiChat);
    assert_eq!(approval(&judge(&mut fresh, keyed("msg_2"))[1]), "ap-2", "and what still waits");
    // Other calls under an old key: a new message, and a diagnostic.
    let changed = self::message(Wire::OpenAiChat, &[("a", "note", 5), ("b", "pay", 2)]);
    assert!(talk.take_notices().is_empty());
    assert!(is_forward(&judge(&mut talk, Message::from(&changed).keyed("msg_1"))[0]));
    assert_eq!(talk.take_notices()[0].code, "message-key-reused");
}

#[test]
fn another_call_under_a_used_id_requires_approval() {
    let (engine, approver, _) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    let pay = |n| message(Wire::OpenAiChat, &[("pay:0", "pay", n)]);
    approver.approve(&approval(&only(judge(&mut talk, &pay(1)))), 1_000).unwrap();
    talk.resume(&"ap-1".into()).unwrap();
    let mut fresh = start(&engine, Wire::OpenAiChat);
    assert_eq!(approval(&only(judge(&mut fresh, &pay(2)))), "ap-2", "other arguments are another call");
    let mut fresh = start(&engine, Wire::OpenAiChat);
    assert!(refusal(&only(judge(&mut fresh, &pay(1)))).contains("approval ap-1 was already used"));
}

#[test]
fn tools_ends_a_message_of_single_calls() {
    let (engine, _approver, store) = engine();
    let mut talk = start(&engine, Wire::OpenAiChat);
    let call = |talk: &mut Conversation, name: &str| talk.call("c", name, json!({"n": 1})).unwrap();
    // A framework asks about a call, then makes it: one record.
    assert_eq!(call(&mut talk, "note"), call(&mut talk, "note"));
    assert_eq!(records(&store, Kind::Decision).len(), 1);
    talk.report_result(&"c".into(), true);
    assert!(is_forward(&call(&mut talk, "note")), "its result was reported: the model means it again");
    assert_eq!(records(&store, Kind::Decision).len(), 2);
    talk.tools();
    assert!(is_forward(&call(&mut talk, "note")), "a new message");
    assert_eq!(records(&store, Kind::Decision).len(), 3);
    // An answer is given twice; then the call is new and counts for the loop breaker.
    let events = |talk: &Conversation| talk.clone().take_log(0).len();
    call(&mut talk, "lock");
    let before = events(&talk);
    call(&mut talk, "lock");
    assert_eq!(events(&talk), before);
    call(&mut talk, "lock");
    assert!(events(&talk) > before);
}
