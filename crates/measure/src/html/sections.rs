//! The text and table sections of a page.

use super::bars::relative;
use super::markup::{dollars, escaped, percent};
use super::model::{DETAILS, Page, PageArm, PageTool};
use crate::figures::{grouped, share};

/// The maximum number of tool rows in the page itself; the script shows the others.
pub(super) const MOST_TOOLS: usize = 200;
/// The maximum number of findings.
const MOST_FINDINGS: usize = 200;

/// A generated sentence with untrusted names in backticks.
pub(super) fn sentence(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escaped(part);
        out.push_str(&if at % 2 == 1 { format!("<code>{part}</code>") } else { part });
    }
    out
}

pub(super) fn figures(page: &Page) -> String {
    let mut out = figure("tools", &grouped(page.tools.len()), "");
    let full = page.full();
    if let Some(full) = full {
        let note = full.context.map_or(String::new(), |share| format!("{} of the context window", percent(share)));
        out.push_str(&figure("first turn, all tools in full", &grouped(full.first_turn), &note));
    }
    if let Some(arm) = page.arms.iter().find(|arm| arm.chosen && arm.name != "full") {
        let less = full.map_or(0.0, |full| 1.0 - share(arm.first_turn, full.first_turn));
        let note = format!("{} less", percent(less));
        out.push_str(&figure(&format!("first turn, {}", escaped(&arm.name)), &grouped(arm.first_turn), &note));
        let cost = arm.usd.map_or_else(|| percent(1.0 + arm.relative), dollars);
        out.push_str(&figure("a session", &cost, &relative(arm.relative)));
    } else if let Some(usd) = full.and_then(|full| full.usd) {
        out.push_str(&figure("a session", &dollars(usd), "with every tool in full"));
    }
    out
}

fn figure(label: &str, value: &str, note: &str) -> String {
    format!("<div><dt>{label}</dt><dd><b>{value}</b> <span>{note}</span></dd></div>")
}

pub(super) fn fix(page: &Page) -> String {
    if page.fix.is_empty() {
        return "<p>No tool is unusually expensive.</p>".to_owned();
    }
    let mut items = String::new();
    for fix in &page.fix {
        let (tool, tokens, why) = (escaped(&fix.tool), grouped(fix.tokens), sentence(&fix.why));
        items.push_str(&format!("<li><code>{tool}</code> <b>{tokens}</b> tokens<br><span>{why}</span></li>"));
    }
    format!("<ol class=\"fix\">{items}</ol>")
}

pub(super) fn arms(page: &Page) -> String {
    let most = page.arms.iter().map(|arm| arm.first_turn).max().unwrap_or(1);
    let window = page.arms.iter().any(|arm| arm.context.is_some());
    let heading = if window { "<th scope=\"col\" class=\"r\">of the window</th>" } else { "" };
    let mut out = format!(
        "<div class=\"scroll reflow\" tabindex=\"0\" role=\"region\" aria-label=\"Arms\"><table><caption>Tokens of the tool block and cost of a session</caption><thead><tr>\
         <th scope=\"col\">arm</th><th scope=\"col\" class=\"r\">first turn</th><th scope=\"col\" class=\"of-bar\"><span class=\"unseen\">as a \
         bar</span></th>{heading}<th scope=\"col\" class=\"r\">session</th><th scope=\"col\" class=\"r\">relative to full</th>\
         <th scope=\"col\" class=\"r\">cache losses</th><th scope=\"col\" class=\"r\">extra requests</th></tr></thead><tbody>"
    );
    for arm in &page.arms {
        out.push_str(&arm_row(arm, most, window));
    }
    out.push_str("</tbody></table></div>");
    for arm in &page.arms {
        if !arm.warnings.is_empty() {
            let text = arm.warnings.join("; ");
            out.push_str(&format!("<p class=\"note\"><code>{}</code>: {}</p>", escaped(&arm.name), escaped(&text)));
        }
    }
    out
}

