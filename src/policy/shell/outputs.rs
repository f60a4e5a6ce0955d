//! The files that well-known programs produce by design: archives, compiler output, conversions, downloads. An allow
//! for the command covers them, and a deny over their path applies to them.
//!
//! Sources: each program's manual page. A program that is not listed may write anything: see the module `files`.

use super::unpack;
use super::walker::Walker;
use crate::policy::argv::Word;
use crate::policy::programs::{self, Does, Program};
use crate::policy::rule::Access;

/// Adds the files that a program produces.
pub(super) fn inspect(walker: &mut Walker, base: &str, words: &[Word]) {
    unpack::inspect(walker, base, words);
    if words.len() < 2 {
        return;
    }
    let name = programs::find(base).and_then(|program| program.text("grammar")).unwrap_or_default();
    let arguments = words.get(1..).unwrap_or_default();
    let plain = |w: &&Word| w.get().is_none_or(|v| !v.starts_with('-'));
    let operands: Vec<&Word> = arguments.iter().filter(plain).collect();
    let has = |options: &[&str]| arguments.iter().any(|w| w.get().is_some_and(|v| options.contains(&v)));
    let mut written: Vec<&Word> = Vec::new();
    if programs::find(base).is_some_and(|program| edits_in_place(program, arguments)) {
        written.extend(&operands);
    }
    match name {
        "tar" => written.extend(archive(arguments)),
        "7z" if has(&["a", "u", "d", "rn"]) => written.extend(operands.get(1)),
        "ar" => written.extend(operands.get(1)),
        "cpio" if has(&["-p", "--pass-through"]) || short(arguments, 'p') => written.extend(operands.last()),
        "git" => written.extend(git(words)),
        _ => {}
    }
    let written: Vec<Word> = written.into_iter().cloned().collect();
    // A glob may name folders, and formatters descend.
    written.iter().for_each(|file| walker.file(file, Access::Write, false, file.get().is_none()));
}

/// Whether combined options contain a letter.
fn short(arguments: &[Word], letter: char) -> bool {
    arguments.iter().filter_map(Word::get).any(|v| v.starts_with('-') && !v.starts_with("--") && v.contains(letter))
}

/// Whether an option makes a program change its operands: `-i`, also among others as in `perl -pi -e …`.
fn edits_in_place(program: &Program, arguments: &[Word]) -> bool {
    let ends = |c: char| {
        c == '-'
            || program
                .does(&format!("-{c}"))
                .is_some_and(|does| !matches!(does, Does::Flag | Does::Optional | Does::Acts))
    };
    let gives = |text: &str, option: &str| {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        let cluster = text.strip_prefix('-').and_then(|rest| rest.split(ends).next()).unwrap_or_default();
        text == option || letter.is_some_and(|letter| cluster.contains(letter))
    };
    program.list("in_place").any(|option| arguments.iter().filter_map(Word::get).any(|text| gives(text, option)))
}

/// The archive that `tar` creates, if it creates one.
fn archive(arguments: &[Word]) -> Option<&Word> {
    let makes = |v: &str| {
        let first = arguments.first().and_then(Word::get) == Some(v) && !v.starts_with('-');
        let cluster = (first || v.starts_with('-') && !v.starts_with("--")) && v.contains(['c', 'r', 'u', 'A']);
        cluster || matches!(v, "--create" | "--append" | "--update" | "--concatenate" | "--delete")
    };
    if !arguments.iter().filter_map(Word::get).any(makes) {
        return None;
    }
    let at = arguments.iter().enumerate().position(|(i, w)| {
        w.get().is_some_and(|v| {
            v == "--file" || (i == 0 || v.starts_with('-') && !v.starts_with("--")) && v.ends_with('f')
        })
    })?;
    arguments.get(at + 1)
}

/// The paths that a subcommand of git changes in the working tree.
fn git(words: &[Word]) -> Vec<&Word> {
    let Some(at) = super::tables::subcommand(words) else { return Vec::new() };
    let Some(name) = words.get(at).and_then(Word::get) else { return Vec::new() };
    let own = words.get(at + 1..).unwrap_or_default();
    let plain = |w: &&Word| w.get().is_none_or(|v| !v.starts_with('-'));
    let operands = || own.iter().filter(plain);
    match name {
        "rm" | "mv" | "restore" | "clean" => operands().collect(),
        "checkout" => match own.iter().position(|w| w.is("--")) {
            Some(at) => own.get(at + 1..).unwrap_or_default().iter().collect(),
            None => operands().collect(),
        },
        "clone" => operands().skip(1).take(1).collect(),
        "init" => operands().take(1).collect(),
        "worktree" if own.first().is_some_and(|w| w.is("add") || w.is("move") || w.is("remove")) => {
            operands().skip(1).collect()
        }
        _ => Vec::new(),
    }
}
