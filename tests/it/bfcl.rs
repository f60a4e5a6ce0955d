//! The 100 multi-turn tasks of BFCL, played by oracles that know the true calls, in every arm.
//!
//! This measures the machinery, not a model: an oracle never picks a wrong tool. It shows that no
//! call is lost to folding, and what looking everything up first (or never) would cost. Tables are
//! kept in `benches/ledger/bfcl.snap`.

mod bill;
mod drive;
// One reader of true calls: that of `toolfold ab`.
#[path = "../../crates/measure/src/ab/python.rs"]
mod python;
mod tasks;

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value, json};
use toolfold::catalog::Catalog;
use toolfold::engine::{Blind, Engine};
use toolfold::profile::{Arm, Delivery, Detail, ToolProfile, Workload};
use toolfold::tokens::Meter;
use toolfold_testing::Cases;
use toolfold_testing::with;

use bill::{Counter, PRICES};
use drive::{Oracle, Played, play};
use tasks::{Corpus, Task, TrueCall, Turn};

/// Which tools a task is played with.
#[derive(Debug, Clone, Copy)]
struct Setting {
    name: &'static str,
    /// How many of each domain's tools are core: those that the tasks themselves use most.
    core: usize,
    /// The domains of all tasks rather than the task's own.
    all: bool,
    /// What happens to calls that leave out what was hidden.
    blind: Blind,
}

const SETTINGS: [Setting; 3] = [
    Setting { name: "derived profile, tools of the task's domains", core: 0, all: false, blind: Blind::Show },
    Setting {
        name: "the same with the 5 most used tools of each domain core",
        core: 5,
        all: false,
        blind: Blind::Show,
    },
    Setting { name: "the same with the tools of all eight domains", core: 5, all: true, blind: Blind::Show },
];

/// What the gate spares: the first setting, where calls are forwarded whatever they leave out.
const FORWARDING: Setting =
    Setting { name: "as the first, with blind = \"forward\"", core: 0, all: false, blind: Blind::Forward };

/// What the tasks are like, for arm `auto`: ten requests each with four tools, short answers, no
/// system text.
fn outlook() -> Workload {
    with!(Workload::default(), requests = 10, used_tools = 4, system_tokens = 0, step_tokens = 100)
}

/// The minimum share that arm `auto` saves where arm `signature` does, and the maximum that it
/// costs more if every tool is looked up first, in percent of the input of arm `full`.
const BOUNDS: [usize; 2] = [25, 8];

/// The engines of a setting by the domains they have; every arm and oracle shares them.
struct Engines<'c> {
    corpus: &'c Corpus,
    setting: Setting,
    made: HashMap<Vec<&'c str>, Engine>,
}

impl<'c> Engines<'c> {
    fn of(&mut self, task: &'c Task) -> &Engine {
        let Self { corpus, setting, made } = self;
        let used = |domain: &&str| corpus.tasks.iter().any(|task| task.domains.iter().any(|own| own == domain));
        let domains: Vec<&str> = if setting.all {
            corpus.domains.keys().map(String::as_str).filter(used).collect()
        } else {
            task.domains.iter().map(String::as_str).collect()
        };
        made.entry(domains).or_insert_with_key(|domains| {
            let catalog = corpus.catalog(domains.iter().copied());
            let core: Vec<String> = domains.iter().flat_map(|domain| corpus.most_used(domain, setting.core)).collect();
            let profile = derived(&catalog, &core);
            let builder = Engine::builder(catalog).profile(profile).workload(outlook()).blind(setting.blind);
            let engine = builder.build().unwrap();
            assert!(!engine.diagnostics().iter().any(|d| d.code == "bad-schema"), "every schema compiles");
            engine
        })
    }
}

/// The derived profile, with these tools core.
fn derived(catalog: &Catalog, core: &[String]) -> ToolProfile {
    let profile = ToolProfile::derive(catalog);
    if core.is_empty() {
        return profile;
    }
    let text = profile.to_toml(catalog);
    assert!(text.contains("\ncore = []\n"));
    let text = text.replacen("\ncore = []\n", &format!("\ncore = {}\n", json!(core)), 1);
    ToolProfile::parse(&text, "derived.toml").into_result().unwrap()
}

