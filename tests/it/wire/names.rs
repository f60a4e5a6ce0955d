//! Names within each provider's alphabet, and back.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::engine::{Call, Engine, Outcome};
use toolfold::profile::Arm;
use toolfold::wire::Wire;

use super::engine;

fn named(names: &[&str]) -> Engine {
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    engine(&json!(tools), "", Arm::Full)
}

#[track_caller]
fn check(wire: Wire, names: &[&str], expected: &[&str]) {
    let engine = named(names);
    let sent: Vec<String> = names.iter().map(|name| wire.sent_name(&engine, name)).collect();
    assert_eq!(sent, expected, "{wire}");
    for (name, sent) in names.iter().zip(&sent) {
        assert_eq!(wire.name_of(&engine, sent), *name, "{wire}: and back");
    }
}

#[test]
fn a_name_that_fits_is_left_alone() {
    for wire in Wire::ALL {
        check(wire, &["read_file", "list-all", "A1"], &["read_file", "list-all", "A1"]);
    }
    check(Wire::Mcp, &["fs.read"], &["fs.read"]);
    check(Wire::Gemini, &["fs.read"], &["fs.read"]);
}

#[test]
fn foreign_characters_are_replaced() {
    check(Wire::OpenAiChat, &["fs.read", "a/b:c@d"], &["fs_read", "a_b_c_d"]);
    check(Wire::Anthropic, &["fs.read"], &["fs_read"]);
    check(Wire::Gemini, &["1st", "a:b"], &["_1st", "a_b"]);
    check(Wire::Mcp, &["a:b"], &["a_b"]);
}

#[test]
fn what_is_taken_too_long_or_says_nothing_gets_a_hash() {
    check(Wire::OpenAiChat, &["fs.read", "fs_read"], &["fs_read_4074bc02", "fs_read"]);
    check(Wire::OpenAiChat, &["fs.read", "fs:read"], &["fs_read_4074bc02", "fs_read_e97cadf1"]);
    check(Wire::OpenAiChat, &["expand.tools"], &["expand_tools_5bef2a62"]);
    check(Wire::OpenAiChat, &["读取"], &["___534cb3fa"]);
    let long = "x".repeat(65);
    let engine = named(&[&long]);
    let sent = Wire::OpenAiChat.sent_name(&engine, &long);
    assert!(sent.len() == 64 && sent.starts_with("xxx"), "{sent}");
    assert_eq!(Wire::Anthropic.sent_name(&engine, &long), long);
}

#[test]
fn what_was_never_sent_is_given_back() {
    let engine = named(&["fs.read"]);
    assert_eq!(Wire::OpenAiChat.name_of(&engine, "nope"), "nope");
    assert_eq!(
        Wire::OpenAiChat.name_of(&engine, "fs.read"),
        "fs.read",
        "a model that knows the real name is understood"
    );
}

#[test]
fn texts_and_enums_use_the_names_the_model_sees() {
    let words = "Words enough that folding it saves something, and more than something. ".repeat(8);
    let tool = |name| json!({"name": name, "description": "Read. Then more.", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": words}}}});
    let engine = engine(&json!([tool("fs.read"), tool("fs.write")]), "[category.fs]\ntools = ['fs.*']", Arm::Index);
    let text = engine.session().tools(Wire::OpenAiChat).to_string();
    assert!(text.contains("fs_read, fs_write") && !text.contains("fs.read"), "{text}");
    let call = json!({"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "expand_tools", "arguments": "{\"tools\":[\"fs_read\"]}"}},
        {"id": "2", "function": {"name": "call_tool", "arguments": "{\"name\":\"fs_write\",\"arguments\":{}}"}}]});
    let calls = Wire::OpenAiChat.parse_calls(&engine, &call).unwrap();
    let mut session = engine.session();
    let outcomes = session.dispatch_all(&calls);
    assert_eq!(session.opened().iter().map(ToString::to_string).collect::<Vec<_>>(), ["fs.read"]);
    assert!(format!("{:?}", outcomes[1]).contains("target: \"fs.write\""), "{:?}", outcomes[1]);
}

#[test]
fn answers_use_the_names_the_model_sees_and_leave_everything_else() {
    let about = "Not fs.read, and words enough that folding it saves something. ".repeat(8);
    let schema = json!({"type": "object", "properties": {"fs.read": {"enum": ["fs.read"], "description": about}}, "required": ["fs.read"]});
    let tools = json!([
        {"name": "fs.read", "description": "Read. Not fs.read.", "inputSchema": schema},
        {"name": "fs_read", "description": "Read too. More.", "inputSchema": schema}]);
    let engine = engine(&tools, "[category.fs]\ntools = ['fs*']", Arm::Stable);
    let mut session = engine.session();
    let mut said = |call: &Call| match session.dispatch(call) {
        Outcome::Reply(reply) => {
            Wire::OpenAiChat.format_reply(&engine, call, &reply)["content"].as_str().unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    };
    let opened = said(&Call::new("1", "expand_tools", json!({"tools": ["fs.read", "fs.raed"]})));
    let line = opened.lines().nth(1).unwrap();
    let definition: Value = serde_json::from_str(line).unwrap();
    assert_eq!(definition["name"], "fs_read_4074bc02");
    assert_eq!(definition["parameters"], schema, "only where it names the tool");
    assert_eq!(definition["description"], "Read. Not fs.read.");
    assert!(opened.contains("Unknown: fs.raed. Near: fs_read"), "{opened}");
    let again = said(&Call::new("2", "expand_tools", json!({"tools": ["fs.read"]})));
    assert_eq!(again, "Already open, call it directly: fs_read_4074bc02");
    let bad = said(&Call::new("3", "fs.read", json!([])));
    assert!(bad.starts_with("fs_read_4074bc02 was not run"), "{bad}");
    assert!(said(&Call::new("4", "fs.reads", json!({}))).contains("Near: fs_read"));
    let again = session.redeliver_on(Wire::OpenAiChat).unwrap();
    assert!(again.contains("{\"name\":\"fs_read_4074bc02\",") && session.redeliver().unwrap().contains("\"fs.read\""));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn mangling_is_injective_stable_and_reversible(
        names in proptest::collection::btree_set("[a-c._:/@é-]{1,4}|[a-z.]{60,70}|expand[._]tools", 1..12)
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "expand_tools").collect();
        let engine = named(&names);
        for wire in Wire::ALL {
            let sent: Vec<String> = names.iter().map(|name| wire.sent_name(&engine, name)).collect();
            let mut unique = sent.clone();
            unique.sort();
            unique.dedup();
            prop_assert_eq!(unique.len(), names.len(), "{} {:?}", wire, sent);
            for (name, own) in names.iter().zip(&sent) {
                prop_assert_eq!(&wire.name_of(&engine, own), name);
                prop_assert_eq!(&wire.sent_name(&named(&names), name), own);
                let most = if matches!(wire, Wire::Anthropic | Wire::Mcp) { 128 } else { 64 };
                prop_assert!(own.len() <= most && own.is_ascii() && own != "expand_tools");
            }
        }
    }
}
