//! What providers refuse: limits as data, and what is said of an array that breaks one.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, TokenFactors};
use toolfold::wire::limits::{NameRule, ToolFacts};
use toolfold::wire::{Capabilities, Limits, RenderedFacts, Wire};

use super::{arms, engine, excel};
use crate::talk::Talk;

fn limits_of(wire: Wire, model: Option<&str>) -> Limits {
    Capabilities::builtin().limits(wire, model)
}

fn parts(rule: &NameRule) -> (usize, &str, bool) {
    (rule.max_len, &rule.joints, rule.letter_first)
}

/// The facts about an array, read from its JSON.
fn facts_of(wire: Wire, array: &Value) -> RenderedFacts {
    let mut facts = RenderedFacts::default();
    for entry in array.as_array().unwrap() {
        let list = |key: &str| entry[key].as_array().cloned().unwrap_or_default();
        let (functions, declarations) = (list("tools"), list("functionDeclarations"));
        facts.entries += if wire == Wire::Gemini { declarations.len() } else { 1 };
        let inside: Vec<ToolFacts> = functions.iter().chain(&declarations).filter_map(tool_facts).collect();
        if entry["type"] == "namespace" {
            facts.namespaces.push((entry["name"].as_str().unwrap().to_owned(), inside.len()));
        }
        facts.tools.extend(inside);
        facts.tools.extend(tool_facts(entry));
    }
    facts
}

/// The facts about an entry; `None` if it is not a tool that the client runs.
fn tool_facts(entry: &Value) -> Option<ToolFacts> {
    if !matches!(entry["type"].as_str(), None | Some("function" | "custom")) {
        return None;
    }
    let own = entry.get("function").or(entry.get("toolSpec")).unwrap_or(entry);
    let schema =
        ["parameters", "parametersJsonSchema", "input_schema", "inputSchema"].into_iter().find_map(|key| own.get(key));
    let schema = schema.map(|schema| schema.get("json").unwrap_or(schema));
    let keys = schema.and_then(|schema| schema["properties"].as_object());
    let mut facts = ToolFacts::default();
    facts.name = own["name"].as_str()?.to_owned();
    facts.description = own["description"].as_str().unwrap_or_default().chars().count();
    facts.keys = keys.into_iter().flat_map(|keys| keys.keys().cloned()).collect();
    facts.strict = own["strict"] == true;
    Some(facts)
}

/// What is said of an array: code and message of each diagnostic.
#[track_caller]
fn check(wire: Wire, model: Option<&str>, array: &Value, expected: &[&str]) {
    let facts = facts_of(wire, array);
    let said: Vec<String> = limits_of(wire, model)
        .check(wire, &facts)
        .iter()
        .map(|one| {
            assert!(!one.is_error() && one.help.as_ref().is_some_and(|help| help.len() > 20), "{one}");
            format!("{}: {}", one.code, one.message)
        })
        .collect();
    assert_eq!(said, expected);
}

fn function(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
}

#[test]
fn every_wire_has_its_limits() {
    let most = |wire| limits_of(wire, None).max_tools.map(|most| most.value);
    assert_eq!(Wire::ALL.map(most), [Some(128), Some(128), None, Some(512), None, None]);
    let rule = |wire| limits_of(wire, Some("any")).name;
    assert_eq!(parts(&rule(Wire::OpenAiChat)), (64, "_-", false));
    assert_eq!(parts(&rule(Wire::OpenAiResponses)), (64, "_-", false));
    assert_eq!(parts(&rule(Wire::Anthropic)), (128, "_-", false));
    assert_eq!(parts(&rule(Wire::Gemini)), (64, "_.-", true));
    assert_eq!(parts(&rule(Wire::Mcp)), (128, "_-.", false));
    let anthropic = limits_of(Wire::Anthropic, None);
    assert_eq!(anthropic.max_strict.map(|most| most.value), Some(20));
    assert_eq!(anthropic.property_key.as_ref().map(|key| parts(&key.value)), Some((64, "_.-", false)));
    let long = |model| limits_of(Wire::OpenAiChat, model).max_description.map(|most| most.value);
    assert_eq!([long(None), long(Some("gpt-5.4")), long(Some("azure/gpt-5.4"))], [None, None, Some(1_024)]);
    let tokens = |wire, model| limits_of(wire, model).tokens;
    let factors = |model| tokens(Wire::Anthropic, Some(model)).map(|own| (own.array, own.json));
    assert_eq!(tokens(Wire::OpenAiChat, None), Some(TokenFactors::default()));
    assert_eq!(tokens(Wire::Mcp, None), None, "where nothing is known");
    assert_eq!(factors("claude-opus-4.6"), Some((1_520, 1_390)));
    assert_eq!(factors("claude-opus-4-10"), Some((2_000, 1_800)));
}

