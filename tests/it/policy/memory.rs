//! Rules over earlier calls, on both stores.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Outcome;
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::audit::{Entry, Kind};
use toolfold::policy::{
    ApprovalError, ApprovalStore, Context, Decision, History, MemoryStore, Policy, PolicyCall, PolicyFile, PolicyScope,
    ToolOrigin,
};
use toolfold::store::SqliteStore;
use toolfold::wire::Wire;
use toolfold_testing::with;

pub(super) fn policy(rules: &str) -> Policy {
    let text = format!("[policy]\ndefault = \"allow\"\n{rules}");
    Policy::new(vec![PolicyFile::load(&text, "policy.toml", PolicyScope::User).into_result().unwrap()])
}

fn stores() -> [Arc<dyn ApprovalStore>; 2] {
    [Arc::new(MemoryStore::default()), Arc::new(SqliteStore::in_memory().unwrap())]
}

/// Decides on a call at a time, and records it where it runs. The call's id is `id`.
pub(super) fn call(
    (policy, store): (&Policy, &dyn ApprovalStore),
    (session, id): (&str, &str),
    now_ms: i64,
    (tool, arguments): (&str, &Value),
) -> Result<Decision, ApprovalError> {
    let context = Context::default().with_interactive(true).with_session(session).with_now_ms(now_ms);
    let prepared =
        policy.prepare(PolicyCall::new(&ToolOrigin::Native, tool, arguments), &context, None, History::default());
    let history = store.history(&prepared.series(), None)?;
    let prepared = prepared.with_history(history);
    let decision = prepared.decide(&[]).decision;
    if decision.runs() {
        let mut entry = with!(Entry::new(Kind::Decision, now_ms), session = session.into(), call_id = id.into());
        entry.decision = Some(decision.name().to_owned());
        entry.call = format!("{session}/{id}");
        entry.counted = prepared.counted();
        store.record(&entry)?;
    }
    Ok(decision)
}

/// The effect that a decision is.
pub(super) fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Deny => "deny",
        Decision::Confirm => "ask",
        Decision::Allow | Decision::AllowAudited => "allow",
    }
}

pub(super) fn settle(store: &dyn ApprovalStore, call: &str, outcome: &str, now_ms: i64) {
    let mut entry = Entry::new(Kind::Outcome, now_ms);
    (entry.call, entry.outcome) = (call.to_owned(), Some(outcome.to_owned()));
    store.record(&entry).unwrap();
}

/// One step: the time in seconds, the session, the tool, the arguments, the word of the decision,
/// and the outcome that is reported.
type Step = (i64, &'static str, &'static str, Value, &'static str, &'static str);

#[track_caller]
fn check(rules: &str, steps: &[Step]) {
    let policy = policy(rules);
    for (kind, store) in ["memory", "sqlite"].into_iter().zip(stores()) {
        for (at, (seconds, session, tool, arguments, expected, outcome)) in steps.iter().enumerate() {
            let id = at.to_string();
            let got = call((&policy, &*store), (session, &id), seconds * 1000, (tool, arguments)).unwrap();
            assert_eq!(word(got), *expected, "{kind}, step {at}: {tool} {arguments}");
            if !outcome.is_empty() {
                settle(&*store, &format!("{session}/{id}"), outcome, seconds * 1000);
            }
        }
    }
}

#[test]
fn a_call_needs_another_that_succeeded_with_the_same_arguments() {
    let rules = "[[rule]]\ndecide = \"deny\"\ntool = \"refund\"\nunless_after = \"look\"\nmatch_args = [\"order\"]";
    let order = |id: &str| json!({ "order": id });
    check(
        rules,
        &[
            (1, "s", "refund", order("a"), "deny", ""),
            (2, "s", "look", order("a"), "allow", "failed"),
            (3, "s", "refund", order("a"), "deny", ""),
            (4, "s", "look", order("a"), "allow", ""),
            (5, "s", "refund", order("a"), "deny", ""),
            (6, "s", "look", order("a"), "allow", "ok"),
            (7, "s", "refund", order("a"), "allow", ""),
            (8, "s", "refund", order("b"), "deny", ""),
            (9, "s", "refund", json!({}), "deny", ""),
            (10, "other", "refund", order("a"), "deny", ""),
        ],
    );
}

