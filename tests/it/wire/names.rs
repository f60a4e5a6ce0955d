//! Names within each provider's alphabet, and back.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome};
use toolfold::engine::{Engine, PolicyLayer};
use toolfold::policy::{MemoryStore, Policy, PolicyFile, PolicyScope};
use toolfold::profile::{Arm, ExpandRequest};
use toolfold::wire::Wire;
use toolfold_testing::with;

use super::engine;
use crate::talk::Talk;

fn named(names: &[&str]) -> Engine {
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    engine(&json!(tools), "", Arm::Full)
}

/// The names that an array shows.
fn shown(conversation: &mut Conversation) -> Vec<String> {
    conversation.tools().entries().into_iter().map(|entry| entry.name).collect()
}

/// The tool that a call of a name is forwarded to.
fn reached(conversation: &mut Conversation, name: &str) -> Option<String> {
    match conversation.call("", name, json!({})).unwrap() {
        Outcome::Forward(forward) => Some(forward.target.to_string()),
        _ => None,
    }
}

#[track_caller]
fn check(wire: Wire, names: &[&str], expected: &[&str]) {
    let mut conversation = named(names).talk_on(wire);
    assert_eq!(shown(&mut conversation), expected, "{wire}");
    for (name, sent) in names.iter().zip(expected) {
        assert_eq!(reached(&mut conversation, sent).as_deref(), Some(*name), "{wire}: and back");
    }
}

