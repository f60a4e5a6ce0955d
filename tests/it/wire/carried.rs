//! Entries that are no tools to fold: carried through in place on their own wire, named on the
//! others.

use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

use super::arms;
use super::notes;
use crate::talk::Talk;

const WORDS: &str = crate::LONG;

fn schema() -> Value {
    json!({"type": "object", "properties": {"a": {"type": "string", "description": WORDS}}, "required": ["a"]})
}

fn responses(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": "Do it. Well.", "strict": false, "parameters": schema()})
}

fn engine(text: &str, format: Option<Format>, arm: Arm) -> Engine {
    let loaded = Catalog::import(text, "t", format);
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    let profile = ToolProfile::derive(&loaded.value);
    Engine::builder(loaded.value).profile(profile).arm(arm).build().unwrap()
}

fn sent(engine: &Engine, wire: Wire) -> Vec<Value> {
    engine.talk_on(wire).tools().to().unwrap()
}

/// A list with one of everything, for each wire that has more than tools.
fn lists() -> Vec<(Wire, Value)> {
    let chat = |name: &str| json!({"type": "function", "function": {"name": name, "description": "Do it. Well.", "parameters": schema()}});
    let claude = |name: &str| json!({"name": name, "description": "Do it. Well.", "input_schema": schema()});
    let gemini = |name: &str| json!({"name": name, "description": "Do it. Well.", "parametersJsonSchema": schema()});
    vec![
        (
            Wire::OpenAiChat,
            json!([chat("a"), {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}, chat("b")]),
        ),
        (
            Wire::OpenAiResponses,
            json!([{"type": "web_search", "user_location": {"n": 1.0}}, responses("a"),
                   {"type": "namespace", "name": "x", "description": "Of x.", "tools": [responses("b"), {"type": "custom", "name": "c"}, responses("d")]},
                   {"type": "mcp", "server_label": "s"}, {"type": "local_shell"}, responses("z"), {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}}]),
        ),
        (
            Wire::Anthropic,
            json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}, claude("a"), {"type": "bash_20250124", "name": "bash"}, claude("b"),
                   {"type": "mcp_toolset", "mcp_server_name": "s", "cache_control": {"type": "ephemeral"}}]),
        ),
        (
            Wire::Gemini,
            json!([{"googleSearch": {}}, {"functionDeclarations": [gemini("a"), gemini("b")]}, {"codeExecution": {}},
                   {"urlContext": {}, "function_declarations": [gemini("c")], "future": [1]}]),
        ),
    ]
}

#[test]
fn carried_entries_keep_their_place() {
    for (wire, list) in lists() {
        // White space goes; every token stays.
        let (text, spaced) = (list.to_string(), format!("{list:#}"));
        for arm in arms(wire) {
            let engine = engine(&spaced, None, arm);
            let array = engine.talk_on(wire).tools().json().to_owned();
            if arm == Arm::Full {
                assert_eq!(array, text, "{wire}");
                assert_eq!(notes(&engine, wire, arm), vec![], "{wire}");
            }
            let mut last = 0;
            for entry in engine.catalog().foreign() {
                let at = array.find(&*entry.text).unwrap_or_else(|| panic!("{wire} {arm}: {} in {array}", entry.text));
                assert!(at >= last, "{wire} {arm}: {} keeps its place", entry.text);
                last = at;
            }
        }
    }
}

