//! The report for people at a terminal.

use unicode_width::UnicodeWidthStr;

use super::super::output::{BOLD, DIM, GOOD, grouped};
use super::model::{Report, ToolCost};

/// The widest bar, in cells.
const BAR: usize = 30;

/// The widest name before it is cut, in cells.
const NAME: usize = 40;

/// The whole report. `next` adds what to try with one's own tools.
pub(super) fn text(report: &Report, top: usize, next: bool) -> String {
    let mut out = String::new();
    head(&mut out, report);
    arms(&mut out, report);
    tiers(&mut out, report);
    expensive(&mut out, report, top);
    categories(&mut out, report);
    notes(&mut out, report);
    if next {
        out.push_str("\nNext: toolfold report --tools tools.json   (an OpenAI, Anthropic or MCP tool list of your own; - reads a pipe)\n");
    }
    out
}

fn head(out: &mut String, report: &Report) {
    let profile = if report.profile.derived {
        "a derived profile".to_owned()
    } else {
        format!("profile {}", report.profile.name)
    };
    let tools = if report.tools == 1 { "1 tool".to_owned() } else { format!("{} tools", report.tools) };
    out.push_str(&format!("{BOLD}{tools} under {profile}{BOLD:#}, tokens by {}\n", report.meter));
}

fn arms(out: &mut String, report: &Report) {
    let most = report.arms.values().map(|arm| arm.first_turn_tokens).max().unwrap_or(1).max(1);
    out.push_str(&format!("\n{BOLD}First turn{BOLD:#}\n{DIM}  arm          tokens    saved  in array{DIM:#}\n"));
    for (name, arm) in &report.arms {
        let bar = "█".repeat((arm.first_turn_tokens * BAR).div_ceil(most));
        let saved = if *name == "full" { "–".to_owned() } else { percent(arm.saved) };
        let (tokens, listed) = (grouped(arm.first_turn_tokens), arm.tools_listed);
        let good = if arm.saved > 0.0 { GOOD } else { DIM };
        out.push_str(&format!("  {name:<10} {tokens:>8} {good}{saved:>8}{good:#}  {listed:>8}  {bar}\n"));
    }
    for chosen in report.arms.values().filter_map(|arm| arm.chosen.as_ref()) {
        out.push_str(&format!("\nArm auto takes {BOLD}{}{BOLD:#}: {}.\n", chosen.arm, chosen.reason));
    }
}

fn tiers(out: &mut String, report: &Report) {
    out.push_str(&format!("\n{BOLD}Tiers{BOLD:#}\n{DIM}  tier          tools     full  as summaries{DIM:#}\n"));
    for (name, tier) in &report.tiers {
        let (full, summary) = (grouped(tier.full), grouped(tier.summary));
        out.push_str(&format!("  {name:<10} {:>8} {full:>8}  {summary:>12}\n", tier.tools));
    }
}

fn expensive(out: &mut String, report: &Report, top: usize) {
    let tools = most_expensive(report, top);
    if tools.is_empty() {
        return;
    }
    let width = tools.iter().map(|tool| cut(&tool.name).width()).max().unwrap_or(0).max(4);
    let title = if tools.len() == report.tools {
        "Every tool".to_owned()
    } else {
        format!("The {} most expensive tools", tools.len())
    };
    out.push_str(&format!("\n{BOLD}{title}{BOLD:#}, own cost at each detail\n"));
    let heading = format!("  {:<width$}      full  signature  required  summary  tier      category", "tool");
    out.push_str(&format!("{DIM}{heading}{DIM:#}\n"));
    for tool in tools {
        let name = pad(&cut(&tool.name), width);
        let [full, signature, required, summary] =
            [tool.full, tool.signature, tool.required, tool.summary].map(grouped);
        let line = format!(
            "  {name} {full:>9}  {signature:>9}  {required:>8}  {summary:>7}  {:<8}  {}",
            tool.tier, tool.category
        );
        out.push_str(&format!("{}\n", line.trim_end()));
    }
}

fn categories(out: &mut String, report: &Report) {
    if report.categories.is_empty() {
        return;
    }
    let width = report.categories.iter().map(|c| cut(&c.name).width()).max().unwrap_or(0).max(8);
    out.push_str(&format!("\n{BOLD}Categories{BOLD:#}, what expanding each brings\n"));
    out.push_str(&format!("{DIM}  {:<width$}  tools     full  as summaries{DIM:#}\n", "category"));
    for category in &report.categories {
        let name = pad(&cut(&category.name), width);
        let (full, summary) = (grouped(category.full), grouped(category.summary));
        out.push_str(&format!("  {name}  {:>5} {full:>8}  {summary:>12}\n", category.tools));
    }
}

fn notes(out: &mut String, report: &Report) {
    out.push('\n');
    for note in super::notes(report) {
        out.push_str(&format!("{DIM}· {note}{DIM:#}\n"));
    }
}

/// The tools that cost most when whole, most expensive first; equals in catalogue order.
pub(super) fn most_expensive(report: &Report, top: usize) -> Vec<&ToolCost> {
    let mut tools: Vec<&ToolCost> = report.per_tool.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.full));
    tools.truncate(top);
    tools
}

/// A share as a percentage without places.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn cut(name: &str) -> String {
    if name.width() <= NAME {
        return name.to_owned();
    }
    let mut kept = String::new();
    for c in name.chars() {
        if kept.width() + 2 > NAME {
            break;
        }
        kept.push(c);
    }
    format!("{kept}…")
}

fn pad(name: &str, width: usize) -> String {
    format!("{name}{}", " ".repeat(width.saturating_sub(name.width())))
}
