//! Which operands of well-known programs are files that they read or write.
//!
//! Covers what denies are likely to be about. A program that is not listed may write anything: a path deny is not a
//! sandbox.

use super::piped_files::{self, PipedFiles};
use super::walker::Walker;
use super::{globs, unpack};
use crate::policy::argv::Word;
use crate::policy::rule::Access;

/// Every operand is written.
const WRITERS: &[&str] = &[
    "tee", "rm", "rmdir", "unlink", "shred", "touch", "mkdir", "truncate", "mkfifo", "gzip", "gunzip", "bzip2", "xz",
    "zstd", "sponge", "ed", "ex", "vi", "vim", "nano", "emacs", "patch", "srm", "trash", "dos2unix", "unix2dos",
];
/// The first operand is not a file; the others are written.
const CHANGERS: &[&str] = &["chmod", "chown", "chgrp", "setfacl"];
/// The last operand is written; the others are read.
const COPIERS: &[&str] = &["cp", "gcp", "install", "ln", "rsync", "scp", "link"];
/// Every operand is read.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "bat",
    "tac",
    "nl",
    "wc",
    "sort",
    "cut",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "base64",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "file",
    "stat",
    "paste",
    "join",
    "comm",
    "cmp",
    "diff",
    "fold",
    "rev",
    "source",
    ".",
    "column",
    "zcat",
    "ls",
    "dir",
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "bash",
    "sh",
];
/// The first operand is a pattern or a script; the others are read.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "jq", "yq", "ack"];

/// Whether this module knows the operands of a program.
pub(super) fn is_known(base: &str) -> bool {
    [WRITERS, CHANGERS, COPIERS, READERS, SEARCHERS].iter().any(|list| list.contains(&base))
        || matches!(base, "dd" | "uniq" | "split" | "csplit" | "wget" | "chattr")
}

/// Whether a command affects everything below its operands.
fn is_recursive(base: &str, arguments: &[Word]) -> bool {
    let letters = match base {
        "mv" | "rg" | "trash" | "rename" => return true,
        "rm" | "grep" | "egrep" | "fgrep" | "cp" | "gcp" | "rsync" | "scp" => "rRa",
        "chmod" | "chown" | "chgrp" | "setfacl" => "R",
        _ => return false,
    };
    arguments.iter().any(|word| match word.get() {
        // `rm *.o`: combined options contain no dot.
        None => globs::may_be_option(word, matches!(base, "rm" | "chmod" | "chown" | "chgrp")),
        Some(long) if long.starts_with("--") => {
            long.len() > 3
                && ["--recursive", "--archive", "--dereference-recursive", "--directories=recurse"]
                    .iter()
                    .any(|l| l.starts_with(long))
        }
        Some(word) => word.starts_with('-') && word.contains(|c| letters.contains(c)) || word == "recurse",
    })
}

/// Whether a command may descend into folders that a glob names. Broader than for a folder that is named directly.
fn goes_down(base: &str, arguments: &[Word]) -> bool {
    let option =
        |v: &str| v.starts_with("--r") || v.starts_with('-') && !v.starts_with("--") && v.contains(['r', 'R', 'd']);
    matches!(base, "ag" | "ack" | "diff" | "trash") || arguments.iter().filter_map(Word::get).any(option)
}

/// Adds the operands of a command that are files.
pub(super) fn operands(walker: &mut Walker, base: &str, words: &[Word]) {
    let arguments = words.get(1..).unwrap_or_default();
    let end = arguments.iter().position(|w| w.is("--"));
    let is_operand = |(i, w): &(usize, &Word)| {
        end.is_some_and(|e| *i > e) || w.get().is_none_or(|v| !v.starts_with('-') || v == "-") && !w.is("--")
    };
    let files: Vec<Word> = arguments.iter().enumerate().filter(is_operand).map(|(_, w)| w.clone()).collect();
    let recursive = is_recursive(base, arguments);
    let mut add = |files: &[Word], access: Access| {
        for file in files {
            walker.file(file, access, false, recursive || file.get().is_none() && goes_down(base, arguments));
        }
    };
    match base {
        "mv" | "rename" => add(&files, Access::Write),
        "dd" => {
            for word in arguments {
                if word.get().is_none() && !word.text.starts_with("if=") {
                    add(&[Word::unknown(&word.text, true)], Access::Write);
                }
                match word.get().and_then(|v| v.split_once('=')) {
                    Some(("of", path)) => add(&[Word::known(path)], Access::Write),
                    Some(("if", path)) => add(&[Word::known(path)], Access::Read),
                    _ => {}
                }
            }
        }
        "uniq" | "split" | "csplit" => {
            add(files.get(..1).unwrap_or_default(), Access::Read);
            let output: Vec<Word> = files.get(1..).unwrap_or_default().to_vec();
            for file in output {
                walker.file(&file, Access::Write, true, false);
            }
        }
        "wget"
            if !arguments
                .iter()
                .any(|w| w.get().is_some_and(|v| v.starts_with("-O") || v.starts_with("--output-document"))) =>
        {
            walker.file(&Word::unknown("the URL's file name", true), Access::Write, false, false);
        }
        b if WRITERS.contains(&b) => add(&files, Access::Write),
        "chattr" => {
            let mode = |w: &&Word| w.get().is_some_and(|v| v.starts_with(['+', '-', '=']));
            let changed: Vec<Word> = arguments.iter().filter(|w| !mode(w)).cloned().collect();
            add(&changed, Access::Write);
        }
        b if CHANGERS.contains(&b) => {
            // With a reference file, the first operand is not a mode.
            let copies = arguments.iter().any(|w| w.get().is_some_and(|v| v.starts_with("--ref")));
            add(files.get(usize::from(!copies)..).unwrap_or_default(), Access::Write);
        }
        "rsync" | "scp" => {
            // `host:path` is on another machine.
            let here = |w: &&Word| !w.get().is_some_and(|v| v.split('/').next().is_some_and(|h| h.contains(':')));
            let (own, other) = (files.iter().filter(here).cloned().collect::<Vec<_>>(), files.last());
            match other {
                Some(last) if !here(&last) => add(&own, Access::Read),
                _ => copy(walker, &own, &[], recursive),
            }
        }
        "install" if arguments.iter().any(|w| w.is("-d") || w.is("--directory")) => add(&files, Access::Write),
        b if COPIERS.contains(&b) => copy(walker, &files, arguments, recursive),
        b if READERS.contains(&b) => add(&files, Access::Read),
        b if SEARCHERS.contains(&b) => {
            let own = files.get(1..).unwrap_or_default();
            let names = if b.ends_with("grep") { piped_files::of_search(arguments) } else { Vec::new() };
            // A recursive search without a folder searches this one.
            let here = [Word::known(".")];
            let own = if own.is_empty() && recursive && b.ends_with("grep") { &here } else { own };
            if recursive && !names.is_empty() {
                let listing = PipedFiles::new(own.to_vec(), walker.place.clone(), names);
                walker.found.files.extend(listing.files(Access::Read));
            } else {
                add(own, Access::Read);
            }
        }
        _ => {}
    }
    if matches!(base, "mv") {
        if let Some(folder) = target(arguments) {
            walker.file(&folder, Access::Write, false, true);
            into_folder(walker, files.iter().filter(|f| f.text != folder.text), &folder);
        }
        if let Some((last, sources)) = files.split_last() {
            into_folder(walker, sources.iter(), last);
        }
    }
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
