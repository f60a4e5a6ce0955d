//! Calls with faults: what is repaired, what is answered, and the message for the history.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, ReplyKind};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use crate::corpus;
use crate::talk::{Call, Dispatch, Talk};

const WORDS: &str = "Words enough that folding it saves something, and more than something. ";

fn tool(name: &str, reads: bool) -> Value {
    json!({"name": name, "description": format!("Do it. {WORDS}"), "annotations": {"readOnlyHint": reads},
        "inputSchema": {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": WORDS.repeat(9)},
            "stage": {"type": "string", "enum": ["lead", "customer"], "description": WORDS.repeat(9)},
            "company_id": {"type": "string", "description": WORDS}}}})
}

fn engine_of(tools: &[Value], arm: Arm, partial: bool) -> Engine {
    let catalog = Catalog::from_mcp(&Value::from(tools).to_string()).unwrap();
    Engine::builder(catalog).arm(arm).partial(partial).build().unwrap()
}

fn content(outcome: &Outcome) -> String {
    outcome.content().unwrap_or_default().into_owned()
}

/// The outcome of each line `{"call": …}` of a corpus file, by its id. `None` without the corpora.
fn outcomes(file: &str) -> Option<Vec<(String, Outcome)>> {
    let folder = corpus("cases/conversation")?;
    let tools = std::fs::read_to_string(folder.join("call_shapes_tools.json")).unwrap();
    let engine = Engine::builder(Catalog::from_openai(&tools).unwrap()).arm(Arm::Full).build().unwrap();
    let mut conversation = engine.talk();
    let mut found = Vec::new();
    for line in std::fs::read_to_string(folder.join(file)).unwrap().lines().filter(|line| !line.is_empty()) {
        let Value::Object(line) = serde_json::from_str(line).unwrap() else { panic!("{line}") };
        let text = |key: &str| line["call"][key].as_str().unwrap().to_owned();
        let outcome = conversation.call(text("id"), &text("name"), text("arguments")).unwrap();
        found.push((text("id"), outcome));
    }
    Some(found)
}

/// Prints how many of the calls satisfy a condition.
fn counted(what: &str, ids: &[&str], found: &[(String, Outcome)], fits: impl Fn(&Outcome) -> bool) -> usize {
    let of = |id: &str| found.iter().find(|(own, _)| own == id).map(|(_, outcome)| outcome);
    let right = ids.iter().filter(|id| of(id).is_some_and(&fits)).count();
    println!("{right}/{} calls {what}", ids.len());
    right
}

fn is_repaired(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Forward(forward) if !forward.context.coerced.is_empty())
}

#[test]
#[cfg(feature = "validate")]
fn corpus_call_shapes_with_one_reading_run() {
    let Some(found) = outcomes("call_shapes.jsonl") else { return };
    let ids = [
        "c10", "c14", "c18", "c20", "c21", "c25", "c31", "c32", "c35", "c45", "c46", "c49", "c50", "q3", "q4", "q5",
        "q7", "q8", "r1", "r2",
    ];
    assert!(counted("with one reading run", &ids, &found, is_repaired) >= 20);
    let plain = ["c23", "c24", "c26", "c27", "c30", "q0", "q1", "q2", "r0"];
    let unchanged = |outcome: &Outcome| matches!(outcome, Outcome::Forward(own) if own.context.coerced.is_empty());
    assert!(counted("without a fault run", &plain, &found, unchanged) >= 9);
    let two = |outcome: &Outcome| content(outcome).contains("make two calls");
    assert!(counted("with two objects are answered with two", &["c8", "c9", "c19"], &found, two) >= 3);
    let ambiguous = [
        "c0", "c5", "c11", "c12", "c13", "c15", "c16", "c17", "c22", "c28", "c29", "c33", "c34", "c36", "c38", "c39",
        "c40", "c43", "c44", "c48", "c51", "c52", "r3",
    ];
    let asked = |outcome: &Outcome| matches!(outcome, Outcome::Reply(_)) && content(outcome).contains("was not run");
    assert!(counted("without one reading are answered", &ambiguous, &found, asked) >= 23);
    let tried = |outcome: &Outcome| {
        content(outcome).ends_with("\nTry: {\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}")
    };
    assert!(counted("with a near name get a call to make", &["c41", "c53"], &found, tried) >= 2);
}

