//! The gate: the outcome of every call.

mod circles;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{CallEnd, Conversation, LogRecord, Outcome, Reply, ReplyKind};
use toolfold::engine::{Engine, Experiment};
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use crate::project;
use crate::talk::{Call, Dispatch, Talk};

/// Long enough that folding even one tool saves tokens, including the meta-tools.
const WORDS: &str = "Where to put it: a path below the working folder, with `/` between its parts on every system. Folders \
    that are not there are made. A path that leads out of the working folder is refused, and so is one that names a \
    device. What is there already is replaced without a question, unless the tool was started as read-only; then the \
    call fails and nothing is changed. Links are followed once, and their target must lie below the same folder. Give \
    the path as it is: nothing in it is expanded, neither `~` nor variables nor globs, and blanks at its ends count.";

/// Four tools: one core, one read-only, two that write.
fn tools() -> Value {
    let text = |name: &str| json!({name: {"type": "string", "description": WORDS}});
    json!([
        {"name": "read_a", "description": "Read a. Slowly.", "inputSchema":
            {"type": "object", "properties": text("path"), "required": ["path"]}},
        {"name": "list_all", "description": "List all. Slowly.", "annotations": {"readOnlyHint": true}, "inputSchema":
            {"type": "object", "properties": text("filter")}},
        {"name": "write_a", "description": "Write a. Slowly.", "inputSchema":
            {"type": "object", "properties": {"path": {"type": "string", "description": WORDS},
             "count": {"type": "integer", "description": WORDS}}, "required": ["path"], "additionalProperties": false}},
        {"name": "drop_a", "description": "Drop a. Slowly.", "inputSchema": {"type": "object", "properties": text("path")}}
    ])
}

fn engine(arm: Arm) -> Engine {
    let catalog = Catalog::from_mcp(&tools().to_string()).unwrap();
    let toml =
        "core = ['read_a']\n[category.write]\ntools = ['write_a', 'drop_a']\n[category.list]\ntools = ['list_all']";
    let profile = ToolProfile::parse(toml, "p.toml").into_result().unwrap();
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

fn session(arm: Arm) -> Conversation {
    engine(arm).talk()
}

fn call(name: &str, arguments: Value) -> Call {
    Call::fresh(name, arguments)
}

#[track_caller]
fn reply(outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Reply(reply) => reply,
        other => panic!("expected a reply, got {other:?}"),
    }
}

#[track_caller]
fn forwarded(outcome: &Outcome) -> (&str, &Value) {
    match outcome {
        Outcome::Forward(forward) => (forward.target.as_str(), &forward.arguments),
        other => panic!("expected to be forwarded, got {other:?}"),
    }
}

#[test]
fn a_valid_call_is_forwarded_at_the_second_attempt_in_every_arm() {
    for arm in Arm::EVERYWHERE {
        for name in ["read_a", "write_a"] {
            let arguments = json!({"path": "x"});
            let direct = session(arm).dispatch_seen(&call(name, arguments.clone()));
            assert_eq!(forwarded(&direct), (name, &arguments), "{arm}");
            for inner in [arguments.clone(), json!(arguments.to_string())] {
                let wrapped = session(arm).dispatch_seen(&call("call_tool", json!({"name": name, "arguments": inner})));
                assert_eq!(forwarded(&wrapped), (name, &arguments), "{arm}: the target, never the dispatcher");
            }
        }
    }
}

#[test]
fn arguments_may_be_text() {
    let text = |text: &str| call("list_all", json!(text));
    assert_eq!(forwarded(&session(Arm::Full).dispatch(&text(""))).1, &json!({}));
    assert_eq!(forwarded(&session(Arm::Full).dispatch(&text("{\"filter\":\"a\"}"))).1, &json!({"filter": "a"}));
    let broken = reply(session(Arm::Stable).dispatch(&text("{\"filter\":")));
    assert_eq!(broken.answer.kind, ReplyKind::Invalid);
    assert!(
        broken.answer.content.contains("invalid JSON") && broken.answer.content.contains("\"parameters\""),
        "{}",
        broken.answer.content
    );
    let list = reply(session(Arm::Stable).dispatch(&call("list_all", json!([1]))));
    assert!(list.answer.content.contains("must be a JSON object, not an array"), "{}", list.answer.content);
}

