//! What a reader must know to interpret a report: one note per line, for text and Markdown.

use super::super::output::grouped;
use toolfold_measure::report::{Report, SkillCost};

/// The notes, and the warnings of sessions.
pub(super) fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![format!(
        "tokens of the tool block, including expand_tools and call_tool, by {}; messages and per-request overhead are not included",
        report.encoding
    )];
    notes.push(session(report));
    notes.extend(pricing(report));
    notes.push(
        "a lookup in the categories is what expand_tools adds for one: to the array, which breaks the cache, or as JSON to the messages"
            .to_owned(),
    );
    notes.push(format!(
        "a tool's own cost is marginal (all tools minus all without it); {} tokens are shared overhead",
        report.shared_overhead
    ));
    notes.push(match report.skills.skills {
        0 => "no skills are loaded, so activate_skill adds nothing".to_owned(),
        n => format!(
            "{} {} {} tokens to every arm for activate_skill; the figures above do not include them",
            grouped(n),
            if n == 1 { "skill adds" } else { "skills add" },
            grouped(report.skills.activate_skill_tokens)
        ),
    });
    notes.extend(skills_without_room(&report.skills));
    if report.profile.derived {
        notes.push("categories were derived; write a profile to choose core tools: toolfold profile derive".to_owned());
    }
    if report.assumed {
        notes.push(format!("assumed: no encoding is published for this model; counted with {}", report.encoding));
    }
    if report.meter.starts_with("estimate:") {
        let band = report.arms.get("full").and_then(|own| own.band);
        let band = band.map_or_else(String::new, |(low, high)| match high {
            Some(high) => {
                format!("; for arm full, nine in ten requests are between {} and {}", grouped(low), grouped(high))
            }
            None => format!("; for arm full, nine in ten requests are at least {}", grouped(low)),
        });
        notes.push(format!("estimated: the provider publishes no tokenizer{band}"));
    } else if !report.verified {
        notes.push(format!("unverified: no recorded request covers {}", gathered(&report.unverified)));
    }
    for (arm, own) in &report.arms {
        notes.extend(own.refused.as_ref().map(|why| format!("the provider rejects arm {arm}: {why}")));
    }
    notes.extend(report.unavailable.iter().map(|(arm, why)| format!("arm {arm} is not compared: {why}")));
    notes.extend(warnings(report));
    notes
}

fn session(report: &Report) -> String {
    let own = report.session;
    format!(
        "a session is {} requests that use {} folded tools, with {} tokens of system text and {} more per request; toolfold sim simulates other sessions",
        grouped(own.requests),
        grouped(own.used_tools),
        grouped(own.system_tokens),
        grouped(own.step_tokens)
    )
}

fn pricing(report: &Report) -> Vec<String> {
    let own = &report.pricing;
    let mut notes = Vec::new();
    match (&own.usd_per_million, &own.source) {
        (Some(prices), Some(source)) => notes.push(format!(
            "US dollars per million tokens on {}: {} in, {} to write to the cache, {} to read from it, {} out; {source}",
            own.priced_as, prices.input, prices.cache_write, prices.cache_read, prices.output
        )),
        _ => {
            let cache = own.assumed_cache.as_deref().unwrap_or("unknown cache pricing");
            notes.push(format!(
                "unmeasured: the price of {} is unknown; sessions are compared in tokens at the price of input; cache: {cache}",
                own.priced_as
            ));
        }
    }
    if own.priced_as != own.model {
        notes.push(format!("the price of {} is unknown: sessions are priced as on {}", own.model, own.priced_as));
    }
    notes
}

/// The warnings about sessions, each once for all arms that it applies to.
fn warnings(report: &Report) -> Vec<String> {
    let mut all: indexmap::IndexMap<&str, Vec<&str>> = indexmap::IndexMap::new();
    for (arm, own) in &report.arms {
        for warning in &own.session.warnings {
            all.entry(warning).or_default().push(arm);
        }
    }
    all.into_iter().map(|(warning, arms)| format!("{}: {warning}", arms.join(", "))).collect()
}

fn skills_without_room(skills: &SkillCost) -> Option<String> {
    let parts = [
        (skills.trimmed, "with a shortened description"),
        (skills.names_only, "by name only"),
        (skills.omitted, "by number only (the model finds them with search)"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{} {how}", grouped(*n))).collect();
    let how = parts.join(", ");
    (!how.is_empty())
        .then(|| format!("activate_skill lists {how}: its budget is {} tokens (skills.budget)", grouped(skills.budget)))
}

/// The phrases on one line, with those about schema keywords combined.
fn gathered(reasons: &[String]) -> String {
    let (mut keywords, mut parts) = (Vec::new(), Vec::new());
    for reason in reasons {
        match reason.strip_prefix("schema keyword ") {
            Some(keyword) => keywords.push(keyword),
            None => parts.push(reason.clone()),
        }
    }
    if !keywords.is_empty() {
        parts.insert(0, format!("schema keywords {}", keywords.join(", ")));
    }
    parts.join("; ")
}
