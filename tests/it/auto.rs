//! Arm `auto`: what it chooses, and why.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::conversation::Conversation;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, CacheRules, ToolProfile, Workload};
use toolfold::wire::{Capabilities, Wire};
use toolfold_testing::with;

use crate::project;
use crate::talk::Talk;

fn excel(workload: Workload) -> Engine {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(Arm::Auto).workload(workload).build().unwrap()
}

#[track_caller]
fn check(session: &Conversation, arm: Arm, because: &[&str]) {
    let why = session.explain();
    assert_eq!(session.arm(), arm, "{why}");
    for part in because {
        assert!(why.contains(part), "`{part}` is not in `{why}`");
    }
}

#[test]
fn a_typical_session_folds_and_reports_expected_savings() {
    let session = excel(Workload::default()).talk();
    let because = ["it takes about ", "on the first turn and ", " over 20 requests, and pays up to ", " look-ups"];
    check(&session, Arm::Kept, &because);
}

/// A conversation with these prices of cached input.
fn cached(engine: &Engine, cache: CacheRules) -> Conversation {
    let CacheRules { read, write, minimum, .. } = cache;
    let row = format!(
        "[[cache]]\nwire = 'openai-chat'\nmodel = '*'\nread = {read}\nwrite = {write}\nminimum = {minimum}\n\
         source = 'own'\ndate = '2026-11'\n"
    );
    let own = Capabilities::parse(&row, "own.toml").into_result().unwrap();
    let table = own.over(Capabilities::builtin());
    engine.conversation(Wire::OpenAiChat).capabilities(&table).start().unwrap()
}

#[test]
fn nothing_is_folded_if_the_session_would_cost_more() {
    // One request after a long system text: what folding saves is a small part of the cost.
    let short = with!(Workload::default(), requests = 1, used_tools = 0, system_tokens = 400_000);
    check(&excel(short).talk(), Arm::Full, &["nothing is folded", "too close for an estimate"]);
    // Each tool is looked up often.
    let mut many = with!(Workload::default(), requests = 3, used_tools = 44);
    (many.lookups.outline, many.lookups.signature) = (3_000, 3_000);
    check(&excel(many).talk(), Arm::Full, &["nothing is folded", "more over 3 requests"]);
    // Almost no text, so requests stay below the minimum for a long time, and full is read from the
    // cache.
    let quiet = with!(Workload::default(), requests = 60, used_tools = 0, system_tokens = 0, step_tokens = 5);
    let cache = CacheRules::new(25, 1_250, 4_096);
    let session = cached(&excel(quiet), cache);
    check(&session, Arm::Full, &["nothing is folded", "kept costs ", "more over 60 requests"]);
    let talkative = with!(quiet, step_tokens = 600, system_tokens = 4_000);
    let session = cached(&excel(talkative), cache);
    check(&session, Arm::Kept, &["60 requests"]);
    check(&cached(&excel(quiet), CacheRules::NONE), Arm::Kept, &[]);
}

#[test]
fn capabilities_limit_the_candidate_arms() {
    let table = |rows: &str| {
        let row = |cell: &str| {
            format!(
                "[[capability]]\nwire = 'openai-chat'\nmodel = 'm*'\n{cell} = 'no'\nsource = 'own'\ndate = '2026-11'\n"
            )
        };
        let text: String = rows.split(' ').map(row).collect();
        let own = Capabilities::parse(&text, "own.toml").into_result().unwrap();
        own.over(Capabilities::builtin())
    };
    let engine = excel(Workload::default());
    let on =
        |table: &Capabilities| engine.conversation(Wire::OpenAiChat).model("m1").capabilities(table).start().unwrap();
    let because = "kept is not used: the capability table marks it unsupported (own, 2026-11)";
    check(&on(&table("in_result")), Arm::Search, &["it takes about", because]);
    check(&on(&table("in_result bridge")), Arm::Full, &["nothing is folded", because]);
    check(&on(&table("bridge")), Arm::Kept, &[]);
}

