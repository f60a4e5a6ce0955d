//! The texts of a tool.

use toolfold::diagnostic::Severity;
use toolfold::profile::first_sentence;

use super::found::{Edit, Found};
use super::list::Facts;
use super::rules::{
    EXAMPLES_INSIDE, LONG_DESCRIPTION, LONG_PARAMETER, LOOSE_SPACE, NO_DESCRIPTION, NOT_ALONE, RESTATES_TOOL,
    UNKNOWN_TOOL,
};
use super::view::{View, first_names, short_line};
use crate::name_words::split;

/// The maximum length of a description, in characters; most tools have a third of it.
const LONG: usize = 2_000;
/// The length from which on it is a warning.
const VERY_LONG: usize = 6_000;
/// The same for a parameter.
const LONG_FOR_PARAMETER: usize = 600;
/// The minimum length of long examples, in characters.
const LONG_EXAMPLES: usize = 200;
/// The minimum number of white space bytes worth a finding.
const MUCH_SPACE: usize = 8;

pub(super) fn check_texts(found: &mut Found<'_>, view: &View<'_>, facts: &Facts<'_>) {
    let text = view.tool.description();
    if text.trim().is_empty() {
        found.add_finding(&NO_DESCRIPTION, "", "it has no description: a model has only its name");
    } else {
        sentence(found, view, facts);
        restates(found, view);
        long(found, text);
        examples(found, text);
        unknown_tools(found, view, facts);
    }
    spaces(found, view);
    for node in &view.nodes {
        let (Some(name), Some(text)) = (node.property, node.string_keyword("description")) else { continue };
        let length = text.chars().count();
        if length > LONG_FOR_PARAMETER {
            let at = node.keyword_place("description");
            if let Some(one) =
                found.add_finding(&LONG_PARAMETER, &at, format!("the description of `{name}` has {length} characters"))
            {
                one.about_part(&at);
            }
        }
    }
}

fn sentence(found: &mut Found<'_>, view: &View<'_>, facts: &Facts<'_>) {
    let first = first_sentence(view.tool.description());
    let Some(other) = facts.representative(view.at) else { return };
    // A sentence without its introduction is the same sentence; a shared one has its own rule.
    if facts.is_shared(&first) || same(&first, other) {
        return;
    }
    let reason = format!(
        "`{}` does not describe the tool; folded, the tool is shown as `{}`",
        short_line(&first),
        short_line(other)
    );
    found.add_finding(&NOT_ALONE, "/description", reason);
}

/// Whether one of two sentences ends with the other, ignoring its first letter and its cut end.
fn same(first: &str, other: &str) -> bool {
    let [first, other] = [first, other].map(|text| split(text.trim_end_matches('…')).join(" "));
    first.ends_with(&other) || first.contains(&other) || other.contains(&first)
}

fn restates(found: &mut Found<'_>, view: &View<'_>) {
    const EMPTY: &str = "a an the of to for this that it is tool function";
    let mut said = split(view.tool.description());
    said.retain(|word| EMPTY.split(' ').all(|own| own != word));
    let name = split(view.tool.name().as_str());
    let named: Vec<&str> = name.iter().map(|word| word.trim_end_matches('s')).collect();
    let repeats = said.iter().all(|word| {
        [word.as_str(), word.trim_end_matches("es")].iter().any(|own| named.contains(&own.trim_end_matches('s')))
    });
    if repeats && !said.is_empty() && said.len() <= 5 && view.parameters().next().is_some() {
        let reason = format!("`{}` only repeats the name", short_line(view.tool.description()));
        found.add_finding(&RESTATES_TOOL, "/description", reason);
    }
}

fn long(found: &mut Found<'_>, text: &str) {
    let length = text.chars().count();
    if length > LONG {
        let severity = if length > VERY_LONG { Severity::Warning } else { Severity::Note };
        let reason = format!("the description has {length} characters");
        if let Some(one) = found.add_as(&LONG_DESCRIPTION, severity, "/description", reason) {
            one.about_part("/description");
        }
    }
}

/// Blocks of code, and the text after a line `Examples:`.
fn examples(found: &mut Found<'_>, text: &str) {
    let mut blocks = String::new();
    let (mut fenced, mut announced) = (false, false);
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") {
            fenced = !fenced;
            announced = false;
            continue;
        }
        let lower = bare.trim_matches(['*', '#', ' ', '-']).to_lowercase();
        if !fenced && (lower.starts_with("example") || lower.starts_with("usage example")) && lower.ends_with(':') {
            announced = true;
            continue;
        }
        announced &= !bare.is_empty() || blocks.is_empty();
        if fenced || announced {
            blocks.push_str(line);
            blocks.push('\n');
        }
    }
    if blocks.chars().count() > LONG_EXAMPLES {
        let reason = format!("examples take {} of its {} characters", blocks.chars().count(), text.chars().count());
        if let Some(one) = found.add_finding(&EXAMPLES_INSIDE, "/description", reason) {
            one.about_text(&blocks, 1);
        }
    }
}

/// Names of tools that are not in the list: written like those that are, and described as tools.
fn unknown_tools(found: &mut Found<'_>, view: &View<'_>, facts: &Facts<'_>) {
    let text = view.tool.description();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut unknown: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let next = words.get(at + 1).map(|next| next.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        // `the read_rows tool`, with or without backticks.
        if bare.contains('_')
            && next.is_some_and(|next| next == "tool")
            && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !facts.is_known(bare)
            && view.parameters().all(|node| node.property != Some(bare))
            && !unknown.contains(&bare)
        {
            unknown.push(bare);
        }
    }
    if !unknown.is_empty() {
        let (names, are) = (first_names(&unknown), if unknown.len() == 1 { "is" } else { "are" });
        found.add_finding(&UNKNOWN_TOOL, "/description", format!("it names {names}, which {are} not in the list"));
    }
}

fn spaces(found: &mut Found<'_>, view: &View<'_>) {
    let mut texts = vec![("/description".to_owned(), view.tool.description())];
    for node in &view.nodes {
        texts.extend(node.string_keyword("description").map(|text| (node.keyword_place("description"), text)));
    }
    let mut edits = Vec::new();
    let mut first = String::new();
    let mut spared = 0;
    for (at, text) in texts {
        let clean = tidy(text);
        if !clean.is_empty() && clean.len() + MUCH_SPACE <= text.len() {
            spared += text.len() - clean.len();
            if edits.is_empty() {
                first.clone_from(&at);
            }
            edits.push(Edit::Replace(at, clean.into()));
        }
    }
    if !edits.is_empty() {
        let places =
            if edits.len() == 1 { "one description".to_owned() } else { format!("{} descriptions", edits.len()) };
        if let Some(one) = found.add_finding(&LOOSE_SPACE, &first, format!("{spared} bytes of white space in {places}"))
        {
            one.fixed_by(edits);
        }
    }
}

/// A text without white space around it and at line ends, without the indentation that all its
/// lines but the first share, and without runs of empty lines. Further indentation, as in code,
/// stays.
pub(super) fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let indented = lines.iter().skip(1).filter(|line| !line.is_empty());
    let common = indented.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0);
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for (at, line) in lines.iter().enumerate() {
        let own = if at == 0 { line } else { line.get(common.min(line.len())..).unwrap_or(line) };
        empty = if own.is_empty() { empty + 1 } else { 0 };
        if empty > 1 {
            continue;
        }
        if at > 0 {
            out.push('\n');
        }
        out.push_str(own);
    }
    out
}
