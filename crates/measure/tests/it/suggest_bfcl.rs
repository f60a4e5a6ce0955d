//! `suggest` on call logs of the 100 multi-turn tasks of BFCL: based on one half, priced on the
//! other.

use serde_json::json;
use toolfold::catalog::Catalog;
use toolfold::diagnostic::Place;
use toolfold::engine::Engine;
use toolfold::profile::{Arm, ToolProfile};
use toolfold::tokens::{Encoding, Meter, Tiktoken};
use toolfold::wire::{Capabilities, Wire};
use toolfold_measure::sim::{Backend, Counting, Opening, Session, SessionStep, arm_sizes, bill_session, play};
use toolfold_measure::suggest::{Lookup, SuggestOptions, price, suggest};
use toolfold_measure::usage::{Usage, UsageReader};

use crate::tasks::{Corpus, Task};

/// The true calls of some tasks as a log of calls.
fn usage(catalog: &Catalog, tasks: &[&Task]) -> Usage {
    let mut reader = UsageReader::new(catalog);
    for task in tasks {
        for call in task.calls() {
            let line = json!({"conversation": task.id, "tool": call.tool, "arguments": call.arguments});
            assert!(reader.read_value(&line, &Place::default()).is_empty());
        }
    }
    reader.into_usage()
}

/// The numbers up to `count` in an order determined by a seed (xorshift, Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(at, (state % (at as u64 + 1)) as usize);
    }
    order
}

fn with_core(catalog: &Catalog, core: &[String]) -> ToolProfile {
    let text = ToolProfile::derive(catalog).to_toml(catalog);
    let text = text.replacen("\ncore = []\n", &format!("\ncore = {}\n", json!(core)), 1);
    ToolProfile::parse(&text, "hand.toml").into_result().unwrap()
}

/// The cost of some tasks' sessions by `sim`, in tokens at the price of input: the array as a
/// conversation sends it, and an expansion before the first call of each tool.
fn simulated(catalog: &Catalog, profile: &ToolProfile, arm: Arm, lookup: Lookup, tasks: &[&Task]) -> f64 {
    let counter = Tiktoken::new(Encoding::O200kBase);
    let meter = Meter::default();
    let counting = Counting::new(&meter, &counter);
    let engine = Engine::builder(catalog.clone()).profile(profile.clone()).without_validation().build().unwrap();
    let backend = Backend::new(Wire::OpenAiChat, None, Capabilities::builtin());
    let (sizes, unavailable) = arm_sizes(&engine, &backend, &[arm], &counting).unwrap();
    assert!(unavailable.is_empty());
    let rules = SuggestOptions::default().rules;
    let cost = |task: &&Task| {
        let open = |tool: &str| {
            let tool = vec![catalog.position(tool).unwrap()];
            vec![if lookup == Lookup::Tool { Opening::Tools(tool) } else { Opening::Categories(tool) }]
        };
        let step = |opens| {
            let mut step = SessionStep::default();
            (step.input, step.opens) = (100, opens);
            step
        };
        let calls = task.calls().map(|call| step(open(&call.tool)));
        let steps = calls.chain([step(Vec::new())]).collect();
        let bill = bill_session(&rules, play(&sizes[0], &Session::new(0, steps)).iter().map(|own| own.request));
        (bill.total().milli_tokens(&rules) + bill.total().output as u64 * 5_000) as f64 / 1_000.0
    };
    tasks.iter().map(cost).sum::<f64>() / tasks.len() as f64
}

/// Options without a system text and with 100 tokens a step.
fn short_steps(arm: Arm) -> SuggestOptions {
    let mut options = SuggestOptions::default();
    (options.arm, options.system_tokens, options.step_tokens) = (arm, 0, 100);
    options
}

const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];

