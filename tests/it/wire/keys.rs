//! Keys that toolfold has no field for: they survive folding on their own wire, and elsewhere they
//! are named.

use super::notes;
use crate::talk::Talk;
use serde_json::{Value, json};
use toolfold::catalog::{Catalog, Format};
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::wire::Wire;

const WORDS: &str = crate::LONG;

/// Each wire with keys that its tools may have: beside the name, and beside `function`.
fn table() -> Vec<(Wire, Format, Value, Value)> {
    let example = json!([{"a": "b", "hidden": 1}]);
    vec![
        (
            Wire::OpenAiChat,
            Format::OpenAiChat,
            json!({"x_vendor": {"n": 1.50}, "cache": 1}),
            json!({"cache": 2, "cache_control": {"type": "ephemeral"}}),
        ),
        (
            Wire::OpenAiResponses,
            Format::OpenAiResponses,
            json!({"allowed_callers": ["direct"], "output_schema": {"type": "object"}}),
            json!({}),
        ),
        (
            Wire::Anthropic,
            Format::Anthropic,
            json!({"type": "custom", "cache_control": {"type": "ephemeral", "ttl": "1h"}, "allowed_callers": ["code_execution_20260120"],
                   "input_examples": example, "eager_input_streaming": true}),
            json!({}),
        ),
        (
            Wire::Mcp,
            Format::Mcp,
            json!({"outputSchema": {"type": "object", "properties": {"o": {"type": "string"}}}, "icons": [{"src": "data:"}],
                   "execution": {"taskSupport": "optional"}, "_meta": {"k": 1e3},
                   "annotations": {"readOnlyHint": true, "title": "A title", "x": null}}),
            json!({}),
        ),
        (
            Wire::Gemini,
            Format::Gemini,
            json!({"responseJsonSchema": {"type": "object"}, "behavior": "NON_BLOCKING"}),
            json!({}),
        ),
    ]
}

/// A tool of a format with more keys; `outer` stand beside `function`.
fn tool(format: Format, name: &str, inner: &Value, outer: &Value) -> Value {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string", "description": WORDS}}, "required": ["a"]});
    let key = match format {
        Format::Anthropic => "input_schema",
        Format::Mcp => "inputSchema",
        Format::Gemini => "parametersJsonSchema",
        _ => "parameters",
    };
    let mut own = json!({"name": name, "description": "Do it. Well.", key: schema});
    own.as_object_mut().unwrap().extend(inner.as_object().unwrap().clone());
    match format {
        Format::OpenAiChat => {
            let mut tool = json!({"type": "function", "function": own});
            tool.as_object_mut().unwrap().extend(outer.as_object().unwrap().clone());
            tool
        }
        Format::OpenAiResponses => {
            own["type"] = json!("function");
            own["strict"] = json!(false);
            own
        }
        _ => own,
    }
}

fn engine(format: Format, tools: &[Value], profile: &str, arm: Arm) -> Engine {
    let list = if format == Format::Gemini { json!([{"functionDeclarations": tools}]) } else { json!(tools) };
    let loaded = Catalog::import(&list.to_string(), "t", Some(format));
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    let profile = ToolProfile::parse(profile, "p").value;
    Engine::builder(loaded.value).profile(profile).arm(arm).build().unwrap()
}

fn sent(engine: &Engine, wire: Wire) -> Vec<Value> {
    let array: Vec<Value> = engine.talk_on(wire).tools().to().unwrap();
    match (wire, array.first()) {
        (Wire::Gemini, Some(entry)) => entry["functionDeclarations"].as_array().unwrap().clone(),
        _ => array,
    }
}

