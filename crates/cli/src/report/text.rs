//! The report as text for a terminal: what to do first, then the figures, then the footnotes.

use unicode_width::UnicodeWidthStr;

use super::super::output::{BOLD, DIM, GOOD, grouped};
use super::super::table::{WIDTH, wrapped};
use toolfold_measure::figures::percent;
use toolfold_measure::report::{ArmCost, Report, SessionCost, ToolCost};

/// Maximum width of a bar in cells.
const BAR: usize = 6;

/// Maximum width of a name in cells.
const NAME: usize = 26;

/// Maximum width of a part's name in cells.
const PART: usize = 34;

/// Maximum width of a category in cells.
const CATEGORY: usize = 18;

/// The whole report. `next` adds what to try with your own tools.
pub(super) fn report_text(report: &Report, top: usize, next: bool) -> String {
    let mut out = String::new();
    report_head(&mut out, report);
    arms(&mut out, report);
    fixes(&mut out, report);
    tiers(&mut out, report);
    expensive(&mut out, report, top);
    write_categories(&mut out, report);
    notes(&mut out, report);
    if next {
        out.push_str("\nNext: toolfold report --tools tools.json   (or --mcp 'npx -y some-server')\n");
    }
    out
}

fn report_head(out: &mut String, report: &Report) {
    for line in wrapped(&report.verdict.text, WIDTH) {
        out.push_str(&format!("{BOLD}{line}{BOLD:#}\n"));
    }
    let profile = if report.profile.derived {
        "a derived profile".to_owned()
    } else {
        format!("profile {}", report.profile.name)
    };
    let tools = if report.tools == 1 { "1 tool".to_owned() } else { format!("{} tools", grouped(report.tools)) };
    out.push_str(&format!("{tools} under {profile}, tokens by {}\n", report.meter));
}

fn arms(out: &mut String, report: &Report) {
    let most = report.arms.values().map(|arm| arm.first_turn_tokens).max().unwrap_or(1).max(1);
    let session = report.session;
    let (requests, tools) = (grouped(session.requests), grouped(session.used_tools));
    let unit = if report.pricing.usd_per_million.is_some() { "cost" } else { "tokens*" };
    out.push_str(&format!("\n{BOLD}Arms{BOLD:#}\n"));
    let over = format!("{requests} requests, {tools} tools used");
    out.push_str(&format!("{DIM}              first turn               {over}{DIM:#}\n"));
    out.push_str(&format!("{DIM}  arm          tokens   saved  window   {unit:>8}  to full  breaks  extra{DIM:#}\n"));
    for (name, arm) in &report.arms {
        let bar = match arm.refused {
            Some(_) => "rejected".to_owned(),
            None => "█".repeat((arm.first_turn_tokens * BAR).div_ceil(most)),
        };
        let full = *name == "full";
        let saved = if full { "–".to_owned() } else { percent(arm.saved) };
        let window = arm.context_share.map_or_else(|| "?".to_owned(), small_percent);
        let own = &arm.session;
        let relative = if full { "–".to_owned() } else { signed(own.relative_to_full) };
        let good = if arm.saved > 0.0 { GOOD } else { DIM };
        let pays = if own.relative_to_full < 0.0 { GOOD } else { DIM };
        out.push_str(&format!(
            "  {name:<10} {:>8} {good}{saved:>7}{good:#}  {window:>6}   {:>8}  {pays}{relative:>7}{pays:#}  {:>6}  {:>5}  {bar}\n",
            grouped(arm.first_turn_tokens),
            session_cost(own),
            own.cache_breaks,
            own.extra_requests,
        ));
    }
    let auto = report.arms.values().find_map(|arm| arm.chosen.as_ref());
    let mut lines = Vec::new();
    match auto {
        // The first line of the report states its savings.
        Some(chosen) if chosen.arm == report.verdict.arm => lines.push(format!("Arm auto takes {}.", chosen.arm)),
        Some(chosen) => lines.push(format!("Arm auto takes {}: {}.", chosen.arm, chosen.reason)),
        None => {}
    }
    if auto.is_none_or(|chosen| chosen.arm != report.verdict.arm) {
        lines.push(format!("The verdict is {}: {}.", report.verdict.arm, report.verdict.reason));
    }
    if report.pricing.usd_per_million.is_none() {
        lines.push("* all input in tokens at the price of input; US dollars are unmeasured.".to_owned());
    }
    for line in lines {
        for part in wrapped(&line, WIDTH) {
            out.push_str(&format!("{part}\n"));
        }
    }
}

fn fixes(out: &mut String, report: &Report) {
    let fixes = &report.fix_first;
    if fixes.is_empty() {
        return;
    }
    let (mut parts, mut width) = (Vec::new(), 10);
    for own in fixes {
        let part = format!("{} ({})", cut_name(&own.part, PART), grouped(own.part_tokens));
        width = width.max(part.width());
        parts.push(part);
    }
    out.push_str(&format!("\n{BOLD}Fix these first{BOLD:#}\n"));
    out.push_str(&format!("{DIM}  tokens  {:<width$}  see what costs what{DIM:#}\n", "most of it"));
    for (own, part) in fixes.iter().zip(&parts) {
        let part = pad(part, width);
        out.push_str(&format!("  {:>6}  {part}  toolfold why {}\n", grouped(own.tokens), own.tool));
    }
}