#[test]
fn a_rule_for_names() {
    let gemini = limits_of(Wire::Gemini, None).name;
    for (name, fits) in [
        ("a", true),
        ("_a", true),
        ("a.b-c_d", true),
        ("A9", true),
        ("", false),
        ("9a", false),
        ("-a", false),
        (".a", false),
        ("a:b", false),
        ("a b", false),
        ("ä", false),
    ] {
        assert_eq!(gemini.fits(name), fits, "{name}");
    }
    assert!(gemini.fits(&"a".repeat(64)) && !gemini.fits(&"a".repeat(65)));
    assert!(limits_of(Wire::OpenAiChat, None).name.fits("9a"));
    for (max_len, joints) in [(15, "_"), (64, "-"), (64, "_ä"), (64, "_a")] {
        let written = json!({"max_len": max_len, "joints": joints});
        assert!(serde_json::from_value::<NameRule>(written).is_err(), "{max_len} {joints}");
    }
}

#[test]
fn too_many_tools_are_counted_as_the_provider_counts_them() {
    let many = |count: usize| Value::Array((0..count).map(|n| function(&format!("t{n}"))).collect());
    check(Wire::OpenAiChat, None, &many(128), &[]);
    let said = "too-many-tools: the array has 129 tools, and openai-chat takes at most 128";
    check(Wire::OpenAiChat, None, &many(129), &[said]);
    check(Wire::Anthropic, None, &many(129), &[]);
    // A namespace and a tool that the provider runs are one entry each.
    let inside: Vec<Value> = (0..200).map(|n| json!({"type": "function", "name": format!("t{n}")})).collect();
    let array = json!([{"type": "namespace", "name": "n", "tools": inside}, {"type": "web_search"}, "odd"]);
    let facts = facts_of(Wire::OpenAiResponses, &array);
    assert_eq!((facts.entries, facts.tools.len(), facts.namespaces), (3, 200, vec![("n".to_owned(), 200)]));
    check(
        Wire::OpenAiResponses,
        None,
        &array,
        &["large-namespace: namespace `n` has 200 functions; up to 9 are recommended"],
    );
    // Gemini counts declarations, of all its entries.
    let half: Vec<Value> = (0..257).map(|n| json!({"name": format!("t{n}")})).collect();
    let array = json!([{"functionDeclarations": half}, {"googleSearch": {}}, {"functionDeclarations": half}]);
    check(Wire::Gemini, None, &array, &["too-many-tools: the array has 514 tools, and gemini takes at most 512"]);
}

#[test]
fn names_parameters_descriptions_and_strict_tools() {
    check(
        Wire::OpenAiChat,
        None,
        &json!([function("a.b")]),
        &["refused-name: openai-chat does not take the name `a.b`"],
    );
    let keys = json!({"filter[id]": {}, "good.one": {}, "$top": {}, "x y": {}, "äh": {}});
    let tool = json!([{"name": "t", "input_schema": {"type": "object", "properties": keys}}, {"name": "u", "input_schema":
        {"type": "object", "properties": {"nested": {"type": "object", "properties": {"a b": {}}}}}}]);
    let said =
        "refused-parameter: tool `t`: anthropic does not take the parameters `filter[id]`, `$top`, `x y` and 1 more";
    check(Wire::Anthropic, None, &tool, &[said]);
    check(Wire::Mcp, None, &json!([{"name": "t", "inputSchema": {"properties": keys}}]), &[]);
    let long =
        |length: usize| json!([{"type": "function", "function": {"name": "t", "description": "ä".repeat(length)}}]);
    check(Wire::OpenAiChat, Some("azure/gpt-5.4"), &long(1_024), &[]);
    let said = "long-description: tool `t`: the description has 1025 characters, openai-chat takes 1024 there";
    check(Wire::OpenAiChat, Some("azure/gpt-5.4"), &long(1_025), &[said]);
    check(Wire::OpenAiChat, Some("gpt-5.4"), &long(1_025), &[]);
    let strict = |count: usize| {
        Value::Array((0..count).map(|n| json!({"name": format!("t{n}"), "input_schema": {}, "strict": true})).collect())
    };
    check(Wire::Anthropic, None, &strict(20), &[]);
    check(
        Wire::Anthropic,
        None,
        &strict(21),
        &["too-many-strict: 21 tools are strict, and anthropic takes at most 20"],
    );
}

#[test]
fn many_violations_are_counted() {
    let bad: Vec<Value> = (0..50).map(|n| function(&format!("t.{n}"))).collect();
    let facts = facts_of(Wire::OpenAiChat, &json!(bad));
    let said = limits_of(Wire::OpenAiChat, None).check(Wire::OpenAiChat, &facts);
    assert_eq!(said.len(), 21);
    assert!(said.last().unwrap().message.starts_with("30 more tools"), "{said:?}");
}

/// Facts whose tools are in the order of their names.
fn sorted(mut facts: RenderedFacts) -> RenderedFacts {
    facts.tools.sort_by(|one, other| one.name.cmp(&other.name));
    facts
}

