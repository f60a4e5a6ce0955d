//! The report as Markdown, for an issue or a pull request.

use super::super::output::grouped;
use super::text::{most_expensive, session_cost, signed, small_percent};
use toolfold_measure::figures::percent;
use toolfold_measure::report::Report;

pub(super) fn markdown(report: &Report, top: usize) -> String {
    let profile = if report.profile.derived {
        "a derived profile".to_owned()
    } else {
        format!("profile `{}`", report.profile.name)
    };
    let mut out = format!("**{}**\n\n", report.verdict.text);
    out.push_str(&format!("{} tools under {profile}, tokens by `{}`\n\n", grouped(report.tools), report.meter));
    let unit = if report.pricing.usd_per_million.is_some() { "session" } else { "session, in tokens of input" };
    out.push_str(&format!("| arm | first turn | saved | of the window | tools in array | meta-tools | {unit} | to full | cache breaks | extra requests |\n"));
    out.push_str("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (name, arm) in &report.arms {
        let name = if arm.refused.is_some() { format!("{name} (rejected)") } else { name.clone() };
        let (tokens, saved) = (grouped(arm.first_turn_tokens), percent(arm.saved));
        let window = arm.context_share.map_or_else(|| "?".to_owned(), small_percent);
        let own = &arm.session;
        out.push_str(&format!(
            "| {name} | {tokens} | {saved} | {window} | {} | {} | {} | {} | {} | {} |\n",
            arm.tools_listed,
            arm.meta_tokens,
            session_cost(own),
            signed(own.relative_to_full),
            own.cache_breaks,
            own.extra_requests
        ));
    }
    for chosen in report.arms.values().filter_map(|arm| arm.chosen.as_ref()) {
        out.push_str(&format!("\nArm `auto` takes `{}`: {}.\n", chosen.arm, chosen.reason));
    }
    out.push_str("\n| fix first | tokens | most of it | of that |\n|---|---:|---|---:|\n");
    for own in &report.fix_first {
        let (tokens, part) = (grouped(own.tokens), grouped(own.part_tokens));
        out.push_str(&format!("| `{}` | {tokens} | {} | {part} |\n", own.tool, own.part));
    }
    out.push_str(
        "\n| tool | full | signature | required | summary | tier | category |\n|---|---:|---:|---:|---:|---|---|\n",
    );
    for tool in most_expensive(report, top) {
        let [full, signature, required, summary] =
            [tool.full, tool.signature, tool.required, tool.summary].map(grouped);
        let (name, tier, category) = (&tool.name, tool.tier, &tool.category);
        out.push_str(&format!("| `{name}` | {full} | {signature} | {required} | {summary} | {tier} | {category} |\n"));
    }
    out.push_str("\n| category | tools | full | as summaries |\n|---|---:|---:|---:|\n");
    for category in &report.categories {
        let (full, summary) = (grouped(category.full), grouped(category.summary));
        out.push_str(&format!("| {} | {} | {full} | {summary} |\n", category.name, category.tools));
    }
    out.push('\n');
    for note in super::notes::notes(report) {
        out.push_str(&format!("- {note}\n"));
    }
    out
}
