//! Arm `auto`: what it chooses, and why.

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::{Engine, Session, SessionOptions};
use toolfold::profile::{Arm, Cache, Delivery, ToolProfile, Workload};
use toolfold::wire::{Capabilities, Wire};

use crate::project;

fn excel(outlook: Workload) -> Engine {
    let catalog = Catalog::from_openai(&project("profiles/excel/tools.json")).unwrap();
    let profile = ToolProfile::parse(&project("profiles/excel/profile.toml"), "profile.toml").value;
    Engine::builder(catalog).profile(profile).arm(Arm::Auto).outlook(outlook).build().unwrap()
}

#[track_caller]
fn check(session: &Session, arm: Arm, because: &[&str]) {
    let why = session.explain();
    assert_eq!(session.arm(), arm, "{why}");
    for part in because {
        assert!(why.contains(part), "`{part}` is not in `{why}`");
    }
}

#[test]
fn a_usual_session_folds_and_says_what_it_is_expected_to_save() {
    let session = excel(Workload::default()).session();
    check(
        &session,
        Arm::Signature,
        &["richest arm within 4000", "over 20 requests with 2 expansions, caching counted"],
    );
}

#[test]
fn where_the_session_costs_more_than_full_nothing_is_folded() {
    // Three requests and every category: each answer comes on top, and each asks for a request more.
    let short = Workload { requests: 3, expansions: 11, ..Workload::default() };
    check(&excel(short).session(), Arm::Full, &["nothing is folded", "signature would cost about", "11 expansions"]);
    // Nearly nothing is said, so that requests stay under the minimum for long, and full is read from the cache.
    let quiet = Workload { requests: 60, expansions: 0, system_tokens: 0, step_tokens: 5 };
    let cache = Cache { read: 25, write: 1_250, minimum: 4_096 };
    let session = excel(quiet).session_with(SessionOptions { cache, ..SessionOptions::default() });
    check(&session, Arm::Full, &["nothing is folded", "may stay under the 4096 that are cached"]);
    let talkative = Workload { step_tokens: 600, ..quiet };
    let session = excel(talkative).session_with(SessionOptions { cache, ..SessionOptions::default() });
    check(&session, Arm::Signature, &["60 requests"]);
    let uncached = SessionOptions { cache: Cache::NONE, ..SessionOptions::default() };
    check(&excel(quiet).session_with(uncached), Arm::Signature, &[]);
}

#[test]
fn the_capability_table_steers_the_ladder() {
    let table = |rows: &str| {
        let row = |cell: &str| {
            format!(
                "[[capability]]\nwire = 'openai-chat'\nmodel = 'm*'\n{cell} = 'no'\nsource = 'own'\ndate = '2026-11'\n"
            )
        };
        let text: String = rows.split(' ').map(row).collect();
        let own = Capabilities::parse(&text, "own.toml").into_result().unwrap();
        Capabilities::builtin().with(own.rows().cloned())
    };
    let engine = excel(Workload::default());
    let on = |table: &Capabilities| engine.session_on(Wire::OpenAiChat, Some("m1"), "s", table).unwrap();
    let because = "signature is not used: the capability table says no (own, 2026-11)";
    check(&on(&table("in_result")), Arm::Index, &["index is the richest arm", because]);
    check(&on(&table("in_result bridge")), Arm::Full, &["nothing is folded", because]);
    check(&on(&table("bridge")), Arm::Signature, &[]);
    let refused = vec![(Delivery::InResult, "own measurement".to_owned())];
    let session = engine.session_with(SessionOptions { refused, ..SessionOptions::default() });
    check(&session, Arm::Index, &["own measurement"]);
}

#[test]
fn the_table_of_caches_is_asked_by_model() {
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
    let both = table.with_caches(own.caches().cloned());
    let found = both.cache_of(Wire::OpenAiChat, Some("kimi-k3")).map(toolfold::wire::CacheRow::cache);
    assert_eq!(found, Some(Cache { read: 250, write: 1_000, minimum: 0 }));
    assert!(both.cache_of(Wire::Gemini, None).is_some(), "the table's own rows stay");
    let unsourced = Capabilities::parse(&format!("{row}source = ''\ndate = '2026-11'"), "own.toml");
    assert!(unsourced.has_errors() && unsourced.value.caches().count() == 0);
}

/// Whatever the catalogue, the prices and the outlook: an arm that folds is never one that saves too little at first.
#[test]
fn small_catalogues_are_never_folded() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "description": "w ".repeat(300)}}});
    let tools: Vec<Value> = (0..5)
        .map(|n| json!({"name": format!("tool_{n}"), "description": "Does it.", "inputSchema": schema}))
        .collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    let profile = ToolProfile::derive(&catalog);
    let engine = Engine::builder(catalog).profile(profile).build().unwrap();
    for cache in [Cache::NONE, Cache::default()] {
        let session = engine.session_with(SessionOptions { cache, ..SessionOptions::default() });
        check(&session, Arm::Full, &["nothing is folded", "under 2000"]);
    }
}