/// Arrays with entries that are not the catalog's: namespaces, tools that the provider runs, custom
/// tools.
#[test]
fn facts_include_what_is_carried() {
    let function = |name: &str| {
        json!({"type": "function", "name": name, "strict": true, "description": "Does it.",
        "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}})
    };
    let list = json!([
        {"type": "web_search"},
        function("one"),
        {"type": "namespace", "name": "n", "description": "N.", "tools": [function("in"), {"type": "custom", "name": "inner"}]},
        {"type": "custom", "name": "a.b", "description": "Writes a patch."},
    ]);
    let gemini = json!([
        {"functionDeclarations": [{"name": "one"}, {"name": "two", "description": "2"}], "codeExecution": {}},
        {"googleSearch": {}},
        {"functionDeclarations": [{"name": "three", "parametersJsonSchema": {"type": "object", "properties": {"x": {}}}}]},
    ]);
    for (wire, list) in
        [(Wire::OpenAiResponses, &list), (Wire::Anthropic, &list), (Wire::Gemini, &gemini), (Wire::Mcp, &gemini)]
    {
        let catalog = Catalog::import(&list.to_string(), "t", None).into_result().unwrap();
        for arm in [Arm::Full, Arm::Stable] {
            let engine = Engine::builder(catalog.clone()).arm(arm).build().unwrap();
            let tools = engine.talk_on(wire).tools();
            assert_eq!(sorted(tools.facts()), sorted(facts_of(wire, &tools.value())), "{wire} {arm}: {}", tools.json());
        }
    }
}

/// Facts of what the wires really write: names, and counts that the presentation gives on another
/// way.
#[test]
fn facts_are_read_from_every_array() {
    for wire in Wire::ALL {
        for arm in arms(wire) {
            let engine = excel(arm);
            let tools = engine.talk_on(wire).tools();
            let facts = tools.facts();
            assert_eq!(sorted(facts.clone()), sorted(facts_of(wire, &tools.value())), "{wire} {arm}");
            let presentation = &*engine.presentation(arm);
            let plan =
                presentation.plan(engine.catalog(), engine.assignment(), &toolfold::profile::Expanded::default());
            let searched = wire == Wire::OpenAiResponses && arm == Arm::Native;
            let sent = presentation.array(engine.catalog(), &plan).count();
            assert_eq!(facts.tools.len() + usize::from(searched), sent, "{wire} {arm}: the search is no function");
            let refused = limits_of(wire, None).check(wire, &facts);
            let refused: Vec<_> = refused.iter().filter(|one| one.code != "large-namespace").collect();
            assert!(refused.is_empty(), "{wire} {arm}: {refused:?}");
        }
    }
}

#[test]
fn a_configuration_overrides_limit_by_limit() {
    let rows = "[[limit]]\nwire = 'openai-chat'\nmodel = 'local-*'\nmax_tools = 1000\nsource = 'own'\ndate = '2026-11'\n\
                [[limit]]\nwire = 'mcp'\nmodel = '*'\nname = { max_len = 20, joints = '_' }\nsource = 'own'\ndate = '2026-11'";
    let own = Capabilities::parse(rows, "own.toml").into_result().unwrap();
    let table = own.over(Capabilities::builtin());
    let most = |model| table.limits(Wire::OpenAiChat, model).max_tools.map(|most| (most.value, most.source));
    assert_eq!(most(Some("local-llama")), Some((1_000, "own, 2026-11".to_owned())));
    assert_eq!(most(Some("gpt-5.4")).map(|most| most.0), Some(128));
    assert_eq!(table.limits(Wire::OpenAiChat, Some("local-llama")).name.max_len, 64, "the rest stays");
    assert_eq!(table.limits(Wire::Mcp, None).name.max_len, 20);
    let short = rows.replace("max_len = 20", "max_len = 9");
    let why = Capabilities::parse(&short, "own.toml").diagnostics.first().unwrap().to_string();
    assert!(why.contains("at least 16") && why.contains("own.toml:10"), "{why}");
}

#[test]
fn limits_exclude_arms() {
    let tools: Vec<Value> = (0..127)
        .map(|n| {
            json!({"name": format!("t{n}"), "description": "word ".repeat(40),
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": "x".repeat(80)}}}})
        })
        .collect();
    let engine = engine(&json!(tools), "", Arm::Full);
    let limits = limits_of(Wire::OpenAiChat, None);
    let refuses =
        |arm, extra| limits.refuses(Wire::OpenAiChat, engine.catalog(), engine.assignment(), arm, extra).is_some();
    assert!(!refuses(Arm::Full, 1) && refuses(Arm::Full, 2), "127 tools, and what the host adds");
    assert!(!refuses(Arm::Stable, 0) && refuses(Arm::Stable, 1), "expand_tools is one more");
    assert!(!refuses(Arm::Index, 100));
    let searched = |extra| {
        let limits = limits_of(Wire::OpenAiResponses, None);
        limits.refuses(Wire::OpenAiResponses, engine.catalog(), engine.assignment(), Arm::Native, extra)
    };
    assert_eq!(searched(100), None, "namespaces count once");
    assert_eq!(
        limits_of(Wire::Anthropic, None).refuses(
            Wire::Anthropic,
            engine.catalog(),
            engine.assignment(),
            Arm::Full,
            9_999
        ),
        None
    );
}
