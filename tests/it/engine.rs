//! The engine: sessions, their arrays, and what does not fit together.

use std::sync::Arc;

use serde_json::Value;
use toolfold::catalog::Catalog;
use toolfold::engine::{Engine, ToolArray};
use toolfold::profile::{Arm, ExpandRequest, ToolProfile};
use toolfold::wire::Wire;

use crate::project;

fn engine(arm: Arm) -> Engine {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(arm).build().unwrap()
}

fn open(category: &str) -> ExpandRequest {
    ExpandRequest { categories: vec![category.to_owned()], tools: vec![] }
}

#[test]
fn the_array_is_shared_until_something_changes_it() {
    let engine = engine(Arm::Stable);
    let (mut one, mut two) = (engine.session(), engine.session());
    let first = one.tools(Wire::OpenAiChat);
    assert!(Arc::ptr_eq(&first, &one.tools(Wire::OpenAiChat)), "warm: the same text, not a copy");
    assert!(Arc::ptr_eq(&first, &two.tools(Wire::OpenAiChat)), "and for every session");
    one.expand(&open("format"));
    assert!(Arc::ptr_eq(&first, &one.tools(Wire::OpenAiChat)), "in_result never changes the array");
}

#[test]
fn in_place_opens_in_the_array_and_only_there() {
    let engine = engine(Arm::Seed);
    let (mut one, mut two) = (engine.session(), engine.session());
    let before: Vec<Value> = serde_json::from_str(&one.tools(Wire::OpenAiChat)).unwrap();
    one.expand(&open("chart"));
    let after: Vec<Value> = serde_json::from_str(&one.tools(Wire::OpenAiChat)).unwrap();
    let changed: Vec<&str> = before
        .iter()
        .zip(&after)
        .filter(|(old, new)| old != new)
        .map(|(old, _)| old["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["create_chart", "create_excel_chart"]);
    assert_eq!(before.len(), after.len());
    let other: Vec<Value> = serde_json::from_str(&two.tools(Wire::OpenAiChat)).unwrap();
    assert_eq!(other, before, "another session has opened nothing");
}

#[test]
fn arm_full_sends_what_came_in() {
    let text = project("profiles/excel/tools.json");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(engine(Arm::Full).session().tools(Wire::OpenAiChat).text(), value.to_string());
    let bare = Engine::builder(Catalog::from_openai(&text).unwrap()).arm(Arm::Lean).build().unwrap();
    assert_eq!(bare.session().tools(Wire::OpenAiChat).text(), value.to_string(), "without a profile nothing is folded");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let taken = r#"[{"name":"expand_tools","input_schema":{}},{"name":"b","description":"Do b.","input_schema":{"properties":{"x":{"type":"string","description":"Words, words and words, more than a stub would cost."}}}}]"#;
    let build = |arm| {
        let catalog = Catalog::from_anthropic(taken).unwrap();
        let profile = ToolProfile::derive(&catalog);
        Engine::builder(catalog).profile(profile).arm(arm).build()
    };
    let error = build(Arm::Stable).unwrap_err();
    assert!(error.is_engine() && error.to_string().contains("`expand_tools`"), "{error}");
    assert!(build(Arm::Full).is_ok(), "arm full declares no meta-tool");
    let profile = ToolProfile::parse("core = ['nope']", "p.toml").value;
    let catalog = Catalog::from_anthropic(taken).unwrap();
    assert!(Engine::builder(catalog).profile(profile).build().unwrap_err().is_profile());
}

#[test]
fn an_engine_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let engine = engine(Arm::Index);
    shared(&engine);
    let arrays: Vec<Arc<ToolArray>> = std::thread::scope(|scope| {
        let spawn = |_| scope.spawn(|| engine.session().tools(Wire::OpenAiChat));
        (0..4).map(spawn).collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(arrays.windows(2).all(|pair| pair[0] == pair[1]));
}
