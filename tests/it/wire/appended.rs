//! Arm `append`: tools that messages define, as Anthropic and OpenAI Responses take them.
//!
//! The shapes are those of the official SDKs' types; `bindings/python/tests/test_append_shapes.py`
//! reads what `tests/it/snapshots/append_*.json` hold with those types.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::{Conversation, Outcome, ReplyKind};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CustomArm, Delivery, Detail, ToolProfile};
use toolfold::wire::{Capabilities, Support, Wire};

use super::excel;
use super::transcripts::{Live, drive, step};
use crate::talk::{Call, Dispatch, Talk};

const ABLE: [Wire; 2] = [Wire::Anthropic, Wire::OpenAiResponses];

fn expand(id: &str, tools: &[&str]) -> Call {
    Call::new(id, "expand_tools", json!({"tools": tools}))
}

/// The definitions that a message appends, by name.
fn defined(message: &Value) -> Vec<&str> {
    let blocks = message.get("tools").or(message.get("content")).and_then(Value::as_array).unwrap();
    let definition = |block: &'_ Value| block["tool"].get("definition").is_some();
    let name = |block: &Value| {
        if definition(block) { block["tool"]["definition"]["name"].clone() } else { block["name"].clone() }
    };
    let names = blocks.iter().map(name).collect::<Vec<_>>();
    let own = |name: &Value| {
        blocks.iter().find_map(|block| {
            let held = if definition(block) { &block["tool"]["definition"]["name"] } else { &block["name"] };
            (held == name).then(|| held.as_str().unwrap())
        })
    };
    names.iter().filter_map(own).collect()
}

/// The messages of an array that define tools.
fn appended(messages: &[Value]) -> Vec<&Value> {
    let appends = |message: &&Value| message["role"] == "system" || message["type"] == "additional_tools";
    messages.iter().filter(appends).collect()
}

#[test]
fn an_expansion_is_a_short_answer_and_a_following_message() {
    for wire in ABLE {
        let engine = excel(Arm::Append);
        let mut talk = engine.talk_on(wire);
        let before = talk.tools();
        assert!(!before.json().contains("\"format_cells\""), "{wire}: not in the array");
        assert!(before.json().contains("format_cells"), "{wire}: named in expand_tools");
        let message =
            wire.assistant_message(&[("c1", "expand_tools", json!({"tools": ["format_cells", "create_chart"]}))]);
        let messages = talk.turn(&message).unwrap().into_messages();
        assert_eq!(talk.tools(), before, "{wire}: the array is constant");
        let [answer, added] = &messages[..] else { panic!("{wire}: {messages:?}") };
        assert!(answer.to_string().contains("Loaded, call it directly: format_cells, create_chart"), "{answer}");
        assert!(!answer.to_string().contains("properties"), "{wire}: no schema twice");
        assert_eq!(defined(added), ["format_cells", "create_chart"]);
        match wire {
            Wire::Anthropic => {
                assert_eq!(added["role"], "system");
                let block = &added["content"][0];
                assert_eq!(
                    (&block["type"], &block["tool"]["type"]),
                    (&json!("tool_addition"), &json!("tool_definition"))
                );
                assert!(block["tool"]["definition"]["input_schema"]["properties"]["cell_range"].is_object());
                assert_eq!(talk.betas(), ["inline-tools-2026-09-15"]);
            }
            _ => {
                assert_eq!((&added["type"], &added["role"]), (&json!("additional_tools"), &json!("developer")));
                assert!(added["tools"][0]["parameters"]["properties"]["cell_range"].is_object());
                assert_eq!(talk.betas(), [""; 0]);
            }
        }
        assert!(excel(Arm::Stable).talk_on(wire).betas().is_empty());
    }
}

/// What is written to the snapshots is what the official types read. Its last call is answered with
/// the definition only where arguments are checked.
#[cfg(feature = "validate")]
#[test]
fn the_formats_match_the_official_types() {
    for wire in ABLE {
        let turns =
            [vec![expand("c1", &["format_cells", "write_excel"])], vec![Call::new("c2", "create_chart", json!({}))]];
        let live = drive(&excel(Arm::Append), wire, &turns);
        insta::with_settings!({prepend_module_to_snapshot => false, snapshot_path => "../snapshots", omit_expression => true}, {
            insta::assert_snapshot!(format!("append_{wire}"), serde_json::to_string_pretty(&live.messages).unwrap());
        });
    }
}

