//! The meaning in a row of a word that begins with a dash or a plus.

use crate::argv::{cluster, name_and_value};
use crate::programs::{Does, Program, Style};

/// An option, and the value that is attached to it.
pub(crate) type Meant<'w> = (String, Does, Option<&'w str>);

/// The options that a word is, of which the last may take the next word. `None`: the row does not
/// list them.
pub(crate) fn meaning<'w>(program: &Program, text: &'w str) -> Option<Vec<Meant<'w>>> {
    let (name, value) = name_and_value(text);
    let one = |(does, value)| vec![(name.to_owned(), does, value)];
    if program.style == Style::Word || text.starts_with('+') {
        return word(program, text, name, value).map(one);
    }
    // A row may say that every word with a dash is an option of no matter.
    let any = || program.does("-*").map(|does| one((does, Some(""))));
    if text.starts_with("--") {
        return match program.does(name).or_else(|| cut_short(program, name)) {
            Some(does) => long(does, value).map(one),
            None => any(),
        };
    }
    // Some programs have options of two letters among those of one.
    let whole = if text.len() > 2 { program.does(text) } else { None };
    if let Some(does) = whole {
        return long(does, None).map(one);
    }
    let mut letters = Vec::new();
    let mut rest = text.get(1..).unwrap_or_default().chars();
    while let Some(letter) = rest.next() {
        let option = format!("-{letter}");
        let Some(does) = program.does(&option) else { return any() };
        let attached = does.may_have_value() && !(does.takes_value() && rest.as_str().is_empty());
        letters.push((option, does, if attached { Some(rest.as_str()) } else { None }));
        if does.may_have_value() {
            break;
        }
    }
    Some(letters)
}

/// A long option with its value, if it may have that.
fn long(does: Does, value: Option<&str>) -> Option<(Does, Option<&str>)> {
    // An option without a value that is given one is another option.
    let fits = does.may_have_value() || matches!(value, None | Some("true" | "false"));
    if fits { Some((does, value)) } else { None }
}

/// What a long option does that is cut short: the worst of what it may be. A harmless one may be
/// another that has no row.
fn cut_short(program: &Program, name: &str) -> Option<Does> {
    if program.style != Style::Gnu {
        return None;
    }
    let mut worst = None;
    for (option, does) in program.options() {
        if option.starts_with("--") && option.starts_with(name) && does > Does::Optional {
            worst = worst.max(Some(does));
        }
    }
    worst
}

/// An option that is a whole word: as it is, with one dash for two or two for one, or by the
/// longest entry that ends in `*`.
fn word<'w>(program: &Program, text: &'w str, name: &str, value: Option<&'w str>) -> Option<(Does, Option<&'w str>)> {
    let other = format!("-{}", name.strip_prefix("--").unwrap_or(name));
    for spelled in [text, name, &other] {
        if let Some(does) = program.does(spelled) {
            return if spelled == text { long(does, None) } else { long(does, value) };
        }
    }
    let mut longest: Option<(usize, Does)> = None;
    for (option, does) in program.options() {
        let Some(start) = option.strip_suffix('*').filter(|start| text.starts_with(start)) else { continue };
        if longest.is_none_or(|(length, _)| length < start.len()) {
            longest = Some((start.len(), does));
        }
    }
    let (length, does) = longest?;
    Some((does, text.get(length..)))
}

/// What an option that is not listed may be that runs, loads or writes: one that is cut short, one
/// with its value attached, a letter among others.
pub(super) fn suspects<'w>(program: &Program, text: &'w str) -> Vec<(Does, Option<&'w str>)> {
    let (name, value) = name_and_value(text);
    let letters = cluster(text).unwrap_or_default();
    let mut found = Vec::new();
    for (option, does) in program.options() {
        let runs = matches!(does, Does::Run | Does::Line | Does::OwnLine | Does::Code | Does::Start);
        if !runs && !matches!(does, Does::Write | Does::Make | Does::Here | Does::Load) {
            continue;
        }
        if option.starts_with("--") {
            if name.len() > 2 && option.starts_with(name) {
                found.push((does, value));
            }
        } else if let Some(after) = behind_letter(letters, option) {
            found.push((does, if after.is_empty() { None } else { Some(after) }));
        }
    }
    found.sort_unstable();
    found
}

/// What is behind the letter of an option in a cluster, if all before it may be letters, too.
fn behind_letter<'w>(cluster: &'w str, option: &str) -> Option<&'w str> {
    let letter = option.strip_prefix('-')?;
    let (before, after) = cluster.split_once(letter)?;
    let are_letters = before.len() < 4 && before.chars().all(|c| c.is_ascii_alphabetic());
    if are_letters && letter.chars().count() == 1 { Some(after) } else { None }
}
