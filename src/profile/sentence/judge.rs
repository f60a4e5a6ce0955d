//! Judges whether a sentence describes what a tool does.

use super::blocks::{Candidate, is_in_capitals, is_pictograph};
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

/// Bracketed words before a sentence that make it a warning, in lower case.
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

/// Phrases that introduce a purpose without being part of it.
const PURPOSES: [&str; 18] = [
    "use this tool to ",
    "use this function to ",
    "use this endpoint to ",
    "use this action to ",
    "use this to ",
    "use it to ",
    "use to ",
    "used to ",
    "call this tool to ",
    "call this function to ",
    "call this to ",
    "you can use this tool to ",
    "can be used to ",
    "should be used to ",
    "this tool is used to ",
    "this tool allows you to ",
    "this endpoint allows you to ",
    "allows you to ",
];

/// Phrases that introduce a purpose as an occasion: used if no better sentence exists.
const OCCASIONS: [&str; 12] = [
    "use this tool when you need to ",
    "use this tool when you want to ",
    "use this tool whenever you need to ",
    "use this tool if you need to ",
    "use this tool if you want to ",
    "use this when you need to ",
    "use this when you want to ",
    "use when you need to ",
    "use when you want to ",
    "use it when you need to ",
    "call this tool when you need to ",
    "call this when you need to ",
];

/// Verbs that begin an instruction rather than a description of a tool.
const INSTRUCTS: &str = "use call pass see ensure specify refer prefer avoid try provide supply omit leave do make be wait confirm ask \
    remember keep consider follow choose include note check set enter give";

/// How well a sentence represents a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It describes something else.
    No,
    /// Usable if there is nothing better: an emoji precedes it.
    Weak,
    /// It describes what the tool does.
    Good,
}

/// Judges a sentence. `introduced`: its position introduces a description; elsewhere the sentence
/// itself must begin like one.
pub(super) fn judge_sentence(candidate: &Candidate, introduced: bool) -> Fit {
    let text = candidate.text.as_str();
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    if text.split_whitespace().count() < 2 && unspaced < 4 {
        return Fit::No;
    }
    let shouts = text.split(|c: char| !c.is_alphanumeric()).any(|word| SHOUTS.contains(&word));
    if shouts || is_shouted(text) || is_bare_link(text) || is_aside(text) || text.ends_with([':', '：', '?', '？']) {
        return Fit::No;
    }
    if !introduced && !begins_with_deed(text) {
        return Fit::No;
    }
    if candidate.weak || text.contains(is_pictograph) { Fit::Weak } else { Fit::Good }
}

/// Removes bracketed prefixes and `Use this tool to` from a sentence. `None` if the brackets hold a
/// warning.
pub(super) fn tidy(candidate: &Candidate) -> Option<Candidate> {
    let mut text = candidate.text.as_str();
    while let Some((open, close)) =
        [('[', ']'), ('(', ')'), ('【', '】')].iter().find(|(open, _)| text.starts_with(*open))
        && let Some((tag, rest)) = text.split_once(*close)
    {
        let lower = tag.trim_start_matches(*open).trim().to_lowercase();
        let said = rest.trim_start_matches([' ', ':', '-']);
        if (has_start(&lower, &WARNING_TAGS) || is_aside(&lower)) && !begins_with_deed(said) {
            return None;
        }
        if rest.trim_start().is_empty() {
            break;
        }
        text = rest.trim_start_matches([' ', ':', '-']);
    }
    let text = unlabelled(unquoted(text));
    let lower = text.to_lowercase();
    let it = text.strip_prefix("It ").filter(|rest| begins_with_deed(rest));
    let purpose = after_phrase(text, &lower, &PURPOSES).or(it);
    let occasion = if purpose.is_none() { after_phrase(text, &lower, &OCCASIONS) } else { None };
    let text = match purpose.or(occasion) {
        Some(rest) => capitalised(rest),
        None => text.to_owned(),
    };
    let text = text.trim_end_matches(|c: char| is_pictograph(c) || c.is_whitespace()).to_owned();
    if text.is_empty() {
        return None;
    }
    Some(Candidate { text, introduced: candidate.introduced, weak: candidate.weak || occasion.is_some() })
}

/// The rest of a text that begins with one of these phrases. `lower` is the text in lower case.
fn after_phrase<'t>(text: &'t str, lower: &str, phrases: &[&str]) -> Option<&'t str> {
    let phrase = phrases.iter().find(|phrase| lower.starts_with(**phrase))?;
    text.get(phrase.len()..).filter(|rest| rest.starts_with(char::is_alphabetic))
}

/// Removes quotation marks around a whole sentence.
fn unquoted(text: &str) -> &str {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if !inner.contains('"') => inner,
        _ => text,
    }
}

/// Removes a label that precedes an action: a code identifier (`get_thing(id) - Gets a thing`), or
/// a word in capitals (`RECOMMENDED - Searches code`) that is not a warning.
fn unlabelled(text: &str) -> &str {
    let parted = [" - ", " – ", " — ", ": "].iter().filter_map(|mark| text.split_once(mark));
    let Some((label, rest)) = parted.min_by_key(|(label, _)| label.len()) else { return text };
    let code =
        !label.contains(' ') && label.contains(['_', '(', '`', '.']) || label.ends_with(')') && label.contains('(');
    let capitals = is_in_capitals(label) && label.len() > 2 && !SHOUTS.iter().any(|shout| label.contains(shout));
    let rest = rest.trim_start();
    if (code || capitals) && begins_with_deed(rest) { rest } else { text }
}

/// Whether a sentence is several words in capitals: `READ CAREFULLY !!!`.
fn is_shouted(text: &str) -> bool {
    let has_letters = |word: &&str| word.matches(char::is_alphabetic).count() > 1;
    is_in_capitals(text) && text.split_whitespace().filter(has_letters).count() > 1
}

/// Whether a sentence is little more than a URL.
fn is_bare_link(text: &str) -> bool {
    text.contains("://") && text.split_whitespace().count() <= 3 && !begins_with_deed(text)
}

/// Capitalizes the first letter of a text.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    first.to_uppercase().chain(chars).collect()
}

/// Whether a sentence begins with an action: a verb, or `This tool …`. Assumed for languages
/// without a verb list.
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

/// Whether a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}