#[test]
fn tools_of_parallel_calls_are_in_one_message_after_all_answers() {
    for wire in ABLE {
        let mut talk = excel(Arm::Append).talk_on(wire);
        let message = wire.assistant_message(&[
            ("c1", "expand_tools", json!({"tools": ["format_cells"]})),
            ("c2", "list_sheets", json!({"file_path": "a.xlsx"})),
            ("c3", "expand_tools", json!({"tools": ["format_cells", "create_chart"]})),
            ("c4", "set_column_widths", json!({"nonsense": []})),
        ]);
        let mut turn = talk.turn(&message).unwrap();
        for call in turn.runnable() {
            turn.finish(&call.id, "Sheet1").unwrap();
        }
        let messages = turn.into_messages();
        let added = appended(&messages);
        assert_eq!(added.len(), 1, "{wire}");
        assert_eq!(messages.last(), Some(added[0]), "{wire}: behind every answer");
        let names = defined(added[0]);
        assert_eq!(&names[..2], ["format_cells", "create_chart"], "{wire}: each once, as they were opened");
    }
}

/// A tool that is in sight is not appended again; what fell out of sight is, and so is what a host
/// gives again.
#[test]
fn visible_tools_are_appended_once() {
    for wire in ABLE {
        let engine = excel(Arm::Append);
        let mut live =
            drive(&engine, wire, &[vec![expand("c1", &["format_cells"])], vec![expand("c2", &["format_cells"])]]);
        assert_eq!(appended(&live.messages).len(), 1, "{wire}");
        assert!(json!(live.messages).to_string().contains("Already open, call it directly: format_cells"));
        live.session.seen(&json!(live.messages)).unwrap();
        assert_eq!(live.session.opened(), ["format_cells"], "{wire}");
        // The answers stay, the definition goes.
        let mut cut = live.messages.clone();
        cut.retain(|message| appended(std::slice::from_ref(message)).is_empty());
        let mut without = live.session.clone();
        without.seen(&json!(cut)).unwrap();
        assert!(without.opened().is_empty(), "{wire}: nobody defines it");
        let remade = engine.conversation(wire).from_transcript(&json!(cut)).unwrap();
        assert!(remade.opened().is_empty(), "{wire}");
        let mut told = Live { session: without, messages: cut };
        step(&mut told, &[expand("c3", &["format_cells"])]);
        assert_eq!(appended(&told.messages).len(), 1, "{wire}: sent again");
    }
}

/// A compaction leaves only what the host gives again: the conversation continues from there, live
/// and rebuilt.
#[test]
fn definitions_sent_again_are_open() {
    for wire in ABLE {
        let engine = excel(Arm::Append);
        let mut live = drive(&engine, wire, &[vec![expand("c1", &["format_cells", "create_chart"])]]);
        let again = live.session.redeliver_messages();
        assert_eq!(defined(&again[0]), ["format_cells", "create_chart"], "{wire}");
        let summary = match wire {
            Wire::Anthropic => json!({"role": "user", "content": "Summary."}),
            _ => json!({"type": "message", "role": "user", "content": "Summary."}),
        };
        let compacted: Vec<Value> = std::iter::once(summary.clone()).chain(again).collect();
        live.session.seen(&json!(compacted)).unwrap();
        assert_eq!(live.session.opened(), ["format_cells", "create_chart"], "{wire}");
        let rebuilt = engine.conversation(wire).from_transcript(&json!(compacted)).unwrap();
        assert_eq!(rebuilt.opened(), live.session.opened(), "{wire}");
        let replayed = engine.replay(&live.session.clone().take_log(0)).unwrap();
        let restored = engine.restore(live.session.snapshot()).unwrap();
        for talk in [replayed, restored, live.session.fork(), live.session.clone(), rebuilt] {
            let mut talk: Conversation = talk;
            let Outcome::Reply(reply) = talk.dispatch(&expand("d1", &["format_cells"])) else { panic!("answered") };
            assert!(reply.opened.is_empty(), "{wire}: it is in sight");
            // The next compaction closes it.
            talk.seen(&json!([summary])).unwrap();
            assert!(talk.opened().is_empty(), "{wire}: {:?}", talk.opened());
        }
    }
}

