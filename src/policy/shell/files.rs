//! Which operands of well-known programs are files that they read or write.
//!
//! Covers what a deny is likely to be about. A program that is not here may write anything: a deny over paths
//! is no sandbox, and the module says so rather than pretend.

use super::walk::Walker;
use crate::policy::argv::Word;
use crate::policy::rule::Access;

/// Every operand is written.
const WRITERS: &[&str] = &[
    "tee", "rm", "rmdir", "unlink", "shred", "touch", "mkdir", "truncate", "mkfifo", "gzip", "gunzip", "bzip2", "xz",
    "zstd", "sponge", "ed", "ex", "vi", "vim", "nano", "emacs", "patch", "srm", "trash", "dos2unix", "unix2dos",
];
/// The first operand is something else, the rest is written.
const CHANGERS: &[&str] = &["chmod", "chown", "chgrp", "chattr", "setfacl"];
/// The last operand is written, those before are read.
const COPIERS: &[&str] = &["cp", "install", "ln", "rsync", "scp", "link"];
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
/// The first operand is a pattern or a script, the rest is read.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "jq", "yq", "ack"];

/// Adds the operands of a command that are files.
pub(super) fn operands(walker: &mut Walker, base: &str, words: &[Word]) {
    let arguments = words.get(1..).unwrap_or_default();
    let end = arguments.iter().position(|w| w.is("--"));
    let is_operand = |(i, w): &(usize, &Word)| {
        end.is_some_and(|e| *i > e) || w.get().is_none_or(|v| !v.starts_with('-') || v == "-") && !w.is("--")
    };
    let files: Vec<Word> = arguments.iter().enumerate().filter(is_operand).map(|(_, w)| w.clone()).collect();
    let recursive = matches!(
        base,
        "rm" | "mv" | "cp" | "rsync" | "chmod" | "chown" | "chgrp" | "ln" | "trash" | "grep" | "rg" | "ls"
    );
    let mut add = |files: &[Word], access: Access| {
        for file in files {
            walker.file(file, access, false, recursive);
        }
    };
    match base {
        "mv" | "rename" => add(&files, Access::Write),
        "dd" => {
            for word in arguments {
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
        "curl" if arguments.iter().any(|w| w.is("-O") || w.is("--remote-name")) => {
            walker.file(&Word::unknown("the URL's file name", true), Access::Write, true, false);
        }
        "wget"
            if !arguments
                .iter()
                .any(|w| w.get().is_some_and(|v| v.starts_with("-O") || v.starts_with("--output-document"))) =>
        {
            walker.file(&Word::unknown("the URL's file name", true), Access::Write, false, false);
        }
        b if WRITERS.contains(&b) => add(&files, Access::Write),
        b if CHANGERS.contains(&b) => add(files.get(1..).unwrap_or_default(), Access::Write),
        b if COPIERS.contains(&b) => copy(walker, &files, arguments),
        b if READERS.contains(&b) => add(&files, Access::Read),
        b if SEARCHERS.contains(&b) => add(files.get(1..).unwrap_or_default(), Access::Read),
        _ => {}
    }
    if matches!(base, "mv") {
        into_folder(walker, &files);
    }
}

fn copy(walker: &mut Walker, files: &[Word], arguments: &[Word]) {
    let folder =
        arguments.iter().position(|w| w.is("-t") || w.is("--target-directory")).and_then(|at| arguments.get(at + 1));
    let glued = arguments.iter().find_map(|w| w.get()?.strip_prefix("--target-directory=").map(Word::known));
    if let Some(folder) = folder.cloned().or(glued) {
        return walker.file(&folder, Access::Write, false, true);
    }
    if let Some((last, sources)) = files.split_last() {
        for source in sources {
            walker.file(source, Access::Read, false, true);
        }
        walker.file(last, Access::Write, false, false);
        into_folder(walker, files);
    }
}

/// If the last operand is a folder, the others land in it under their own names.
fn into_folder(walker: &mut Walker, files: &[Word]) {
    let Some((last, sources)) = files.split_last() else { return };
    let Some(folder) = last.get().map(|f| f.trim_end_matches('/').to_owned()) else { return };
    for name in sources.iter().filter_map(|s| s.get()?.trim_end_matches('/').rsplit('/').next()) {
        walker.file(&Word::known(&format!("{folder}/{name}")), Access::Write, false, false);
    }
}
