//! The treemap: every tool as an area in its category, at each detail.
//!
//! Positions are shares of the picture, so it fits any width without a script, and its texts keep
//! their size. The height of the picture is proportional to the cost of the detail, so that folding
//! is visible.

use std::collections::BTreeMap;

use super::markup::escaped;
use super::model::{DETAILS, Page, PageTool};
use crate::figures::{grouped, share};

/// The height of the picture of the full tools, in pixels, and the minimum height.
const HEIGHT: f64 = 440.0;
const LEAST_HEIGHT: f64 = 56.0;
/// The width for which positions are computed; it only affects how square areas are.
const WIDTH: f64 = 1_050.0;
/// The maximum number of tools in a picture; the others are one area per category.
const MOST: usize = 120;
/// The height of a category's heading, in pixels.
const HEADING: f64 = 18.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A tool in a picture, or the rest of a category.
struct Leaf<'p> {
    label: String,
    /// Its row in the data of the page.
    row: Option<usize>,
    tool: Option<&'p PageTool>,
    tokens: usize,
}

pub(super) fn treemaps(page: &Page) -> String {
    let mut out = String::from("<fieldset class=\"switch\"><legend>Show every tool as</legend>");
    for (at, detail) in DETAILS.iter().enumerate() {
        let total = page.tokens_at(at);
        let checked = if at == 0 { " checked" } else { "" };
        out.push_str(&format!(
            "<label><input type=\"radio\" name=\"detail\" value=\"{detail}\" id=\"d-{detail}\"{checked}> \
             <span>{}</span> <small>{}</small></label>",
            label(detail),
            grouped(total)
        ));
    }
    out.push_str("</fieldset>\n");
    let whole = page.tokens_at(0);
    for (at, detail) in DETAILS.iter().enumerate() {
        out.push_str(&picture(page, at, detail, whole));
    }
    out
}

fn label(detail: &str) -> &'static str {
    match detail {
        "full" => "whole",
        "signature" => "signature",
        "outline" => "outline",
        "required" => "required",
        _ => "summary",
    }
}

fn picture(page: &Page, detail: usize, name: &str, whole: usize) -> String {
    let tokens = |tool: &PageTool| tool.tokens.get(detail).copied().unwrap_or_default();
    let mut groups: BTreeMap<&str, Vec<Leaf<'_>>> = BTreeMap::new();
    let mut total = 0;
    for (row, tool) in page.sorted_tools().into_iter().enumerate() {
        let tokens = tokens(tool);
        if tokens == 0 {
            continue;
        }
        total += tokens;
        let group = groups.entry(tool.category.as_str()).or_default();
        if row < MOST {
            group.push(Leaf { label: tool.name.clone(), row: Some(row), tool: Some(tool), tokens });
        } else if let Some(rest) = group.iter_mut().find(|leaf| leaf.row.is_none()) {
            rest.tokens += tokens;
        } else {
            group.push(Leaf { label: "smaller tools".to_owned(), row: None, tool: None, tokens });
        }
    }
    let height = (HEIGHT * share(total, whole)).clamp(LEAST_HEIGHT, HEIGHT * 1.2).round();
    let canvas = Area { x: 0.0, y: 0.0, width: WIDTH, height };
    let mut groups: Vec<(&str, Vec<Leaf<'_>>)> = groups.into_iter().collect();
    for (_, leaves) in &mut groups {
        leaves.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.label.cmp(&b.label)));
    }
    let sum = |leaves: &[Leaf<'_>]| leaves.iter().map(|leaf| leaf.tokens).sum::<usize>();
    groups.sort_by(|a, b| sum(&b.1).cmp(&sum(&a.1)).then_with(|| a.0.cmp(b.0)));
    let sums: Vec<usize> = groups.iter().map(|(_, leaves)| sum(leaves)).collect();
    let most = page.tools.iter().map(tokens).max().unwrap_or(1).max(1);
    let described = format!("Treemap of {} tools as {}: {} tokens.", page.tools.len(), label(name), grouped(total));
    let mut out = format!(
        "<svg class=\"map\" id=\"map-{name}\" width=\"100%\" height=\"{height}\" role=\"img\" aria-label=\"{described} \
         The table of tools has the same figures.\">"
    );
    for ((category, leaves), area) in groups.iter().zip(squarified(&sums, canvas)) {
        let headed = area.height > 60.0 && area.width > 90.0 && groups.len() > 1;
        let top = if headed { HEADING } else { 0.0 };
        let inner = Area { y: area.y + top, height: area.height - top, ..area };
        if headed {
            out.push_str(&format!(
                "<svg class=\"g\"{}><text x=\"5\" y=\"13\">{} · {}</text></svg>",
                area_style(Area { height: HEADING, ..area }, canvas),
                escaped(category),
                grouped(sum(leaves))
            ));
        }
        let sizes: Vec<usize> = leaves.iter().map(|leaf| leaf.tokens).collect();
        for (leaf, area) in leaves.iter().zip(squarified(&sizes, inner)) {
            out.push_str(&rectangle(leaf, area, canvas, most, category));
        }
    }
    out + "</svg>\n"
}

