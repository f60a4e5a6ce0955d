//! The engine: conversations, their arrays, and incompatible parts.

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ExpandRequest, ToolProfile};
use toolfold::wire::Wire;
use toolfold_testing::with;

use crate::project;
use crate::talk::Talk;

fn engine(arm: Arm) -> Engine {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

fn open(category: &str) -> ExpandRequest {
    with!(ExpandRequest::default(), categories = vec![category.to_owned()])
}

#[test]
fn the_array_is_shared_until_something_changes_it() {
    let engine = engine(Arm::Stable);
    let (mut one, mut two) = (engine.talk(), engine.talk());
    let first = one.tools();
    assert!(std::ptr::eq(first.json(), one.tools().json()), "warm: the same text, not a copy");
    assert!(std::ptr::eq(first.json(), two.tools().json()), "and for every session");
    one.expand(&open("format"));
    assert!(std::ptr::eq(first.json(), one.tools().json()), "in_result never changes the array");
}

#[test]
fn in_place_opens_only_in_the_array() {
    let engine = engine(Arm::Seed);
    let (mut one, mut two) = (engine.talk(), engine.talk());
    let before: Vec<Value> = one.tools().to().unwrap();
    one.expand(&open("chart"));
    let after: Vec<Value> = one.tools().to().unwrap();
    let changed: Vec<&str> = before
        .iter()
        .zip(&after)
        .filter(|(old, new)| old != new)
        .map(|(old, _)| old["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["create_chart", "create_excel_chart"]);
    assert_eq!(before.len(), after.len());
    let other: Vec<Value> = two.tools().to().unwrap();
    assert_eq!(other, before, "another session has opened nothing");
}

#[test]
fn arm_full_sends_what_came_in() {
    let text = project("profiles/excel/tools.json");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(engine(Arm::Full).talk().tools().json(), value.to_string());
    let bare = Engine::builder(Catalog::from_openai(&text).unwrap()).without_profile().build().unwrap();
    assert_eq!(bare.talk().tools().json(), value.to_string(), "with layer 1 off nothing is folded");
    let why = bare.conversation(Wire::OpenAiChat).arm(Arm::Lean).start().unwrap_err();
    assert!(why.to_string().starts_with("arm lean requires layer 1"), "{why}");
    let derived = Engine::builder(Catalog::from_openai(&text).unwrap()).arm(Arm::Lean).build().unwrap();
    assert!(derived.talk().tools().json().len() < value.to_string().len() / 2, "without a profile one is derived");
}

#[test]
fn incompatible_parts_are_rejected() {
    let catalog = || Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse("core = ['nope']", "p.toml").value;
    assert_eq!(
        Engine::builder(catalog()).profile(profile).build().unwrap_err().kind,
        toolfold::error::ErrorKind::Profile
    );
}

#[test]
fn an_engine_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let engine = engine(Arm::Index);
    shared(&engine);
    let arrays: Vec<toolfold::conversation::Tools> = std::thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| engine.talk_on(Wire::OpenAiChat).tools());
        (0..4).map(spawn).collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(arrays.windows(2).all(|pair| pair[0] == pair[1]));
}