fn tiers(out: &mut String, report: &Report) {
    out.push_str(&format!("\n{BOLD}Tiers{BOLD:#}\n{DIM}  tier          tools     full  as summaries{DIM:#}\n"));
    for (name, tier) in &report.tiers {
        let (full, summary) = (grouped(tier.full), grouped(tier.summary));
        out.push_str(&format!("  {name:<10} {:>8} {full:>8}  {summary:>12}\n", grouped(tier.tools)));
    }
}

fn expensive(out: &mut String, report: &Report, top: usize) {
    let tools = most_expensive(report, top);
    if tools.is_empty() {
        return;
    }
    let width = tools.iter().map(|tool| cut_name(&tool.name, NAME).width()).max().unwrap_or(0).max(4);
    let title = if tools.len() == report.tools {
        "Every tool".to_owned()
    } else {
        format!("The {} most expensive tools", tools.len())
    };
    out.push_str(&format!("\n{BOLD}{title}{BOLD:#}, marginal cost at each detail\n"));
    let heading = format!("  {:<width$}    full  signature  summary  category", "tool");
    out.push_str(&format!("{DIM}{heading}{DIM:#}\n"));
    for tool in tools {
        let name = pad(&cut_name(&tool.name, NAME), width);
        let [full, signature, summary] = [tool.full, tool.signature, tool.summary].map(grouped);
        let category = cut_name(&tool.category, CATEGORY);
        let line = format!("  {name} {full:>7}  {signature:>9}  {summary:>7}  {category}");
        out.push_str(&format!("{}\n", line.trim_end()));
    }
}

/// One arm for each way of delivering definitions, which determines the cost of lookups.
fn ways(report: &Report) -> Vec<(&String, &ArmCost)> {
    let mut ways: Vec<(&String, &ArmCost)> = Vec::new();
    let folding = report.arms.iter().filter(|(name, own)| *name != "auto" && !own.expansions.is_empty());
    let verdict = folding.clone().filter(|(name, _)| **name == report.verdict.arm);
    for (name, own) in verdict.chain(folding) {
        if !ways.iter().any(|(_, known)| known.delivery == own.delivery) && ways.len() < 3 {
            ways.push((name, own));
        }
    }
    ways
}

fn write_categories(out: &mut String, report: &Report) {
    if report.categories.is_empty() {
        return;
    }
    let ways = ways(report);
    let width = report.categories.iter().map(|c| cut_name(&c.name, CATEGORY).width()).max().unwrap_or(0).max(8);
    out.push_str(&format!("\n{BOLD}Categories{BOLD:#}: cost in the array, and of a lookup in each arm\n"));
    let mut heads = String::new();
    for (name, _) in &ways {
        heads.push_str(&format!("  {:>9}", cut_name(name, 8)));
    }
    out.push_str(&format!("{DIM}  {:<width$}  tools     full  summaries{heads}{DIM:#}\n", "category"));
    for category in &report.categories {
        let name = pad(&cut_name(&category.name, CATEGORY), width);
        let (full, summary) = (grouped(category.full), grouped(category.summary));
        let mut lookups = String::new();
        for (_, own) in &ways {
            let brings = own.expansions.get(&category.name).map(|cost| grouped(cost.tokens()));
            lookups.push_str(&format!("  {:>9}", brings.as_deref().unwrap_or("–")));
        }
        out.push_str(&format!("  {name}  {:>5} {full:>8}  {summary:>9}{lookups}\n", category.tools));
    }
}

fn notes(out: &mut String, report: &Report) {
    out.push('\n');
    for note in super::notes::notes(report) {
        for (at, line) in wrapped(&note, WIDTH - 2).into_iter().enumerate() {
            let mark = if at == 0 { "·" } else { " " };
            out.push_str(&format!("{DIM}{mark} {line}{DIM:#}\n"));
        }
    }
}

/// The tools that cost most in full, most expensive first; equal ones in catalog order.
pub(super) fn most_expensive(report: &Report, top: usize) -> Vec<&ToolCost> {
    let mut tools: Vec<&ToolCost> = report.per_tool.iter().collect();
    tools.sort_by_cached_key(|tool| std::cmp::Reverse(tool.full));
    tools.truncate(top);
    tools
}

/// The cost of a session in US dollars, or in tokens at the price of input.
pub(super) fn session_cost(own: &SessionCost) -> String {
    match own.usd {
        Some(usd) if usd >= 100.0 => format!("${usd:.0}"),
        Some(usd) if usd >= 1.0 => format!("${usd:.2}"),
        Some(usd) => format!("${usd:.4}"),
        None => grouped(usize::try_from(own.input_cost_tokens).unwrap_or(usize::MAX)),
    }
}

/// A share with one decimal if it is small.
pub(super) fn small_percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", share * 100.0) } else { percent(share) }
}

pub(super) fn signed(share: f64) -> String {
    let whole = (share * 100.0).round();
    if whole == 0.0 { "0 %".to_owned() } else { format!("{whole:+.0} %") }
}

fn cut_name(name: &str, most: usize) -> String {
    if name.width() <= most {
        return name.to_owned();
    }
    let mut kept = String::new();
    for c in name.chars() {
        if kept.width() + 2 > most {
            break;
        }
        kept.push(c);
    }
    format!("{kept}…")
}

fn pad(name: &str, width: usize) -> String {
    format!("{name}{}", " ".repeat(width.saturating_sub(name.width())))
}