#[test]
fn corpus_call_names_of_templates_run() {
    let Some(found) = outcomes("call_names.jsonl") else { return };
    let ids = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n12", "n13", "n16", "n18", "n19", "n20", "n21", "n22"];
    assert!(counted("with marks of a template run", &ids, &found, is_repaired) >= 15);
    let guesses = ["n7", "n8", "n9", "n10", "n11", "n14", "n15", "n17", "n23"];
    let tried = |outcome: &Outcome| content(outcome).contains("\nTry: {\"name\":");
    assert!(counted("with another name get a call to make", &guesses, &found, tried) >= 9);
    let unknown = |outcome: &Outcome| matches!(outcome, Outcome::Reply(own) if own.answer.kind == ReplyKind::UnknownTool || own.answer.kind == ReplyKind::Loop);
    assert!(counted("of unknown tools are answered", &["n24", "n25", "n26"], &found, unknown) >= 3);
    let expanded = |outcome: &Outcome| matches!(outcome, Outcome::Reply(own) if own.answer.kind == ReplyKind::Expanded);
    assert!(counted("of lookups are answered", &["n27", "n28", "n29"], &found, expanded) >= 3);
}

/// A tool with a real name in the namespace of a template keeps it.
#[test]
fn a_namespace_of_the_catalog_is_not_removed() {
    let tools = [tool("functions.put", false), tool("take", true)];
    let mut conversation = engine_of(&tools, Arm::Full, false).talk();
    assert!(matches!(conversation.dispatch(&Call::fresh("functions.put", json!({"path": "a"}))), Outcome::Forward(_)));
    let unknown = conversation.dispatch(&Call::fresh("functions.tak", json!({"path": "a"})));
    assert!(content(&unknown).starts_with("Unknown tool `functions.tak`."), "{unknown:?}");
}

#[test]
fn a_name_without_its_server_resolves_if_every_server_is_listed() {
    let tools = [tool("files__put", false), tool("files__take", true), tool("web__take", true)];
    let call = |name: &str| Call::fresh(name, json!({"path": "a"}));
    for (partial, name, target) in [(false, "put", Some("files__put")), (true, "put", None), (false, "take", None)] {
        let mut conversation = engine_of(&tools, Arm::Full, partial).talk();
        match (conversation.dispatch(&call(name)), target) {
            (Outcome::Forward(forward), Some(target)) => {
                assert!(forward.target == target && !forward.context.coerced.is_empty());
            }
            (outcome @ Outcome::Reply(_), None) => {
                let tries =
                    content(&outcome).contains("\nTry: {\"name\":\"files__put\",\"arguments\":{\"path\":\"a\"}}");
                assert_eq!(tries, name == "put", "{outcome:?}");
            }
            (other, _) => panic!("{name}: {other:?}"),
        }
    }
    let mut conversation = engine_of(&tools[..2], Arm::Full, true).talk();
    assert!(matches!(conversation.dispatch(&call("take")), Outcome::Forward(_)), "a read-only tool");
}

#[cfg(feature = "validate")]
#[test]
fn lookups_are_repaired_and_near() {
    let mut conversation = engine_of(&[tool("put", false), tool("take", true)], Arm::Stable, false).talk();
    let opened = conversation.dispatch(&Call::fresh("expandTools", json!({"tools": "[\"put\"]", "query": null})));
    let Outcome::Reply(reply) = &opened else { panic!("{opened:?}") };
    assert_eq!((reply.answer.kind, reply.opened.len(), reply.context.coerced.len()), (ReplyKind::Expanded, 1, 3));
    let near = conversation.dispatch(&Call::fresh("expand_tool_list", json!({})));
    assert!(content(&near).contains("Did you mean `expand_tools`"), "{near:?}");
}

