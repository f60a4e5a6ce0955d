//! Shell built-ins that evaluate their arguments again, change the meaning of later words, or change the folder.

use super::place::Place;
use super::side_effects::Weight;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::rule::Access;

/// Reads a built-in.
pub(super) fn inspect(walker: &mut Walker, name: &str, words: &[Word]) {
    let arguments = words.get(1..).unwrap_or_default();
    let has = |option: &str| arguments.iter().any(|w| w.get().is_some_and(|v| v == option));
    let letter = |c: char| {
        arguments.iter().filter_map(Word::get).take_while(|v| v.starts_with('-') && *v != "--").any(|v| v.contains(c))
    };
    let before = walker.found.unknowns.len();
    let subscript = arguments.iter().any(|w| w.get().is_none_or(|v| v.contains('[')));
    if matches!(name, "read" | "readarray" | "mapfile" | "getopts" | "wait" | "printf" | "declare" | "typeset")
        || matches!(name, "local" | "export" | "readonly")
    {
        for word in arguments {
            match word.get().map(|text| text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))))
            {
                Some((name, value)) if super::words::is_variable(name) => walker.sets(name, value),
                Some(_) => {}
                // Any name.
                None if name == "printf" && !letter('v') => {}
                None => walker.sets("", None),
            }
        }
    }
    match name {
        "cd" => change_folder(walker, arguments),
        "pushd"
            if arguments.iter().all(|w| w.get().is_none_or(|v| !v.starts_with(['-', '+'])))
                && !arguments.is_empty() =>
        {
            change_folder(walker, arguments);
        }
        "pushd" | "popd" => walker.place = Place::unknown(),
        // Without arguments, or with options that only display, these change nothing.
        "history" if arguments.iter().all(|w| w.get().is_some_and(|v| v.chars().all(|c| c.is_ascii_digit()))) => {}
        "alias" | "bind" | "complete" | "shopt" | "enable" if is_print(arguments) => {}
        "set" if arguments.is_empty() => {}
        "printf" if letter('v') => walker.found.unknown("assignment", "printf -v", code_if(subscript)),
        "test" | "[" if has("-v") || has("-R") => walker.found.unknown("evaluating-test", "test -v", Weight::Code),
        "read" | "readarray" | "mapfile" | "getopts" | "wait" => {
            let callback = name != "read" && (letter('C') || letter('c'));
            if name != "wait" || letter('p') {
                walker.found.unknown("assignment", name, code_if(subscript || callback));
            }
            for word in arguments {
                word.get().into_iter().for_each(|n| drop(walker.variables.remove(n)));
            }
        }
        "declare" | "typeset" | "local" | "export" | "readonly" => declare(walker, name, arguments),
        "unset" => walker.found.unknown("assignment", "unset", code_if(subscript)),
        "let" => walker.found.unknown("arithmetic-code", "let", Weight::Code),
        "alias" | "shopt" | "enable" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "history" => {
            walker.found.unknown("shell-settings", name, Weight::Code);
        }
        "set" => {
            walker.found.unknown("shell-settings", name, Weight::Value);
            if let Some(at) = arguments.iter().position(|w| w.is("--")) {
                let rest: Option<Vec<&str>> = arguments.iter().skip(at + 1).map(Word::get).collect();
                rest.into_iter().for_each(|all| drop(walker.variables.insert("@".to_owned(), all.join(" "))));
            }
        }
        "hash" if letter('p') => walker.found.unknown("shell-settings", "hash -p", Weight::Code),
        "jobs" if letter('x') => walker.found.unknown("executing-option", "jobs -x", Weight::Code),
        _ => {}
    }
    if walker.found.unknowns.iter().skip(before).any(|u| u.weight == Weight::Code) {
        evaluated_again(walker, name, arguments);
    }
}

/// Guesses which of its words a built-in runs: substitutions in subscripts, command lines in one word, the words after
/// `jobs -x`.
fn evaluated_again(walker: &mut Walker, name: &str, arguments: &[Word]) {
    if name == "jobs" {
        return super::heuristics::anywhere(arguments, &mut walker.found);
    }
    let texts: Vec<String> = arguments.iter().filter_map(Word::get).map(str::to_owned).collect();
    for text in texts.iter().take(64) {
        if text.contains("$(") || text.contains('`') {
            walker.supposing(|walker| drop(walker.expanded(text)));
        } else if name == "alias" || text.contains(char::is_whitespace) {
            walker.suppose(text);
        }
    }
}

/// `alias -p` and the like.
fn is_print(arguments: &[Word]) -> bool {
    match arguments {
        [] => true,
        [only] => only.is("-p"),
        _ => false,
    }
}

fn code_if(evaluates: bool) -> Weight {
    if evaluates { Weight::Code } else { Weight::Value }
}

fn declare(walker: &mut Walker, name: &str, arguments: &[Word]) {
    let options = arguments.iter().filter_map(Word::get).take_while(|v| v.starts_with(['-', '+']));
    let evaluates = options.clone().any(|v| v.contains(['n', 'i', 'a', 'A']) && !v.contains('p'));
    let printing = options.clone().any(|v| v.contains(['p', 'f', 'F']));
    if printing || arguments.is_empty() {
        return;
    }
    let mut weight = code_if(evaluates);
    for word in arguments {
        match word.get() {
            None if word.text.split('=').next().is_some_and(|name| name.contains(['$', '`'])) => weight = Weight::Code,
            None if !word.text.contains('=') => weight = Weight::Code,
            Some(v) if v.starts_with(['-', '+']) => {}
            _ => {
                let text = word.text.clone();
                let (variable, value) = text.split_once('=').unwrap_or((text.as_str(), ""));
                if variable.contains(['[', '$', '`', '*', '?', '{']) || super::tables::is_dangerous_variable(variable) {
                    weight = Weight::Code;
                }
                walker.variables.remove(variable);
                if let Some((_, value)) = word.get().and_then(|v| v.split_once('=')).filter(|_| !value.is_empty()) {
                    walker.variables.insert(variable.to_owned(), value.to_owned());
                }
            }
        }
    }
    walker.found.unknown("assignment", name, weight);
}

fn change_folder(walker: &mut Walker, arguments: &[Word]) {
    let mut rest = arguments.iter().skip_while(|w| matches!(w.get(), Some("-L" | "-P" | "-e" | "-LP" | "--")));
    // What is in a folder is shown there without its name.
    if let Some(folder) = rest.clone().next().filter(|folder| !folder.is("-")) {
        walker.file(folder, Access::Read, false, false);
    }
    walker.place = match (rest.next(), rest.next()) {
        (Some(folder), None) => match (folder.get(), &folder.tilde) {
            (Some("-"), _) | (None, None) => Place::unknown(),
            // If the line sets CDPATH, a relative folder may be anywhere.
            (Some(f), _) if f.is_empty() || f.starts_with('+') => Place::unknown(),
            (Some(_), _) if walker.variables.contains_key("CDPATH") => Place::unknown(),
            (Some(f), _) => walker.place.enter(f),
            (None, Some(f)) => walker.place.enter(f),
        },
        (None, _) => Place::at(crate::policy::path::LexPath::read("~")),
        _ => Place::unknown(),
    };
}
