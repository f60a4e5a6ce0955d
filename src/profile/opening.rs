//! How descriptions begin: what several tools say alike, and where a tool begins to speak of itself.
//!
//! Servers like to begin every description with the same words (what system the tool belongs to, a heading). One sentence
//! is all that a folded tool shows, and a sentence that many tools share tells none of them apart. So such a sentence is
//! passed over, and a heading with it; a sentence that is a tool's own is never touched. All of it depends on the
//! catalogue alone, so that what a session opens changes no byte of it.

use indexmap::IndexMap;

use super::sentence::sentence_end;
use crate::catalog::Catalog;

/// So many tools that begin alike do not do so by chance: their sentence is their server's. Two may be twins (a chart as
/// an image, a chart in a sheet) whose first sentence is the right one for both, be they all that a server has.
/// Source: our own choice; of 842 tools of the corpus of MCP servers no two begin alike, of BFCL's every one of a server's.
const MIN_ALIKE: usize = 3;

/// How many sentences are passed over at most. What stands further behind is detail, not a summary.
const MAX_PASSED: usize = 3;

/// Headings that stand before a description without being part of it, in lower case.
const HEADINGS: [&str; 4] = ["tool description:", "function description:", "description:", "summary:"];

/// How a tool's description begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening<'t> {
    /// The sentence it begins with, if other tools begin with it too.
    pub(super) shared: Option<&'t str>,
    /// The description from where the tool begins to speak of itself. The whole of it where nothing is passed over.
    pub(super) own: &'t str,
}

/// How each tool's description begins, in catalogue order.
pub(super) fn openings(catalog: &Catalog) -> Vec<Opening<'_>> {
    let begin = |text| Opening { shared: None, own: without_heading(text) };
    let mut openings: Vec<Opening<'_>> = catalog.iter().map(|tool| begin(tool.description())).collect();
    // Only tools that passed the sentence before over are asked for the next one.
    let mut asked: Vec<usize> = (0..openings.len()).collect();
    for _ in 0..MAX_PASSED {
        let heads: Vec<(usize, &str)> =
            asked.iter().filter_map(|at| Some((*at, head(openings.get(*at)?.own)?))).collect();
        let mut alike: IndexMap<&str, usize> = IndexMap::new();
        heads.iter().for_each(|(_, head)| *alike.entry(head).or_default() += 1);
        asked = Vec::new();
        for (at, head) in heads {
            let shared = alike.get(head).is_some_and(|tools| *tools >= MIN_ALIKE);
            let Some(opening) = openings.get_mut(at).filter(|_| shared) else { continue };
            opening.shared = opening.shared.or(Some(head));
            let rest = without_heading(opening.own.get(head.len()..).unwrap_or_default());
            if speaks(rest) {
                opening.own = rest;
                asked.push(at);
            }
        }
        if asked.is_empty() {
            break;
        }
    }
    openings
}

/// The first sentence of a text; nothing if there is none, or none that ends soon.
fn head(text: &str) -> Option<&str> {
    text.get(..sentence_end(text)?).filter(|head| !head.is_empty())
}

/// A text without white space and a heading before it.
fn without_heading(text: &str) -> &str {
    let text = text.trim_start();
    let behind = HEADINGS.iter().find_map(|heading| {
        let (before, behind) = text.split_at_checked(heading.len())?;
        (before.eq_ignore_ascii_case(heading) && behind.starts_with(char::is_whitespace)).then_some(behind.trim_start())
    });
    behind.filter(|behind| !behind.is_empty()).unwrap_or(text)
}

/// Whether a text begins with a sentence rather than with a list, a mark-up, the heading of a section (`Args:`) or a single
/// word, which is no summary.
fn speaks(text: &str) -> bool {
    let opens = |c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '\'' | '“' | '(');
    let says = |sentence: &str| !sentence.is_ascii() || sentence.contains(char::is_whitespace);
    let headed = text.split_whitespace().take(2).any(|word| word.ends_with([':', '：']));
    text.starts_with(opens) && !headed && head(text).is_none_or(says)
}