#[test]
fn limits_count_calls_values_and_amounts() {
    let over = |limit: &str| format!("[[rule]]\ndecide = \"ask\"\ntool = \"send\"\nover = {{ {limit} }}");
    let none = json!({});
    check(
        &over("count = 2, within = \"10s\", per = \"tenant\""),
        &[
            (1, "s", "send", none.clone(), "allow", "failed"),
            (2, "other", "send", none.clone(), "allow", ""),
            (3, "s", "send", none.clone(), "ask", ""),
            (3, "s", "look", none.clone(), "allow", ""),
            (11, "s", "send", none.clone(), "allow", ""),
            (11, "s", "send", none.clone(), "ask", ""),
        ],
    );
    check(
        &over("count = 1"),
        &[
            (1, "s", "send", none.clone(), "allow", "ok"),
            (2, "other", "send", none.clone(), "allow", "ok"),
            (900_000, "s", "send", none.clone(), "ask", ""),
        ],
    );
    let to = |who: Value| json!({ "to": who });
    check(
        &over("count_distinct = \"to\", count = 2"),
        &[
            (1, "s", "send", to(json!("a@x")), "allow", ""),
            (2, "s", "send", to(json!("A@x ")), "allow", ""),
            (3, "s", "send", to(json!(["a@x", "b@x"])), "allow", ""),
            (4, "s", "send", to(json!(["b@x", "c@x"])), "ask", ""),
            (5, "s", "send", none, "ask", ""),
        ],
    );
    let sum = |amount: Value| json!({ "amount": amount });
    check(
        &over("sum = { arg = \"amount\", max = 0.3 }"),
        &[
            (1, "s", "send", sum(json!(0.1)), "allow", ""),
            (2, "s", "send", sum(json!("0.2")), "allow", ""),
            (3, "s", "send", sum(json!(0)), "allow", ""),
            (4, "s", "send", sum(json!(0.000_001)), "ask", ""),
            (5, "s", "send", sum(json!(-5)), "ask", ""),
            (6, "s", "send", json!({}), "ask", ""),
        ],
    );
}

#[test]
fn identical_calls_and_labels() {
    check(
        "[[rule]]\ndecide = \"ask\"\ntool = \"*\"\nonce = true",
        &[
            (1, "s", "send", json!({"a": 1, "b": 2}), "allow", ""),
            (2, "s", "send", json!({"b": 2, "a": 1}), "ask", ""),
            (3, "s", "send", json!({"a": 2}), "allow", ""),
            (4, "other", "send", json!({"a": 1, "b": 2}), "allow", ""),
        ],
    );
    let rules = "[tool.inbox]\ntier = \"read_only\"\ntrust = \"untrusted\"\n[tool.crm]\ntier = \"read_only\"\n\
        trust = \"secret\"\n[tool.send]\ntier = \"b\"\nsends = true\n\
        [[rule]]\ndecide = \"ask\"\nsends = true\nafter_reading = [\"untrusted\", \"secret\"]";
    check(
        rules,
        &[
            (1, "s", "inbox", json!({}), "allow", ""),
            (2, "s", "send", json!({}), "allow", ""),
            (3, "s", "crm", json!({}), "allow", ""),
            (4, "s", "send", json!({}), "ask", ""),
            (5, "s", "look", json!({}), "allow", ""),
            (6, "other", "send", json!({}), "allow", ""),
        ],
    );
}

#[test]
fn conditions_that_cannot_hold_are_errors() {
    for (rule, why) in [
        ("decide = \"ask\"\nover = { count = 1, per = \"tenant\" }", "window"),
        ("decide = \"ask\"\nover = { within = \"1h\" }", "requires"),
        ("decide = \"ask\"\nover = { count = 1, within = \"1y\" }", "duration"),
        ("decide = \"ask\"\nover = { count = 1, within = \"400d\" }", "duration"),
        ("decide = \"allow\"\nonce = true", "only restrict"),
        ("decide = \"ask\"\nonce = true\nunless_after = \"look\"", "one rule each"),
        ("decide = \"ask\"\nmatch_args = [\"a\"]", "beside `unless_after`"),
        ("decide = \"ask\"\nafter_reading = []", "names no label"),
    ] {
        let loaded = PolicyFile::load(&format!("[[rule]]\ntool = \"send\"\n{rule}"), "p.toml", PolicyScope::User);
        let found = loaded.diagnostics.iter().any(|one| one.message.contains(why));
        assert!(found, "{rule}: {:?}", loaded.diagnostics);
    }
}

