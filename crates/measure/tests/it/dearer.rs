//! No arm is billed more than arm `full` on the first turn: lists of the corpora and generated
//! ones.

use crate::lists::lists;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::tokens::{Cached, Meter, Tiktoken};
use toolfold::wire::Wire;
use toolfold_measure::sim::Counting;

/// The meters: OpenAI bills the fewest parts of a schema, Anthropic all of them.
const METERS: [(Wire, &str); 2] = [(Wire::OpenAiChat, "gpt-4.1"), (Wire::Anthropic, "claude-sonnet-5.5")];

/// The arms that are billed more than `full`, each with its tokens.
fn dearer(name: &str, catalog: &Catalog) -> Vec<String> {
    let engine =
        Engine::builder(catalog.clone()).profile(ToolProfile::derive(catalog)).without_validation().build().unwrap();
    let mut found = Vec::new();
    for (wire, model) in METERS {
        let meter = Meter::for_wire(wire.name(), model).unwrap();
        let counter = Cached::new(Tiktoken::new(meter.encoding()));
        let counting = Counting::new(&meter, &counter);
        let first = |arm| {
            let mut conversation = engine.conversation(wire).model(model).arm(arm).start().unwrap();
            counting.array_json(conversation.tools().json()).ok()
        };
        // A list with a tool that the provider runs cannot be counted.
        let Some(full) = first(Arm::Full) else { continue };
        for arm in Arm::EVERYWHERE {
            let own = first(arm).unwrap();
            if own > full {
                found.push(format!("{name} {model} {arm}: {own}, full {full}"));
            }
        }
    }
    found
}

#[test]
fn no_arm_is_dearer_on_the_corpora() {
    let mut faults = Vec::new();
    let mut all = 0;
    for folder in ["mcp", "clients", "cases/catalogue", "cases/measure"] {
        for (name, catalog) in toolfold_testing::sample(lists(folder), 3) {
            faults.extend(dearer(&name, &catalog));
            all += 1;
        }
    }
    println!("{all} lists, {} arms are dearer than full", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

const NOUNS: [&str; 8] = ["workspace", "invoice", "user", "deal", "ticket", "page", "comment", "pull_request"];
const VERBS: [&str; 6] = ["get", "list", "create", "update", "delete", "search"];

/// What distinguishes the generated lists: each is cheap to send whole.
#[derive(Debug, Clone, Copy)]
struct Kind {
    title: bool,
    dialect: bool,
    closed: bool,
    words: usize,
    parameters: usize,
    parameter_words: usize,
}

fn tool(at: usize, kind: Kind, server: &str) -> Value {
    let (verb, noun) = (VERBS[at % VERBS.len()], NOUNS[at / VERBS.len() % NOUNS.len()]);
    let name = format!("{server}{verb}_{noun}{}", if at < 48 { String::new() } else { at.to_string() });
    let mut properties = Map::new();
    for n in 0..kind.parameters {
        let kind_of_value = ["string", "integer", "boolean"][(at + n) % 3];
        let mut own = json!({"type": kind_of_value});
        if kind.parameter_words > 0 {
            own["description"] = Value::from(vec![noun; kind.parameter_words].join(" "));
        }
        if kind.title {
            own["title"] = json!(format!("Parameter {n}"));
        }
        properties.insert(format!("{noun}_{n}"), own);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if kind.title {
        schema["title"] = json!(format!("{name}Arguments"));
    }
    if kind.dialect {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    }
    if kind.closed {
        schema["additionalProperties"] = json!(false);
    }
    let mut tool = json!({"name": name, "inputSchema": schema});
    if kind.words > 0 {
        let words = ["the", "account", "and", "its", "members.", "Also", "returns", "their"];
        let rest: Vec<&str> = (0..kind.words).map(|word| words[(at + word) % words.len()]).collect();
        tool["description"] = json!(format!("{verb} a {noun} of {}", rest.join(" ")));
    }
    tool
}

fn kinds() -> impl Strategy<Value = Kind> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (flags, prop_oneof![Just(0_usize), 1..24_usize], prop_oneof![Just(0_usize), 1..5_usize], 0..6_usize).prop_map(
        |((title, dialect, closed), words, parameters, parameter_words)| Kind {
            title,
            dialect,
            closed,
            words,
            parameters,
            parameter_words,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases_of(40, 700), ..ProptestConfig::default() })]

    #[test]
    fn no_arm_is_dearer_on_generated_lists(count in 1_usize..60, kinds in prop::collection::vec(kinds(), 1..4), prefixed in any::<bool>()) {
        let server = if prefixed { "crm_" } else { "" };
        let tools: Vec<Value> = (0..count).map(|at| tool(at, kinds[at % kinds.len()], server)).collect();
        let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
        let found = dearer("generated", &catalog);
        prop_assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
