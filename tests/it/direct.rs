//! Calls under the names of the tools that run, and arms that a host cannot carry.

use std::sync::Arc;

use serde_json::json;
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, StartError};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{Context, MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::{Arm, Delivery};
use toolfold::wire::Wire;

const TOOLS: &str = r#"[
    {"name": "wipe", "description": "Wipes a disk.", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {"name": "my.tool", "description": "Has a name that no wire takes.", "inputSchema": {"type": "object"}}]"#;

fn started(arm: Arm) -> Conversation {
    let engine = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).build().unwrap();
    engine.conversation(Wire::OpenAiChat).arm(arm).start().unwrap()
}

fn direct(conversation: &Conversation, name: &str, arguments: &str) -> Option<(String, String)> {
    conversation.direct(name, arguments)
}

#[test]
fn a_wrapped_call_keeps_its_arguments() {
    for arm in [Arm::Index, Arm::Lean, Arm::Full] {
        let conversation = started(arm);
        let inner = r#"{"path":  "/", "n": 123456789012345678901234567890, "x": 1e2}"#;
        let found = direct(&conversation, "call_tool", &format!(r#"{{ "name":"wipe", "arguments":{inner} }}"#));
        assert_eq!(found, Some(("wipe".to_owned(), inner.to_owned())), "{arm}");
        let text = json!({"name": "wipe", "arguments": r#"{"path":"/"}"#}).to_string();
        assert_eq!(direct(&conversation, "call_tool", &text).unwrap().1, r#"{"path":"/"}"#, "arguments as text");
        let twice = json!({"name": "call_tool", "arguments": {"name": "wipe", "arguments": {}}}).to_string();
        assert_eq!(direct(&conversation, "call_tool", &twice).unwrap().0, "wipe");
    }
}

#[test]
fn direct_and_unknown_calls_are_unchanged() {
    let conversation = started(Arm::Index);
    for (name, arguments) in [
        ("wipe", "{}"),
        ("nope", "{}"),
        ("expand_tools", r#"{"tools":["wipe"]}"#),
        ("call_tool", r#"{"name":"nope","arguments":{}}"#),
        ("call_tool", r#"{"name":"wipe","arguments":[1]}"#),
        ("call_tool", r#"{"arguments":{}}"#),
        ("call_tool", "no JSON"),
    ] {
        assert_eq!(direct(&conversation, name, arguments), None, "{name} {arguments}");
    }
}

/// Arguments of a tool that the model sees with other parameters are converted under its own name,
/// too.
#[test]
fn a_name_decides_only_for_tools_that_are_shown_as_they_are() {
    let tools = json!([
        {"name": "plain", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
        {"name": "renamed", "inputSchema": {"type": "object", "properties": {"a b": {"type": "string"}}}},
        {"name": "wrapped", "inputSchema": {"type": "string"}}]);
    let engine = Engine::builder(Catalog::from_mcp(&tools.to_string()).unwrap()).build().unwrap();
    let conversation = engine.conversation(Wire::Anthropic).arm(Arm::Full).start().unwrap();
    let is_direct = |name: &str| conversation.is_direct(name);
    assert_eq!(["plain", "renamed", "wrapped", "nope"].map(is_direct), [true, false, false, false]);
    for arguments in ["{}", r#"{"path": "/", "value": 1}"#, r#""/""#, "[]", "no JSON"] {
        assert_eq!(direct(&conversation, "plain", arguments), None, "{arguments}");
    }
    let shown = conversation.engine().catalog().iter().find(|tool| tool.name().as_str() == "renamed").unwrap();
    let key = shown.parameters()["properties"].as_object().unwrap().keys().next().unwrap();
    let found = direct(&conversation, "renamed", &json!({key: "x"}).to_string());
    assert_eq!(found, Some(("renamed".to_owned(), r#"{"a b":"x"}"#.to_owned())));
}

#[test]
fn the_hosts_name_is_accepted() {
    let mut conversation = started(Arm::Full);
    let shown = conversation.tools().entries().into_iter().map(|entry| entry.name).find(|name| name.starts_with("my"));
    let shown = shown.unwrap();
    assert_ne!(shown, "my.tool");
    assert_eq!(direct(&conversation, &shown, "{}"), Some(("my.tool".to_owned(), "{}".to_owned())));
    let Ok(Outcome::Forward(forward)) = conversation.call("1", "my.tool", "{}") else { panic!("not forwarded") };
    assert_eq!(forward.target.as_str(), "my.tool");
}

#[test]
fn nothing_is_judged_or_recorded() {
    let mut conversation = started(Arm::Index);
    conversation.take_log(0);
    assert!(direct(&conversation, "call_tool", r#"{"name":"wipe","arguments":{}}"#).is_some());
    assert!(conversation.take_log(0).is_empty());
}

#[test]
fn an_arm_that_the_host_cannot_carry_does_not_start() {
    let engine = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).build().unwrap();
    let start = || engine.conversation(Wire::OpenAiChat).without(Delivery::Bridge);
    let refused = start().arm(Arm::Index).start().unwrap_err();
    assert_eq!(refused, StartError::NotCarried { arm: Arm::Index, delivery: "bridge" });
    assert!(start().arm(Arm::Lean).start().is_ok());
    let many: Vec<_> =
        (0..140).map(|at| json!({"name": format!("t{at}"), "inputSchema": {"type": "object"}})).collect();
    let engine = Engine::builder(Catalog::from_mcp(&json!(many).to_string()).unwrap()).arm(Arm::Auto).build().unwrap();
    let auto = |without: &[Delivery]| {
        let start = engine.conversation(Wire::OpenAiChat);
        without.iter().fold(start, |start, own| start.without(*own)).start().unwrap().arm()
    };
    assert_eq!(auto(&[]), Arm::Search);
    assert_eq!(auto(&[Delivery::Bridge]), Arm::Full);
}

#[test]
fn a_turn_resumes_its_own_call_of_two_identical_ones() {
    let rules = "[tool.wipe]\ntier = 'a'\n";
    let file = PolicyFile::load(rules, "policy.toml", PolicyScope::User).into_result().unwrap();
    let (policy, approver) = PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), || 1_000);
    let policy = policy.context(Context::default().with_interactive(true));
    let engine = Engine::builder(Catalog::from_mcp(TOOLS).unwrap()).policy(policy).build().unwrap();
    let mut conversation = engine.conversation(Wire::OpenAiChat).id("c").start().unwrap();
    let message = |id: &str| {
        let function = json!({"name": "wipe", "arguments": r#"{"path":"/"}"#});
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]})
    };
    drop(conversation.turn(&message("c1")).unwrap().into_messages());
    let mut turn = conversation.turn(&message("c2")).unwrap();
    let approval = turn.waiting()[0].approval.clone();
    approver.approve(approval.as_str(), 1_000).unwrap();
    turn.resume(&approval).unwrap();
    let runnable = turn.runnable();
    assert_eq!(runnable.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["c2"]);
    turn.finish(&runnable[0].id, "wiped").unwrap();
    assert_eq!(turn.into_messages()[0]["content"], "wiped");
}

/// A call that runs under another name than its tool's has a direct form, with the arguments that
/// run, in every layer that reads names and arguments leniently.
#[test]
fn every_call_that_runs_under_another_name_has_a_direct_form() {
    let wrapped = json!({"name": "wipe", "arguments": {"path": "/"}}).to_string();
    let calls = [
        ("call_tool", wrapped.clone()),
        ("call_tool", json!(wrapped).to_string()),
        ("call_tool", format!("\u{feff}{wrapped}")),
        ("call_tool", format!("```json\n{wrapped}\n```")),
        ("call_tool", wrapped.replace("}}", "},}")),
        ("call_tool", json!({"name": "functions.wipe", "arguments": {"path": "/"}}).to_string()),
        ("functions.wipe", r#"{"path":"/"}"#.to_owned()),
        ("wipe ", r#"{"path":"/"}"#.to_owned()),
        ("wipe:0", r#"{"path":"/"}"#.to_owned()),
        ("Wipe", r#"{"path":"/"}"#.to_owned()),
    ];
    let mut ran = 0;
    for (name, arguments) in &calls {
        let mut conversation = started(Arm::Full);
        let found = direct(&conversation, name, arguments);
        if let Ok(Outcome::Forward(forward)) = conversation.call("1", name, arguments.as_str()) {
            let (own, inner) = found.unwrap_or_else(|| panic!("{name} {arguments} runs and has no direct form"));
            assert_eq!((own.as_str(), forward.target.as_str()), ("wipe", "wipe"));
            assert_eq!(serde_json::from_str::<serde_json::Value>(&inner).unwrap(), forward.arguments);
            ran += 1;
        }
    }
    assert!(ran > 0, "a wrapped call runs");
}