#[test]
fn they_survive_folding_on_their_own_wire() {
    for (wire, format, inner, outer) in table() {
        for arm in [Arm::Full, Arm::Seed, Arm::Stable, Arm::Signature, Arm::Lean] {
            let engine = engine(format, &[tool(format, "t", &inner, &outer)], "[category.c]\ntools = ['t']", arm);
            let array = sent(&engine, wire);
            let own = if wire == Wire::OpenAiChat { &array[0]["function"] } else { &array[0] };
            for (key, value) in inner.as_object().unwrap() {
                assert_eq!(own[key].to_string(), value.to_string(), "{wire} {arm}: `{key}`");
            }
            for (key, value) in outer.as_object().unwrap() {
                assert_eq!(array[0][key].to_string(), value.to_string(), "{wire} {arm}: `{key}` beside function");
            }
            let folded = own["description"] == "Do it.";
            assert_eq!(folded, !matches!(arm, Arm::Full), "{wire} {arm}: the case is one of folding");
            let said: Vec<&str> = notes(&engine, wire, arm).iter().map(|note| note.code).collect();
            assert!(!said.contains(&"foreign-key"), "{wire} {arm}: {said:?}");
        }
    }
}

#[test]
fn dropped_keys_are_reported_with_their_tools() {
    for (from, format, inner, outer) in table() {
        let tools: Vec<Value> = (0..10).map(|n| tool(format, &format!("t{n}"), &inner, &outer)).collect();
        let engine = engine(format, &tools, "", Arm::Full);
        for wire in Wire::ALL.into_iter().filter(|wire| *wire != from) {
            let notes = notes(&engine, wire, Arm::Full);
            let keys = inner.as_object().unwrap().keys().chain(outer.as_object().unwrap().keys());
            for key in keys.filter(|key| *key != "annotations") {
                let note =
                    notes.iter().find(|note| note.code == "foreign-key" && note.message.contains(&format!("`{key}`")));
                let message = &note.unwrap_or_else(|| panic!("{from} to {wire}: `{key}` in {notes:#?}")).message;
                assert!(message.contains("`t0`, `t1`") && message.contains("2 more"), "{message}");
            }
            let text = engine.talk_on(wire).tools().json().to_owned();
            assert!(!text.contains("x_vendor") && !text.contains("eager_input_streaming"), "{wire}: {text}");
        }
    }
}

/// Three tools, each with its marks: `c` cached, `d` came deferred, `+` core and `-` extended.
fn cached(marks: [&str; 3], arm: Arm) -> (Vec<Value>, Vec<String>) {
    let tools: Vec<Value> = marks
        .iter()
        .enumerate()
        .map(|(n, marks)| {
            let mut own = tool(Format::Anthropic, &format!("t{n}"), &json!({}), &json!({}));
            if marks.contains('c') {
                own["cache_control"] = json!({"type": "ephemeral", "n": n});
            }
            if marks.contains('d') {
                own["defer_loading"] = json!(true);
            }
            own
        })
        .collect();
    let named = |mark: char| {
        let names = marks.iter().enumerate().filter(|(_, marks)| marks.contains(mark));
        names.map(|(n, _)| format!("'t{n}'")).collect::<Vec<_>>().join(",")
    };
    let profile = format!("core = [{}]\n[category.c]\ntools = [{}]", named('+'), named('-'));
    let engine = engine(Format::Anthropic, &tools, &profile, arm);
    let notes = notes(&engine, Wire::Anthropic, arm);
    let array = sent(&engine, Wire::Anthropic);
    for own in &array {
        assert!(own["defer_loading"] != true || own.get("cache_control").is_none(), "never both: {own}");
    }
    (array, notes.iter().map(|note| format!("{}: {}", note.code, note.message)).collect())
}

/// Which tools have a breakpoint in the end, each with the number of the tool it came with.
#[track_caller]
fn breakpoints(marks: [&str; 3], arm: Arm, expected: &[(&str, usize)], said: &[&str]) {
    let (array, notes) = cached(marks, arm);
    let found: Vec<(String, u64)> = array
        .iter()
        .filter_map(|own| Some((own["name"].as_str()?.to_owned(), own["cache_control"]["n"].as_u64()?)))
        .collect();
    let expected: Vec<(String, u64)> = expected.iter().map(|(name, n)| ((*name).to_owned(), *n as u64)).collect();
    assert_eq!(found, expected, "{marks:?} {arm}");
    assert_eq!(
        notes,
        said.iter().map(|text| format!("moved-breakpoint: the `cache_control` of tool {text}")).collect::<Vec<_>>()
    );
}

