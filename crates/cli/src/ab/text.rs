//! The comparison for people at a terminal.

use super::super::output::{BOLD, DIM, grouped};
use super::super::table::table;
use toolfold_measure::ab::{Cell, Comparison, Estimate};

const HEADINGS: [&str; 17] = [
    "driver",
    "arm",
    "true",
    "right",
    "at once",
    "silent",
    "missed",
    "stray",
    "repaired",
    "shown",
    "expanded",
    "extra",
    "breaks",
    "first",
    "input",
    "right vs full",
    "input saved",
];

const NOTES: &str = "\
· right: ran with all arguments of the true call; at once: without an answer in between; silent: ran, valid and wrong
· missed: its tool never ran; stray: ran, and no true call asks for it; extra: requests that ran nothing
· first, input: tokens of the first array and of all requests, means a task, no caching; ± is a 95 % interval over tasks
· an oracle knows the true calls: it shows what the machinery costs and loses, not what a model does";

pub(super) fn text(comparison: &Comparison) -> String {
    let rows: Vec<[String; 17]> = comparison.cells.iter().map(row).collect();
    let mut out = table(HEADINGS, &rows);
    for cell in comparison.cells.iter().filter(|cell| cell.taken.len() > 1) {
        let taken: Vec<String> = cell.taken.iter().map(|(arm, rows)| format!("{arm} {rows}")).collect();
        out.push_str(&format!("{DIM}{} under {}: {}{DIM:#}\n", cell.arm, cell.driver, taken.join(", ")));
    }
    let failed: usize = comparison.cells.iter().map(|cell| cell.failed).sum();
    if failed > 0 {
        out.push_str(&format!("{BOLD}{failed} rows were not played to the end and are not counted{BOLD:#}\n"));
    }
    out.push('\n');
    for sentence in &comparison.sentences {
        out.push_str(&format!("{BOLD}{sentence}{BOLD:#}\n"));
    }
    out.push_str(&format!("\n{DIM}meter: {}\n{NOTES}{DIM:#}\n", comparison.meters.join(", ")));
    out
}

fn row(cell: &Cell) -> [String; 17] {
    let calls = &cell.calls;
    [
        cell.driver.clone(),
        cell.arm.clone(),
        grouped(calls.truths),
        grouped(calls.right),
        grouped(calls.at_once),
        grouped(calls.silent),
        grouped(calls.missed),
        grouped(calls.stray),
        grouped(calls.repaired),
        grouped(calls.shown),
        grouped(calls.expanded),
        grouped(cell.extra_requests),
        grouped(cell.breaks),
        grouped(cell.first),
        grouped(cell.input),
        cell.right_difference.map_or_else(|| "–".to_owned(), points),
        cell.input_saved.map_or_else(|| "–".to_owned(), share),
    ]
}

fn points(own: Estimate) -> String {
    let bar = own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{:.1}", bar * 100.0));
    format!("{:+.1} ± {bar} pt", own.value * 100.0)
}

fn share(own: Estimate) -> String {
    let bar = own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{:.1}", bar * 100.0));
    format!("{:.1} ± {bar} %", own.value * 100.0)
}
