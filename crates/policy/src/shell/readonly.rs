//! Read-only commands, which are allowed where a policy sets `read_only_shell = true`.
//!
//! Narrow on purpose: a row marks a program as read-only if none of its options runs or writes
//! something or takes unbounded resources, besides those that the row names. Every word must be
//! certain.

use super::sed::is_plain_sed;
use crate::argv::{Word, all_known, cluster, first};
use crate::programs::{self, Files, Program, Style};

/// Whether a program only reads, whatever operands or options are added.
pub(super) fn takes_any(program: &str) -> bool {
    programs::row_or_empty(program).is.takes_any
}

/// The word that `xargs` appends.
pub(super) fn added() -> Word {
    Word::unknown("…", false)
}

/// Whether a command only reads. `trusted`: whether the workspace's own settings of programs are
/// trusted.
pub(crate) fn only_reads(words: &[Word], trusted: bool) -> bool {
    // What `xargs` appends is unknown. For programs that only read, whatever their arguments, that
    // does not matter.
    let words = match words.split_last() {
        Some((last, rest)) if *last == added() && takes_any(first(rest).unwrap_or_default()) => rest,
        _ => words,
    };
    let Some(all) = all_known(words) else { return false };
    let Some((&program, arguments)) = all.split_first() else { return false };
    // Options before a subcommand select settings and places.
    let deeper =
        arguments.split_first().and_then(|(first, rest)| Some((programs::row(&format!("{program} {first}"))?, rest)));
    let Some((row, arguments)) = deeper.or_else(|| Some((programs::row(program)?, arguments))) else { return false };
    row.is.only_reads
        && (trusted || !row.is.own_settings)
        && row.reads_with.as_ref().is_none_or(|own| arguments.iter().all(|text| own.fit(text)))
        && (row.files() != Files::ReadWrite || arguments.iter().filter(|text| !text.starts_with('-')).count() < 2)
        && (!row.is.sed || sed(arguments))
        && !arguments.iter().any(|text| row.not_read_only.iter().any(|own| is_banned(row, own, text)))
}

/// Whether an argument makes a program do more than read. Long options may be abbreviated, and
/// letters may be combined with others.
fn is_banned(row: &Program, own: &str, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if !own.starts_with('-') {
        return text.contains(own);
    }
    if row.style == Style::Word {
        return own == name;
    }
    match own.strip_prefix("--") {
        Some(_) => text.starts_with(own) || name.len() > 3 && own.starts_with(name),
        None => cluster(text).is_some() && own.chars().skip(1).any(|c| text.contains(c)),
    }
}

/// A script of `sed` that neither runs nor writes, with no option but `-n`.
fn sed(arguments: &[&str]) -> bool {
    let rest = arguments.strip_prefix(&["-n"]).unwrap_or(arguments);
    let Some((script, files)) = rest.split_first() else { return false };
    is_plain_sed(script) && !script.starts_with('-') && files.iter().all(|file| !file.starts_with('-'))
}