/// The decisions of 10,000 random histories equal those of a list of calls that is searched anew.
#[test]
fn random_histories_are_judged_like_a_list() {
    let rules = "[[rule]]\ndecide = \"ask\"\ntool = \"send\"\nover = { count_distinct = \"to\", count = 2, within = \"7s\" }\n\
        [[rule]]\ndecide = \"ask\"\ntool = \"send\"\nover = { sum = { arg = \"n\", max = 6 }, within = \"9s\", per = \"tenant\" }\n\
        [[rule]]\ndecide = \"deny\"\ntool = \"send\"\nover = { count = 4, within = \"5s\" }\n\
        [[rule]]\ndecide = \"deny\"\ntool = \"send\"\nunless_after = \"look\"\nmatch_args = [\"to\"]";
    let policy = policy(rules);
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut words = BTreeSet::new();
    for case in 0..toolfold_testing::cases(10_000) {
        let store = MemoryStore::default();
        // The time, session, tool, recipient, amount and success of each call that ran.
        let mut ran: Vec<(i64, u64, bool, u64, u64, bool)> = Vec::new();
        let mut now = 0;
        for step in 0..12 {
            now += i64::try_from(random(4)).unwrap();
            let (session, sends, to, n, ok) = (random(2), random(3) > 0, random(3), random(3), random(4) > 0);
            let sent = |within: i64| ran.iter().filter(move |one| one.2 && one.0 > now - within);
            let own = |one: &&(i64, u64, bool, u64, u64, bool)| one.1 == session;
            let mut to_all: BTreeSet<u64> = sent(7).filter(own).map(|one| one.3).collect();
            to_all.insert(to);
            let looked = ran.iter().filter(own).any(|one| !one.2 && one.3 == to && one.5);
            let expected = match () {
                () if !sends => "allow",
                () if !looked || sent(5).filter(own).count() >= 4 => "deny",
                () if to_all.len() > 2 || sent(9).map(|one| one.4).sum::<u64>() + n > 6 => "ask",
                () => "allow",
            };
            let (tool, id) = (if sends { "send" } else { "look" }, step.to_string());
            let name = format!("s{session}");
            let arguments = json!({ "to": to.to_string(), "n": n });
            let got = call((&policy, &store), (&name, &id), now * 1000, (tool, &arguments)).unwrap();
            assert_eq!(word(got), expected, "case {case}, step {step}: {ran:?} then {arguments} at {now}");
            words.insert(expected);
            if got.runs() {
                ran.push((now, session, sends, to, n, ok));
                if ok {
                    settle(&store, &format!("{name}/{id}"), "ok", now * 1000);
                }
            }
        }
    }
    assert_eq!(words.len(), 3, "the histories reach every decision");
}

#[test]
fn of_eight_racing_users_of_one_store_exactly_twenty_calls_run() {
    let path = std::env::temp_dir().join(format!("toolfold-memory-{}.sqlite", std::process::id()));
    let policy = policy(
        "[[rule]]\ndecide = \"deny\"\ntool = \"send\"\nover = { count = 20, within = \"1h\", per = \"tenant\" }",
    );
    SqliteStore::open(&path).unwrap();
    let user = |name: String| {
        let store = SqliteStore::open(&path).unwrap();
        let mut ran = 0;
        for id in 0..10 {
            loop {
                match call((&policy, &store), (&name, &id.to_string()), 1_000, ("send", &json!({}))) {
                    Err(ApprovalError::Raced) => {}
                    decision => break ran += usize::from(decision.unwrap().runs()),
                }
            }
        }
        ran
    };
    let ran: usize = std::thread::scope(|scope| {
        let user = &user;
        let all: Vec<_> = (0..8).map(|at| scope.spawn(move || user(format!("s{at}")))).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let _ = std::fs::remove_file(&path);
    assert_eq!(ran, 20);
}

#[test]
fn the_second_identical_refund_asks() {
    let tools = r#"[{"name": "refund", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]"#;
    for store in stores() {
        let (layer, _) = PolicyLayer::open(policy("[tool.refund]\ntier = \"b\"\nrepeat = \"ask\""), store, || 1_000);
        let engine = Engine::builder(Catalog::from_mcp(tools).unwrap()).policy(layer).build().unwrap();
        let mut talk = engine.conversation(Wire::Anthropic).id("c-1").start().unwrap();
        let mut judge = |id: &str, n: u64| {
            let message = Wire::Anthropic.assistant_message(&[(id, "refund", json!({ "n": n }))]);
            talk.turn(&message).unwrap().outcomes().next().cloned().unwrap()
        };
        assert!(matches!(judge("a", 1), Outcome::Forward(_)));
        assert!(matches!(judge("b", 2), Outcome::Forward(_)));
        let Outcome::Confirm(asked) = judge("c", 1) else { panic!("a duplicate") };
        assert!(asked.reason.contains("its outcome is unknown"), "{}", asked.reason);
    }
}

#[test]
fn a_replay_sees_the_events_before_its_call() {
    let policy = policy("[[rule]]\ndecide = \"ask\"\ntool = \"send\"\nover = { count = 9 }");
    for store in stores() {
        let none = json!({});
        for id in ["0", "1", "2"] {
            call((&policy, &*store), ("s", id), 1_000, ("send", &none)).unwrap();
        }
        let context = Context::default().with_session("s").with_now_ms(2_000);
        let send = PolicyCall::new(&ToolOrigin::Native, "send", &none);
        let series = policy.prepare(send, &context, None, History::default()).series();
        let count = |before| store.history(&series, before).unwrap().series[&series[0]].count;
        assert_eq!((count(Some("s/0")), count(Some("s/2")), count(Some("unknown")), count(None)), (0, 2, 3, 3));
    }
}
