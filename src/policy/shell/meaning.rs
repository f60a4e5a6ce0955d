//! What a row says of a word that begins with a dash or a plus.

use crate::policy::programs::{Does, Program, Style};

/// What a word is, as far as one row knows.
pub(crate) enum Meant<'w> {
    /// An option that does this, with its value, or without one that must be the next word.
    Option(Does, Option<&'w str>),
    /// Letters: each that needs none, and what the last of them does.
    Cluster(Vec<Does>, Option<&'w str>),
    Unlisted,
}

/// What a row says of a word that begins with a dash or a plus.
pub(crate) fn meaning<'w>(program: &Program, text: &'w str) -> Meant<'w> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    if program.style == Style::Word || text.starts_with('+') {
        return word(program, text, name, value);
    }
    if text.starts_with("--") {
        return match program.does(name) {
            Some(does) => long(does, value),
            None => cut_short(program, name).map_or_else(|| any(program), |does| long(does, value)),
        };
    }
    // Some programs have options of two letters among those of one.
    if let Some(does) = program.does(text).filter(|_| text.len() > 2) {
        return long(does, None);
    }
    let mut letters = Vec::new();
    for (at, letter) in text.get(1..).unwrap_or_default().char_indices() {
        let Some(does) = program.does(&format!("-{letter}")) else { return any(program) };
        letters.push(does);
        let after = text.get(1 + at + letter.len_utf8()..).unwrap_or_default();
        match does {
            Does::Flag | Does::Here | Does::Start | Does::Acts => {}
            // Attached, or none at all.
            Does::Optional => return Meant::Cluster(letters, Some(after)),
            _ if after.is_empty() => return Meant::Cluster(letters, None),
            _ => return Meant::Cluster(letters, Some(after)),
        }
    }
    Meant::Cluster(letters, None)
}

/// A row may say that every word with a dash is an option of no matter.
fn any<'w>(program: &Program) -> Meant<'w> {
    program.does("-*").map_or(Meant::Unlisted, |does| Meant::Option(does, Some("")))
}

fn long(does: Does, value: Option<&str>) -> Meant<'_> {
    match (does, value) {
        // An option without a value that is given one is another option.
        (Does::Flag | Does::Here | Does::Start | Does::Acts, Some(value)) if !matches!(value, "true" | "false") => {
            Meant::Unlisted
        }
        (Does::Flag, _) => Meant::Option(Does::Flag, Some("")),
        (Does::Optional, None) => Meant::Option(does, Some("")),
        _ => Meant::Option(does, value),
    }
}

/// What a long option does that is cut short: the worst of what it may be. A harmless one may be another that has no row.
fn cut_short(program: &Program, name: &str) -> Option<Does> {
    let may_be = |(option, _): &(&str, Does)| option.starts_with("--") && option.starts_with(name);
    let worst = program.options().filter(|_| program.style == Style::Gnu).filter(may_be).map(|(_, does)| does).max()?;
    (worst > Does::Optional).then_some(worst)
}

/// An option that is a whole word: as it is, with one dash for two or two for one, or by the longest entry that ends in `*`.
fn word<'w>(program: &Program, text: &'w str, name: &str, value: Option<&'w str>) -> Meant<'w> {
    let other = match name.strip_prefix("--") {
        Some(rest) => format!("-{rest}"),
        None => format!("-{name}"),
    };
    for spelled in [text, name, &other] {
        if let Some(does) = program.does(spelled) {
            return if spelled == text { long(does, None) } else { long(does, value) };
        }
    }
    let starts =
        |(option, _): &(&'static str, Does)| option.strip_suffix('*').is_some_and(|start| text.starts_with(start));
    match program.options().filter(starts).max_by_key(|(option, _)| option.len()) {
        Some((option, does)) => Meant::Option(does, text.get(option.len() - 1..)),
        None => Meant::Unlisted,
    }
}

/// What an option that is not listed may be that runs, loads or writes: one that is cut short, one with its value
/// attached, a letter among others.
#[cfg(feature = "shell")]
pub(super) fn suspects<'w>(program: &Program, text: &'w str) -> Vec<(Does, Option<&'w str>)> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let mut found = Vec::new();
    for (option, does) in program.options() {
        if !matches!(does, Does::Write | Does::Make | Does::Here | Does::Run | Does::Load | Does::Code | Does::Start) {
            continue;
        }
        if option.starts_with("--") {
            if name.len() > 2 && option.starts_with(name) {
                found.push((does, value));
            }
            continue;
        }
        let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
        let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
        if let Some((before, after)) = letter.and_then(|letter| cluster?.split_once(letter))
            && before.len() < 4
            && before.chars().all(|c| c.is_ascii_alphabetic())
        {
            found.push((does, Some(after).filter(|after| !after.is_empty())));
        }
    }
    found.sort_unstable();
    found
}
