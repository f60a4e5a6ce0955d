//! A suggestion as text for a terminal.

use super::super::output::{BOLD, DIM, GOOD, grouped, plural_count};
use super::super::table::table;
use super::called;
use toolfold::diagnostic::visible;
use toolfold::profile::ToolProfile;
use toolfold_measure::suggest::{HeldOut, Simulated, Suggestion};
use toolfold_measure::usage::Usage;

/// Maximum number of unused tools and hidden parameters that are named.
const MAX_NAMED: usize = 12;

/// The verdict, what a session costs, and with `explain` everything else.
pub(super) fn suggestion_text(
    made: &Suggestion,
    usage: &Usage,
    reason: &str,
    today: &ToolProfile,
    explain: bool,
) -> String {
    let mut out = suggestion_verdict(made, usage, today);
    out.push_str(&format!("{DIM}for arm {}: {reason}{DIM:#}\n", made.arm));
    if usage.is_empty() {
        return out;
    }
    out.push_str(&format!("\n{BOLD}A session, in tokens at the price of input, caching counted{BOLD:#}\n"));
    out.push_str(&table(["profile", "cost", "first turn", "lookups a session"], &costs(made, today)));
    if let Some(held) = &made.held_out {
        out.push_str(&format!("{DIM}{}{DIM:#}\n", held_out(held)));
    } else {
        let few = "too few sessions to evaluate it on others than those it is based on";
        out.push_str(&format!("{DIM}{few}{DIM:#}\n"));
    }
    out.push_str(&core(made));
    out.push_str(&unused(made));
    out.push_str(&hidden(made));
    if explain {
        out.push_str(&coverage(made));
        out.push_str(&categories_text(made));
    } else {
        out.push_str(&format!("{DIM}--explain shows coverage and categories{DIM:#}\n"));
    }
    let meter = &made.meter;
    out.push_str(&format!("\n{DIM}tokens by {meter}{DIM:#}\n"));
    out
}

/// One decimal, because the costs of sessions differ little.
fn percent(of: f64) -> String {
    format!("{of:.1} %")
}

fn less(than: f64, own: f64) -> String {
    let share = if than > 0.0 { (own / than - 1.0) * 100.0 } else { 0.0 };
    if share <= 0.0 { format!("{} less", percent(-share)) } else { format!("{} more", percent(share)) }
}

fn suggestion_verdict(made: &Suggestion, usage: &Usage, today: &ToolProfile) -> String {
    if usage.is_empty() {
        return format!(
            "{BOLD}no usage was given{BOLD:#}: core is empty because usage is unknown; {} categories by subject\n",
            made.categories.len()
        );
    }
    let (costs, today) = (&made.costs, called(today));
    let (own, before) = (costs.suggested.mean(), costs.today.mean());
    let (core, categories) = (made.core.len(), made.categories.len());
    let from = format!(
        "{} in {}",
        plural_count(made.calls, "call", "calls"),
        plural_count(made.sessions, "session", "sessions")
    );
    let core = plural_count(core, "core tool", "core tools");
    let what = format!("{core}, {}, from {from}", plural_count(categories, "category", "categories"));
    let sure = match &made.held_out {
        Some(held) if held.gain > 0.0 && held.is_sure() => {
            format!("; {} on sessions it is not based on", minus(held))
        }
        Some(held) => format!("; not sure: {} on sessions it is not based on", minus(held)),
        None => "; not sure: too few sessions".to_owned(),
    };
    // Without any profile every tool is full, which may be cheaper than the profile of today.
    let full = costs.full.mean();
    if full < before && own >= full * 0.999 {
        let less = less(before, full);
        return format!("{BOLD}keep every tool full{BOLD:#}: a session costs {less} than under {today} ({what})\n");
    }
    if own >= before * 0.999 {
        return format!("{BOLD}keep {today}{BOLD:#}: nothing better was found ({what})\n");
    }
    let other =
        if full < before { format!(", and {} than with every tool full", less(full, own)) } else { String::new() };
    format!("{GOOD}take it{GOOD:#}: a session costs {} than under {today}{other}{sure}\n{what}\n", less(before, own))
}

