//! A check and a diff as text.

use crate::output::{BOLD, DIM, GOOD, grouped};
use crate::table::{cut_for_list, table};
use anstyle::{AnsiColor, Style};
use toolfold_measure::check::{ArmChange, ChangeKind, CheckReport, Diff, Lock, ToolChange};

/// Over budget.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// Maximum number of rows of a list.
const MOST: usize = 30;
/// Maximum number of parts shown for one tool.
const MOST_PARTS: usize = 3;

/// The result of a check. The verdict is last, next to the prompt.
pub(super) fn check_text(report: &CheckReport) -> String {
    let mut out = String::new();
    for finding in report.findings.iter().take(MOST) {
        let mut place = String::new();
        if let Some(found) = report.place_of(finding) {
            let at = match found.line {
                Some(line) => format!("{}:{line}", found.file),
                None => found.file.clone(),
            };
            place = format!("\n  {DIM}at{DIM:#}   {}", cut_for_list(&at));
        }
        let (rule, message, help) = (finding.rule.name(), short_line(&finding.message), &finding.help);
        out.push_str(&format!("{BAD}{rule}{BAD:#}: {message}{place}\n  {DIM}help:{DIM:#} {}\n", short_line(help)));
    }
    if report.findings.len() > MOST {
        out.push_str(&format!("{DIM}… and {} more{DIM:#}\n", grouped(report.findings.len() - MOST)));
    }
    if let Some(diff) = &report.diff
        && !diff.is_empty()
    {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&diff_text(diff));
    }
    let mut rules = Vec::new();
    for (rule, budget) in report.budgets.rules() {
        rules.push(format!("{} {budget}", rule.name()));
    }
    let style = if report.is_ok() { GOOD } else { BAD };
    out.push_str(&format!("{style}{}{style:#}\n", report.verdict()));
    out.push_str(&format!("{DIM}· tokens by {}; {}{DIM:#}\n", report.now.meter, rules.join("; ")));
    out
}

pub(crate) fn diff(now: &Lock, diff: &Diff) -> String {
    let mut out = String::new();
    if !diff.is_empty() {
        out.push_str(&diff_text(diff));
    }
    out.push_str(&format!("{BOLD}{}{BOLD:#}\n{DIM}· tokens by {}{DIM:#}\n", diff.sentence(), now.meter));
    out
}

fn diff_text(diff: &Diff) -> String {
    let mut out: String =
        diff.arms.iter().filter_map(ArmChange::flip).map(|flip| format!("{BOLD}{flip}{BOLD:#}\n")).collect();
    let arms: Vec<[String; 4]> = diff.arms.iter().map(arm_row).collect();
    out.push_str(&table(["first turn", "before", "after", "change"], &arms));
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

/// The tokens on one side of a change; a dash if there are none.
fn tokens(side: Option<usize>) -> String {
    side.map_or_else(|| "–".to_owned(), grouped)
}

fn arm_row(own: &ArmChange) -> [String; 4] {
    let change = match (own.before, own.after) {
        (Some(before), Some(after)) => signed(before, after),
        _ => String::new(),
    };
    [own.arm.clone(), tokens(own.before), tokens(own.after), change]
}

fn change_row(change: &ToolChange) -> [String; 6] {
    let mut places = Vec::new();
    for part in change.parts.iter().take(MOST_PARTS) {
        places.push(format!("{} {} -> {}", cut_for_list(&part.part), grouped(part.before), grouped(part.after)));
    }
    if change.parts.len() > MOST_PARTS {
        places.push("…".to_owned());
    }
    if !change.pointers.is_empty() {
        let pointers = change.pointers.iter().take(MOST_PARTS);
        let pointers: Vec<String> = pointers.map(|pointer| cut_for_list(pointer)).collect();
        places.push(format!("at {}", pointers.join(", ")));
    }
    [
        change.name.clone(),
        change.kind.name().to_owned(),
        tokens(Some(change.before).filter(|_| change.kind != ChangeKind::Added)),
        tokens(Some(change.after).filter(|_| change.kind != ChangeKind::Removed)),
        signed(change.before, change.after),
        places.join("; "),
    ]
}

fn signed(before: usize, after: usize) -> String {
    if after >= before { format!("+{}", grouped(after - before)) } else { format!("-{}", grouped(before - after)) }
}

/// A sentence on one line, regardless of the names in it.
fn short_line(text: &str) -> String {
    toolfold::diagnostic::visible(text).replace('\n', " ")
}
