//! Arm `auto` never costs more than arm `full`: its estimates against exact counts.

use std::collections::HashMap;

use crate::lists::lists;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile, Workload};
use toolfold::tokens::{Meter, Tiktoken};
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::prices::PriceTable;
use toolfold_measure::sim::{ArmSizes, CatalogTokens, Counting, Opening, Pricing, Scenario, simulate};
use toolfold_testing::with;

/// One backend for each meter; [`EVERY_BACKEND`] takes longer.
const BACKENDS: [(Wire, &str); 3] =
    [(Wire::OpenAiChat, "gpt-5.4"), (Wire::Anthropic, "claude-opus-5.5"), (Wire::Gemini, "gemini-2.5-pro")];

const EVERY_BACKEND: [(Wire, &str); 7] = [
    (Wire::OpenAiChat, "gpt-4.1"),
    (Wire::OpenAiChat, "gpt-5.4"),
    (Wire::OpenAiChat, "gpt-5.6-sol"),
    (Wire::OpenAiResponses, "gpt-5.4"),
    (Wire::Anthropic, "claude-sonnet-4.5"),
    (Wire::Anthropic, "claude-opus-5.5"),
    (Wire::Gemini, "gemini-2.5-pro"),
];

fn workload(requests: usize, used_tools: usize, system_tokens: usize, step_tokens: usize) -> Workload {
    with!(
        Workload::default(),
        requests = requests,
        used_tools = used_tools,
        system_tokens = system_tokens,
        step_tokens = step_tokens
    )
}

fn workloads() -> [Workload; 8] {
    [
        Workload::default(),
        workload(10, 4, 0, 100),
        workload(60, 0, 0, 5),
        workload(3, 3, 500, 300),
        workload(6, 1, 2_000, 600),
        workload(5, 2, 0, 1_000),
        workload(40, 8, 4_000, 300),
        workload(1, 0, 0, 0),
    ]
}

fn meter(wire: Wire, model: &str) -> Meter {
    Meter::for_wire(wire.name(), model).unwrap_or_default()
}

/// The maximum share of unusual sessions that cost more than under `full`, in percent: the cache
/// minimum can be between the estimate of an array and its size.
const OFF: usize = 2;

/// A catalogue under one backend's meter; the cost of each arm is counted once.
struct Measured {
    wire: Wire,
    model: &'static str,
    pricing: Pricing,
    tokens: CatalogTokens,
    arms: HashMap<Arm, ArmSizes>,
}

