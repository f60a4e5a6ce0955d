//! Bridges on MCP: one for each kind of effect, so that a client that asks a person by annotations
//! asks the right question.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::Engine;
use toolfold::profile::Arm;
use toolfold::wire::Wire;

const WORDS: &str = "Words enough that folding it saves something, and more than something, and a little more. ";

fn tools() -> Value {
    let tool = |name: &str, hints: Value| {
        json!({"name": name, "description": WORDS.repeat(6), "annotations": hints,
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": WORDS.repeat(3)}}}})
    };
    json!([
        tool("look", json!({"readOnlyHint": true})),
        tool("put", json!({"destructiveHint": false})),
        tool("drop", json!({})),
        tool("wipe", json!({"destructiveHint": true})),
    ])
}

fn start(wire: Wire, tools: &Value) -> Conversation {
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    Engine::builder(catalog).arm(Arm::Index).build().unwrap().conversation(wire).start().unwrap()
}

fn declared(conversation: &mut Conversation) -> Vec<(String, Value)> {
    let array = conversation.tools().value();
    let own = |tool: &Value| (tool["name"].as_str().unwrap().to_owned(), tool["annotations"].clone());
    array.as_array().unwrap().iter().map(own).collect()
}

#[test]
fn bridges_describe_what_they_can_call() {
    let mut conversation = start(Wire::Mcp, &tools());
    let hints = |read: bool, destroys: bool| json!({"readOnlyHint": read, "destructiveHint": destroys});
    let expected = [
        ("expand_tools".to_owned(), Value::Null),
        ("call_read".to_owned(), hints(true, false)),
        ("call_write".to_owned(), hints(false, false)),
        ("call_destructive".to_owned(), hints(false, true)),
    ];
    assert_eq!(declared(&mut conversation), expected);
    // Only those that are needed.
    let reading = json!([
        tools()[0],
        tools()[0].as_object().map(|tool| {
            let mut tool = tool.clone();
            tool.insert("name".into(), json!("read"));
            tool
        })
    ]);
    let names: Vec<String> = declared(&mut start(Wire::Mcp, &reading)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["expand_tools", "call_read"]);
    // Elsewhere nobody asks by annotations.
    let names: Vec<String> = start(Wire::Anthropic, &tools())
        .tools()
        .value()
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].to_string())
        .collect();
    assert_eq!(names, ["\"expand_tools\"", "\"call_tool\""]);
}

#[test]
fn bridges_call_only_what_they_describe() {
    let mut conversation = start(Wire::Mcp, &tools());
    conversation.call("0", "expand_tools", json!({"tools": ["look", "put", "drop", "wipe"]})).unwrap();
    let bridges = ["call_read", "call_write", "call_destructive"];
    let targets = [("look", 0), ("put", 1), ("drop", 2), ("wipe", 2)];
    for (at, bridge) in bridges.into_iter().enumerate() {
        for (target, needs) in targets {
            let arguments = json!({"name": target, "arguments": {"path": "a"}});
            // Wrapped once more, it is what is outside that a person saw.
            for arguments in [
                arguments.clone(),
                json!({"name": "call_tool", "arguments": arguments}),
                json!({"name": "call_destructive", "arguments": arguments}),
            ] {
                let outcome = conversation.call("", bridge, arguments.clone()).unwrap();
                let runs = matches!(outcome, Outcome::Forward(_));
                assert_eq!(runs, at >= needs, "{bridge} {arguments}: {:?}", outcome.content());
                if !runs {
                    assert!(outcome.content().unwrap().contains(bridges[needs]), "{:?}", outcome.content());
                }
            }
        }
    }
}

#[test]
fn opened_tools_name_their_bridge() {
    let mut conversation = start(Wire::Mcp, &tools());
    let outcome = conversation.call("1", "expand_tools", json!({"tools": ["wipe", "look", "drop"]})).unwrap();
    let text = outcome.content().unwrap().into_owned();
    let (reads, destroys) = (text.find("call_read").unwrap(), text.find("call_destructive").unwrap());
    let (look, wipe) = (text.find("\"look\"").unwrap(), text.find("\"wipe\"").unwrap());
    assert!(reads < look && look < destroys && destroys < wipe && !text.contains("call_write"), "{text}");
    let again = conversation.call("2", "expand_tools", json!({"tools": ["look", "wipe"]})).unwrap();
    let text = again.content().unwrap().into_owned();
    assert!(
        text.contains("run it with call_read: look") && text.contains("run it with call_destructive: wipe"),
        "{text}"
    );
}
