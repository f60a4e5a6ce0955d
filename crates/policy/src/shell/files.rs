//! Which operands of well-known programs are files that they read or write.
//!
//! Their rows describe the operands. A program without a row may write anything: a path deny
//! is not a sandbox.

use std::sync::Arc;

use super::given::RowSays;
use super::piped_files::{self, PipedFiles};
use super::side_effects::FileEffect;
use super::walker::Walker;
use super::{globs, outputs};
use crate::argv::{Word, arguments, behind_first, place_of};
use crate::programs::{Files, Operands, Program, Recursive, Style};
use crate::rule::Access;

/// Whether a command affects everything below its operands, and whether below those that a glob
/// names. Its row lists the options.
fn is_recursive(program: &Program, words: &[Word], says: &RowSays) -> (bool, bool) {
    let down = program.style != Style::Word && says.gives(["-r", "-R", "-d", "--recursive"]);
    match program.recursive {
        Some(Recursive::Always) => (true, true),
        Some(Recursive::Globs) => (false, true),
        None if program.recursive_with.is_empty() => (false, down),
        None => {
            // `rm *.o`: combined options contain no dot.
            let dotless = matches!(program.files(), Files::Write | Files::ModeWrite);
            let given = says.gives(program.recursive_with.iter());
            (given || behind_first(words).iter().any(|word| globs::may_be_option(word, dotless)), down)
        }
    }
}

/// Adds the files of a command that is only guessed at.
pub(super) fn guessed(walker: &mut Walker, base: &str, words: &[Word]) {
    files(walker, words, &RowSays::guessed(base, words));
}

/// Adds the operands of a command that are files.
pub(super) fn files(walker: &mut Walker, words: &[Word], says: &RowSays) {
    let (Some(own), Some(program)) = (says.own, says.program) else { return };
    let (arguments, files) = (behind_first(words), says.operands.as_slice());
    let (recursive, down) = is_recursive(own, words, says);
    let by_globs = own.recursive == Some(Recursive::Globs);
    let kind = match program.files() {
        Files::None => own.files(),
        kind => kind,
    };
    let add = |walker: &mut Walker, files: &[Word], access: Access| {
        for file in files {
            let own = access == Access::Write && says.needs_write;
            let is_folder = file.get().is_none() && !(by_globs && outputs::names_sources(&file.text));
            walker.file(file, access, own, recursive || is_folder && down);
        }
    };
    match kind {
        Files::Read => add(walker, files, Access::Read),
        Files::Write => add(walker, files, Access::Write),
        Files::Edit | Files::Move => {
            add(walker, files, Access::Write);
            files.iter().for_each(|file| walker.file(file, Access::Read, false, file.get().is_none()));
            if kind == Files::Move {
                into_target(walker, files, says);
                into_last(walker, files);
            }
        }
        Files::Assigned => {
            for word in arguments {
                match word.get().map(|text| text.split_once('=')) {
                    None if word.text.starts_with("if=") => {}
                    None => add(walker, &[Word::unknown(Arc::clone(&word.text), true)], Access::Write),
                    Some(Some(("of", path))) => walker.file(&Word::known(path), Access::Write, true, false),
                    Some(Some(("if", path))) => add(walker, &[Word::known(path)], Access::Read),
                    Some(_) => {}
                }
            }
        }
        Files::ReadWrite => {
            add(walker, files.get(..1).unwrap_or_default(), Access::Read);
            files.iter().skip(1).for_each(|file| walker.file(file, Access::Write, true, false));
        }
        Files::Download if says.gives(["-O", "--output-document"]) => {}
        Files::Download => walker.file(&Word::unknown("the URL's file name", true), Access::Write, false, false),
        Files::ModeWrite => {
            // With a reference file, the first operand is not a mode.
            let copies = usize::from(!says.gives(["--reference"]));
            add(walker, files.get(copies..).unwrap_or_default(), Access::Write);
        }
        Files::SignedModeWrite => {
            let mut changed = arguments.to_vec();
            changed.retain(|word| !word.begins(['+', '-', '=']));
            add(walker, &changed, Access::Write);
        }
        Files::RemoteCopy => {
            let (there, here): (Vec<Word>, Vec<Word>) =
                files.iter().cloned().partition(|word| word.get().is_some_and(is_remote));
            match files.last() {
                Some(last) if there.contains(last) => add(walker, &here, Access::Read),
                _ => copy(walker, &here, says, recursive),
            }
        }
        Files::Copy if says.has(|own| &own.makes_folders) => add(walker, files, Access::Write),
        Files::Copy if into_target(walker, files, says) => add(walker, files, Access::Read),
        Files::Copy => copy(walker, files, says, recursive),
        Files::PatternRead => {
            let own_files = says.without_pattern();
            // One that descends only by an option searches this folder where none is named.
            let searches = !own.recursive_with.is_empty();
            let names = if searches { piped_files::of_search(says) } else { Vec::new() };
            let here = [Word::known(".")];
            // The others search it unless they are given an input.
            let here_too = recursive && (searches || own.recursive == Some(Recursive::Always) && !walker.has_input);
            let own_files = if own_files.is_empty() && here_too { &here } else { own_files };
            if recursive && !names.is_empty() {
                let piped = PipedFiles::new(own_files.to_vec(), walker.place.clone(), names);
                walker.found.files.extend(piped.files(Access::Read));
            } else {
                add(walker, own_files, Access::Read);
            }
        }
        Files::None => {}
    }
}