/// Compares suggestions with full, no core and a written core on other tasks. `may_fail` is the
/// number of splits in which the suggestion may be no better, and `most` by how many percent.
fn compare_suggestions(arm: Arm, lookup: Lookup, what: &str, may_fail: usize, most: f64) {
    let Some(corpus) = Corpus::read() else { return };
    let used = |domain: &&str| corpus.tasks.iter().any(|task| task.domains.iter().any(|own| own == domain));
    let domains: Vec<&str> = corpus.domains.keys().map(String::as_str).filter(used).collect();
    let catalog = corpus.catalog(domains.iter().copied());
    let hand: Vec<String> = domains.iter().flat_map(|domain| corpus.most_used(domain, 5)).collect();
    let (none, hand) = (ToolProfile::derive(&catalog), with_core(&catalog, &hand));
    let counter = Tiktoken::new(Encoding::O200kBase);
    println!("{} tools of {} domains; tokens a session at the price of input", catalog.len(), domains.len());
    println!("{what}\n  seed    full  no core   hand  suggested  core  against the best of the others");
    let mut options = short_steps(arm);
    (options.lookup, options.held_out) = (lookup, false);
    // All splits if it must be better, and two if it only must not be worse.
    let mut worse = 0;
    let seeds = SEEDS.into_iter().take(if lookup == Lookup::Tool { 2 } else { SEEDS.len() });
    for seed in toolfold_testing::sample(seeds, 2) {
        let order = shuffled(corpus.tasks.len(), seed);
        let half = |places: &[usize]| -> Vec<&Task> { places.iter().map(|at| &corpus.tasks[*at]).collect() };
        let (fit, score) = order.split_at(order.len() / 2);
        let (fit, score) = (usage(&catalog, &half(fit)), half(score));
        let made = suggest(&catalog, &none, &fit, &options, &counter).unwrap();
        let suggested = ToolProfile::parse(&made.toml, "s.toml").into_result().unwrap();
        let cost = |profile: &ToolProfile, arm| simulated(&catalog, profile, arm, lookup, &score);
        let [full, no_core, hand] = [cost(&none, Arm::Full), cost(&none, arm), cost(&hand, arm)];
        let own = cost(&suggested, arm);
        let off = (own / full.min(no_core).min(hand) - 1.0) * 100.0;
        let core = made.core.len();
        println!("  {seed:>4} {full:>7.0} {no_core:>8.0} {hand:>6.0} {own:>10.0} {core:>5}  {off:+.1} %");
        worse += usize::from(off >= 0.0);
        assert!(off < most, "{what}, seed {seed}: {off:+.1} %");
    }
    println!("{what}: no better in {worse} splits");
    assert!(worse <= may_fail, "{what}: no better in {worse} splits");
}

#[test]
fn with_categories_suggestions_beat_full_no_core_and_a_written_core_on_other_tasks() {
    compare_suggestions(Arm::Stable, Lookup::Category, "stable, whole categories looked up", 0, 0.0);
}

/// The array is so short that the size of answers matters most, and the halves differ in what they
/// expand.
#[test]
fn of_an_index_suggestions_beat_the_others_on_most_splits() {
    compare_suggestions(Arm::Index, Lookup::Category, "index, whole categories looked up", 1, 1.5);
}

/// Categories save nothing, and few tools of these tasks are worth their place: the suggestion only
/// must not cost more.
#[test]
fn with_single_tools_suggestions_cost_no_more_than_the_others() {
    compare_suggestions(Arm::Stable, Lookup::Tool, "stable, single tools looked up", 2, 0.5);
}

/// The estimate that is reported with a suggestion, compared with the cost of the other half.
#[test]
fn the_held_out_estimate_matches_other_tasks() {
    let Some(corpus) = Corpus::read() else { return };
    let used = |domain: &&str| corpus.tasks.iter().any(|task| task.domains.iter().any(|own| own == domain));
    let catalog = corpus.catalog(corpus.domains.keys().map(String::as_str).filter(used));
    let none = ToolProfile::derive(&catalog);
    let counter = Tiktoken::new(Encoding::O200kBase);
    let order = shuffled(corpus.tasks.len(), 1);
    let half = |places: &[usize]| -> Vec<&Task> { places.iter().map(|at| &corpus.tasks[*at]).collect() };
    let (fit, score) = order.split_at(order.len() / 2);
    let (fit, score) = (usage(&catalog, &half(fit)), usage(&catalog, &half(score)));
    let options = short_steps(Arm::Index);
    let made = suggest(&catalog, &none, &fit, &options, &counter).unwrap();
    let held = made.held_out.unwrap();
    let suggested = ToolProfile::parse(&made.toml, "s.toml").into_result().unwrap();
    let cost = |profile: &ToolProfile| price(&catalog, profile, &score, &options, &counter).unwrap().mean();
    let gain = (1.0 - cost(&suggested) / cost(&none)) * 100.0;
    println!("estimated {:.1} % ± {:.1}, then {gain:.1} %", held.gain, held.standard_error);
    assert!(held.is_sure() && (held.gain - gain).abs() < 3.0 * held.standard_error + 3.0);
    let assigned = suggested.assign(&catalog);
    assert!(assigned.diagnostics.is_empty(), "{:?}", assigned.diagnostics);
}