#[cfg(feature = "validate")]
#[test]
fn a_bad_call_gets_its_errors_and_the_schema_once() {
    let mut session = session(Arm::Stable);
    let before = session.digest();
    let first = reply(session.dispatch(&call("write_a", json!({"count": "many", "pth": "x"}))));
    assert_eq!((first.answer.kind, first.answer.failed), (ReplyKind::Invalid, true));
    for part in ["path", "/count", "pth", "\"name\":\"write_a\""] {
        assert!(first.answer.content.contains(part), "{part}: {}", first.answer.content);
    }
    assert_eq!(first.opened.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["write_a"]);
    assert_eq!(session.digest(), before, "the answer brought the schema, the array stays");
    let second = reply(session.dispatch(&call("write_a", json!({"count": 1}))));
    assert!(
        !second.answer.content.contains("\"parameters\"") && second.opened.is_empty(),
        "once: {}",
        second.answer.content
    );
    assert_eq!(forwarded(&session.dispatch(&call("write_a", json!({"path": "x"})))).0, "write_a");
    let core = reply(session.dispatch(&call("read_a", json!({}))));
    assert!(
        !core.answer.content.contains("\"parameters\""),
        "a core tool's schema is in the array: {}",
        core.answer.content
    );
}

#[cfg(feature = "validate")]
#[test]
fn calls_with_an_invalid_schema_are_forwarded_with_a_mark() {
    // Each definition uses the next one twice.
    let mut definitions = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        definitions.insert(format!("d{at}"), json!({"allOf": [next, {"not": next}]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let text = json!([{"name": "f", "inputSchema": schema}]).to_string();
    let engine = Engine::builder(Catalog::from_mcp(&text).unwrap()).build().unwrap();
    assert!(engine.diagnostics().iter().any(|d| d.code == "bad-schema" && d.message.contains("`f`")));
    match engine.talk().dispatch(&call("f", json!({"a": 1}))) {
        Outcome::Forward(forward) => {
            assert_eq!(forward.notes.unchecked.as_deref(), Some("the tool's schema does not compile"));
        }
        other => panic!("{other:?}"),
    }
}

/// The rest of the schema is checked.
#[cfg(feature = "validate")]
#[test]
fn an_invalid_keyword_costs_only_its_own_check() {
    let text = r#"[{"name":"f","inputSchema":{"type":"object","properties":{"a":{"type":"no such type"},"b":{"type":"integer","pattern":"["}},"required":["b"]}}]"#;
    let loaded = Catalog::import(text, "t.json", None);
    assert!(loaded.diagnostics.iter().any(|one| one.code == "repaired-schema"), "{:?}", loaded.diagnostics);
    let engine = Engine::builder(loaded.value).build().unwrap();
    let mut session = engine.talk();
    let invalid = reply(session.dispatch(&call("f", json!({"a": 1, "b": "x"}))));
    assert_eq!(invalid.answer.kind, ReplyKind::Invalid);
    match session.dispatch(&call("f", json!({"a": 1, "b": 2}))) {
        Outcome::Forward(forward) => assert_eq!(forward.notes.unchecked, None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_of_writing_tools_are_never_guessed() {
    for name in ["list-all", "LIST_ALL", "server.list_all", "mcp__server__list_all", "List-All"] {
        assert_eq!(forwarded(&session(Arm::Stable).dispatch(&call(name, json!({})))).0, "list_all", "{name}");
    }
    for name in ["write-a", "server.write_a", "WRITE_A"] {
        let unknown = reply(session(Arm::Stable).dispatch(&call(name, json!({"path": "x"}))));
        assert_eq!((unknown.answer.kind, unknown.target.as_deref()), (ReplyKind::UnknownTool, None), "{name}");
        assert!(unknown.answer.content.contains("write_a"), "the nearest is named: {}", unknown.answer.content);
    }
    let nothing = reply(session(Arm::Full).dispatch(&call("zzz\u{202e}", json!({}))));
    assert!(nothing.answer.content.contains("\\u{202e}"), "{}", nothing.answer.content);
}

#[test]
fn nested_wrapping_is_limited() {
    let wrap = |inner: Value| json!({"name": "call_tool", "arguments": inner});
    let twice = wrap(json!({"name": "list_all", "arguments": {}}));
    assert_eq!(forwarded(&session(Arm::Index).dispatch(&call("call_tool", twice))).0, "list_all");
    let deep = (0..10).fold(json!({"name": "list_all", "arguments": {}}), |inner, _| wrap(inner));
    for (arguments, says) in
        [(deep, "more than 4 levels"), (json!([]), "must be an object"), (json!({"arguments": {}}), "`name`")]
    {
        let bad = reply(session(Arm::Index).dispatch(&call("call_tool", arguments)));
        assert!(bad.answer.kind == ReplyKind::Invalid && bad.answer.content.contains(says), "{}", bad.answer.content);
    }
    let expand = json!({"name": "expand_tools", "arguments": {"categories": ["write"]}});
    assert_eq!(reply(session(Arm::Index).dispatch(&call("call_tool", expand))).answer.kind, ReplyKind::Expanded);
}

#[test]
fn expansion_goes_through_the_gate() {
    let mut one = session(Arm::Stable);
    let open = reply(one.dispatch(&call("expand_tools", json!({"categories": ["write"]}))));
    assert_eq!(open.opened.len(), 2);
    assert!(!open.answer.failed);
    let again = reply(one.dispatch(&call("expand_tools", json!({"tools": ["write_a"]}))));
    assert_eq!(&*again.answer.content, "Already open, call it directly: write_a");
    let bad = reply(one.dispatch(&call("expand_tools", json!({"categories": 7}))));
    assert!(bad.answer.failed && bad.answer.content.contains("Categories: write, list"), "{}", bad.answer.content);
    let full = reply(session(Arm::Full).dispatch(&call("expand_tools", json!({"categories": ["write"]}))));
    assert!(full.answer.content.starts_with("No tool is folded"), "{}", full.answer.content);
}

#[test]
fn parallel_calls_are_judged_in_order() {
    let calls = [
        Call::new("1", "expand_tools", json!({"categories": ["list"]})),
        Call::new("2", "read_a", json!({"path": "x"})),
        Call::new("3", "nope", json!({})),
    ];
    let mut one = session(Arm::Stable);
    let outcomes: Vec<Outcome> = calls.iter().map(|call| one.dispatch(call)).collect();
    assert_eq!(outcomes.iter().map(|outcome| outcome.id().as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!(forwarded(&outcomes[1]).0, "read_a");
}

#[test]
fn a_child_has_some_tools_and_its_own_expansions() {
    let mut parent = session(Arm::Stable);
    parent.dispatch(&call("expand_tools", json!({"categories": ["write"]})));
    let mut plain = parent.child(&["write_a", "list_all"]).unwrap();
    assert_eq!(plain.arm(), Arm::Full, "without expand_tools everything is full");
    assert_eq!(plain.tools().entries().len(), 2);
    assert_eq!(reply(plain.dispatch(&call("drop_a", json!({})))).answer.kind, ReplyKind::UnknownTool);
    let mut folding = parent.child(&["write_a", "list_all", "expand_tools"]).unwrap();
    assert_eq!((folding.arm(), folding.opened()), (Arm::Stable, vec![]));
    let text = folding.tools();
    assert!(text.json().contains("- write (1)") && !text.json().contains("drop_a"), "{}", text.json());
    let refused = plain.child(&["write_a", "drop_a"]).unwrap_err();
    assert_eq!(refused.to_string(), "unknown tools: `drop_a`", "a child gives no more than it has");
    assert_eq!(plain.child(&["write_a"]).unwrap().engine().catalog().len(), 1);
    let again = parent.engine().replay(&folding.take_log(0)).unwrap();
    assert!(again == folding && again.engine().catalog().len() == 2);
}

#[test]
fn opened_schemas_can_be_sent_again_after_a_compaction() {
    for (arm, some) in [(Arm::Stable, true), (Arm::Index, true), (Arm::Seed, false), (Arm::Full, false)] {
        let mut session = session(arm);
        assert_eq!(session.redeliver(), None, "{arm}: nothing is open");
        session.dispatch(&call("expand_tools", json!({"tools": ["write_a"]})));
        assert_eq!(session.redeliver().is_some_and(|text| text.contains("\"name\":\"write_a\"")), some, "{arm}");
    }
}

#[test]
fn invalid_logs_and_snapshots_are_rejected() {
    let engine = engine(Arm::Stable);
    let said = |log: &[LogRecord]| engine.replay(log).unwrap_err().to_string();
    let mut talk = engine.conversation(Wire::OpenAiChat).id("a").start().unwrap();
    talk.tools();
    let log = talk.take_log(7);
    assert_eq!((log[1].seq, log[1].at_ms, log[1].conversation.as_str()), (1, 7, "a"));
    assert_eq!(said(&[]), "the log is empty");
    assert_eq!(said(&log[1..]), "expected record 0, found record 1");
    let numbered = |mut log: Vec<LogRecord>| -> Vec<LogRecord> {
        log.iter_mut().zip(0..).for_each(|(record, seq)| record.seq = seq);
        log
    };
    assert_eq!(said(&numbered(log[1..].to_vec())), "the log must begin with a `started` event");
    let twice = numbered([log.clone(), log.clone()].concat());
    assert_eq!(said(&twice), "the log has a second `started` event, as record 2");
    let mut other = log[1].clone();
    other.conversation = "b".to_owned();
    assert!(said(&[log[0].clone(), other.clone()]).contains("records of `a` and `b`"));
    let mut old = log[0].clone();
    old.v = 1;
    assert!(said(&[old]).contains("unsupported format version 1"));
    let mut snapshot = engine.talk().snapshot();
    snapshot.version = 1;
    assert!(engine.restore(snapshot).unwrap_err().to_string().contains("version 1"));
}

#[test]
fn experiments_are_sticky_and_recorded() {
    let catalog = Catalog::from_mcp(&tools().to_string()).unwrap();
    let arms = [("control".to_owned(), Arm::Full), ("treatment".to_owned(), Arm::Stable)];
    let experiment = |ratio| Experiment { arms: arms.clone(), ratio };
    let profile = ToolProfile::derive(&catalog);
    let build = |ratio| Engine::builder(catalog.clone()).profile(profile.clone()).experiment(experiment(ratio)).build();
    let engine = build(0.5).unwrap();
    let of = |id: &str| engine.conversation(Wire::OpenAiChat).id(id).start().unwrap();
    let treated = (0..1_000).filter(|n| of(&n.to_string()).variant() == Some("treatment")).count();
    assert!((430..570).contains(&treated), "about half: {treated}");
    let mut one = of("7");
    assert_eq!(one.arm(), of("7").arm(), "the same id, the same arm");
    let outcome = one.dispatch(&call("read_a", json!({"path": "x"})));
    let Outcome::Forward(forward) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(forward.context.variant.as_deref(), one.variant(), "recorded in the outcome");
    let variant = one.variant().map(str::to_owned);
    assert!(variant.is_some() && one.take_log(0).iter().all(|record| record.variant == variant), "and in every record");
    let nameless = engine.conversation(Wire::OpenAiChat).start().unwrap_err();
    assert!(nameless.to_string().contains("set an id or pin an arm"), "{nameless}");
    assert_eq!(engine.conversation(Wire::OpenAiChat).arm(Arm::Lean).start().unwrap().arm(), Arm::Lean);
    assert_eq!(build(1.5).unwrap_err().kind, toolfold::error::ErrorKind::Engine);
}

#[test]
fn auto_states_its_reason() {
    let excel = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    let build = |budget| {
        let builder = Engine::builder(excel.clone()).profile(profile.clone()).arm(Arm::Auto).budget(budget);
        builder.build().unwrap()
    };
    for (budget, arm) in [(4_000, Arm::Kept), (3_300, Arm::Outline), (3_000, Arm::Outline)] {
        let session = build(budget).talk();
        assert_eq!(session.arm(), arm, "{}", session.explain());
    }
    let engine = build(4_000);
    let native = engine.conversation(Wire::Anthropic).model("claude-opus-4.5").start().unwrap();
    assert_eq!(native.arm(), Arm::Native, "{}", native.explain());
    let one = Catalog::from_mcp(r#"[{"name":"now","description":"Tells the time.","inputSchema":{"type":"object"}}]"#);
    let small = Engine::builder(one.unwrap()).arm(Arm::Auto).build().unwrap().talk();
    assert!(small.arm() == Arm::Full && small.explain().contains("under 400"), "{}", small.explain());
}

fn any_call() -> impl Strategy<Value = Call> {
    let name = prop::sample::select(vec![
        "read_a",
        "write_a",
        "list_all",
        "List-All",
        "drop_a",
        "nope",
        "expand_tools",
        "call_tool",
    ]);
    let arguments = prop_oneof![
        Just(json!({})),
        Just(json!({"path": "x"})),
        Just(json!({"path": 1})),
        Just(json!({"categories": ["write"]})),
        Just(json!({"tools": ["list_all", "zzz"]})),
        Just(json!({"name": "write_a", "arguments": {"path": "x"}})),
        Just(json!([])),
    ];
    (name, arguments).prop_map(|(name, arguments)| Call::new("", name, arguments))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(128)))]

    /// State is derived from the log: replayed, restored and forked sessions equal the original and
    /// send the same bytes.
    #[test]
    fn the_log_is_the_session(
        arm in prop::sample::select(Arm::EVERYWHERE.into_iter().chain([Arm::Append]).collect::<Vec<_>>()),
        steps in prop::collection::vec((any_call(), any::<Option<bool>>()), 0..20),
    ) {
        let engine = engine(arm);
        let mut live = engine.talk();
        let first = live.digest();
        for (call, finish) in &steps {
            let outcome = live.dispatch(call);
            if let Some(ok) = finish {
                let id = outcome.id().clone();
                live.report_result(&id, *ok);
            }
            if let Outcome::Forward(forward) = &outcome {
                let real = engine.catalog().get(forward.target.as_str());
                prop_assert!(real.is_some(), "what is forwarded is a real tool");
                #[cfg(feature = "validate")]
                prop_assert!(
                    !forward.target.as_str().ends_with("_a") || forward.arguments.get("path").is_none_or(Value::is_string),
                    "and its arguments fit"
                );
            }
            if arm != Arm::Seed {
                prop_assert_eq!(&live.digest(), &first, "the array never changes");
            }
        }
        let text = serde_json::to_string(&live.take_log(5)).unwrap();
        let log: Vec<LogRecord> = serde_json::from_str(&text).unwrap();
        let mut replayed = engine.replay(&log).unwrap();
        let snapshot = serde_json::to_string(&live.snapshot()).unwrap();
        let mut restored = engine.restore(serde_json::from_str(&snapshot).unwrap()).unwrap();
        prop_assert!(replayed == live && restored == live);
        for other in [&mut replayed, &mut restored] {
            prop_assert_eq!(other.tools(), live.tools());
        }
        let mut fork = live.fork();
        prop_assert_eq!(fork.opened(), live.opened());
        let refound = engine.replay(&fork.take_log(6)).unwrap();
        prop_assert!(refound == fork, "a fork's log tells all of it");
    }
}