/// The arms that hide names, and those that show every name.
#[test]
fn an_invented_argument_is_a_mistake_if_the_names_were_hidden() {
    for arm in [Arm::Lean, Arm::Stable, Arm::Index] {
        for name in ["put", "take"] {
            let mut conversation = engine_of(&[tool("put", false), tool("take", true)], arm, false).talk();
            let call = Call::fresh(name, json!({"path": "a", "status": "lead", "company": "co_7", "tier": 1}));
            let first = conversation.dispatch(&call);
            let Outcome::Reply(reply) = &first else { panic!("{arm} {name}: {first:?}") };
            let text = content(&first);
            let line = format!(
                "{name} was not run: it has no parameters `status`, `company`, `tier`; did you mean `stage` for `status`, `company_id` for `company`?\nFull definition:\n"
            );
            assert!(reply.answer.kind == ReplyKind::Invalid && text.starts_with(&line), "{arm}: {text}");
            // No parameter is near `tier`: a call without it would lose what the user asked for.
            assert!(text.ends_with(&now_call(name)) && reply.opened.len() == 1, "{arm}: {text}");
            let note = format!(
                "[{name} has no parameters `status`, `company`, `tier`; did you mean `stage` for `status`, `company_id` for `company`?]"
            );
            for note in [Some(note), None] {
                let Outcome::Forward(again) = conversation.dispatch(&call.again()) else { panic!("{arm} {name}") };
                assert!(again.arguments == call.arguments && again.notes.note == note, "{arm} {name}");
            }
            let other = Call::fresh(name, json!({"path": "a", "tier": 2}));
            let Outcome::Forward(other) = conversation.dispatch(&other) else { panic!("{arm} {name}") };
            assert_eq!(other.notes.note, Some(format!("[{name} has no parameter `tier`.]")), "the names were shown");
        }
    }
    for arm in [Arm::Full, Arm::Outline] {
        let mut conversation = engine_of(&[tool("put", false), tool("take", true)], arm, false).talk();
        let call = Call::fresh("put", json!({"path": "a", "status": "lead"}));
        for note in [Some("[put has no parameter `status`; did you mean `stage`?]".to_owned()), None] {
            let Outcome::Forward(forward) = conversation.dispatch(&call.again()) else { panic!("{arm}") };
            assert_eq!((forward.notes.note, &forward.arguments), (note, &call.arguments), "{arm}");
        }
        let replayed = conversation.engine().replay(&conversation.clone().take_log(0)).unwrap();
        assert!(replayed == conversation, "{arm}");
    }
}

#[test]
fn a_schema_with_rules_for_other_names_accepts_them() {
    for (key, rule) in [("additionalProperties", json!({"type": "string"})), ("patternProperties", json!({"^x": {}}))] {
        let mut own = tool("put", false);
        own["inputSchema"][key] = rule;
        let mut conversation = engine_of(&[own, tool("take", true)], Arm::Full, false).talk();
        let outcome = conversation.dispatch(&Call::fresh("put", json!({"path": "a", "xyz": "b"})));
        let Outcome::Forward(forward) = outcome else { panic!("{key}: {outcome:?}") };
        assert_eq!(forward.notes.note, None, "{key}");
    }
}

/// The last line of an answer with a definition.
fn now_call(name: &str) -> String {
    format!("\nNow call {name} again. Set only parameters for which the user gave a value.")
}

