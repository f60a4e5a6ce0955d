//! Layer 1 over generated catalogs, profiles, arms and expansions.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Tool;
use toolfold::conversation::Conversation;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, Delivery, Detail, EXPAND_TOOLS, ExpandRequest, Expanded, Folded, Plan, Tier};
use toolfold_testing::with;

use super::corpora::bytes;
use super::generate::{Case, case, tool_body};
use super::shape::{lost_of_outline, lost_of_required, lost_of_signature};
use crate::listed::written_out;
use crate::talk::Talk;

/// What a conversation sends now, tool by tool.
pub(super) fn plan_of(talk: &Conversation) -> Plan {
    talk.presentation().plan(talk.engine().catalog(), talk.engine().assignment(), talk.expanded())
}

fn array(session: &mut Conversation) -> Vec<Value> {
    session.tools().to().unwrap()
}

/// The value of a key in a tool of Chat Completions, or of the wire that carries the arm.
fn says<'t>(tool: &'t Value, key: &str) -> &'t str {
    tool.get("function").unwrap_or(tool)[key].as_str().unwrap()
}

fn name(tool: &Value) -> &str {
    says(tool, "name")
}

/// The folded tools: index, name and category.
fn deferred(engine: &Engine) -> Vec<(usize, String, String)> {
    let presentation = engine.presentation(engine.arm());
    let entries = presentation.deferred.iter();
    let all = entries.flat_map(|entry| entry.tools.iter().map(move |at| (*at, entry.category.to_string())));
    all.map(|(at, category)| (at, engine.catalog().at(at).unwrap().name().to_string(), category)).collect()
}

fn one(category: &str, tool: &str) -> ExpandRequest {
    let list = |name: &str| if name.is_empty() { vec![] } else { vec![name.to_owned()] };
    with!(ExpandRequest::default(), categories = list(category), tools = list(tool))
}

fn opened_names(expanded: &Expanded, engine: &Engine) -> BTreeSet<String> {
    let assigned = engine.catalog().iter().zip(engine.assignment().tools.iter());
    let open =
        assigned.filter(|(tool, assigned)| expanded.opens_tool(tool.name().as_str(), assigned.category.as_str()));
    open.map(|(tool, _)| tool.name().to_string()).collect()
}

/// Every tool is in the array, or named in the description of `expand_tools`; hidden ones are in
/// neither. Under arm `search`, the description names its category.
fn every_tool_is_seen(case: &Case) {
    let engine = case.engine();
    let array = array(&mut engine.talk());
    let meta = array.iter().find(|tool| name(tool) == EXPAND_TOOLS);
    let described = meta.map(|tool| says(tool, "description")).unwrap_or_default();
    let described = written_out(described);
    let words: BTreeSet<&str> = described.split([' ', ',', ':', '\n']).collect();
    for (tool, assigned) in engine.catalog().iter().zip(engine.assignment().tools.iter()) {
        let listed = array.iter().any(|shown| name(shown) == tool.name().as_str());
        let named = words.contains(tool.name().as_str());
        match assigned.tier {
            Tier::Hidden => assert!(!listed && !named, "hidden `{}` is seen", tool.name()),
            Tier::Extended if case.arm == Arm::Search && meta.is_some() => {
                assert!(!listed && !named, "`{}`: listed {listed}, named {named}", tool.name());
                let category = format!("{} (", assigned.category);
                assert!(described.contains(&category), "`{}`: {category} is named", tool.name());
            }
            _ => assert!(listed != named, "`{}`: listed {listed}, named {named}", tool.name()),
        }
    }
    let folded = plan_of(&engine.talk()).tools.iter().any(|planned| planned.detail != Detail::Full);
    assert_eq!(meta.is_some(), folded, "`expand_tools` is there if and only if something is folded");
}

