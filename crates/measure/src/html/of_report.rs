//! Creates a page from a report.

use super::model::{Page, PageArm, PageFix, PageRequest, PageTool};
use crate::figures::grouped;
use crate::report::Report;
use crate::sim::{RequestKind, TimelineRequest};

impl Page {
    /// The page of a report: recommendation, arms with their sessions, tools. The caller adds
    /// findings and how the page was created.
    #[must_use]
    pub fn of_report(report: &Report, title: &str) -> Self {
        let verdict = &report.verdict;
        let named = report.arms.contains_key(&verdict.arm);
        let mut arms = Vec::with_capacity(report.arms.len());
        for (name, own) in &report.arms {
            let takes = own.chosen.as_ref().map(|choice| choice.arm.clone());
            let chosen = *name == verdict.arm || !named && takes.as_ref() == Some(&verdict.arm);
            arms.push(PageArm {
                name: name.clone(),
                takes,
                chosen,
                first_turn: own.first_turn_tokens,
                context: own.context_share,
                usd: own.session.usd,
                relative: own.session.relative_to_full,
                extra: own.session.extra_requests,
                breaks: own.session.cache_breaks,
                requests: own.session.timeline.iter().map(page_request).collect(),
                warnings: own.session.warnings.clone(),
            });
        }
        let mut fix = Vec::new();
        for own in &report.fix_first {
            let (part, most) = (&own.part, grouped(own.part_tokens));
            let why = format!("shorten its largest part, `{part}`: that saves up to {most} tokens of every full array");
            fix.push(PageFix { tool: own.tool.clone(), tokens: own.tokens, why });
        }
        let mut tools = Vec::with_capacity(report.per_tool.len());
        for own in &report.per_tool {
            tools.push(PageTool {
                name: own.name.clone(),
                category: own.category.clone(),
                tier: own.tier.to_owned(),
                tokens: [own.full, own.signature, own.outline, own.required, own.summary],
                findings: 0,
            });
        }
        Self {
            title: title.to_owned(),
            verdict: sentence(&verdict.text),
            reason: if is_of_auto(report) { String::new() } else { sentence(&verdict.reason) },
            fix,
            arms,
            tools,
            findings: Vec::new(),
            made: made(report),
            notes: Vec::new(),
        }
    }
}

/// Whether the reason is that of arm auto: it repeats the verdict with estimated figures.
fn is_of_auto(report: &Report) -> bool {
    let mut chosen = report.arms.values().filter_map(|own| own.chosen.as_ref());
    chosen.any(|own| own.arm == report.verdict.arm && report.verdict.reason.ends_with(&own.reason))
}

fn page_request(own: &TimelineRequest) -> PageRequest {
    PageRequest {
        cached: own.cached,
        written: own.written,
        uncached: own.uncached,
        expands: own.kind == RequestKind::Expand,
        lost: own.loss.is_some(),
    }
}

/// A sentence with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map_or(String::new(), |c| c.to_uppercase().to_string());
    let end = if text.is_empty() || text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

fn made(report: &Report) -> Vec<(String, String)> {
    let pricing = &report.pricing;
    let session = &report.session;
    let derived = if report.profile.derived { ", derived" } else { "" };
    let prices = match &pricing.usd_per_million {
        Some(own) => format!(
            "per million tokens: ${} for input, ${} for cache writes, ${} for cache reads, ${} for output",
            own.input, own.cache_write, own.cache_read, own.output
        ),
        None => "unknown; costs are compared in tokens at the price of input".to_owned(),
    };
    let scenario = format!(
        "{} requests, {} folded tools used, {} tokens of system text, {} more tokens per request",
        session.requests,
        session.used_tools,
        grouped(session.system_tokens),
        grouped(session.step_tokens)
    );
    let rows = [
        ("tokens by", Some(report.meter.clone())),
        ("wire and model", Some(format!("{}, {}", pricing.wire, pricing.model))),
        ("priced as", Some(pricing.priced_as.clone())),
        ("prices", Some(prices)),
        ("prices from", pricing.source.clone()),
        ("context window", pricing.context_window.map(grouped)),
        ("session", Some(scenario)),
        ("profile", Some(format!("{}{derived}", report.profile.name))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
