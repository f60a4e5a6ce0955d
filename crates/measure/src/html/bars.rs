//! The session of each arm: one bar per request, with stacked cached, written and uncached input.

use super::markup::{dollars, escaped, percent};
use super::model::{Page, PageArm, PageRequest};
use crate::figures::{grouped, share};

/// The height of the highest bar, in pixels.
const HEIGHT: f64 = 84.0;
/// The maximum number of requests that are drawn.
const MOST: usize = 120;

pub(super) fn session(page: &Page) -> String {
    // The arm that auto chose is drawn once.
    let drawn = |arm: &PageArm| page.arms.iter().any(|own| arm.takes.as_ref() == Some(&own.name));
    let played: Vec<&PageArm> = page.arms.iter().filter(|arm| !arm.requests.is_empty() && !drawn(arm)).collect();
    if played.is_empty() {
        return "<p>No session was played.</p>".to_owned();
    }
    let most = played.iter().flat_map(|arm| &arm.requests).map(|own| own.total()).max().unwrap_or(1);
    let count = played.iter().map(|arm| arm.requests.len().min(MOST)).max().unwrap_or(1);
    let mut out = String::from(
        "<ul class=\"legend\"><li><i class=\"k cached\"></i>read from the cache</li><li><i class=\"k written\"></i>written to the \
         cache</li><li><i class=\"k uncached\"></i>not cached</li><li><i class=\"k lost\"></i>the cache was lost</li></ul>\n\
         <div class=\"arms\">",
    );
    for arm in played {
        out.push_str(&figure(arm, most, count));
    }
    out + "</div>"
}

fn figure(arm: &PageArm, most: usize, count: usize) -> String {
    let sum = |of: fn(&PageRequest) -> usize| arm.requests.iter().map(of).sum::<usize>();
    let (cached, written, uncached) = (sum(|own| own.cached), sum(|own| own.written), sum(|own| own.uncached));
    let cost = arm.usd.map_or_else(String::new, |usd| format!("{}, ", dollars(usd)));
    let relative = if arm.name == "full" { String::new() } else { format!("{}, ", relative(arm.relative)) };
    let chosen = if arm.chosen { " class=\"chosen\"" } else { "" };
    let title = match arm.breaks {
        0 => format!("{} requests", arm.requests.len()),
        1 => format!("{} requests, loses the cache once", arm.requests.len()),
        n => format!("{} requests, loses the cache {n} times", arm.requests.len()),
    };
    let mut out = format!(
        "<figure{chosen}><figcaption><b>{}</b> {cost}{relative}{title}</figcaption>\
         <svg class=\"bars\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}: {} tokens read from the cache, {} \
         written to it, {} not cached\">",
        escaped(&arm.name),
        HEIGHT + 12.0,
        escaped(&arm.name),
        grouped(cached),
        grouped(written),
        grouped(uncached)
    );
    let width = 100.0 / f64::from(u32::try_from(count.max(12)).unwrap_or(u32::MAX));
    for (at, own) in arm.requests.iter().take(MOST).enumerate() {
        let x = width * f64::from(u32::try_from(at).unwrap_or(u32::MAX));
        let kind = if own.expands { ", only expands" } else { "" };
        out.push_str(&format!(
            "<g><title>request {}{kind}: {} cached, {} written, {} not cached</title>",
            at + 1,
            grouped(own.cached),
            grouped(own.written),
            grouped(own.uncached)
        ));
        let mut y = HEIGHT + 12.0;
        for (class, tokens) in [("cached", own.cached), ("written", own.written), ("uncached", own.uncached)] {
            let height = share(tokens, most) * HEIGHT;
            y -= height;
            if tokens > 0 {
                out.push_str(&format!(
                    "<rect class=\"{class}\" x=\"{x:.2}%\" y=\"{y:.1}\" width=\"{:.2}%\" height=\"{height:.1}\"/>",
                    width * 0.82
                ));
            }
        }
        if own.lost {
            let middle = x + width * 0.41;
            out.push_str(&format!(
                "<circle class=\"lost\" cx=\"{middle:.2}%\" cy=\"{:.1}\" r=\"3\"/>",
                (y - 6.0).max(4.0)
            ));
        }
        out.push_str("</g>");
    }
    out + "</svg></figure>\n"
}

/// The relative cost difference, in words.
pub(super) fn relative(share: f64) -> String {
    if share.abs() < 0.0005 {
        "the same as full".to_owned()
    } else if share < 0.0 {
        format!("{} less than full", percent(-share))
    } else {
        format!("{} more than full", percent(share))
    }
}