impl Measured {
    fn of(catalog: &Catalog, (wire, model): (Wire, &'static str)) -> Self {
        let profile = ToolProfile::derive(catalog);
        let meter = meter(wire, model);
        let counter = Tiktoken::new(meter.encoding());
        let counting = Counting::new(&meter, &counter);
        let tokens = CatalogTokens::of_catalog(catalog, &profile.assign(catalog).value, &counting, &[]).unwrap();
        let rules = Capabilities::builtin()
            .cache_of(wire, Some(model))
            .map(toolfold::wire::CacheRow::cache)
            .unwrap_or_default();
        let priced = PriceTable::builtin().row_for_model(model).map(Pricing::from);
        let pricing = priced.unwrap_or_else(|| {
            let mut unpriced = Pricing::default();
            unpriced.rules = rules;
            unpriced
        });
        Self { wire, model, pricing, tokens, arms: HashMap::new() }
    }

    fn sizes(&mut self, engine: &Engine, arm: Arm) -> ArmSizes {
        let Self { wire, model, tokens, arms, .. } = self;
        let make = || {
            let meter = meter(*wire, model);
            let counter = Tiktoken::new(meter.encoding());
            let mut conversation = engine.conversation(*wire).model(*model).arm(arm).start().unwrap();
            ArmSizes::of_conversation(&mut conversation, tokens, &Counting::new(&meter, &counter)).unwrap()
        };
        arms.entry(arm).or_insert_with(make).clone()
    }

    /// Returns whether `auto` folds, its cost relative to `full`, and the error if that choice is
    /// wrong.
    fn play(&mut self, engine: &Engine) -> (bool, f64, Option<String>) {
        let auto = engine.conversation(self.wire).model(self.model).arm(Arm::Auto).start().unwrap();
        let (chosen, why) = (auto.arm(), auto.reason());
        let full = self.sizes(engine, Arm::Full);
        let mut own = self.sizes(engine, chosen);
        own.name = "auto".to_owned();
        let session = Scenario::from(engine.workload()).session(engine).unwrap();
        let arms = simulate(&[full, own], &session, &self.pricing).arms;
        let (full, auto) = (&arms[0], &arms[1]);
        let share = auto.relative_to_full.unwrap();
        // If a provider rejects such a long array, `full` is not available at any price.
        let cannot = why.contains("full is not used");
        let fault = (share > 1e-9 && !cannot).then(|| {
            let (own, other) = (auto.input_cost_tokens, full.input_cost_tokens);
            let (wire, model, workload) = (self.wire, self.model, engine.workload());
            let sizes = [Arm::Full, chosen].map(|arm| self.sizes(engine, arm));
            let arrays = sizes.each_ref().map(|sizes| sizes.first_turn);
            let answers: usize = sizes[1].folded.iter().flatten().map(|tool| tool.answer).sum();
            format!(
                "{wire} {model} {workload:?}: {chosen} costs {:+.1} % ({own}, {other}; arrays {arrays:?}, {} categories with \
                {answers}, {} around each): {why}",
                share * 100.0,
                sizes[1].categories.len(),
                sizes[1].reply
            )
        });
        (chosen != Arm::Full, if cannot { 0.0 } else { share }, fault)
    }
}

fn engine(catalog: &Catalog, workload: Workload) -> Engine {
    let builder = Engine::builder(catalog.clone()).profile(ToolProfile::derive(catalog)).without_validation();
    builder.workload(workload).build().unwrap()
}

/// The maximum size of a list in the quick run, in bytes of JSON.
const SMALL: usize = 60_000;

fn check(servers: &[(String, Catalog)], backends: &[(Wire, &'static str)], workloads: &[Workload]) {
    let (mut faults, mut folded, mut all, mut shares) = (Vec::new(), 0, 0, 0.0);
    for (name, catalog) in servers {
        let engines: Vec<Engine> = workloads.iter().map(|workload| engine(catalog, *workload)).collect();
        for backend in backends {
            let mut measured = Measured::of(catalog, *backend);
            for engine in &engines {
                let (folds, share, fault) = measured.play(engine);
                all += 1;
                shares += share;
                folded += usize::from(folds);
                let fault = fault.map(|fault| format!("{name} {fault}"));
                assert!(fault.is_none() || engine.workload() != Workload::default(), "{fault:?}");
                faults.extend(fault);
            }
        }
    }
    println!("{folded} of {all} sessions are folded, {} of them cost more:\n{}", faults.len(), faults.join("\n"));
    assert!(shares <= 0.0 && faults.len() * 100 <= all * OFF, "{} of {all}: {shares}", faults.len());
    assert!(all == 0 || folded * 20 > all, "an arm that never folds proves nothing: {folded} of {all}");
}

#[test]
fn on_real_servers_auto_never_costs_more_than_full() {
    let size = |catalog: &Catalog| catalog.iter().map(|tool| tool.parameters_text().len()).sum::<usize>();
    let small: Vec<_> = lists("mcp").into_iter().filter(|(_, catalog)| size(catalog) < SMALL).collect();
    check(&toolfold_testing::sample(small, 4), &BACKENDS, &workloads()[..5]);
}

#[test]
#[ignore = "takes minutes: every server, wire and workload"]
fn on_every_server_and_wire_auto_never_costs_more_than_full() {
    check(&lists("mcp"), &EVERY_BACKEND, &workloads());
}

/// The models of [`the_shared_lists_are_folded`]: the last has no row in any table.
const LISTED: [(Wire, &str); 3] =
    [(Wire::OpenAiChat, "gpt-5.4"), (Wire::Anthropic, "claude-sonnet-5.5"), (Wire::OpenAiChat, "unlisted-1")];

/// A list of fewer tokens need not be folded.
const LARGE: usize = 2_500;

/// The floors of the folded lists and of the saved tokens of their first turns, in percent.
const FLOORS: (usize, usize) = (80, 60);

#[test]
fn the_shared_lists_are_folded() {
    let servers = lists("mcp");
    for backend in toolfold_testing::sample(LISTED, 1) {
        let (mut folded, mut large, mut whole, mut sent) = (0, 0, 0, 0);
        for (name, catalog) in &servers {
            let engine = engine(catalog, Workload::default());
            let mut measured = Measured::of(catalog, backend);
            let full = measured.sizes(&engine, Arm::Full).first_turn;
            let auto = measured.sizes(&engine, Arm::Auto);
            if full > LARGE {
                let folds = !auto.is_whole();
                println!("{} {name}: {} of {full}{}", backend.1, auto.first_turn, if folds { "" } else { ", whole" });
                (large, whole, sent) = (large + 1, whole + full, sent + auto.first_turn);
                folded += usize::from(folds);
            }
        }
        let saved = 100 - (sent * 100).div_ceil(whole.max(1)).min(100);
        println!("{}: {folded}/{large} lists are folded, {saved} % of {whole} tokens saved", backend.1);
        assert!(folded * 100 >= large * FLOORS.0, "{}: {folded}/{large}", backend.1);
        assert!(large == 0 || saved >= FLOORS.1, "{}: {saved} %", backend.1);
    }
}

/// The number of random sessions of a list.
const DRAWN: usize = 60;

/// Sessions drawn from the workload: the used tools, their first uses and their look-ups are
/// random.
#[test]
fn the_mean_of_random_sessions_is_at_most_that_of_full() {
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    };
    let workload = Workload::default();
    for (name, catalog) in toolfold_testing::sample(lists("mcp"), 4) {
        let engine = engine(&catalog, workload);
        for backend in LISTED {
            let mut measured = Measured::of(&catalog, backend);
            let (full, mut auto) = (measured.sizes(&engine, Arm::Full), measured.sizes(&engine, Arm::Auto));
            auto.name = "auto".to_owned();
            let folded: Vec<usize> = (0..auto.folded.len()).filter(|at| auto.folded[*at].is_some()).collect();
            let (mut own, mut whole) = (0, 0);
            for _ in 0..DRAWN {
                let mut session = Scenario::from(workload).session(&engine).unwrap();
                session.steps.iter_mut().for_each(|step| step.opens.clear());
                for _ in 0..workload.used_tools.min(folded.len()) {
                    let (tool, step) = (folded[random(folded.len())], random(session.steps.len()));
                    if random(1_000) < auto.folded[tool].unwrap().lookups as usize {
                        session.steps[step].opens.push(Opening::Tools(vec![tool]));
                    }
                }
                let arms = simulate(&[full.clone(), auto.clone()], &session, &measured.pricing).arms;
                (whole, own) = (whole + arms[0].input_cost_tokens, own + arms[1].input_cost_tokens);
            }
            assert!(own <= whole, "{name} {}: {own} over {DRAWN} sessions, full {whole}", backend.1);
        }
    }
}

/// A tool like those of real lists: words of a fixed list, sometimes nested, sometimes without
/// words, sometimes too many.
fn tool(at: usize, seed: &[usize]) -> Value {
    const WORDS: [&str; 12] = [
        "file",
        "sheet",
        "range",
        "returns",
        "the",
        "of",
        "identifier",
        "optional",
        "表格",
        "configuration",
        "e.g. A1:C9",
        "ISO-8601 timestamp",
    ];
    let pick = |at: usize| seed.get(at % seed.len().max(1)).copied().unwrap_or_default();
    let text = |from: usize, count: usize| -> String {
        (0..count).map(|n| WORDS[pick(from + n) % WORDS.len()]).collect::<Vec<_>>().join(" ")
    };
    let count = pick(at) % 9;
    let property = |n: usize| {
        let own = match pick(at + n) % 5 {
            0 => json!({"type": "string", "enum": ["ascending", "descending", text(n, 2)]}),
            1 => json!({"type": "array", "items": {"type": "object", "properties": {
                "row": {"type": "integer"}, "value": {"type": "string", "description": text(n, 6)}}}}),
            2 => json!({"type": "integer", "minimum": 1, "default": 10}),
            _ => json!({"type": "string", "description": text(at + n, pick(n) % 40)}),
        };
        (format!("parameter_{n}"), own)
    };
    let properties: serde_json::Map<String, Value> = (0..count).map(property).collect();
    let words = [0, 5, 20, 60, 300][pick(at + 3) % 5];
    json!({"name": format!("group{}_tool_{at}", pick(at) % 6), "description": text(at, words),
        "inputSchema": {"type": "object", "properties": properties}})
}

/// A random catalogue, a workload and an index of [`EVERY_BACKEND`].
type Case = (usize, Vec<usize>, Workload, usize);

fn cases() -> impl Strategy<Value = Case> {
    let workloads = (1_usize..40, 0_usize..8, 0_usize..5_000, 0_usize..1_500);
    let workloads = workloads.prop_map(|(requests, used, system, step)| workload(requests, used, system, step));
    // Estimates are least exact for short lists.
    (prop_oneof![1_usize..8, 1_usize..90], prop::collection::vec(0_usize..1_000, 40), workloads, 0..EVERY_BACKEND.len())
}

/// Whether `auto` folds in this case, and the error if that is wrong.
fn play((count, seed, workload, backend): &Case) -> (bool, f64, Option<String>) {
    let tools: Vec<Value> = (0..*count).map(|at| tool(at, &seed[at % 20..])).collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    Measured::of(&catalog, EVERY_BACKEND[*backend]).play(&engine(&catalog, *workload))
}

/// The mean cost over random catalogues and workloads is below that of `full`.
fn check_random(count: usize) {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let cases = cases();
    let (mut faults, mut folded, mut shares) = (Vec::new(), 0, 0.0);
    for _ in 0..count {
        let (folds, share, fault) = play(&cases.new_tree(&mut runner).unwrap().current());
        shares += share;
        folded += usize::from(folds);
        faults.extend(fault);
    }
    println!("{folded} of {count} sessions are folded, {} of them cost more:\n{}", faults.len(), faults.join("\n"));
    assert!(shares <= 0.0 && faults.len() * 100 <= count * OFF, "{}: {shares}", faults.len());
}

#[test]
fn on_random_catalogues_auto_costs_less_than_full() {
    // The allowed share of faults is less than one of 25 cases.
    check_random(toolfold_testing::cases_of(50, 400) as usize);
}

#[test]
#[ignore = "takes minutes: thousands of random catalogues"]
fn on_thousands_of_random_catalogues_auto_costs_less_than_full() {
    check_random(2_000);
}

#[test]
fn two_long_tools() {
    let seed = [
        72, 323, 758, 369, 0, 179, 0, 0, 762, 2, 907, 136, 273, 879, 451, 165, 929, 622, 904, 579, 589, 643, 525, 964,
        148, 927, 23, 855, 305, 166, 648, 433, 230, 819, 698, 10, 61, 954, 303, 882,
    ];
    assert_eq!(play(&(2, seed.to_vec(), workload(28, 3, 1_498, 202), 4)).2, None);
}

/// Arm `search` shows no names, so a look-up brings all that a query finds.
#[test]
fn a_look_up_of_arm_search_is_priced_as_a_query() {
    let tool = |at: usize| {
        let words = format!("Sends item {at} to a channel, and waits for the answer of each of its members.");
        json!({"name": format!("send_item_{at}"), "description": words,
            "parameters": {"type": "object", "properties": {"channel": {"type": "string", "description": words}}}})
    };
    let catalog = Catalog::from_openai(&Value::from_iter((0..40).map(tool)).to_string()).unwrap();
    let engine = engine(&catalog, Workload::default());
    let mut measured = Measured::of(&catalog, (Wire::OpenAiChat, "gpt-5.4"));
    for arm in [Arm::Stable, Arm::Lean, Arm::Index] {
        assert_eq!(measured.sizes(&engine, arm).found, None, "{arm}");
    }
    let sizes = measured.sizes(&engine, Arm::Search);
    let (found, most) = (sizes.found.unwrap(), sizes.folded.iter().flatten().map(|tool| tool.answer).max().unwrap());
    // At most ten definitions and the list, which an answer limits to 1,100 and 400 tokens.
    assert!(found > 5 * most && found < 1_600, "{found} tokens, a definition has {most}");
}
