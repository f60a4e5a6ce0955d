//! `report --html`: one self-contained page.
//!
//! A page makes no network requests, allows only its own style sheet and script, by their digests,
//! and shows its figures without the script too. Untrusted text is always text in it, never markup.
//! Equal [`Page`]s give equal bytes.

mod bars;
mod markup;
mod model;
mod of_lint;
mod of_report;
mod policy;
mod sections;
mod treemap;

#[cfg(test)]
mod tests;

pub use model::{DETAILS, Page, PageArm, PageFinding, PageFix, PageRequest, PageTool};

use serde_json::json;

use self::markup::{escaped, filled};

const TEMPLATE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The page as HTML.
#[must_use]
pub fn html(page: &Page) -> String {
    filled(TEMPLATE, |name| {
        Some(match name {
            "policy" => policy::policy(STYLE, SCRIPT),
            "style" => STYLE.to_owned(),
            "script" => SCRIPT.to_owned(),
            "data" => data(page),
            "title" => escaped(&page.title),
            "verdict" => sections::sentence(&page.verdict),
            "reason" if page.reason.is_empty() => String::new(),
            "reason" => format!("<p class=\"reason\">{}</p>", sections::sentence(&page.reason)),
            "figures" => sections::figures(page),
            "fix" => sections::fix(page),
            "map" => treemap::treemaps(page),
            "arms" => sections::arms(page),
            "session" => bars::session(page),
            "tools" => sections::tools_table(page),
            "findings" => sections::findings(page),
            "made" => sections::made(page),
            _ => return None,
        })
    })
}

/// The data that the script sorts and filters: one row per tool. In a script element only `</` ends
/// it, and `<!--` changes how it is parsed, so it contains no `<`.
fn data(page: &Page) -> String {
    let row = |tool: &PageTool| {
        let mut row = vec![json!(tool.name), json!(tool.category), json!(tool.tier)];
        row.extend(tool.tokens.iter().map(|tokens| json!(tokens)));
        row.push(json!(tool.findings));
        serde_json::Value::Array(row)
    };
    let rows: Vec<_> = page.sorted_tools().into_iter().map(row).collect();
    serde_json::Value::Array(rows).to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028")
}
