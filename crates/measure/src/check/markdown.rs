//! A check and a diff as Markdown, for a pull request comment.

use super::diff::{ArmChange, Diff, ToolChange};
use super::form::CheckReport;
use super::lock::Lock;
use crate::figures::grouped;

/// The maximum number of table rows: a comment holds 65,536 characters.
const MOST_ROWS: usize = 100;

/// The result of a check.
#[must_use]
pub fn check_markdown(report: &CheckReport) -> String {
    let mark = if report.is_ok() { "✅" } else { "❌" };
    let mut out = format!("### {mark} toolfold check\n\n{}\n", sentence_markdown(&report.verdict()));
    if !report.findings.is_empty() {
        out.push_str("\n| budget | problem | before | after | fix |\n|---|---|---:|---:|---|\n");
        for finding in report.findings.iter().take(MOST_ROWS) {
            let before = finding.before.map_or_else(|| "–".to_owned(), grouped);
            out.push_str(&format!(
                "| `{}` | {} | {before} | {} | {} |\n",
                finding.rule.name(),
                sentence_markdown(&finding.message),
                grouped(finding.after),
                sentence_markdown(&finding.help)
            ));
        }
        out.push_str(&more(report.findings.len()));
    }
    if let Some(diff) = &report.diff {
        out.push('\n');
        write_diff(&mut out, diff);
    }
    out.push_str(&format!("\n<sub>{}</sub>\n", made_from(&report.now)));
    out
}

/// The differences between two locks.
#[must_use]
pub fn diff_markdown(now: &Lock, diff: &Diff) -> String {
    let mut out = format!("### toolfold diff\n\n{}\n\n", sentence_markdown(&diff.sentence()));
    write_diff(&mut out, diff);
    out.push_str(&format!("\n<sub>{}</sub>\n", made_from(now)));
    out
}

fn write_diff(out: &mut String, diff: &Diff) {
    for flip in diff.arms.iter().filter_map(ArmChange::flip) {
        out.push_str(&format!("**{}**\n\n", sentence_markdown(&flip)));
    }
    out.push_str("| first turn | before | after | change |\n|---|---:|---:|---:|\n");
    for ArmChange { arm, before, after, .. } in &diff.arms {
        let change = match (before, after) {
            (Some(before), Some(after)) => signed(*before, *after),
            _ => String::new(),
        };
        let [before, after] = [before, after].map(|side| side.map_or_else(|| "–".to_owned(), grouped));
        out.push_str(&format!("| {} | {before} | {after} | {change} |\n", code(arm)));
    }
    if !diff.tools.is_empty() {
        let tools = diff.tools.len();
        out.push_str(&format!(
            "\n<details><summary>{} changed {}</summary>\n\n| tool | | before | after | change | where |\n|---|---|---:|---:|---:|---|\n",
            grouped(tools),
            if tools == 1 { "tool" } else { "tools" }
        ));
        for change in diff.tools.iter().take(MOST_ROWS) {
            let (before, after) = (grouped(change.before), grouped(change.after));
            let (kind, by) = (change.kind.name(), signed(change.before, change.after));
            out.push_str(&format!(
                "| {} | {kind} | {before} | {after} | {by} | {} |\n",
                code(&change.name),
                places(change)
            ));
        }
        out.push_str(&more(tools));
        out.push_str("\n</details>\n");
    }
    for note in diff.notes() {
        out.push_str(&format!("\n{note}\n"));
    }
}

fn more(rows: usize) -> String {
    match rows.checked_sub(MOST_ROWS) {
        None | Some(0) => String::new(),
        Some(more) => format!("| … | and {} more | | | |\n", grouped(more)),
    }
}

fn places(change: &ToolChange) -> String {
    let mut all = Vec::new();
    for part in change.parts.iter().take(3) {
        all.push(format!("{} {} → {}", code(&part.part), grouped(part.before), grouped(part.after)));
    }
    if change.parts.len() > 3 {
        all.push("…".to_owned());
    }
    if all.is_empty() {
        all = change.pointers.iter().take(3).map(|pointer| code(pointer)).collect();
    }
    all.join(", ")
}

fn made_from(lock: &Lock) -> String {
    format!("Tokens by {}, marginal cost of each full tool; profile {}.", code(&lock.meter), code(&lock.profile.name))
}

pub(super) fn signed(before: usize, after: usize) -> String {
    if after >= before { format!("+{}", grouped(after - before)) } else { format!("−{}", grouped(before - after)) }
}

/// A name as code. Plain names are in backticks; other untrusted text is escaped.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-./:~".contains(c)) {
        return format!("<code>{}</code>", escaped(text));
    }
    format!("`{text}`")
}

/// A generated sentence with untrusted names in backticks.
fn sentence_markdown(sentence: &str) -> String {
    let mut out = String::new();
    for (at, part) in sentence.split('`').enumerate() {
        out.push_str(&if at % 2 == 1 { code(part) } else { escaped(part) });
    }
    out
}

/// Escapes text so that nothing in it is markup, a mention or the end of a cell: such punctuation
/// is written as numeric references, which Markdown never reads as markup.
fn escaped(text: &str) -> String {
    let text = toolfold::diagnostic::visible(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            ' ' | '.' | ',' | ';' | ':' | '-' | '+' | '%' | '/' | '(' | ')' => out.push(c),
            c if c.is_ascii_punctuation() => out.push_str(&format!("&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
