//! Arm `auto` never costs more than arm `full`: its estimates against exact counts.
#![allow(missing_docs, reason = "tests document themselves by name")]
#![allow(clippy::disallowed_methods, reason = "tests read corpora")]
#![allow(clippy::allow_attributes_without_reason, reason = "macros of test crates expand to such attributes")]

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile, Workload};
use toolfold::tokens::{Meter, Tiktoken};
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::prices::PriceTable;
use toolfold_measure::sim::{ArmSizes, CatalogTokens, Counting, Pricing, Scenario, simulate};

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

const fn workload(requests: usize, expansions: usize, system_tokens: usize, step_tokens: usize) -> Workload {
    Workload::new(requests, expansions).with_system_tokens(system_tokens).with_step_tokens(step_tokens)
}

const WORKLOADS: [Workload; 8] = [
    workload(20, 2, 2_000, 600),
    workload(10, 4, 0, 100),
    workload(60, 0, 0, 5),
    workload(3, 3, 500, 300),
    workload(6, 1, 2_000, 600),
    workload(5, 2, 0, 1_000),
    workload(40, 8, 4_000, 300),
    workload(1, 0, 0, 0),
];

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
        let meter = Meter::for_wire(wire.name(), model).unwrap();
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
            let meter = Meter::for_wire(wire.name(), model).unwrap();
            let counter = Tiktoken::new(meter.encoding());
            let mut conversation = engine.conversation(*wire).model(*model).arm(arm).start().unwrap();
            ArmSizes::of_conversation(&mut conversation, tokens, &Counting::new(&meter, &counter)).unwrap()
        };
        arms.entry(arm).or_insert_with(make).clone()
    }

    /// Returns whether `auto` folds, and the error if that choice is wrong.
    fn play(&mut self, engine: &Engine) -> (bool, Option<String>) {
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
        (chosen != Arm::Full, fault)
    }
}

fn engine(catalog: &Catalog, workload: Workload) -> Engine {
    let builder = Engine::builder(catalog.clone()).profile(ToolProfile::derive(catalog)).without_validation();
    builder.workload(workload).build().unwrap()
}

/// The tool lists of the corpora of real servers, by file name; none without the corpora.
fn servers() -> Vec<(String, Catalog)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/mcp");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: {} does not exist", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let catalog = Catalog::import(&std::fs::read_to_string(path).unwrap(), &name, None).value;
        (!catalog.is_empty()).then_some((name, catalog))
    };
    paths.iter().filter_map(read).collect()
}

/// The maximum size of a list in the quick run, in bytes of JSON.
const SMALL: usize = 60_000;

fn check(servers: &[(String, Catalog)], backends: &[(Wire, &'static str)], workloads: &[Workload]) {
    let (mut faults, mut folded, mut all) = (Vec::new(), 0, 0);
    for (name, catalog) in servers {
        let engines: Vec<Engine> = workloads.iter().map(|workload| engine(catalog, *workload)).collect();
        for backend in backends {
            let mut measured = Measured::of(catalog, *backend);
            for engine in &engines {
                let (folds, fault) = measured.play(engine);
                all += 1;
                folded += usize::from(folds);
                faults.extend(fault.map(|fault| format!("{name} {fault}")));
            }
        }
    }
    println!("{folded} of {all} sessions are folded");
    assert!(faults.is_empty(), "{} of {all}:\n{}", faults.len(), faults.join("\n"));
    assert!(all == 0 || folded * 20 > all, "an arm that never folds proves nothing: {folded} of {all}");
}

#[test]
fn on_real_servers_auto_never_costs_more_than_full() {
    let size = |catalog: &Catalog| catalog.iter().map(|tool| tool.parameters_text().len()).sum::<usize>();
    let small: Vec<_> = servers().into_iter().filter(|(_, catalog)| size(catalog) < SMALL).collect();
    check(&small, &BACKENDS, &WORKLOADS[..5]);
}

#[test]
#[ignore = "takes minutes: every server, wire and workload"]
fn on_every_server_and_wire_auto_never_costs_more_than_full() {
    check(&servers(), &EVERY_BACKEND, &WORKLOADS);
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
    let workloads =
        workloads.prop_map(|(requests, expansions, system, step)| workload(requests, expansions, system, step));
    // Estimates are least exact for short lists.
    (prop_oneof![1_usize..8, 1_usize..90], prop::collection::vec(0_usize..1_000, 40), workloads, 0..EVERY_BACKEND.len())
}

/// Whether `auto` folds in this case, and the error if that is wrong.
fn play((count, seed, workload, backend): &Case) -> (bool, Option<String>) {
    let tools: Vec<Value> = (0..*count).map(|at| tool(at, &seed[at % 20..])).collect();
    let catalog = Catalog::from_mcp(&json!(tools).to_string()).unwrap();
    Measured::of(&catalog, EVERY_BACKEND[*backend]).play(&engine(&catalog, *workload))
}

#[test]
#[ignore = "takes minutes: thousands of random catalogues"]
fn on_thousands_of_random_catalogues_auto_never_costs_more_than_full() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let cases = cases();
    let (mut faults, mut folded) = (Vec::new(), 0);
    const MANY: usize = 2_000;
    for _ in 0..MANY {
        let (folds, fault) = play(&cases.new_tree(&mut runner).unwrap().current());
        folded += usize::from(folds);
        faults.extend(fault);
    }
    println!("{folded} of {MANY} sessions are folded, {} of them cost more", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn two_long_tools() {
    let seed = [
        72, 323, 758, 369, 0, 179, 0, 0, 762, 2, 907, 136, 273, 879, 451, 165, 929, 622, 904, 579, 589, 643, 525, 964,
        148, 927, 23, 855, 305, 166, 648, 433, 230, 819, 698, 10, 61, 954, 303, 882,
    ];
    assert_eq!(play(&(2, seed.to_vec(), workload(28, 3, 1_498, 202), 4)).1, None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: toolfold_testing::cases(24), ..ProptestConfig::default() })]

    #[test]
    fn on_random_catalogues_auto_never_costs_more_than_full(case in cases()) {
        let (_, fault) = play(&case);
        prop_assert_eq!(fault, None);
    }
}