fn play_all(engines: &mut Engines<'_>, arm: Arm, oracle: Oracle, counter: &mut Counter) -> Played {
    let mut sum = Played::default();
    for task in &engines.corpus.tasks {
        let played = play(task, engines.of(task), arm, oracle, counter);
        if arm.delivery() != Delivery::InPlace {
            assert_eq!(played.bill.breaks, 0, "{} {arm}: the array never changes", task.id);
        }
        sum.add(&played);
    }
    sum
}

fn head(text: &mut String) {
    write!(text, "  {:<8} {:<10} {:>9} {:>6} {:>6}", "oracle", "arm", "forwarded", "silent", "extra").unwrap();
    write!(text, " {:>6} {:>6}", "shown", "breaks").unwrap();
    write!(text, " {:>6} {:>7} {:>7}", "first", "input", "output").unwrap();
    PRICES.iter().for_each(|prices| write!(text, " {:>9}", prices.name).unwrap());
    text.push('\n');
}

/// Tokens are means a task, to the nearest; forwarded calls, extra turns and breaks are sums.
fn row(text: &mut String, arm: Arm, oracle: Oracle, played: &Played, tasks: usize) {
    let mean = |sum: usize| (sum + tasks / 2) / tasks;
    let bill = &played.bill;
    write!(text, "  {:<8} {:<10} {:>9}", oracle.name(), arm.name(), played.forwarded).unwrap();
    write!(text, " {:>6} {:>6} {:>6}", played.silent, played.expansions, played.shown).unwrap();
    write!(text, " {:>6} {:>6}", bill.breaks, mean(bill.first)).unwrap();
    write!(text, " {:>7} {:>7}", mean(bill.input), mean(bill.output)).unwrap();
    bill.cached.iter().for_each(|sum| write!(text, " {:>9}", mean(sum / 100)).unwrap());
    text.push('\n');
}

#[test]
fn bfcl_every_true_call_is_forwarded_in_every_arm() {
    let Some(mut corpus) = Corpus::read() else { return };
    corpus.tasks = toolfold_testing::sample(corpus.tasks, 3);
    let is_sample = Cases::of_this_run().is_quick();
    let tasks = corpus.tasks.len();
    let all: Vec<_> = corpus.tasks.iter().flat_map(Task::calls).collect();
    let fitting = all.iter().filter(|call| call.fits).count();
    let mut text = format!("meter: {}\n", Meter::default());
    writeln!(text, "{tasks} tasks, {} true calls, {fitting} of which fit their tool's own schema", all.len()).unwrap();
    for call in all.iter().filter(|call| !call.fits) {
        writeln!(text, "  does not fit: {} {}", call.tool, call.arguments).unwrap();
    }
    writeln!(text, "auto: chosen for each task, expecting {:?}", outlook()).unwrap();
    text.push_str("forwarded, extra turns and cache breaks: sums; first-turn, input and output tokens: means a task\n");
    for prices in PRICES {
        let (read, write, minimum) = (prices.read, prices.write, prices.minimum);
        let name = prices.name;
        writeln!(text, "{name}: input where reading costs {read} %, writing {write} %, from {minimum} tokens").unwrap();
    }
    let mut counter = Counter::default();
    for setting in SETTINGS {
        writeln!(text, "\n{}", setting.name).unwrap();
        head(&mut text);
        let mut engines = Engines { corpus: &corpus, setting, made: HashMap::new() };
        let mut sums = [0; 2];
        for oracle in Oracle::ALL {
            let full = play_all(&mut engines, Arm::Full, oracle, &mut counter).bill;
            let auto = play_all(&mut engines, Arm::Auto, oracle, &mut counter);
            let signature = play_all(&mut engines, Arm::Signature, oracle, &mut counter).bill;
            assert_eq!(auto.forwarded, fitting, "auto {}", oracle.name());
            let [saves, more] = BOUNDS;
            let (own, full_input, saved_most) = (auto.bill.input, full.input, full.input * (100 - saves) / 100);
            if signature.input <= saved_most && !matches!(oracle, Oracle::Expands | Oracle::ByName) {
                assert!(own <= saved_most, "auto {}: {own}, full {full_input}", oracle.name());
            }
            // Opening whole categories before every call is the worst that a model can do.
            if oracle != Oracle::Expands {
                assert!(own * 100 <= full_input * (100 + more), "auto {}: {own}, full {full_input}", oracle.name());
            }
            sums[0] += own;
            sums[1] += full_input;
            row(&mut text, Arm::Auto, oracle, &auto, tasks);
            for arm in Arm::EVERYWHERE {
                let played = play_all(&mut engines, arm, oracle, &mut counter);
                assert_eq!(played.forwarded, fitting, "{arm} {}", oracle.name());
                assert_eq!(played.flawed, all.len() - fitting, "{arm} {}", oracle.name());
                assert_eq!(played.silent, 0, "{arm} {}", oracle.name());
                let expands = matches!(oracle, Oracle::Expands | Oracle::ByName) && arm != Arm::Full;
                assert!(oracle == Oracle::Needs || (played.expansions > 0) == expands, "{arm} {}", oracle.name());
                let opened = played.expansions + played.shown;
                assert!(played.bill.breaks <= opened, "{arm}: only what opens a tool changes the array");
                row(&mut text, arm, oracle, &played, tasks);
            }
        }
        assert!(sums[0] <= sums[1], "the mean over the oracles: auto {}, full {}", sums[0], sums[1]);
    }
    writeln!(text, "\n{}", FORWARDING.name).unwrap();
    head(&mut text);
    let mut engines = Engines { corpus: &corpus, setting: FORWARDING, made: HashMap::new() };
    for arm in Arm::EVERYWHERE {
        let played = play_all(&mut engines, arm, Oracle::Omits, &mut counter);
        let hides = matches!(arm.extended(), Detail::Required | Detail::Summary) || !arm.extended().is_in_array();
        assert!(hides || played.silent == 0, "{arm}: what is not hidden is not left out");
        assert!(is_sample || hides == (played.silent > 0), "{arm}: what is hidden is left out");
        row(&mut text, arm, Oracle::Omits, &played, tasks);
    }
    println!("{text}");
    if is_sample {
        assert_eq!(all.len(), fitting);
        return;
    }
    // All 583 calls of the corpus as it is today fit. More that do not would be flaws of a newer
    // corpus or of the reader above: either wants a look, hence no room for them.
    assert_eq!((tasks, all.len(), all.len() - fitting), (100, 583, 0));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../benches/ledger");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_description("BFCL's multi-turn tasks, played by oracles in every arm; review every change");
    settings.bind(|| insta::assert_snapshot!("bfcl", text));
}