fn rectangle(leaf: &Leaf<'_>, area: Area, canvas: Area, most: usize, category: &str) -> String {
    let step = match share(leaf.tokens, most) {
        _ if leaf.tool.is_none() => 1,
        share if share > 0.5 => 3,
        share if share > 0.2 => 2,
        _ => 1,
    };
    let (name, tokens) = (escaped(&leaf.label), grouped(leaf.tokens));
    let row = leaf.row.map_or(String::new(), |row| format!(" data-row=\"{row}\""));
    let tier = leaf.tool.map_or(String::new(), |tool| format!(", {}", escaped(&tool.tier)));
    let mut out = format!(
        "<svg class=\"t s{step}\"{row}{}><title>{name}: {tokens} tokens ({}{tier})</title><rect width=\"100%\" height=\"100%\"/>",
        area_style(area, canvas),
        escaped(category)
    );
    if area.height > 19.0 && area.width > 34.0 {
        out.push_str(&format!("<text x=\"6\" y=\"15\">{name}</text>"));
    }
    if area.height > 38.0 && area.width > 34.0 {
        out.push_str(&format!("<text class=\"n\" x=\"6\" y=\"30\">{tokens}</text>"));
    }
    out + "</svg>"
}

fn area_style(area: Area, canvas: Area) -> String {
    let of = |part: f64, whole: f64| {
        let text = format!("{:.2}", part / whole.max(1.0) * 100.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    format!(
        " x=\"{}%\" y=\"{}%\" width=\"{}%\" height=\"{}%\"",
        of(area.x, canvas.width),
        of(area.y, canvas.height),
        of(area.width, canvas.width),
        of(area.height, canvas.height)
    )
}

/// Areas in proportion to sizes, as square as possible, in the order of the sizes.
/// Source: Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000).
pub(super) fn squarified(sizes: &[usize], canvas: Area) -> Vec<Area> {
    let total: usize = sizes.iter().sum();
    let surface = canvas.width * canvas.height;
    let areas: Vec<f64> = sizes.iter().map(|size| share(*size, total) * surface).collect();
    let mut out = Vec::with_capacity(areas.len());
    let (mut free, mut rest) = (canvas, areas.as_slice());
    while !rest.is_empty() {
        let side = free.width.min(free.height).max(f64::MIN_POSITIVE);
        let mut taken = 1;
        while let (Some(now), Some(more)) = (rest.get(..taken), rest.get(..taken + 1)) {
            if worst(more, side) > worst(now, side) {
                break;
            }
            taken += 1;
        }
        let (row, after) = rest.split_at(taken);
        let sum: f64 = row.iter().sum();
        let depth = sum / side;
        let upright = free.width >= free.height;
        let mut at = 0.0;
        for area in row {
            let length = if depth > 0.0 { area / depth } else { 0.0 };
            out.push(if upright {
                Area { x: free.x, y: free.y + at, width: depth, height: length }
            } else {
                Area { x: free.x + at, y: free.y, width: length, height: depth }
            });
            at += length;
        }
        free = if upright {
            Area { x: free.x + depth, width: (free.width - depth).max(0.0), ..free }
        } else {
            Area { y: free.y + depth, height: (free.height - depth).max(0.0), ..free }
        };
        rest = after;
    }
    out
}

/// The worst aspect ratio in a row along a side.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let depth = sum / side;
    let mut worst: f64 = 0.0;
    for area in row {
        let length = area / depth;
        worst = worst.max(length / depth).max(depth / length);
    }
    worst
}
