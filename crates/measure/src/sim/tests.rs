//! The simulation.

use std::fmt::Write;

use proptest::prelude::*;
use toolfold::profile::{CacheRules, Delivery};

use super::*;
use crate::prices::PriceTable;

fn scenario(file: &str) -> Scenario {
    let text = match file {
        "toy-6" => include_str!("../../scenarios/toy-6.toml"),
        "toy-6-category" => include_str!("../../scenarios/toy-6-category.toml"),
        "toy-20-category" => include_str!("../../scenarios/toy-20-category.toml"),
        "toy-20-tools" => include_str!("../../scenarios/toy-20-tools.toml"),
        "toy-120-category" => include_str!("../../scenarios/toy-120-category.toml"),
        "toy-120-tools" => include_str!("../../scenarios/toy-120-tools.toml"),
        other => panic!("unknown scenario {other}"),
    };
    Scenario::from_toml(text).unwrap()
}

fn pricing(model: &str) -> Pricing {
    let none =
        PriceTable::from_toml(include_str!("../../scenarios/no-cache.toml"), "no-cache.toml").into_result().unwrap();
    Pricing::from(none.over(PriceTable::builtin()).row_for_model(model).unwrap())
}

/// The extra cost of an arm relative to `full`, in percent.
fn per_cent(file: &str, model: &str, arm: &str) -> f64 {
    let (session, arms) = scenario(file).sized().unwrap().unwrap();
    let simulated = simulate(&arms, &session, &pricing(model));
    simulated.arms.iter().find(|own| own.arm == arm).unwrap().relative_to_full.unwrap() * 100.0
}

/// The toy run of the design: scenario, model, arm, the stated percentage relative to `full`.
const TABLE: [(&str, &str, &str, f64); 26] = [
    ("toy-6", "claude-opus-5.5", "seed", -28.0),
    ("toy-6", "claude-opus-5.5", "stable", -28.0),
    ("toy-6", "claude-opus-5.5", "native", -32.0),
    ("toy-6-category", "claude-opus-5.5", "seed", 13.0),
    ("toy-6-category", "claude-opus-5.5", "stable", -9.0),
    ("toy-6-category", "claude-opus-5.5", "native", -25.0),
    ("toy-20-category", "claude-opus-5.5", "seed", 31.0),
    ("toy-20-category", "claude-opus-5.5", "stable", -2.0),
    ("toy-20-tools", "claude-opus-5.5", "stable", -8.0),
    ("toy-20-category", "claude-opus-5.5", "native", -11.0),
    ("toy-20-category", "gpt-6.1-sol", "seed", 31.0),
    ("toy-20-category", "gpt-6.1-sol", "stable", -2.0),
    ("toy-20-tools", "gpt-6.1-sol", "stable", -8.0),
    ("toy-20-category", "gpt-6.1-sol", "native", -11.0),
    ("toy-20-category", "gpt-5.4", "seed", 18.0),
    ("toy-20-category", "gpt-5.4", "stable", -2.0),
    ("toy-20-tools", "gpt-5.4", "stable", -8.0),
    ("toy-20-category", "gpt-5.4", "native", -11.0),
    ("toy-20-category", "no-cache", "seed", -6.0),
    ("toy-20-category", "no-cache", "stable", -4.0),
    ("toy-20-tools", "no-cache", "stable", -15.0),
    ("toy-20-category", "no-cache", "native", -20.0),
    ("toy-120-category", "claude-opus-5.5", "seed", -27.0),
    ("toy-120-category", "claude-opus-5.5", "stable", -48.0),
    ("toy-120-tools", "claude-opus-5.5", "stable", -54.0),
    ("toy-120-category", "claude-opus-5.5", "native", -61.0),
];

#[test]
fn the_toy_scenarios_give_the_stated_table_within_a_point() {
    let mut text = String::new();
    let mut worst = 0.0_f64;
    for (file, model, arm, stated) in TABLE {
        let found = per_cent(file, model, arm);
        worst = worst.max((found - stated).abs());
        writeln!(text, "{file:<16} {model:<15} {arm:<6} {found:7.2} %, stated {stated} %").unwrap();
    }
    println!("{text}worst: {worst:.2} points");
    assert!(worst <= 1.0, "{text}");
}

/// Two categories of two tools, and an arm of each delivery without overheads.
fn arms() -> Vec<ArmSizes> {
    let text = "requests = 3\n[sizes]\ncore = 1000\ncategories = [2, 2]\ntool = 500\nanswer = 700\nstub = 50\n\
                expand_tools = 100";
    Scenario::from_toml(text).unwrap().sized().unwrap().unwrap().1
}

