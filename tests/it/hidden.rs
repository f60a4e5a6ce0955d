//! No parameter is hidden silently: hidden parameters are shown once before they matter.

use std::collections::BTreeSet;

#[cfg(feature = "validate")]
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Event, Outcome, Reply, ReplyKind};
use toolfold::engine::{Blind, Engine};
use toolfold::profile::{Arm, CustomArm, Delivery, Detail, ToolProfile};
use toolfold::wire::Wire;

use crate::talk::{Call, Dispatch, Talk};
use crate::tool_lists::tool_lists;

const WORDS: &str = "Words enough that folding it saves something, and more than something. ";

/// A writing and a reading tool, each with one required and two optional parameters.
fn tools() -> Value {
    let schema = json!({"type": "object", "required": ["path"], "properties": {
        "path": {"type": "string", "description": WORDS.repeat(9)},
        "mode": {"type": "string", "enum": ["slow", "fast"], "description": WORDS.repeat(9)},
        "count": {"type": "integer", "description": WORDS}}});
    json!([
        {"name": "put", "description": format!("Put it. {WORDS}"), "inputSchema": schema},
        {"name": "take", "description": format!("Take it. {WORDS}"), "inputSchema": schema},
        {"name": "look", "description": format!("Look at it. {WORDS}"), "inputSchema": schema,
            "annotations": {"readOnlyHint": true}}
    ])
}

fn engine(arm: Arm, blind: Blind) -> Engine {
    let catalog = Catalog::from_mcp(&tools().to_string()).unwrap();
    let profile = ToolProfile::parse("[category.all]\ntools = ['*']", "p.toml").into_result().unwrap();
    Engine::builder(catalog).profile(profile).arm(arm).blind(blind).build().unwrap()
}

/// The arms that hide names of parameters.
fn hiding() -> impl Iterator<Item = Arm> {
    let mine = CustomArm::new("mine", Detail::Full, Detail::Required, Delivery::InPlace).unwrap();
    let all = Arm::EVERYWHERE.into_iter().chain([Arm::Custom(mine)]);
    all.filter(|arm| matches!(arm.extended(), Detail::Required | Detail::Summary) || !arm.extended().is_in_array())
}

#[track_caller]
fn shown(outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Reply(reply) if reply.answer.kind == ReplyKind::Shown => reply,
        other => panic!("shown first, not {other:?}"),
    }
}

fn is_forwarded(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Forward(_))
}

fn put(id: &str) -> Call {
    Call::new(id, "put", json!({"path": "a"}))
}

#[test]
fn a_writing_call_runs_after_its_hidden_parameters_are_shown() {
    for arm in hiding() {
        let mut conversation = engine(arm, Blind::Show).talk();
        let reply = shown(conversation.dispatch(&put("1")));
        let text = &reply.answer.content;
        assert!(text.starts_with("put was not run yet: you had not seen its definition.\n"), "{arm}: {text}");
        let last = "\nNow call put again. Set only parameters for which the user gave a value.";
        assert!(text.contains("\"enum\":[\"slow\",\"fast\",null]") && text.ends_with(last), "{arm}: {text}");
        assert!(reply.answer.failed && reply.opened.len() == 1, "{arm}");
        assert!(is_forwarded(&conversation.dispatch(&put("2"))), "{arm}: unchanged");
        assert!(matches!(conversation.dispatch(&put("1")), Outcome::Reply(_)), "{arm}: the same id, the same answer");
        // It has not failed, so the loop breaker does not count it.
        for id in 3..9 {
            assert!(is_forwarded(&conversation.dispatch(&put(&id.to_string()))), "{arm}");
        }
    }
}

/// The properties of the definition in an answer.
fn properties_in(answer: &str) -> Map<String, Value> {
    let line = answer.lines().find(|line| line.starts_with("{\"name\"")).expect("a definition");
    let mut definition: Value = serde_json::from_str(line).unwrap();
    serde_json::from_value(definition["parameters"]["properties"].take()).unwrap()
}

