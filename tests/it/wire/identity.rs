//! A generated list with everything in it comes back as it came, and what is not ours is in every
//! arm.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use super::{arms, notes};
use crate::talk::Talk;

const WORDS: &str = "Words enough that folding it saves something, and more than something.";

/// An entry of a list of a wire that has more than tools, `n` its number.
fn entry(wire: Wire, n: usize) -> BoxedStrategy<Value> {
    let vendor = prop_oneof![
        Just(json!({})),
        Just(json!({"x_vendor": [1, {"k": null}]})),
        Just(json!({"cache_control": {"type": "ephemeral"}}))
    ];
    let tool = (vendor, any::<bool>(), ".{0,12}").prop_map(move |(vendor, strict, words)| {
        let key = match wire {
            Wire::Anthropic => "input_schema",
            Wire::Gemini => "parametersJsonSchema",
            Wire::Mcp => "inputSchema",
            _ => "parameters",
        };
        let mut own = json!({"description": words, key: {"properties": {"a": {"type": "string", "description": WORDS}}, "type": "object"}, "name": format!("t{n}")});
        own.as_object_mut().unwrap().extend(vendor.as_object().unwrap().clone());
        match wire {
            Wire::OpenAiChat => json!({"function": own, "type": "function"}),
            Wire::OpenAiResponses => {
                own["strict"] = json!(strict);
                own["type"] = json!("function");
                own
            }
            _ => own,
        }
    });
    let foreign = prop_oneof![
        Just(json!({"type": "web_search", "n": 1})),
        Just(json!({"type": "made_up", "name": format!("f{n}"), "deep": {"type": "function"}})),
        Just(json!({"type": "custom", "custom": {"name": format!("f{n}")}})),
        Just(json!({"type": "bash_20250124", "name": "bash"})),
    ];
    match wire {
        Wire::Mcp => tool.boxed(),
        Wire::Gemini => {
            let group = (prop::collection::vec(tool, 0..2), any::<bool>()).prop_map(|(tools, more)| {
                if more { json!({"googleSearch": {}, "functionDeclarations": tools}) } else { json!({"function_declarations": tools}) }
            });
            prop_oneof![group, Just(json!({"codeExecution": {}})), Just(json!({"made_up": [1.5]}))].boxed()
        }
        Wire::OpenAiResponses => {
            let inside = prop::collection::vec(prop_oneof![tool.clone().boxed(), Just(json!({"type": "custom", "name": "c"})).boxed()], 0..2);
            let space = inside.prop_map(move |tools| json!({"type": "namespace", "tools": tools, "name": format!("s{n}"), "description": "D."}));
            prop_oneof![2 => tool, 1 => foreign, 1 => space].boxed()
        }
        // `custom` is Anthropic's word for a tool of the client's.
        Wire::Anthropic => prop_oneof![3 => tool.boxed(), 1 => foreign.prop_filter("a tool", |entry| entry["type"] != "custom").boxed()].boxed(),
        _ => prop_oneof![tool.boxed(), foreign.boxed()].boxed(),
    }
}

fn list() -> impl Strategy<Value = (Wire, Vec<Value>)> {
    prop::sample::select(Wire::ALL.to_vec()).prop_flat_map(|wire| {
        let entries: Vec<BoxedStrategy<Value>> = (0..7).map(|n| entry(wire, n)).collect();
        (0..7_usize, entries).prop_map(move |(count, mut entries)| {
            entries.truncate(count);
            // Anthropic accepts at most four, and more are not sent.
            let mut marked = 0;
            for entry in entries.iter_mut().filter(|entry| entry.get("cache_control").is_some()) {
                marked += 1;
                if marked > 4 {
                    entry.as_object_mut().unwrap().remove("cache_control");
                }
            }
            (wire, entries)
        })
    })
}

fn format(wire: Wire) -> Format {
    wire.name().parse().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    #[test]
    fn a_list_round_trips((wire, list) in list()) {
        // Two declarations of one Gemini entry would have one name.
        let distinct = |list: &[Value]| {
            let text = json!(list).to_string();
            (0..7).all(|n| text.matches(&format!("\"name\":\"t{n}\"")).count() < 2)
        };
        prop_assume!(distinct(&list));
        let text = json!(list).to_string();
        let loaded = Catalog::import(&text, "t", Some(format(wire)));
        prop_assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
        prop_assert_eq!(&loaded.value.to_json(format(wire)), &text);
        let engine = Engine::builder(loaded.value).arm(Arm::Full).build().unwrap();
        let array = engine.talk_on(wire).tools();
        prop_assert_eq!(array.json(), text.as_str());
        prop_assert_eq!(notes(&engine, wire, Arm::Full), vec![]);
    }

    #[test]
    fn other_entries_are_in_every_arm((wire, list) in list()) {
        let text = json!(list).to_string();
        let catalog = Catalog::import(&text, "t", Some(format(wire))).value;
        let profile = ToolProfile::derive(&catalog);
        for arm in arms(wire) {
            let engine = Engine::builder(catalog.clone()).profile(profile.clone()).arm(arm).build().unwrap();
            let array = engine.talk_on(wire).tools().json().to_owned();
            let mut rest = array.as_str();
            for entry in engine.catalog().foreign() {
                let at = rest.find(&*entry.text);
                prop_assert!(at.is_some(), "{} {}: {} in {}", wire, arm, entry.text, array);
                rest = &rest[at.unwrap() + entry.text.len()..];
            }
            prop_assert!(serde_json::from_str::<Value>(&array).is_ok(), "{}", array);
        }
    }
}