#[test]
fn cache_prices_depend_on_the_model() {
    let table = Capabilities::builtin();
    let of = |wire, model| table.cache_of(wire, model).map(|row| (row.read, row.write, row.minimum));
    assert_eq!(of(Wire::Anthropic, Some("claude-sonnet-4.5")), Some((100, 1_250, 1_024)));
    assert_eq!(of(Wire::Anthropic, Some("anthropic/claude-opus-4-5-20251101")), Some((100, 1_250, 4_096)));
    assert_eq!(of(Wire::OpenAiChat, Some("gpt-5.4-mini")), Some((100, 1_000, 1_024)));
    assert_eq!(of(Wire::OpenAiResponses, Some("gpt-5.6-sol")), Some((100, 1_250, 1_024)));
    assert_eq!(of(Wire::Gemini, None), Some((100, 1_000, 4_096)));
    assert_eq!(of(Wire::OpenAiChat, Some("kimi-k3")), None);
    assert_eq!(of(Wire::Mcp, None), None);
    let row = "[[cache]]\nwire = 'openai-chat'\nmodel = 'kimi-*'\nread = 250\nwrite = 1000\nminimum = 0\n";
    let own = Capabilities::parse(&format!("{row}source = 'own'\ndate = '2026-11'"), "own.toml").into_result().unwrap();
    let both = own.over(table);
    let found = both.cache_of(Wire::OpenAiChat, Some("kimi-k3")).map(toolfold::wire::CacheRow::cache);
    assert_eq!(found, Some(CacheRules::new(250, 1_000, 0)));
    assert!(both.cache_of(Wire::Gemini, None).is_some(), "the table's own rows stay");
    let unsourced = Capabilities::parse(&format!("{row}source = ''\ndate = '2026-11'"), "own.toml");
    assert!(unsourced.has_errors() && unsourced.value.caches.is_empty());
}

/// For any catalog, prices and workload: a folding arm is never one whose initial saving is too
/// small.
#[test]
fn small_catalogs_are_never_folded() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": "w ".repeat(45)}}});
    let tools: Vec<Value> = (0..5)
        .map(|n| json!({"name": format!("tool_{n}"), "description": "Does it.", "inputSchema": schema}))
        .collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    let profile = ToolProfile::derive(&catalog);
    let engine = Engine::builder(catalog).profile(profile).build().unwrap();
    for cache in [CacheRules::NONE, CacheRules::default()] {
        let session = cached(&engine, cache);
        check(&session, Arm::Full, &["nothing is folded", "under 400"]);
    }
}

/// `count` tools in ten categories, each with `words` words; arm `auto`.
fn many(count: usize, words: usize) -> Engine {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": "w ".repeat(words)}}});
    let tool =
        |n: usize| json!({"name": format!("c{}_t{n}", n % 10), "description": "Does it.", "inputSchema": schema});
    let tools: Vec<Value> = (0..count).map(tool).collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    let categories: String = (0..10).map(|n| format!("[category.c{n}]\ntools = ['c{n}_*']\n")).collect();
    let profile = ToolProfile::parse(&categories, "p.toml").value;
    Engine::builder(catalog).profile(profile).arm(Arm::Auto).build().unwrap()
}

