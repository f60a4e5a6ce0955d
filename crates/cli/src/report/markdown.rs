//! The report as Markdown, for an issue or a pull request.

use super::super::output::grouped;
use super::model::Report;
use super::text::{most_expensive, percent};

pub(super) fn markdown(report: &Report, top: usize) -> String {
    let profile = if report.profile.derived {
        "a derived profile".to_owned()
    } else {
        format!("profile `{}`", report.profile.name)
    };
    let mut out = format!("**{} tools under {profile}**, tokens by `{}`\n\n", report.tools, report.meter);
    out.push_str("| arm | first turn | saved | tools in array | meta-tools |\n|---|---:|---:|---:|---:|\n");
    for (name, arm) in &report.arms {
        let (tokens, saved) = (grouped(arm.first_turn_tokens), percent(arm.saved));
        out.push_str(&format!("| {name} | {tokens} | {saved} | {} | {} |\n", arm.tools_listed, arm.meta_tokens));
    }
    for chosen in report.arms.values().filter_map(|arm| arm.chosen.as_ref()) {
        out.push_str(&format!("\nArm `auto` takes `{}`: {}.\n", chosen.arm, chosen.reason));
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
    for note in super::notes(report) {
        out.push_str(&format!("- {note}\n"));
    }
    out
}