#[test]
fn a_cache_breakpoint_keeps_its_place() {
    breakpoints(["+", "+c", "-c"], Arm::Full, &[("t1", 1), ("t2", 2)], &[]);
    breakpoints(["+", "+c", "-c"], Arm::Stable, &[("t1", 1), ("t2", 2)], &[]);
    breakpoints(["+", "-", "-c"], Arm::Native, &[("t0", 2)], &["`t2`, which is not loaded, moves to `t0` before it"]);
    breakpoints(
        ["+", "-c", "+c"],
        Arm::Native,
        &[("t0", 1), ("t2", 2)],
        &["`t1`, which is not loaded, moves to `t0` before it"],
    );
    breakpoints(["+c", "-", "-c"], Arm::Native, &[("t0", 0)], &["`t2` is left out: `t0` before it has one"]);
    breakpoints(["-c", "+", "+"], Arm::Native, &[], &["`t0` is left out: no tool before it is loaded"]);
    breakpoints(
        ["+", "-c", "-c"],
        Arm::Native,
        &[("t0", 1)],
        &["`t1`, which is not loaded, moves to `t0` before it", "`t2` is left out: `t0` before it has one"],
    );
    // A tool that is called through `call_tool` is not in the array.
    breakpoints(["+", "-", "-c"], Arm::Index, &[("t0", 2)], &["`t2`, which is not loaded, moves to `t0` before it"]);
    // It came deferred, with a breakpoint that the API refuses.
    breakpoints(["+", "+", "+cd"], Arm::Full, &[("t1", 2)], &["`t2`, which is not loaded, moves to `t1` before it"]);
}

#[test]
fn a_removed_tool_leaves_its_breakpoint() {
    let tools: Vec<Value> = (0..4)
        .map(|n| {
            let key = if n == 2 { json!({"cache_control": {"type": "ephemeral"}}) } else { json!({}) };
            tool(Format::Anthropic, &format!("t{n}"), &key, &json!({}))
        })
        .collect();
    let whole = engine(Format::Anthropic, &tools, "", Arm::Full);
    for (without, place) in
        [(&["t2"][..], Some("t1")), (&["t1", "t2"], Some("t0")), (&["t0", "t1", "t2"], None), (&["t3"], Some("t2"))]
    {
        let part = whole.restricted(|tool| !without.contains(&tool.name().as_str()));
        // Taken out in two steps it is the same.
        let twice = whole
            .restricted(|tool| tool.name() != "t2" || !without.contains(&"t2"))
            .restricted(|tool| !without.contains(&tool.name().as_str()));
        let array = sent(&part, Wire::Anthropic);
        assert_eq!(array, sent(&twice, Wire::Anthropic));
        let cached: Vec<&str> = array
            .iter()
            .filter(|own| own.get("cache_control").is_some())
            .filter_map(|own| own["name"].as_str())
            .collect();
        assert_eq!(cached, place.into_iter().collect::<Vec<_>>(), "without {without:?}");
        let notes = notes(&part, Wire::Anthropic, Arm::Full);
        assert_eq!(notes.iter().any(|note| note.code == "moved-breakpoint"), without.contains(&"t2"));
        assert!(!sent(&part, Wire::OpenAiChat).iter().any(|own| own.to_string().contains("cache_control")));
    }
}

/// Which hints a server gives is never lost, whatever a host adds.
#[test]
fn hints_of_a_host_replace_those_of_the_list() {
    let listed = tool(Format::Mcp, "t", &json!({"annotations": {"readOnlyHint": true, "title": "T"}}), &json!({}));
    let catalog = Catalog::from_mcp(&json!([listed]).to_string()).unwrap();
    let own = catalog.at(0).unwrap().clone().with_annotations(toolfold::catalog::Annotations::default());
    let mut catalog = Catalog::default();
    catalog.add(own).unwrap();
    let engine = Engine::builder(catalog).build().unwrap();
    let array: Value = engine.talk_on(Wire::Mcp).tools().value();
    assert_eq!(array[0]["annotations"], json!({}));
}
