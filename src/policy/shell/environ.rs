//! `env`: its options, and the variables it sets.

use super::heuristics;
use super::side_effects::Weight;
use super::walker::Walker;
use crate::policy::argv::Word;

/// Where the command of `env` starts. `None`, with an unknown, where that is known only when it runs.
pub(super) fn inner(walker: &mut Walker, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    let mut options = true;
    while let Some(word) = words.get(at) {
        let Some(text) = word.get() else {
            walker.found.unknown("wrapper-option", &word.text, Weight::Code);
            return None;
        };
        at += 1;
        if !options || !text.starts_with('-') {
            let Some((name, value)) = text.split_once('=') else { return Some(at - 1) };
            walker.environment(name, Some(value));
            options = false;
            continue;
        }
        match text {
            "--" => options = false,
            "-" => {
                walker.found.unknown("environment", text, Weight::Value);
                options = false;
            }
            _ => at += option(walker, text, words.get(at..).unwrap_or_default())?,
        }
    }
    Some(at)
}

/// Reads an option. Returns how many further words belong to it.
fn option(walker: &mut Walker, text: &str, rest: &[Word]) -> Option<usize> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let long = |full: &str| name.len() > 3 && full.starts_with(name);
    if long("--ignore-environment") || long("--null") || long("--debug") {
        walker.found.unknown("environment", text, Weight::Value);
        return Some(0);
    }
    if long("--unset") {
        walker.found.unknown("environment", text, Weight::Value);
        return Some(usize::from(value.is_none()));
    }
    if long("--split-string") {
        return split(walker, value, rest);
    }
    if let Some(letters) = text.strip_prefix('-').filter(|l| !l.starts_with('-')) {
        for (i, letter) in letters.char_indices() {
            let after = letters.get(i + letter.len_utf8()..).filter(|a| !a.is_empty());
            match letter {
                'i' | '0' | 'v' => walker.found.unknown("environment", text, Weight::Value),
                'u' => {
                    walker.found.unknown("environment", text, Weight::Value);
                    return Some(usize::from(after.is_none()));
                }
                'S' => return split(walker, after, rest),
                _ => {
                    walker.found.unknown("wrapper-option", text, Weight::Code);
                    return None;
                }
            }
        }
        return Some(0);
    }
    walker.found.unknown("wrapper-option", text, Weight::Code);
    None
}

/// `-S` splits a text into words by its own rules: an unknown, with guesses.
fn split(walker: &mut Walker, glued: Option<&str>, rest: &[Word]) -> Option<usize> {
    walker.found.unknown("wrapper-option", "env -S", Weight::Code);
    let next = rest.first().and_then(Word::get).filter(|_| glued.is_none());
    if let Some(text) = glued.or(next) {
        let later: Vec<&str> = rest.iter().skip(usize::from(glued.is_none())).filter_map(Word::get).collect();
        heuristics::guess(&format!("{text} {}", later.join(" ")), &mut walker.found);
    }
    None
}
