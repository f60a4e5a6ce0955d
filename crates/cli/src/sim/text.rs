//! A simulation as text: the verdict, a table, notes.

use super::super::output::{BOLD, DIM, grouped};
use super::super::table::{WIDTH, note_lines, table_in_blocks, wrapped};
use super::model::Report;
use toolfold_measure::sim::ArmCost;

fn arm_cost(arm: &ArmCost) -> f64 {
    arm.usd.unwrap_or(arm.input_cost_tokens as f64)
}

/// The cheapest arm.
pub(super) fn cheapest(arms: &[ArmCost]) -> Option<&ArmCost> {
    let named = arms.iter().filter(|arm| arm.chosen.is_none());
    named.min_by(|one, other| arm_cost(one).total_cmp(&arm_cost(other)))
}

/// What to do, in one line, with the number of look-ups up to which it holds.
pub(super) fn sim_verdict(arms: &[ArmCost], break_even: Option<usize>, requests: usize, model: Option<&str>) -> String {
    let over = format!("over {requests} requests on {}", model.unwrap_or("an unnamed model"));
    let (Some(full), Some(best)) = (arms.iter().find(|arm| arm.arm == "full"), cheapest(arms)) else {
        return format!("nothing was simulated {over}");
    };
    let of = match (best.usd, full.usd) {
        (Some(best), Some(full)) => format!("{} of {}", dollars(best), dollars(full)),
        _ => {
            format!("input worth {} of {} tokens", grouped64(best.input_cost_tokens), grouped64(full.input_cost_tokens))
        }
    };
    match best.relative_to_full {
        Some(share) if share < 0.0 => {
            let pays = break_even.map_or_else(
                || "with any number of look-ups".to_owned(),
                |lookups| format!("up to {} look-ups", grouped(lookups)),
            );
            let less = share_of(-share);
            format!("`{}` costs least: {less} less than `full` {over} ({of}), and pays {pays}", best.arm)
        }
        _ => format!("keep `full`: no arm costs less {over} ({of})"),
    }
}

pub(super) fn sim_text(report: &Report) -> String {
    let priced = report.price.is_some();
    let headings = [
        "arm",
        if priced { "cost" } else { "input cost" },
        "vs full",
        "first turn",
        "breaks",
        "requests",
        "cheaper from",
        "cached",
        "written",
        "uncached",
        "output",
    ];
    let rows: Vec<[String; 11]> = report.arms.iter().map(arm_row).collect();
    let mut out = String::new();
    for line in wrapped(&report.verdict, WIDTH) {
        out.push_str(&format!("{BOLD}{line}{BOLD:#}\n"));
    }
    out.push_str(&format!("\n{}\n", table_in_blocks(1, headings, &rows)));
    for note in notes(report) {
        out.push_str(&format!("{DIM}{}{DIM:#}\n", note_lines(&note).trim_end()));
    }
    out
}

fn arm_row(arm: &ArmCost) -> [String; 11] {
    let from = match arm.cheaper_from_request {
        Some(at) => format!("request {at}"),
        None if arm.arm == "full" => "-".to_owned(),
        None => "never".to_owned(),
    };
    let share = arm.relative_to_full.filter(|_| arm.arm != "full").map_or_else(
        || "-".to_owned(),
        |share| format!("{}{}", if share < 0.0 { "-" } else { "+" }, share_of(share.abs())),
    );
    [
        match &arm.chosen {
            Some(chosen) => format!("{} ({chosen})", arm.arm),
            None => arm.arm.clone(),
        },
        arm.usd.map_or_else(|| grouped64(arm.input_cost_tokens), dollars),
        share,
        grouped(arm.first_turn_tokens),
        arm.cache_breaks.to_string(),
        arm.requests.to_string(),
        from,
        grouped(arm.cached_tokens),
        grouped(arm.written_tokens),
        grouped(arm.uncached_tokens),
        grouped(arm.output_tokens),
    ]
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(auto) = report.arms.iter().find(|arm| arm.chosen.is_some()) {
        notes.push(format!(
            "{} takes {}: {}",
            auto.arm,
            auto.chosen.as_deref().unwrap_or_default(),
            auto.reason.as_deref().unwrap_or_default()
        ));
    }
    let cache = &report.cache;
    let lifetime = cache.lifetime_seconds.map(|seconds| format!(", for {seconds} s")).unwrap_or_default();
    let rules = format!(
        "cache reads at {} and writes at {} thousandths of the price of input, from {} tokens{lifetime}",
        cache.read,
        cache.write,
        grouped(cache.minimum)
    );
    notes.push(match &report.price {
        Some(price) => format!(
            "prices per million tokens: input ${}, output ${} ({}, {}); {rules}",
            price.input, price.output, price.source, price.date
        ),
        None => format!("input cost: tokens at the price of input, without output; {rules}"),
    });
    match &report.meter {
        Some(meter) => {
            notes.push(format!("tokens counted with {meter}; requests that only expand are among the requests"));
        }
        None => notes.push("sizes come from the scenario".to_owned()),
    }
    notes.extend(report.notes.iter().cloned());
    for arm in report.arms.iter().filter(|arm| !arm.warnings.is_empty()) {
        notes.push(format!("{}: {}", arm.arm, arm.warnings.join("; ")));
    }
    notes.extend(report.unavailable.iter().map(|(arm, why)| format!("{arm} is not available: {why}")));
    notes.push(
        "this is cost only: `toolfold ab` measures whether a model still calls tools correctly in an arm".to_owned(),
    );
    notes
}

fn dollars(usd: f64) -> String {
    format!("${usd:.4}")
}

fn share_of(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn grouped64(tokens: u64) -> String {
    grouped(usize::try_from(tokens).unwrap_or(usize::MAX))
}