#[test]
fn provider_compaction_keeps_tools_and_removal_closes_them() {
    let engine = excel(Arm::Append);
    let live = drive(&engine, Wire::Anthropic, &[vec![expand("c1", &["format_cells"])]]);
    let changes = appended(&live.messages)[0]["content"].clone();
    let block =
        json!({"role": "assistant", "content": [{"type": "compaction", "content": "s", "tool_changes": changes}]});
    let mut talk = live.session.clone();
    talk.seen(&json!([block])).unwrap();
    assert_eq!(talk.opened(), ["format_cells"]);
    let gone = json!({"role": "system", "content": [
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "format_cells"}}]});
    talk.seen(&json!([block, gone])).unwrap();
    assert!(talk.opened().is_empty());
    let bad = json!([{"role": "system", "content": [{"type": "tool_addition"}]}]);
    let why = talk.seen(&bad).unwrap_err().to_string();
    assert_eq!(why, "anthropic: `/0/content/0/tool` must be an object, not absent");
}

/// Every tool stays callable by its name, opened or not; a call that does not fit brings the
/// definition in a message.
#[test]
fn every_tool_is_callable_and_a_bad_call_appends_its_definition() {
    for wire in ABLE {
        let engine = excel(Arm::Append);
        for tool in engine.catalog().iter() {
            let mut live = Live { session: engine.talk_on(wire), messages: Vec::new() };
            step(&mut live, &[Call::new("c1", tool.name().as_str(), json!("no object"))]);
            let core = live.session.tools().entries().iter().any(|entry| entry.name == tool.name().as_str());
            let added: Vec<&str> = appended(&live.messages).into_iter().flat_map(defined).collect();
            assert_eq!(added.is_empty(), core, "{wire} {}", tool.name());
            assert!(core || added == [tool.name().as_str()]);
            let text = json!(live.messages).to_string();
            assert!(text.contains("invalid arguments"), "{wire}: {text}");
            assert_eq!(text.contains("Its full definition is now in your tools"), !core, "{wire}: {text}");
        }
        let mut talk = engine.talk_on(wire);
        let blind = talk.dispatch(&Call::new("c1", "create_chart", json!({"file_path": "a.xlsx", "sheet_name": "S"})));
        let Outcome::Reply(reply) = &blind else { panic!("{blind:?}") };
        assert!(matches!(reply.answer.kind, ReplyKind::Invalid | ReplyKind::Shown));
        assert_eq!(appended(&blind.into_messages()).len(), 1, "{wire}");
    }
}

/// Breakpoints, strictness and deferral of a list's own are for its array; a schema that the API
/// refuses is repaired.
#[test]
fn definitions_in_messages_are_valid() {
    let long = "Does a thing that takes a while to tell. ".repeat(20);
    let list = json!([
        {"name": "odd", "description": long, "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
            "strict": true, "defer_loading": true, "cache_control": {"type": "ephemeral"}, "input_examples": [{"a": "b"}]},
        {"name": "bare", "description": long, "input_schema": {"type": "object"}}]);
    let engine = |arm| {
        let profile = ToolProfile::parse("[category.odd]\ndescription = 'odd ones'\ntools = ['odd', 'bare']", "p.toml");
        let catalog = Catalog::from_anthropic(&list.to_string()).unwrap();
        Engine::builder(catalog).profile(profile.into_result().unwrap()).arm(arm).build().unwrap()
    };
    let live = drive(&engine(Arm::Append), Wire::Anthropic, &[vec![expand("c1", &["odd"])]]);
    let definition = &appended(&live.messages)[0]["content"][0]["tool"]["definition"];
    let keys: Vec<&str> = definition.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["name", "description", "input_schema", "input_examples"], "{definition}");
    let live = drive(&engine(Arm::Append), Wire::OpenAiResponses, &[vec![expand("c1", &["bare"])]]);
    assert_eq!(appended(&live.messages)[0]["tools"][0]["parameters"]["properties"], json!({}));
}

