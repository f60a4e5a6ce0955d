//! Tests that the examples run and show what they are for.
#![allow(missing_docs, reason = "tests document themselves by name")]

#[path = "../../agent.rs"]
mod agent;

use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;
use toolfold_examples::{async_openai, genai, rig};

const CALLS: [&[&str]; 3] = [&["expand_tools -> reply"], &["format_cells -> forward", "format_column -> reply"], &[]];

/// The array that these examples fold.
fn array() -> String {
    let catalog = Catalog::from_openai(include_str!("../../../profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(include_str!("../../../profiles/excel/profile.toml"), "profile.toml").value;
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build().unwrap();
    engine.conversation(Wire::OpenAiChat).start().unwrap().tools().json().to_owned()
}

#[test]
fn example_async_openai_sends_the_same_bytes_every_turn() {
    let turns = async_openai::run().unwrap();
    assert_eq!(turns.iter().map(|turn| &turn.calls[..]).collect::<Vec<_>>(), CALLS);
    // The library's types write the array byte for byte as toolfold returned it.
    let array = array();
    assert!(turns.iter().all(|turn| turn.tools == array && turn.digest == turns[0].digest));
}

#[test]
fn example_genai_sends_the_same_tools_every_turn() {
    let turns = genai::run().unwrap();
    assert_eq!(turns.iter().map(|turn| &turn.calls[..]).collect::<Vec<_>>(), CALLS);
    assert!(turns.iter().all(|turn| turn.tools == turns[0].tools && turn.digest == turns[0].digest));
    let count = serde_json::from_str::<Vec<serde_json::Value>>(&array()).unwrap().len();
    let tools = serde_json::from_str::<Vec<serde_json::Value>>(&turns[0].tools).unwrap();
    assert_eq!(tools.len(), count);
    assert!(tools.iter().all(|tool| tool["description"].is_string() && tool["schema"].is_object()));
}

#[test]
fn example_rig_sends_the_same_tools_every_turn() {
    let turns = rig::run().unwrap();
    assert_eq!(turns.iter().map(|turn| &turn.calls[..]).collect::<Vec<_>>(), CALLS);
    assert!(turns.iter().all(|turn| turn.tools == turns[0].tools && turn.digest == turns[0].digest));
    // The same tools as in the array, under the library's own keys.
    let array = serde_json::from_str::<Vec<serde_json::Value>>(&array()).unwrap();
    let tools = serde_json::from_str::<Vec<serde_json::Value>>(&turns[0].tools).unwrap();
    assert_eq!(tools.len(), array.len());
    for (tool, entry) in tools.iter().zip(&array) {
        for key in ["name", "description", "parameters"] {
            assert_eq!(tool[key], entry["function"][key], "{key} of {}", tool["name"]);
        }
    }
}

#[test]
fn example_agent_requests_approval_and_continues() {
    let lines = agent::run().unwrap();
    let has = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(lines[0].starts_with("arm "), "{lines:?}");
    assert!(has("asked about delete_file: deletes /old.xlsx") || has("asked about delete_file"), "{lines:?}");
    let runs = lines.iter().filter(|line| line.starts_with("ran ")).collect::<Vec<_>>();
    assert_eq!(runs, ["ran delete_file", "ran format_cells"], "what the person refused does not run");
    assert!(has("delete_file was not run: a person rejected it: keep it for now"), "{lines:?}");
    agent::main().unwrap();
}