fn opening(opens: Vec<Opening>) -> Session {
    let step = SessionStep { input: 200, output: 10, ..SessionStep::default() };
    Session { system: 0, steps: vec![step.clone(), SessionStep { opens, ..step.clone() }, step] }
}

/// The tools and messages of each request under an arm.
#[track_caller]
fn check(arm: &str, opens: Vec<Opening>, expected: &[(usize, usize)]) {
    let arms = arms();
    let arm = arms.iter().find(|own| own.name == arm).unwrap();
    let played = play(arm, &opening(opens));
    let found: Vec<(usize, usize)> = played.iter().map(|own| (own.request.tools, own.request.messages)).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_expansion_is_billed_as_the_arm_delivers_it() {
    let category = || vec![Opening::Categories(vec![0])];
    check("full", category(), &[(3_000, 200), (3_000, 410), (3_000, 620)]);
    check("seed", category(), &[(1_300, 200), (1_300, 410), (2_200, 410), (2_200, 620)]);
    check("stable", category(), &[(1_300, 200), (1_300, 410), (1_300, 1_810), (1_300, 2_020)]);
    check("native", category(), &[(1_100, 200), (1_100, 410), (1_100, 1_410), (1_100, 1_620)]);
    check("stable", vec![Opening::Tools(vec![3])], &[(1_300, 200), (1_300, 410), (1_300, 1_110), (1_300, 1_320)]);
    // The gate answers a call of 10 tokens with the definition, and the call is made again.
    check("stable", vec![Opening::Calls(vec![3])], &[(1_300, 200), (1_300, 410), (1_300, 1_120), (1_300, 1_330)]);
    check("full", vec![Opening::Calls(vec![3])], &[(3_000, 200), (3_000, 410), (3_000, 620)]);
    // Arm seed opens categories only.
    check("seed", vec![Opening::Tools(vec![3])], &[(1_300, 200), (1_300, 410), (2_200, 410), (2_200, 620)]);
    let (session, rules) = (opening(category()), CacheRules::new(100, 1_250, 1_024));
    for arm in arms() {
        let bill = bill_session(&rules, play(&arm, &session).into_iter().map(|own| own.request));
        assert_eq!(bill.breaks(), usize::from(arm.delivery == Delivery::InPlace), "{}", arm.name);
    }
}

#[test]
fn open_tools_are_not_expanded_again() {
    let again = || vec![Opening::Tools(vec![0]), Opening::Categories(vec![1]), Opening::Categories(vec![0, 1])];
    let stable = [(1_300, 200), (1_300, 410), (1_300, 1_110), (1_300, 1_810), (1_300, 2_020)];
    check("stable", again(), &stable);
    check(
        "stable",
        vec![Opening::Count(9), Opening::Count(1)],
        &[(1_300, 200), (1_300, 410), (1_300, 3_210), (1_300, 3_420)],
    );
    let average = vec![Opening::Average; 3];
    check("stable", average, &[(1_300, 200), (1_300, 410), (1_300, 1_810), (1_300, 3_210), (1_300, 3_420)]);
    check("stable", vec![Opening::Tools(vec![99]), Opening::Count(0)], &[(1_300, 200), (1_300, 410), (1_300, 620)]);
}

#[test]
fn an_arm_without_names_searches_once_for_each_tool() {
    let arm = |lookups| {
        let mut arm = arms().into_iter().find(|own| own.name == "stable").unwrap();
        for tool in arm.folded.iter_mut().flatten() {
            tool.lookups = lookups;
        }
        ArmSizes { found: Some(900), ..arm }
    };
    let added = |opens: Vec<Opening>| {
        let last = play(&arm(1_000), &opening(opens)).last().unwrap().request.messages;
        last - 620
    };
    for (opens, searches) in [
        (vec![Opening::Use], 1),
        (vec![Opening::Average], 1),
        (vec![Opening::Categories(vec![0])], 1),
        (vec![Opening::Tools(vec![0, 3]), Opening::Tools(vec![0])], 2),
        (vec![Opening::Count(9), Opening::Count(1)], 4),
        (vec![Opening::Tools(vec![99]), Opening::Count(0)], 0),
    ] {
        assert_eq!(added(opens.clone()), searches * 900, "{opens:?}");
    }
    // The gate answers a call with one definition, and the call of 10 tokens is made again.
    assert_eq!(added(vec![Opening::Calls(vec![3])]), 710);
    assert_eq!(play(&arm(0), &opening(vec![Opening::Use])).last().unwrap().request.messages, 620);
}

#[test]
fn an_arm_breaks_even_where_its_running_sum_stays_below() {
    let pricing = Pricing { rules: CacheRules::new(100, 1_250, 0), ..Pricing::default() };
    let simulated = simulate(&arms(), &opening(vec![Opening::Categories(vec![0])]), &pricing);
    let from = |arm: &str| simulated.arms.iter().find(|own| own.arm == arm).unwrap().cheaper_from_request;
    assert_eq!((from("full"), from("seed"), from("stable"), from("native")), (None, None, Some(1), Some(1)));
    // An arm that costs more while it expands, and saves later.
    let late = Session {
        steps: vec![SessionStep { opens: vec![Opening::Tools(vec![0, 1, 2])], ..SessionStep::default() }; 9],
        system: 0,
    };
    let none = Pricing { rules: CacheRules::NONE, ..pricing };
    let simulated = simulate(&arms(), &late, &none);
    let stable = simulated.arms.iter().find(|own| own.arm == "stable").unwrap();
    assert_eq!((stable.cheaper_from_request, stable.relative_to_full.is_some_and(|own| own > 0.0)), (None, true));
}

#[test]
fn uncached_and_oversized_requests_are_reported() {
    let warned = |minimum, context| {
        let pricing = Pricing { rules: CacheRules::new(100, 1_250, minimum), context, ..Pricing::default() };
        let simulated = simulate(&arms(), &opening(vec![]), &pricing);
        simulated.arms.iter().find(|own| own.arm == "stable").unwrap().warnings.clone()
    };
    assert_eq!(warned(1_024, None), Vec::<String>::new());
    assert_eq!(warned(1_600, None), ["1 requests are not cached: the minimum length of a prefix is 1600 tokens"]);
    assert_eq!(warned(9_000, None), ["no request is cached: the minimum length of a prefix is 9000 tokens"]);
    assert_eq!(warned(0, Some(1_900)), ["the longest request has 1930 tokens, but the context window has 1900"]);
}

#[test]
fn invalid_scenarios_are_rejected() {
    for (text, because) in [
        ("requests = 0", "`requests` is 0"),
        ("requests = 99999", "`requests` is 99999"),
        ("step = 1000000000", "`step` is"),
        ("output = 5\nthinking = 6", "`thinking` is 6: must be 0 to 5"),
        ("[[expand]]\nbefore = 21", "`expand.before` is 21: must be 1 to 20"),
        ("[[expand]]\ncategory = 'a'", "`expand.before` is 0"),
        ("[[expand]]\nbefore = 2\ncount = 1\ncategory = 'a'", "more than one"),
        ("[[idle]]\nbefore = 0\nseconds = 9", "`idle.before` is 0"),
        ("request = 3", "line 1: unknown field `request`"),
        ("\n\nsystem = -1", "line 3"),
        ("[sizes]\ncore = 1\ncategories = [99999, 2]\ntool = 1\nstub = 1\nexpand_tools = 1", "`sizes.categories`"),
    ] {
        let why = Scenario::from_toml(text).unwrap_err().to_string();
        assert!(why.contains(because), "`{because}` is not in `{why}`");
    }
    let sized = Scenario::from_toml(
        "[sizes]\ncore = 1\ncategories = [2]\ntool = 1\nstub = 1\nexpand_tools = 1\n[[expand]]\nbefore = 1\ncategory = '2'",
    );
    assert_eq!(sized.unwrap().sized().unwrap_err().to_string(), "unknown category `2`");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(toolfold_testing::cases(256)))]

    /// Every token is billed once, and no arm with an unchanged array breaks the cache.
    #[test]
    fn every_token_is_billed_once(
        read in 0_u32..2_000, write in 500_u32..3_000, minimum in 0_usize..5_000, step in 0_usize..200,
        opens in prop::collection::vec((0_usize..5, 0_usize..5), 0..12), idle in 0_u64..900,
    ) {
        let mut rules = CacheRules::new(read, write, minimum);
        (rules.step, rules.lifetime) = (step, Some(300));
        let opening = |(kind, at): &(usize, usize)| match kind {
            0 => Opening::Average,
            1 => Opening::Count(*at),
            2 => Opening::Categories(vec![*at]),
            _ => Opening::Tools(vec![*at, at / 2]),
        };
        let one = |own| SessionStep { input: 150, output: 20, idle_seconds: idle, opens: vec![opening(own)], ..SessionStep::default() };
        let session = Session { system: 100, steps: opens.iter().map(one).collect() };
        for arm in arms() {
            let played = play(&arm, &session);
            let bill = bill_session(&rules, played.iter().map(|own| own.request));
            for (own, billed) in played.iter().zip(&bill.requests) {
                prop_assert_eq!(own.request.input(), billed.cached + billed.written + billed.uncached);
            }
            prop_assert!(arm.delivery == Delivery::InPlace || bill.breaks() == 0);
        }
    }
}