/// Numbers and escapes keep their form, which re-serialising would not promise.
#[test]
fn every_token_keeps_its_form() {
    for (wire, text) in [
        (
            Wire::OpenAiResponses,
            r#"[{"type":"mcp","n":1e3,"big":12345678901234567890123,"s":"caf\u00e9 \/"},{"type":"namespace","x":1.50,"name":"n","tools":[{"type":"custom","n":2.0e1},{"type":"function","name":"a","parameters":{"type":"object","properties":{"a":{"const":1E2}}},"strict":false}],"description":"\u0041"}]"#,
        ),
        (Wire::Gemini, r#"[{"made_up":1e3},{"a":1.50,"functionDeclarations":[{"name":"a","x":1.0}],"b":"\/"}]"#),
    ] {
        let engine = engine(text, None, Arm::Full);
        assert_eq!(engine.talk_on(wire).tools().json(), text);
    }
}

#[test]
fn carried_entries_are_dropped_and_reported_on_other_wires() {
    for (from, list) in lists() {
        let engine = engine(&list.to_string(), None, Arm::Full);
        for wire in Wire::ALL.into_iter().filter(|wire| *wire != from) {
            let notes = notes(&engine, wire, Arm::Full);
            for entry in engine.catalog().foreign() {
                let named = |note: &&toolfold::diagnostic::Diagnostic| {
                    note.code == "foreign-entry"
                        && note.message.starts_with(&format!("`{}`", entry.label))
                        && note.message.contains(wire.name())
                };
                assert!(notes.iter().any(|note| named(&note)), "{from} to {wire}: {} in {notes:#?}", entry.label);
            }
            let array = sent(&engine, wire);
            let count = if wire == Wire::Gemini {
                array[0]["functionDeclarations"].as_array().unwrap().len()
            } else {
                array.len()
            };
            assert_eq!(count, engine.catalog().len(), "{from} to {wire}: the tools are all there");
        }
        let keys = notes(&engine, Wire::OpenAiChat, Arm::Full);
        if from == Wire::Gemini {
            assert!(
                keys.iter().any(|note| note.message.starts_with("`future`")),
                "what stands beside functions too: {keys:#?}"
            );
        }
    }
}

#[test]
fn a_body_is_read_for_its_tools() {
    for (wire, list) in lists() {
        let body = json!({"model": "m", "messages": [], "contents": [], "tools": list, "tool_choice": "auto"});
        let engine = engine(&body.to_string(), None, Arm::Full);
        assert_eq!(engine.talk_on(wire).tools().json(), list.to_string(), "{wire}");
    }
}

#[test]
fn one_name_in_two_namespaces_is_two_tools() {
    let space = |name: &str| json!({"type": "namespace", "name": name, "description": "D.", "tools": [responses("search"), responses("open")]});
    let list = json!([responses("search"), space("mcp__a"), space("mcp__b")]);
    for arm in arms(Wire::OpenAiResponses) {
        let engine = engine(&list.to_string(), None, arm);
        let names: Vec<&str> = engine.catalog().names().map(AsRef::as_ref).collect();
        assert_eq!(names, ["search", "mcp__a__search", "mcp__a__open", "mcp__b__search", "mcp__b__open"]);
        let namespaced = engine.catalog().get("mcp__b__search").unwrap().namespaced();
        assert_eq!(namespaced, Some(("mcp__b", "search")));
        let array = sent(&engine, Wire::OpenAiResponses);
        let spaces: Vec<&Value> =
            array.iter().filter(|entry| entry["name"].as_str().is_some_and(|name| name.starts_with("mcp__"))).collect();
        for (space, name) in spaces.iter().zip(["mcp__a", "mcp__b"]) {
            assert_eq!(space["name"], name, "{arm}");
            let inside: Vec<&Value> = space["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
            assert_eq!(inside, ["search", "open"], "{arm}");
        }
        assert_eq!(
            spaces.len(),
            if arm.extended().is_in_array() { 2 } else { 0 },
            "{arm}: a namespace without tools is not sent"
        );
    }
    let engine = engine(&list.to_string(), None, Arm::Full);
    let chat: Vec<Value> =
        sent(&engine, Wire::OpenAiChat).iter().map(|tool| tool["function"]["name"].clone()).collect();
    assert_eq!(chat, ["search", "mcp__a__search", "mcp__a__open", "mcp__b__search", "mcp__b__open"]);
    // Two tools that are called the same all the same: named, and the first stays.
    let clash =
        json!([responses("x__y"), {"type": "namespace", "name": "x", "description": "D.", "tools": [responses("y")]}]);
    let loaded = Catalog::import(&clash.to_string(), "t", None);
    assert_eq!(
        loaded.diagnostics.iter().map(|d| (d.code, d.place.path.as_deref())).collect::<Vec<_>>(),
        [("duplicate-tool", Some("/1/tools/0"))]
    );
}

/// The catalogue's name is longer than the API takes; the name in the namespace is not.
#[test]
fn a_long_name_in_a_namespace_is_not_renamed() {
    let (space, name) = ("s".repeat(60), "n".repeat(60));
    let list = json!([{"type": "namespace", "name": space, "description": "D.", "tools": [responses(&name)]}]);
    let engine = engine(&list.to_string(), None, Arm::Full);
    assert_eq!(engine.talk_on(Wire::OpenAiResponses).tools().json(), list.to_string());
    assert_eq!(notes(&engine, Wire::OpenAiResponses, Arm::Full), vec![]);
    let said: Vec<&str> = notes(&engine, Wire::OpenAiChat, Arm::Full).iter().map(|note| note.code).collect();
    assert_eq!(said, ["renamed-tool", "foreign-entry"]);
}

#[test]
fn natively_a_tool_stays_in_its_namespace() {
    let list = json!([{"type": "namespace", "name": "x", "description": "Of x.", "tools": [responses("b"), responses("d")]}, responses("a"), responses("c")]);
    let loaded = Catalog::import(&list.to_string(), "t", None);
    let profile =
        ToolProfile::parse("core = ['c', 'x__d']\n[category.more]\ndescription = 'more'\ntools = ['a', 'x__b']", "p")
            .value;
    let engine = Engine::builder(loaded.value).profile(profile).arm(Arm::Native).build().unwrap();
    let array = sent(&engine, Wire::OpenAiResponses);
    let deferred = |name: &str| {
        let mut tool = responses(name);
        tool["defer_loading"] = json!(true);
        tool
    };
    assert_eq!(
        array[0],
        json!({"type": "namespace", "name": "x", "description": "Of x.", "tools": [deferred("b"), responses("d")]})
    );
    assert_eq!(array[1], responses("c"));
    assert_eq!(array[2], json!({"type": "namespace", "name": "more", "description": "more", "tools": [deferred("a")]}));
    assert_eq!(array[3]["type"], "tool_search");
    assert!(array[3]["description"].as_str().unwrap().ends_with("\n- more (2): more"), "{}", array[3]);
    // What a search loads is defined where it was declared.
    let call = json!({"type": "tool_search_call", "id": "i", "call_id": "k", "execution": "client", "arguments": {"categories": ["more"]}});
    let mut talk = engine.talk_on(Wire::OpenAiResponses);
    let answers = talk.turn(&json!([call])).unwrap().into_messages();
    let answer = &answers[0];
    assert_eq!(
        answer["tools"],
        json!([
            {"type": "namespace", "name": "more", "description": "more", "tools": [deferred("a")]},
            {"type": "namespace", "name": "x", "description": "Of x.", "tools": [deferred("b")]},
        ])
    );
}

/// A category may be called like a namespace that is there already.
#[test]
fn a_category_does_not_take_the_name_of_a_namespace() {
    let list =
        json!([{"type": "namespace", "name": "x", "description": "Of x.", "tools": [responses("b")]}, responses("a")]);
    let loaded = Catalog::import(&list.to_string(), "t", None);
    let profile = ToolProfile::parse("[category.x]\ntools = ['a', 'x__b']", "p").value;
    let engine = Engine::builder(loaded.value).profile(profile).arm(Arm::Native).build().unwrap();
    let array = sent(&engine, Wire::OpenAiResponses);
    let names: Vec<&str> = array.iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names.len(), 2);
    assert!(names[0] == "x" && names[1] != "x" && names[1].starts_with('x'), "{names:?}");
    assert!(array[2]["description"].as_str().unwrap().contains(&format!("\n- {} (2)", names[1])));
}

#[test]
fn a_list_with_its_own_search_gets_no_second_one() {
    let mut deferred = responses("b");
    deferred["defer_loading"] = json!(true);
    let list = json!([responses("a"), deferred, {"type": "tool_search"}]);
    let unchanged = engine(&list.to_string(), None, Arm::Native);
    assert_eq!(sent(&unchanged, Wire::OpenAiResponses), *list.as_array().unwrap());
    // A profile that someone wrote folds it.
    let loaded = Catalog::import(&list.to_string(), "t", None);
    let profile = ToolProfile::parse("[category.x]\ntools = ['a', 'b']", "p").value;
    let engine = Engine::builder(loaded.value).profile(profile).arm(Arm::Native).build().unwrap();
    let array = sent(&engine, Wire::OpenAiResponses);
    assert_eq!(array[..3], list.as_array().unwrap()[..]);
    assert_eq!(array.iter().filter(|entry| entry["type"] == "tool_search").count(), 1);
    let said: Vec<&str> = notes(&engine, Wire::OpenAiResponses, Arm::Native).iter().map(|note| note.code).collect();
    assert_eq!(said, ["own-tool-search"]);
}

#[test]
fn tools_loaded_by_another_entry_count_as_loaded() {
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}, "defer_loading": true});
    let list =
        json!([{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}, tool("a"), tool("b")]);
    let engine = engine(&list.to_string(), None, Arm::Full);
    assert_eq!(engine.talk_on(Wire::Anthropic).tools().json(), list.to_string());
    assert_eq!(notes(&engine, Wire::Anthropic, Arm::Full), vec![]);
    // On its own wire alone: elsewhere nothing else is loaded.
    let all = json!([tool("a"), {"type": "mcp_toolset", "defer_loading": true}]);
    let engine = Engine::builder(Catalog::from_anthropic(&all.to_string()).unwrap()).build().unwrap();
    assert_eq!(sent(&engine, Wire::Anthropic)[0].get("defer_loading"), None);
}