/// An engine rebuilt from the same texts gives the same output, which depends on what is open and
/// not on how it was opened.
fn the_plan_is_a_function(case: &Case) {
    let (first, second) = (case.engine(), case.engine());
    let (mut one, mut two) = (first.talk(), second.talk());
    for request in &case.requests {
        assert_eq!(one.expand(request), two.expand(request));
        assert_eq!(plan_of(&one), plan_of(&two));
        assert_eq!(one.tools(), two.tools());
        let text = serde_json::to_string(one.expanded()).unwrap();
        let expanded: Expanded = serde_json::from_str(&text).unwrap();
        let plan = second.presentation(second.arm()).plan(second.catalog(), second.assignment(), &expanded);
        assert_eq!(plan, plan_of(&one));
    }
    assert_eq!(plan_of(&one), plan_of(&two));
}

/// What the model sees after each expansion.
fn only_opened_tools_change(case: &Case) {
    let engine = case.engine();
    let mut session = engine.talk();
    let first = session.tools();
    for request in &case.requests {
        let before = array(&mut session);
        let expansion = session.expand(request);
        if case.arm.delivery() != Delivery::InPlace {
            assert_eq!(session.tools(), first, "the array never changes");
            continue;
        }
        let after = array(&mut session);
        assert_eq!(before.len(), after.len());
        let opened: BTreeSet<&str> = expansion.opened.iter().map(AsRef::as_ref).collect();
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(name(before), name(after), "places do not change");
            assert_eq!(before != after, opened.contains(name(before)), "`{}`", name(before));
        }
        for tool in opened {
            let shown = after.iter().find(|shown| name(shown) == tool).unwrap();
            let own = engine.catalog().get(tool).unwrap().parameters();
            assert!(shown["function"]["parameters"] == *own || is_repaired(own), "{shown}");
        }
    }
}

/// Every folded tool opens by its name, also with other separators, and by its category; a
/// misspelled name finds it.
fn every_folded_tool_is_found(case: &Case) {
    let engine = case.engine();
    for (at, tool, category) in deferred(&engine) {
        for request in [one("", &tool), one(&tool, ""), one(&category, ""), one("", &category)] {
            let mut session = engine.talk();
            let expansion = session.expand(&request);
            assert!(expansion.opened.iter().any(|open| *open == tool.as_str()), "{request:?} must open `{tool}`");
            assert!(session.expanded().opens_tool(&tool, &category));
            assert!(expansion.unknown.is_empty());
            let shown =
                plan_of(&session).tools.iter().find(|planned| planned.index == at).map(|planned| planned.detail);
            assert_eq!(shown == Some(Detail::Full), case.arm.delivery() == Delivery::InPlace);
            if case.arm.delivery() != Delivery::InPlace {
                let schema = engine.catalog().get(&tool).unwrap().parameters();
                let appended = json!(session.redeliver_messages());
                if case.arm == Arm::Append {
                    let definitions = appended[0]["tools"].as_array().unwrap().iter();
                    let own = definitions.filter(|own| own["name"] == *tool).collect::<Vec<_>>();
                    assert_eq!(own.len(), 1, "{appended}");
                    assert!(own[0]["parameters"] == *schema || is_repaired(schema), "a message brings it: {appended}");
                    continue;
                }
                assert_eq!(appended, json!([]));
                let schema = engine.catalog().get(&tool).unwrap().parameters_text();
                assert!(expansion.reply.contains(schema), "the reply brings the schema as it came");
            }
        }
        let dashed = engine.talk().expand(&one("", &tool.replace('_', "-")));
        assert!(dashed.mentioned.iter().any(|open| *open == tool.as_str()), "{}", dashed.reply);
        let slips = [tool.replacen(tool.chars().nth(2).unwrap(), "", 1), format!("{tool}x")];
        for slip in slips.iter().filter(|slip| engine.catalog().get(slip).is_none()) {
            let expansion = engine.talk().expand(&one("", slip));
            assert!(expansion.opened.is_empty());
            assert!(
                expansion.reply.contains(&format!("`{tool}`")),
                "`{slip}` must lead to `{tool}`: {}",
                expansion.reply
            );
        }
    }
}

