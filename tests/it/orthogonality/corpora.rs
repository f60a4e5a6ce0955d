//! The same invariants over all collected tool lists.

use toolfold::catalog::{Catalog, Tool};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Detail, ExpandRequest, Folded, ToolProfile};
use toolfold_testing::sample;
use toolfold_testing::with;

use super::shape::{lost_of_outline, lost_of_required, lost_of_signature};
use crate::talk::Talk;
use crate::tool_lists::tool_lists;

/// The bytes of a tool's description and schema in JSON.
pub(crate) fn bytes(tool: &Folded<'_>) -> usize {
    serde_json::to_string(&tool.description).unwrap().len() + tool.parameters_text().len()
}

fn check_folding(whose: &str, tool: &Tool) {
    let full = Folded::new(tool, Detail::Full, None);
    for detail in Detail::ALL {
        let folded = Folded::new(tool, detail, None);
        assert!(bytes(&folded) <= bytes(&full), "{whose}/{}: {} is longer than full", tool.name(), detail.name());
        let own = folded.parameters();
        let fault = match folded.detail {
            Detail::Full | Detail::Signature => lost_of_signature(tool.parameters(), &own),
            Detail::Outline => lost_of_outline(tool.parameters(), &own),
            Detail::Required => lost_of_required(tool.parameters(), &own),
            Detail::Summary | Detail::Index | Detail::Search => None,
        };
        assert_eq!(fault, None, "{whose}/{}: {}", tool.name(), detail.name());
    }
}

#[test]
fn corpus_folding_keeps_required_parts() {
    let mut count = 0;
    for list in tool_lists() {
        let catalog = Catalog::import(&list.text, &list.name, None).into_result().unwrap();
        count += catalog.len();
        catalog.iter().for_each(|tool| check_folding(&list.name, tool));
    }
    println!(
        "corpus folding: {count} real tools, nothing lost at signature, outline and required, none longer than full"
    );
}

#[test]
fn corpus_every_arm_opens_everything() {
    let mut opened = 0;
    for list in sample(tool_lists(), 8) {
        let catalog = Catalog::import(&list.text, &list.name, None).into_result().unwrap();
        let profile = ToolProfile::derive(&catalog);
        for arm in Arm::EVERYWHERE {
            let engine = Engine::builder(catalog.clone())
                .profile(profile.clone())
                .arm(arm)
                .without_validation()
                .build()
                .unwrap();
            let mut session = engine.talk();
            let before = session.tools();
            before.to::<Vec<serde_json::Value>>().unwrap();
            let mut count = 0;
            for entry in &engine.presentation(engine.arm()).deferred {
                let request = with!(ExpandRequest::default(), categories = vec![entry.category.to_string()]);
                let expansion = session.expand(&request);
                assert_eq!(expansion.opened.len(), entry.tools.len(), "{} {arm} {}", list.name, entry.category);
                count += expansion.opened.len();
            }
            let folded = super::presentation::plan_of(&engine.talk())
                .tools
                .iter()
                .filter(|planned| planned.detail != Detail::Full)
                .count();
            assert_eq!(count, folded, "{} {arm}: every folded tool is in one category", list.name);
            if arm != Arm::Seed {
                assert_eq!(session.tools(), before, "{} {arm}", list.name);
            }
            opened += count;
        }
    }
    println!("corpus expansion: {opened} tools opened through their categories over every arm");
}