#[test]
fn some_of_the_tools_are_some_of_the_list() {
    for (wire, list) in lists() {
        let whole = engine(&list.to_string(), None, Arm::Full);
        let part = whole.restricted(|tool| tool.name().as_str().ends_with('b'));
        let (array, foreign) = (part.talk_on(wire).tools().json().to_owned(), part.catalog().foreign().count());
        assert_eq!(foreign, whole.catalog().foreign().count(), "{wire}: other entries stay");
        assert!(part.catalog().foreign().all(|entry| array.contains(&*entry.text)), "{wire}: {array}");
        assert_eq!(part.catalog().len(), 1);
        let none = whole.restricted(|_| false);
        let array = none.talk_on(wire).tools().json().to_owned();
        assert!(none.catalog().foreign().all(|entry| array.contains(&*entry.text)), "{wire}: {array}");
        if wire == Wire::Gemini {
            assert_eq!(
                array,
                r#"[{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{},"function_declarations":[],"future":[1]}]"#
            );
        }
    }
}

/// A tool that a host adds, and a meta-tool, are functions of the last entry that has some.
#[test]
fn gemini_meta_tools_join_an_existing_entry() {
    let (_, list) = lists().pop().unwrap();
    let mut catalog = Catalog::import(&list.to_string(), "t", None).value;
    catalog.add(toolfold::catalog::Tool::new("own", "Mine.", schema()).unwrap()).unwrap();
    let profile = ToolProfile::derive(&catalog);
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Stable).build().unwrap();
    let array = sent(&engine, Wire::Gemini);
    assert_eq!(array.len(), 4);
    let last: Vec<&Value> =
        array[3]["function_declarations"].as_array().unwrap().iter().map(|own| &own["name"]).collect();
    assert_eq!(last, ["c", "own", "expand_tools"]);
    assert_eq!(array[3]["future"], json!([1]));
    let only = engine.restricted(|tool| tool.name() == "own");
    let text = only.talk_on(Wire::Gemini).tools().json().to_owned();
    assert!(text.contains(r#""function_declarations":[{"name":"own""#), "{text}");
}

#[test]
fn gemini_lists_are_read_in_both_forms() {
    let text = r##"[{"functionDeclarations":[
        {"name":"up","description":"D.","parameters":{"type":"OBJECT","propertyOrdering":["n","s"],"properties":{
            "n":{"type":"INTEGER","nullable":true,"enum":[1,2]},"s":{"type":"ARRAY","minItems":"2","items":{"type":"STRING"}},
            "u":{"anyOf":[{"type":"NUMBER"},{"type":"BOOLEAN","nullable":false}]},"any":{"type":"TYPE_UNSPECIFIED"}},"required":["s"]}},
        {"name":"low","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},
        {"name":"none"}]},
        {"function_declarations":[{"name":"plain","parametersJsonSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":["string","null"]}}}}]}]"##;
    let loaded = Catalog::import(text, "t", None);
    assert_eq!(loaded.diagnostics, vec![]);
    let catalog = loaded.value;
    let of = |name: &str| catalog.get(name).unwrap().parameters().clone();
    assert_eq!(
        of("up"),
        json!({"type": "object", "properties": {
            "n": {"type": ["integer", "null"], "enum": [1, 2, null]}, "s": {"type": "array", "minItems": 2, "items": {"type": "string"}},
            "u": {"anyOf": [{"type": "number"}, {"type": "boolean"}]}, "any": {}}, "required": ["s"]})
    );
    assert_eq!(of("low"), json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    assert_eq!(of("plain")["$defs"]["A"], json!({"type": ["string", "null"]}));
    assert!(!catalog.get("none").unwrap().declares_parameters());
    let compact = serde_json::to_string(&serde_json::from_str::<Value>(text).unwrap()).unwrap();
    assert_eq!(catalog.to_json(Format::Gemini), compact);
    let engine = Engine::builder(catalog.clone()).build().unwrap();
    assert_eq!(engine.talk_on(Wire::Gemini).tools().json(), compact);
    assert_eq!(
        sent(&engine, Wire::OpenAiChat)[0]["function"]["parameters"],
        of("up"),
        "elsewhere it is plain JSON Schema"
    );
}