/// Whether a name is that of a file on another machine: `host:path`.
pub(super) fn is_remote(name: &str) -> bool {
    matches!(name.split('/').next(), Some(head) if head.contains(':'))
}

/// All files but the last are copied to that, or into it.
fn copy(walker: &mut Walker, files: &[Word], says: &RowSays, recursive: bool) {
    if let Some((last, sources)) = files.split_last() {
        sources.iter().for_each(|source| walker.file(source, Access::Read, false, recursive));
        walker.file(last, Access::Write, says.needs_write && !sources.is_empty(), false);
        if recursive {
            outputs::below(walker, last);
        }
        into_last(walker, files);
    }
}

/// Files go into the folder that an option names. Returns whether one does.
fn into_target(walker: &mut Walker, files: &[Word], says: &RowSays) -> bool {
    let Some(folder) = says.value("--target-directory").or_else(|| says.value("-t")) else { return false };
    walker.file(folder, Access::Write, false, true);
    into_folder(walker, files, folder);
    true
}

/// Files go into what is named last, if that is a folder.
fn into_last(walker: &mut Walker, files: &[Word]) {
    if let Some((last, sources)) = files.split_last() {
        into_folder(walker, sources, last);
    }
}

/// If the target is a folder, the files are written into it under their own names, or under any
/// that they may contain.
fn into_folder(walker: &mut Walker, sources: &[Word], target: &Word) {
    let Some(folder) = target.get().map(|f| f.trim_end_matches('/').to_owned()) else { return };
    for source in sources {
        if !walker.glob_into(source, &folder) {
            outputs::below(walker, target);
        }
    }
}

/// Adds the files that the words of a program may name of which little is known: that asks, and
/// does not deny.
pub(super) fn possible(walker: &mut Walker, words: &[Word], says: &RowSays) {
    let shows = matches!(says.program, Some(program) if program.is.shows_files);
    // Also files that are no longer in the folder.
    let all = matches!(says.program, Some(program) if program.is.shows_all) || says.has(|own| &own.shows_all_with);
    if all && place_of(words, "--").is_none() {
        walker.file(&Word::known("."), Access::Read, false, true);
    }
    if !shows && matches!(says.own, Some(own) if own.is.reads_nothing) {
        return;
    }
    for text in arguments(words).filter_map(named) {
        may_read(walker, text);
    }
    if shows {
        for text in arguments(words) {
            of_a_revision(walker, text);
        }
    }
}

