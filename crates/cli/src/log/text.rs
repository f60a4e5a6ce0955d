//! The log's report as text for a terminal.

use super::super::output::{BOLD, DIM, GOOD, grouped, plural_count};
use super::super::table::{cut_for_list, table};
use super::tally::{ConversationSummary, Counts, LogReport, Total};

/// Maximum number of conversations that are listed; the rest are in the totals.
const MAX_LISTED: usize = 40;
/// Maximum number of activated skills that are named.
const MAX_NAMED: usize = 10;

/// The verdict, then the totals of every arm and variant, then the conversations.
pub(super) fn log_text(report: &LogReport) -> String {
    let mut out = log_verdict(report);
    if report.conversations.is_empty() {
        return out;
    }
    out.push_str(&format!("\n{BOLD}By arm and variant{BOLD:#}\n"));
    out.push_str(&table(TOTAL, &report.totals.iter().map(total).collect::<Vec<_>>()));
    for total in &report.totals {
        for (meter, tokens) in &total.counts.array_tokens {
            let arm = optional_name(total.arm.as_deref());
            let variant = total.variant.as_ref().map(|variant| format!(", variant {variant}")).unwrap_or_default();
            out.push_str(&format!(
                "{DIM}arrays of arm {arm}{variant}: {} tokens by {meter}{DIM:#}\n",
                grouped(*tokens)
            ));
        }
    }
    out.push_str(&activated(&report.sum()));
    out.push_str(&format!("\n{BOLD}Conversations{BOLD:#}\n"));
    let listed = report.conversations.iter().take(MAX_LISTED);
    out.push_str(&table(EACH, &listed.map(each).collect::<Vec<_>>()));
    let more = report.conversations.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        out.push_str(&format!("{DIM}… and {} more: --json has all of them{DIM:#}\n", grouped(more)));
    }
    out.push_str(&format!("\n{DIM}{NOTES}{DIM:#}\n"));
    out
}

/// The activated skills, the most frequent first.
fn activated(sum: &Counts) -> String {
    if sum.skills == 0 {
        return String::new();
    }
    let mut named: Vec<(&String, &usize)> = sum.activated.iter().collect();
    named.sort_by(|a, b| b.1.cmp(a.1));
    let mut names: Vec<String> = named
        .iter()
        .take(MAX_NAMED)
        .map(|(name, number)| format!("{} {}", cut_for_list(name), grouped(**number)))
        .collect();
    if named.len() > MAX_NAMED {
        names.push(format!("and {} more", grouped(named.len() - MAX_NAMED)));
    }
    let by_person = match sum.skills_by_person {
        0 => String::new(),
        number => format!("; {} started by a person", grouped(number)),
    };
    format!("{DIM}skills activated: {}{by_person}{DIM:#}\n", names.join(", "))
}

const NOTES: &str = "\
· expanded: calls of expand_tools; repaired: invalid arguments that were answered with an error
· shown: answered with hidden parameters, to be called again
· blind: ran before the model had seen the tool's full schema; failed: as reported by the host
· waiting: calls that wait for approval: toolfold approvals list";

fn log_verdict(report: &LogReport) -> String {
    let sum = report.sum();
    let mut parts = Vec::new();
    for (number, what) in [
        (sum.forwarded, "ran"),
        (sum.repairs, "repaired"),
        (sum.shown, "answered with hidden parameters"),
        (sum.unknown, "of unknown tools"),
        (sum.loops, "in circles"),
        (sum.refused, "refused"),
        (sum.failed, "failed at the host"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what} ({} %)", grouped(number), (number * 100 + sum.calls / 2) / sum.calls.max(1)));
        }
    }
    if sum.waiting > 0 {
        parts.push(format!("{} waiting for approval", grouped(sum.waiting)));
    }
    let word = match report.bad_lines {
        0 => format!("{GOOD}ok{GOOD:#}"),
        bad => format!("{BOLD}{}{BOLD:#};", plural_count(bad, "line cannot be read", "lines cannot be read")),
    };
    let conversations = plural_count(report.conversations.len(), "conversation", "conversations");
    let calls = plural_count(sum.calls, "call", "calls");
    let of_them = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{word} {conversations}, {calls}{of_them}\n")
}

const TOTAL: [&str; 14] = [
    "arm",
    "variant",
    "conversations",
    "calls",
    "expanded",
    "repaired",
    "shown",
    "unknown",
    "loops",
    "refused",
    "ran",
    "blind",
    "failed",
    "waiting",
];

fn total(total: &Total) -> [String; 14] {
    let [calls, expanded, repaired, shown, unknown, loops, refused, ran, blind, failed, waiting] =
        numbers(&total.counts);
    let (arm, variant) = (optional_name(total.arm.as_deref()), optional_name(total.variant.as_deref()));
    let conversations = grouped(total.conversations);
    [
        arm,
        variant,
        conversations,
        calls,
        expanded,
        repaired,
        shown,
        unknown,
        loops,
        refused,
        ran,
        blind,
        failed,
        waiting,
    ]
}

const EACH: [&str; 15] = [
    "conversation",
    "since",
    "arm",
    "variant",
    "calls",
    "expanded",
    "repaired",
    "shown",
    "unknown",
    "loops",
    "refused",
    "ran",
    "blind",
    "failed",
    "waiting",
];

fn each(summary: &ConversationSummary) -> [String; 15] {
    let [calls, expanded, repaired, shown, unknown, loops, refused, ran, blind, failed, waiting] =
        numbers(&summary.counts);
    let id = if summary.id.is_empty() { "–".to_owned() } else { cut_for_list(&summary.id) };
    let (arm, variant) = (optional_name(summary.arm.as_deref()), optional_name(summary.variant.as_deref()));
    let since = summary.first.clone();
    [id, since, arm, variant, calls, expanded, repaired, shown, unknown, loops, refused, ran, blind, failed, waiting]
}

fn numbers(counts: &Counts) -> [String; 11] {
    [
        counts.calls,
        counts.expansions,
        counts.repairs,
        counts.shown,
        counts.unknown,
        counts.loops,
        counts.refused,
        counts.forwarded,
        counts.blind,
        counts.failed,
        counts.waiting,
    ]
    .map(grouped)
}

fn optional_name(text: Option<&str>) -> String {
    text.map_or_else(|| "–".to_owned(), cut_for_list)
}
