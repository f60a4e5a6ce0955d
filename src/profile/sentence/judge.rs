//! Whether a sentence says what a tool does.

use super::blocks::{Candidate, is_pictograph};
use super::phrases::{has_start, is_aside};
use crate::profile::words::is_verb;

/// Words in capitals that make a sentence a warning.
const SHOUTS: [&str; 12] = [
    "MUST",
    "NEVER",
    "ALWAYS",
    "MANDATORY",
    "IMPORTANT",
    "WARNING",
    "CAUTION",
    "CRITICAL",
    "NOT",
    "ONLY",
    "REQUIRED",
    "DEPRECATED",
];

/// What stands in brackets before a sentence and makes it a warning, in lower case.
const WARNING_TAGS: [&str; 12] = [
    "important",
    "warning",
    "caution",
    "mandatory",
    "required",
    "critical",
    "must",
    "danger",
    "note",
    "attention",
    "deprecated",
    "重要",
];

/// What introduces a purpose without being a part of it.
const PURPOSES: [&str; 8] = [
    "use this tool to ",
    "use this function to ",
    "use this endpoint to ",
    "use this action to ",
    "use this to ",
    "call this tool to ",
    "this tool is used to ",
    "this tool allows you to ",
];

/// Verbs that begin an instruction rather than what a tool does.
const INSTRUCTS: &str = "use call pass see ensure specify refer prefer avoid try provide supply omit leave do make be wait confirm ask \
    remember keep consider follow choose include note check set enter give";

/// How well a sentence can stand for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It says something else.
    No,
    /// It can where there is nothing better: an emoji opens it.
    Weak,
    /// It says what the tool does.
    Good,
}

/// Judges a sentence. `introduced`: where it stands, what a tool does is told; elsewhere it has to begin as if it told it.
pub(super) fn judge(candidate: &Candidate, introduced: bool) -> Fit {
    let text = candidate.text.as_str();
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    if text.split_whitespace().count() < 2 && unspaced < 4 {
        return Fit::No;
    }
    let shouts = text.split(|c: char| !c.is_alphanumeric()).any(|word| SHOUTS.contains(&word));
    if shouts || is_aside(text) || text.ends_with([':', '：', '?', '？']) {
        return Fit::No;
    }
    if !introduced && !begins_with_deed(text) {
        return Fit::No;
    }
    if candidate.emoji || text.contains(is_pictograph) { Fit::Weak } else { Fit::Good }
}

/// A sentence without what stands before it in brackets and without `Use this tool to`; nothing if the brackets warn.
pub(super) fn tidy(candidate: &Candidate) -> Option<Candidate> {
    let mut text = candidate.text.as_str();
    while let Some((open, close)) =
        [('[', ']'), ('(', ')'), ('【', '】')].iter().find(|(open, _)| text.starts_with(*open))
        && let Some((tag, rest)) = text.split_once(*close)
    {
        let lower = tag.trim_start_matches(*open).trim().to_lowercase();
        if has_start(&lower, &WARNING_TAGS) || is_aside(&lower) {
            return None;
        }
        if rest.trim_start().is_empty() {
            break;
        }
        text = rest.trim_start_matches([' ', ':', '-']);
    }
    let lower = text.to_lowercase();
    let purpose = PURPOSES.iter().find(|start| lower.starts_with(*start));
    let purpose =
        purpose.and_then(|start| text.get(start.len()..)).filter(|rest| rest.starts_with(char::is_alphabetic));
    let text = purpose.map_or_else(|| text.to_owned(), capitalised);
    let text = text.trim_end_matches(|c: char| is_pictograph(c) || c.is_whitespace()).to_owned();
    (!text.is_empty()).then_some(Candidate { text, ..*candidate })
}

/// A text with a capital at its beginning.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Whether a sentence begins with what a tool does: a verb, or `This tool …`. Of languages whose verbs are not known it is
/// assumed.
fn begins_with_deed(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_lowercase();
    if !first.is_ascii() || text.starts_with(is_unspaced) {
        return true;
    }
    if first == "this" {
        return words.next().is_some_and(|next| ["tool", "function", "command", "endpoint", "method"].contains(&next));
    }
    is_verb(&first) && !INSTRUCTS.split_whitespace().any(|verb| verb == first)
}

/// Whether a character is of a script that writes no blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}