#[test]
fn an_array_respects_the_providers_tool_limit() {
    let on = |engine: &Engine, wire| {
        let mut session = engine.conversation(wire).model("any").start().unwrap();
        let facts = session.tools().facts();
        let said = Capabilities::builtin().limits(wire, Some("any")).check(wire, &facts);
        (session.arm(), session.explain(), said.iter().any(|one| one.code == "too-many-tools"))
    };
    // Small tools: folding saves almost nothing and would not happen without the limit.
    for (count, arm) in [(128, Arm::Full), (129, Arm::Search)] {
        let (chosen, why, broken) = on(&many(count, 1), Wire::OpenAiChat);
        assert_eq!((chosen, broken), (arm, false), "{count}: {why}");
    }
    let (_, why, _) = on(&many(129, 1), Wire::OpenAiChat);
    assert!(why.contains("full is not used: it has 129 tools, and 128 are taken"), "{why}");
    // Large tools: 128 of them and expand_tools exceed the limit of every arm but full, index
    // and search.
    let (chosen, why, broken) = on(&many(128, 100), Wire::OpenAiChat);
    assert_eq!((chosen, broken), (Arm::Search, false), "{why}");
    assert!(why.contains("kept is not used: it has 129 tools, and 128 are taken"), "{why}");
    assert_ne!(on(&many(127, 100), Wire::OpenAiChat).0, Arm::Index, "127 and expand_tools are taken");
    assert_eq!(on(&many(600, 1), Wire::Gemini).0, Arm::Index);
    let (_, why, broken) = on(&many(600, 1), Wire::Anthropic);
    assert!(!why.contains("are taken") && !broken, "no such limit is known there: {why}");
    // Entries beside tools count; a namespace counts once, whatever it contains.
    let tool = |n: usize| json!({"type": "function", "name": format!("t{n}"), "parameters": {"type": "object"}});
    let list = |tools: Vec<Value>| {
        let catalog = Catalog::from_openai(&json!(tools).to_string()).unwrap();
        Engine::builder(catalog).arm(Arm::Auto).build().unwrap()
    };
    let beside = [json!({"type": "web_search"}), json!({"type": "code_interpreter", "container": {"type": "auto"}})];
    let (chosen, why, broken) = on(&list((0..127).map(tool).chain(beside).collect()), Wire::OpenAiResponses);
    assert_eq!((chosen, broken), (Arm::Search, false), "{why}");
    let space = |n: usize| {
        let tools: Vec<Value> = (n * 100..n * 100 + 100).map(tool).collect();
        json!({"type": "namespace", "name": format!("space{n}"), "description": "A space.", "tools": tools})
    };
    let (chosen, why, broken) = on(&list(vec![space(0), space(1)]), Wire::OpenAiResponses);
    assert_eq!((chosen, broken), (Arm::Full, false), "{why}");
    // An explicit arm is used, with a diagnostic.
    let engine = many(200, 1);
    let session = engine.talk_as(Wire::OpenAiChat, Arm::Full);
    let said = session.diagnostics();
    assert_eq!((session.arm(), said[0].code, said[0].is_error()), (Arm::Full, "too-many-tools", false));
}

#[test]
fn an_unsatisfiable_tool_limit_is_reported() {
    // Every tool is core, so no arm removes any from the array.
    let tools: Vec<Value> =
        (0..200).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}})).collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    let profile = ToolProfile::parse("core = ['*']", "p.toml").value;
    let engine = Engine::builder(catalog).profile(profile).arm(Arm::Auto).build().unwrap();
    let session = engine.talk();
    check(&session, Arm::Full, &["nothing is folded", "full is not used: it has 200 tools"]);
}

#[test]
fn tokens_are_estimated_for_the_provider() {
    let engine = excel(Workload::default());
    let first = |session: &Conversation| {
        let why = session.explain();
        let number = why.split("about ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
        number.and_then(|number| number.parse::<usize>().ok()).unwrap_or_else(|| panic!("{why}"))
    };
    let openai = engine.conversation(Wire::OpenAiChat).model("gpt-5").start().unwrap();
    check(&openai, Arm::Kept, &["tokens estimated for openai-chat"]);
    let billed = |array: u32, json: u32| {
        let row = format!(
            "[[limit]]\nwire = 'openai-chat'\nmodel = '*'\narray_token_factor = {array}\njson_token_factor = {json}\n\
             source = 'own'\ndate = '2026-11'\n"
        );
        let own = Capabilities::parse(&row, "own.toml").into_result().unwrap();
        let table = own.over(Capabilities::builtin());
        engine.conversation(Wire::OpenAiChat).capabilities(&table).start().unwrap()
    };
    let claude = billed(2_000, 1_800);
    assert_ne!(claude.arm(), Arm::Kept, "what fitted the budget does not fit it twice: {}", claude.explain());
    assert!(first(&claude) <= 4_000, "{}", claude.explain());
    check(&billed(1_000, 4_000_000), Arm::Full, &["more over 20 requests"]);
}