/// The corpus has no flawed call today, so the way they are counted is tried on one of our own.
#[test]
fn calls_against_their_schema_are_counted_separately() {
    let words = "Words enough to be worth folding away, meta-tools counted. ".repeat(12);
    let schema =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "description": words}}});
    let tools = json!([
        {"name": "put_row", "description": "Put a row. Slowly.", "inputSchema": schema},
        {"name": "put_note", "description": "Put a note. Slowly.", "inputSchema": schema}
    ]);
    let catalog = Catalog::from_mcp(&tools.to_string()).unwrap();
    let builder = Engine::builder(catalog.clone()).profile(ToolProfile::derive(&catalog));
    // What is wrong stays wrong.
    let engine = builder.coerce(false).build().unwrap();
    let call = |tool: &str, n: Value, fits| TrueCall { tool: tool.to_owned(), arguments: json!({"n": n}), fits };
    let calls =
        vec![call("put_row", json!(1), true), call("put_row", json!("1"), false), call("put_note", json!(2), true)];
    let task = Task { id: "own".to_owned(), domains: vec![], turns: vec![Turn { user: "Put.".to_owned(), calls }] };
    let mut counter = Counter::default();
    for arm in Arm::EVERYWHERE {
        for oracle in Oracle::ALL {
            let played = play(&task, &engine, arm, oracle, &mut counter);
            assert_eq!((played.forwarded, played.flawed, played.silent), (2, 1, 0), "{arm} {}", oracle.name());
            let expands = arm != Arm::Full && matches!(oracle, Oracle::Expands | Oracle::ByName);
            let lookups = usize::from(expands);
            if oracle != Oracle::Needs {
                assert!(played.expansions >= lookups && played.expansions <= 2 * lookups, "{arm} {}", oracle.name());
            }
            let extra = played.expansions + played.shown;
            assert_eq!(played.bill.requests, 4 + extra, "three calls, the closing text, the lookups");
        }
    }
}
