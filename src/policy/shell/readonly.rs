//! The built-in table of read-only commands, which are allowed where a policy sets `read_only_shell = true`.
//!
//! Narrow on purpose: a command is listed only if none of the listed options runs or writes something or takes
//! unbounded resources. Every word must be certain.

use super::tables;
use crate::policy::argv::Word;

/// Programs that only read, whatever their arguments.
const ANY: &[&str] = &[
    "echo",
    "pwd",
    "true",
    "false",
    "cat",
    "head",
    "tail",
    "wc",
    "tr",
    "cut",
    "cmp",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "stat",
    "du",
    "df",
    "sleep",
    "cd",
    "nl",
    "uniq",
    "comm",
    "fold",
    "join",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "cksum",
    "sum",
    "b2sum",
    "od",
    "paste",
    "tac",
    "numfmt",
    "grep",
    "egrep",
    "fgrep",
    "ls",
    "dir",
    "whoami",
    "id",
    "uname",
    "nproc",
    "rev",
    "expr",
    "seq",
    "which",
    "expand",
    "unexpand",
    "fmt",
    "pr",
    "tsort",
    "factor",
    "diff",
    "groups",
    "tty",
    "printenv",
    "vdir",
    ":",
];

/// Programs that only read, whatever operands or options are added.
pub(super) const TAKE_ANY: &[&str] = &[
    "cat",
    "grep",
    "egrep",
    "fgrep",
    "head",
    "wc",
    "ls",
    "echo",
    "stat",
    "basename",
    "dirname",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "nl",
    "cut",
    "tr",
    "true",
    "false",
    "du",
    "readlink",
    "realpath",
];

/// The word that `xargs` appends.
pub(super) fn added() -> Word {
    Word::unknown("…", false)
}

fn is_added(word: &Word) -> bool {
    *word == added()
}

/// Whether a command only reads. `trusted`: whether the workspace's own git settings are trusted.
pub(crate) fn only_reads(words: &[Word], trusted: bool) -> bool {
    // What `xargs` appends is unknown. For programs that only read, whatever their arguments, that does not matter.
    let words = match words.split_last() {
        Some((last, rest))
            if is_added(last) && rest.first().and_then(Word::get).is_some_and(|p| TAKE_ANY.contains(&p)) =>
        {
            rest
        }
        _ => words,
    };
    let all: Option<Vec<&str>> = words.iter().map(Word::get).collect();
    let Some(all) = all else { return false };
    let Some((&program, arguments)) = all.split_first() else { return false };
    let without = |banned: &[&str]| {
        !arguments.iter().any(|a| {
            banned.iter().any(|b| a == b || b.starts_with("--") && is_cut(a.split('=').next().unwrap_or(a), b))
        })
    };
    let short_without = |letters: &str| {
        !arguments.iter().any(|a| a.starts_with('-') && !a.starts_with("--") && a.contains(|c| letters.contains(c)))
    };
    match program {
        "uniq" => arguments.iter().filter(|a| !a.starts_with('-')).count() <= 1,
        "tail" => true,
        "diff" => without(&["--to-file", "--from-file"]),
        "file" => short_without("CzZ") && without(&["--compile", "--uncompress", "--uncompress-noreport"]),
        "base64" => short_without("o") && without(&["--output"]),
        "column" => short_without("c") && without(&["--output-width", "--columns"]),
        "date" => {
            arguments.iter().all(|a| a.starts_with('+') || matches!(*a, "-u" | "--utc" | "-R" | "-I" | "--iso-8601"))
        }
        "sort" => {
            short_without("oSTz")
                && without(&[
                    "--output",
                    "--compress-program",
                    "--buffer-size",
                    "--temporary-directory",
                    "--files0-from",
                ])
        }
        "tree" => short_without("oR") && without(&["--output"]),
        "rg" => short_without("z") && without(&["--pre", "--hostname-bin", "--search-zip"]),
        "sed" => sed(arguments),
        "find" => without(&[
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fls",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-files0-from",
        ]),
        "hostname" => arguments.is_empty(),
        "git" => trusted && git(words, arguments),
        "printf" => short_without("v"),
        "test" | "[" => without(&["-v", "-R"]),
        "type" | "command" => program == "type" || matches!(arguments.first(), Some(&("-v" | "-V"))),
        other => ANY.contains(&other),
    }
}

/// Whether an option is the long option, possibly abbreviated.
fn is_cut(option: &str, long: &str) -> bool {
    option.len() > 3 && long.starts_with(option)
}

/// `sed 's/…/…/'` without options, or `sed -n` with line numbers and `p`.
fn sed(arguments: &[&str]) -> bool {
    let numeric = |s: &str| {
        let body = s.strip_suffix('p').unwrap_or(s);
        s.ends_with('p') && !body.is_empty() && body.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '$')
    };
    let no_options = |rest: &[&str]| rest.iter().all(|a| !a.starts_with('-'));
    match arguments.split_first() {
        Some((&"-n", rest)) => rest.split_first().is_some_and(|(s, files)| numeric(s) && no_options(files)),
        Some((script, rest)) => (plain(script) || numeric(script)) && no_options(rest),
        None => false,
    }
}

fn plain(script: &str) -> bool {
    let Some(rest) = script.strip_prefix("s/") else { return false };
    let mut parts = rest.split('/');
    let (from, to, flags) = (parts.next(), parts.next(), parts.next());
    let simple = |p: Option<&str>| p.is_some_and(|p| !p.contains(['\\', ';', '\n']));
    simple(from)
        && simple(to)
        && flags.is_some_and(|f| f.chars().all(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | '0'..='9')))
        && parts.next().is_none()
}

/// Subcommands of git that only read, with the options that only read.
fn git(words: &[Word], arguments: &[&str]) -> bool {
    let Some(at) = tables::subcommand(words) else { return false };
    // Options before the subcommand select settings and repositories.
    if at != 1 {
        return false;
    }
    let rest = arguments.get(1..).unwrap_or_default();
    let banned = [
        "--output",
        "--ext-diff",
        "--textconv",
        "--open-files-in-pager",
        "--exec",
        "--upload-pack",
        "--paginate",
        "-O",
        "--no-index",
        "--show-signature",
        "--filters",
        "--help",
    ];
    // `%G?` and similar formats verify signatures, which another program does.
    if rest.iter().any(|a| banned.iter().any(|b| a.starts_with(b)) || a.contains("%G")) {
        return false;
    }
    match arguments.first() {
        Some(
            &("status" | "log" | "show" | "diff" | "grep" | "rev-parse" | "ls-files" | "blame" | "shortlog"
            | "describe" | "ls-tree" | "cat-file"),
        ) => true,
        Some(&"branch") => rest
            .iter()
            .all(|a| matches!(*a, "--show-current" | "-a" | "-r" | "-v" | "-vv" | "--list" | "--all" | "--remotes")),
        Some(&"remote") => rest.iter().all(|a| matches!(*a, "-v" | "--verbose")),
        _ => false,
    }
}
