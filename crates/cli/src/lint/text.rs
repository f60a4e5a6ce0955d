//! Findings as text for a terminal.

use super::super::output::{BAD, BOLD, CARE, DIM, GOOD, grouped};
use super::super::table::table;
use toolfold::diagnostic::{Severity, visible};
use toolfold_measure::lint::{Finding, Group, Lint, RULES, counted};

pub(super) fn lint_text(lint: &Lint) -> String {
    let mut out = String::new();
    for group in lint.findings.chunk_by(|a, b| a.tool == b.tool) {
        let name = group.first().and_then(|one| one.tool.as_deref()).unwrap_or("the list");
        out.push_str(&format!("{BOLD}{}{BOLD:#}\n", visible(name)));
        for one in group {
            finding(&mut out, one);
        }
        out.push('\n');
    }
    out.push_str(&lint_verdict(lint));
    out
}

fn finding(out: &mut String, one: &Finding) {
    let severity = one.severity;
    let style = match severity {
        Severity::Error => BAD,
        Severity::Warning => CARE,
        Severity::Note => DIM,
    };
    let cost = match (one.costs, one.saves) {
        (_, Some(saves)) if saves > 0 => format!(" {GOOD}saves {}{GOOD:#}", grouped(saves)),
        (Some(costs), _) => format!(" {DIM}costs {}{DIM:#}", grouped(costs)),
        _ => String::new(),
    };
    let fixable = if one.fixable { format!(" {DIM}[--fix]{DIM:#}") } else { String::new() };
    out.push_str(&format!("  {style}{severity}[{}]{style:#}: {}{cost}{fixable}\n", one.rule, one.reason));
    let place = if one.pointer.is_empty() { String::new() } else { format!("{}: ", visible(&one.pointer)) };
    out.push_str(&format!("    {DIM}{place}{}{DIM:#}\n", one.fix));
}

/// The number of findings, and what fixing all of them would save.
fn lint_verdict(lint: &Lint) -> String {
    let total = lint.total;
    let parts = [(total.errors, Severity::Error), (total.warnings, Severity::Warning), (total.notes, Severity::Note)];
    let said: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, severity)| counted(*n, *severity)).collect();
    if said.is_empty() {
        return format!(
            "{GOOD}no findings{GOOD:#} in {} tools, {} tokens by {}\n",
            grouped(lint.tools),
            grouped(lint.tokens),
            lint.meter
        );
    }
    let mut out = format!("{BOLD}{}{BOLD:#}", said.join(", "));
    let all = grouped(lint.tokens);
    match (lint.saves, lint.fix_saves) {
        (0, _) => out.push_str(&format!("; {all} tokens by {}\n", lint.meter)),
        (saves, fix) => {
            let how = if fix > 0 { format!(", --fix {} of them", grouped(fix)) } else { String::new() };
            let saves = grouped(saves);
            out.push_str(&format!("; fixing all would save {saves} of {all} tokens{how} ({})\n", lint.meter));
        }
    }
    out
}

pub(super) fn rules() -> String {
    let mut out = String::new();
    let mut group: Option<Group> = None;
    for rules in RULES.chunk_by(|a, b| a.group == b.group) {
        if let Some(first) = rules.first().filter(|first| group != Some(first.group)) {
            group = Some(first.group);
            out.push_str(&format!("{BOLD}{}{BOLD:#}\n", first.group.title()));
        }
        let rows: Vec<[String; 4]> = rules
            .iter()
            .map(|rule| {
                let fix = if rule.fixable { "--fix" } else { "" };
                [rule.id.to_owned(), rule.severity.to_string(), fix.to_owned(), rule.finds.to_owned()]
            })
            .collect();
        out.push_str(&table(["rule", "severity", "", "finds"], &rows));
        out.push('\n');
    }
    out
}

pub(super) fn fixed(tool: &str, rule: &str, reason: &str) -> String {
    format!("{GOOD}fixed{GOOD:#} {}: [{rule}] {reason}", visible(tool))
}
