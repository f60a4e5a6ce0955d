//! Content that a person would not see, or would not want a model to read.

use toolfold::diagnostic::{Invisible, hidden_in, invisible};

use super::found::Found;
use super::rules::{BIDI, HIDDEN, INJECTION};
use super::view::{View, short_line};

/// Phrases that act against the user or refer to the model's other instructions. A description does
/// not need them. Sources: published attacks by tool descriptions ("tool poisoning", Invariant
/// Labs, April 2025) and prompt injections.
const PHRASES: [&str; 29] = [
    "ignore previous instructions",
    "ignore all previous",
    "ignore any previous",
    "ignore the above",
    "ignore prior instructions",
    "disregard previous",
    "disregard all previous",
    "disregard prior",
    "forget previous instructions",
    "forget all previous",
    "override your instructions",
    "override previous instructions",
    "do not tell the user",
    "don't tell the user",
    "do not inform the user",
    "do not mention this to the user",
    "do not mention to the user",
    "without telling the user",
    "without informing the user",
    "hide this from the user",
    "keep this secret from",
    "the user must not know",
    "<system>",
    "</system>",
    "<important>",
    "~/.ssh/id_",
    ".ssh/id_rsa",
    "~/.cursor/mcp.json",
    "send its contents to",
];

pub(super) fn check_suspicious(found: &mut Found<'_>, view: &View<'_>) {
    for (at, text) in view.model_texts() {
        if text.is_ascii() && text.bytes().all(|b| b >= 0x20 || matches!(b, b'\t' | b'\n' | b'\r')) {
            phrases(found, &at, text);
            continue;
        }
        if let Some(c) = text.chars().find(|c| invisible(*c) == Some(Invisible::Bidi)) {
            found.add_finding(&BIDI, &at, format!("U+{:04X} reorders the text around it", u32::from(c)));
        } else if let Some(c) = hidden_in(text) {
            found.add_finding(&HIDDEN, &at, format!("U+{:04X} is invisible", u32::from(c)));
        }
        phrases(found, &at, text);
    }
}

fn phrases(found: &mut Found<'_>, at: &str, text: &str) {
    if text.len() < 8 {
        return;
    }
    let lower = text.to_ascii_lowercase();
    let Some((place, phrase)) = PHRASES.iter().find_map(|phrase| Some((lower.find(phrase)?, phrase))) else { return };
    let around = text.get(place..).unwrap_or(phrase);
    // A public key may be read.
    if phrase.contains(".ssh") && around.split_whitespace().next().is_some_and(|word| word.contains(".pub")) {
        return;
    }
    found.add_finding(&INJECTION, at, format!("`{}`", short_line(around)));
}
