//! Shell built-ins that evaluate their arguments again, change the meaning of later words, or
//! change the folder.

use super::formats::{self, Assigns};
use super::place::Place;
use super::side_effects::Weight;
use super::tables::is_dangerous_variable;
use super::walker::Walker;
use crate::argv::{Word, all_known, arguments, behind_first, known, name_and_value, place_of, unknown, value_at};
use crate::rule::Access;
use crate::unicode::is_digits;

/// Reads a built-in.
pub(super) fn inspect(walker: &mut Walker, name: &str, words: &[Word]) {
    let arguments = behind_first(words);
    // The letters of its options.
    let letters: String = known(arguments).take_while(|v| v.starts_with('-') && *v != "--").collect();
    let before = walker.found.unknowns.len();
    let subscript = unknown(arguments).is_some() || known(arguments).any(|text| text.contains('['));
    let declares = matches!(name, "declare" | "typeset" | "local" | "export" | "readonly");
    let reads = matches!(name, "read" | "readarray" | "mapfile" | "getopts" | "wait");
    let sets = declares || reads || name == "printf";
    for word in if sets { arguments } else { &[] } {
        match word.get().map(|text| name_and_value(text)) {
            Some((name, value)) if super::words::is_variable(name) => walker.sets(name, value),
            Some(_) => {}
            // Any name.
            None if name == "printf" && !letters.contains('v') => {}
            None => walker.sets("", None),
        }
    }
    match name {
        _ if declares => declare(walker, name, arguments),
        _ if reads => {
            let callback = name != "read" && letters.contains(['C', 'c']);
            if name != "wait" || letters.contains('p') {
                let dangerous = known(arguments).any(is_dangerous_variable);
                walker.found.unknown("assignment", name, code_if(subscript || callback || dangerous));
            }
            for name in known(arguments) {
                walker.set_variable(name, None);
            }
        }
        "cd" => change_folder(walker, arguments),
        "pushd" | "popd" => {
            let rotates = arguments.iter().any(|w| w.begins(['-', '+']));
            match name == "popd" || rotates || arguments.is_empty() {
                true => walker.place = Place::unknown(),
                false => change_folder(walker, arguments),
            }
        }
        "printf" => printf(walker, words, subscript),
        "test" | "[" if arguments.iter().any(|word| word.is("-v") || word.is("-R")) => {
            walker.found.unknown("evaluating-test", "test -v", Weight::Code);
        }
        "unset" => walker.found.unknown("assignment", "unset", code_if(subscript)),
        "let" => walker.found.unknown("arithmetic-code", "let", Weight::Code),
        // Without arguments, or with options that only display, these change nothing.
        "alias" | "bind" | "complete" | "shopt" | "enable" if arguments.iter().all(|w| w.is("-p")) => {}
        "history" if arguments.iter().all(|w| w.get().is_some_and(is_digits)) => {}
        "alias" | "shopt" | "enable" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "history" => {
            walker.found.unknown("shell-settings", name, Weight::Code);
        }
        "set" if !arguments.is_empty() => {
            walker.found.unknown("shell-settings", name, Weight::Value);
            if let Some(at) = place_of(arguments, "--")
                && let Some(rest) = all_known(arguments.get(at + 1..).unwrap_or_default())
            {
                walker.set_variable("@", Some(rest.join(" ")));
            }
        }
        "hash" if letters.contains('p') => walker.found.unknown("shell-settings", "hash -p", Weight::Code),
        "jobs" if letters.contains('x') => walker.found.unknown("executing-option", "jobs -x", Weight::Code),
        _ => {}
    }
    if walker.found.unknowns.iter().skip(before).any(|u| u.weight == Weight::Code) {
        evaluated_again(walker, name, arguments);
    }
}

/// Guesses which of its words a built-in runs: substitutions in subscripts, command lines in one
/// word, the words after `jobs -x`.
fn evaluated_again(walker: &mut Walker, name: &str, arguments: &[Word]) {
    if name == "jobs" {
        return super::heuristics::anywhere(arguments, &mut walker.found);
    }
    for text in known(arguments).take(64) {
        if text.contains("$(") || text.contains('`') {
            walker.supposing(|walker| drop(walker.expanded(text)));
        } else if name == "alias" || text.contains(char::is_whitespace) {
            walker.suppose(text);
        }
    }
}

/// A `printf` that may assign a variable: any, by `%n`, and the one behind `-v`.
fn printf(walker: &mut Walker, words: &[Word], subscript: bool) {
    // A word that an unknown format may assign is a variable by which other programs are changed.
    let dangerous = arguments(words).any(is_dangerous_variable);
    let named = matches!(value_at(words, 1), Some(word) if word.starts_with("-v"));
    match formats::assigns(words) {
        Assigns::Yes if named => walker.found.unknown("assignment", "printf -v", code_if(subscript || dangerous)),
        Assigns::Yes => walker.found.unknown("assignment", "printf %n", Weight::Code),
        Assigns::Maybe if dangerous => walker.found.unknown("assignment", "printf", Weight::Code),
        Assigns::Maybe | Assigns::No => {}
    }
}

fn code_if(evaluates: bool) -> Weight {
    if evaluates { Weight::Code } else { Weight::Value }
}

fn declare(walker: &mut Walker, name: &str, arguments: &[Word]) {
    let letters: String = known(arguments).take_while(|v| v.starts_with(['-', '+'])).collect();
    if arguments.is_empty() || letters.contains(['p', 'f', 'F']) {
        return;
    }
    let mut weight = code_if(letters.contains(['n', 'i', 'a', 'A']));
    for word in arguments.iter().filter(|word| !word.begins(['-', '+'])) {
        let (variable, _) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let open = word.get().is_none() && !word.text.contains('=');
        let evaluates = variable.contains(['[', '$', '`', '*', '?', '{']);
        if open || evaluates || is_dangerous_variable(variable) {
            weight = Weight::Code;
        }
        let (_, value) = word.get().unwrap_or_default().split_once('=').unwrap_or_default();
        walker.set_variable(variable, if value.is_empty() { None } else { Some(value.to_owned()) });
    }
    walker.found.unknown("assignment", name, weight);
}

fn change_folder(walker: &mut Walker, arguments: &[Word]) {
    let mut rest = arguments.iter().skip_while(|w| matches!(w.get(), Some("-L" | "-P" | "-e" | "-LP" | "--")));
    let (Some(folder), more) = (rest.next(), rest.next()) else {
        walker.place = Place::at(crate::path::LexPath::read("~"));
        return;
    };
    // What is in a folder is shown there without its name.
    if !folder.is("-") {
        walker.file(folder, Access::Read, false, false);
    }
    // If the line sets CDPATH, a relative folder may be anywhere.
    let known = if walker.variables.contains_key("CDPATH") { None } else { folder.get() };
    walker.place = match known.or(folder.tilde.as_deref()) {
        Some(to) if more.is_none() && !matches!(to, "" | "-") && !to.starts_with('+') => walker.place.enter(to),
        _ => Place::unknown(),
    };
}