#[test]
fn only_some_wires_carry_append() {
    for (wire, why) in [
        (Wire::OpenAiChat, "no message of Chat Completions defines a tool"),
        (Wire::Gemini, "no content of Gemini defines a tool"),
        (Wire::Mcp, "an MCP server adds nothing to its client's messages"),
    ] {
        let said = excel(Arm::Append).conversation(wire).start().unwrap_err().to_string();
        assert!(said.starts_with(&format!("arm append cannot be used on {wire}: {why}")), "{said}");
    }
    let own = |core, extended| CustomArm::new("mine", core, extended, Delivery::Append);
    assert!(own(Detail::Full, Detail::Index).is_ok());
    for (core, extended) in
        [(Detail::Full, Detail::Outline), (Detail::Signature, Detail::Index), (Detail::Full, Detail::Full)]
    {
        let why = own(core, extended).unwrap_err().to_string();
        assert!(why.contains("with delivery `append` core must be `full` and extended `index`"), "{why}");
    }
    let mine = Arm::Custom(own(Detail::Full, Detail::Index).unwrap());
    let live = drive(&excel(mine), Wire::Anthropic, &[vec![expand("c1", &["format_cells"])]]);
    assert_eq!(appended(&live.messages).len(), 1);
}

#[test]
fn capabilities_limit_the_models_of_append() {
    use Support::{No, Unprobed, Yes};
    let table = Capabilities::builtin();
    for (wire, model, known) in [
        (Wire::Anthropic, "claude-opus-4-7", No),
        (Wire::Anthropic, "claude-opus-4-8", Yes),
        (Wire::Anthropic, "claude-opus-5", Yes),
        (Wire::Anthropic, "anthropic.claude-opus-5-5-v1:0", Yes),
        (Wire::Anthropic, "claude-fable-5", Yes),
        (Wire::Anthropic, "claude-fable-5-2", Yes),
        (Wire::Anthropic, "claude-sonnet-4-6", No),
        (Wire::Anthropic, "claude-sonnet-5", No),
        (Wire::Anthropic, "claude-sonnet-5-5", Yes),
        (Wire::Anthropic, "claude-haiku-4-5-20251001", No),
        (Wire::Anthropic, "claude-haiku-5-5", Yes),
        (Wire::Anthropic, "kimi-k3", Unprobed),
        (Wire::OpenAiResponses, "gpt-4o", Unprobed),
        (Wire::OpenAiResponses, "gpt-4.1-mini", Yes),
        (Wire::OpenAiResponses, "gpt-5-codex", Yes),
        (Wire::OpenAiResponses, "gpt-6.1-sol", Yes),
        (Wire::OpenAiResponses, "o3-mini", Yes),
        (Wire::OpenAiResponses, "o4-mini", Unprobed),
        (Wire::OpenAiChat, "gpt-5.4", No),
        (Wire::Gemini, "gemini-3-pro", No),
        (Wire::Mcp, "", No),
    ] {
        let cell = table.of(wire, Some(model).filter(|model| !model.is_empty()));
        assert_eq!(cell.of(Delivery::Append), known, "{wire} {model}");
        assert!(known == Unprobed || cell.row(Delivery::Append).is_some_and(|row| !row.source.is_empty()));
    }
    let refused = excel(Arm::Append).conversation(Wire::Anthropic).model("claude-sonnet-5").start().unwrap_err();
    assert!(refused.to_string().contains("the capability table marks it unsupported"), "{refused}");
    for model in ["gpt-5.1", "gpt-5.4", "unknown"] {
        let auto = excel(Arm::Auto).conversation(Wire::OpenAiResponses).model(model).start().unwrap();
        assert_ne!(auto.arm(), Arm::Append, "{model}: auto takes it nowhere");
    }
}
