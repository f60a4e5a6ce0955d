//! The comparison for people at a terminal.

use super::super::output::{BOLD, DIM, grouped};
use super::super::table::{cut_for_list, table};
use toolfold_measure::ab::{Cell, Comparison, Estimate, Experiment};

const HEADINGS: [&str; 19] = [
    "driver",
    "arm",
    "tasks",
    "true",
    "right",
    "at once",
    "silent",
    "missed",
    "wrong sibling",
    "stray",
    "repaired",
    "shown",
    "expanded",
    "extra",
    "breaks",
    "first",
    "input",
    "tasks vs full",
    "input saved",
];

const NOTES: &str = "\
· tasks: all true calls are right, and no other call may have written
· right: ran with all arguments of the true call; at once: by the first call of its tool; silent: ran, valid and wrong
· missed: its tool never ran (wrong sibling: another one did); stray: ran, and no true call asks for it; extra: requests
  that ran nothing
· first, input: tokens of the first array and of all requests, means a task, no caching; ± is a 95 % interval over tasks
· an oracle knows the true calls: it shows what toolfold costs and loses, not what a model does";

pub(super) fn comparison_text(comparison: &Comparison) -> String {
    let rows: Vec<[String; 19]> = comparison.cells.iter().map(cell_row).collect();
    let mut out = table(HEADINGS, &rows);
    for cell in &comparison.cells {
        if cell.taken.len() > 1 {
            let taken: Vec<String> = cell.taken.iter().map(|(arm, rows)| format!("{arm} {rows}")).collect();
            out.push_str(&format!("{DIM}{} under {}: {}{DIM:#}\n", cell.arm, cell.driver, taken.join(", ")));
        }
    }
    let failed: usize = comparison.cells.iter().map(|cell| cell.failed).sum();
    if failed > 0 {
        out.push_str(&format!("{BOLD}{failed} rows were not completed and are not counted{BOLD:#}\n"));
    }
    out.push('\n');
    for sentence in &comparison.sentences {
        out.push_str(&format!("{BOLD}{sentence}{BOLD:#}\n"));
    }
    out.push_str(&format!("\n{DIM}meter: {}\n{NOTES}{DIM:#}\n", comparison.meters.join(", ")));
    out
}

fn cell_row(cell: &Cell) -> [String; 19] {
    let calls = &cell.calls;
    [
        cell.driver.clone(),
        cell.arm.clone(),
        share(cell.task_share),
        grouped(calls.truths),
        grouped(calls.right),
        grouped(calls.at_once),
        grouped(calls.silent),
        grouped(calls.missed),
        grouped(calls.siblings),
        grouped(calls.stray),
        grouped(calls.repaired),
        grouped(calls.shown),
        grouped(calls.expanded),
        grouped(cell.extra_requests),
        grouped(cell.breaks),
        grouped(cell.first),
        grouped(cell.input),
        cell.task_difference.map_or_else(|| "–".to_owned(), points),
        cell.input_saved.map_or_else(|| "–".to_owned(), share),
    ]
}

fn points(own: Estimate) -> String {
    format!("{:+.1} ± {} pt", own.value * 100.0, percent_bar(own))
}

fn share(own: Estimate) -> String {
    format!("{:.1} ± {} %", own.value * 100.0, percent_bar(own))
}

fn percent_bar(own: Estimate) -> String {
    own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{:.1}", bar * 100.0))
}

const LIVE: [&str; 12] = [
    "variant",
    "arms",
    "conversations",
    "calls",
    "a conversation",
    "expanded",
    "repaired",
    "shown",
    "refused",
    "blind",
    "failed",
    "array",
];

const LIVE_NOTES: &str = "\
· shares of the calls (blind and failed: of those that ran) with 95 % intervals over conversations
· array: tokens of a tool array as counted by the host; a call that is valid, ran, and was wrong is not detected";

/// A figure as text; a dash if there is none.
fn or_dash<T: Copy>(figure: Option<&T>, text: fn(T) -> String) -> String {
    figure.map_or_else(|| "–".to_owned(), |figure| text(*figure))
}

pub(super) fn live(found: &Experiment) -> String {
    let mut rows = Vec::new();
    for own in &found.variants {
        let arms: Vec<String> = own.arms.iter().map(|arm| cut_for_list(arm)).collect();
        rows.push([
            if own.variant.is_empty() { "–".to_owned() } else { cut_for_list(&own.variant) },
            arms.join(", "),
            grouped(own.conversations),
            grouped(own.calls),
            or_dash(own.means.get("calls"), estimate_text),
            or_dash(own.means.get("expanded"), estimate_text),
            or_dash(own.shares.get("repaired"), share),
            or_dash(own.shares.get("shown"), share),
            or_dash(own.shares.get("refused"), share),
            or_dash(own.shares.get("blind"), share),
            or_dash(own.shares.get("failed"), share),
            or_dash(own.array.as_ref(), estimate_text),
        ]);
    }
    let mut out = table(LIVE, &rows);
    out.push('\n');
    for sentence in &found.sentences {
        out.push_str(&format!("{BOLD}{}{BOLD:#}\n", cut_for_list(sentence)));
    }
    if let Some(meter) = &found.meter {
        out.push_str(&format!("\n{DIM}meter: {}{DIM:#}", cut_for_list(meter)));
    }
    out.push_str(&format!("\n{DIM}{LIVE_NOTES}{DIM:#}\n"));
    out
}

fn estimate_text(own: Estimate) -> String {
    let bar = own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{bar:.1}"));
    format!("{:.1} ± {bar}", own.value)
}
