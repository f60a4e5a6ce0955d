//! A check and a diff for people.

use crate::output::{BOLD, DIM, GOOD, grouped};
use crate::table::{cut_for_list, table};
use anstyle::{AnsiColor, Style};
use toolfold_measure::check::{CheckReport, Diff, Lock, ToolChange};

/// What is over its budget.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// The most rows of a list.
const MOST: usize = 30;
/// The most parts that are named of one tool.
const MOST_PARTS: usize = 3;

/// What a check found: the verdict last, where a terminal leaves the reader.
pub(super) fn check_text(report: &CheckReport) -> String {
    let mut out = String::new();
    for finding in report.findings.iter().take(MOST) {
        let place = report.place_of(finding).map(|place| match place.line {
            Some(line) => format!("{}:{line}", place.file),
            None => place.file.clone(),
        });
        let place = place.map(|place| format!("\n  {DIM}at{DIM:#}   {}", cut_for_list(&place))).unwrap_or_default();
        let (rule, message, help) = (finding.rule.name(), short_line(&finding.message), &finding.help);
        out.push_str(&format!("{BAD}{rule}{BAD:#}: {message}{place}\n  {DIM}help:{DIM:#} {}\n", short_line(help)));
    }
    if report.findings.len() > MOST {
        out.push_str(&format!("{DIM}… and {} more{DIM:#}\n", grouped(report.findings.len() - MOST)));
    }
    if let Some(diff) = report.diff.as_ref().filter(|diff| !diff.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&diff_text(diff));
    }
    let rules: Vec<String> =
        report.budgets.rules().into_iter().map(|(rule, budget)| format!("{} {budget}", rule.name())).collect();
    let style = if report.is_ok() { GOOD } else { BAD };
    out.push_str(&format!("{style}{}{style:#}\n", report.verdict()));
    out.push_str(&format!("{DIM}· tokens by {}; {}{DIM:#}\n", report.now.meter, rules.join("; ")));
    out
}

/// What changed between two locks.
pub(crate) fn diff(now: &Lock, diff: &Diff) -> String {
    let mut out = String::new();
    if !diff.is_empty() {
        out.push_str(&diff_text(diff));
    }
    out.push_str(&format!("{BOLD}{}{BOLD:#}\n{DIM}· tokens by {}{DIM:#}\n", diff.sentence(), now.meter));
    out
}

fn diff_text(diff: &Diff) -> String {
    let mut out = String::new();
    let tokens = |side: Option<usize>| side.map_or_else(|| "–".to_owned(), grouped);
    let arm = |own: &toolfold_measure::check::ArmChange| {
        let change = own.before.zip(own.after).map_or_else(String::new, |(before, after)| signed(before, after));
        let takes = own.takes.as_ref().map(|(old, new)| format!("took {old}, takes {new}"));
        [own.arm.clone(), tokens(own.before), tokens(own.after), change, takes.unwrap_or_default()]
    };
    let arms: Vec<[String; 5]> = diff.arms.iter().map(arm).collect();
    out.push_str(&table(["first turn", "before", "after", "change", ""], &arms));
    out.push('\n');
    if !diff.tools.is_empty() {
        let rows: Vec<[String; 6]> = diff.tools.iter().take(MOST).map(change_row).collect();
        out.push_str(&table(["tool", "", "before", "after", "change", "where"], &rows));
        if diff.tools.len() > MOST {
            out.push_str(&format!("{DIM}… and {} more{DIM:#}\n", grouped(diff.tools.len() - MOST)));
        }
        out.push('\n');
    }
    for note in diff.notes() {
        out.push_str(&format!("{note}\n"));
    }
    out
}

fn change_row(change: &ToolChange) -> [String; 6] {
    let side = |tokens: usize, there: bool| if there { grouped(tokens) } else { "–".to_owned() };
    let part = |part: &toolfold_measure::check::PartChange| {
        format!("{} {} -> {}", cut_for_list(&part.part), grouped(part.before), grouped(part.after))
    };
    let mut places: Vec<String> = change.parts.iter().take(MOST_PARTS).map(part).collect();
    if change.parts.len() > MOST_PARTS {
        places.push("…".to_owned());
    }
    if !change.pointers.is_empty() {
        let pointers: Vec<String> =
            change.pointers.iter().take(MOST_PARTS).map(|pointer| cut_for_list(pointer)).collect();
        places.push(format!("at {}", pointers.join(", ")));
    }
    let new = change.kind == toolfold_measure::check::ChangeKind::Added;
    let gone = change.kind == toolfold_measure::check::ChangeKind::Removed;
    [
        change.name.clone(),
        change.kind.name().to_owned(),
        side(change.before, !new),
        side(change.after, !gone),
        signed(change.before, change.after),
        places.join("; "),
    ]
}

fn signed(before: usize, after: usize) -> String {
    if after >= before { format!("+{}", grouped(after - before)) } else { format!("-{}", grouped(before - after)) }
}

/// A sentence on one line, whatever names are in it.
fn short_line(text: &str) -> String {
    toolfold::diagnostic::visible(text).replace('\n', " ")
}