#[test]
fn a_valid_name_is_unchanged() {
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
fn duplicate_long_and_empty_names_get_a_hash() {
    check(Wire::OpenAiChat, &["fs.read", "fs_read"], &["fs_read_4074bc02", "fs_read"]);
    check(Wire::OpenAiChat, &["fs.read", "fs:read"], &["fs_read_4074bc02", "fs_read_e97cadf1"]);
    check(Wire::OpenAiChat, &["expand.tools"], &["expand_tools_5bef2a62"]);
    check(Wire::OpenAiChat, &["读取"], &["___534cb3fa"]);
    let long = "x".repeat(65);
    let sent = shown(&mut named(&[&long]).talk()).remove(0);
    assert!(sent.len() == 64 && sent.starts_with("xxx"), "{sent}");
    check(Wire::Anthropic, &[&long], &[&long]);
}

/// A name in another script is replaced by words of the title or the first sentence, so that the
/// model knows what it calls.
#[test]
fn lost_names_keep_words_of_title_or_sentence() {
    let tools = json!([
        {"name": "查询天气", "title": "Get the weather", "description": "Something else.", "inputSchema": {}},
        {"name": "查询天气2", "description": "Returns a forecast for the next days of one city. More.", "inputSchema": {}},
        {"name": "crm__发送邮件", "title": "Send mail", "inputSchema": {}},
        {"name": "发送", "title": "发送邮件", "description": "Envoie un courriel à l'équipe.", "inputSchema": {}},
        {"name": "发送邮件", "title": "发送邮件", "inputSchema": {}},
        {"name": "größe_ändern", "title": "Resize", "inputSchema": {}},
        {"name": "🔥", "title": "Warm the cache", "inputSchema": {}},
    ]);
    let expected = [
        "get_weather_22cf3c76",
        "returns_forecast_for_next_da50afe2",
        "crm__send_mail_34c04074",
        "envoie_un_courriel_l_edecf0ae",
        "_____c268c1b1",
        "gr__e__ndern",
        "warm_cache_ed8d8305",
    ];
    let mut conversation = engine(&tools, "", Arm::Full).talk();
    assert_eq!(shown(&mut conversation), expected);
    for (tool, sent) in tools.as_array().unwrap().iter().zip(expected) {
        assert_eq!(reached(&mut conversation, sent).as_deref(), tool["name"].as_str());
    }
    let said = super::notes(conversation.engine(), Wire::OpenAiChat, Arm::Full);
    let renamed = said.iter().filter(|note| note.code == "renamed-tool");
    assert_eq!(renamed.count(), 7, "each is reported once: {said:?}");
}

/// Blanks and other visible characters are allowed in a name, and the profile uses the given name.
#[test]
fn names_with_blanks_are_sent_under_others() {
    let names = ["get weather", "get  weather", "Größe (cm)", "a'b\"c`d", "100% {x}"];
    check(Wire::OpenAiChat, &names, &["get_weather", "get__weather", "Gr__e__cm_", "a_b_c_d", "100___x_"]);
    check(Wire::OpenAiChat, &["get weather", "get_weather"], &["get_weather_dce3870e", "get_weather"]);
    let tools = json!([folded("get weather"), folded("set weather"), folded("other")]);
    let profile = "core = ['get weather']\n[category.weather]\ntools = ['* weather']\n[summary]\n'set weather' = 'S.'";
    let engine = engine(&tools, profile, Arm::Stable);
    let mut conversation = engine.talk();
    let entries = conversation.tools().entries();
    let seen: Vec<(&str, &str)> = entries.iter().map(|own| (own.name.as_str(), own.detail.name())).collect();
    assert_eq!(seen[..2], [("get_weather", "full"), ("set_weather", "summary")]);
    assert_eq!(entries[1].description, "S.");
}

/// Policies use the given name too.
#[test]
fn policy_rules_use_the_given_name() {
    for rule in ["[[rule]]\ntool = \"get weather\"\ndecide = \"deny\"\nargs = { a = \"x\" }", "deny = [\"获取*\"]"] {
        let file = PolicyFile::load(rule, "policy.toml", PolicyScope::User).into_result().unwrap();
        let (policy, _) = PolicyLayer::open(Policy::new(vec![file]), Arc::new(MemoryStore::default()), || 1_000);
        let tools = json!([folded("get weather"), folded("获取天气"), folded("other")]);
        let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
        let engine = Engine::builder(catalog).arm(Arm::Full).policy(policy).build().unwrap();
        let mut conversation = engine.talk();
        let refused: Vec<bool> = ["get_weather", "获取天气"]
            .map(|name| {
                !matches!(conversation.call("", name, json!({"a": "x"})), Ok(Outcome::Confirm(_) | Outcome::Forward(_)))
            })
            .into();
        assert_eq!(refused, [rule.starts_with("[["), rule.starts_with("deny")], "{rule}");
    }
}

#[test]
fn a_tools_own_name_is_accepted() {
    let mut conversation = named(&["fs.read"]).talk();
    assert_eq!(reached(&mut conversation, "fs.read").as_deref(), Some("fs.read"));
    assert_eq!(reached(&mut conversation, "nope"), None);
}

const WORDS: &str = "Words enough that folding it saves something, and more than something.";

fn folded(name: &str) -> Value {
    json!({"name": name, "description": "Read. Then more.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": WORDS.repeat(9)}}}})
}

/// A host's own tools may have the names of the meta-tools: those take a number, in every text.
#[test]
fn a_meta_tool_with_a_used_name_gets_a_number() {
    let taken = ["expand_tools", "call_tool", "call_tool_2", "call_destructive", "other"];
    let tools = Value::from_iter(taken.map(folded));
    for arm in [Arm::Stable, Arm::Index, Arm::Search] {
        for wire in Wire::ALL {
            let engine = engine(&tools, "[category.all]\ntools = ['*']", arm);
            let mut conversation = engine.talk_on(wire);
            let bridge = if wire == Wire::Mcp { "call_destructive_2" } else { "call_tool_3" };
            let text = conversation.tools().json().to_owned();
            assert!(text.contains("\"expand_tools_2\""), "{wire} {arm}: {text}");
            assert_eq!(text.contains(&format!("them with {bridge}")), arm != Arm::Stable, "{wire} {arm}: {text}");
            assert_eq!(reached(&mut conversation, "expand_tools").as_deref(), Some("expand_tools"), "the host's own");
            let outcome = conversation.call("", "expand_tools_2", json!({"tools": ["other"]})).unwrap();
            let Outcome::Reply(reply) = outcome else { panic!("{wire} {arm}: answered") };
            assert_eq!(reply.opened.len(), 1);
            let how = reply.answer.content.lines().next().unwrap();
            assert_eq!(how.contains(bridge), arm != Arm::Stable, "{how}");
            let wrapped = json!({"name": "other", "arguments": {}});
            let outcome = conversation.call("", bridge, wrapped).unwrap();
            assert!(matches!(outcome, Outcome::Forward(forward) if forward.target.as_str() == "other"));
        }
    }
}

