//! Properties over generated catalogues and call sequences.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::engine::{Call, Engine, SessionOptions};
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::transcripts::drive;
use super::{arms, engine};

/// A catalogue with names of every kind, and a profile over it.
fn engines() -> impl Strategy<Value = Vec<(Arm, Engine)>> {
    let name = "[a-c][a-c._:-]{0,3}";
    proptest::collection::btree_set(name, 1..8).prop_map(|names| {
        let schema = |n: usize| match n % 3 {
            0 => json!({"type": "object", "properties": {"a": {"type": "string", "description": "x".repeat(60)}}, "required": ["a"]}),
            1 => json!({"type": "object", "properties": {"o": {"type": "object", "description": "y".repeat(60)}}}),
            _ => json!({"type": "object", "properties": {}}),
        };
        let tools: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(n, name)| json!({"name": name, "description": "Does a thing. And more.", "inputSchema": schema(n)}))
            .collect();
        let profile = "core = ['a*']\n[category.'b:s']\ntools = ['b*']\n[category.c_s]\ndescription = 'those of c'\ntools = ['c*']";
        let profile = if names.iter().any(|name| name.starts_with('a')) { profile.to_owned() } else { profile.replace("'a*'", "") };
        let all = Arm::EVERYWHERE.into_iter().chain([Arm::Native]);
        all.map(|arm| (arm, engine(&json!(tools), &profile, arm))).collect()
    })
}

/// What a model may call: a tool by place, an expansion, or nonsense.
#[derive(Debug, Clone)]
enum Made {
    Tool(usize, Value),
    Wrapped(usize, Value),
    Expand(Vec<usize>, Vec<bool>),
    Other(String, Value),
}

fn arguments() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!({"a": "text"})),
        Just(json!({"a": 5})),
        Just(json!({"o": {"k": 1}})),
        Just(json!([1])),
        Just(json!("text")),
    ]
}

fn turns() -> impl Strategy<Value = Vec<Vec<Made>>> {
    let made = prop_oneof![
        (0_usize..9, arguments()).prop_map(|(at, arguments)| Made::Tool(at, arguments)),
        (0_usize..9, arguments()).prop_map(|(at, arguments)| Made::Wrapped(at, arguments)),
        (proptest::collection::vec(0_usize..9, 0..3), proptest::collection::vec(any::<bool>(), 0..2))
            .prop_map(|(tools, categories)| Made::Expand(tools, categories)),
        ("[a-z_.]{1,6}", arguments()).prop_map(|(name, arguments)| Made::Other(name, arguments)),
    ];
    proptest::collection::vec(proptest::collection::vec(made, 1..4), 0..6)
}

fn calls(engine: &Engine, turns: &[Vec<Made>]) -> Vec<Vec<Call>> {
    let name = |at: &usize| engine.catalog().at(at % engine.catalog().len()).unwrap().name().to_string();
    let mut id = 0;
    let mut call = |made: &Made| {
        id += 1;
        let id = format!("c{id}");
        match made {
            Made::Tool(at, arguments) => Call::new(&id, &name(at), arguments.clone()),
            Made::Wrapped(at, arguments) => {
                Call::new(&id, "call_tool", json!({"name": name(at), "arguments": arguments}))
            }
            Made::Expand(tools, categories) => {
                let tools: Vec<String> = tools.iter().map(name).collect();
                let categories: Vec<&str> = categories.iter().map(|b| if *b { "b:s" } else { "c_s" }).collect();
                Call::new(&id, "expand_tools", json!({"tools": tools, "categories": categories}))
            }
            Made::Other(name, arguments) => Call::new(&id, name, arguments.clone()),
        }
    };
    turns.iter().map(|turn| turn.iter().map(&mut call).collect()).collect()
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z_]{0,8}|tool_use|function_call|assistant|model|tools/call|tool|\\{|expand_tools".prop_map(Value::from),
    ];
    let key = "messages|input|contents|content|parts|role|type|name|id|call_id|arguments|args|function|functionCall\
               |functionResponse|tool_calls|tool_call_id|method|params|result|output|choices|message|candidates|[a-z]{1,3}";
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn only_in_place_ever_changes_the_array(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for wire in Wire::ALL.into_iter().filter(|wire| wire.supports(*arm).is_ok()) {
                let before = engine.session().digest(wire);
                let mut live = drive(engine, wire, &calls(engine, &turns));
                if *arm != Arm::Seed {
                    prop_assert_eq!(live.session.digest(wire), before, "{} {}", wire, arm);
                }
            }
        }
    }

    #[test]
    fn a_transcript_gives_the_session_back(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for wire in Wire::ALL.into_iter().filter(|wire| wire.supports(*arm).is_ok()) {
                let mut live = drive(engine, wire, &calls(engine, &turns));
                let messages = Value::Array(live.messages);
                let mut again = engine.from_transcript(wire, &messages, SessionOptions::default()).unwrap();
                prop_assert_eq!(again.expanded(), live.session.expanded(), "{} {}", wire, arm);
                prop_assert_eq!(again.digest(wire), live.session.digest(wire), "{} {}", wire, arm);
            }
        }
    }

    #[test]
    fn calls_come_back_as_they_went(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for turn in calls(engine, &turns) {
                for wire in Wire::ALL.into_iter().filter(|wire| wire.supports(*arm).is_ok()) {
                    let message = wire.format_calls(engine, *arm, &turn);
                    prop_assert_eq!(wire.parse_calls(engine, &message).unwrap(), turn.clone(), "{} {}: {}", wire, arm, message);
                }
            }
        }
    }

    #[test]
    fn arrays_name_every_tool_once_and_in_the_wires_alphabet(engines in engines()) {
        for (arm, engine) in &engines {
            for wire in Wire::ALL.into_iter().filter(|wire| wire.supports(*arm).is_ok()) {
                let text = engine.session().tools(wire).to_string();
                for name in engine.catalog().names() {
                    let sent = wire.sent_name(engine, name.as_str());
                    prop_assert!(text.contains(&sent), "{} {}: {} as {}", wire, arm, name, sent);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nothing_panics_on_any_json(value in anything()) {
        let engine = engine(&json!([{"name": "a.b", "inputSchema": {"type": "object"}}]), "", Arm::Stable);
        for wire in Wire::ALL {
            let _ = wire.parse_calls(&engine, &value);
            let _ = engine.from_transcript(wire, &value, SessionOptions::default());
        }
    }
}

#[test]
fn every_arm_is_tried_on_some_wire() {
    assert!(Arm::EVERYWHERE.into_iter().all(|arm| arms(Wire::Anthropic).any(|own| own == arm)));
}
