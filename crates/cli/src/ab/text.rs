//! The comparison for people at a terminal.

use super::super::output::{BOLD, DIM, grouped, plural_count};
use super::super::table::{WIDTH, cut_for_list, note_lines, table_in_blocks, wrapped};
use toolfold_measure::ab::{Cell, Comparison, Estimate, Experiment};

const HEADINGS: [&str; 19] = [
    "driver",
    "arm",
    "tasks",
    "tasks vs full",
    "first",
    "input",
    "input saved",
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
];

const NOTES: [&str; 5] = [
    "tasks: all true calls are right, and no other call may have written",
    "right: ran with all arguments of the true call; at once: by the first call of its tool; silent: ran, valid and wrong",
    "missed: its tool never ran (wrong sibling: another one did); stray: ran, and no true call asks for it; extra: \
     requests that ran nothing",
    "first, input: tokens of the first array and of all requests, means a task, no caching; ± is a 95 % interval over \
     tasks",
    "an oracle knows the true calls: it shows what toolfold costs and loses, not what a model does",
];

pub(super) fn comparison_text(comparison: &Comparison) -> String {
    let rows: Vec<[String; 19]> = comparison.cells.iter().map(cell_row).collect();
    let mut out = table_in_blocks(2, HEADINGS, &rows);
    for cell in &comparison.cells {
        if cell.taken.len() > 1 {
            let taken: Vec<String> = cell.taken.iter().map(|(arm, rows)| format!("{arm} {rows}")).collect();
            out.push_str(&format!("{DIM}{} under {}: {}{DIM:#}\n", cell.arm, cell.driver, taken.join(", ")));
        }
    }
    let failed: usize = comparison.cells.iter().map(|cell| cell.failed).sum();
    if failed > 0 {
        let rows = plural_count(failed, "row was not completed and is", "rows were not completed and are");
        out.push_str(&format!("{BOLD}{rows} not counted{BOLD:#}\n"));
    }
    out.push('\n');
    add_text(&mut out, &comparison.sentences, &comparison.meters.join(", "), &NOTES);
    out
}

fn cell_row(cell: &Cell) -> [String; 19] {
    let calls = &cell.calls;
    [
        cell.driver.clone(),
        cell.arm.clone(),
        share(cell.task_share),
        cell.task_difference.map_or_else(|| "–".to_owned(), points),
        grouped(cell.first),
        grouped(cell.input),
        cell.input_saved.map_or_else(|| "–".to_owned(), share),
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

const LIVE_NOTES: [&str; 2] = [
    "shares of the calls (blind and failed: of those that ran) with 95 % intervals over conversations",
    "array: tokens of a tool array as counted by the host; a call that is valid, ran, and was wrong is not detected",
];

/// Sentences, and then the meter and the notes.
fn add_text(out: &mut String, sentences: &[String], meter: &str, about: &[&str]) {
    for sentence in sentences {
        for line in wrapped(sentence, WIDTH) {
            out.push_str(&format!("{BOLD}{line}{BOLD:#}\n"));
        }
    }
    let meter = Some(format!("meter: {meter}")).filter(|_| !meter.is_empty());
    let notes: String = meter.iter().map(String::as_str).chain(about.iter().copied()).map(note_lines).collect();
    out.push_str(&format!("\n{DIM}{}{DIM:#}\n", notes.trim_end()));
}

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
    let mut out = table_in_blocks(1, LIVE, &rows);
    out.push('\n');
    let sentences: Vec<String> = found.sentences.iter().map(|sentence| cut_for_list(sentence)).collect();
    add_text(&mut out, &sentences, &cut_for_list(found.meter.as_deref().unwrap_or_default()), &LIVE_NOTES);
    out
}

fn estimate_text(own: Estimate) -> String {
    let bar = own.bar.map_or_else(|| "?".to_owned(), |bar| format!("{bar:.1}"));
    format!("{:.1} ± {bar}", own.value)
}