#[test]
fn texts_and_enums_use_the_names_the_model_sees() {
    let engine = engine(&json!([folded("fs.read"), folded("fs.write")]), "[category.fs]\ntools = ['fs.*']", Arm::Index);
    let mut conversation = engine.talk();
    let text = conversation.tools().json().to_owned();
    assert!(text.contains("fs_read, fs_write") && !text.contains("fs.read"), "{text}");
    let message = json!({"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "expand_tools", "arguments": "{\"tools\":[\"fs_read\"]}"}},
        {"id": "2", "function": {"name": "call_tool", "arguments": "{\"name\":\"fs_write\",\"arguments\":{}}"}}]});
    let turn = conversation.turn(&message).unwrap();
    let run = turn.runnable();
    assert_eq!((run.len(), run[0].target.as_str(), run[0].name.as_str()), (1, "fs.write", "call_tool"));
    assert_eq!(conversation.opened(), ["fs_read"]);
}

#[test]
fn answers_use_the_names_the_model_sees_and_leave_everything_else() {
    let about = format!("Not fs.read. {}", crate::LONG);
    let schema = json!({"type": "object", "properties": {"fs.read": {"enum": ["fs.read"], "description": about}}, "required": ["fs.read"]});
    let tools = json!([
        {"name": "fs.read", "description": "Read. Not fs.read.", "inputSchema": schema},
        {"name": "fs_read", "description": "Read too. More.", "inputSchema": schema}]);
    let engine = engine(&tools, "[category.fs]\ntools = ['fs*']", Arm::Stable);
    let mut conversation = engine.talk();
    let mut said = |name: &str, arguments: Value| {
        let outcome = conversation.call("", name, arguments).unwrap();
        outcome.into_messages()[0]["content"].as_str().unwrap().to_owned()
    };
    let opened = said("expand_tools", json!({"tools": ["fs.read", "fs.raed"]}));
    let definition: Value = serde_json::from_str(opened.lines().nth(1).unwrap()).unwrap();
    assert_eq!(definition["name"], "fs_read_4074bc02");
    assert_eq!(definition["parameters"], schema, "only where it names the tool");
    assert_eq!(definition["description"], "Read. Not fs.read.");
    assert!(opened.contains("Unknown tool `fs.raed`. Did you mean `fs_read`"), "{opened}");
    let again = said("expand_tools", json!({"tools": ["fs.read"]}));
    assert_eq!(again, "Already open, call it directly: fs_read_4074bc02");
    let bad = said("fs.read", json!([]));
    assert!(bad.starts_with("fs_read_4074bc02 was not run"), "{bad}");
    assert!(said("fs.reads", json!({})).contains("Did you mean `fs_read"));
    let again = conversation.redeliver().unwrap();
    assert!(again.contains("{\"name\":\"fs_read_4074bc02\","), "{again}");
}