fn may_read(walker: &mut Walker, text: &str) {
    for path in walker.place.files(text).0 {
        walker.found.files.push(FileEffect { path: Some(path), ..FileEffect::new(text, Access::Read) });
    }
}

/// What an argument of a program shows that keeps versions of files: `HEAD:f`, `:(top)f`, a pattern
/// of its own, or any file of the folder.
fn of_a_revision(walker: &mut Walker, text: &str) {
    if matches!(text, "--no-index" | "--untracked") {
        walker.file(&Word::known("."), Access::Read, false, true);
    } else if let Some(file) = text.rsplit([':', ')']).next().filter(|file| !file.is_empty() && *file != text) {
        may_read(walker, file);
        pathspec(walker, file);
    } else if !text.starts_with('-') {
        pathspec(walker, text);
    }
}

/// A pathspec of git, whose `*` also matches `/`: files of that name below the folder that
/// precedes it.
fn pathspec(walker: &mut Walker, text: &str) {
    let Some(at) = text.find(['*', '?', '[']) else { return };
    let folder = if let Some((folder, _)) = text.split_at(at).0.rsplit_once('/') { folder } else { "." };
    let (_, name) = text.rsplit_once('/').unwrap_or(("", text));
    let names = Vec::from_iter(globs::name(name));
    let below = PipedFiles::new(vec![Word::known(folder)], walker.place.clone(), names);
    walker.found.files.extend(below.files(Access::Read));
}

/// The file that a word may name: the word itself, the part after `--option=`, the part after the
/// last `@`.
fn named(word: &str) -> Option<&str> {
    let value = if word.starts_with('-') { word.split_once('=')?.1 } else { word };
    // `name@file`, as clients that upload write it.
    let value = value.rsplit('@').next().unwrap_or(value);
    let apart = value.contains(char::is_whitespace) || value.contains("://");
    if value.len() < 300 && value.contains(['.', '/']) && !apart { Some(value) } else { None }
}

/// Takes the globs among the operands of a command for the files that they expand to, where these
/// can be no option and nothing else that does more than a file. The others stay unknown.
pub(super) fn settle_globs(walker: &mut Walker, says: &RowSays) {
    let (Some(own), Some(program)) = (says.own, says.program) else { return };
    let is = program.is;
    let acts = is.path_operands || is.pipe_operands || is.sets_variables || !program.executes.is_empty();
    if acts || !program.is_listed || own.is.interpreter && !own.is.reads_data || program.files() == Files::RemoteCopy {
        return;
    }
    let (operands, is_named) = match program.operands {
        Operands::Read | Operands::Write => (says.operands.as_slice(), true),
        // The last one is where the others are copied to.
        Operands::Copy | Operands::Move => (says.operands.split_last().map_or(&[][..], |(_, sources)| sources), true),
        // `a*` may be `a=1` for `awk`, and `a[$(ls)]` for `test`.
        Operands::PatternRead => (says.without_pattern(), false),
        Operands::Code => (says.operands.as_slice(), false),
        Operands::Data if is.takes_any => (says.operands.as_slice(), false),
        Operands::Data
        | Operands::ReadWrite
        | Operands::Host
        | Operands::Command
        | Operands::Inline
        | Operands::Toolchain
        | Operands::Other
        | Operands::None => return,
    };
    for word in operands {
        // `*.c` may expand to `-x.c` or `@x.c`, `src/*.c` may not.
        let front = word.text.split(['*', '?', '[']).next().unwrap_or_default();
        let begins = front.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'));
        let is_file = begins && (is_named || front.contains('/')) && !globs::may_be_option(word, false);
        if !(is_file || is.takes_any && globs::is_read(word)) {
            continue;
        }
        let Some(at) = walker.found.unknowns.iter().position(|part| part.kind == "glob" && *part.text == *word.text)
        else {
            continue;
        };
        walker.found.unknowns.remove(at);
        walker.found.globs.push(Arc::clone(&word.text));
        if program.operands == Operands::Code {
            walker.file(word, Access::Read, false, false);
        }
    }
}