/// Repeating an expansion changes nothing, and one request equals several.
fn expansion_is_idempotent_and_batched(case: &Case) {
    let engine = case.engine();
    let mut single = engine.talk();
    let mut all = ExpandRequest::default();
    let mut opened = BTreeSet::new();
    for request in &case.requests {
        opened.extend(single.expand(request).opened);
        let open = single.expanded().clone();
        let again = single.expand(request);
        assert!(again.opened.is_empty() && again.categories.is_empty() && again.tools.is_empty());
        assert_eq!(*single.expanded(), open);
        all.categories.extend(request.categories.iter().cloned());
        all.tools.extend(request.tools.iter().cloned());
    }
    let mut batched = engine.talk();
    let expansion = batched.expand(&all);
    assert_eq!(expansion.opened.iter().cloned().collect::<BTreeSet<_>>(), opened);
    assert_eq!(opened_names(batched.expanded(), &engine), opened_names(single.expanded(), &engine));
    assert_eq!(batched.tools(), single.tools());
}

/// Without a profile everything is full with every arm, and nothing can be opened.
fn without_a_profile_all_is_full(case: &Case) {
    let catalog = case.engine().catalog().clone();
    let whole: Vec<Value> = serde_json::from_str(&catalog.to_json(toolfold::catalog::Format::OpenAiChat)).unwrap();
    let engine = Engine::builder(catalog).without_profile().build().unwrap();
    let mut session = engine.talk();
    let expected = session.tools().json().to_owned();
    let sent: Vec<Value> = serde_json::from_str(&expected).unwrap();
    assert_eq!(sent.len(), whole.len());
    for (sent, whole) in sent.iter().zip(&whole) {
        assert!(sent == whole || is_repaired(&whole["function"]["parameters"]), "{sent}");
    }
    for request in &case.requests {
        assert!(session.expand(request).opened.is_empty());
    }
    assert_eq!(session.tools().json(), expected);
}

/// Whether OpenAI rejects a schema unchanged, so that it is sent with a repair.
fn is_repaired(schema: &Value) -> bool {
    fn has_bare_array(node: &Value) -> bool {
        let bare = node["type"] == "array" && node.get("items").is_none();
        let below = |value: &Value| match value {
            Value::Object(map) => map.values().any(has_bare_array),
            Value::Array(list) => list.iter().any(has_bare_array),
            _ => false,
        };
        bare || below(node)
    }
    let top = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().any(|key| schema.get(*key).is_some());
    top || schema["type"] != "object" || schema.get("properties").is_none() || has_bare_array(schema)
}

fn folding_keeps_what_must_stay(description: &str, schema: &Value) {
    let tool = Tool::new("any_tool", description, schema.clone()).unwrap();
    let schema = tool.parameters();
    let full = Folded::new(&tool, Detail::Full, None);
    for detail in Detail::ALL {
        let folded = Folded::new(&tool, detail, None);
        assert!(bytes(&folded) <= bytes(&full), "{} is longer than full", detail.name());
        let own = folded.parameters();
        match folded.detail {
            Detail::Outline => assert_eq!(lost_of_outline(schema, &own), None, "{own}"),
            Detail::Signature => assert_eq!(lost_of_signature(schema, &own), None, "{own}"),
            Detail::Required => assert_eq!(lost_of_required(schema, &own), None, "{own}"),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(192), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tool_is_shown_or_listed(case in case()) {
        every_tool_is_seen(&case);
    }

    #[test]
    fn the_presentation_is_a_pure_function(case in case()) {
        the_plan_is_a_function(&case);
    }

    #[test]
    fn an_expansion_changes_only_what_it_opens(case in case()) {
        only_opened_tools_change(&case);
    }

    #[test]
    fn every_folded_tool_can_be_opened(case in case()) {
        every_folded_tool_is_found(&case);
    }

    #[test]
    fn expanding_is_idempotent_and_batched(case in case()) {
        expansion_is_idempotent_and_batched(&case);
    }

    #[test]
    fn without_a_profile_nothing_is_folded(case in case()) {
        without_a_profile_all_is_full(&case);
    }

    #[test]
    fn folding_only_removes_text((description, schema) in tool_body()) {
        folding_keeps_what_must_stay(&description, &schema);
    }
}

#[test]
fn every_arm_is_tried() {
    assert_eq!(Arm::EVERYWHERE.len(), 9, "a new arm needs its place in these properties");
}
