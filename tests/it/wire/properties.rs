//! Properties over generated catalogues and call sequences.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::transcripts::{drive, step};
use super::{arms, engine};
use crate::listed::written_out;
use crate::talk::{Call, Talk};

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
        let all = Arm::EVERYWHERE.into_iter().chain([Arm::Native, Arm::Append]);
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

/// The names under which a wire's array shows the tools, in catalogue order.
fn shown(engine: &Engine, wire: Wire) -> Vec<String> {
    let mut full = engine.talk_as(wire, Arm::Full);
    full.tools().entries().into_iter().filter(|entry| !entry.own).map(|entry| entry.name).collect()
}

fn calls(engine: &Engine, wire: Wire, turns: &[Vec<Made>]) -> Vec<Vec<Call>> {
    let names = shown(engine, wire);
    let name = |at: &usize| names[at % names.len()].clone();
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

/// The wires that carry an arm.
fn wires(arm: Arm) -> impl Iterator<Item = Wire> {
    Wire::ALL.into_iter().filter(move |wire| wire.supports(arm).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(24)))]

    #[test]
    fn only_in_place_ever_changes_the_array(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for wire in wires(*arm) {
                let before = engine.talk_on(wire).digest();
                let mut live = drive(engine, wire, &calls(engine, wire, &turns));
                if *arm != Arm::Seed {
                    prop_assert_eq!(live.session.digest(), before, "{} {}", wire, arm);
                }
            }
        }
    }

    #[test]
    fn a_transcript_restores_the_conversation(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for wire in wires(*arm) {
                let mut live = drive(engine, wire, &calls(engine, wire, &turns));
                let messages = Value::Array(live.messages);
                let mut again = engine.conversation(wire).from_transcript(&messages).unwrap();
                prop_assert_eq!(again.expanded(), live.session.expanded(), "{} {}", wire, arm);
                prop_assert_eq!(again.digest(), live.session.digest(), "{} {}", wire, arm);
            }
        }
    }

    /// The same call of the same id gives the same outcome, whatever happened in between, and
    /// changes nothing.
    #[test]
    fn a_repeated_call_changes_nothing(engines in engines(), turns in turns()) {
        for (arm, engine) in &engines {
            for wire in wires(*arm) {
                let mut conversation = engine.talk_on(wire);
                let mut made = Vec::new();
                for call in calls(engine, wire, &turns).iter().flatten() {
                    let outcome = conversation.call(&call.id, &call.name, &call.arguments).unwrap();
                    made.push((call.clone(), outcome));
                }
                let before = conversation.snapshot();
                for (call, outcome) in &made {
                    let again = conversation.call(&call.id, &call.name, &call.arguments).unwrap();
                    prop_assert_eq!(again.answers(), outcome.answers(), "{} {}", wire, arm);
                    let kinds = (std::mem::discriminant(&again), std::mem::discriminant(outcome));
                    prop_assert_eq!(kinds.0, kinds.1);
                }
                prop_assert_eq!(conversation.snapshot(), before, "{} {}", wire, arm);
            }
        }
    }

    /// Every name in an array is within the wire's alphabet, unique, and refers to its own
    /// tool.
    #[test]
    fn arrays_have_every_tool_once_with_a_valid_name(engines in engines()) {
        // Arm `search` does not name the tools that it finds.
        for (arm, engine) in engines.iter().filter(|(arm, _)| *arm != Arm::Search) {
            for wire in wires(*arm) {
                let text = written_out(engine.talk_on(wire).tools().json());
                for name in shown(engine, wire) {
                    prop_assert!(text.contains(&name), "{} {}: {}", wire, arm, name);
                }
            }
        }
    }

    /// Compactions at any point: what is left in sight is what a conversation made from it alone
    /// would have open.
    #[test]
    fn visible_answers_determine_open_tools(engines in engines(), turns in turns(), cut in 0_usize..12) {
        for (arm, engine) in engines.iter().filter(|(arm, _)| !matches!(arm, Arm::Seed | Arm::Full)) {
            for wire in wires(*arm).filter(|wire| *wire != Wire::Mcp) {
                let mut live = drive(engine, wire, &[]);
                let mut ends = vec![live.messages.len()];
                for turn in calls(engine, wire, &turns) {
                    step(&mut live, &turn);
                    ends.push(live.messages.len());
                }
                let from = ends[cut % ends.len()];
                let left = Value::Array(live.messages[from..].to_vec());
                let opened_before = live.session.opened();
                live.session.seen(&left).unwrap();
                let after = live.session.opened();
                prop_assert!(after.iter().all(|name| opened_before.contains(name)));
                // A tool that is still open is named in what is left.
                let text = left.to_string();
                prop_assert!(after.iter().all(|name| text.contains(name.as_str())), "{} {}: {:?}", wire, arm, after);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    #[test]
    fn nothing_panics_on_any_json(value in anything()) {
        let engine = engine(&json!([{"name": "a.b", "inputSchema": {"type": "object"}}]), "", Arm::Stable);
        for wire in Wire::ALL {
            let mut conversation = engine.talk_on(wire);
            let read = conversation.turn(&value).map(|turn| turn.into_messages().len());
            let as_text = engine.talk_on(wire).turn(&value.to_string()).map(|turn| turn.into_messages().len());
            prop_assert_eq!(read.is_ok(), as_text.is_ok(), "a value and its text read the same");
            let _ = conversation.seen(&value);
            let _ = engine.conversation(wire).from_transcript(&value);
        }
    }
}

#[test]
fn every_arm_is_tried_on_some_wire() {
    assert_eq!(Arm::ALL.len(), Arm::EVERYWHERE.len() + 3, "native, append and auto");
    assert!(Arm::EVERYWHERE.into_iter().all(|arm| arms(Wire::Anthropic).any(|own| own == arm)));
}