/// A call with names of another kind, in a wrapper, with a value that is nearly listed, or with
/// what only repeats the tool's name, gets the nearest valid call.
#[cfg(feature = "validate")]
#[test]
fn an_invented_argument_with_one_meaning_is_in_the_suggested_call() {
    for (given, suggested) in [
        (json!({"path": "a", "status": "lead"}), r#"{"path":"a","stage":"lead"}"#),
        (json!({"file": "a"}), r#"{"path":"a"}"#),
        (json!({"path": "a", "organization": "co_7"}), r#"{"path":"a","company_id":"co_7"}"#),
        (json!({"input": {"path": "a", "status": "lead"}}), r#"{"path":"a","stage":"lead"}"#),
        (json!({"path": "a", "stage": "a lead"}), r#"{"path":"a","stage":"lead"}"#),
        (json!({"path": "a", "stage": "leads", "tools": ["put"]}), r#"{"path":"a","stage":"lead"}"#),
    ] {
        let mut conversation = engine_of(&[tool("put", false), tool("take", true)], Arm::Stable, false).talk();
        let text = content(&conversation.dispatch(&Call::fresh("put", given)));
        let last = format!("{}\nTry: {{\"name\":\"put\",\"arguments\":{suggested}}}", now_call("put"));
        assert!(text.ends_with(&last), "{suggested}: {text}");
    }
}

/// The schema requires a parameter outside its `required`: the gate does not drop `null` for it.
#[test]
#[cfg(feature = "validate")]
fn null_is_no_default_of_a_parameter_that_a_part_of_the_schema_requires() {
    let mut list = [tool("put", false)];
    list[0]["inputSchema"]["allOf"] = json!([{"required": ["stage"]}]);
    list[0]["inputSchema"]["properties"]["stage"] = json!({"type": "string", "description": WORDS.repeat(9)});
    let text = content(&engine_of(&list, Arm::Lean, false).talk().dispatch(&Call::fresh("put", json!({"path": "a"}))));
    let stage = text.split("\"stage\":{").nth(1).and_then(|rest| rest.split('}').next()).expect("a definition");
    assert!(!stage.contains("null") && text.contains("\"default\":null"), "{text}");
}

/// Arguments that only another tool of the category has: the answer contains its definition.
#[test]
fn a_call_meant_for_another_tool_gets_its_definition() {
    let own = |name: &str, mut properties: Value| {
        properties["path"] = json!({"type": "string"});
        for (_, schema) in properties.as_object_mut().unwrap() {
            schema["description"] = json!(WORDS.repeat(9));
        }
        let mut tool = tool(name, false);
        tool["inputSchema"]["properties"] = properties;
        tool
    };
    let moved = || json!({"stage": {"type": "string", "enum": ["won", "lost"]}, "lost_reason": {"type": "string"}});
    let update = own("update_deal", json!({"amount": {"type": "integer"}, "title": {"type": "string"}}));
    let all = [
        update,
        own("move_deal", moved()),
        own("note_deal", json!({"text": {"type": "string"}, "day": {"type": "string"}})),
    ];
    let given = json!({"path": "a", "status": "lost", "reason": "price"});
    for arm in [Arm::Lean, Arm::Stable] {
        let mut conversation = engine_of(&all, arm, false).talk();
        let call = Call::fresh("update_deal", given.clone());
        let first = conversation.dispatch(&call);
        let Outcome::Reply(reply) = &first else { panic!("{arm}: {first:?}") };
        let text = content(&first);
        let line =
            "update_deal was not run: it has no parameters `status`, `reason`; move_deal has `stage`, `lost_reason`.";
        let opened: Vec<&str> = reply.opened.iter().map(|tool| tool.name.as_str()).collect();
        assert!(text.starts_with(&format!("{line}\nFull definition:\n{{\"name\":\"move_deal\"")), "{arm}: {text}");
        assert_eq!((opened, text.matches("Full definition").count()), (vec!["move_deal"], 1), "{arm}");
        // The same call again is answered for its own tool, then forwarded.
        let second = content(&conversation.dispatch(&call.again()));
        assert!(second.contains("{\"name\":\"update_deal\"") && second.ends_with(&now_call("update_deal")), "{second}");
        assert!(matches!(conversation.dispatch(&call.again()), Outcome::Forward(_)), "{arm}");
    }
    // A model copies the form of the only tool that it sees whole.
    for (mut given, line) in [
        (
            json!({"query": "x", "tools": ["y"]}),
            "`query` and `tools` are parameters of expand_tools, not of update_deal.",
        ),
        (json!({"categories": "x"}), "`categories` is a parameter of expand_tools, not of update_deal."),
    ] {
        given["path"] = json!("a");
        let text = content(&engine_of(&all, Arm::Stable, false).talk().dispatch(&Call::fresh("update_deal", given)));
        assert!(text.starts_with(&format!("update_deal was not run: {line}\nFull definition:")), "{text}");
    }
    let mut drop = own("drop_deal", json!({"motive": {"type": "string"}, "day": {"type": "string"}}));
    drop["inputSchema"]["required"] = json!(["path", "motive"]);
    let with = |other: &[Value]| [&all[..], other].concat();
    let mut optional = with(&[]);
    for tool in &mut optional {
        tool["inputSchema"]["required"] = json!([]);
    }
    for (why, tools, given) in [
        ("two tools have them", with(&[own("end_deal", moved())]), given),
        ("no argument is shared", optional, json!({"status": "lost", "reason": "price"})),
        ("one name is unknown to both", with(&[]), json!({"path": "a", "status": "lost", "colour": true})),
        ("only the type fits", with(&[drop]), json!({"path": "a", "zzz": "price"})),
        ("the call is not valid there", with(&[]), json!({"path": "a", "status": "lost", "reason": ["price"]})),
    ] {
        // Without a validator, a call that is not valid there is not known to be.
        if why == "the call is not valid there" && !cfg!(feature = "validate") {
            continue;
        }
        let text = content(&engine_of(&tools, Arm::Stable, false).talk().dispatch(&Call::fresh("update_deal", given)));
        assert!(text.starts_with("update_deal was not run: it has no") && !text.contains("_deal has"), "{why}: {text}");
    }
}

/// A call through `call_tool` is repeated through it.
#[test]
fn a_suggested_call_has_the_form_of_the_call() {
    let mut conversation = engine_of(&[tool("put", false), tool("take", true)], Arm::Index, false).talk();
    let call = json!({"name": "put", "arguments": {"path": "a", "status": "lead"}});
    let shown = conversation.dispatch(&Call::fresh("call_tool", call));
    let text = content(&shown);
    let last = "\nTry: {\"name\":\"call_tool\",\"arguments\":{\"name\":\"put\",\"arguments\":{\"path\":\"a\",\"stage\":\"lead\"}}}";
    assert!(text.ends_with(last), "{text}");
    let long = json!({"path": "a".repeat(5_000), "status": "lead"});
    let shown = content(&conversation.dispatch(&Call::fresh("take", long)));
    assert!(!shown.contains("Try:"), "a long call is not repeated");
}

fn histories() -> Vec<(Wire, String, Value)> {
    let lines = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/conversation/histories.jsonl"));
    let mut found = Vec::new();
    for line in lines.unwrap().lines() {
        let case: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(line).unwrap();
        let wire: String = serde_json::from_str(case["wire"].get()).unwrap();
        let history = serde_json::from_str(case["history"].get()).unwrap();
        found.push((wire.parse().unwrap(), case["message"].get().to_owned(), history));
    }
    found
}

fn talk_on(wire: Wire) -> Conversation {
    engine_of(&[tool("put", false), tool("take", true)], Arm::Full, false).talk_on(wire)
}

/// The session and the Python package are tested with the same file.
#[test]
fn a_message_for_the_history_has_no_faults() {
    for (wire, message, history) in histories() {
        let mut conversation = talk_on(wire);
        let turn = conversation.turn(&message).unwrap();
        let written = turn.message().unwrap().get().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), history, "{wire} {message}");
        let ids: Vec<String> = turn.outcomes().map(|outcome| outcome.id().to_string()).collect();
        let answers = Value::Array(turn.into_messages()).to_string();
        if !matches!(wire, Wire::Gemini | Wire::Mcp) {
            assert!(ids.iter().all(|id| answers.contains(&format!("\"{id}\""))), "{wire}: {answers}");
        }
        // What is in the history is without faults, and is recognized as the same message.
        let mut again = talk_on(wire);
        let turn = again.turn(&written).unwrap();
        assert_eq!(turn.message().unwrap().get(), written, "{wire}");
        assert_eq!(turn.outcomes().map(|outcome| outcome.id().to_string()).collect::<Vec<_>>(), ids, "{wire}");
    }
}

#[test]
fn a_resent_message_gets_the_same_ids() {
    let message = json!({"role": "assistant", "tool_calls": [
        {"id": "x", "type": "function", "function": {"name": "put", "arguments": "{\"path\":\"a\"}"}},
        {"id": "x", "type": "function", "function": {"name": "put", "arguments": "{\"path\":\"b\"}"}},
        {"type": "function", "function": {"name": "put", "arguments": "{\"path\":\"c\"}"}}]});
    let mut conversation = talk_on(Wire::OpenAiChat);
    let first = conversation.turn(&message).unwrap().message().unwrap().get().to_owned();
    let events = conversation.events().len();
    let second = conversation.turn(&message).unwrap().message().unwrap().get().to_owned();
    let third = conversation.turn(&first).unwrap().message().unwrap().get().to_owned();
    assert_eq!((&second, &third, conversation.events().len()), (&first, &first, events));
}

fn json_value() -> impl Strategy<Value = Value> {
    let text =
        prop_oneof![any::<String>(), Just("```json".to_owned()), Just("<|im_end|>".to_owned()), Just(",}".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..4).prop_map(|members| members.into_iter().collect())
        ]
    })
}

/// A JSON object as text, compact or indented, with blanks around it.
fn object_text() -> impl Strategy<Value = String> {
    let members = proptest::collection::vec((any::<String>(), json_value()), 0..4);
    (members, any::<bool>(), 0..3_usize).prop_map(|(members, is_indented, blanks)| {
        let value: Value = members.into_iter().collect();
        let text = if is_indented { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        format!("{}{text}{}", " ".repeat(blanks), "\n".repeat(blanks))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(400)))]
    #[test]
    fn valid_arguments_are_never_repaired(text in object_text()) {
        let any = json!({"name": "put", "inputSchema": {"type": "object"}});
        let outcome = engine_of(&[any], Arm::Full, false).talk().call("1", "put", text.as_str()).unwrap();
        let Outcome::Forward(forward) = outcome else { panic!("{text}: {outcome:?}") };
        prop_assert_eq!((&forward.arguments_json, forward.context.coerced.len()), (&text, 0));
    }

    #[test]
    fn a_message_without_faults_is_unchanged(
        calls in proptest::collection::btree_map("[a-zA-Z0-9_-]{1,40}", ("put|take|other_tool", json_value()), 1..4),
        wire in proptest::sample::select(Wire::ALL.to_vec()), is_indented in any::<bool>(),
    ) {
        let calls: Vec<(&str, &str, Value)> =
            calls.iter().map(|(id, (name, value))| (id.as_str(), name.as_str(), json!({"path": value}))).collect();
        let message = wire.assistant_message(&calls);
        let text = if is_indented { serde_json::to_string_pretty(&message).unwrap() } else { message.to_string() };
        let mut conversation = talk_on(wire);
        let turn = conversation.turn(&text).unwrap();
        prop_assert_eq!(turn.message().unwrap().get(), &text);
    }
}