/// A model writes `null` for a parameter whose default that is, so it is the default exactly where
/// the gate drops `null`.
#[cfg(feature = "validate")]
#[test]
fn null_is_the_default_of_each_parameter_for_which_it_is_dropped() {
    let properties = json!({
        "path": {"type": "string"},
        "mode": {"type": "string", "enum": ["slow", "fast"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
        "link": {"$ref": "#/$defs/size"},
        "limit": {"type": "integer", "default": 20},
        "owner": {"type": ["string", "null"]},
        "level": {"enum": ["low", null]},
        "any": {"description": "anything"},
        "all": true,
    });
    let dropped = ["mode", "either", "link", "limit"];
    let mut list = tools();
    list[0]["inputSchema"]["properties"] = properties.clone();
    list[0]["inputSchema"]["$defs"] = json!({"size": {"type": "integer", "description": WORDS.repeat(9)}});
    let catalog = Catalog::from_mcp(&list.to_string()).unwrap();
    let profile = ToolProfile::parse("[category.all]\ntools = ['*']", "p.toml").into_result().unwrap();
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Lean).build().unwrap();
    let mut conversation = engine.talk();
    let shown = properties_in(&shown(conversation.dispatch(&put("1"))).answer.content);
    for (name, own) in properties.as_object().unwrap() {
        let mut expected = own.clone();
        if dropped.contains(&name.as_str()) && name != "limit" {
            expected["default"] = Value::Null;
            if let Some(values) = expected.get_mut("enum").and_then(Value::as_array_mut) {
                values.push(Value::Null);
            }
        }
        assert_eq!(shown[name], expected, "{name}");
        let call =
            Call::fresh("put", if name == "path" { json!({"path": "a"}) } else { json!({"path": "a", name: null}) });
        let outcome = conversation.dispatch(&call);
        let Outcome::Forward(forward) = &outcome else { panic!("{name}: {outcome:?}") };
        let runs_with = forward.arguments.as_object().unwrap().contains_key(name);
        assert_eq!(runs_with, !dropped.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn hidden_parameters_are_shown_only_once() {
    for arm in Arm::EVERYWHERE {
        let mut conversation = engine(arm, Blind::Show).talk();
        let whole = json!({"path": "a", "mode": "slow", "count": 1});
        assert!(is_forwarded(&conversation.dispatch(&Call::fresh("put", whole))), "{arm}: it leaves nothing out");
        if arm != Arm::Full {
            let arguments = if arm == Arm::Seed { json!({"category": "all"}) } else { json!({"tools": ["take"]}) };
            conversation.dispatch(&Call::fresh("expand_tools", arguments));
        }
        assert!(
            is_forwarded(&conversation.dispatch(&Call::fresh("take", json!({"path": "a"})))),
            "{arm}: it was opened"
        );
        let mut forwards = engine(arm, Blind::Forward).talk();
        assert!(is_forwarded(&forwards.dispatch(&put("1"))), "{arm}: as it was told to");
    }
}

#[test]
fn the_result_of_a_read_only_tool_lists_hidden_parameters() {
    for arm in hiding() {
        for wire in Wire::ALL {
            let mut conversation = engine(arm, Blind::Show).talk_on(wire);
            let look = |id: &str| Call::new(id, "look", json!({"path": "a", "count": 1}));
            let Outcome::Forward(first) = conversation.dispatch(&look("1")) else { panic!("{arm}: it runs") };
            let line = "[look has optional parameters that you have not seen and did not set: `mode`]";
            assert_eq!(first.notes.note.as_deref(), Some(line), "{arm} {wire}");
            let again = conversation.dispatch(&look("1"));
            assert!(
                matches!(&again, Outcome::Forward(own) if own.notes.note == first.notes.note),
                "the same call, the same note"
            );
            let replayed = conversation.engine().replay(&conversation.clone().take_log(0)).unwrap();
            assert!(replayed == conversation, "{arm} {wire}");
            let messages = Value::Array(conversation.answer(&first.id, "42").unwrap());
            let text = messages.to_string();
            assert!(text.contains("`mode`]\\n42"), "{arm} {wire}: {text}");
            let Outcome::Forward(second) = conversation.dispatch(&look("2")) else { panic!("{arm}") };
            assert_eq!(second.notes.note, None, "{arm} {wire}: once");
            conversation.seen_calls(["2"]);
            let Outcome::Forward(third) = conversation.dispatch(&look("3")) else { panic!("{arm}") };
            assert!(third.notes.note.is_some(), "{arm} {wire}: it is out of sight");
        }
    }
}

#[test]
fn every_model_of_a_shared_conversation_is_answered_in_full() {
    for arm in hiding().filter(|arm| arm.delivery() != Delivery::InPlace) {
        let mut conversation = engine(arm, Blind::Show).talk();
        conversation.shared_by_models();
        let opens = |id: usize| Call::new(&id.to_string(), "expand_tools", json!({"tools": ["take"]}));
        let looked_up = |outcome| match outcome {
            Outcome::Reply(reply) => reply,
            other => panic!("{other:?}"),
        };
        let first = looked_up(conversation.dispatch(&opens(0)));
        // More lookups or failures than one model may make before it gets a directive.
        for id in 1..8 {
            let again = looked_up(conversation.dispatch(&opens(id)));
            assert_eq!((&again.answer.content, &again.opened), (&first.answer.content, &first.opened), "{arm}");
        }
        // What one model was shown before it wrote a call applies to all: models cannot be
        // distinguished.
        assert!(shown(conversation.dispatch(&put("a"))).answer.content.contains("not run yet"), "{arm}");
        assert!(is_forwarded(&conversation.dispatch(&put("b"))), "{arm}");
        // A reading tool lists the hidden parameters each time.
        for id in ["c", "d"] {
            let look = Call::new(id, "look", json!({"path": "a", "count": 1}));
            let Outcome::Forward(forward) = conversation.dispatch(&look) else { panic!("{arm}") };
            assert!(forward.notes.note.is_some(), "{arm}");
        }
        let replayed = conversation.engine().replay(&conversation.clone().take_log(0)).unwrap();
        assert!(replayed == conversation, "{arm}");
        let openings = conversation.events().iter().filter(|event| matches!(event, Event::Expanded { .. })).count();
        assert!(openings <= 2, "{arm}: what is open is not opened again");
    }
}

/// The model writes all calls of a message before it reads any answer to them.
#[test]
fn answers_of_a_message_are_unread_by_its_other_calls() {
    for arm in hiding() {
        for wire in Wire::ALL {
            let mut conversation = engine(arm, Blind::Show).talk_on(wire);
            let arguments = json!({"path": "a"});
            let opens = if arm == Arm::Seed { json!({"category": "all"}) } else { json!({"categories": ["all"]}) };
            for (first, second) in [(("put", &arguments), "put"), (("expand_tools", &opens), "take")] {
                let ids = [format!("a-{second}"), format!("b-{second}")];
                let calls = [(ids[0].as_str(), first.0, first.1.clone()), (ids[1].as_str(), second, arguments.clone())];
                let made = wire.assistant_message(&calls);
                let turn = conversation.turn(&made).unwrap();
                let kinds: Vec<bool> = turn.outcomes().map(is_forwarded).collect();
                assert_eq!(kinds, [false, false], "{arm} {wire} {second}");
                let Some(Outcome::Reply(reply)) = turn.outcomes().nth(1) else { panic!("{arm} {wire}") };
                assert_eq!(reply.answer.kind, ReplyKind::Shown, "{arm} {wire}");
                assert!(reply.answer.content.contains("in another result of this message"), "{}", reply.answer.content);
                drop(turn.into_messages());
                let next = conversation.dispatch(&Call::fresh(second, arguments.clone()));
                assert!(is_forwarded(&next), "{arm} {wire} {second}: read by now");
            }
        }
    }
}

/// A tool that the profile hides completely can be called, although the model was not shown any of
/// it.
#[test]
fn a_hidden_tool_is_shown_before_it_runs() {
    let catalog = Catalog::from_mcp(&tools().to_string()).unwrap();
    let profile = ToolProfile::parse("core = ['take', 'look']\nunlisted = 'hidden'", "p.toml").into_result().unwrap();
    let mut conversation = Engine::builder(catalog).profile(profile).arm(Arm::Outline).build().unwrap().talk();
    let reply = shown(conversation.dispatch(&put("1")));
    assert!(reply.answer.content.contains("\"mode\":{"), "{}", reply.answer.content);
    assert!(is_forwarded(&conversation.dispatch(&put("2"))));
}

/// Names come from the tool's author: each is listed, and none can create a line.
#[test]
fn any_parameter_name_is_listed() {
    let mut properties = json!({"path": {"type": "string", "description": WORDS.repeat(9)}, "a\nRun `rm`\u{202e}": {}});
    for n in 0..300 {
        properties[format!("p{n}")] = json!({"type": "string", "description": WORDS});
    }
    let schema = json!({"type": "object", "required": ["path"], "properties": properties});
    let tools =
        json!([{"name": "look", "description": WORDS, "inputSchema": schema, "annotations": {"readOnlyHint": true}}]);
    let engine = Engine::builder(Catalog::from_mcp(&tools.to_string()).unwrap()).arm(Arm::Stable).build().unwrap();
    let outcome = engine.talk().dispatch(&Call::fresh("look", json!({"path": "a"})));
    let Outcome::Forward(forward) = outcome else { panic!("it runs") };
    let note = forward.notes.note.unwrap();
    assert!(note.lines().count() == 1 && !note.contains('\u{202e}'), "{note}");
    assert!((0..300).all(|n| note.contains(&format!("`p{n}`"))), "{note}");
}

#[test]
fn a_transcript_restores_what_was_shown() {
    for arm in hiding() {
        for wire in Wire::ALL {
            let engine = engine(arm, Blind::Show);
            let mut conversation = engine.talk_on(wire);
            let mut messages: Vec<Value> = Vec::new();
            for id in ["1", "2"] {
                let made = wire.assistant_message(&[(id, "put", json!({"path": "a"}))]);
                match made.clone() {
                    Value::Array(items) => messages.extend(items),
                    other => messages.push(other),
                }
                let mut turn = conversation.turn(&made).unwrap();
                for forward in turn.runnable() {
                    turn.finish(&forward.id, "done").unwrap();
                }
                messages.extend(turn.into_messages());
                if wire == Wire::Mcp {
                    break;
                }
            }
            if wire == Wire::Mcp {
                continue;
            }
            let recalled = engine.conversation(wire).arm(arm).from_transcript(&Value::Array(messages)).unwrap();
            let mut next = [conversation, recalled].map(|mut own| own.dispatch(&put("3")));
            assert!(next.iter_mut().all(|outcome| is_forwarded(outcome)), "{arm} {wire}: {next:?}");
        }
    }
}

/// The names in a rendered array and in the list itself, read from JSON without the library.
fn names(parameters: &Value) -> BTreeSet<String> {
    toolfold::schema::properties(parameters).into_iter().flat_map(Map::keys).cloned().collect()
}

/// A model that omits everything it was not shown.
#[test]
fn corpus_no_omission_is_silent() {
    let (mut calls, mut first, mut noted) = (0, 0, 0);
    for list in toolfold_testing::sample(tool_lists(), 10) {
        let catalog = Catalog::import(&list.text, &list.name, None).into_result().unwrap();
        let engine = Engine::builder(catalog).without_validation().build().unwrap();
        for arm in Arm::EVERYWHERE {
            let mut conversation = engine.talk_as(Wire::OpenAiChat, arm);
            let array: Vec<Value> = conversation.tools().to().unwrap();
            for tool in engine.catalog().iter() {
                // A reference at the top of a schema represents its target.
                let whole = names(tool.parameters());
                let name = tool.name().as_str();
                if !is_sent_as_it_is(name) {
                    continue;
                }
                let entry = array.iter().find(|entry| entry["function"]["name"] == name);
                let named = entry.map(|entry| names(&entry["function"]["parameters"]));
                let named = named.unwrap_or_default();
                let hidden: Vec<&String> = whole.difference(&named).collect();
                let outcome = conversation.dispatch(&Call::fresh(tool.name().as_str(), json!({})));
                calls += 1;
                let said = |text: &str| hidden.iter().all(|name| text.contains(name.as_str()));
                match outcome {
                    Outcome::Forward(forward) => match forward.notes.note {
                        Some(note) => {
                            assert!(said(&note) && !hidden.is_empty(), "{} {arm} {name}: {note}", list.name);
                            noted += 1;
                        }
                        None => assert_eq!(hidden, Vec::<&String>::new(), "{} {arm} {}", list.name, tool.name()),
                    },
                    other => {
                        let reply = shown(other);
                        assert!(
                            said(&reply.answer.content) && !hidden.is_empty(),
                            "{} {arm} {}",
                            list.name,
                            tool.name()
                        );
                        first += 1;
                        let again = conversation.dispatch(&Call::fresh(tool.name().as_str(), json!({})));
                        assert!(is_forwarded(&again), "{} {arm} {}: once", list.name, tool.name());
                    }
                }
            }
        }
    }
    println!(
        "{calls} calls that leave out what was hidden: {first} answered with it first, {noted} with a line before the result, 0 silent"
    );
}

/// Whether Chat Completions accepts the name unchanged.
fn is_sent_as_it_is(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Arguments as intended, and as the model wrote them.
#[cfg(feature = "validate")]
fn written() -> impl Strategy<Value = (Value, Value)> {
    let meant = (
        any::<i64>(),
        proptest::option::of(any::<i32>()),
        proptest::option::of(any::<bool>()),
        proptest::option::of("[a-z0-9]{0,6}"),
        proptest::option::of(proptest::collection::vec(any::<i16>(), 0..4)),
        proptest::option::of((any::<i8>(), proptest::option::of("[0-9]{1,3}"))),
    );
    (meant, any::<u16>()).prop_map(|((id, count, flag, text, list, inner), how)| {
        let bit = |at: u16| how >> at & 1 == 1;
        let (mut meant, mut written) = (json!({"id": id}), json!({"id": id}));
        if bit(0) {
            written["id"] = json!(id.to_string());
        }
        let mut put = |name: &str, value: Option<Value>, as_text: bool, null: bool| match value {
            Some(value) => {
                written[name] = if as_text { json!(value.to_string()) } else { value.clone() };
                meant[name] = value;
            }
            None if null => written[name] = Value::Null,
            None => {}
        };
        put("count", count.map(|own| json!(own)), bit(1), bit(2));
        put("flag", flag.map(|own| json!(own)), bit(3), bit(4));
        // A string stays a string, whatever it looks like.
        put("text", text.map(|own| json!(own)), false, bit(5));
        put("list", list.map(|own| json!(own)), bit(6), bit(7));
        let inner = inner.map(|(w, s)| match s {
            Some(s) => json!({"w": w, "s": s}),
            None => json!({"w": w}),
        });
        put("inner", inner, bit(8), bit(9));
        (meant, written)
    })
}

#[cfg(feature = "validate")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(500)))]
    #[test]
    fn unambiguous_arguments_are_coerced_and_reported((meant, written) in written()) {
        let schema = json!({"type": "object", "required": ["id"], "additionalProperties": false, "properties": {
            "id": {"type": "integer"}, "count": {"type": "integer"}, "flag": {"type": "boolean"}, "text": {"type": "string"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "inner": {"type": "object", "required": ["w"], "properties": {"w": {"type": "integer"}, "s": {"type": "string"}}}}});
        let tools = json!([{"name": "put", "description": "Put.", "inputSchema": schema}]).to_string();
        let engine = |coerce| Engine::builder(Catalog::from_mcp(&tools).unwrap()).coerce(coerce).build().unwrap();
        let outcome = engine(true).talk().dispatch(&Call::fresh("put", written.clone()));
        let Outcome::Forward(forward) = outcome else { panic!("{written}: {outcome:?}") };
        prop_assert_eq!(&forward.arguments, &meant, "{}", written);
        prop_assert_eq!(&serde_json::from_str::<Value>(&forward.arguments_json).unwrap(), &meant);
        prop_assert_eq!(forward.context.coerced.is_empty(), meant == written, "{}: {:?}", written, forward.context.coerced);
        let strict = engine(false).talk().dispatch(&Call::fresh("put", written.clone()));
        prop_assert_eq!(is_forwarded(&strict), meant == written, "nothing is touched where it is off");
    }
}