/// The acceptance case: a tool whose name only the host can have, beside one that has the name it
/// would be sent under. Nothing that is said to the model has any other name than the array shows,
/// and each name reaches its own tool.
#[test]
fn tools_with_colliding_names_are_distinct_everywhere() {
    let tools = json!([folded("files.write"), folded("files_write")]);
    for wire in Wire::ALL {
        for arm in super::arms(wire) {
            let engine = engine(&tools, "[category.files]\ntools = ['files*']", arm);
            let mut conversation = engine.talk_on(wire);
            let array = conversation.tools().json().to_owned();
            let dotted = matches!(wire, Wire::Gemini | Wire::Mcp);
            let other = if dotted { "files.write" } else { "files_write_d2d7b6b5" };
            let listed = if arm == Arm::Search {
                let opened = engine.talk_on(wire).call("", "expand_tools", json!({"categories": ["files"]})).unwrap();
                opened.content().unwrap().into_owned()
            } else {
                array
            };
            let other = if listed.contains(other) { other.to_owned() } else { find_hashed(&listed) };
            for (name, own) in [(other.as_str(), "files.write"), ("files_write", "files_write")] {
                let said =
                    match conversation.call("", "expand_tools", json!({"tools": [name], "category": name})).unwrap() {
                        Outcome::Reply(reply) => {
                            format!("{}{}", reply.answer.content, json!(Outcome::Reply(reply.clone()).answers()))
                        }
                        outcome => panic!("{wire} {arm}: {outcome:?}"),
                    };
                assert!(dotted || !said.contains("files.write"), "{wire} {arm}: {said}");
                assert_eq!(reached(&mut conversation, name).as_deref(), Some(own), "{wire} {arm}");
                let bad = conversation.call("", name, json!([1])).unwrap();
                assert!(bad.content().unwrap().starts_with(&format!("{name} was not run")), "{wire} {arm}: {bad:?}");
            }
            let again = conversation.redeliver().unwrap_or_default();
            assert!(dotted || !again.contains("files.write"), "{wire} {arm}: {again}");
            assert!(dotted || !conversation.opened().contains(&"files.write".to_owned()));
        }
    }
}

fn find_hashed(array: &str) -> String {
    let at = array.find("files_write_").unwrap_or_else(|| panic!("a hashed name in {array}"));
    array[at..].chars().take("files_write_".len() + 8).collect()
}

/// One call with two thousand names is refused before any of them is looked at.
#[test]
fn two_thousand_names_at_once_are_rejected() {
    let names: Vec<String> = (0..2_000).map(|n| format!("server.tool.{n}")).collect();
    let tools: Vec<Value> = names.iter().map(|name| folded(name)).collect();
    let engine = engine(&json!(tools), "[category.all]\ntools = ['*']", Arm::Stable);
    let mut conversation = engine.talk();
    let outcome = conversation.call("c", "expand_tools", json!({"tools": names})).unwrap();
    assert!(outcome.content().unwrap().contains("at most 200 names at once"), "{outcome:?}");
    assert!(conversation.opened().is_empty());
    let expansion = conversation.expand(&with!(ExpandRequest::default(), tools = vec!["server_tool_7".to_owned()]));
    assert_eq!(expansion.opened.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(64)))]

    #[test]
    fn mangling_is_injective_stable_and_reversible(
        names in proptest::collection::btree_set("[a-c._:/@é-]{1,4}|[a-z.]{60,70}|expand[._]tools(_2)?", 1..12)
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for wire in Wire::ALL {
            let mut conversation = named(&names).talk_on(wire);
            let sent = shown(&mut conversation);
            let mut unique = sent.clone();
            unique.sort();
            unique.dedup();
            prop_assert_eq!(unique.len(), names.len(), "{} {:?}", wire, sent);
            let mut again = named(&names).talk_on(wire);
            prop_assert_eq!(&shown(&mut again), &sent);
            for (name, own) in names.iter().zip(&sent) {
                let found = reached(&mut conversation, own);
                prop_assert_eq!(found.as_deref(), Some(*name), "{} {}", wire, own);
                let most = if matches!(wire, Wire::Anthropic | Wire::Mcp) { 128 } else { 64 };
                prop_assert!(own.len() <= most && own.is_ascii());
            }
        }
    }
}
