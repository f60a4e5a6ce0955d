//! Which operands of well-known programs are files that they read or write.
//!
//! Their rows say what their operands are. A program without a row may write anything: a path deny is not a sandbox.

use super::piped_files::{self, PipedFiles};
use super::walker::Walker;
use super::{globs, unpack};
use crate::policy::argv::Word;
use crate::policy::programs::{self, Does, Program, Style};
use crate::policy::rule::Access;

/// Whether a command affects everything below its operands, and whether below those that a glob names. Its row says by
/// which options.
fn is_recursive(program: &Program, arguments: &[Word]) -> (bool, bool) {
    // Broader than for a folder that is named directly.
    let goes_down =
        |v: &str| v.starts_with("--r") || v.starts_with('-') && !v.starts_with("--") && v.contains(['r', 'R', 'd']);
    let down = program.style != Style::Word && arguments.iter().filter_map(Word::get).any(goes_down);
    match program.text("recursive") {
        None => (false, down),
        Some("always") => (true, true),
        Some("globs") => (false, true),
        Some(_) => {
            let options = || program.list("recursive");
            let given = arguments.iter().any(|word| match word.get() {
                // `rm *.o`: combined options contain no dot.
                None => globs::may_be_option(word, matches!(program.files(), "write" | "mode-write")),
                Some(long) if long.starts_with("--") => {
                    long.len() > 3 && options().any(|option| option.starts_with(long))
                }
                Some(text) => {
                    let letters = text.strip_prefix('-').unwrap_or_default();
                    options().filter_map(|option| option.strip_prefix('-')).any(|o| o.len() == 1 && letters.contains(o))
                        || text == "recurse"
                }
            });
            (given, down)
        }
    }
}

/// Adds the operands of a command that are files, where its options are not read: every word without a dash.
pub(super) fn operands(walker: &mut Walker, base: &str, words: &[Word]) {
    let arguments = words.get(1..).unwrap_or_default();
    let end = arguments.iter().position(|w| w.is("--"));
    let is_operand = |(i, w): &(usize, &Word)| {
        end.is_some_and(|e| *i > e) || w.get().is_none_or(|v| !v.starts_with('-') || v == "-") && !w.is("--")
    };
    let operands: Vec<Word> = arguments.iter().enumerate().filter(is_operand).map(|(_, w)| w.clone()).collect();
    files(walker, base, words, programs::find(base), &operands);
}

/// Adds the operands of a command that are files. `program` is its row, or that of its subcommand.
pub(super) fn files(
    walker: &mut Walker,
    base: &str,
    words: &[Word],
    program: Option<&'static Program>,
    files: &[Word],
) {
    let (Some(own), Some(program)) = (programs::find(base), program) else { return };
    let arguments = words.get(1..).unwrap_or_default();
    let (recursive, down) = is_recursive(own, arguments);
    let kind = match program.files() {
        "data" | "host" | "code" | "command" | "inline" | "other" | "none" => own.files(),
        kind => kind,
    };
    let add = |walker: &mut Walker, files: &[Word], access: Access| {
        for file in files {
            walker.file(file, access, false, recursive || file.get().is_none() && down);
        }
    };
    match kind {
        "read" => add(walker, files, Access::Read),
        "write" => add(walker, files, Access::Write),
        "edit" => {
            add(walker, files, Access::Write);
            files.iter().for_each(|file| walker.file(file, Access::Read, false, file.get().is_none()));
        }
        "move" => {
            add(walker, files, Access::Write);
            files.iter().for_each(|file| walker.file(file, Access::Read, false, file.get().is_none()));
            if let Some(folder) = target(arguments) {
                walker.file(&folder, Access::Write, false, true);
                into_folder(walker, files.iter().filter(|f| f.text != folder.text), &folder);
            }
            if let Some((last, sources)) = files.split_last() {
                into_folder(walker, sources.iter(), last);
            }
        }
        "assigned" => {
            for word in arguments {
                if word.get().is_none() && !word.text.starts_with("if=") {
                    add(walker, &[Word::unknown(&word.text, true)], Access::Write);
                }
                match word.get().and_then(|v| v.split_once('=')) {
                    Some(("of", path)) => {
                        add(walker, &[Word::known(path)], Access::Write);
                        walker.file(&Word::known(path), Access::Write, true, false);
                    }
                    Some(("if", path)) => add(walker, &[Word::known(path)], Access::Read),
                    _ => {}
                }
            }
        }
        "read-write" => {
            add(walker, files.get(..1).unwrap_or_default(), Access::Read);
            files.iter().skip(1).for_each(|file| walker.file(file, Access::Write, true, false));
        }
        "download" => {
            let named = |v: &str| v.starts_with("-O") || v.starts_with("--output-document");
            if !arguments.iter().any(|w| w.get().is_some_and(named)) {
                walker.file(&Word::unknown("the URL's file name", true), Access::Write, false, false);
            }
        }
        "mode-write" => {
            // With a reference file, the first operand is not a mode.
            let copies = arguments.iter().any(|w| w.get().is_some_and(|v| v.starts_with("--ref")));
            add(walker, files.get(usize::from(!copies)..).unwrap_or_default(), Access::Write);
        }
        "signed-mode-write" => {
            let mode = |w: &&Word| w.get().is_some_and(|v| v.starts_with(['+', '-', '=']));
            let changed: Vec<Word> = arguments.iter().filter(|w| !mode(w)).cloned().collect();
            add(walker, &changed, Access::Write);
        }
        "remote-copy" => {
            // `host:path` is on another machine.
            let here = |w: &&Word| !w.get().is_some_and(|v| v.split('/').next().is_some_and(|h| h.contains(':')));
            let (own, other) = (files.iter().filter(here).cloned().collect::<Vec<_>>(), files.last());
            match other {
                Some(last) if !here(&last) => add(walker, &own, Access::Read),
                _ => copy(walker, &own, &[], recursive),
            }
        }
        "copy" if own.list("makes_folders").any(|option| arguments.iter().any(|w| w.is(option))) => {
            add(walker, files, Access::Write);
        }
        "copy" => copy(walker, files, arguments, recursive),
        "pattern-read" => {
            let own_files = files.get(usize::from(!gives_pattern(own, arguments))..).unwrap_or_default();
            // One that descends only by an option searches this folder where none is named.
            let searches = !matches!(own.text("recursive"), None | Some("always" | "globs"));
            let names = if searches { piped_files::of_search(arguments) } else { Vec::new() };
            let here = [Word::known(".")];
            // The others search it unless they are given an input.
            let here_too = recursive && (searches || own.text("recursive") == Some("always") && !walker.has_input);
            let own_files = if own_files.is_empty() && here_too { &here } else { own_files };
            if recursive && !names.is_empty() {
                let piped = PipedFiles::new(own_files.to_vec(), walker.place.clone(), names);
                walker.found.files.extend(piped.files(Access::Read));
            } else {
                add(walker, own_files, Access::Read);
            }
        }
        _ => {}
    }
}