fn minus(held: &HeldOut) -> String {
    let word = if held.gain >= 0.0 { "less" } else { "more" };
    format!("{} ± {:.1} {word}", percent(held.gain.abs()), held.standard_error)
}

fn held_out(held: &HeldOut) -> String {
    format!(
        "on sessions that it is not based on (in {} parts): {:.0}, today {:.0}, everything full {:.0}, no core {:.0}; {} than \
         today, one standard error ± {:.1} points",
        held.folds,
        held.suggested,
        held.today,
        held.full,
        held.no_core,
        less(held.today, held.suggested),
        held.standard_error
    )
}

fn costs(made: &Suggestion, today: &ToolProfile) -> Vec<[String; 4]> {
    let row = |what: String, own: &Simulated| {
        let lookups = own.lookups as f64 / own.sessions.max(1) as f64;
        // Costs are whole tokens here: their inputs are not more precise.
        [what, grouped(own.mean().round() as usize), grouped(own.first_turn), format!("{lookups:.1}")]
    };
    let costs = &made.costs;
    vec![
        row(format!("today ({})", called(today)), &costs.today),
        row("everything full".to_owned(), &costs.full),
        row("nothing core".to_owned(), &costs.no_core),
        row("suggested".to_owned(), &costs.suggested),
    ]
}

fn core(made: &Suggestion) -> String {
    if made.core.is_empty() {
        return format!(
            "{DIM}core is empty: no tool is used often enough to pay for its place in every request{DIM:#}\n"
        );
    }
    let rows: Vec<[String; 4]> = made
        .core
        .iter()
        .map(|tool| [tool.name.clone(), grouped(tool.sessions), grouped(tool.calls), grouped(tool.tokens)])
        .collect();
    format!("\n{BOLD}Core{BOLD:#}\n{}", table(["tool", "sessions", "calls", "tokens"], &rows))
}

fn some_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let all = names.len();
    let shown: Vec<String> = names.take(MAX_NAMED).map(|name| visible(name).into_owned()).collect();
    let more = if all > shown.len() { format!(" and {} more", all - shown.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn unused(made: &Suggestion) -> String {
    if made.unused.is_empty() {
        return String::new();
    }
    let tokens = grouped(made.unused_tokens);
    let listed = some_names(made.unused.iter().map(String::as_str));
    let tools =
        if made.unused.len() == 1 { "1 tool was".to_owned() } else { format!("{} tools were", made.unused.len()) };
    format!("\n{BOLD}{tools} never used{BOLD:#}, {tokens} tokens when full: {listed}\n")
}

fn hidden(made: &Suggestion) -> String {
    if made.hidden_parameters.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; 4]> = made
        .hidden_parameters
        .iter()
        .take(MAX_NAMED)
        .map(|own| {
            let shown = own.detail.name().to_owned();
            [own.tool.clone(), own.parameter.clone(), format!("{} of {}", own.calls, own.of), shown]
        })
        .collect();
    let title = "Optional parameters that calls use and the profile hides";
    format!("\n{BOLD}{title}{BOLD:#}\n{}", table(["tool", "parameter", "calls", "shown as"], &rows))
}

fn coverage(made: &Suggestion) -> String {
    let rows: Vec<[String; 3]> =
        made.coverage.iter().map(|own| [grouped(own.tools), percent(own.calls), percent(own.sessions)]).collect();
    let title = "Coverage: the most used tools, by sessions";
    format!("\n{BOLD}{title}{BOLD:#}\n{}", table(["tools", "of calls", "sessions that need no other"], &rows))
}

fn categories_text(made: &Suggestion) -> String {
    let rows: Vec<[String; 4]> = made
        .categories
        .iter()
        .map(|own| [own.name.clone(), grouped(own.tools.len()), grouped(own.sessions), own.description.clone()])
        .collect();
    format!("\n{BOLD}Categories{BOLD:#}\n{}", table(["category", "tools", "sessions", "description"], &rows))
}
