//! The result of `why` as text for a terminal.

use super::super::output::{BOLD, DIM, GOOD, grouped};
use super::super::table::{cut_for_list, table};
use toolfold::diagnostic::visible;
use toolfold_measure::parts::{Part, PartKind};
use toolfold_measure::why::{DetailCost, Guess, Hidden, Why};

/// Divisor of the share of the tool below which parts are only counted.
const LEAST_SHARE: usize = 50;

/// Maximum number of parameters listed for a detail.
const MOST_GUESSES: usize = 12;

pub(super) fn why_text(why: &Why) -> String {
    let mut out = why_head(why);
    parts(&mut out, why);
    details(&mut out, why);
    guesses(&mut out, why);
    out
}

fn why_head(why: &Why) -> String {
    let place = match (&why.tier, &why.category) {
        (Some(tier), Some(category)) if tier != category => format!(", {tier}, in {}", visible(category)),
        (Some(tier), _) => format!(", {tier}"),
        _ => String::new(),
    };
    let (name, tokens) = (visible(&why.tool), grouped(why.tokens));
    format!("{BOLD}{name}{BOLD:#}: {tokens} tokens by {}{place}\n", why.meter)
}

fn parts(out: &mut String, why: &Why) {
    let mut rows = Vec::new();
    for part in &why.parts {
        push_part(&mut rows, part, why.tokens, 0);
    }
    out.push_str(&format!("\n{BOLD}Parts{BOLD:#}, each as the tool with it minus the tool without it\n"));
    let all = rows.len();
    rows.retain(|(tokens, _)| tokens * LEAST_SHARE >= why.tokens);
    let more = all - rows.len();
    let mut rows: Vec<[String; 3]> = rows.into_iter().map(|(_, row)| row).collect();
    for own in &why.not_billed {
        rows.push([visible(&own.name).into_owned(), "not billed".to_owned(), format!("{} bytes", grouped(own.bytes))]);
    }
    out.push_str(&indented(&table(["part", "tokens", "share"], &rows)));
    if more > 0 {
        out.push_str(&format!("{DIM}  and {} smaller ones: --json has all{DIM:#}\n", grouped(more)));
    }
}

fn push_part(rows: &mut Vec<(usize, [String; 3])>, part: &Part, all: usize, depth: usize) {
    let name = match part.kind {
        PartKind::Name => "name and frame".to_owned(),
        PartKind::Parameter => format!("`{}`", cut_for_list(&part.name)),
        _ => cut_for_list(&part.name),
    };
    let share = (part.tokens * 100 + all / 2).checked_div(all).unwrap_or_default();
    let cells = [format!("{}{name}", "  ".repeat(depth)), grouped(part.tokens), format!("{share} %")];
    rows.push((part.tokens, cells));
    for inner in &part.parts {
        push_part(rows, inner, all, depth + 1);
    }
}

fn details(out: &mut String, why: &Why) {
    let full = why.tokens;
    out.push_str(&format!("\n{BOLD}Details{BOLD:#}\n"));
    let rows: Vec<[String; 5]> = why.details.iter().map(|detail| detail_row(detail, full)).collect();
    out.push_str(&indented(&table(["detail", "tokens", "saved", "what it hides", "in words"], &rows)));
}

fn detail_row(detail: &DetailCost, full: usize) -> [String; 5] {
    let saved = full.saturating_sub(detail.tokens);
    let saved = match (saved * 100 + full / 2).checked_div(full).unwrap_or_default() {
        _ if detail.detail == "full" => "-".to_owned(),
        percent => format!("{percent} %"),
    };
    let name = match detail.shown_as == detail.detail {
        true => detail.detail.to_owned(),
        false => format!("{} (as {})", detail.detail, detail.shown_as),
    };
    let hides = match summed(&detail.guesses) {
        hides if hides.is_empty() => "nothing".to_owned(),
        hides => hides,
    };
    let said = if detail.detail == "full" { String::new() } else { cut_for_list(&detail.description) };
    [name, grouped(detail.tokens), saved, hides, said]
}

/// A summary of what is dropped: `2 names, 1 enum, 5 descriptions`.
fn summed(guesses: &[Guess]) -> String {
    let kinds = [Hidden::Name, Hidden::Enum, Hidden::Format, Hidden::Default, Hidden::Shape, Hidden::Description];
    let mut parts = Vec::new();
    for kind in kinds {
        let count = guesses.iter().filter(|guess| guess.hides.contains(&kind)).count();
        if count > 0 {
            parts.push(format!("{count} {}{}", kind.name(), if count == 1 { "" } else { "s" }));
        }
    }
    parts.join(", ")
}

fn guesses(out: &mut String, why: &Why) {
    for detail in why.details.iter().filter(|detail| detail.shown_as == detail.detail) {
        // Every detail drops descriptions; only what can make a call fail is listed.
        let guesses = detail.guesses.iter();
        let risky = guesses.filter(|guess| guess.hides.iter().any(|hidden| *hidden != Hidden::Description));
        let (unnamed, risky): (Vec<&Guess>, Vec<&Guess>) = risky.partition(|guess| guess.hides == [Hidden::Name]);
        if unnamed.is_empty() && risky.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{BOLD}As {}{BOLD:#} a model guesses\n", detail.detail));
        if !unnamed.is_empty() {
            out.push_str(&format!("  that there {}\n", parameter_list(&unnamed)));
        }
        for guess in risky.iter().take(MOST_GUESSES) {
            out.push_str(&format!("  {}\n", guessed(guess)));
        }
        if risky.len() > MOST_GUESSES {
            let more = grouped(risky.len() - MOST_GUESSES);
            out.push_str(&format!("{DIM}  and of {more} more: --json has all{DIM:#}\n"));
        }
    }
    if why.details.iter().any(|detail| detail.guesses.iter().any(|guess| guess.hides.contains(&Hidden::Name))) {
        out.push_str(&format!(
            "{DIM}· hidden names are shown once before the first call runs (docs/profiles.md){DIM:#}\n"
        ));
    }
}

fn guessed(guess: &Guess) -> String {
    let name = visible(&guess.parameter);
    let needed = if guess.required { ", required" } else { "" };
    let mut hidden = Vec::new();
    for own in &guess.hides {
        if *own != Hidden::Description {
            hidden.push(own.name());
        }
    }
    let hint = match &guess.hint {
        Some(hint) => format!("; kept: {GOOD}{}{GOOD:#}", cut_for_list(hint)),
        None => String::new(),
    };
    format!("`{name}`{needed}: its {}{hint}", hidden.join(", its "))
}

/// Parameters that a detail omits: `is `a``, `are `a` (required), `b` and 3 more`.
fn parameter_list(unnamed: &[&Guess]) -> String {
    let name =
        |guess: &&Guess| format!("`{}`{}", visible(&guess.parameter), if guess.required { " (required)" } else { "" });
    let names: Vec<String> = unnamed.iter().take(MOST_GUESSES).map(name).collect();
    let more = unnamed.len() - names.len();
    let more = if more > 0 { format!(" and {} more", grouped(more)) } else { String::new() };
    format!("{} {}{more}", if unnamed.len() == 1 { "is" } else { "are" }, names.join(", "))
}

fn indented(table: &str) -> String {
    table.lines().map(|line| format!("  {line}\n")).collect()
}