fn arm_row(arm: &PageArm, most: usize, window: bool) -> String {
    let chosen = if arm.chosen { " class=\"chosen\"" } else { "" };
    let takes = arm.takes.as_ref().map(|own| format!(" <small>chooses {}</small>", escaped(own))).unwrap_or_default();
    let taken = if arm.chosen { " <small class=\"pill\">recommended</small>" } else { "" };
    let context = arm.context.map_or_else(|| "–".to_owned(), percent);
    let context =
        if window { format!("<td class=\"r\" data-of=\"of the window\">{context}</td>") } else { String::new() };
    let usd = arm.usd.map_or_else(|| "–".to_owned(), dollars);
    let against = match arm.relative {
        _ if arm.name == "full" => "–".to_owned(),
        share if share > 0.0 => format!("+{}", percent(share)),
        share => format!("−{}", percent(-share)),
    };
    format!(
        "<tr{chosen}><th scope=\"row\"><code>{}</code>{takes}{taken}</th><td class=\"r\" data-of=\"first turn\">{}</td><td class=\"bar\"><svg \
         width=\"100%\" height=\"12\" aria-hidden=\"true\"><rect width=\"{:.1}%\" height=\"12\" rx=\"2\"/></svg></td>{context}\
         <td class=\"r\" data-of=\"session\">{usd}</td><td class=\"r\" data-of=\"relative to full\">{against}</td>\
         <td class=\"r\" data-of=\"cache losses\">{}</td><td class=\"r\" data-of=\"extra requests\">{}</td></tr>",
        escaped(&arm.name),
        grouped(arm.first_turn),
        share(arm.first_turn, most) * 100.0,
        grouped(arm.breaks),
        grouped(arm.extra)
    )
}

/// The table of tools: the most expensive ones; the script shows the others.
pub(super) fn tools_table(page: &Page) -> String {
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Tools\"><table id=\"tool-table\"><caption>Marginal tokens of each tool at each detail</caption><thead><tr>\
         <th scope=\"col\">tool</th><th scope=\"col\">category</th><th scope=\"col\">tier</th>",
    );
    for detail in DETAILS {
        out.push_str(&format!("<th scope=\"col\" class=\"r\">{detail}</th>"));
    }
    out.push_str("<th scope=\"col\" class=\"r\">findings</th></tr></thead><tbody>");
    let all = page.sorted_tools();
    for tool in all.iter().take(MOST_TOOLS) {
        out.push_str(&tool_row(tool));
    }
    let shown = all.len().min(MOST_TOOLS);
    let (shown, all) = (grouped(shown), grouped(all.len()));
    out + &format!(
        "</tbody></table></div><p id=\"shown\" class=\"note\" role=\"status\">{shown} of {all} tools are shown.</p>"
    )
}

fn tool_row(tool: &PageTool) -> String {
    let mut numbers = String::new();
    for tokens in tool.tokens {
        numbers.push_str(&format!("<td class=\"r\">{}</td>", grouped(tokens)));
    }
    format!(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td>{numbers}<td class=\"r\">{}</td></tr>",
        escaped(&tool.name),
        escaped(&tool.category),
        escaped(&tool.tier),
        tool.findings
    )
}

pub(super) fn findings(page: &Page) -> String {
    if page.findings.is_empty() {
        return "<p>No findings.</p>".to_owned();
    }
    let mut out = String::from(
        "<div class=\"scroll reflow\" tabindex=\"0\" role=\"region\" aria-label=\"Findings\"><table class=\"words\"><caption>Worst first</caption><thead><tr><th scope=\"col\">rule</th>\
         <th scope=\"col\">where</th><th scope=\"col\">what</th><th scope=\"col\" class=\"r\">saves</th></tr></thead><tbody>",
    );
    for own in page.findings.iter().take(MOST_FINDINGS) {
        let class = if own.severity == "error" { "error" } else { "other" };
        out.push_str(&format!(
            "<tr><th scope=\"row\"><span class=\"pill {class}\">{}</span><br><small>{}</small></th><td><code>{}</code></td><td>\
             {}<br><small>{}</small></td><td class=\"r\" data-of=\"saves\">{}</td></tr>",
            escaped(&own.severity),
            escaped(&own.rule),
            escaped(&own.place),
            sentence(&own.message),
            sentence(&own.help),
            own.saves.map_or_else(|| "–".to_owned(), grouped)
        ));
    }
    out.push_str("</tbody></table></div>");
    if page.findings.len() > MOST_FINDINGS {
        let (shown, all) = (grouped(MOST_FINDINGS), grouped(page.findings.len()));
        out.push_str(&format!(
            "<p class=\"note\">{shown} of {all} findings are shown; <code>toolfold lint</code> reports all.</p>"
        ));
    }
    out
}

/// How the page was created.
pub(super) fn made(page: &Page) -> String {
    let (mut made, mut notes) = (String::new(), String::new());
    for (name, value) in &page.made {
        made.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value)));
    }
    for note in &page.notes {
        notes.push_str(&format!("<li>{}</li>", sentence(note)));
    }
    format!("<dl class=\"made\">{made}</dl><ul class=\"note\">{notes}</ul>")
}