/// Whether an option gives the pattern or the script, so that every operand is a file: `-e x`, `-nf x`.
fn gives_pattern(program: &Program, arguments: &[Word]) -> bool {
    let gives = |option: &str| program.does(option).is_some_and(Does::takes_value);
    let long = ["--regexp", "--expression", "--file", "--from-file", "--source"];
    arguments.iter().filter_map(Word::get).any(|text| match text.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => {
            let name = text.split('=').next().unwrap_or(text);
            name.len() > 2 && long.iter().any(|option| option.starts_with(name) && gives(option))
        }
        Some(letters) => {
            let ends = letters.find(|c: char| gives(&format!("-{c}"))).and_then(|at| letters.get(at..));
            ends.is_some_and(|value| value.starts_with(['e', 'f']))
        }
        None => false,
    })
}

/// The folder given by `-t`, `--target-directory`, or combined options that end in `t`.
fn target(arguments: &[Word]) -> Option<Word> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let option = word.get()?;
        let next = || arguments.get(at + 1).cloned();
        if option.starts_with("--") {
            let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
            let fits = name.len() > 3 && "--target-directory".starts_with(name);
            return if fits { value.map(Word::known).or_else(next) } else { None };
        }
        let letters = option.strip_prefix('-')?;
        let (before, after) = letters.split_once('t')?;
        let cluster = before.chars().all(|c| c.is_ascii_alphabetic() && !"mogS".contains(c));
        if !cluster {
            return None;
        }
        if after.is_empty() { next() } else { Some(Word::known(after)) }
    })
}

fn copy(walker: &mut Walker, files: &[Word], arguments: &[Word], recursive: bool) {
    if let Some(folder) = target(arguments) {
        for source in files.iter().filter(|f| f.text != folder.text) {
            walker.file(source, Access::Read, false, recursive);
        }
        into_folder(walker, files.iter().filter(|f| f.text != folder.text), &folder);
        return walker.file(&folder, Access::Write, false, true);
    }
    if let Some((last, sources)) = files.split_last() {
        for source in sources {
            walker.file(source, Access::Read, false, recursive);
        }
        walker.file(last, Access::Write, false, false);
        if recursive {
            unpack::copied(walker, last);
        }
        into_folder(walker, sources.iter(), last);
    }
}

/// If the target is a folder, the files are written into it under their own names.
fn into_folder<'w>(walker: &mut Walker, sources: impl Iterator<Item = &'w Word>, target: &Word) {
    let Some(folder) = target.get().map(|f| f.trim_end_matches('/').to_owned()) else { return };
    for source in sources {
        match source.get() {
            Some(text) => {
                let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                walker.file(&Word::known(&format!("{folder}/{name}")), Access::Write, false, false);
            }
            // It may contain any name.
            None if !walker.glob_into(source, &folder, Access::Write) => unpack::copied(walker, target),
            None => {}
        }
    }
}
